public import Crypto
public import JSON
public import Time

/// Whom a validated access token stands for.
///
/// Only ``TokenValidator`` can make one. Copies share what was read from the token.
public struct Principal: Sendable {
    let facts: TokenFacts
    /// The token itself, for calls to the resource server.
    public let token: Secret

    init(facts: TokenFacts, token: Secret) {
        self.facts = facts
        self.token = token
    }

    /// The user's id at the provider, `sub`.
    public var subject: String { facts.subject }
    /// What the token may be used for.
    public var scopes: Set<String> { facts.scopes }
    /// The client that the token was issued to; nil where the token names none.
    public var clientID: String? { facts.clientID }
    /// When the token ends; nil where it has no end of its own.
    public var expiresAt: UnixTime? { facts.expiresAt }
    /// The grant that the token belongs to, in tokens of the embedded provider.
    public var grantID: String? { facts.grantID }
    /// Who made the token; nil where an introspection answer did not say.
    public var issuer: String? { facts.issuer }
    /// Every claim of the token, or of the introspection answer.
    public var claims: JSONValue { (try? JSONValue(parsing: facts.claims)) ?? .null }
}

extension Principal: CustomStringConvertible, CustomReflectable {
    /// The subject alone.
    public var description: String { "principal \(subject)" }

    /// The subject alone, since claims may say more of a person than a log should hold.
    public var customMirror: Mirror { Mirror(self, children: ["subject": subject]) }
}

/// What is known of one good token; shared by the principals made from it.
final class TokenFacts: Sendable {
    let subject: String
    let scopes: Set<String>
    let clientID: String?
    let expiresAt: UnixTime?
    let grantID: String?
    let issuer: String?
    /// The claims as JSON: parsed again by the few who want them all, since a parsed document is large.
    let claims: [UInt8]

    init(
        subject: String, scopes: Set<String>, clientID: String?, expiresAt: UnixTime?, grantID: String?,
        issuer: String?, claims: [UInt8]
    ) {
        self.subject = subject
        self.scopes = scopes
        self.clientID = clientID
        self.expiresAt = expiresAt
        self.grantID = grantID
        self.issuer = issuer
        self.claims = claims
    }
}
