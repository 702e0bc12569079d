import Crypto
import FoundationEssentials
import Glibc
import JSON
import Simulator
import TestSupport
import Testing

@Suite("skillgate replay", .serialized, .timeLimit(.minutes(5))) struct ReplayCommandTests {
    static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
    static let samples = package + "/samples"

    /// The development configuration in a folder of its own, with a port for Amazon's hosts that nobody else has.
    static func development(in folder: String) async throws -> String {
        try FileManager.default.createDirectory(atPath: folder + "/config", withIntermediateDirectories: true)
        for name in ["logo.svg", "demo.intents.json5", "users.json5", "devices.json5"] {
            try FileManager.default.copyItem(
                atPath: package + "/config/" + name, toPath: folder + "/config/" + name)
        }
        let text = try String(contentsOfFile: package + "/config/development.json5", encoding: .utf8)
        try #require(text.contains(":9443"))
        let changed = text.replacing(":9443", with: ":\(try freePort())")
        try Data(changed.utf8).write(to: URL(filePath: folder + "/config/development.json5"))
        return folder + "/config/development.json5"
    }

    static func freePort() throws -> Int {
        let port = try QuietPort()
        defer { port.release() }
        return port.number
    }

    static func lines(_ outcome: ProgramRun.Outcome) throws -> [JSONValue] {
        try outcome.output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
    }

    static func write(_ text: String, to path: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

    static let acceptGrant = """
        {"directive":{"header":{"namespace":"Alexa.Authorization","name":"AcceptGrant","messageId":"{{uuid}}",\
        "payloadVersion":"3"},"payload":{"grant":{"type":"OAuth2.AuthorizationCode","code":"{{grantCode}}"},\
        "grantee":{"type":"BearerToken","token":"{{token}}"}}}}
        """
    static let accepted = """
        {"event":{"header":{"namespace":"Alexa.Authorization","name":"AcceptGrant.Response","messageId":"$uuid",\
        "payloadVersion":"3"},"payload":{}}}
        """

    @Test("every sample of the repository is answered as expected by a service in the same process")
    func inProcess() async throws {
        try await withTemporaryFolder { folder in
            let config = try await Self.development(in: folder)
            let outcome = try await ProgramRun.run(["replay", Self.samples, "--config", config, "--json"])
            let lines = try Self.lines(outcome)
            #expect(lines.count >= 40)
            for line in lines where line["ok"] != true { Issue.record("\(line)") }
            #expect(outcome.code == 0)
        }
    }

    @Test("without configuration and endpoint the development configuration is served in the same process")
    func nothingNamed() async throws {
        // Tests run in the package's folder, which holds that configuration.
        let outcome = try await ProgramRun.run(["replay", Self.samples + "/custom/who-am-i-linked.json", "--json"])
        #expect(outcome.code == 0)
        #expect(try Self.lines(outcome).map { $0["ok"] } == [true])
    }

    @Test("a service that runs is asked as Alexa asks: signed, certificates fetched over TLS, a grant code exchanged")
    func overSocket() async throws {
        try await withTemporaryFolder { folder in
            let config = try await Self.development(in: folder)
            let service = try ProgramRun(["serve", "--config", config, "--port", "0"])
            let address = String(await service.line().dropFirst("listening on ".count))
            try Self.write(Self.acceptGrant, to: folder + "/accept-grant.json")
            try Self.write(Self.accepted, to: folder + "/accept-grant.expected.json")
            let target = ["--config", config, "--endpoint", address]
            let signed = try await ProgramRun.run(
                ["replay", Self.samples, folder + "/accept-grant.json", "--sign", "--json", "--concurrency", "4"]
                    + target)
            for line in try Self.lines(signed) where line["ok"] != true { Issue.record("\(line)") }
            #expect(signed.code == 0)

            let unsigned = try await ProgramRun.run(
                ["replay", Self.samples + "/custom/launch-linked.json", "--json"] + target)
            #expect(unsigned.code == 1)
            let difference = try Self.lines(unsigned).first?["differences"]?.array?.first
            #expect(difference?["path"] == "status")
            #expect(difference?["found"] == "400")
            service.send(signal: SIGTERM)
            #expect(await service.end().code == 0)
        }
    }

    @Test("an answer that differs is named member by member with what stands around it, and the exit code is 1")
    func differing() async throws {
        try await withTemporaryFolder { folder in
            let config = try await Self.development(in: folder)
            let sample = Self.samples + "/custom/who-am-i-linked.json"
            for (options, code) in [
                ([], 0), (["--user", "alice"], 0), (["--user", "u1001"], 0), (["--user", "bob"], 1),
                (["--token-state", "linked"], 0),
            ] as [([String], Int32)] {
                let outcome = try await ProgramRun.run(["replay", sample, "--config", config] + options)
                #expect(outcome.code == code, "\(options)")
                #expect(outcome.output.contains("✗") == (code == 1))
                #expect(outcome.output.contains("response.outputSpeech.text: expected") == (code == 1))
                #expect(outcome.output.contains(#"in {"type":"PlainText","text":"You are Bob"#) == (code == 1))
            }
        }
    }

    @Test("a long run draws a bar on a terminal, and none elsewhere or on a short run")
    func bar() async throws {
        let program = ProgramRun.folder + "/skillgate"
        func run(_ times: Int) async throws -> String {
            let words = "\(program) replay \(Self.samples)/custom/who-am-i-linked.json --repeat \(times)"
            return try await ProgramRun.run(["-qec", words, "/dev/null"], of: "/usr/bin/script").output
        }
        let long = try await run(200)
        #expect(long.contains("░ 2 of 200") && long.contains("\(String(repeating: "█", count: 40)) 200 of 200"))
        #expect(long.contains("✓"))
        #expect(try await !run(199).contains("█"))
        let piped = try await ProgramRun.run([
            "replay", Self.samples + "/custom/who-am-i-linked.json", "--repeat", "200",
        ])
        #expect(piped.code == 0 && piped.error.isEmpty && !piped.output.contains("█"))
    }

    @Test("repeats are counted, and each sample has one line")
    func repeats() async throws {
        try await withTemporaryFolder { folder in
            let config = try await Self.development(in: folder)
            let outcome = try await ProgramRun.run([
                "replay", Self.samples + "/custom/launch-linked.json", Self.samples + "/custom/launch-unlinked.json",
                "--config", config, "--repeat", "5", "--concurrency", "3", "--json",
            ])
            let lines = try Self.lines(outcome)
            #expect(
                lines.map { $0["sample"]?.string?.split(separator: "/").last } == ["launch-linked", "launch-unlinked"])
            #expect(lines.allSatisfy { $0["failures"] == 0 && ($0["milliseconds"]?.double ?? 0) > 0 })
        }
    }

    static let wrong: [[String]] = [
        [], ["nowhere.json"], [samples, "--token-state", "odd"], [samples, "--repeat", "0"],
        [samples, "--concurrency", "x"], [samples, "--user", "nobody"], [samples, "--sign"],
        [samples, "--authority", "x"], [samples, "--jsonl", "--update"], ["--certify"],
        ["--certify", "--endpoint", "http://127.0.0.1:1", samples],
        ["--certify", "--endpoint", "http://127.0.0.1:1", "--update"], [package + "/README.md", "--jsonl"],
        [samples + "/linking", "--junit", "/nowhere/junit.xml"],
    ]

    @Test("a missing path, an unknown token state and other wrong options exit with 2", arguments: wrong.indices)
    func usage(index: Int) async throws {
        try await withTemporaryFolder { folder in
            let config = try await Self.development(in: folder)
            let outcome = try await ProgramRun.run(["replay"] + Self.wrong[index] + ["--config", config])
            #expect(outcome.code == 2)
            #expect(outcome.output.isEmpty || Self.wrong[index].contains("--junit"))
            #expect(!outcome.error.isEmpty)
        }
    }

    @Test("a service that is not there is an answer that did not come")
    func nobody() async throws {
        try await withTemporaryFolder { folder in
            let config = try await Self.development(in: folder)
            let port = try QuietPort()
            let outcome = try await ProgramRun.run([
                "replay", Self.samples + "/custom/launch-linked.json", "--config", config, "--endpoint",
                "http://127.0.0.1:\(port.number)",
            ])
            port.release()
            #expect(outcome.code == 1)
            #expect(outcome.output.contains("expected an answer, found no connection"))
        }
    }
}
