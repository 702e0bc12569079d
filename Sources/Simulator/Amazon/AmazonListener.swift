import HTTP
import Telemetry
public import Transport

/// Listens with TLS for the simulated hosts, on loopback; a service reaches them by `http.resolve`.
public final class AmazonListener: Sendable {
    /// The port, the real one also where zero was asked for.
    public let port: Int
    private let server: HTTPServer

    /// Listens with the certificate of the authority that lies in `folder`.
    ///
    /// - Parameters:
    ///   - hosts: who answers.
    ///   - folder: the folder of the hosts' authority.
    ///   - group: the loops to listen on.
    ///   - port: the port; zero takes a free one.
    /// - Throws: `ServerError` where the port is taken or the certificate cannot be read.
    public init(_ hosts: AmazonHosts, folder: String, group: EventLoopGroup, port: Int = 9443) throws(ServerError) {
        let tls = TLSFiles(
            certificate: folder + "/" + Authority.serverFile, privateKey: folder + "/" + Authority.serverKeyFile)
        server = HTTPServer(
            group: group, configuration: ServerConfiguration(host: "127.0.0.1", port: port, tls: tls),
            responder: hosts)
        self.port = try server.start()
    }

    /// Ends every connection; what is asked from then on finds no one.
    public func stop() async { await server.shutdown(grace: .zero) }
}
