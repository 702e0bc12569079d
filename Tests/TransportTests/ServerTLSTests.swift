import Crypto
import FoundationEssentials
import Glibc
import HTTP
import Testing
import Time
import Transport

/// A folder with a certificate for a name, its key, and the authority that vouches for it.
private struct TLSFolder: ~Copyable {
    let path: String
    var files: TLSFiles { TLSFiles(certificate: path + "/certificate.pem", privateKey: path + "/key.pem") }

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "skillgate-" + SecureRandom.uuid())
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path()
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ bytes: [UInt8], _ name: String) throws { try Data(bytes).write(to: URL(filePath: path + "/" + name)) }

    func mint(_ name: String, by key: PrivateKey? = nil) throws {
        let key = try key ?? .generate(.p256)
        let (from, until) = (UnixTime(seconds: 1_700_000_000), UnixTime(seconds: 4_000_000_000))
        let certificate = try Certificate.issue(
            .server([name], from: from, until: until), publicKey: key.publicKey, issuer: nil, signedBy: key)
        try write(certificate.pem, "certificate.pem")
        try write(key.pem, "key.pem")
    }
}

/// What `openssl s_client` printed.
private func talk(port: Int, _ options: String, send text: String) async throws -> String {
    try await onThread {
        let command =
            "printf '\(text)' | timeout 10 openssl s_client -connect 127.0.0.1:\(port) \(options) -ign_eof 2>&1"
        guard let pipe = unsafe popen(command, "r") else { throw ClientError(reason: "no shell") }
        defer { unsafe pclose(pipe) }
        var output: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe fread(&bytes, 1, bytes.count, pipe)
            if count == 0 { return String(decoding: output, as: UTF8.self) }
            output += bytes[..<count]
        }
    }
}

private let request = "GET /tls HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n"

@Suite("The server with TLS", .timeLimit(.minutes(5))) struct ServerTLSTests {
    @Test(
        "whatever name the client asks for, the handshake succeeds and the request is answered",
        arguments: [
            "-servername skill.example.com", "-servername unknown.example.org", "-noservername", "-tls1_2", "-tls1_3",
            "-alpn http/1.1", "-alpn h2",
        ])
    func names(options: String) async throws {
        let folder = try TLSFolder()
        try folder.mint("skill.example.com")
        let files = folder.files
        try await withServer(configure: { $0.tls = files }) { port in
            let output = try await talk(port: port, options, send: request)
            #expect(output.contains("HTTP/1.1 200 OK") && output.contains("GET /tls "))
            #expect(output.contains("CN = skill.example.com"))
            #expect(output.contains("ALPN protocol: http/1.1") == options.contains("http/1.1"))
        }
    }

    @Test("old versions are refused") func oldVersion() async throws {
        let folder = try TLSFolder()
        try folder.mint("skill.example.com")
        let files = folder.files
        try await withServer(configure: { $0.tls = files }) { port in
            let output = try await talk(port: port, "-tls1_1 -cipher DEFAULT@SECLEVEL=0", send: request)
            #expect(!output.contains("200 OK"))
        }
    }

    @Test("large answers and pipelines come through whole") func large() async throws {
        let folder = try TLSFolder()
        try folder.mint("skill.example.com")
        let files = folder.files
        let responder = Responder { request in
            HTTPResponse(status: 200, body: [UInt8](repeating: 120, count: 300_000) + Array(request.target.utf8))
        }
        try await withServer(responder, configure: { $0.tls = files }) { port in
            let output = try await talk(
                port: port, "-quiet", send: "GET /first HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n" + request)
            #expect(output.contains("x/first") && output.contains("x/tls"))
            #expect(output.utf8.filter { $0 == 120 }.count >= 600_000)
        }
    }

    @Test("a reload changes the certificate of new connections; a bad one leaves the old") func reload() async throws {
        let folder = try TLSFolder()
        try folder.mint("old.example.com")
        var configuration = ServerConfiguration(tls: folder.files)
        configuration.limits.drainTime = .zero
        let group = try EventLoopGroup(threads: 1)
        defer { group.shutdown() }
        let server = HTTPServer(group: group, configuration: configuration, responder: Responder.echo)
        let port = try server.start()
        #expect(try await talk(port: port, "", send: request).contains("CN = old.example.com"))
        try folder.mint("new.example.com")
        try server.reloadTLS()
        #expect(try await talk(port: port, "", send: request).contains("CN = new.example.com"))
        try folder.write(Array("no certificate".utf8), "certificate.pem")
        #expect(throws: ServerError.self) { try server.reloadTLS() }
        #expect(try await talk(port: port, "", send: request).contains("CN = new.example.com"))
        await server.shutdown(grace: .zero)
    }

    @Test(
        "files that do not serve keep the server from starting, and are named",
        arguments: ["certificate.pem", "key.pem", "foreign key"])
    func badFiles(which: String) throws {
        let folder = try TLSFolder()
        try folder.mint("skill.example.com")
        if which == "foreign key" {
            try folder.write(try PrivateKey.generate(.p256).pem, "key.pem")
        } else {
            try folder.write([], which)
        }
        let group = try EventLoopGroup(threads: 1)
        defer { group.shutdown() }
        let server = HTTPServer(
            group: group, configuration: ServerConfiguration(tls: folder.files), responder: Responder.echo)
        let error = #expect(throws: ServerError.self) { try server.start() }
        #expect(error?.description.contains(which == "certificate.pem" ? which : "key.pem") == true)
    }

    @Test("a handshake that does not come is cut, and so is one that is none") func noHandshake() async throws {
        let folder = try TLSFolder()
        try folder.mint("skill.example.com")
        let files = folder.files
        try await withServer(
            configure: {
                $0.tls = files
                $0.limits.requestTime = .milliseconds(100)
            }
        ) { port in
            try await onThread {
                #expect(try RawClient(port: port).readToEnd().isEmpty)
                let plain = try RawClient(port: port)
                plain.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try !plain.readToEnd().contains("HTTP"))
            }
        }
    }
}
