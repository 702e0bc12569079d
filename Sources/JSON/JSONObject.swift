/// The members of an object in the order in which they were added; each name once.
///
/// Two objects are equal where they have the same members in any order. Names are compared byte by byte.
public struct JSONObject: Sendable {
    private var entries: [(name: String, value: JSONValue)] = []
    /// Where each name stands; kept only for objects that are long enough to need it.
    private var places: [ExactString: Int] = [:]
    private static let scanned = 16

    /// An object without members.
    public init() {}

    /// An object of the first member of each name.
    init(firstOf members: some Sequence<(String, JSONValue)>) {
        entries.reserveCapacity(members.underestimatedCount)
        for (name, value) in members where place(of: name) == nil { append(name, value) }
    }

    /// The names in order.
    public var names: [String] { entries.map(\.name) }

    /// How many members there are.
    public var count: Int { entries.count }

    /// Whether there are no members.
    public var isEmpty: Bool { entries.isEmpty }

    /// The value of that name; setting nil removes the member, setting a new name adds it at the end.
    public subscript(name: String) -> JSONValue? {
        get { place(of: name).map { entries[$0].value } }
        set {
            switch (place(of: name), newValue) {
            case (let place?, let value?): entries[place].value = value
            case (nil, let value?): append(name, value)
            case (let place?, nil):
                entries.remove(at: place)
                places = [:]
                if entries.count > Self.scanned { index() }
            case (nil, nil): break
            }
        }
    }

    private func place(of name: String) -> Int? {
        if !places.isEmpty { return places[ExactString(name)] }
        return entries.firstIndex { ExactString.isSame($0.name, name) }
    }

    private mutating func append(_ name: String, _ value: JSONValue) {
        entries.append((name, value))
        if !places.isEmpty {
            places[ExactString(name)] = entries.count - 1
        } else if entries.count > Self.scanned {
            index()
        }
    }

    private mutating func index() {
        for (place, entry) in entries.enumerated() { places[ExactString(entry.name)] = place }
    }
}

extension JSONObject: Sequence {
    /// The members in order.
    public func makeIterator() -> IndexingIterator<[(name: String, value: JSONValue)]> { entries.makeIterator() }

    /// How many members there are.
    public var underestimatedCount: Int { entries.count }
}

extension JSONObject: Hashable {
    /// Whether both have the same members, in any order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.entries.allSatisfy { right[$0.name] == $0.value }
    }

    /// Adds the members to `hasher`, such that their order does not matter.
    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for entry in entries {
            var member = Hasher()
            member.combine(ExactString(entry.name))
            member.combine(entry.value)
            sum &+= member.finalize()
        }
        hasher.combine(sum)
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object of these members; of equal names the first.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(firstOf: elements) }
}
