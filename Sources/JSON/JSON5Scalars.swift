/// Strings.
extension JSON5Reader {
    /// The string at the reading position, in either kind of quotes.
    mutating func string() throws(JSONError) -> String {
        let start = position
        let quote = bytes[position]
        position += 1
        var text: [UInt8] = []
        while let byte = current {
            position += 1
            switch byte {
            case quote: return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0x0A, 0x0D: throw error("a string does not end on its line", at: start)
            case ..<0x20: throw error("a control character stands in a string", at: position - 1)
            default: text.append(byte)
            }
        }
        throw error("a string does not end", at: start)
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        let start = position - 1
        guard let byte = current else { throw error("a string does not end", at: start) }
        position += 1
        switch byte {
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "v"): text.append(0x0B)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "r"): text.append(0x0D)
        case 0x0A: break  // A line that goes on in the next.
        case 0x0D: _ = take(0x0A)
        case UInt8(ascii: "x"): append(Unicode.Scalar(UInt8(try hexadecimal(digits: 2, of: start))), to: &text)
        case UInt8(ascii: "u"): append(try unicode(start), to: &text)
        case UInt8(ascii: "0"):
            if let next = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(next) { fallthrough }
            text.append(0)
        case UInt8(ascii: "1")...UInt8(ascii: "9"): throw error("an escape is none that JSON5 knows", at: start)
        default: text.append(byte)  // The character itself; the rest of its UTF-8 follows.
        }
    }

    private mutating func unicode(_ start: Int) throws(JSONError) -> Unicode.Scalar {
        let first = try hexadecimal(digits: 4, of: start)
        if let scalar = Unicode.Scalar(first) { return scalar }
        if first < 0xDC00, starts(with: "\\u") {
            position += 2
            let second = try hexadecimal(digits: 4, of: start)
            if (0xDC00...0xDFFF).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
            {
                return scalar
            }
        }
        throw error("an escape is half a surrogate pair", at: start)
    }

    private mutating func hexadecimal(digits: Int, of start: Int) throws(JSONError) -> UInt32 {
        var number: UInt32 = 0
        for _ in 0..<digits {
            guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("an escape is cut short", at: start)
            }
            number = number << 4 | UInt32(digit)
            position += 1
        }
        return number
    }

    private func append(_ scalar: Unicode.Scalar, to text: inout [UInt8]) {
        text.append(contentsOf: String(Character(scalar)).utf8)
    }
}

/// Numbers.
extension JSON5Reader {
    /// The number at the reading position.
    mutating func number() throws(JSONError) -> JSONValue {
        let start = position
        let isNegative = current == UInt8(ascii: "-")
        if isNegative || current == UInt8(ascii: "+") { position += 1 }
        let number: JSONValue?
        if starts(with: "0x") || starts(with: "0X") {
            position += 2
            number = Self.integer(takeDigits { Character(Unicode.Scalar($0)).isHexDigit }, isNegative, radix: 16)
        } else {
            number = decimal(isNegative)
        }
        guard let number else { throw error("a number is malformed or out of range", at: start) }
        if let byte = current, Self.isWord(byte) || byte == UInt8(ascii: ".") {
            throw error("a number is malformed or out of range", at: start)
        }
        return number
    }

    private mutating func decimal(_ isNegative: Bool) -> JSONValue? {
        let whole = takeDigits(where: Self.isDigit)
        if whole.utf8.count > 1, whole.hasPrefix("0") { return nil }
        let hasPoint = take(UInt8(ascii: "."))
        let fraction = hasPoint ? takeDigits(where: Self.isDigit) : ""
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        var exponent = ""
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            let sign = take(UInt8(ascii: "-")) ? "-" : ""
            if sign.isEmpty { _ = take(UInt8(ascii: "+")) }
            let digits = takeDigits(where: Self.isDigit)
            guard !digits.isEmpty else { return nil }
            exponent = "e" + sign + digits
        } else if !hasPoint {
            return Self.integer(whole, isNegative, radix: 10)
        }
        guard let number = Double("\(whole.isEmpty ? "0" : whole).\(fraction.isEmpty ? "0" : fraction)\(exponent)"),
            number.isFinite
        else { return nil }
        return .number(isNegative ? -number : number)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func integer(_ digits: String, _ isNegative: Bool, radix: Int) -> JSONValue? {
        if let integer = Int64((isNegative ? "-" : "") + digits, radix: radix) { return .integer(integer) }
        return isNegative ? nil : UInt64(digits, radix: radix).map(JSONValue.unsigned)
    }

    private mutating func takeDigits(where isDigit: (UInt8) -> Bool) -> String {
        let start = position
        while let byte = current, isDigit(byte) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }
}
