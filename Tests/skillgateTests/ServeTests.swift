import FoundationEssentials
import Glibc
import HTTP
import JSON
import Testing
import Time
import Transport

@Suite("skillgate serve and migrate", .timeLimit(.minutes(5))) struct ServeTests {
    static let config = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "config").path()

    /// The development configuration in a folder of its own, such that it finds nothing made before.
    private static func development(in folder: String) throws -> String {
        try FileManager.default.createDirectory(atPath: folder + "/config", withIntermediateDirectories: true)
        for name in ["development.json5", "logo.svg", "demo.intents.json5", "users.json5", "devices.json5"] {
            try FileManager.default.copyItem(atPath: config + "/" + name, toPath: folder + "/config/" + name)
        }
        return folder + "/config/development.json5"
    }

    private static func get(_ url: String) async throws -> HTTPResponse {
        let group = try EventLoopGroup(threads: 1)
        let client = CurlClient(group: group)
        defer { group.shutdown() }
        let response = try await client.send(
            OutgoingRequest(method: .get, url: url), by: .after(.seconds(10), from: .now))
        await client.shutdown()
        return response
    }

    @Test("on a fresh checkout the development configuration makes what it needs, serves, and SIGTERM ends it with 0")
    func fresh() async throws {
        try await withTemporaryFolder { folder in
            let path = try Self.development(in: folder)
            let service = try ProgramRun(["serve", "--config", path, "--port", "0"])
            let line = await service.line()
            try #require(line.hasPrefix("listening on http://127.0.0.1:"), "\(line)")
            let address = String(line.dropFirst("listening on ".count))
            #expect(!address.hasSuffix(":0") && !address.hasSuffix(":8080"))
            let health = try await Self.get(address + "/healthz")
            #expect(health.status == 200)
            #expect(try await Self.get(address + "/readyz").status == 200)
            #expect(try await Self.get(address + "/nowhere").status == 404)
            let keys = try JSONValue(parsing: try await Self.get(address + "/oauth/jwks.json").body)
            #expect(keys["keys"]?.array?.count == 1)
            for name in ["encryption.key", "authority.pem", "development.sqlite"] {
                #expect(FileManager.default.fileExists(atPath: "\(folder)/.skillgate/\(name)"), "\(name)")
            }
            service.send(signal: SIGTERM)
            let end = await service.end()
            #expect(end.code == 0)
            #expect(end.output.isEmpty)
            #expect(end.error.contains("stopped"))
            for secret in ["alexa-secret", "linking-secret", "events-secret", "forwarder-secret", "alice-password"] {
                #expect(!end.error.contains(secret))
            }

            // The second start finds the key and the signing key again.
            let again = try ProgramRun(["serve", "--config", path, "--port", "0"])
            let second = String(await again.line().dropFirst("listening on ".count))
            #expect(try JSONValue(parsing: try await Self.get(second + "/oauth/jwks.json").body) == keys)
            again.send(signal: SIGINT)
            #expect(await again.end().code == 0)
        }
    }

    @Test("a connection that stays open does not keep the program from ending")
    func openConnection() async throws {
        try await withTemporaryFolder { folder in
            let service = try ProgramRun(["serve", "--config", try Self.development(in: folder), "--port", "0"])
            let address = String(await service.line().dropFirst("listening on ".count))
            let group = try EventLoopGroup(threads: 1)
            defer { group.shutdown() }
            let client = CurlClient(group: group)
            let request = OutgoingRequest(method: .get, url: address + "/healthz")
            #expect(try await client.send(request, by: .after(.seconds(10), from: .now)).status == 200)
            let start = ContinuousClock.now
            service.send(signal: SIGTERM)
            #expect(await service.end().code == 0)
            #expect(ContinuousClock.now - start < .seconds(10))
            await client.shutdown()
        }
    }

    @Test("a port that is taken exits with 1 and says so")
    func takenPort() async throws {
        try await withTemporaryFolder { folder in
            let path = try Self.development(in: folder)
            let service = try ProgramRun(["serve", "--config", path, "--port", "0"])
            let port = String(await service.line().split(separator: ":").last ?? "")
            let other = try await ProgramRun.run(["serve", "--config", path, "--port", port])
            #expect(other.code == 1 && other.output.isEmpty)
            #expect(other.error.contains("port \(port) cannot be listened on"), "\(other.error)")
            service.send(signal: SIGTERM)
            #expect(await service.end().code == 0)
        }
    }

    @Test("migrate makes the store, says so, and refuses a key that does not fit")
    func migrate() async throws {
        try await withTemporaryFolder { folder in
            let path = try Self.development(in: folder)
            let first = try await ProgramRun.run(["migrate", "--config", path])
            #expect(first.code == 0 && first.output.contains("development.sqlite is up to date"), "\(first.error)")
            let second = try await ProgramRun.run(["migrate", "--config", path, "--json"])
            #expect(second.code == 0)
            #expect(try JSONValue(parsing: Array(second.output.utf8))["ok"] == true)
            try FileManager.default.removeItem(atPath: folder + "/.skillgate/encryption.key")
            let other = try await ProgramRun.run(["migrate", "--config", path, "--json"])
            #expect(other.code == 1)
            #expect(try JSONValue(parsing: Array(other.output.utf8))["ok"] == false)
            let serve = try await ProgramRun.run(["serve", "--config", path, "--port", "0"])
            #expect(serve.code == 1 && serve.output.isEmpty && serve.error.contains("encryption keys"))
        }
    }

    @Test("a development store without a key gets one beside it")
    func keyBesideStore() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/small.json5"
            let text = """
                { development: true, publicURL: "http://127.0.0.1:0", store: { url: "sqlite:small.sqlite" },
                  provider: { embedded: { users: "\(Self.config)/users.json5" } } }
                """
            try Data(text.utf8).write(to: URL(filePath: path))
            for _ in 0..<2 { #expect(try await ProgramRun.run(["migrate", "--config", path]).code == 0) }
            #expect(FileManager.default.fileExists(atPath: folder + "/small.sqlite.key"))
        }
    }
}
