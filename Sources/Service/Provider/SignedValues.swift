import Crypto
public import Time

/// Signs what a browser keeps for us, cookies and form fields, so that nobody else can have written it.
///
/// A value is good for its purpose and until its end alone. The key comes from the store, so that values survive a
/// restart and every process takes them.
public struct SignedValues: Sendable {
    /// What a value is for; one for another purpose is refused.
    public enum Purpose: String, Sendable, CaseIterable {
        /// Who is signed in.
        case session
        /// An authorization request on its way through our forms.
        case request
        /// The token that a form carries against forgery.
        case form
        /// The page of ours that a user comes back to after the sign-in.
        case way
    }

    /// Longer ones are not looked at.
    public static let limitBytes = 65_536

    private let key: [UInt8]

    /// Values signed with `key`, of 32 bytes.
    public init(key: [UInt8]) {
        precondition(key.count >= 32, "an HMAC key has at least the length of its hash (RFC 7518 §3.2)")
        self.key = key
    }

    /// The signed text of `content`, in characters that a cookie can have.
    public func sign(_ content: String, for purpose: Purpose, until end: UnixTime) -> String {
        let head = "\(end.seconds).\(Base64URL.encode(Array(content.utf8)))"
        return "\(head).\(Base64URL.encode(code(head, purpose)))"
    }

    /// What was signed; nil where it was not by us, for something else, or too long ago.
    public func content(of text: String, for purpose: Purpose, at now: UnixTime) -> String? {
        guard let signed = signed(text, for: purpose), now.seconds < signed.end else { return nil }
        return signed.content
    }

    /// What we signed, also where its time is over: enough to lead back to where the user was, and for nothing else.
    func contentOfAnyAge(_ text: String, for purpose: Purpose) -> String? { signed(text, for: purpose)?.content }

    /// A mark by which a secret is known again and not found out.
    func mark(of secret: Secret) -> String {
        String(Base64URL.encode(HMACSHA256.code(Array("mark.\(secret.exposed)".utf8), key: key)).prefix(22))
    }

    private func signed(_ text: String, for purpose: Purpose) -> (content: String, end: Int64)? {
        guard text.utf8.count <= Self.limitBytes else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = Base64URL.decode(parts[2]),
            constantTimeEquals(signature, code("\(parts[0]).\(parts[1])", purpose)),
            let end = Int64(parts[0]), let bytes = Base64URL.decode(parts[1]),
            let content = String(validating: bytes, as: UTF8.self)
        else { return nil }
        return (content, end)
    }

    private func code(_ head: String, _ purpose: Purpose) -> [UInt8] {
        HMACSHA256.code(Array("\(purpose.rawValue).\(head)".utf8), key: key)
    }
}
