/// The address of a certificate chain, normalised and found to be one of Amazon's.
///
/// Dot segments, plain or percent-encoded, are resolved and unreserved escapes decoded (RFC 3986 §6.2.2) before
/// anything is judged; what is judged is what is fetched, and what the cache is keyed by.
public struct CertificateURL: Hashable, Sendable {
    /// Which rule an address breaks.
    public enum Fault: String, Error, Hashable, Sendable {
        /// No address at all, or characters that have no place in one.
        case syntax = "not a URL"
        /// Another scheme than `https`.
        case scheme = "the scheme is not https"
        /// A name or password before the host.
        case userinfo = "it names a user"
        /// Another host than `s3.amazonaws.com`.
        case host = "the host is not s3.amazonaws.com"
        /// Another port than 443.
        case port = "the port is not 443"
        /// A path that does not begin with `/echo.api/`.
        case path = "the path does not begin with /echo.api/"
        /// A query.
        case query = "it has a query"
        /// A fragment.
        case fragment = "it has a fragment"
    }

    /// The normalised address.
    public let text: String

    /// Normalises `text` and judges it.
    ///
    /// - Throws: the first rule that it breaks.
    public init(_ text: String) throws(Fault) {
        if isPlain(text) {
            self.text = text
            return
        }
        self.text = origin + (try Self.normalisedPath(Array(text.utf8)))
    }

    private static func normalisedPath(_ bytes: [UInt8]) throws(Fault) -> String {
        guard !bytes.isEmpty, bytes.count <= 2048,
            bytes.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { throw .syntax }
        guard equalsIgnoringCase(bytes[..<colon], "https") else { throw .scheme }
        let rest = bytes[(colon + 1)...]
        guard rest.starts(with: "//".utf8) else { throw .syntax }
        let afterSlashes = rest.dropFirst(2)
        let authority = afterSlashes.prefix { !"/?#".utf8.contains($0) }
        try judge(authority: authority)
        let path = afterSlashes[authority.endIndex...]
        guard !path.contains(UInt8(ascii: "#")) else { throw .fragment }
        guard !path.contains(UInt8(ascii: "?")) else { throw .query }
        let normalised = try resolved(path)
        guard normalised.starts(with: prefix.utf8) else { throw .path }
        return String(decoding: normalised, as: UTF8.self)
    }

    private static func judge(authority: ArraySlice<UInt8>) throws(Fault) {
        guard !authority.contains(UInt8(ascii: "@")) else { throw .userinfo }
        let host = authority.prefix { $0 != UInt8(ascii: ":") }
        guard equalsIgnoringCase(host, "s3.amazonaws.com") else { throw .host }
        let port = authority[host.endIndex...].dropFirst()
        guard port.isEmpty || port.elementsEqual("443".utf8) else { throw .port }
    }

    /// The path without dot segments (RFC 3986 §5.2.4), each segment decoded as far as that changes no meaning.
    private static func resolved(_ path: ArraySlice<UInt8>) throws(Fault) -> [UInt8] {
        var segments: [[UInt8]] = []
        let given = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (index, escaped) in given.enumerated() {
            let segment = try decoded(escaped)
            let isDots = segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8)
            if segment.count == 2, isDots { _ = segments.popLast() }
            if !isDots {
                segments.append(segment)
            } else if index == given.count - 1 {
                segments.append([])
            }
        }
        return segments.reduce(into: []) { bytes, segment in
            bytes.append(UInt8(ascii: "/"))
            bytes += segment
        }
    }

    /// A segment with the escapes of unreserved characters decoded and the others in capitals.
    ///
    /// An escaped separator, per cent sign or control character is refused: servers read those in different ways.
    private static func decoded(_ segment: ArraySlice<UInt8>) throws(Fault) -> [UInt8] {
        guard segment.contains(UInt8(ascii: "%")) else { return Array(segment) }
        var bytes: [UInt8] = []
        var iterator = segment.makeIterator()
        while let byte = iterator.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let first = iterator.next(), let second = iterator.next(), let high = hexValue(first),
                let low = hexValue(second)
            else { throw .syntax }
            let value = high << 4 | low
            switch value {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(value)
            case 0...0x20, 0x7F...0xFF, UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "%"): throw .path
            default: bytes += [UInt8(ascii: "%"), uppercased(first), uppercased(second)]
            }
        }
        return bytes
    }
}

private let origin = "https://s3.amazonaws.com"
private let prefix = "/echo.api/"
private let plainStart = "https://s3.amazonaws.com/echo.api/"

/// Whether `text` is the usual form, a file name of harmless characters, so that it is its own normal form.
private func isPlain(_ text: String) -> Bool {
    guard text.hasPrefix(plainStart), text.utf8.count <= 2048 else { return false }
    let name = text.utf8.dropFirst(plainStart.utf8.count)
    guard let first = name.first, first != UInt8(ascii: ".") else { return false }
    return name.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

private func equalsIgnoringCase(_ bytes: ArraySlice<UInt8>, _ lowercase: StaticString) -> Bool {
    bytes.map { (65...90).contains($0) ? $0 | 32 : $0 }.elementsEqual(lowercase.description.utf8)
}

private func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 48...57: byte - 48
    case 65...70: byte - 55
    case 97...102: byte - 87
    default: nil
    }
}

private func uppercased(_ byte: UInt8) -> UInt8 { (97...122).contains(byte) ? byte & 0xDF : byte }
