public import JSON
import Time

/// Where an answer is not the one that was expected.
public struct AnswerDifference: Hashable, Sendable, CustomStringConvertible {
    /// The path of the member, `response.card.type` for example; empty for the whole.
    public let path: String
    /// What was expected there, as JSON or in words.
    public let expected: String
    /// What was found there, as JSON or in words.
    public let found: String
    /// What the answer holds around that place, as JSON; nil where the place is the whole answer.
    public let surroundings: String?

    /// A difference.
    public init(path: String, expected: String, found: String, surroundings: String? = nil) {
        self.path = path
        self.expected = expected
        self.found = found
        self.surroundings = surroundings
    }

    /// One line for a reader.
    public var description: String {
        "\(path.isEmpty ? "the answer" : path): expected \(expected), found \(found)"
    }
}

/// An answer as a sample expects it: values to the letter, or by kind.
///
/// The texts `$uuid`, `$timestamp`, `$string` and `$any` match by kind, and `$capture:NAME` matches any text, which later
/// requests may hold as `{{captured:NAME}}`. An object holds exactly the members that are expected, unless it says
/// `"$subset": true`; then it may hold more.
public struct ExpectedAnswer: Sendable {
    /// What is expected.
    public let value: JSONValue

    /// What a text begins with whose value is kept under the name that follows.
    static let capture = "$capture:"

    /// Expects `value`.
    public init(_ value: JSONValue) { self.value = value }

    /// Every difference of `answer`, in the order of what is expected; empty where it matches.
    public func differences(from answer: JSONValue) -> [AnswerDifference] {
        var found: [AnswerDifference] = []
        compare(value, answer, Place(path: "", around: nil), &found)
        return found
    }

    /// Where the comparison stands.
    private struct Place {
        let path: String
        let around: JSONValue?

        func member(_ name: String, of object: JSONObject) -> Place {
            Place(path: path.isEmpty ? name : path + "." + name, around: .object(object))
        }
    }

    private func difference(_ place: Place, _ expected: String, _ found: String) -> AnswerDifference {
        AnswerDifference(path: place.path, expected: expected, found: found, surroundings: place.around.map(shown))
    }

    private func compare(
        _ expected: JSONValue, _ answer: JSONValue, _ place: Place, _ found: inout [AnswerDifference]
    ) {
        switch (expected, answer) {
        case (.string(let text), _) where text.hasPrefix("$"):
            if !matches(kind: text, answer) { found.append(difference(place, text, shown(answer))) }
        case (.object(let expected), .object(let answer)): compare(expected, answer, place, &found)
        case (.array(let expected), .array(let elements)):
            for (index, pair) in zip(expected, elements).enumerated() {
                compare(pair.0, pair.1, Place(path: "\(place.path)[\(index)]", around: answer), &found)
            }
            if expected.count != elements.count {
                let place = Place(path: place.path, around: answer)
                found.append(difference(place, "\(expected.count) elements", "\(elements.count)"))
            }
        default:
            if expected != answer { found.append(difference(place, shown(expected), shown(answer))) }
        }
    }

    private func compare(
        _ expected: JSONObject, _ answer: JSONObject, _ place: Place, _ found: inout [AnswerDifference]
    ) {
        let isSubset = expected["$subset"] == true
        for (name, value) in expected where name != "$subset" {
            let inner = place.member(name, of: answer)
            if let member = answer[name] {
                compare(value, member, inner, &found)
            } else {
                found.append(difference(inner, shown(value), "nothing"))
            }
        }
        guard !isSubset else { return }
        for (name, value) in answer where expected[name] == nil {
            found.append(difference(place.member(name, of: answer), "nothing", shown(value)))
        }
    }

    private func matches(kind: String, _ answer: JSONValue) -> Bool {
        switch kind {
        case "$any": return true
        case "$string": return answer.string != nil
        case "$timestamp": return answer.string.flatMap { UnixTime(iso8601: $0) } != nil
        case "$uuid": return answer.string.map(isUUID) ?? false
        default: return kind.hasPrefix(Self.capture) ? answer.string != nil : answer == .string(kind)
        }
    }

    private func shown(_ value: JSONValue) -> String {
        let text = String(decoding: value.encoded(), as: UTF8.self)
        return text.count > 300 ? text.prefix(300) + "…" : text
    }
}

/// Whether a text has the form of a UUID.
func isUUID(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.map(\.count) == [8, 4, 4, 4, 12]
        && parts.allSatisfy { $0.utf8.allSatisfy { hexadecimalDigits.contains($0) } }
}

let hexadecimalDigits = Set("0123456789abcdefABCDEF".utf8)
