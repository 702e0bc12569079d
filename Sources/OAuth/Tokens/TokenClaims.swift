import JSON
import Time

/// The members of an access token, or of an introspection answer, that we judge (RFC 7519 §4.1, RFC 9068 §2.2, RFC 7662 §2.2).
struct TokenClaims {
    var issuer: String?
    var subject: String?
    /// nil where there is no `aud`.
    var audience: [String]?
    var expiresAt: UnixTime?
    var notBefore: UnixTime?
    var issuedAt: UnixTime?
    /// nil where there is neither `scope` nor `scp`.
    var scopes: Set<String>?
    var clientID: String?
    var grantID: String?

    init(_ root: JSONElement) throws(TokenRejection) {
        guard root.kind == .object else { throw .malformed("the claims are not an object") }
        guard root.repeatedMember == nil else { throw .malformed("a claim occurs twice") }
        issuer = try Self.text("iss", of: root)
        subject = try Self.text("sub", of: root)
        audience = try Self.audience(root)
        expiresAt = try Self.moment("exp", of: root)
        notBefore = try Self.moment("nbf", of: root)
        issuedAt = try Self.moment("iat", of: root)
        scopes = try Self.scopes("scope", of: root)
        if scopes == nil { scopes = try Self.scopes("scp", of: root) }
        clientID = try Self.text("client_id", of: root)
        if clientID == nil { clientID = try Self.text("azp", of: root) }
        grantID = try Self.text("grant_id", of: root)
    }

    private static func present(_ name: StaticString, of root: JSONElement) -> JSONElement? {
        guard let member = root.member(name), !member.isNull else { return nil }
        return member
    }

    private static func text(_ name: StaticString, of root: JSONElement) throws(TokenRejection) -> String? {
        guard let member = present(name, of: root) else { return nil }
        guard let text = member.string else { throw .malformed("\(name) is not a text") }
        return text
    }

    /// A list is taken as it is, a text is one audience: it is not split (RFC 7519 §4.1.3).
    private static func audience(_ root: JSONElement) throws(TokenRejection) -> [String]? {
        guard let member = present("aud", of: root) else { return nil }
        if let text = member.string { return [text] }
        guard let elements = member.elements else { throw .malformed("aud is neither a text nor a list") }
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count else { throw .malformed("aud lists something that is no text") }
        return texts
    }

    private static func moment(_ name: StaticString, of root: JSONElement) throws(TokenRejection) -> UnixTime? {
        guard let member = present(name, of: root) else { return nil }
        if let seconds = member.integer { return UnixTime(seconds: seconds) }
        // RFC 7519 §2: a NumericDate may have a fraction.
        guard let seconds = member.double else { throw .malformed("\(name) is not a number") }
        guard abs(seconds) < 9e15 else { return UnixTime(seconds: seconds < 0 ? .min : .max) }
        return UnixTime(milliseconds: Int64((seconds * 1000).rounded(.down)))
    }

    /// Scopes parted by blanks, or a list of them.
    private static func scopes(_ name: StaticString, of root: JSONElement) throws(TokenRejection) -> Set<String>? {
        guard let member = present(name, of: root) else { return nil }
        if let text = member.string { return Set(text.split(separator: " ").map(String.init)) }
        guard let elements = member.elements else { throw .malformed("\(name) is neither a text nor a list") }
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count else { throw .malformed("\(name) lists something that is no text") }
        return Set(texts)
    }
}
