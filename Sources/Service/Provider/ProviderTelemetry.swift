import Concurrency
import OAuth
import Telemetry
import Time

/// Logs and counts what the authorization server has to tell.
final class ProviderTelemetry: Sendable {
    /// How many unknown refresh tokens within a minute are more than what users and scanners bring about.
    static let alarmCount = 20
    private static let windowMilliseconds: Int64 = 60_000

    private struct Window {
        var since = UnixTime(milliseconds: 0)
        var count = 0
    }

    private let log: Log
    private let metrics: Metrics
    private let clock: WallClock
    private let now: @Sendable () -> ContinuousClock.Instant
    private let traces: TraceRecorder
    private let window = Locked(Window())

    init(
        log: Log, metrics: Metrics, clock: @escaping WallClock,
        now: @escaping @Sendable () -> ContinuousClock.Instant, traces: TraceRecorder
    ) {
        self.log = log
        self.metrics = metrics
        self.clock = clock
        self.now = now
        self.traces = traces
    }

    func tell(_ event: ProviderEvent) {
        switch event {
        case .issued(let grant, let client):
            metrics.counter(.tokensIssued, grant.rawValue).add()
            log.debug("tokens were given out", .detail(client), .outcome(grant.rawValue))
        case .refused(let refusal, let client):
            metrics.counter(.oauthRefusals, refusal.reasonCode).add()
            log.info(
                "a client is refused", .traceID(traced(refusal, client)), .rejection(refusal.reasonCode),
                .status(refusal.status), .detail(client ?? "unknown client"))
        case .codeReplayed(let client, _):
            log.notice("a code came twice: what it brought is revoked", .detail(client))
        case .refreshReplayed(let client, _):
            log.notice("a replaced refresh token came again: its family is revoked", .detail(client))
        case .redirectMismatch(_, let bound, let sent, let isTaken):
            log.notice(
                "a code was redeemed with another redirect_uri", .address(Self.short(bound)), .detail(Self.short(sent)),
                .outcome(isTaken ? "taken" : "refused"))
        case .unknownRefreshToken: countUnknown()
        case .storeUnavailable(let reason): log.error("the provider's store does not answer", .detail(reason))
        }
    }

    /// Alexa and Google say nothing of what our token endpoint told them: here it can be found.
    private func traced(_ refusal: OAuthRefusal, _ client: String?) -> TraceID {
        let start = now()
        let trace = Trace(.other, startedAt: clock(), start: start)
        if let client { trace.note("client", client) }
        trace.note("detail", refusal.detail)
        trace.step("client", .refused, reason: refusal.reasonCode, from: start, to: start)
        traces.finish(trace.record(.refused, reason: refusal.reasonCode, end: start))
        return trace.id
    }

    /// Without its scheme, so that what differs is not what is cut off.
    private static func short(_ address: String) -> String {
        address.hasPrefix("https://") ? String(address.dropFirst(8)) : address
    }

    private func countUnknown() {
        let now = clock()
        let isAlarm = window.withLock { window in
            if now.milliseconds(since: window.since) >= Self.windowMilliseconds { window = Window(since: now) }
            window.count += 1
            return window.count == Self.alarmCount
        }
        guard isAlarm else { return }
        log.error(
            "many refresh tokens are not in the store: is it the right one, and whole?", .count(Self.alarmCount))
    }
}
