import Concurrency
import Crypto
public import HTTP
public import Telemetry

/// Proves which back end of the company calls, by HTTP Basic (RFC 6749 §2.3.1, RFC 7617).
///
/// A client that does not exist takes as long as one whose secret is wrong. After ten wrong secrets for one client from
/// one peer within a minute further wrong ones are answered with 429; a right one always passes.
public struct ClientAuthentication: Sendable {
    /// How many wrong secrets for one client a peer may send in a minute.
    public static let wrongSecretLimit = 10
    /// For how many pairs of client and peer wrong secrets are counted.
    static let countedPeers = 10_000
    private static let window = Duration.seconds(60)
    /// No id and no secret that somebody is called by is longer.
    private static let headerLimit = 4096

    private struct Caller: Hashable {
        let client: String
        let peer: String
    }

    private struct Failures {
        var count: Int
        let until: ContinuousClock.Instant
    }

    /// Who calls, or the answer to somebody who may not.
    public enum Outcome: Sendable {
        /// That client.
        case client(Configuration.Client)
        /// The answer.
        case refusal(HTTPResponse)
    }

    private let clients: [String: (client: Configuration.Client, digest: [UInt8])]
    private let nobody = SecureRandom.bytes(32)
    private let realm: String
    private let now: @Sendable () -> ContinuousClock.Instant
    private let log: Log
    private let failures = Locked(BoundedCache<Caller, Failures>(capacity: countedPeers))

    /// The authentication of `clients`; `realm` is our own address.
    public init(
        clients: [Configuration.Client], realm: String, now: @escaping @Sendable () -> ContinuousClock.Instant,
        log: Log
    ) {
        var known: [String: (client: Configuration.Client, digest: [UInt8])] = [:]
        for client in clients {
            guard let secret = client.secret, client.authentication.contains(.basic) else { continue }
            known[client.id] = (client, SHA256.digest(secret.exposed))
        }
        self.clients = known
        self.realm = realm
        self.now = now
        self.log = log
    }

    /// Who sent the request, provided that the client has the role.
    public func outcome(for request: HTTPRequest, role: Configuration.Client.Role) -> Outcome {
        let fields = request.fields.values("Authorization")
        guard fields.count <= 1 else {
            return .refusal(refusal(401, "client.malformed", "Several Authorization fields"))
        }
        guard let field = fields.first else {
            return .refusal(refusal(401, "client.missing", "A client's id and secret are needed"))
        }
        let scheme = field.prefix { $0 != " " }
        guard equalsIgnoringCase(String(scheme), "Basic") else {
            return .refusal(refusal(401, "client.scheme", "This address takes HTTP Basic"))
        }
        let isShort = field.utf8.count <= Self.headerLimit
        let pairs = isShort ? Self.pairs(field.dropFirst(scheme.count).drop { $0 == " " }) : []
        guard let first = pairs.first else {
            return .refusal(refusal(401, "client.malformed", "Not an id and a secret in base64"))
        }
        guard let client = pairs.lazy.compactMap(client).first else {
            return .refusal(wrongSecret(first.id, request.peerAddress))
        }
        guard client.role == role else {
            return .refusal(refusal(403, "client.role", "The client may not do this"))
        }
        return .client(client)
    }

    private func client(_ pair: Pair) -> Configuration.Client? {
        let known = clients[pair.id]
        let isRight = constantTimeEquals(SHA256.digest(pair.secret.exposed), known?.digest ?? nobody)
        return isRight ? known?.client : nil
    }
}

extension ClientAuthentication {
    private struct Pair: Hashable {
        let id: String
        let secret: Secret
    }

    /// Id and secret as they may be meant.
    ///
    /// RFC 6749 §2.3.1 has each form-encoded before they are joined; most tools that speak Basic leave that out, which
    /// makes a difference for the few secrets with a `+` or `%`.
    private static func pairs(_ text: Substring) -> [Pair] {
        var text = text
        while text.last == " " { text.removeLast() }
        guard let bytes = Base64.decode(text), let decoded = String(validating: bytes, as: UTF8.self) else { return [] }
        let id = decoded.prefix { $0 != ":" }
        guard id.utf8.count < decoded.utf8.count else { return [] }
        let secret = decoded.dropFirst(id.count + 1)
        let plain = Pair(id: String(id), secret: Secret(String(secret)))
        guard let formID = formDecoded(id), let formSecret = formDecoded(secret) else { return [plain] }
        let encoded = Pair(id: formID, secret: Secret(formSecret))
        return encoded == plain ? [plain] : [encoded, plain]
    }

    private static func formDecoded(_ text: Substring) -> String? {
        percentDecoded(String(text.map { $0 == "+" ? " " : $0 }))
    }

    private func wrongSecret(_ id: String, _ peer: String) -> HTTPResponse {
        let now = now()
        let caller = Caller(client: String(id.prefix(255)), peer: peer)
        let failure = failures.withLock { failures in
            var failure = failures.value(for: caller) ?? Failures(count: 0, until: now.advanced(by: Self.window))
            if failure.until <= now { failure = Failures(count: 0, until: now.advanced(by: Self.window)) }
            failure.count += 1
            failures.insert(failure, for: caller)
            return failure
        }
        guard failure.count <= Self.wrongSecretLimit else {
            var response = problem(429, "client.tooManyWrongSecrets", "Too many wrong secrets")
            response.fields["Retry-After"] = String(max(1, now.duration(to: failure.until).components.seconds + 1))
            return response
        }
        return refusal(401, "client.wrongSecret", "Unknown client, or wrong secret")
    }

    /// RFC 7617 §2.1 for the challenge; a client that is known but lacks the role gets none.
    private func refusal(_ status: Int, _ code: String, _ detail: String) -> HTTPResponse {
        var response = problem(status, code, detail)
        if status == 401 { response.fields["WWW-Authenticate"] = "Basic realm=\"\(realm)\", charset=\"UTF-8\"" }
        return response
    }

    private func problem(_ status: Int, _ code: String, _ detail: String) -> HTTPResponse {
        let traceID = TraceID.random()
        log.info("a back end is refused", .traceID(traceID), .rejection(code))
        return Problem(status: status, code: code, detail: detail, traceID: traceID).response
    }
}
