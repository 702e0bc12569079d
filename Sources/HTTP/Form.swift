/// The names and values of an `application/x-www-form-urlencoded` body or query, in order.
public struct Form: Sendable {
    /// One name and its value.
    public struct Item: Sendable, Hashable {
        /// The decoded name.
        public let name: String
        /// The decoded value.
        public let value: String
    }

    /// Every item, repeated names included.
    public private(set) var items: [Item] = []

    /// No items.
    public init() {}

    /// Reads an encoded body or query; nil where an escape is malformed or a value is not UTF-8.
    public init?(decoding text: some StringProtocol) {
        for pair in text.split(separator: "&") {
            let name = pair.prefix { $0 != "=" }
            let value = pair.dropFirst(name.count + 1)
            guard let name = decoded(name, plusIsBlank: true), let value = decoded(value, plusIsBlank: true) else {
                return nil
            }
            items.append(Item(name: name, value: value))
        }
    }

    /// The value of the first item of that name.
    public subscript(name: String) -> String? { items.first { $0.name == name }?.value }

    /// The values of every item of that name.
    public func values(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }

    /// Adds an item; a nil value adds nothing.
    public mutating func append(_ name: String, _ value: String?) {
        if let value { items.append(Item(name: name, value: value)) }
    }

    /// The encoded text; each value is encoded once, a blank as `+`.
    public var encodedText: String {
        items.map { encoded($0.name, blankIsPlus: true) + "=" + encoded($0.value, blankIsPlus: true) }
            .joined(separator: "&")
    }
}
