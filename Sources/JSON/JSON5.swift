import FoundationEssentials

extension JSONValue {
    /// Reads a document with comments, trailing commas and bare names (json5.org), as people write them by hand.
    ///
    /// Members come in order of their names. Slow, and meant for files alone.
    ///
    /// - Parameter bytes: the document, in UTF-8.
    /// - Throws: ``JSONError`` with line and column where `bytes` are no such document.
    public init(json5 bytes: [UInt8]) throws(JSONError) {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw JSONError(reason: "not UTF-8") }
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        do {
            self = try decoder.decode(JSON5Value.self, from: Data(bytes)).value
        } catch DecodingError.dataCorrupted(let context) {
            throw JSONError(reason: Self.reason(context))
        } catch {
            throw JSONError(reason: "not JSON")
        }
    }

    /// The decoder's words; it names the place, and at most one character of the input.
    private static func reason(_ context: DecodingError.Context) -> String {
        guard let underlying = context.underlyingError else { return context.debugDescription }
        return "\(underlying)"
    }
}

/// A value on its way out of the decoder.
private struct JSON5Value: Decodable {
    let value: JSONValue

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if let members = try? decoder.container(keyedBy: Name.self) {
            var object = JSONObject()
            for name in members.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
                object[name.stringValue] = try members.decode(JSON5Value.self, forKey: name).value
            }
            value = .object(object)
        } else if var elements = try? decoder.unkeyedContainer() {
            var array: [JSONValue] = []
            while !elements.isAtEnd { array.append(try elements.decode(JSON5Value.self).value) }
            value = .array(array)
        } else {
            value = try Self.scalar(decoder.singleValueContainer())
        }
    }

    private static func scalar(_ container: any SingleValueDecodingContainer) throws -> JSONValue {
        if container.decodeNil() { return .null }
        if let bool = try? container.decode(Bool.self) { return .bool(bool) }
        if let string = try? container.decode(String.self) { return .string(string) }
        if let integer = try? container.decode(Int64.self) { return .integer(integer) }
        if let unsigned = try? container.decode(UInt64.self) { return .unsigned(unsigned) }
        let number = try container.decode(Double.self)
        guard number.isFinite else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "a number is not finite")
        }
        return .number(number)
    }
}
