public import HTTP
public import Time

/// Reaches the simulated hosts by their real addresses, without a socket; everything else by another client.
public struct SimulatedNetwork: HTTPClient {
    private let hosts: AmazonHosts
    private let otherwise: (any HTTPClient)?

    /// A network in which `hosts` are Amazon's.
    public init(hosts: AmazonHosts, otherwise: (any HTTPClient)? = nil) {
        self.hosts = hosts
        self.otherwise = otherwise
    }

    /// The answer of a simulated host, or of the other client.
    public func send(
        _ request: OutgoingRequest, by deadline: Deadline
    ) async throws(HTTPClientError) -> HTTPResponse {
        guard let (host, target) = place(of: request.url) else {
            guard let otherwise else { throw .unreachable("nothing but Amazon's hosts is simulated") }
            return try await otherwise.send(request, by: deadline)
        }
        var fields = request.fields
        fields["Host"] = host
        let answer = await hosts.respond(
            to: HTTPRequest(
                method: request.method, target: target, fields: fields, body: request.body ?? [],
                peerAddress: "127.0.0.1", deadline: deadline))
        guard answer.body.count <= request.answerLimitBytes else { throw .answerTooLarge }
        return answer
    }

    private func place(of url: String) -> (host: String, target: String)? {
        for host in Authority.serverNames where url.hasPrefix("https://\(host)/") {
            return (host, String(url.dropFirst("https://\(host)".count)))
        }
        return nil
    }
}
