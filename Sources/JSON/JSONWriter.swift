/// Writes a JSON document from front to back; commas and escapes are its business.
///
/// Text keeps its UTF-8: only what RFC 8259 §7 demands is escaped, and U+2028 and U+2029, which JavaScript once took for
/// line ends.
public struct JSONWriter: Sendable {
    /// What has been written.
    public private(set) var bytes: [UInt8] = []
    private var followsValue = false
    private let isPretty: Bool
    private var depth = 0

    /// A writer of an empty document.
    ///
    /// - Parameters:
    ///   - capacity: how many bytes the document will about have.
    ///   - pretty: whether to write one value a line, indented by two spaces.
    public init(capacity: Int = 256, pretty: Bool = false) {
        isPretty = pretty
        bytes.reserveCapacity(capacity)
    }

    /// Opens an object.
    public mutating func beginObject() { begin(UInt8(ascii: "{")) }

    /// Closes an object.
    public mutating func endObject() { end(UInt8(ascii: "}")) }

    /// Opens an array.
    public mutating func beginArray() { begin(UInt8(ascii: "[")) }

    /// Closes an array.
    public mutating func endArray() { end(UInt8(ascii: "]")) }

    /// The name of the member whose value comes next; a name that needs no escape.
    public mutating func key(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        colon()
    }

    /// The name of the member whose value comes next.
    public mutating func key(named name: String) {
        separate()
        quote(name)
        colon()
    }

    /// A string.
    public mutating func string(_ text: String) {
        separate()
        quote(text)
    }

    /// A number without fraction.
    public mutating func integer(_ integer: Int64) {
        separate()
        if integer < 0 { bytes.append(UInt8(ascii: "-")) }
        digits(integer.magnitude)
    }

    /// A number without fraction.
    public mutating func integer(_ integer: Int) { self.integer(Int64(integer)) }

    /// A number without fraction and sign.
    public mutating func unsigned(_ integer: UInt64) {
        separate()
        digits(integer)
    }

    /// A number, as short as it can be without losing value; null where it is none (infinity, NaN).
    public mutating func number(_ number: Double) {
        guard number.isFinite else { return null() }
        // Beyond 2^53 a double's neighbours are more than 1 apart: the short form with exponent is the honest one.
        if number.magnitude < 0x1p53, let integer = Int64(exactly: number) { return self.integer(integer) }
        separate()
        bytes.append(contentsOf: number.description.utf8)
    }

    /// True or false.
    public mutating func bool(_ bool: Bool) {
        separate()
        bytes.append(contentsOf: bool ? "true".utf8 : "false".utf8)
    }

    /// Null.
    public mutating func null() {
        separate()
        bytes.append(contentsOf: "null".utf8)
    }

    /// A whole value.
    public mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let bool): self.bool(bool)
        case .integer(let integer): self.integer(integer)
        case .unsigned(let unsigned): self.unsigned(unsigned)
        case .number(let number): self.number(number)
        case .string(let string): self.string(string)
        case .array(let array):
            beginArray()
            for value in array { self.value(value) }
            endArray()
        case .object(let object):
            beginObject()
            for (name, value) in object {
                key(named: name)
                self.value(value)
            }
            endObject()
        }
    }

    private mutating func begin(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        followsValue = false
        depth += 1
    }

    private mutating func end(_ bracket: UInt8) {
        depth -= 1
        if isPretty, followsValue { newline() }
        bytes.append(bracket)
        followsValue = true
    }

    /// What stands between this value and what came before.
    private mutating func separate() {
        if followsValue { bytes.append(UInt8(ascii: ",")) }
        if isPretty, depth > 0, bytes.last != UInt8(ascii: " ") { newline() }
        followsValue = true
    }

    private mutating func newline() {
        bytes.append(UInt8(ascii: "\n"))
        for _ in 0..<depth { bytes.append(contentsOf: "  ".utf8) }
    }

    private mutating func colon() {
        bytes.append(UInt8(ascii: ":"))
        if isPretty { bytes.append(UInt8(ascii: " ")) }
        followsValue = false
    }

    private mutating func digits(_ value: UInt64) {
        if value < 10 { return bytes.append(UInt8(ascii: "0") + UInt8(value)) }
        bytes.append(contentsOf: String(value).utf8)
    }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            var copied = 0
            var index = 0
            while index < utf8.count {
                let byte = unsafe utf8[index]
                guard Self.isSpecial(byte) else {
                    index += 1
                    continue
                }
                var length = 1
                let isSeparator = byte == 0xE2
                if isSeparator {
                    // U+2028 and U+2029 are E2 80 A8 and E2 80 A9.
                    guard unsafe utf8[index + 1] == 0x80, unsafe utf8[index + 2] & 0xFE == 0xA8 else {
                        index += 3
                        continue
                    }
                    length = 3
                }
                unsafe bytes.append(contentsOf: utf8[copied..<index])
                if isSeparator {
                    bytes.append(contentsOf: unsafe utf8[index + 2] == 0xA8 ? "\\u2028".utf8 : "\\u2029".utf8)
                } else {
                    escape(byte)
                }
                index += length
                copied = index
            }
            unsafe bytes.append(contentsOf: utf8[copied...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0xE2
    }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        default:
            bytes.append(contentsOf: byte < 0x10 ? "u000".utf8 : "u001".utf8)
            bytes.append(contentsOf: String(byte & 0x0F, radix: 16).utf8)
        }
    }
}
