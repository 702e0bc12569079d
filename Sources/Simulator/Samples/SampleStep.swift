public import HTTP
public import JSON

/// One request of a sample, with placeholders, and what is expected of its answer.
public struct SampleStep: Sendable {
    /// Who sends a request, and so what proves it.
    public enum Sender: String, Sendable {
        /// Alexa, signed.
        case alexa
        /// A forwarder of smart-home directives, with its code.
        case forwarder
        /// Anybody: the request is sent as it is.
        case anyone
    }

    /// Who sends it.
    public let sender: Sender
    /// The method.
    public let method: HTTPMethod
    /// Path and query, with placeholders.
    public let target: String
    /// Header lines, with placeholders.
    public let headers: [(name: String, value: String)]
    /// The body, with placeholders; nil where there is none.
    public let body: String?
    /// What is expected.
    public let expected: ExpectedResponse

    /// A request and what is expected of its answer.
    public init(
        sender: Sender, method: HTTPMethod, target: String, headers: [(name: String, value: String)] = [],
        body: String?, expected: ExpectedResponse
    ) {
        self.sender = sender
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.expected = expected
    }

    /// Reads `{"request":{"method","target","headers"?,"body"?,"from"?},"response":{"status"?,"headers"?,"body"?}}`.
    ///
    /// - Throws: ``SampleError`` where a member is missing, unknown or of another kind.
    public init(_ value: JSONValue, of name: String) throws(SampleError) {
        guard let step = value.object, let request = step["request"]?.object else {
            throw SampleError(message: "\(name): a step is an object with request and response")
        }
        try Self.judge(step.names, among: ["request", "response"], name)
        try Self.judge(request.names, among: ["method", "target", "headers", "body", "from"], name)
        guard let target = request["target"]?.string, target.hasPrefix("/") else {
            throw SampleError(message: "\(name): request.target is a path")
        }
        let method = request["method"]?.string ?? (request["body"] == nil ? "GET" : "POST")
        guard !method.isEmpty, method.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) else {
            throw SampleError(message: "\(name): request.method is none: \(method)")
        }
        guard let sender = Sender(rawValue: request["from"]?.string ?? "anyone") else {
            throw SampleError(message: "\(name): request.from is alexa, forwarder or anyone")
        }
        var headers: [(name: String, value: String)] = []
        for (field, value) in request["headers"]?.object ?? [:] {
            guard let text = value.string else {
                throw SampleError(message: "\(name): request.headers.\(field) is a text")
            }
            headers.append((field, text))
        }
        var body: String?
        if let value = request["body"] { body = value.string ?? String(decoding: value.encoded(), as: UTF8.self) }
        let hasType = headers.contains { equalsIgnoringCase($0.name, "Content-Type") }
        if body != nil, request["body"]?.string == nil, !hasType {
            headers.append(("Content-Type", "application/json"))
        }
        self.init(
            sender: sender, method: HTTPMethod(rawValue: method), target: target, headers: headers, body: body,
            expected: try ExpectedResponse(step: step["response"] ?? [:], of: name))
    }

    private static func judge(_ names: [String], among known: Set<String>, _ sample: String) throws(SampleError) {
        if let name = names.first(where: { !known.contains($0) }) {
            throw SampleError(message: "\(sample): \(name) is unknown")
        }
    }
}

/// What is expected of an answer: a status, some header lines, and a body.
public struct ExpectedResponse: Sendable {
    /// The status.
    public let status: Int
    /// Header lines that must be there.
    public let headers: JSONObject
    /// The body; nil takes any.
    public let body: JSONValue?

    /// An answer with status 200 and any body.
    public static let ok = ExpectedResponse(status: 200, body: nil)

    /// An answer.
    public init(status: Int, headers: JSONObject = [:], body: JSONValue?) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Reads what stands beside a sample: the body to the letter, or, where another status than 200 is expected,
    /// `{"$status":400}` with `"$body"` for a body that is no object.
    ///
    /// - Throws: ``SampleError`` where the status is none.
    public init(file value: JSONValue, of name: String) throws(SampleError) {
        guard var object = value.object, let status = object["$status"] else {
            self.init(status: 200, body: value)
            return
        }
        object["$status"] = nil
        var body: JSONValue?
        if let given = object["$body"] {
            guard object.count == 1 else {
                throw SampleError(message: "\(name): beside $body nothing but $status is said")
            }
            body = given
        } else if !object.isEmpty {
            body = .object(object)
        }
        self.init(status: try Self.status(status, name), body: body)
    }

    /// Reads the `response` of a step.
    ///
    /// - Throws: ``SampleError`` where a member is unknown or of another kind.
    init(step value: JSONValue, of name: String) throws(SampleError) {
        guard let object = value.object else { throw SampleError(message: "\(name): a response is an object") }
        let known: Set = ["status", "headers", "body"]
        if let other = object.names.first(where: { !known.contains($0) }) {
            throw SampleError(message: "\(name): response.\(other) is unknown")
        }
        self.init(
            status: try object["status"].map { status throws(SampleError) in try Self.status(status, name) } ?? 200,
            headers: object["headers"]?.object ?? [:], body: object["body"])
    }

    private static func status(_ value: JSONValue, _ name: String) throws(SampleError) -> Int {
        guard let status = value.integer, (100...599).contains(status) else {
            throw SampleError(message: "\(name): a status is a number from 100 to 599")
        }
        return Int(status)
    }
}
