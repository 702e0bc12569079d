public import Time

/// Where the embedded provider keeps its signing keys, so that every process signs with the same ones.
///
/// The store encrypts ``SigningKeyRecord/privateKeyPEM``; everything else is in clear.
public protocol SigningKeyStore: Sendable {
    /// Every key that is stored, oldest first.
    func signingKeys() async throws -> [SigningKeyRecord]

    /// Stores `key` where no key is stored, in one step that other processes cannot come between.
    ///
    /// Returns what is stored afterwards: `key` alone, or the keys that were there before.
    func insertFirstSigningKey(_ key: SigningKeyRecord) async throws -> [SigningKeyRecord]

    /// Adds `key` and lets every other key be published until `othersUntil` at most, in one step.
    ///
    /// A key whose own end comes earlier keeps it.
    func addSigningKey(_ key: SigningKeyRecord, othersUntil: UnixTime) async throws

    /// Deletes the keys whose publication ended before `moment`; a key without an end stays.
    func removeSigningKeys(endedBefore moment: UnixTime) async throws
}

/// One signing key as it is stored.
public struct SigningKeyRecord: Sendable, Hashable {
    /// The key id, `kid` of what it signs.
    public let id: String
    /// The algorithm that it signs with, `ES256` or `RS256`.
    public let algorithm: String
    /// The private key, PKCS #8 in PEM: secret.
    public let privateKeyPEM: [UInt8]
    /// When it was made.
    public let createdAt: UnixTime
    /// From when on it signs; until then it is published alone, so that every verifier has it in time.
    public let signsFrom: UnixTime
    /// Until when it is published, the end of the last token that it signed; nil where nothing has replaced it.
    public var publishedUntil: UnixTime?

    /// A key record.
    public init(
        id: String, algorithm: String, privateKeyPEM: [UInt8], createdAt: UnixTime, signsFrom: UnixTime,
        publishedUntil: UnixTime? = nil
    ) {
        self.id = id
        self.algorithm = algorithm
        self.privateKeyPEM = privateKeyPEM
        self.createdAt = createdAt
        self.signsFrom = signsFrom
        self.publishedUntil = publishedUntil
    }

    /// What a key does at a given moment.
    public enum State: String, Sendable {
        /// Published, but signing only later.
        case upcoming
        /// Signs, or would if no newer key did.
        case signing
        /// No longer published.
        case ended
    }

    /// What the key does at `moment`.
    public func state(at moment: UnixTime) -> State {
        if let publishedUntil, publishedUntil <= moment { return .ended }
        return signsFrom <= moment ? .signing : .upcoming
    }
}

extension SigningKeyRecord: CustomStringConvertible, CustomReflectable {
    /// The key id and the algorithm, nothing of the key.
    public var description: String { "signing key \(id) (\(algorithm))" }

    /// Without the private key.
    public var customMirror: Mirror { Mirror(self, children: ["id": id, "algorithm": algorithm]) }
}
