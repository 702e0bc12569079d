public import Crypto
public import Time

/// What a user let a client do, once: each consent makes a grant of its own, and all tokens that follow are of it.
public struct ProviderGrant: Sendable, Hashable {
    /// The id, which its access tokens carry.
    public let id: String
    /// The user.
    public let subject: String
    /// The client.
    public let clientID: String
    /// What was consented to.
    public let scopes: [String]
    /// When.
    public let createdAt: UnixTime
    /// When its code was redeemed.
    public var redeemedAt: UnixTime?
    /// When its refresh token was last used, give or take a day.
    public var usedAt: UnixTime?
    /// When it was revoked.
    public var revokedAt: UnixTime?

    /// A grant.
    public init(
        id: String, subject: String, clientID: String, scopes: [String], createdAt: UnixTime,
        redeemedAt: UnixTime? = nil, usedAt: UnixTime? = nil, revokedAt: UnixTime? = nil
    ) {
        self.id = id
        self.subject = subject
        self.clientID = clientID
        self.scopes = scopes
        self.createdAt = createdAt
        self.redeemedAt = redeemedAt
        self.usedAt = usedAt
        self.revokedAt = revokedAt
    }
}

/// One authorization code as it is stored.
public struct CodeRecord: Sendable, Hashable {
    /// The hash of the code.
    public let hash: String
    /// Where it was sent.
    public let redirectURI: String
    /// The proof key's challenge.
    public let challenge: String?
    /// When it ends.
    public let expiresAt: UnixTime
    /// When it was used.
    public var usedAt: UnixTime?

    /// A code.
    public init(hash: String, redirectURI: String, challenge: String?, expiresAt: UnixTime, usedAt: UnixTime? = nil) {
        self.hash = hash
        self.redirectURI = redirectURI
        self.challenge = challenge
        self.expiresAt = expiresAt
        self.usedAt = usedAt
    }
}

/// A code and its grant.
public struct StoredCode: Sendable, Hashable {
    /// The code.
    public let code: CodeRecord
    /// The grant.
    public let grant: ProviderGrant

    /// A code and its grant.
    public init(code: CodeRecord, grant: ProviderGrant) {
        self.code = code
        self.grant = grant
    }
}

/// A refresh token and its grant.
public struct StoredRefreshToken: Sendable, Hashable {
    /// When it was given out.
    public let issuedAt: UnixTime
    /// When another took its place.
    public let replacedAt: UnixTime?
    /// The grant.
    public let grant: ProviderGrant

    /// A refresh token and its grant.
    public init(issuedAt: UnixTime, replacedAt: UnixTime?, grant: ProviderGrant) {
        self.issuedAt = issuedAt
        self.replacedAt = replacedAt
        self.grant = grant
    }
}

/// What came of redeeming a code.
public enum CodeRedemption: Sendable, Hashable {
    /// It was good, and is used up now.
    case redeemed
    /// Somebody has used it before.
    case usedBefore
    /// There is no such code, it has ended, or its grant was revoked.
    case gone
}

/// What came of replacing a refresh token.
public enum Rotation: Sendable, Hashable {
    /// The new one is stored.
    case rotated
    /// It was replaced moments ago; that was the answer.
    case repeated(Secret)
    /// It was replaced longer ago: somebody has a copy.
    case replayed
    /// There is no such token, or its grant was revoked.
    case gone
}

/// The hash that a code or refresh token is stored by.
func tokenHash(_ token: Secret) -> String { Hex.encode(SHA256.digest(token.exposed)) }
