import HTTP

/// An `http` or `https` address, taken apart as far as the configuration's rules need it.
struct WebAddress: Sendable, Hashable {
    let isSecure: Bool
    /// In lower case, an IPv6 address in its brackets.
    let host: String
    let port: Int?
    /// From the first slash on; empty where there is none.
    let path: String
    let hasQuery: Bool
    let hasFragment: Bool

    /// Takes an address apart; nil where it is none, names a user, or holds what an address cannot.
    init?(_ url: String) {
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"\\\"<>^`{|}".utf8.contains($0) }) else {
            return nil
        }
        guard let colon = url.firstRange(of: "://") else { return nil }
        switch url[..<colon.lowerBound].lowercased() {
        case "https": isSecure = true
        case "http": isSecure = false
        default: return nil
        }
        let rest = url[colon.upperBound...]
        let authority = rest.prefix { !"/?#".contains($0) }
        guard !authority.contains("@"), let (host, port) = Self.split(authority) else { return nil }
        self.host = host
        self.port = port
        let tail = rest.dropFirst(authority.count)
        path = String(tail.prefix { $0 != "?" && $0 != "#" })
        hasFragment = tail.contains("#")
        hasQuery = tail.prefix { $0 != "#" }.contains("?")
    }

    /// Whether the address reaches nobody but this machine.
    var isLoopback: Bool { Self.isLoopback(host: host) }

    static func isLoopback(host: String) -> Bool {
        if ["localhost", "[::1]", "::1"].contains(host.lowercased()) { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil && $0.count <= 3 }
    }

    private static func split(_ authority: Substring) -> (host: String, port: Int?)? {
        var host = authority
        var digits: Substring?
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[...end]
            let rest = authority[authority.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            if !rest.isEmpty { digits = rest.dropFirst() }
            guard host.count > 3, host.dropFirst().dropLast().allSatisfy({ $0.isHexDigit || ":.".contains($0) }) else {
                return nil
            }
        } else {
            if let colon = authority.firstIndex(of: ":") {
                host = authority[..<colon]
                digits = authority[authority.index(after: colon)...]
            }
            guard !host.isEmpty, host.utf8.allSatisfy(isHostByte) else { return nil }
        }
        guard let digits else { return (host.lowercased(), nil) }
        guard let port = port(digits) else { return nil }
        return (host.lowercased(), port)
    }

    /// A port as its digits give it.
    static func port(_ digits: some StringProtocol) -> Int? {
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) }),
            let port = Int(digits), port <= 65_535
        else { return nil }
        return port
    }

    static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }
}

/// A line of `http.resolve`: what is asked for, and where to connect instead.
struct ResolveRule: Sendable, Hashable {
    let address: String

    /// Reads `host:port:address:port`, as libcurl's CURLOPT_CONNECT_TO has it; an IPv6 address is in brackets.
    init?(_ text: String) {
        var parts: [Substring] = []
        var rest = text[...]
        while true {
            let isBracketed = rest.hasPrefix("[")
            guard let end = isBracketed ? rest.firstIndex(of: "]").map(rest.index(after:)) : rest.firstIndex(of: ":")
            else {
                parts.append(rest)
                break
            }
            parts.append(rest[..<end])
            rest = rest[end...]
            if rest.isEmpty { break }
            guard rest.hasPrefix(":") else { return nil }
            rest = rest.dropFirst()
        }
        guard parts.count == 4, WebAddress("https://\(parts[0])") != nil, WebAddress("https://\(parts[2])") != nil,
            let from = WebAddress.port(parts[1]), let to = WebAddress.port(parts[3]), from > 0, to > 0
        else { return nil }
        address = String(parts[2])
    }
}
