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

    /// A difference.
    public init(path: String, expected: String, found: String) {
        self.path = path
        self.expected = expected
        self.found = found
    }

    /// One line for a reader.
    public var description: String {
        "\(path.isEmpty ? "the answer" : path): expected \(expected), found \(found)"
    }
}

/// An answer as a sample expects it: values to the letter, or by kind.
///
/// The texts `$uuid`, `$timestamp`, `$string` and `$any` match by kind. An object holds exactly the members that are
/// expected, unless it says `"$subset": true`; then it may hold more.
public struct ExpectedAnswer: Sendable {
    /// What is expected.
    public let value: JSONValue

    /// Expects `value`.
    public init(_ value: JSONValue) { self.value = value }

    /// Every difference of `answer`, in the order of what is expected; empty where it matches.
    public func differences(from answer: JSONValue) -> [AnswerDifference] {
        var found: [AnswerDifference] = []
        compare(value, answer, "", &found)
        return found
    }

    private func compare(
        _ expected: JSONValue, _ answer: JSONValue, _ path: String, _ found: inout [AnswerDifference]
    ) {
        switch (expected, answer) {
        case (.string(let text), _) where text.hasPrefix("$"):
            if !matches(kind: text, answer) {
                found.append(AnswerDifference(path: path, expected: text, found: shown(answer)))
            }
        case (.object(let expected), .object(let answer)): compare(expected, answer, path, &found)
        case (.array(let expected), .array(let answer)):
            for (index, pair) in zip(expected, answer).enumerated() {
                compare(pair.0, pair.1, "\(path)[\(index)]", &found)
            }
            if expected.count != answer.count {
                found.append(
                    AnswerDifference(
                        path: path, expected: "\(expected.count) elements", found: "\(answer.count)"))
            }
        default:
            if expected != answer {
                found.append(AnswerDifference(path: path, expected: shown(expected), found: shown(answer)))
            }
        }
    }

    private func compare(
        _ expected: JSONObject, _ answer: JSONObject, _ path: String, _ found: inout [AnswerDifference]
    ) {
        let isSubset = expected["$subset"] == true
        for (name, value) in expected where name != "$subset" {
            let inner = path.isEmpty ? name : path + "." + name
            if let member = answer[name] {
                compare(value, member, inner, &found)
            } else {
                found.append(AnswerDifference(path: inner, expected: shown(value), found: "nothing"))
            }
        }
        guard !isSubset else { return }
        for (name, value) in answer where expected[name] == nil {
            let inner = path.isEmpty ? name : path + "." + name
            found.append(AnswerDifference(path: inner, expected: "nothing", found: shown(value)))
        }
    }

    private func matches(kind: String, _ answer: JSONValue) -> Bool {
        switch kind {
        case "$any": return true
        case "$string": return answer.string != nil
        case "$timestamp": return answer.string.flatMap { UnixTime(iso8601: $0) } != nil
        case "$uuid":
            let parts = (answer.string ?? "").split(separator: "-", omittingEmptySubsequences: false)
            return parts.map(\.count) == [8, 4, 4, 4, 12]
                && parts.allSatisfy { $0.utf8.allSatisfy { hexadecimalDigits.contains($0) } }
        default: return answer == .string(kind)
        }
    }

    private func shown(_ value: JSONValue) -> String {
        let text = String(decoding: value.encoded(), as: UTF8.self)
        return text.count > 300 ? text.prefix(300) + "…" : text
    }
}

private let hexadecimalDigits = Set("0123456789abcdefABCDEF".utf8)
