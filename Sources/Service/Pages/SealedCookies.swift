import Crypto
import HTTP
import Time

/// Cookies that only we can read: what came back from Amazon or the provider waits in them for the next page, since it
/// must stand in no address.
struct SealedCookies: Sendable {
    /// Of one kind more are never kept: a stranger's page could open ours many times, and fill up what browsers send.
    static let limit = 4
    private static let limitBytes = 8192

    private let key: [UInt8]
    private let clock: WallClock
    private let isSecure: Bool

    /// Cookies of the site at `publicURL`, sealed by `key` of 32 bytes.
    init(key: [UInt8], publicURL: String, clock: @escaping WallClock) {
        precondition(key.count == 32, "an AES-256 key has 32 bytes")
        self.key = key
        self.clock = clock
        isSecure = publicURL.hasPrefix("https:")
    }

    /// A prefixed name, which binds the cookie to this very host (RFC 6265bis §4.1.3.2), needs https.
    private func name(_ kind: String, _ id: String) -> String {
        "\(isSecure ? "__Host-" : "")skillgate-\(kind)\(id.isEmpty ? "" : "-" + id)"
    }

    /// The `Set-Cookie` that keeps `content` for so long.
    ///
    /// - Throws: `CryptoError` where sealing fails.
    func set(_ kind: String, id: String = "", _ content: String, seconds: Int64) throws(CryptoError) -> String {
        let end = clock().adding(seconds: seconds).seconds
        let sealed = try AESGCM.seal(
            Array("\(end)\n\(content)".utf8), key: key, additionalData: Array(name(kind, id).utf8))
        return line(name(kind, id), Base64URL.encode(sealed), seconds)
    }

    /// The `Set-Cookie` that ends one.
    func clear(_ kind: String, id: String = "") -> String { line(name(kind, id), "", 0) }

    /// What a cookie of the request holds; nil where it is not ours, too old, or of another name.
    func content(_ kind: String, id: String = "", of request: HTTPRequest) -> String? {
        let name = name(kind, id)
        for cookie in Self.cookies(of: request) where cookie.name == name {
            guard cookie.value.utf8.count <= Self.limitBytes, let sealed = Base64URL.decode(cookie.value),
                let plain = try? AESGCM.open(sealed, key: key, additionalData: Array(name.utf8)),
                let text = String(validating: plain, as: UTF8.self), let line = text.firstIndex(of: "\n"),
                let end = Int64(text[..<line]), clock().seconds < end
            else { continue }
            return String(text[text.index(after: line)...])
        }
        return nil
    }

    /// The ids of the request's cookies of a kind that have one.
    func ids(_ kind: String, of request: HTTPRequest) -> [String] {
        let prefix = name(kind, "") + "-"
        return Self.cookies(of: request).filter { $0.name.hasPrefix(prefix) }.map {
            String($0.name.dropFirst(prefix.count))
        }.filter(Self.isID)
    }

    /// The `Set-Cookie`s that end those of a kind which are too many for one more.
    func room(for kind: String, in request: HTTPRequest) -> [String] {
        let ids = ids(kind, of: request)
        return ids.count < Self.limit ? [] : ids.prefix(100).map { clear(kind, id: $0) }
    }

    /// A new id.
    static func newID() -> String { Hex.encode(SecureRandom.bytes(8)) }

    static func isID(_ text: String) -> Bool {
        text.utf8.count == 16 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }

    /// Sent along when another site leads here, as Amazon does, and not with what another site sends.
    private func line(_ name: String, _ value: String, _ seconds: Int64) -> String {
        "\(name)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Lax\(isSecure ? "; Secure" : "")"
    }

    private static func cookies(of request: HTTPRequest) -> [(name: Substring, value: Substring)] {
        request.fields.values("Cookie").flatMap { line in
            line.split(separator: ";").compactMap { pair in
                let pair = pair.drop { $0 == " " }
                guard let mark = pair.firstIndex(of: "=") else { return nil }
                return (pair[..<mark], pair[pair.index(after: mark)...])
            }
        }
    }
}

extension HTTPResponse {
    /// The same answer that sets these cookies too.
    func adding(cookies: [String]) -> HTTPResponse {
        var response = self
        for cookie in cookies { response.fields.append("Set-Cookie", cookie) }
        return response
    }
}
