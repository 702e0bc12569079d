public import HTTP
import JSON
public import Telemetry

/// A fault in the form of RFC 9457, for callers that speak neither Alexa's nor OAuth's own formats.
public struct Problem: Sendable, Hashable {
    /// What the caller may do about it.
    public enum Retry: String, Sendable, Hashable {
        /// The same call will always fail.
        case never
        /// It may succeed after a while.
        case later
        /// It may succeed at once.
        case now
    }

    /// The status.
    public var status: Int
    /// The stable reason code, `smartHome.unknownSkill` for example.
    public var code: String
    /// What is wrong with this call, in words of this program.
    public var detail: String?
    /// Names the trace, where one is kept.
    public var traceID: TraceID?
    /// What an app may show its user; absent where the user decided.
    public var userMessage: String?
    /// What the caller may do; on the linking routes.
    public var retry: Retry?

    /// A fault.
    public init(
        status: Int, code: String, detail: String? = nil, traceID: TraceID? = nil, userMessage: String? = nil,
        retry: Retry? = nil
    ) {
        self.status = status
        self.code = code
        self.detail = detail
        self.traceID = traceID
        self.userMessage = userMessage
        self.retry = retry
    }

    /// The answer: `application/problem+json`, never cached.
    public var response: HTTPResponse {
        // The type says nothing beyond the status: `code` names the fault (RFC 9457 §4.2.1).
        var object: JSONObject = [
            "type": "about:blank", "title": .string(phrase(of: status)), "status": .integer(Int64(status)),
            "code": .string(code),
        ]
        object["detail"] = detail.map(JSONValue.string)
        object["traceID"] = (traceID?.text).map(JSONValue.string)
        object["userMessage"] = userMessage.map(JSONValue.string)
        object["retry"] = (retry?.rawValue).map(JSONValue.string)
        return HTTPResponse(
            status: status, fields: ["Content-Type": "application/problem+json", "Cache-Control": "no-store"],
            body: JSONValue.object(object).encoded())
    }
}

extension HTTPResponse {
    /// The answer to a request that no route takes.
    public init(problemOf refusal: Router.Refusal) {
        switch refusal {
        case .notFound: self = Problem(status: 404, code: "http.notFound").response
        case .methodNotAllowed(let allow):
            self = Problem(status: 405, code: "http.methodNotAllowed", detail: "allowed: " + allow).response
            fields["Allow"] = allow
        case .unsupportedMediaType(let expected):
            self = Problem(status: 415, code: "http.unsupportedMediaType", detail: "expected: " + expected).response
        case .malformedPath: self = Problem(status: 400, code: "http.malformedPath").response
        }
    }

    /// An answer in JSON that must not be cached.
    init(json: JSONValue, status: Int = 200) {
        self.init(
            status: status, fields: ["Content-Type": "application/json", "Cache-Control": "no-store"],
            body: json.encoded())
    }
}

/// The phrase of RFC 9110 §15 for the statuses that this program answers with.
private func phrase(of status: Int) -> String {
    switch status {
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
