/// Base64 with the alphabet of RFC 4648 §4 and padding.
public enum Base64 {
    /// The text of `bytes`, padded.
    public static func encode(_ bytes: [UInt8]) -> String {
        Alphabet.standard.encoded(bytes, padded: true)
    }

    /// The bytes of a canonical text.
    ///
    /// Nil where the padding is missing or too much, where a character is outside the alphabet (line breaks, blanks and
    /// the two characters of base64url included), and where the bits after the last byte are not zero: one byte string
    /// has one text.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var characters = Array(text.utf8)
        guard characters.count % 4 == 0 else { return nil }
        let padding = characters.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        characters.removeLast(padding)
        return Alphabet.standard.decoded(characters)
    }
}

/// Base64 with the alphabet of RFC 4648 §5 and no padding, as RFC 7515 §2 wants it.
public enum Base64URL {
    /// The text of `bytes`, not padded.
    public static func encode(_ bytes: [UInt8]) -> String {
        Alphabet.url.encoded(bytes, padded: false)
    }

    /// The bytes of a canonical text.
    ///
    /// Nil where there is padding, a character outside the alphabet (`+` and `/` included), a length that no byte string
    /// has, or a bit set after the last byte.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? { Alphabet.url.decoded(Array(text.utf8)) }
}

/// Bytes as hexadecimal digits.
public enum Hex {
    /// Two lower-case digits a byte.
    public static func encode(_ bytes: [UInt8]) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            digits.append(digit(byte >> 4))
            digits.append(digit(byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// The bytes of an even number of digits of either case; nil for anything else.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 48...57: digit - 48
        case 65...70: digit - 55
        case 97...102: digit - 87
        default: nil
        }
    }
}

/// An alphabet of 64 characters, both ways.
private struct Alphabet: Sendable {
    static let standard = Alphabet("+", "/")
    static let url = Alphabet("-", "_")

    private let characters: [UInt8]
    private let values: [UInt8]  // 255 marks a character outside

    private init(_ plus: Unicode.Scalar, _ slash: Unicode.Scalar) {
        var characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        characters += [UInt8(ascii: plus), UInt8(ascii: slash)]
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in characters.enumerated() { values[Int(character)] = UInt8(value) }
        self.characters = characters
        self.values = values
    }

    func encoded(_ bytes: [UInt8], padded: Bool) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let left = bytes.count - index
            let group =
                UInt32(bytes[index]) << 16 | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
                | (left > 2 ? UInt32(bytes[index + 2]) : 0)
            for position in 0..<min(left + 1, 4) { text.append(characters[Int(group >> (18 - 6 * position) & 63)]) }
            if padded, left < 3 { for _ in left..<3 { text.append(UInt8(ascii: "=")) } }
            index += 3
        }
        return String(decoding: text, as: UTF8.self)
    }

    func decoded(_ text: [UInt8]) -> [UInt8]? {
        let rest = text.count % 4
        guard rest != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var wrong: UInt8 = 0
        var index = 0
        while index + 4 <= text.count {
            let (a, b) = (values[Int(text[index])], values[Int(text[index + 1])])
            let (c, d) = (values[Int(text[index + 2])], values[Int(text[index + 3])])
            wrong |= (a | b | c | d) & 0xC0
            bytes.append(a << 2 | b >> 4)
            bytes.append(b << 4 | c >> 2)
            bytes.append(c << 6 | d)
            index += 4
        }
        if rest > 1 {
            let (a, b) = (values[Int(text[index])], values[Int(text[index + 1])])
            let c = rest == 3 ? values[Int(text[index + 2])] : 0
            wrong |= (a | b | c) & 0xC0
            wrong |= rest == 3 ? c & 3 : b & 15
            bytes.append(a << 2 | b >> 4)
            if rest == 3 { bytes.append(b << 4 | c >> 2) }
        }
        return wrong == 0 ? bytes : nil
    }
}
