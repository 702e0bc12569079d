import Crypto
import HTTP
import TestSupport
import Testing
import Time
import Transport

@Suite("TLS to other servers", .timeLimit(.minutes(5)))
struct ClientTLSTests {
    @Sendable static func serve(_ connection: RawConnection) {
        while let head = connection.head() { connection.answer("200 OK", head) }
    }

    /// Calls `url` where `certificate` serves at `s3.amazonaws.com` by `resolve`.
    func outcome(
        _ url: String, certificate: ServerCertificate, trusted: [UInt8]?, folder: [String: [UInt8]]? = nil
    ) async throws -> Result<HTTPResponse, HTTPClientError> {
        var files = folder ?? [:]
        if let trusted { files["ca.pem"] = trusted }
        return try await withFolder(files: files) { path in
            let server = try RawServer(certificates: certificate.pem, key: certificate.key, Self.serve)
            let group = try EventLoopGroup(threads: 1)
            var configuration = ClientConfiguration()
            if trusted != nil { configuration.caFile = path + "/ca.pem" }
            if folder != nil { configuration.authorityFolder = path }
            configuration.resolve = ["s3.amazonaws.com:443:127.0.0.1:\(server.port)"]
            let client = CurlClient(group: group, configuration: configuration)
            let outcome = await client.outcome(
                OutgoingRequest(url: url.replacing("PORT", with: "\(server.port)")))
            await client.shutdown()
            server.stop()
            group.shutdown()
            return outcome
        }
    }

    @Test("a name that is resolved elsewhere keeps its certificate and its Host")
    func resolved() async throws {
        let certificate = try ServerCertificate(["s3.amazonaws.com"])
        let response = try await outcome(
            "https://s3.amazonaws.com/echo.api/chain.pem", certificate: certificate, trusted: certificate.authority
        ).get()
        #expect(response.status == 200)
        #expect(String(decoding: response.body, as: UTF8.self).contains("\r\nHost: s3.amazonaws.com\r\n"))
    }

    @Test(
        "a certificate of another name is refused",
        arguments: [["a.example"], ["*.amazonaws.com.example"], ["amazonaws.com"], ["s3.amazonaws.com.example"], ["*"]])
    func wrongName(names: [String]) async throws {
        let certificate = try ServerCertificate(names)
        let outcome = try await outcome(
            "https://s3.amazonaws.com/", certificate: certificate, trusted: certificate.authority)
        guard case .failure(.tls) = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    @Test("an authority that is not trusted is refused, also where another one is")
    func untrusted() async throws {
        let certificate = try ServerCertificate(["s3.amazonaws.com"])
        for trusted in [nil, try ServerCertificate(["s3.amazonaws.com"]).authority] {
            let outcome = try await outcome("https://s3.amazonaws.com/", certificate: certificate, trusted: trusted)
            guard case .failure(.tls) = outcome else {
                Issue.record("\(outcome)")
                return
            }
        }
    }

    @Test("the file's authorities are trusted besides those of the system's folder, not in their place")
    func folderAndFile() async throws {
        // OpenSSL finds an authority in the folder by a hash of its subject, here "CN=Folder authority".
        let certificate = try ServerCertificate(["s3.amazonaws.com"], commonName: "Folder authority")
        let folder = ["e013abc6.0": certificate.authority]
        let other = try ServerCertificate(["a.example"])
        for trusted in [nil, other.authority] {
            let response = try await outcome(
                "https://s3.amazonaws.com/", certificate: certificate, trusted: trusted, folder: folder
            ).get()
            #expect(response.status == 200)
        }
        let response = try await outcome(
            "https://s3.amazonaws.com/", certificate: certificate, trusted: certificate.authority, folder: [:]
        ).get()
        #expect(response.status == 200)
    }

    @Test("a server that speaks no TLS, or breaks off while it is agreed: nothing was sent")
    func noTLS() async throws {
        for isReset in [true, false] {
            try await withClient(serve: { connection in
                if isReset { connection.reset() } else { connection.write("HTTP/1.1 400 Bad Request\r\n\r\n") }
            }) { client, server, _ in
                let failure = await client.failure(OutgoingRequest(url: "https://127.0.0.1:\(server.port)/"))
                #expect(failure?.outcome == (isReset ? "unreachable" : "tls"))
            }
        }
    }

    @Test("a server that never agrees on TLS: unreachable when the time to connect is over")
    func silent() async throws {
        var configuration = ClientConfiguration()
        configuration.connectTimeout = .milliseconds(150)
        try await withClient(configuration, serve: { $0.waitForEnd() }) { client, server, _ in
            let failure = await client.failure(OutgoingRequest(url: "https://127.0.0.1:\(server.port)/"))
            #expect(failure == .unreachable("connecting took too long"))
        }
    }
}
