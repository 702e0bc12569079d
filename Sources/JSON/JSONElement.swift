import CSimdjson

/// A value in a document; it keeps the document alive.
@safe public struct JSONElement: Sendable {
    /// What a value can be.
    public enum Kind: Sendable {
        /// Null.
        case null
        /// True or false.
        case bool
        /// A number without fraction and exponent that fits an `Int64`.
        case integer
        /// Any other number.
        case number
        /// A string.
        case string
        /// An array.
        case array
        /// An object.
        case object
    }

    let document: JSONDocument
    let place: Int

    private var letter: UInt8 { unsafe simdjson_shim_letter(document.tape, place) }

    /// What the value is.
    public var kind: Kind {
        switch letter {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "l"): .integer
        case UInt8(ascii: "u"), UInt8(ascii: "d"): .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .bool
        default: .null
        }
    }

    /// Whether the value is null.
    public var isNull: Bool { letter == UInt8(ascii: "n") }

    /// The text of a string.
    public var string: String? {
        guard letter == UInt8(ascii: "\"") else { return nil }
        return text(at: place)
    }

    /// A number without fraction and exponent, where it fits an `Int64`.
    public var integer: Int64? {
        guard letter == UInt8(ascii: "l") else { return nil }
        return unsafe Int64(bitPattern: simdjson_shim_number(document.tape, place))
    }

    /// A number without fraction and exponent that is greater than an `Int64` can be.
    var unsigned: UInt64? {
        guard letter == UInt8(ascii: "u") else { return nil }
        return unsafe simdjson_shim_number(document.tape, place)
    }

    /// Any number.
    public var double: Double? {
        switch letter {
        case UInt8(ascii: "l"): integer.map(Double.init)
        case UInt8(ascii: "u"): unsigned.map(Double.init)
        case UInt8(ascii: "d"): unsafe Double(bitPattern: simdjson_shim_number(document.tape, place))
        default: nil
        }
    }

    /// True or false.
    public var bool: Bool? {
        switch letter {
        case UInt8(ascii: "t"): true
        case UInt8(ascii: "f"): false
        default: nil
        }
    }

    /// The member of that name, where the value is an object that has it; the first, where several have the name.
    public func member(_ name: StaticString) -> JSONElement? {
        guard letter == UInt8(ascii: "{"), name.hasPointerRepresentation else { return nil }
        return element(
            at: unsafe simdjson_shim_member(
                document.tape, document.strings, place, name.utf8Start, name.utf8CodeUnitCount))
    }

    /// The member of that name, where the value is an object that has it; the first, where several have the name.
    public func member(named name: String) -> JSONElement? {
        guard letter == UInt8(ascii: "{") else { return nil }
        var name = name
        let found = name.withUTF8 { bytes -> Int in
            guard let start = bytes.baseAddress else {
                return unsafe simdjson_shim_member(document.tape, document.strings, place, document.strings, 0)
            }
            return unsafe simdjson_shim_member(document.tape, document.strings, place, start, bytes.count)
        }
        return element(at: found)
    }

    /// The text of the member of that name, where it is a string.
    public func string(_ name: StaticString) -> String? { member(name)?.string }

    /// The values of an array.
    public var elements: [JSONElement]? {
        guard letter == UInt8(ascii: "[") else { return nil }
        var elements: [JSONElement] = []
        var next = place + 1
        while next < end {
            elements.append(JSONElement(document: document, place: next))
            next = after(next)
        }
        return elements
    }

    /// The members of an object in order, those of a repeated name included.
    public var members: [(name: String, value: JSONElement)]? {
        guard letter == UInt8(ascii: "{") else { return nil }
        var members: [(name: String, value: JSONElement)] = []
        var next = place + 1
        while next < end {
            members.append((text(at: next), JSONElement(document: document, place: next + 1)))
            next = after(next + 1)
        }
        return members
    }

    /// The first name that two members of an object have.
    ///
    /// Readers disagree on which of the two counts, so where it matters such an object is refused.
    public var repeatedMember: String? {
        guard let members else { return nil }
        var seen: Set<ExactString> = []
        return members.first { !seen.insert(ExactString($0.name)).inserted }?.name
    }

    private func element(at found: Int) -> JSONElement? {
        found == 0 ? nil : JSONElement(document: document, place: found)
    }

    /// The place of the bracket that closes an array or object.
    private var end: Int { after(place) - 1 }

    private func after(_ place: Int) -> Int { unsafe simdjson_shim_after(document.tape, place) }

    private func text(at place: Int) -> String {
        let start = unsafe simdjson_shim_string(document.tape, document.strings, place)
        let length = unsafe simdjson_shim_string_length(document.tape, document.strings, place)
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: Int(length)), as: UTF8.self)
    }
}

extension JSONElement {
    /// The value and all that is in it, apart from the document.
    ///
    /// Of members with the same name the first is taken.
    public var value: JSONValue {
        switch kind {
        case .null: .null
        case .bool: .bool(bool ?? false)
        case .integer: .integer(integer ?? 0)
        case .number: unsigned.map(JSONValue.unsigned) ?? .number(double ?? 0)
        case .string: .string(string ?? "")
        case .array: .array((elements ?? []).map(\.value))
        case .object: .object(JSONObject(firstOf: (members ?? []).lazy.map { ($0.name, $0.value.value) }))
        }
    }

    /// The value as JSON without white space; its members in order, those of a repeated name included.
    public var jsonBytes: [UInt8] {
        var writer = JSONWriter(capacity: 256)
        write(to: &writer)
        return writer.bytes
    }

    private func write(to writer: inout JSONWriter) {
        switch kind {
        case .null: writer.null()
        case .bool: writer.bool(bool ?? false)
        case .integer: writer.integer(integer ?? 0)
        case .number:
            if let unsigned { writer.unsigned(unsigned) } else { writer.number(double ?? 0) }
        case .string: writer.string(string ?? "")
        case .array:
            writer.beginArray()
            for element in elements ?? [] { element.write(to: &writer) }
            writer.endArray()
        case .object:
            writer.beginObject()
            for member in members ?? [] {
                writer.key(named: member.name)
                member.value.write(to: &writer)
            }
            writer.endObject()
        }
    }
}
