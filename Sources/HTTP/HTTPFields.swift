/// The header fields of a message, in the order they came; names compare without regard to case (RFC 9110 §5.1).
public struct HTTPFields: Sendable, ExpressibleByDictionaryLiteral {
    /// One field line.
    public struct Field: Sendable, Hashable {
        /// The name as it was written.
        public let name: String
        /// The value without surrounding blanks.
        public let value: String
    }

    /// Every field line, in order.
    public private(set) var lines: [Field] = []

    /// No fields.
    public init() {}

    /// The given fields, in order.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { append(name, value) }
    }

    /// The value of the first field of that name; setting it replaces every field of that name.
    public subscript(name: String) -> String? {
        get { lines.first { equalsIgnoringCase($0.name, name) }?.value }
        set {
            lines.removeAll { equalsIgnoringCase($0.name, name) }
            if let newValue { append(name, newValue) }
        }
    }

    /// The values of all fields of that name, in order.
    public func values(_ name: String) -> [String] {
        lines.filter { equalsIgnoringCase($0.name, name) }.map(\.value)
    }

    /// Adds a field line after the others.
    public mutating func append(_ name: String, _ value: String) { lines.append(Field(name: name, value: value)) }
}

/// Whether two texts are equal but for the case of ASCII letters.
public func equalsIgnoringCase(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && equalsIgnoringCase(left.utf8, right.utf8)
}

/// The same of bytes; a plain loop, since every look-up of a field comes through here.
func equalsIgnoringCase(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Bool {
    var (left, right) = (left.makeIterator(), right.makeIterator())
    while let byte = left.next() {
        guard let other = right.next(), byte == other || lowercased(byte) == lowercased(other) else { return false }
    }
    return right.next() == nil
}

private func lowercased(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte | 32 : byte }
