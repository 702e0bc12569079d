import Concurrency
public import Crypto
import JSON
public import Time

/// The embedded provider's signing keys as this process holds them.
///
/// The store decides: the first key is inserted only where there is none, so that replicas that start together end up
/// with one. A new key is published at once and signs once every verifier must have seen it; the old one stays
/// published until its last token has ended.
public final class SigningKeys: Sendable {
    /// How long verifiers may keep the key set.
    public static let maxAgeSeconds: Int64 = 300
    /// What is added to that before a new key signs.
    static let marginSeconds: Int64 = 10
    /// What verifiers' clocks may differ; a key outlives its last token by that.
    static let leewaySeconds: Int64 = 60

    private struct Held: Sendable {
        let record: SigningKeyRecord
        let key: SigningKey
    }

    private let store: any SigningKeyStore
    private let algorithm: SignatureAlgorithm
    private let tokenSeconds: Int64
    private let clock: WallClock
    private let held = Locked<[Held]>([])

    /// Keys over `store`; new ones are for `algorithm`, `ES256` or `RS256`, and no token lives longer than `tokenSeconds`.
    ///
    /// `ES256` is the default since its keys are made in no time and sign in a few dozen microseconds; an RSA
    /// signature takes most of a millisecond, too long for a thread that serves connections.
    public init(
        store: any SigningKeyStore, algorithm: SignatureAlgorithm = .es256, tokenSeconds: Int64,
        clock: @escaping WallClock
    ) {
        self.store = store
        self.algorithm = algorithm
        self.tokenSeconds = tokenSeconds
        self.clock = clock
    }

    /// Loads the keys, making the first one where there is none.
    ///
    /// - Throws: what the store throws, ``SigningKeyError`` where a stored key cannot be read.
    public func load() async throws {
        var records = try await store.signingKeys()
        if records.isEmpty { records = try await store.insertFirstSigningKey(try newRecord(signsAfterSeconds: 0)) }
        try hold(records)
    }

    /// Loads the keys again, where another process may have changed them.
    ///
    /// - Throws: what the store throws, ``SigningKeyError`` where a stored key cannot be read.
    public func reload() async throws { try hold(try await store.signingKeys()) }

    /// Adds a key that takes over once every verifier must have seen it, and drops keys that ended.
    ///
    /// - Throws: what the store throws.
    public func rotate() async throws {
        let record = try newRecord(signsAfterSeconds: Self.maxAgeSeconds + Self.marginSeconds)
        let end = record.signsFrom.adding(seconds: tokenSeconds + Self.leewaySeconds)
        try await store.addSigningKey(record, othersUntil: end)
        try await store.removeSigningKeys(endedBefore: clock())
        try await reload()
    }

    /// The key that signs now: the newest whose time has come.
    ///
    /// - Throws: ``SigningKeyError/none`` before ``load()``.
    public func current() throws(SigningKeyError) -> SigningKey {
        let now = clock()
        let signing = held.withLock { held in held.filter { $0.record.state(at: now) == .signing } }
        guard let newest = signing.max(by: { $0.record.signsFrom < $1.record.signsFrom }) else { throw .none }
        return newest.key
    }

    /// The keys that are published now.
    public var published: JSONWebKeySet {
        let now = clock()
        return JSONWebKeySet(
            held.withLock { held in held.filter { $0.record.state(at: now) != .ended }.map(\.key.publicKey) })
    }

    private func newRecord(signsAfterSeconds seconds: Int64) throws -> SigningKeyRecord {
        let privateKey = try PrivateKey.generate(algorithm == .rs256 ? .rsa2048 : .p256)
        let now = clock()
        return SigningKeyRecord(
            id: JSONWebKey.thumbprint(of: privateKey.publicKey),
            algorithm: (algorithm == .rs256 ? algorithm : .es256).rawValue,
            privateKeyPEM: privateKey.pem, createdAt: now, signsFrom: now.adding(seconds: seconds))
    }

    private func hold(_ records: [SigningKeyRecord]) throws(SigningKeyError) {
        var keys: [Held] = []
        for record in records {
            guard let algorithm = SignatureAlgorithm(rawValue: record.algorithm),
                let privateKey = try? PrivateKey(pem: record.privateKeyPEM)
            else { throw .unreadable(id: record.id) }
            keys.append(Held(record: record, key: SigningKey(privateKey, algorithm: algorithm, id: record.id)))
        }
        let all = keys
        held.withLock { $0 = all }
    }
}

/// What is wrong with the stored signing keys.
public enum SigningKeyError: Error, Hashable, Sendable {
    /// No key signs at this time.
    case none
    /// The key of that id cannot be read: the store holds something else.
    case unreadable(id: String)
}
