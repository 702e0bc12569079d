import JSON

/// What is known of one key of the configuration.
struct KeyRule: Sendable {
    /// Where it stands; `[]` follows the name of a list of sections, as in `skills[].linking.clientID`.
    let path: String
    let kind: KeyKind
    /// Whether the section that it stands in cannot do without it.
    let isRequired: Bool
    /// The value where the file gives none.
    let standard: JSONValue?

    init(_ path: String, _ kind: KeyKind, required: Bool = false, standard: JSONValue? = nil) {
        self.path = path
        self.kind = kind
        isRequired = required
        self.standard = standard
    }
}

/// What a value must be.
indirect enum KeyKind: Sendable {
    /// An object of further keys.
    case section
    /// A list of objects of further keys.
    case sections
    case flag
    case integer(ClosedRange<Int64>)
    /// A text of 1 to that many characters, without control characters.
    case text(Int)
    case choice([String])
    /// `https`, or `http` to this machine; no user, no fragment.
    case url
    /// A file that exists.
    case file
    case secret
    /// A text by locale.
    case localized
    /// A text by locale, by a name of its own.
    case localizedByName
    /// A list of at most so many values.
    case list(KeyKind, atMost: Int)
}

/// A key with the keys below it.
struct KeyNode: Sendable {
    var rule: KeyRule
    var children: [(name: String, node: KeyNode)] = []

    /// The tree of a table; a section's rule may be left out where it says nothing.
    init(_ rules: [KeyRule]) {
        rule = KeyRule("", .section)
        for rule in rules { insert(rule, along: rule.path.split(separator: ".")[...]) }
    }

    private init(_ rule: KeyRule) { self.rule = rule }

    private mutating func insert(_ rule: KeyRule, along path: ArraySlice<Substring>) {
        guard let first = path.first else {
            self.rule = rule
            return
        }
        let isList = first.hasSuffix("[]")
        let name = String(isList ? first.dropLast(2) : first)
        if let place = children.firstIndex(where: { $0.name == name }) {
            children[place].node.insert(rule, along: path.dropFirst())
        } else {
            var node = KeyNode(KeyRule(String(first), isList ? .sections : .section))
            node.insert(rule, along: path.dropFirst())
            children.append((name, node))
        }
    }

    func child(_ name: String) -> KeyNode? { children.first { $0.name == name }?.node }
}
