import Alexa
import Concurrency
import Crypto
import OAuth
import Telemetry
import Time

/// Turns the code of an AcceptGrant into a stored grant, once, whoever presents it and how often.
///
/// In this process who presents the same code meanwhile waits for the same outcome; among processes a row of the store
/// says who exchanges it. The work goes on when its caller leaves: the code is spent by then, and Alexa asks again.
struct GrantTaking: Sendable {
    /// How often the store is asked whether another process is done.
    private static let pollInterval = Duration.milliseconds(100)
    /// What the store gets of the time, so that an outcome is written even where Amazon does not answer.
    private static let storeShare = Duration.milliseconds(500)
    /// Longer than any exchange may take: when it is over, the owner is dead.
    private static let lease = Duration.seconds(10)

    private struct Call: Hashable {
        let codeHash: String
        let subject: String
    }

    private let store: any GrantStore
    private let loginWithAmazon: LoginWithAmazon
    private let clock: WallClock
    private let now: @Sendable () -> ContinuousClock.Instant
    private let log: Log
    private let flights = SingleFlight<Call, AcceptGrantOutcome>()

    init(
        store: any GrantStore, loginWithAmazon: LoginWithAmazon, clock: @escaping WallClock,
        now: @escaping @Sendable () -> ContinuousClock.Instant, log: Log
    ) {
        self.store = store
        self.loginWithAmazon = loginWithAmazon
        self.clock = clock
        self.now = now
        self.log = log
    }

    /// The hash of a code, in hex; its first eight digits may be logged.
    static func hash(of code: Secret) -> String { Hex.encode(SHA256.digest(code.exposed)) }

    /// The outcome of presenting `code` for `key`.
    func outcome(
        code: Secret, client: AmazonClient, key: GrantKey, by deadline: Deadline, trace: Trace
    ) async -> AcceptGrantOutcome {
        let call = Call(codeHash: Self.hash(of: code), subject: key.subject)
        do {
            return try await flights.run(call) {
                await settled(call.codeHash, code: code, client: client, key: key, by: deadline, trace: trace)
            }
        } catch {
            return .refused(reasonCode: "grant.callerLeft")
        }
    }

    private func settled(
        _ codeHash: String, code: Secret, client: AmazonClient, key: GrantKey, by deadline: Deadline, trace: Trace
    ) async -> AcceptGrantOutcome {
        let owner = SecureRandom.uuid()
        var begin = now()
        do throws(GrantStoreError) {
            let claim = try await claim(codeHash, key.subject, owner, by: deadline)
            switch claim {
            case .owned(let sequence):
                step(trace, "code", nil, from: &begin)
                let result = await exchange(code, client, key, sequence, by: deadline)
                step(trace, "exchange", result.reasonCode, from: &begin)
                guard
                    try await store.finishAcceptGrant(
                        codeHash: codeHash, owner: owner, result: result, by: deadline)
                else {
                    step(trace, "stored", "grant.claimLost", from: &begin)
                    return .refused(reasonCode: "grant.claimLost")
                }
                step(trace, "stored", nil, from: &begin)
                return AcceptGrantOutcome(result)
            case .finished(let outcome):
                trace.note("repeated", "the code was presented before")
                step(trace, "code", outcome.reasonCode, from: &begin)
                return outcome
            case .held: return refused("grant.heldElsewhere", trace, &begin)
            case .ofAnotherSubject: return refused("grant.codeOfAnotherUser", trace, &begin)
            }
        } catch {
            switch error {
            case .timedOut: return refused("grant.storeTimedOut", trace, &begin)
            case .unavailable(let reason):
                log.error("grant not stored", .traceID(trace.id), .detail(reason))
                return refused("grant.storeUnavailable", trace, &begin)
            }
        }
    }

    /// The right to exchange the code, or what became of it; held only where the deadline comes first.
    private func claim(
        _ codeHash: String, _ subject: String, _ owner: String, by deadline: Deadline
    ) async throws(GrantStoreError) -> AcceptGrantClaim {
        while true {
            let claim = try await store.claimAcceptGrant(
                codeHash: codeHash, subject: subject, owner: owner, for: Self.lease, by: deadline)
            guard case .held = claim, deadline.remaining(at: now()) > Self.pollInterval else { return claim }
            do { try await Task.sleep(for: Self.pollInterval) } catch { return claim }
        }
    }

    private func exchange(
        _ code: Secret, _ client: AmazonClient, _ key: GrantKey, _ sequence: Int64, by deadline: Deadline
    ) async -> AcceptGrantResult {
        let deadline = Deadline(at: deadline.instant.advanced(by: .zero - Self.storeShare))
        do throws(LoginWithAmazonError) {
            let tokens = try await loginWithAmazon.exchange(
                code: AmazonCode(code), client: client, by: deadline)
            guard let refreshToken = tokens.refreshToken else {
                return .refused(reasonCode: "grant.lwaNoRefreshToken")
            }
            let credentials = AmazonCredentials(
                accessToken: tokens.accessToken, refreshToken: refreshToken,
                expiresAt: clock().adding(seconds: tokens.lifetimeSeconds))
            return .accepted(credentials, key: key, sequence: sequence)
        } catch {
            return .refused(reasonCode: error.reasonCode)
        }
    }

    private func refused(
        _ reasonCode: String, _ trace: Trace, _ begin: inout ContinuousClock.Instant
    ) -> AcceptGrantOutcome {
        step(trace, "stored", reasonCode, from: &begin)
        return .refused(reasonCode: reasonCode)
    }

    private func step(
        _ trace: Trace, _ name: StaticString, _ reason: String?, from begin: inout ContinuousClock.Instant
    ) {
        let end = now()
        trace.step(name, reason == nil ? .ok : .failed, reason: reason, from: begin, to: end)
        begin = end
    }
}

extension AcceptGrantOutcome {
    fileprivate init(_ result: AcceptGrantResult) {
        self = result.reasonCode.map { .refused(reasonCode: $0) } ?? .accepted
    }

    fileprivate var reasonCode: String? {
        if case .refused(let reasonCode) = self { reasonCode } else { nil }
    }
}

extension AcceptGrantResult {
    fileprivate var reasonCode: String? {
        if case .refused(let reasonCode) = self { reasonCode } else { nil }
    }
}
