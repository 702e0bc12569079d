import Concurrency
import Crypto
import HTTP
import JSON
import Time

/// Asks the provider about tokens (RFC 7662), at most eight at once; who asks about the same token shares the answer.
final class Introspector: Sendable {
    enum Limits {
        static let atOnce = 8
        static let waiting = 64
        static let callDuration: Duration = .seconds(4)
        static let answerBytes = 64 * 1024
    }

    enum Answer: Sendable {
        case active([UInt8])
        case inactive
    }

    private let endpoint: TokenValidation.Introspection
    private let authorization: String
    private let http: any HTTPClient
    private let monotonic: @Sendable () -> ContinuousClock.Instant
    private let observe: @Sendable (TokenEvent) -> Void
    private let gate = Gate(width: Limits.atOnce, waiting: Limits.waiting)
    private let flights = SingleFlight<TokenDigest, Answer>()

    init(
        _ endpoint: TokenValidation.Introspection, http: any HTTPClient,
        monotonic: @escaping @Sendable () -> ContinuousClock.Instant,
        observe: @escaping @Sendable (TokenEvent) -> Void
    ) {
        self.endpoint = endpoint
        self.http = http
        self.monotonic = monotonic
        self.observe = observe
        authorization = basicAuthorization(id: endpoint.clientID, secret: endpoint.clientSecret)
    }

    /// What the provider says of `token`.
    func answer(for token: String, _ digest: TokenDigest, by deadline: Deadline) async throws(TokenRejection) -> Answer
    {
        do {
            return try await flights.run(digest) { try await self.ask(token, by: deadline) }
        } catch {
            throw .providerUnreachable
        }
    }

    private struct Failure: Error {
        let reason: String
    }

    private func ask(_ token: String, by deadline: Deadline) async throws -> Answer {
        do {
            guard await gate.enter() else { throw Failure(reason: "too many introspections at once") }
            defer { gate.leave() }
            return try await call(token, by: deadline)
        } catch {
            observe(.introspectionUnavailable((error as? Failure)?.reason ?? "no answer"))
            throw error
        }
    }

    private func call(_ token: String, by deadline: Deadline) async throws -> Answer {
        let now = monotonic()
        guard deadline.remaining(at: now) > .zero else { throw Failure(reason: "no time was left") }
        var form = Form()
        form.append("token", token)
        form.append("token_type_hint", "access_token")
        let request = OutgoingRequest(
            method: .post, url: endpoint.url,
            fields: [
                "Authorization": authorization, "Content-Type": "application/x-www-form-urlencoded",
                "Accept": "application/json",
            ], body: Array(form.encodedText.utf8), answerLimitBytes: Limits.answerBytes)
        let response = try await http.send(request, by: deadline.limited(to: Limits.callDuration, from: now))
        // Any other status is about our call, not about the token: 401 says that our own pair is wrong.
        guard response.status == 200 else { throw Failure(reason: "status \(response.status)") }
        guard let root = try? JSONDocument(parsing: response.body).root, root.repeatedMember == nil,
            let isActive = root.member("active")?.bool
        else { throw Failure(reason: "the answer is no introspection answer") }
        return isActive ? .active(response.body) : .inactive
    }
}

/// Lets so many in at once; the next ones wait in line, and who finds the line full is turned away.
///
/// Whoever is inside leaves within a time of its own, so the line moves.
final class Gate: Sendable {
    private struct State {
        var inside = 0
        var line: [CheckedContinuation<Bool, Never>] = []
    }

    private let width: Int
    private let waiting: Int
    private let state = Locked(State())

    init(width: Int, waiting: Int) {
        self.width = width
        self.waiting = waiting
    }

    /// Waits for a place; false where too many wait already.
    func enter() async -> Bool {
        await withCheckedContinuation { continuation in
            let isLetIn: Bool? = state.withLock { state in
                if state.inside < width {
                    state.inside += 1
                    return true
                }
                guard state.line.count < waiting else { return false }
                state.line.append(continuation)
                return nil
            }
            if let isLetIn { continuation.resume(returning: isLetIn) }
        }
    }

    /// Gives the place to the first in line.
    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard state.line.isEmpty else { return state.line.removeFirst() }
            state.inside -= 1
            return nil
        }
        next?.resume(returning: true)
    }
}
