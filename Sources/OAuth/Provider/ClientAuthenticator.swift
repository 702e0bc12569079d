import Concurrency
public import Crypto
public import HTTP

/// Why a client is not believed to be who it says.
public enum ClientRefusal: Error, Sendable, Hashable {
    /// It says nothing of itself.
    case missing
    /// The `Authorization` field is not by HTTP Basic.
    case scheme
    /// What it says cannot be read; the text says why.
    case malformed(String)
    /// It proves itself in two ways at once (RFC 6749 §2.3).
    case twoMethods
    /// There is no such client, its secret is another, or it may not prove itself in that way.
    case wrong
    /// So many secrets were wrong that further wrong ones are not judged for a while.
    case tooMany(retryAfterSeconds: Int64)
}

/// Proves which client calls: by HTTP Basic, by its secret in the body, or not at all where it is public.
///
/// A client that does not exist takes as long as one whose secret is wrong. After ten wrong secrets for one client from
/// one peer within a minute further wrong ones are refused as too many; a right one always passes, since many users of
/// an assistant call from few addresses.
public final class ClientAuthenticator: Sendable {
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

    private let clients: ProviderClients
    private let digests: [[UInt8]: [UInt8]]
    private let nobody = SecureRandom.bytes(32)
    private let now: @Sendable () -> ContinuousClock.Instant
    private let failures = Locked(BoundedCache<Caller, Failures>(capacity: countedPeers))

    /// The authentication of `clients`, by a monotonic clock.
    public init(clients: ProviderClients, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.clients = clients
        self.now = now
        digests = Dictionary(
            clients.all.compactMap { client in
                client.secret.map { (Array(client.id.utf8), SHA256.digest($0.exposed)) }
            }, uniquingKeysWith: { first, _ in first })
    }

    /// The client that HTTP Basic proves (RFC 7617, RFC 6749 §2.3.1).
    ///
    /// - Throws: ``ClientRefusal`` where it proves none.
    public func basicClient(of request: HTTPRequest) throws(ClientRefusal) -> ProviderClient {
        let fields = request.fields.values("Authorization")
        guard fields.count <= 1 else { throw .malformed("Several Authorization fields") }
        guard let field = fields.first else { throw .missing }
        let scheme = field.prefix { $0 != " " }
        guard equalsIgnoringCase(String(scheme), "Basic") else { throw .scheme }
        let isShort = field.utf8.count <= Self.headerLimit
        let pairs = isShort ? Self.pairs(field.dropFirst(scheme.count).drop { $0 == " " }) : []
        guard let first = pairs.first else { throw .malformed("Not an id and a secret in base64") }
        // Both readings are judged, so that the time does not tell which of them was near.
        let found = pairs.compactMap { client(id: $0.id, secret: $0.secret, by: .basic) }
        guard let client = found.first else { throw wrongSecret(first.id, request.peerAddress) }
        return client
    }

    /// Proves the client of that id by a secret of the body, in a request whose `Authorization` is a user's token.
    ///
    /// - Throws: ``ClientRefusal`` where it is not the client's.
    public func prove(_ id: String, by secret: Secret, from peer: String) throws(ClientRefusal) {
        guard client(id: id, secret: secret, by: .body) != nil || client(id: id, secret: secret, by: .basic) != nil
        else { throw wrongSecret(id, peer) }
    }

    /// The client of a request whose body holds `parameters`.
    func client(of request: HTTPRequest, _ parameters: Parameters) throws(ClientRefusal) -> ProviderClient {
        if !request.fields.values("Authorization").isEmpty {
            guard parameters["client_secret"] == nil else { throw .twoMethods }
            let client = try basicClient(of: request)
            if let id = parameters["client_id"], Array(id.utf8) != Array(client.id.utf8) {
                throw .malformed("client_id is another client than the one of the Authorization field")
            }
            return client
        }
        guard let id = parameters["client_id"] else { throw .missing }
        guard let secret = parameters["client_secret"] else {
            guard let client = clients[id], client.isPublic, client.authentication.contains(.none) else { throw .wrong }
            return client
        }
        guard let client = client(id: id, secret: Secret(secret), by: .body) else {
            throw wrongSecret(id, request.peerAddress)
        }
        return client
    }

    /// Which of the clients the sender of a request that is refused says to be; nil for any other word, which may be a
    /// secret in the wrong place.
    func claimedID(of request: HTTPRequest, _ parameters: Parameters) -> String? {
        let field = request.fields["Authorization"].flatMap { $0.utf8.count <= Self.headerLimit ? $0 : nil }
        let pairs = field.map { Self.pairs($0.drop { $0 != " " }.drop { $0 == " " }) } ?? []
        return ([parameters["client_id"]] + pairs.map(\.id)).lazy.compactMap { $0.flatMap { self.clients[$0]?.id } }
            .first
    }

    private func client(
        id: String, secret: Secret, by method: ProviderClient.Authentication
    ) -> ProviderClient? {
        let digest = digests[Array(id.utf8)]
        guard constantTimeEquals(SHA256.digest(secret.exposed), digest ?? nobody), digest != nil,
            let client = clients[id], client.authentication.contains(method)
        else { return nil }
        return client
    }

    private func wrongSecret(_ id: String, _ peer: String) -> ClientRefusal {
        let now = now()
        let caller = Caller(client: String(id.prefix(255)), peer: peer)
        let failure = failures.withLock { failures in
            var failure = failures.value(for: caller) ?? Failures(count: 0, until: now.advanced(by: Self.window))
            if failure.until <= now { failure = Failures(count: 0, until: now.advanced(by: Self.window)) }
            failure.count += 1
            failures.insert(failure, for: caller)
            return failure
        }
        guard failure.count > Self.wrongSecretLimit else { return .wrong }
        return .tooMany(retryAfterSeconds: max(1, now.duration(to: failure.until).components.seconds + 1))
    }
}

extension ClientAuthenticator {
    private struct Pair: Hashable {
        let id: String
        let secret: Secret
    }

    /// Id and secret as they may be meant: as they stand first, then decoded.
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
        return encoded == plain ? [plain] : [plain, encoded]
    }

    private static func formDecoded(_ text: Substring) -> String? {
        percentDecoded(String(text.map { $0 == "+" ? " " : $0 }))
    }
}
