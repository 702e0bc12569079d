/// The state of an app-to-app link: the text that goes out with the user and must come back unchanged.
///
/// The encoding is that of Amazon's sample for apps, so that its helper reads ours and we read its: standard base64, in
/// which `+` is written `.`, `/` is `_` and the padding `=` is `-`. That is not base64url, where `-` means `+`.
public enum LinkState {
    /// What a state may measure at most, in characters.
    public static let maximumLength = 255
    /// What a state that an app made must measure at least, in characters.
    public static let minimumLength = 8

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._".utf8)
    private static let padding = UInt8(ascii: "-")

    /// `bytes` in letters that need no escape in a query.
    public static func encode(_ bytes: [UInt8]) -> String {
        base64(bytes, alphabet: alphabet, padding: padding)
    }

    /// The bytes behind a text of ``encode(_:)``; nil for anything that it would not have written.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let letters = Array(text.utf8)
        guard letters.count.isMultiple(of: 4) else { return nil }
        let padded = letters.reversed().prefix { $0 == padding }.count
        guard padded <= 2 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(letters.count / 4 * 3)
        var bits: UInt32 = 0
        var held: UInt32 = 0
        for letter in letters.dropLast(padded) {
            guard let value = value(of: letter) else { return nil }
            bits = bits << 6 | value
            held += 6
            if held >= 8 {
                held -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> held))
            }
        }
        // What is left over is zero in the one way to write these bytes.
        guard bits & ((1 << held) - 1) == 0 else { return nil }
        return bytes
    }

    /// A new state of three parts: who made it, when, and what nobody can guess.
    ///
    /// - Parameters:
    ///   - prefix: Who made it, such as `iOS`: ASCII letters and digits.
    ///   - seconds: The time in seconds since 1970.
    ///   - random: Bytes of a secure generator; the sample takes 30.
    /// - Returns: The state.
    public static func make(prefix: String, at seconds: Int64, random: [UInt8]) -> String {
        precondition(
            !prefix.isEmpty && prefix.utf8.allSatisfy(isLetterOrDigit), "a prefix is made of letters and digits")
        let standard = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        let secret = base64(random, alphabet: standard, padding: UInt8(ascii: "="))
        return encode(Array("\(prefix).\(seconds).\(secret)".utf8))
    }

    /// The three parts of a state of that form; nil for any other text.
    public static func parts(of state: some StringProtocol) -> (prefix: String, seconds: Int64, random: String)? {
        guard let bytes = decode(state), let text = text(of: bytes) else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }), parts[1].utf8.allSatisfy(isDigit),
            let seconds = Int64(parts[1])
        else { return nil }
        return (String(parts[0]), seconds, String(parts[2]))
    }

    /// Whether Amazon carries `text` unharmed: printable ASCII without the characters that its page forbids.
    public static func isAllowed(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !forbidden.contains($0) }
    }

    private static let forbidden = Set("&='/\\<>\"#|".utf8)

    private static func value(of letter: UInt8) -> UInt32? {
        switch letter {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(letter - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(letter - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(letter - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "."): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }

    private static func base64(_ bytes: [UInt8], alphabet: [UInt8], padding: UInt8) -> String {
        var letters: [UInt8] = []
        letters.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let piece = bytes[start..<min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for place in 0..<3 {
                bits = bits << 8 | (place < piece.count ? UInt32(piece[start + place]) : 0)
            }
            for place in 0..<4 {
                letters.append(place <= piece.count ? alphabet[Int(bits >> (18 - 6 * UInt32(place)) & 63)] : padding)
            }
        }
        return String(decoding: letters, as: UTF8.self)
    }
}
