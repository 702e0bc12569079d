public import JSON

/// What a JSON value must be: the language of the interface tables.
///
/// A shape says what Alexa's schema says of one value, so that a table can say what code would otherwise repeat for each
/// interface.
public indirect enum Shape: Sendable {
    /// Any value.
    case any
    /// `true` or `false`.
    case bool
    /// A number without a fraction, 1.0 among them.
    case integer(ClosedRange<Int64> = Int64.min...Int64.max)
    /// A number.
    case number(ClosedRange<Double> = -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude)
    /// A text of so many characters (Unicode scalars), all of one alphabet.
    case text(ClosedRange<Int> = 0...Int.max, Alphabet = .any)
    /// One of these texts.
    case oneOf([String])
    /// A moment in UTC, as `2026-01-31T12:00:00.00Z`; the fraction of up to three digits may be forbidden.
    case instant(fraction: Bool = true)
    /// So many values of one shape; in a set no two are equal.
    case list(Shape, ClosedRange<Int> = 0...Int.max, isSet: Bool = false)
    /// An object whose members, whatever their names, are of one shape.
    case map(Shape)
    /// An object with these members; an open one may have others.
    case object([Member], isOpen: Bool = false)
    /// The first of these shapes that fits.
    case either([Shape])

    /// The characters that a text may have.
    public enum Alphabet: Sendable {
        /// Any.
        case any
        /// Letters, digits and hyphens: message ids.
        case messageID
        /// Letters, digits and `_-=#;:?@&`: endpoint ids.
        case endpointID
        /// `Alexa`, or `Alexa.` and words of letters and digits with full stops between them.
        case namespace
        /// Digits and full stops: versions.
        case version
    }

    /// A member of an object.
    public struct Member: Sendable {
        let name: String
        let shape: Shape
        let isRequired: Bool

        /// A member that must be there.
        public static func required(_ name: String, _ shape: Shape) -> Member {
            Member(name: name, shape: shape, isRequired: true)
        }

        /// A member that may be missing; `null` counts as missing.
        public static func optional(_ name: String, _ shape: Shape) -> Member {
            Member(name: name, shape: shape, isRequired: false)
        }
    }

    /// Any object.
    public static let anyObject = Shape.object([], isOpen: true)
    /// The object without members.
    public static let nothing = Shape.object([])

    /// What is wrong with the first member of `value` that does not fit; nil where all do.
    public func fault(in value: JSONValue) -> ShapeFault? {
        switch (self, value) {
        case (.any, _), (.bool, .bool): return nil
        case (.integer(let range), _): return integerFault(value, range)
        case (.number(let range), _):
            guard let number = value.double else { return ShapeFault(.kind) }
            guard range.contains(number) else { return ShapeFault(.outOfRange(range.lowerBound, range.upperBound)) }
            return nil
        case (.text(let length, let alphabet), .string(let text)):
            guard length == 0...Int.max || length.contains(text.unicodeScalars.count) else {
                return ShapeFault(.length)
            }
            return alphabet.holds(text) ? nil : ShapeFault(.pattern)
        case (.oneOf(let known), .string(let text)): return known.contains(text) ? nil : ShapeFault(.notOneOf)
        case (.instant(let fraction), .string(let text)):
            return isInstant(text, fraction: fraction) ? nil : ShapeFault(.pattern)
        case (.list(let shape, let count, let isSet), .array(let values)):
            return listFault(values, shape, count, isSet)
        case (.map(let shape), .object(let object)):
            for (name, member) in object {
                if let fault = shape.fault(in: member) { return fault.below(name) }
            }
            return nil
        case (.object(let members, let isOpen), .object(let object)): return objectFault(object, members, isOpen)
        case (.either(let shapes), _):
            var best: ShapeFault?
            for shape in shapes {
                guard let fault = shape.fault(in: value) else { return nil }
                // The shape that is meant is one whose words fit, so the fault of another kind tells more.
                if best == nil || best?.kind == .notOneOf { best = fault }
            }
            return best
        default: return ShapeFault(.kind)
        }
    }

    private func integerFault(_ value: JSONValue, _ range: ClosedRange<Int64>) -> ShapeFault? {
        let integer: Int64
        switch value {
        case .integer(let exact): integer = exact
        case .number(let number):
            // Beyond what 64 bits hold every number is whole, and out of any range.
            guard let exact = Int64(exactly: number) else {
                return ShapeFault(
                    number.rounded() == number
                        ? .outOfRange(Double(range.lowerBound), Double(range.upperBound)) : .kind)
            }
            integer = exact
        case .unsigned: return ShapeFault(.outOfRange(Double(range.lowerBound), Double(range.upperBound)))
        default: return ShapeFault(.kind)
        }
        guard range.contains(integer) else {
            return ShapeFault(.outOfRange(Double(range.lowerBound), Double(range.upperBound)))
        }
        return nil
    }

    private func listFault(
        _ values: [JSONValue], _ shape: Shape, _ count: ClosedRange<Int>, _ isSet: Bool
    ) -> ShapeFault? {
        guard count.contains(values.count) else { return ShapeFault(.length) }
        for (index, value) in values.enumerated() {
            if let fault = shape.fault(in: value) { return fault.below("[\(index)]") }
        }
        guard isSet, values.count > 1, Set(values).count < values.count else { return nil }
        return ShapeFault(.repeated)
    }

    private func objectFault(_ object: JSONObject, _ members: [Member], _ isOpen: Bool) -> ShapeFault? {
        var found = 0
        for member in members {
            guard let value = object[member.name] else {
                if member.isRequired { return ShapeFault(.missing).below(member.name) }
                continue
            }
            found += 1
            if value.isNull, !member.isRequired { continue }
            if let fault = member.shape.fault(in: value) { return fault.below(member.name) }
        }
        guard !isOpen, found < object.count else { return nil }
        let unknown = object.names.first { name in !members.contains { $0.name == name } }
        return ShapeFault(.unexpected).below(unknown ?? "")
    }
}

/// Where a value does not fit its shape, and how; the value itself is never told.
public struct ShapeFault: Error, Hashable, Sendable {
    /// How a value does not fit.
    public enum Kind: Hashable, Sendable {
        /// It is not there.
        case missing
        /// It is a text instead of a number, for example.
        case kind
        /// It lies outside these bounds.
        case outOfRange(Double, Double)
        /// It is none of the known words.
        case notOneOf
        /// A text or a list is too short or too long.
        case length
        /// A text has characters that it must not have, or is no moment.
        case pattern
        /// A list has the same value twice.
        case repeated
        /// The object must not have this member.
        case unexpected
    }

    /// The way to the value, `channel.number` or `bands[1].name` for example; empty for the whole.
    public let path: String
    /// How it does not fit.
    public let kind: Kind

    init(_ kind: Kind, path: String = "") {
        self.kind = kind
        self.path = path
    }

    func below(_ step: String) -> ShapeFault {
        ShapeFault(kind, path: path.isEmpty || path.hasPrefix("[") ? step + path : step + "." + path)
    }
}

extension ShapeFault: CustomStringConvertible {
    /// Path and kind, for logs and answers.
    public var description: String {
        let words =
            switch kind {
            case .missing: "is missing"
            case .kind: "is of the wrong kind"
            case .outOfRange: "is out of range"
            case .notOneOf: "is none of the known words"
            case .length: "is too short or too long"
            case .pattern: "has the wrong form"
            case .repeated: "holds a value twice"
            case .unexpected: "must not be there"
            }
        return path.isEmpty ? words : path + " " + words
    }
}

extension Shape.Alphabet {
    func holds(_ text: String) -> Bool {
        switch self {
        case .any: true
        case .messageID: text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
        case .endpointID: text.utf8.allSatisfy { isLetterOrDigit($0) || isEndpointMark($0) }
        case .namespace:
            text == "Alexa"
                || text.hasPrefix("Alexa.")
                    && text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                        .allSatisfy { !$0.isEmpty && $0.allSatisfy(isLetterOrDigit) }
        case .version: !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
        }
    }
}

private func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122: true
    default: false
    }
}

private func isEndpointMark(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "="), UInt8(ascii: "#"), UInt8(ascii: ";"),
        UInt8(ascii: ":"), UInt8(ascii: "?"), UInt8(ascii: "@"), UInt8(ascii: "&"):
        true
    default: false
    }
}

/// Whether a text is `YYYY-MM-DDThh:mm:ss[.sss]Z`, of a day that there is.
private func isInstant(_ text: String, fraction: Bool) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z") else { return false }
    func number(_ place: Int, _ count: Int) -> Int? {
        var value = 0
        for byte in bytes[place..<place + count] {
            guard (48...57).contains(byte) else { return nil }
            value = value * 10 + Int(byte - 48)
        }
        return value
    }
    for (place, mark) in [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")] as [(Int, Unicode.Scalar)] {
        guard bytes[place] == UInt8(ascii: mark) else { return false }
    }
    guard let year = number(0, 4), let month = number(5, 2), let day = number(8, 2), let hour = number(11, 2),
        let minute = number(14, 2), let second = number(17, 2), year >= 1000, (1...12).contains(month),
        hour < 24, minute < 60, second < 60
    else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard (1...days[month - 1]).contains(day) else { return false }
    if bytes.count == 20 { return true }
    guard fraction, bytes[19] == UInt8(ascii: "."), (22...24).contains(bytes.count) else { return false }
    return number(20, bytes.count - 21) != nil
}
