/// The parameters of an address or a query, decoded as forms are; nil where an escape is broken or no UTF-8 comes out.
///
/// A text that starts with a scheme, a `/` or a `?` is an address and its query is read; any other text is a query.
func queryParameters(of text: String) -> [(name: String, value: String)]? {
    guard let query = query(of: text) else { return nil }
    var parameters: [(name: String, value: String)] = []
    for pair in query.split(separator: UInt8(ascii: "&")) {
        let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
        guard let name = formDecoded(pair[..<equals]), let value = formDecoded(pair[equals...].dropFirst()) else {
            return nil
        }
        parameters.append((name, value))
    }
    return parameters
}

/// The bytes of the query, without the fragment; nil where nobody could mean that text.
private func query(of text: String) -> ArraySlice<UInt8>? {
    let bytes = Array(text.utf8)
    guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
    let address = bytes.prefix { $0 != UInt8(ascii: "#") }
    let first = address.prefix { isLetterOrDigit($0) || "+-.".utf8.contains($0) }
    let delimiter = address.dropFirst(first.count).first
    let isPath = first.isEmpty && (delimiter == UInt8(ascii: "/") || delimiter == UInt8(ascii: "?"))
    let isAddress = delimiter == UInt8(ascii: ":") || isPath
    guard isAddress else { return address }
    guard let mark = address.firstIndex(of: UInt8(ascii: "?")) else { return [] }
    return address[(mark + 1)...]
}

private func formDecoded(_ bytes: some Collection<UInt8>) -> String? {
    var decoded: [UInt8] = []
    var rest = bytes.makeIterator()
    while let byte = rest.next() {
        switch byte {
        case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
        case UInt8(ascii: "%"):
            guard let high = rest.next().flatMap(hexValue), let low = rest.next().flatMap(hexValue) else { return nil }
            decoded.append(high << 4 | low)
        default: decoded.append(byte)
        }
    }
    return text(of: decoded)
}

private func hexValue(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): letter - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): letter - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): letter - UInt8(ascii: "a") + 10
    default: nil
    }
}

/// `bytes` as text; nil where they are no UTF-8.
func text(of bytes: [UInt8]) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    // What is broken was replaced, and then the bytes differ.
    return Array(text.utf8) == bytes ? text : nil
}

/// `address` with parameters added to its query; all but letters, digits, `-`, `.`, `_`, `~` and `kept` is escaped.
///
/// A space is `%20`: readers of forms and readers of addresses agree on it.
func address(
    _ address: String, adding parameters: [(name: String, value: String)], keeping kept: String = ""
) -> String {
    var result = address
    for (name, value) in parameters {
        if !result.utf8.contains(UInt8(ascii: "?")) {
            result += "?"
        } else if let last = result.utf8.last, last != UInt8(ascii: "?"), last != UInt8(ascii: "&") {
            result += "&"
        }
        result += name + "=" + percentEncoded(value, keeping: kept)
    }
    return result
}

private func percentEncoded(_ text: String, keeping kept: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    for byte in text.utf8 {
        if isLetterOrDigit(byte) || "-._~".utf8.contains(byte) || kept.utf8.contains(byte) {
            encoded.append(byte)
        } else {
            encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
    return String(decoding: encoded, as: UTF8.self)
}

func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

func isLetterOrDigit(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
}

/// Whether OAuth lets a code or a state look so: printable ASCII, not empty (RFC 6749, appendix A).
func isPrintable(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
}
