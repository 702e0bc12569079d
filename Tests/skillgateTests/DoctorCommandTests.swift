import Crypto
import FoundationEssentials
import HTTP
import JSON
import Service
import Simulator
import TestSupport
import Testing
import Time
import Transport

@Suite("skillgate doctor", .timeLimit(.minutes(5))) struct DoctorCommandTests {
    /// The lines of `--json`, and the exit code.
    private static func doctor(
        _ path: String, _ words: [String] = []
    ) async throws -> (code: Int32, lines: [JSONValue]) {
        let run = try await ProgramRun.run(["doctor", "--config", path, "--json"] + words)
        return (run.code, try run.output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) })
    }

    /// The findings that are not good, as `check key level`.
    private static func wrong(_ lines: [JSONValue]) -> [String] {
        lines.filter { $0["level"] != "ok" }.map {
            "\($0["check"]?.string ?? "") \($0["key"]?.string ?? "") \($0["level"]?.string ?? "")"
        }
    }

    /// The development configuration in a folder, with changes of its text.
    private static func development(_ changes: [String: String] = [:], in folder: String) async throws -> String {
        let path = try await ReplayCommandTests.development(in: folder)
        var text = try String(contentsOfFile: path, encoding: .utf8)
        for (old, new) in changes {
            try #require(text.contains(old), "\(old)")
            text = text.replacing(old, with: new)
        }
        try ReplayCommandTests.write(text, to: path)
        return path
    }

    @Test("the development configuration is in order, and what to enter in the consoles stands below, without a secret")
    func inOrder() async throws {
        try await withTemporaryFolder { folder in
            let path = try await Self.development(in: folder)
            let (code, lines) = try await Self.doctor(path)
            #expect(code == 0 && lines.count > 25 && Self.wrong(lines).isEmpty, "\(Self.wrong(lines))")
            let run = try await ProgramRun.run(["doctor", "--config", path])
            #expect(run.code == 0 && run.output.contains("\(lines.count) in order, 0 to look at, 0 to mend"))
            for part in [
                "Alexa developer console, skill ride-hailer", "/oauth/authorize", "Google's console", "HTTP_BASIC",
            ] { #expect(run.output.contains(part), "\(part)") }
            for secret in ["alexa-secret", "linking-secret", "events-secret", "google-secret", "forwarder-secret"] {
                #expect(!run.output.contains(secret))
            }
        }
    }

    @Test("what is wrong in the file is told at once, key by key, with exit 1; a file that cannot be read exits with 2")
    func file() async throws {
        try await withTemporaryFolder { folder in
            let path = try await Self.development(
                ["smartHome: true": "smartHome: 7, nonsense: 1", "port: 8080": "port: 99999"], in: folder)
            let (code, lines) = try await Self.doctor(path)
            #expect(code == 1)
            #expect(
                Set(Self.wrong(lines)) == [
                    "configuration skills[0].smartHome fault", "configuration skills[0].nonsense fault",
                    "configuration listen.port fault",
                ])
            #expect(try await ProgramRun.run(["doctor", "--config", folder + "/none.json5"]).code == 2)
            try ReplayCommandTests.write("{ skills: [", to: path)
            #expect(try await ProgramRun.run(["doctor", "--config", path]).code == 2)
            for words in [[], ["--config"], ["--config", path, "x"], ["--config", path, "--offline"]] {
                #expect(try await ProgramRun.run(["doctor"] + words).code == 2)
            }
        }
    }

    // MARK: - The certificate

    private static let now = UnixTime(seconds: Int64(Date().timeIntervalSince1970))

    /// The files of a certificate in a folder: its chain and its key.
    private static func certificate(
        for name: String = "skill.example.com", until seconds: Int64 = 90 * 86_400, alone: Bool = false,
        ofOtherKey: Bool = false, in folder: String
    ) throws {
        let rootKey = try PrivateKey.generate(.p256)
        let root = try Certificate.issue(
            .authority("A test", from: now.adding(seconds: -86_400 * 200), until: now.adding(seconds: 86_400 * 400)),
            publicKey: rootKey.publicKey, issuer: nil, signedBy: rootKey)
        let key = try PrivateKey.generate(.p256)
        let leaf = try Certificate.issue(
            .server([name], from: now.adding(seconds: -86_400 * 100), until: now.adding(seconds: seconds)),
            publicKey: key.publicKey, issuer: root, signedBy: rootKey)
        let other = try PrivateKey.generate(.p256)
        try Data(leaf.pem + (alone ? [] : root.pem)).write(to: URL(filePath: folder + "/chain.pem"))
        try Data((ofOtherKey ? other : key).pem).write(to: URL(filePath: folder + "/key.pem"))
    }

    /// What the doctor says of the certificate of a service at https://skill.example.com.
    private static func ofCertificate(in folder: String) async throws -> [String] {
        let path = folder + "/skillgate.json5"
        try ReplayCommandTests.write(
            """
            { publicURL: "https://skill.example.com", store: { url: "sqlite:store.sqlite", encryptionKey: { file: "store.key" } },
              listen: { tls: { certificate: "chain.pem", privateKey: "key.pem" } },
              skills: [{ name: "s", id: "amzn1.ask.skill.00000000-0000-4000-8000-000000000001" }],
              provider: { embedded: { users: "users.json5" }, scopes: { custom: ["profile"] } } }
            """, to: path)
        try ReplayCommandTests.write("{ users: [] }", to: folder + "/users.json5")
        _ = try await ProgramRun.run(["keys", "generate", "--out", folder + "/store.key"])
        let lines = try await doctor(path).lines
        return lines.filter { $0["check"]?.string?.hasPrefix("tls.") == true && $0["level"] != "ok" }.map {
            "\($0["check"]?.string ?? "") \($0["level"]?.string ?? "")"
        }
    }

    @Test("each fault of the certificate is found, and a good one has none")
    func certificates() async throws {
        try await withTemporaryFolder { folder in
            try Self.certificate(in: folder)
            #expect(try await Self.ofCertificate(in: folder) == [])
            try Self.certificate(for: "*.example.com", in: folder)
            #expect(try await Self.ofCertificate(in: folder) == [])
            for name in ["example.com", "*.skill.example.com", "skill.example.org"] {
                try Self.certificate(for: name, in: folder)
                #expect(try await Self.ofCertificate(in: folder) == ["tls.name fault"], "\(name)")
            }
            try Self.certificate(ofOtherKey: true, in: folder)
            #expect(try await Self.ofCertificate(in: folder) == ["tls.pair fault"])
            try Self.certificate(until: -60, in: folder)
            #expect(try await Self.ofCertificate(in: folder) == ["tls.dates fault"])
            try Self.certificate(until: 86_400, in: folder)
            #expect(try await Self.ofCertificate(in: folder) == ["tls.dates warning"])
            try Self.certificate(alone: true, in: folder)
            #expect(try await Self.ofCertificate(in: folder) == ["tls.chain warning"])
        }
    }

    // MARK: - The store

    @Test("a store that does not open, and one of another key, are found")
    func store() async throws {
        try await withTemporaryFolder { folder in
            let path = try await Self.development(in: folder)
            #expect(try await ProgramRun.run(["migrate", "--config", path]).code == 0)
            #expect(Self.wrong(try await Self.doctor(path).lines).isEmpty)
            try ReplayCommandTests.write(
                Base64.encode([UInt8](repeating: 9, count: 32)) + "\n", to: folder + "/.skillgate/encryption.key")
            var found = try await Self.doctor(path)
            #expect(found.code == 1 && Self.wrong(found.lines) == ["store.open store.url fault"])
            try ReplayCommandTests.write("no database", to: folder + "/.skillgate/development.sqlite")
            found = try await Self.doctor(path)
            #expect(found.code == 1 && Self.wrong(found.lines) == ["store.open store.url fault"])
        }
    }

    @Test("too few open files for the connections that are allowed are a warning")
    func openFiles() async throws {
        try await withTemporaryFolder { folder in
            let path = try await Self.development(in: folder)
            let words = [
                "-c", "ulimit -n 300; exec \"$0\" doctor --json --config \"$1\"", ProgramRun.folder + "/skillgate",
                path,
            ]
            let outcome = await (try ProgramRun(words, of: "/bin/sh")).end()
            #expect(outcome.code == 0)
            let lines = try outcome.output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
            #expect(Self.wrong(lines) == ["machine.openFiles limits.connections warning"])
        }
    }

    // MARK: - Other servers

    @Test("online: everything that is there is found to be, and each planted fault at its key")
    func online() async throws {
        try await withTemporaryFolder { folder in
            let port = try ReplayCommandTests.freePort()
            let path = try await Self.development(["port: 8080": "port: \(port)", ":8080\"": ":\(port)\""], in: folder)
            #expect(try await ProgramRun.run(["migrate", "--config", path]).code == 0)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let amazonPort = try #require(text.split(separator: "s3.amazonaws.com:443:127.0.0.1:").last)
            let clients = [
                TokenEndpoint.Client(
                    id: "amzn1.application-oa2-client.linking", secret: Secret("linking-secret"), use: .linking),
                TokenEndpoint.Client(
                    id: "amzn1.application-oa2-client.events", secret: Secret("events-secret"), use: .events),
            ]
            let authority = try Authority.load(folder: folder + "/.skillgate", now: Self.now)
            let hosts = AmazonHosts(authority: authority, clients: clients, clock: Stage.now)
            let group = try EventLoopGroup(threads: 1)
            let listener = try AmazonListener(
                hosts, folder: folder + "/.skillgate", group: group,
                port: try #require(Int(amazonPort.prefix { $0.isNumber })))
            var found = try await Self.doctor(path, ["--online"])
            #expect(
                Self.wrong(found.lines) == ["online.public publicURL fault", "online.tokens provider.embedded fault"])
            let service = try ProgramRun(["serve", "--config", path])
            _ = await service.line()
            found = try await Self.doctor(path, ["--online"])
            #expect(found.code == 0 && Self.wrong(found.lines).isEmpty, "\(Self.wrong(found.lines))")
            let checks = found.lines.compactMap { $0["check"]?.string }
            #expect(
                checks.filter { $0 == "online.reach" }.count == 5 && checks.filter { $0 == "online.pair" }.count == 2)
            for (old, new, wrong) in [
                ("\"events-secret\"", "\"old-secret\"", "online.pair skills[0].events.clientSecret fault"),
                ("\"linking-secret\"", "\"old-secret\"", "online.pair skills[0].linking.clientSecret fault"),
            ] {
                try ReplayCommandTests.write(text.replacing(old, with: new), to: path)
                found = try await Self.doctor(path, ["--online"])
                #expect(found.code == 1 && Self.wrong(found.lines) == [wrong], "\(Self.wrong(found.lines))")
            }
            try ReplayCommandTests.write(
                text.replacing("log: {", with: "clockOffsetSeconds: 3600, log: {"), to: path)
            found = try await Self.doctor(path, ["--online"])
            #expect(Self.wrong(found.lines).contains("online.clock amazon.endpoints.lwaToken fault"))
            try ReplayCommandTests.write(text, to: path)
            hosts.always(.token, .garbage)
            found = try await Self.doctor(path, ["--online"])
            #expect(found.code == 0 && Self.wrong(found.lines).allSatisfy { $0.hasPrefix("online.pair") })
            await listener.stop()
            found = try await Self.doctor(path, ["--online"])
            #expect(Self.wrong(found.lines).filter { $0.hasPrefix("online.reach") }.count == 5)
            service.send(signal: 15)
            #expect(await service.end().code == 0)
            group.shutdown()
        }
    }

    @Test("online: keys and users of the company's provider are looked for")
    func provider() async throws {
        var options = Stage.Options()
        options.provider = .external
        try await Stage.with(options) { stage in
            var lines = try await Self.doctor(stage.configurationPath, ["--online"]).lines
            #expect(lines.contains { $0["check"] == "online.keys" && $0["level"] == "ok" })
            // It answers everybody, token or not.
            #expect(Self.wrong(lines).contains("online.user provider.external.resources.baseURL warning"))
            stage.provider.stop()
            lines = try await Self.doctor(stage.configurationPath, ["--online"]).lines
            #expect(Self.wrong(lines).contains("online.keys provider.external.jwksURL fault"))
            #expect(Self.wrong(lines).contains("online.user provider.external.resources.baseURL fault"))
        }
    }

    @Test("the documentation lists every check, and no other")
    func documented() throws {
        let root = HouseRulesTests.root
        let page = try String(
            contentsOfFile: root.appending(path: "Sources/Service/Service.docc/WhatDoctorChecks.md").path(),
            encoding: .utf8)
        let listed = Set(
            page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map {
                String($0.dropFirst(3).prefix { $0 != "`" })
            })
        var known = Set(DoctorCheck.all.map(\.id) + ["configuration"])
        let pattern = try Regex(#""((?:tls|machine|online)\.[a-zA-Z]+|store\.open)""#)
        for (_, text) in try HouseRulesTests.sources("Sources/skillgate/Doctor") {
            for match in text.matches(of: pattern) { known.insert(String(match.output[1].substring ?? "")) }
        }
        #expect(listed == known, "\(listed.symmetricDifference(known))")
    }
}
