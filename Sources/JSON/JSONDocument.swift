import CSimdjson

/// A document as simdjson read it: checked as a whole, and looked up without being decoded.
///
/// It refuses what RFC 8259 does not allow, invalid UTF-8 and lone surrogates included, and numbers beyond 64 bits or
/// beyond a double. Immutable, and so readable from any thread.
@safe public final class JSONDocument: @unchecked Sendable {
    // Unchecked because the parser's memory is written before `init` returns and only read afterwards.
    let parser: Parser
    let tape: UnsafePointer<UInt64>
    let strings: UnsafePointer<UInt8>

    /// Reads `bytes`, all of them.
    ///
    /// An array with 64 bytes of spare capacity is read where it is; any other is copied first.
    ///
    /// - Parameters:
    ///   - bytes: the document, in UTF-8 and without a byte order mark.
    ///   - maximumDepth: how deep arrays and objects may be nested; what the innermost one holds is a level too.
    /// - Throws: ``JSONError`` where `bytes` are no JSON document.
    public init(parsing bytes: [UInt8], maximumDepth: Int = 64) throws(JSONError) {
        guard let parser = ParserPool.shared.take() else { throw JSONError(reason: "out of memory") }
        let spare = bytes.capacity - bytes.count
        let status = unsafe simdjson_shim_parse(
            parser.pointer, bytes, bytes.count, spare, max(maximumDepth, 1))
        guard status == Int32(SIMDJSON_SHIM_OK) else {
            ParserPool.shared.put(back: parser)
            throw JSONError(status: status, maximumDepth: maximumDepth)
        }
        self.parser = parser
        unsafe tape = simdjson_shim_tape(parser.pointer)
        unsafe strings = simdjson_shim_strings(parser.pointer)
    }

    deinit { ParserPool.shared.put(back: parser) }

    /// The value that the document is.
    public var root: JSONElement { JSONElement(document: self, place: 1) }
}

extension JSONError {
    /// The reason for what the parser found.
    init(status: Int32, maximumDepth: Int) {
        switch Int(status) {
        case SIMDJSON_SHIM_DEPTH: reason = "nested deeper than \(maximumDepth)"
        case SIMDJSON_SHIM_STRING: reason = "a string holds an escape that is not one, or half a surrogate pair"
        case SIMDJSON_SHIM_LITERAL: reason = "a word is neither true, false nor null"
        case SIMDJSON_SHIM_NUMBER: reason = "a number is malformed or out of range"
        case SIMDJSON_SHIM_UTF8: reason = "not UTF-8"
        case SIMDJSON_SHIM_EMPTY: reason = "empty"
        case SIMDJSON_SHIM_CONTROL: reason = "a control character stands in a string"
        case SIMDJSON_SHIM_UNCLOSED: reason = "a string does not end"
        case SIMDJSON_SHIM_MEMORY: reason = "out of memory"
        default: reason = "a value, comma, colon or bracket is missing or out of place"
        }
    }
}
