import Crypto
import HTTP

/// The company's logo, read at the start and served by us under a name that changes with it.
public struct Logo: Sendable, Hashable {
    /// How large a file may be.
    public static let limitBytes = 256 * 1024

    /// What the file holds.
    public let bytes: [UInt8]
    /// Its media type, by its content and not by its name.
    public let mediaType: String
    /// Where it is served.
    public let path: String

    /// Why a file is no logo.
    struct Fault: Error {
        let problem: String
    }

    /// The logo in a file.
    init(_ bytes: [UInt8]) throws(Fault) {
        guard !bytes.isEmpty else { throw Fault(problem: "the file is empty: save the picture again") }
        guard bytes.count <= Self.limitBytes else {
            throw Fault(problem: "the file is larger than 256 KiB: save the picture smaller, 160 pixels wide at most")
        }
        guard let kind = try Self.kind(bytes) else {
            throw Fault(problem: "the file is no SVG, PNG, JPEG or WebP: save the picture as one of these")
        }
        self.bytes = bytes
        mediaType = kind.mediaType
        path = "/assets/logo-\(Hex.encode(Array(SHA256.digest(bytes).prefix(16)))).\(kind.ending)"
    }

    private static func kind(_ bytes: [UInt8]) throws(Fault) -> (mediaType: String, ending: String)? {
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return ("image/png", "png") }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return ("image/jpeg", "jpg") }
        if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) {
            return ("image/webp", "webp")
        }
        guard let text = String(validating: bytes, as: UTF8.self), let root = SVGRoot(text) else { return nil }
        guard root.tag.contains("http://www.w3.org/2000/svg") else {
            throw Fault(
                problem: "the SVG lacks xmlns=\"http://www.w3.org/2000/svg\", and browsers would not show it: add it")
        }
        return ("image/svg+xml", "svg")
    }

    /// Where browsers get it; a year long, since another logo has another address.
    ///
    /// An SVG is a document that could hold scripts: opened by itself it may do nothing, not even as a page of ours.
    var route: Route {
        let response = HTTPResponse(
            status: 200,
            fields: [
                "Content-Type": mediaType, "Cache-Control": "public, max-age=31536000, immutable",
                "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
                "X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin",
            ], body: bytes)
        return Route(.get, path, timeLimit: .seconds(5)) { _, _ in response }
    }
}

/// The first tag of an SVG document.
private struct SVGRoot {
    let tag: Substring

    /// Nil where the text is another document, or declares entities.
    init?(_ text: String) {
        var rest = text[...]
        if rest.unicodeScalars.first == "\u{FEFF}" { rest.unicodeScalars.removeFirst() }
        while true {
            rest = rest.drop(while: \.isWhitespace)
            if rest.hasPrefix("<?") {
                guard let end = rest.firstRange(of: "?>") else { return nil }
                rest = rest[end.upperBound...]
            } else if rest.hasPrefix("<!--") {
                guard let end = rest.firstRange(of: "-->") else { return nil }
                rest = rest[end.upperBound...]
            } else if rest.hasPrefix("<!DOCTYPE") {
                let declaration = rest.prefix { $0 != ">" }
                guard !declaration.contains("["), declaration.endIndex < rest.endIndex else { return nil }
                rest = rest[declaration.endIndex...].dropFirst()
            } else {
                break
            }
        }
        guard rest.hasPrefix("<svg"), let next = rest.dropFirst(4).first,
            next.isWhitespace || next == ">" || next == "/"
        else { return nil }
        tag = rest.prefix { $0 != ">" }
    }
}
