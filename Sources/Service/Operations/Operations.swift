import Concurrency
public import HTTP
import JSON
import OAuth
public import Telemetry
public import Time

/// The operator's addresses: alive, ready, measured.
public struct Operations: Sendable {
    /// For how long an answer about the store is given again, since anybody may ask for `/readyz`.
    private static let readinessLife = Duration.seconds(1)

    private let metrics: Metrics
    private let clockDrift: ClockDrift
    private let log: Log
    private let readiness: Readiness
    private let authentication: ClientAuthentication?

    /// The operator's addresses.
    ///
    /// - Parameters:
    ///   - metrics: What `/metrics` shows.
    ///   - clockDrift: Whose median `/healthz` shows.
    ///   - log: Told when readiness changes, and who is refused.
    ///   - authentication: Proves the operator, who sees `/metrics` from elsewhere; nil leaves it to this machine.
    ///   - storeIsWritable: Writes to the store and says whether that went well by the deadline.
    public init(
        metrics: Metrics, clockDrift: ClockDrift, log: Log, authentication: ClientAuthentication? = nil,
        storeIsWritable: @escaping @Sendable (Deadline) async -> Bool
    ) {
        self.metrics = metrics
        self.clockDrift = clockDrift
        self.log = log
        self.authentication = authentication
        readiness = Readiness(life: Self.readinessLife, log: log, storeIsWritable: storeIsWritable)
    }

    /// `/healthz`, `/readyz` and `/metrics`.
    public var routes: [Route] {
        [
            Route(.get, "/healthz", timeLimit: .seconds(2)) { _, _ in health() },
            Route(.get, "/readyz", timeLimit: .seconds(5)) { request, _ in
                let isReady = await readiness.isReady(by: request.deadline.limited(to: .seconds(3), from: .now))
                return isReady
                    ? HTTPResponse(json: ["status": "ready"])
                    : HTTPResponse(json: ["status": "not ready"], status: 503)
            },
            Route(.get, "/metrics", timeLimit: .seconds(5)) { request, _ in
                guard await mayMeasure(request) else { return HTTPResponse(problemOf: .notFound, log: log) }
                return HTTPResponse(
                    status: 200,
                    fields: [
                        "Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Cache-Control": "no-store",
                    ],
                    body: Array(metrics.prometheusText.utf8))
            },
        ]
    }

    /// This machine, and a client with the role of the operator; others do not learn that there is something to see.
    private func mayMeasure(_ request: HTTPRequest) async -> Bool {
        if isLocal(request) { return true }
        guard let authentication, request.fields["Authorization"] != nil else { return false }
        if case .client = await authentication.outcome(for: request, role: .operator) { return true }
        return false
    }

    /// Alive, whatever else is wrong; and how far the clock is off, as far as genuine requests tell.
    private func health() -> HTTPResponse {
        let median = clockDrift.medianSeconds
        let isSuspect = median.map { abs($0) >= ClockDrift.alarmSeconds } ?? false
        return HTTPResponse(
            json: [
                "status": "ok", "clock": isSuspect ? "check the clock" : "ok",
                "clockDifferenceMedianSeconds": median.map { .integer(Int64($0)) } ?? .null,
            ])
    }
}

/// Whether the request comes from this machine itself.
///
/// A proxy on this machine has a loopback address too, so a request that says it was forwarded is not local.
func isLocal(_ request: HTTPRequest) -> Bool {
    let forwarding = ["X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Forwarded", "Via"]
    guard forwarding.allSatisfy({ request.fields[$0] == nil }) else { return false }
    let address = request.peerAddress
    let version4 = address.hasPrefix("::ffff:") ? address.dropFirst(7) : address[...]
    if address == "::1" { return true }
    let parts = version4.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
}

/// Asks the store at most once a second, and once at a time.
private final class Readiness: Sendable {
    private struct Answer {
        var isReady: Bool?
        var until: ContinuousClock.Instant?
    }

    private let answer = Locked(Answer())
    private let flight = SingleFlight<Int, Bool>()
    private let life: Duration
    private let log: Log
    private let storeIsWritable: @Sendable (Deadline) async -> Bool

    init(life: Duration, log: Log, storeIsWritable: @escaping @Sendable (Deadline) async -> Bool) {
        self.life = life
        self.log = log
        self.storeIsWritable = storeIsWritable
    }

    func isReady(by deadline: Deadline) async -> Bool {
        let kept = answer.withLock { answer -> Bool? in
            guard let until = answer.until, ContinuousClock.now < until else { return nil }
            return answer.isReady
        }
        if let kept { return kept }
        let asked = try? await flight.run(0) { [self] in
            let isReady = await storeIsWritable(deadline)
            let wasReady = answer.withLock { answer in
                defer { answer = Answer(isReady: isReady, until: ContinuousClock.now.advanced(by: life)) }
                return answer.isReady
            }
            if !isReady, wasReady != false { log.error("store cannot be written: not ready") }
            if isReady, wasReady == false { log.notice("store can be written again: ready") }
            return isReady
        }
        return asked ?? false
    }
}
