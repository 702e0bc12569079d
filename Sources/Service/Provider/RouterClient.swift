public import HTTP
public import Time

/// Reaches routes of this process as if they were a server, without a socket.
///
/// What is asked of `origin` goes to the routes, everything else to the other client. So the embedded provider is
/// spoken to exactly as an external one is.
public struct RouterClient: HTTPClient {
    private let origin: String
    private let responder: any HTTPResponder
    private let otherwise: (any HTTPClient)?

    /// A client of `responder` at `origin`, scheme and host without a path; `otherwise` takes all other addresses.
    public init(origin: String, responder: any HTTPResponder, otherwise: (any HTTPClient)? = nil) {
        self.origin = origin
        self.responder = responder
        self.otherwise = otherwise
    }

    /// The answer of the route, or of the other client.
    public func send(
        _ request: OutgoingRequest, by deadline: Deadline
    ) async throws(HTTPClientError) -> HTTPResponse {
        guard let target = target(of: request.url) else {
            guard let otherwise else { throw .address }
            return try await otherwise.send(request, by: deadline)
        }
        let incoming = HTTPRequest(
            method: request.method, target: target, fields: request.fields, body: request.body ?? [],
            deadline: deadline)
        let response = await responder.respond(to: incoming)
        if Task.isCancelled { throw .cancelled }
        guard response.body.count <= request.answerLimitBytes else { throw .answerTooLarge }
        return response
    }

    /// Path and query of an address of ours; a host that only begins like ours is another.
    private func target(of url: String) -> String? {
        guard url.hasPrefix(origin) else { return nil }
        let rest = url.dropFirst(origin.count)
        if rest.isEmpty { return "/" }
        if rest.hasPrefix("?") { return "/" + rest }
        return rest.hasPrefix("/") ? String(rest) : nil
    }
}
