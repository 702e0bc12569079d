public import JSON

/// A skill's answers as its intents file declares them.
///
/// A file is read once, as a whole: every fault of it is reported together, each with its path.
public struct IntentsFile: Sendable {
    /// The locale whose text stands in where a request's own has none.
    public let defaultLocale: String
    let rules: [String: RequestRule]

    /// Reads a file of JSON5.
    ///
    /// - Throws: ``FileFaults`` with everything that is wrong with it.
    public init(json5 bytes: [UInt8]) throws(FileFaults) {
        let value: JSONValue
        do { value = try JSONValue(json5: bytes) } catch {
            throw FileFaults([FileFault(path: "", problem: "is not JSON5: \(error.reason)")])
        }
        try self.init(value)
    }

    /// Reads the value of a file.
    ///
    /// - Throws: ``FileFaults`` with everything that is wrong with it.
    public init(_ value: JSONValue) throws(FileFaults) {
        var reader = IntentsReader()
        let (defaultLocale, rules) = reader.file(value)
        guard reader.faults.isEmpty else { throw FileFaults(reader.faults) }
        self.defaultLocale = defaultLocale
        self.rules = rules
    }

    /// The requests that the file answers, by name.
    public var requestNames: Set<String> { Set(rules.keys) }

    /// The paths of the provider that the file fetches, as they are written, slots filled with `x`.
    public var resourcePaths: Set<String> {
        Set(rules.values.flatMap { $0.resources.compactMap { try? $0.path.filled { _ in "x" } } })
    }

    /// Every permission that the file asks for.
    public var permissions: Set<String> { Set(rules.values.flatMap(\.permissions)) }
}
