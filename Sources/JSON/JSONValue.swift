/// A JSON value that stands by itself.
///
/// Numbers are equal where their values are (1 and 1.0), strings where their bytes are.
public enum JSONValue: Sendable {
    /// Null.
    case null
    /// True or false.
    case bool(Bool)
    /// A number without fraction.
    case integer(Int64)
    /// A number without fraction that is greater than an `Int64` can be.
    case unsigned(UInt64)
    /// Any other number.
    case number(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object(JSONObject)

    /// Reads a JSON document.
    ///
    /// - Parameter bytes: the document, in UTF-8 and without a byte order mark.
    /// - Throws: ``JSONError`` where `bytes` are no JSON document.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        self = try JSONDocument(parsing: bytes).root.value
    }
}

extension JSONValue {
    /// The member of that name, where the value is an object that has it.
    public subscript(name: String) -> JSONValue? { object?[name] }

    /// Whether the value is null.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// True or false.
    public var bool: Bool? {
        if case .bool(let bool) = self { bool } else { nil }
    }

    /// A number without fraction that fits an `Int64`.
    public var integer: Int64? {
        if case .integer(let integer) = self { integer } else { nil }
    }

    /// Any number.
    public var double: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .unsigned(let unsigned): Double(unsigned)
        case .number(let number): number
        default: nil
        }
    }

    /// The text of a string.
    public var string: String? {
        if case .string(let string) = self { string } else { nil }
    }

    /// The values of an array.
    public var array: [JSONValue]? {
        if case .array(let array) = self { array } else { nil }
    }

    /// The members of an object.
    public var object: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    /// The value as JSON.
    ///
    /// - Parameter pretty: whether to write one value a line, indented by two spaces.
    /// - Returns: the document in UTF-8.
    public func encoded(pretty: Bool = false) -> [UInt8] {
        var writer = JSONWriter(capacity: 256, pretty: pretty)
        writer.value(self)
        return writer.bytes
    }
}

extension JSONValue: Hashable {
    /// Whether both are the same value.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.integer(let integer), .number(let number)), (.number(let number), .integer(let integer)):
            Int64(exactly: number) == integer
        case (.unsigned(let unsigned), .number(let number)), (.number(let number), .unsigned(let unsigned)):
            UInt64(exactly: number) == unsigned
        case (.string(let left), .string(let right)): ExactString(left) == ExactString(right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    /// Adds the value to `hasher`.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let bool): hasher.combine(bool)
        case .integer(let integer): hasher.combine(Double(integer))
        case .unsigned(let unsigned): hasher.combine(Double(unsigned))
        case .number(let number): hasher.combine(number)
        case .string(let string): hasher.combine(ExactString(string))
        case .array(let array): hasher.combine(array)
        case .object(let object): hasher.combine(object)
        }
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Null.
    public init(nilLiteral: ()) { self = .null }
    /// True or false.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object; of equal names the first member counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(firstOf: elements)) }
}
