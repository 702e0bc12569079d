public import Time

/// Sends requests to other servers: libcurl in the program, a router without a socket for what is embedded.
public protocol HTTPClient: Sendable {
    /// The answer of the server, whatever its status; redirects are not followed.
    ///
    /// - Throws: ``HTTPClientError`` where no whole answer came by the deadline.
    func send(_ request: OutgoingRequest, by deadline: Deadline) async throws(HTTPClientError) -> HTTPResponse
}

/// A request to another server.
public struct OutgoingRequest: Sendable {
    /// The method.
    public var method: HTTPMethod
    /// The absolute address, `https` or (for loopback) `http`.
    public var url: String
    /// The header fields.
    public var fields: HTTPFields
    /// The body; nil sends none.
    public var body: [UInt8]?
    /// How many bytes of answer body are taken; more is ``HTTPClientError/answerTooLarge``.
    public var answerLimitBytes: Int

    /// A request to `url`.
    public init(
        method: HTTPMethod = .get, url: String, fields: HTTPFields = [:], body: [UInt8]? = nil,
        answerLimitBytes: Int = 1 << 20
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.answerLimitBytes = answerLimitBytes
    }
}

/// Why no whole answer came.
public enum HTTPClientError: Error, Hashable, Sendable {
    /// The address cannot be used: malformed, or of a scheme that is not allowed.
    case address
    /// No connection came about, so nothing was sent: trying again is safe.
    case unreachable(String)
    /// TLS failed: the certificate is not trusted, or of another name.
    case tls(String)
    /// The deadline passed.
    case timedOut
    /// The connection broke after something was sent: whether it was received is not known.
    case broken(String)
    /// The body is larger than the request allowed.
    case answerTooLarge
    /// The caller was cancelled.
    case cancelled
    /// The circuit breaker of that origin is open: nothing was sent.
    case circuitOpen
}
