import HTTP

/// A charset that answers may be written in (RFC 9110 §8.3.2).
enum TextCharset: Sendable, Hashable {
    case utf8
    case latin1
    case latin9
    case windows1252

    /// The charset of a `Content-Type` value; UTF-8 where it names none (RFC 8259 §8.1), nil where it is not known.
    init?(contentType: String) {
        var name = "utf-8"
        for parameter in contentType.split(separator: ";").dropFirst() {
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, equalsIgnoringCase(trimmed(parts[0]), "charset") else { continue }
            name = trimmed(parts[1]).filter { $0 != "\"" }
        }
        switch name.lowercased() {
        case "utf-8", "utf8", "us-ascii", "ascii": self = .utf8
        case "iso-8859-1", "iso8859-1", "latin1", "l1": self = .latin1
        case "iso-8859-15", "latin9": self = .latin9
        case "windows-1252", "cp1252": self = .windows1252
        default: return nil
        }
    }

    /// `bytes`, written in this charset, as UTF-8.
    ///
    /// UTF-8 is passed on as it is: the JSON reader judges it, and nothing repairs it.
    func utf8(_ bytes: [UInt8]) -> [UInt8] {
        guard self != .utf8, bytes.contains(where: { $0 >= 128 }) else { return bytes }
        var text = String.UnicodeScalarView()
        for byte in bytes { text.append(scalar(byte)) }
        return Array(String(text).utf8)
    }

    private func scalar(_ byte: UInt8) -> Unicode.Scalar {
        switch self {
        case .utf8, .latin1: break
        case .latin9: if let special = Self.latin9Specials[byte] { return special }
        case .windows1252: if let special = Self.windows1252Specials[byte] { return special }
        }
        return Unicode.Scalar(byte)
    }

    private static let latin9Specials: [UInt8: Unicode.Scalar] = [
        0xA4: "€", 0xA6: "Š", 0xA8: "š", 0xB4: "Ž", 0xB8: "ž", 0xBC: "Œ", 0xBD: "œ", 0xBE: "Ÿ",
    ]
    private static let windows1252Specials: [UInt8: Unicode.Scalar] = [
        0x80: "€", 0x82: "‚", 0x83: "ƒ", 0x84: "„", 0x85: "…", 0x86: "†", 0x87: "‡", 0x88: "ˆ", 0x89: "‰", 0x8A: "Š",
        0x8B: "‹", 0x8C: "Œ", 0x8E: "Ž", 0x91: "‘", 0x92: "’", 0x93: "“", 0x94: "”", 0x95: "•", 0x96: "–", 0x97: "—",
        0x98: "˜", 0x99: "™", 0x9A: "š", 0x9B: "›", 0x9C: "œ", 0x9E: "ž", 0x9F: "Ÿ",
    ]
}

/// Whether a `Content-Type` value is JSON: `application/json` or a type with the suffix `+json`.
func isJSON(contentType: String) -> Bool {
    let type = trimmed(contentType.prefix { $0 != ";" }).lowercased()
    return type == "application/json" || type == "text/json"
        || (type.hasPrefix("application/") && type.hasSuffix("+json"))
}

private func trimmed(_ text: Substring) -> String {
    let start = text.drop { $0 == " " || $0 == "\t" }
    guard let end = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
    return String(start[...end])
}
