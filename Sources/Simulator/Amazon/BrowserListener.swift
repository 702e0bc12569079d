import HTTP
import Telemetry
public import Transport

/// Listens without TLS on loopback for those pages of the simulated hosts that a browser opens.
///
/// They are the consent of the Alexa app and of Login with Amazon; a service leads there by `amazon.endpoints`.
public final class BrowserListener: Sendable {
    /// The port, the real one also where zero was asked for.
    public let port: Int
    private let server: HTTPServer

    /// What `amazon.endpoints.lwaAuthorize` is.
    public var loginURL: String { "http://127.0.0.1:\(port)\(LinkingEndpoint.loginPath)" }
    /// What `amazon.endpoints.alexaApp` is.
    public var alexaAppURL: String { "http://127.0.0.1:\(port)\(LinkingEndpoint.alexaAppPath)" }

    /// Listens for `hosts`; port zero takes a free one.
    ///
    /// - Throws: `ServerError` where the port is taken.
    public init(_ hosts: AmazonHosts, group: EventLoopGroup, port: Int = 0) throws(ServerError) {
        server = HTTPServer(
            group: group, configuration: ServerConfiguration(host: "127.0.0.1", port: port),
            responder: PagesAlone(hosts: hosts))
        self.port = try server.start()
    }

    /// Ends every connection.
    public func stop() async { await server.shutdown(grace: .zero) }
}

/// The hosts as a browser on this machine reaches them: it chooses no host of Amazon's by a field.
private struct PagesAlone: HTTPResponder {
    let hosts: AmazonHosts

    func timeLimit(for method: HTTPMethod, target: String) -> Duration { .seconds(10) }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        guard LinkingEndpoint.isConsent(request.path) else { return HTTPResponse(status: 404) }
        return ConsentPage(linking: hosts.linking).answer(request)
    }
}
