/// Cuts `text` after `limit` characters; what was cut shows as `…`.
///
/// Characters are Unicode scalars here: a single grapheme may be as long as a book.
func bounded(_ text: String, to limit: Int = LogField.textLimit) -> String {
    guard text.utf8.count > limit else { return text }
    let scalars = text.unicodeScalars
    guard let end = scalars.index(scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex),
        end < scalars.endIndex
    else { return text }
    return String(scalars[..<scalars.index(before: end)]) + "…"
}

/// Whether a scalar is shown as it is: neither a control character nor one that reorders or breaks lines.
func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F...0x9F, 0x61C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF: false
    default: true
    }
}

extension String {
    /// Appends `text` as a JSON string with its quotes, so that it stays on its line on any terminal.
    mutating func appendQuoted(_ text: String) {
        self += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": self += "\\\""
            case "\\": self += "\\\\"
            case "\n": self += "\\n"
            case "\r": self += "\\r"
            case "\t": self += "\\t"
            case _ where isHarmless(scalar): unicodeScalars.append(scalar)
            default:
                let digits = String(scalar.value, radix: 16)
                self += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            }
        }
        self += "\""
    }

    /// Appends `text` bare where it is one plain word, else quoted.
    mutating func appendWord(_ text: String) {
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"),
                    UInt8(ascii: ":"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
        if isPlain { self += text } else { appendQuoted(text) }
    }
}
