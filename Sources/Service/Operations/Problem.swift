public import HTTP
import JSON
public import Telemetry

/// A fault in the form of RFC 9457, for callers that speak neither Alexa's nor OAuth's own formats.
public struct Problem: Sendable, Hashable {
    /// The status.
    public var status: Int
    /// The stable reason code, `smartHome.unknownSkill` for example.
    public var code: String
    /// What is wrong with this call, in words of this program.
    public var detail: String?
    /// What the log line, and the trace where one is kept, can be found by.
    public var traceID: TraceID
    /// What the app shows its user; nil where there is nothing to say.
    public var userMessage: String?
    /// Whether trying again helps: `never`, `later` or `now`.
    public var retry: String?
    /// After how many seconds the caller may try again.
    public var retryAfterSeconds: Int64?

    /// A fault.
    public init(
        status: Int, code: String, detail: String? = nil, traceID: TraceID, userMessage: String? = nil,
        retry: String? = nil, retryAfterSeconds: Int64? = nil
    ) {
        self.status = status
        self.code = code
        self.detail = detail
        self.traceID = traceID
        self.userMessage = userMessage
        self.retry = retry
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// The answer: `application/problem+json`, never cached.
    public var response: HTTPResponse {
        // The type says nothing beyond the status: `code` names the fault (RFC 9457 §4.2.1).
        var object: JSONObject = [
            "type": "about:blank", "title": .string(phrase(of: status)), "status": .integer(Int64(status)),
            "code": .string(code), "traceID": .string(traceID.text),
        ]
        object["detail"] = detail.map(JSONValue.string)
        object["userMessage"] = userMessage.map(JSONValue.string)
        object["retry"] = retry.map(JSONValue.string)
        var response = HTTPResponse(
            status: status, fields: ["Content-Type": "application/problem+json", "Cache-Control": "no-store"],
            body: JSONValue.object(object).encoded())
        response.fields["Retry-After"] = retryAfterSeconds.map { String($0) }
        return response
    }
}

extension HTTPResponse {
    /// The answer to a request that no route takes; the log line has the same trace id.
    public init(problemOf refusal: Router.Refusal, log: Log) {
        let status: Int
        let code: String
        var detail: String?
        var allow: String?
        switch refusal {
        case .notFound: (status, code) = (404, "http.notFound")
        case .methodNotAllowed(let methods):
            (status, code, detail, allow) = (405, "http.methodNotAllowed", "allowed: " + methods, methods)
        case .unsupportedMediaType(let expected):
            (status, code, detail) = (415, "http.unsupportedMediaType", "expected: " + expected)
        case .malformedPath: (status, code) = (400, "http.malformedPath")
        }
        let traceID = TraceID.random()
        log.info("no route takes a request", .traceID(traceID), .rejection(code))
        self = Problem(status: status, code: code, detail: detail, traceID: traceID).response
        fields["Allow"] = allow
    }

    /// An answer in JSON that must not be cached.
    init(json: JSONValue, status: Int = 200) {
        self.init(
            status: status, fields: ["Content-Type": "application/json", "Cache-Control": "no-store"],
            body: json.encoded())
    }
}

/// The phrase of RFC 9110 §15 for the statuses that this program answers with.
func phrase(of status: Int) -> String {
    switch status {
    case 303: "See Other"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 413: "Content Too Large"
    case 415: "Unsupported Media Type"
    case 422: "Unprocessable Content"
    case 429: "Too Many Requests"
    case 500: "Internal Server Error"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    default: "Error"
    }
}
