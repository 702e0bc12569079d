import Concurrency
import HTTP
import Telemetry
public import Transport

/// Listens without TLS on loopback for those pages of the simulated hosts that a browser opens.
///
/// They are the consent of the Alexa app and of Login with Amazon, to which a service leads by `amazon.endpoints`, and
/// the customers' own apps once ``show(_:)`` has made them known.
public final class BrowserListener: Sendable {
    /// The port, the real one also where zero was asked for.
    public let port: Int
    private let server: HTTPServer
    private let assistants = Locked<AssistantPages?>(nil)

    /// Where the pages are.
    public var origin: String { "http://127.0.0.1:\(port)" }

    /// What `amazon.endpoints.lwaAuthorize` is.
    public var loginURL: String { origin + LinkingEndpoint.loginPath }
    /// What `amazon.endpoints.alexaApp` is.
    public var alexaAppURL: String { origin + LinkingEndpoint.alexaAppPath }

    /// Listens for `hosts`; port zero takes a free one.
    ///
    /// - Throws: `ServerError` where the port is taken.
    public init(_ hosts: AmazonHosts, group: EventLoopGroup, port: Int = 0) throws(ServerError) {
        server = HTTPServer(
            group: group, configuration: ServerConfiguration(host: "127.0.0.1", port: port),
            responder: PagesAlone(hosts: hosts, assistants: assistants))
        self.port = try server.start()
    }

    /// Shows the customers' apps from now on.
    public func show(_ pages: AssistantPages) { assistants.withLock { $0 = pages } }

    /// Ends every connection.
    public func stop() async { await server.shutdown(grace: .zero) }
}

/// The hosts as a browser on this machine reaches them: it chooses no host of Amazon's by a field.
private struct PagesAlone: HTTPResponder {
    let hosts: AmazonHosts
    let assistants: Locked<AssistantPages?>

    func timeLimit(for method: HTTPMethod, target: String) -> Duration { .seconds(20) }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        // Another site's name that leads to this machine opens nothing here.
        let host = (request.fields["Host"] ?? "").prefix { $0 != ":" }
        guard ["127.0.0.1", "localhost"].contains(host) else { return HTTPResponse(status: 421) }
        if LinkingEndpoint.isConsent(request.path) { return ConsentPage(linking: hosts.linking).answer(request) }
        let answer = await assistants.withLock { $0 }?.answer(request)
        return answer ?? HTTPResponse(status: 404)
    }
}
