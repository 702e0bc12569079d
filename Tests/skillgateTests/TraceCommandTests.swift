import Crypto
import FoundationEssentials
import HTTP
import JSON
import Storage
import Telemetry
import TestSupport
import Testing
import Time

@Suite("skillgate trace", .timeLimit(.minutes(5))) struct TraceCommandTests {
    static func record(_ id: Int, subject: String?, seconds: Int64 = 0) -> TraceRecord {
        TraceRecord(
            id: String(repeating: "\(id)", count: 32), kind: .link,
            startedAt: UnixTime(seconds: 1_700_000_000 + seconds), duration: .milliseconds(1234), outcome: .failed,
            reason: "link.credentialsRefused", subject: subject,
            steps: [
                TraceRecord.Step(name: "exchange", outcome: .ok, start: .milliseconds(2), duration: .milliseconds(140)),
                TraceRecord.Step(
                    name: "enablement.EU", outcome: .refused, reason: "link.credentialsRefused",
                    start: .milliseconds(150), duration: .milliseconds(900)),
            ], notes: [TraceRecord.Note(name: "skill", value: "demo")])
    }

    /// A stage whose store holds three traces.
    private func run(_ words: [String]) async throws -> ProgramRun.Outcome {
        try await Stage.with { stage in
            let made = try await ProgramRun.run(["migrate", "--config", stage.configurationPath])
            #expect(made.code == 0)
            let store = try stage.openStore()
            try await store.save(Self.record(1, subject: "u1001"))
            try await store.save(Self.record(2, subject: "u1001", seconds: 60))
            try await store.save(Self.record(3, subject: "u1002"))
            return try await ProgramRun.run(["trace"] + words + ["--config", stage.configurationPath])
        }
    }

    @Test("an id shows every step with its outcome, reason and time")
    func byID() async throws {
        let run = try await run([Self.record(1, subject: nil).id])
        #expect(run.code == 0 && run.error.isEmpty)
        #expect(run.output == Self.record(1, subject: "u1001").text)
        for part in [
            "link.credentialsRefused", "exchange", "enablement.EU", "+900 ms", "subject: u1001", "skill: demo",
        ] {
            #expect(run.output.contains(part), "\(part)")
        }
    }

    @Test("--json prints an object a line; --user the latest first, and none of anybody else")
    func byUser() async throws {
        let run = try await run(["--user", "u1001", "--json"])
        #expect(run.code == 0)
        let lines = run.output.split(separator: "\n").map { try? JSONValue(parsing: Array($0.utf8)) }
        #expect(lines.map { $0?["id"]?.string?.first } == ["2", "1"])
        #expect(lines[0]?["steps"]?.array?.count == 2)
        let limited = try await self.run(["--user", "u1001", "--limit", "1"])
        #expect(limited.output == Self.record(2, subject: "u1001", seconds: 60).text)
    }

    @Test("what the store does not hold exits with 1", arguments: [["nonsense"], ["--user", "u9"], ["' OR 1=1 --"]])
    func unknown(words: [String]) async throws {
        let run = try await run(words)
        #expect(run.code == 1 && run.output.isEmpty && run.error.contains("the store holds no trace"))
        let json = try await self.run(words + ["--json"])
        #expect(json.code == 1 && json.output.contains(#""ok":false"#))
    }

    @Test("a store that is not there is not made", arguments: [false, true])
    func noStore(asJSON: Bool) async throws {
        try await Stage.with { stage in
            let words = ["trace", "x", "--config", stage.configurationPath] + (asJSON ? ["--json"] : [])
            let run = try await ProgramRun.run(words)
            #expect(run.code == 1 && (run.output + run.error).contains("is not there"))
            #expect(!FileManager.default.fileExists(atPath: stage.databasePath))
        }
    }

    @Test(
        "wrong usage exits with 2",
        arguments: [
            [], ["a", "b"], ["a", "--user", "u"], ["a", "--limit", "3"], ["--user", "u", "--limit", "0"],
        ])
    func wrongUsage(words: [String]) async throws {
        let run = try await ProgramRun.run(["trace"] + words)
        #expect(run.code == 2 && run.output.isEmpty && !run.error.isEmpty)
    }

    static let options: Stage.Options = {
        var options = Stage.Options()
        options.provider = .embedded
        options.apps = #"ios: [{ appID: "TEAM.com.example.app" }]"#
        options.clients = #"""
            { id: "app", redirectURIs: ["com.example.app:/callback"] },
            { id: "operator", secret: "operator-secret", grants: ["client_credentials"], role: "operator" },
            """#
        return options
    }()

    /// What the operator gets at `target`.
    private static func asked(_ target: String, _ service: RunningService, accept: String) async throws -> String {
        let pair = Base64.encode(Array("operator:operator-secret".utf8))
        let request = RawClient.request(
            target, method: "GET", fields: ["Authorization": "Basic " + pair, "Accept": accept])
        let answer = try await service.answer(to: request)
        return answer.status == 200 ? answer.text : ""
    }

    @Test("an attempt of the app that fails is found by the id that the app got, in the program and by the command")
    func attempted() async throws {
        try await Stage.with(Self.options) { stage in
            let ending = try await stage.run { service in
                let token = try await stage.embeddedToken(of: service, client: "app")
                let body = #"{"amazonAuthCode":"ANsecretCode","state":"never-given-out"}"#
                let answer = try await service.answer(
                    to: RawClient.request(
                        "/alexa/link",
                        fields: ["Authorization": "Bearer " + token, "Content-Type": "application/json"],
                        body: Array(body.utf8)))
                let problem = try JSONValue(parsing: answer.body)
                #expect(problem["code"]?.string == "link.stateUnknown", "\(answer.text)")
                let id = try #require(problem["traceID"]?.string)
                // Traces are stored after the answer has left.
                try await until { !(try await Self.asked("/admin/traces/" + id, service, accept: "*/*")).isEmpty }
                var shown: [String] = []
                for target in ["/admin/links", "/admin/links?subject=u1001", "/admin/traces/" + id] {
                    for accept in ["application/json", "text/html"] {
                        shown.append(try await Self.asked(target, service, accept: accept))
                    }
                }
                for words in [[id], [id, "--json"], ["--user", "u1001"]] {
                    let run = try await ProgramRun.run(["trace"] + words + ["--config", stage.configurationPath])
                    #expect(run.code == 0, "\(run.error)")
                    shown.append(run.output)
                }
                for text in shown {
                    #expect(text.contains("link.stateUnknown") && text.contains(id) && text.contains("state"))
                    #expect(!text.contains("ANsecretCode") && !text.contains("never-given-out"))
                    #expect(!text.contains(token))
                }
            }
            #expect(ending.code == 0)
        }
    }

    @Test("at the start the log names a redirect address that opens no app, and the files are served")
    func association() async throws {
        for (paths, isNamed) in [(#"["/alexa/*"]"#, true), (#"["/link/*"]"#, false)] {
            var options = Self.options
            options.apps = #"ios: [{ appID: "TEAM.com.example.app", paths: \#(paths) }]"#
            try await Stage.with(options) { stage in
                let ending = try await stage.run { service in
                    let path = "/.well-known/apple-app-site-association"
                    let answer = try await service.answer(to: RawClient.request(path, method: "GET"))
                    #expect(answer.status == 200 && answer.fields["Content-Type"] == "application/json")
                    #expect(answer.text.contains(#""appID":"TEAM.com.example.app""#))
                    let absent = RawClient.request("/.well-known/assetlinks.json", method: "GET")
                    #expect(try await service.answer(to: absent).status == 404)
                }
                let key = #""key":"skills[0].linking.redirectURLs[0]""#
                #expect(ending.error.contains(key) == isNamed, "\(ending.error)")
            }
        }
    }
}
