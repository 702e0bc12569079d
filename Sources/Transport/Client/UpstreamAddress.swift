public import HTTP

/// An address that a request may be sent to, taken apart as far as that must be known.
///
/// Only `https`, and `http` to loopback hosts; no user, no character that a request line could not carry.
public struct UpstreamAddress: Sendable, Hashable {
    /// `https` or `http`.
    public let scheme: String
    /// The host in lower case, an IPv6 address in its brackets.
    public let host: String
    /// The port, the scheme's own where the address gives none.
    public let port: Int

    /// Scheme, host and port, as they name a server in metrics and logs.
    public var origin: String { "\(scheme)://\(host):\(port)" }

    /// Whether the host is this machine by its name or number.
    public var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// - Throws: `HTTPClientError.address` for an address that must not be used.
    public init(_ url: String) throws(HTTPClientError) {
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }) else { throw .address }
        let rest: Substring
        if let after = Self.rest(of: url, after: "https://") {
            (scheme, rest) = ("https", after)
        } else if let after = Self.rest(of: url, after: "http://") {
            (scheme, rest) = ("http", after)
        } else {
            throw .address
        }
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let (host, port) = Self.split(authority) else { throw .address }
        self.host = host
        self.port = port ?? (scheme == "https" ? 443 : 80)
        guard scheme == "https" || isLoopback else { throw .address }
    }

    private static func rest(of url: String, after prefix: String) -> Substring? {
        guard equalsIgnoringCase(String(url.prefix(prefix.count)), prefix) else { return nil }
        return url.dropFirst(prefix.count)
    }

    private static func split(_ authority: Substring) -> (host: String, port: Int?)? {
        let host: Substring
        var digits: Substring?
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[...end]
            let rest = authority[authority.index(after: end)...]
            if !rest.isEmpty {
                guard rest.hasPrefix(":") else { return nil }
                digits = rest.dropFirst()
            }
            guard host.dropFirst().dropLast().allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }), host.count > 3
            else { return nil }
        } else {
            let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            host = parts[0]
            if parts.count == 2 { digits = parts[1] }
            guard !host.isEmpty, host.utf8.allSatisfy(isHostByte) else { return nil }
        }
        guard let digits else { return (host.lowercased(), nil) }
        guard digits.utf8.count <= 5, digits.utf8.allSatisfy({ (48...57).contains($0) }), let port = Int(digits),
            (1...65_535).contains(port)
        else { return nil }
        return (host.lowercased(), port)
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }
}
