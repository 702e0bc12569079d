extension JSONValue {
    /// Reads a document with comments, trailing commas and bare names (json5.org), as people write them by hand.
    ///
    /// Foundation's decoder reads JSON5 too, but says neither where an error is nor that a name stands twice, and loses
    /// the order of members: all three matter in a file that a person wrote.
    ///
    /// - Parameter bytes: the document, in UTF-8.
    /// - Throws: ``JSONError`` with line and column where `bytes` are no such document, name a member twice, or hold a
    ///   number that is not finite or, without fraction, beyond 64 bits.
    public init(json5 bytes: [UInt8]) throws(JSONError) {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw JSONError(reason: "not UTF-8") }
        var reader = JSON5Reader(bytes: bytes)
        self = try reader.document()
    }
}

/// Reads JSON5 from valid UTF-8, byte by byte.
struct JSON5Reader {
    let bytes: [UInt8]
    var position = 0
    private var depth = 0
    private static let maximumDepth = 64

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(JSONError) -> JSONValue {
        let value = try value()
        try skipSpace()
        guard position == bytes.count else { throw error("something follows the document") }
        return value
    }

    /// What stands at the reading position; nil at the end.
    var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func take(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        position += 1
        return true
    }

    /// An error at `place`, or where the reader stands.
    func error(_ problem: String, at place: Int? = nil) -> JSONError {
        let before = bytes.prefix(place ?? position)
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let column = String(decoding: before[start...], as: UTF8.self).unicodeScalars.count + 1
        return JSONError(reason: "line \(line), column \(column): \(problem)")
    }

    private mutating func value() throws(JSONError) -> JSONValue {
        try skipSpace()
        guard let first = current else { throw error("a value is missing at the end") }
        switch first {
        case UInt8(ascii: "{"): return try nested { reader throws(JSONError) in .object(try reader.members()) }
        case UInt8(ascii: "["): return try nested { reader throws(JSONError) in .array(try reader.elements()) }
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try string())
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."):
            return try number()
        default: return try word()
        }
    }

    private mutating func nested(
        _ read: (inout JSON5Reader) throws(JSONError) -> JSONValue
    ) throws(JSONError) -> JSONValue {
        guard depth < Self.maximumDepth else { throw error("nested deeper than \(Self.maximumDepth)") }
        depth += 1
        position += 1
        let value = try read(&self)
        depth -= 1
        return value
    }

    private mutating func members() throws(JSONError) -> JSONObject {
        var object = JSONObject()
        while true {
            try skipSpace()
            if take(UInt8(ascii: "}")) { return object }
            let start = position
            let name = try name()
            guard object[name] == nil else { throw error("a name stands twice in one object", at: start) }
            try skipSpace()
            guard take(UInt8(ascii: ":")) else { throw error("a colon is missing after a name") }
            object[name] = try value()
            try skipSpace()
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "}")) else { throw error("a comma or } is missing") }
            return object
        }
    }

    private mutating func elements() throws(JSONError) -> [JSONValue] {
        var array: [JSONValue] = []
        while true {
            try skipSpace()
            if take(UInt8(ascii: "]")) { return array }
            array.append(try value())
            try skipSpace()
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "]")) else { throw error("a comma or ] is missing") }
            return array
        }
    }

    private mutating func name() throws(JSONError) -> String {
        if current == UInt8(ascii: "\"") || current == UInt8(ascii: "'") { return try string() }
        let name = takeWord()
        guard let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
            throw error("a name is missing")
        }
        return name
    }

    private mutating func word() throws(JSONError) -> JSONValue {
        let start = position
        switch takeWord() {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        case "": throw error("a value is missing")
        default: throw error("a text needs quotes", at: start)
        }
    }

    /// Letters, digits, `_` and `$`, and whatever is not ASCII.
    private mutating func takeWord() -> String {
        let start = position
        while let byte = current, Self.isWord(byte), !startsSpace { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }
}

/// White space and comments.
extension JSON5Reader {
    /// How many bytes of white space stand at the reading position as one character.
    private var spaceLength: Int {
        guard let first = current else { return 0 }
        return switch first {
        case 0x09...0x0D, 0x20: 1
        // U+00A0, U+2028, U+2029 and the byte order mark.
        case 0xC2 where bytes[position + 1] == 0xA0: 2
        case 0xE2 where bytes[position + 1] == 0x80 && bytes[position + 2] & 0xFE == 0xA8: 3
        case 0xEF where bytes[position + 1] == 0xBB && bytes[position + 2] == 0xBF: 3
        default: 0
        }
    }

    private var startsSpace: Bool { spaceLength > 0 }

    private mutating func skipSpace() throws(JSONError) {
        while true {
            if startsSpace {
                position += spaceLength
            } else if starts(with: "//") {
                while let byte = current, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") { position += 1 }
            } else if starts(with: "/*") {
                let start = position
                position += 2
                while !starts(with: "*/") {
                    guard current != nil else { throw error("a comment does not end", at: start) }
                    position += 1
                }
                position += 2
            } else {
                return
            }
        }
    }

    func starts(with text: StaticString) -> Bool {
        text.withUTF8Buffer { unsafe bytes[position...].starts(with: $0) }
    }
}
