import HTTP
public import JSON

/// A recorded request with placeholders, or several in a row, and the answers that are expected.
public struct Sample: Sendable {
    /// What kind of requests it holds.
    public enum Kind: Hashable, Sendable {
        /// One that Alexa signs.
        case custom
        /// One of a forwarder of smart-home directives.
        case smartHome
        /// Steps, one after another, each with a sender of its own.
        case steps
    }

    /// Where Alexa's requests go.
    public static let customTarget = "/alexa/custom"
    /// Where a forwarder's go.
    public static let smartHomeTarget = "/alexa/smart-home"

    /// Its path without the extension.
    public let name: String
    /// What kind of requests it holds.
    public let kind: Kind
    /// The body of a single request with its placeholders; the file's text where it holds steps.
    public let template: String
    /// What is expected of a single request, with whatever `{{token}}` is; nil expects status 200 and no more.
    public let expected: JSONValue?
    /// The requests in their order: one, but for ``Kind/steps``.
    public let steps: [SampleStep]
    /// What is expected instead where `{{token}}` is no token of a linked user.
    public let expectedByState: [TokenState: ExpectedResponse]

    /// A sample; a body with a `directive` is a smart-home one, and one with `steps` holds several requests.
    ///
    /// - Parameters:
    ///   - name: what reports call it.
    ///   - template: the body.
    ///   - expected: the answer.
    ///   - expectedByState: the answers to other tokens.
    /// - Throws: ``SampleError`` where the template is not JSON, or a step is none.
    public init(
        name: String, template: String, expected: JSONValue?, expectedByState: [TokenState: JSONValue] = [:]
    ) throws(SampleError) {
        let body: JSONValue
        do { body = try JSONValue(parsing: Array(template.utf8)) } catch {
            throw SampleError(message: "\(name): \(error.reason)")
        }
        self.name = name
        self.template = template
        self.expected = expected
        var byState: [TokenState: ExpectedResponse] = [:]
        for (state, value) in expectedByState { byState[state] = try ExpectedResponse(file: value, of: name) }
        self.expectedByState = byState
        if let given = body["steps"], body["request"] == nil, body["directive"] == nil {
            guard let given = given.array, !given.isEmpty else {
                throw SampleError(message: "\(name): steps is an array of steps")
            }
            kind = .steps
            var steps: [SampleStep] = []
            for (index, step) in given.enumerated() {
                steps.append(try SampleStep(step, of: "\(name): step \(index + 1)"))
            }
            self.steps = steps
            return
        }
        let isDirective = body["directive"] != nil
        kind = isDirective ? .smartHome : .custom
        steps = [
            SampleStep(
                sender: isDirective ? .forwarder : .alexa, method: .post,
                target: isDirective ? Self.smartHomeTarget : Self.customTarget,
                headers: [("Content-Type", "application/json")], body: template,
                expected: try expected.map { value throws(SampleError) in
                    try ExpectedResponse(file: value, of: name)
                } ?? .ok)
        ]
    }

    /// A sample of steps that were read elsewhere.
    init(name: String, template: String, steps: [SampleStep]) {
        self.name = name
        kind = .steps
        self.template = template
        expected = nil
        self.steps = steps
        expectedByState = [:]
    }

    /// Whether it says `{{token}}`, so that the state of the token matters.
    public var dependsOnToken: Bool { kind != .steps && template.contains("{{token}}") }

    /// What is expected of a step where `{{token}}` is in that state, and whether the sample says so itself.
    ///
    /// Where it says nothing of that state, any answer with status 200 will do.
    public func expected(of step: Int, with state: TokenState) -> (response: ExpectedResponse, isSaid: Bool) {
        guard state != .linked, dependsOnToken else {
            return (steps[step].expected, kind == .steps || expected != nil)
        }
        return expectedByState[state].map { ($0, true) } ?? (.ok, false)
    }
}

/// Why samples cannot be sent.
public struct SampleError: Error, Hashable, Sendable {
    /// What is wrong, with the file's name.
    public let message: String

    /// An error with that message.
    public init(message: String) { self.message = message }
}
