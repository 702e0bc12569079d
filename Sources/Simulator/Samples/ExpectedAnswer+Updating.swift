public import JSON
public import Time

extension ExpectedAnswer {
    /// What `answer` holds where a value is to be captured, by the names that are given there.
    public func captures(in answer: JSONValue) -> [String: String] {
        var found: [String: String] = [:]
        gather(value, answer, &found)
        return found
    }

    private func gather(_ expected: JSONValue, _ answer: JSONValue, _ found: inout [String: String]) {
        switch (expected, answer) {
        case (.string(let text), .string(let value)) where text.hasPrefix(Self.capture):
            found[String(text.dropFirst(Self.capture.count))] = value
        case (.object(let expected), .object(let answer)):
            for (name, value) in expected { if let member = answer[name] { gather(value, member, &found) } }
        case (.array(let expected), .array(let answer)):
            for (value, element) in zip(expected, answer) { gather(value, element, &found) }
        default: break
        }
    }

    /// What to expect from now on, where `answer` is right: the matchers that still match stay, and everything else is
    /// as it was answered.
    ///
    /// An object with `"$subset": true` keeps to the members that it named. Ids and times that were not expected yet
    /// become matchers; see ``first(_:request:at:)``.
    ///
    /// - Parameters:
    ///   - answer: the answer.
    ///   - request: the request's template, with the ids that an answer may hold to the letter.
    ///   - now: when it was answered.
    /// - Returns: what to expect.
    public func updated(by answer: JSONValue, request: String, at now: UnixTime) -> ExpectedAnswer {
        ExpectedAnswer(merge(value, answer, request, now))
    }

    private func merge(_ expected: JSONValue, _ answer: JSONValue, _ request: String, _ now: UnixTime) -> JSONValue {
        if ExpectedAnswer(expected).differences(from: answer).isEmpty { return expected }
        switch (expected, answer) {
        case (.object(let expected), .object(let answer)):
            let isSubset = expected["$subset"] == true
            var merged = JSONObject()
            if isSubset { merged["$subset"] = true }
            // The order of the file stays, so that a change shows where it is.
            for (name, value) in expected where name != "$subset" {
                if let member = answer[name] { merged[name] = merge(value, member, request, now) }
            }
            if !isSubset {
                for (name, value) in answer where expected[name] == nil {
                    merged[name] = Self.first(value, request: request, at: now).value
                }
            }
            return .object(merged)
        case (.array(let expected), .array(let answer)):
            return .array(
                answer.enumerated().map { index, element in
                    index < expected.count
                        ? merge(expected[index], element, request, now)
                        : Self.first(element, request: request, at: now).value
                })
        default: return Self.first(answer, request: request, at: now).value
        }
    }

    /// What to expect where nothing was expected yet: the answer, with `$uuid` for ids that the request's template does
    /// not hold, and `$timestamp` for times of about `now`.
    public static func first(_ answer: JSONValue, request: String, at now: UnixTime) -> ExpectedAnswer {
        ExpectedAnswer(inferred(answer, request, now))
    }

    private static func inferred(_ answer: JSONValue, _ request: String, _ now: UnixTime) -> JSONValue {
        switch answer {
        case .string(let text):
            if isUUID(text), !request.contains(text) { return "$uuid" }
            if let time = UnixTime(iso8601: text), abs(time.milliseconds(since: now)) < 86_400_000 {
                return "$timestamp"
            }
            return answer
        case .array(let elements): return .array(elements.map { inferred($0, request, now) })
        case .object(let object):
            var members = JSONObject()
            for (name, value) in object { members[name] = inferred(value, request, now) }
            return .object(members)
        default: return answer
        }
    }
}
