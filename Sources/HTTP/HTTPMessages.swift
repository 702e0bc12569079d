import Concurrency
public import Time

/// A request method; the names are case-sensitive (RFC 9110 §9.1).
public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
    /// The name on the wire, `GET` for example.
    public let rawValue: String
    /// The method of that name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// `GET`.
    public static let get = HTTPMethod(rawValue: "GET")
    /// `HEAD`.
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// `POST`.
    public static let post = HTTPMethod(rawValue: "POST")
    /// `PUT`.
    public static let put = HTTPMethod(rawValue: "PUT")
    /// `DELETE`.
    public static let delete = HTTPMethod(rawValue: "DELETE")
}

/// A request as it arrived: nothing in it is believed yet.
public struct HTTPRequest: Sendable {
    /// The method.
    public var method: HTTPMethod
    /// Path and query as they were sent, percent-encoding untouched.
    public var target: String
    /// The header fields.
    public var fields: HTTPFields
    /// The body as it arrived.
    public var body: [UInt8]
    /// The address of the peer without port, for example `127.0.0.1` or `::1`; empty where there was no socket.
    public var peerAddress: String
    /// When the answer must have left.
    public var deadline: Deadline
    /// What is answered if the deadline passes first.
    public var lateAnswer: LateAnswer

    /// A request; the server makes them, and tests.
    public init(
        method: HTTPMethod, target: String, fields: HTTPFields = [:], body: [UInt8] = [], peerAddress: String = "",
        deadline: Deadline, lateAnswer: LateAnswer = LateAnswer()
    ) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
        self.peerAddress = peerAddress
        self.deadline = deadline
        self.lateAnswer = lateAnswer
    }

    /// The target up to its first `?`, percent-encoding untouched.
    public var path: Substring { pathOfTarget(target) }

    /// The target after its first `?`, without it; nil where there is none.
    public var query: Substring? {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        return target[target.index(after: mark)...]
    }
}

/// The target up to its first `?`, found as a byte: every request comes through here.
func pathOfTarget(_ target: String) -> Substring {
    target[..<(target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex)]
}

/// The answer that leaves if the deadline passes before the handler is done.
///
/// A handler replaces it as it learns more: first nothing is known, later the locale of a verified request.
public final class LateAnswer: Sendable {
    private static let unavailable = HTTPResponse(status: 503, fields: ["Retry-After": "1"])
    private let answer = Locked<HTTPResponse>(unavailable)

    /// An empty 503 until a handler says otherwise.
    public init() {}

    /// What would leave now.
    public var response: HTTPResponse {
        get { answer.withLock { $0 } }
        set { answer.withLock { $0 = newValue } }
    }
}

/// An answer.
public struct HTTPResponse: Sendable {
    /// The status code.
    public var status: Int
    /// The header fields; the server adds `Content-Length`, `Date` and `Connection`.
    public var fields: HTTPFields
    /// The body.
    public var body: [UInt8]

    /// An answer.
    public init(status: Int, fields: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}
