import Crypto
import FoundationEssentials
import HTTP
import JSON
import Simulator
import TestSupport
import Testing
import Transport

/// `skillgate account-linking show|push` and `manifest show`, against a strict stand-in for Amazon's API.
@Suite("Commands that set up Amazon", .timeLimit(.minutes(5))) struct AccountLinkingCommandTests {
    static let token = "Atza|developer-token"
    static let secret = "the-secret-of-alexa"

    /// A configuration with two skills of which one is linked, and an API that knows both.
    struct Scene {
        let path: String
        let api: SkillManagementEndpoint

        func run(_ words: [String], path: String? = nil) async throws -> ProgramRun.Outcome {
            let outcome = try await ProgramRun.run(
                words + ["--config", path ?? self.path], environment: ["SMAPI_TOKEN": AccountLinkingCommandTests.token])
            let printed = outcome.output + outcome.error
            #expect(!printed.contains(AccountLinkingCommandTests.token), "the token is printed")
            #expect(!printed.contains(AccountLinkingCommandTests.secret), "the secret is printed")
            return outcome
        }
    }

    static func configuration(
        port: Int, provider: String = "embedded: {},", more: String = "", smapi: String = #"{ env: "SMAPI_TOKEN" }"#
    ) -> String {
        """
        { development: true, publicURL: "http://127.0.0.1:8080", store: { url: "sqlite:store.sqlite" },
          skills: [
            { name: "rides", id: "amzn1.ask.skill.RIDES", stage: "live",
              linking: { clientID: "l", clientSecret: "linking-secret", vendorID: "MV" } },
            { name: "plain", id: "amzn1.ask.skill.PLAIN" } \(more)],
          provider: { \(provider) scopes: { custom: ["profile"] },
            clients: [\(provider.hasPrefix("embedded") ? client : "")] },
          amazon: { endpoints: { api: { NA: "http://127.0.0.1:\(port)" } } },
          smapi: { token: \(smapi) } }
        """
    }

    static let client = """
        { id: "alexa", secret: "\(secret)", scopes: ["profile"], redirectURIs: [
            "https://pitangui.amazon.com/api/skill/link/MV", "https://layla.amazon.com/api/skill/link/MV"] }
        """

    static func with(
        provider: String = "embedded: {},", more: String = "", smapi: String = #"{ env: "SMAPI_TOKEN" }"#,
        stage: String = "live", _ body: (Scene) async throws -> Void
    ) async throws {
        let api = SkillManagementEndpoint(
            token: Secret(token), skills: ["amzn1.ask.skill.RIDES": [stage], "amzn1.ask.skill.MORE": ["development"]])
        let group = try EventLoopGroup(threads: 1)
        let server = HTTPServer(
            group: group, configuration: ServerConfiguration(host: "127.0.0.1", port: 0), responder: api)
        let port = try server.start()
        try await withTemporaryFolder { folder in
            let path = folder + "/skillgate.json5"
            let text = configuration(port: port, provider: provider, more: more, smapi: smapi)
            try Data(text.utf8).write(to: URL(filePath: path))
            try await body(Scene(path: path, api: api))
        }
        await server.shutdown(grace: .zero)
        group.shutdown()
    }

    @Test("push sends one wrapped PUT for the stage, with the secret, and says that Amazon has it")
    func push() async throws {
        try await Self.with { scene in
            let run = try await scene.run(["account-linking", "push"])
            #expect(run.code == 0 && run.error.isEmpty, "\(run.error)")
            #expect(run.output.hasPrefix("Amazon has the account linking of rides, stage live\n"))
            let request = try #require(scene.api.received.first)
            #expect(scene.api.received.count == 1 && request.method == .put)
            #expect(request.target == "/v1/skills/amzn1.ask.skill.RIDES/stages/live/accountLinkingClient")
            let stored = try #require(scene.api.accountLinking(of: "amzn1.ask.skill.RIDES", stage: "live"))
            #expect(stored["clientSecret"]?.string == Self.secret && stored["clientId"]?.string == "alexa")
            #expect(stored["authorizationUrl"]?.string == "http://127.0.0.1:8080/oauth/authorize")
            let json = try await scene.run(["account-linking", "push", "--skill", "rides", "--json"])
            #expect(json.code == 0 && json.output == #"{"ok":true,"skill":"rides","stage":"live"}"# + "\n")
        }
    }

    @Test("show sends nothing, redacts the secret, and marks which redirect addresses the client has")
    func show() async throws {
        try await Self.with { scene in
            let run = try await scene.run(["account-linking", "show"])
            #expect(run.code == 0 && scene.api.received.isEmpty)
            for part in [
                #""accountLinkingRequest": {"#, #""clientSecret": "<redacted>""#,
                "✓ https://pitangui.amazon.com/api/skill/link/MV", "✓ https://layla.amazon.com/api/skill/link/MV",
                "✗ https://alexa.amazon.co.jp/api/skill/link/MV", "- https://skills-store.amazon.com/api/skill/link/MV",
                "Amazon takes https addresses",
            ] { #expect(run.output.contains(part), "\(part)") }
            let json = try await scene.run(["account-linking", "show", "--json"])
            let line = try JSONValue(parsing: Array(json.output.utf8))
            #expect(line["skill"]?.string == "rides" && line["stage"]?.string == "live")
            #expect(line["accountLinkingRequest"]?["type"]?.string == "AUTH_CODE")
            #expect(line["redirectURIs"]?.array?.map { $0["registered"]?.bool } == [true, true, false, false])
        }
    }

    static let refusals: [(Int, String, String)] = [
        (400, "smapi.invalid", "Mend what it names"), (401, "smapi.tokenRefused", "ask util generate-lwa-tokens"),
        (403, "smapi.notAllowed", "administrator or developer"), (404, "smapi.skillUnknown", "skills[].id"),
        (412, "smapi.changedMeanwhile", "push again"), (429, "smapi.throttled", "in 7 seconds"),
        (500, "smapi.fault", "few minutes"), (503, "smapi.unavailable", "few minutes"),
        (200, "smapi.unexpectedAnswer", "204 is expected"), (301, "smapi.unexpectedAnswer", "204 is expected"),
    ]

    @Test(
        "every refusal says what to do and exits with 1; what Amazon repeats of the secrets is left out",
        arguments: refusals)
    func refused(status: Int, code: String, advice: String) async throws {
        try await Self.with { scene in
            let words = "\(Self.secret) and \(Self.token) are wrong\u{1B}[2J"
            let body: JSONValue = ["message": .string(words), "violations": [["message": "scopes: too many"]]]
            let answer = HTTPResponse(
                status: status, fields: ["Retry-After": "7", "Location": "https://evil.example"], body: body.encoded())
            scene.api.script([answer, answer])
            let run = try await scene.run(["account-linking", "push"])
            #expect(run.code == 1 && run.output.isEmpty)
            #expect(run.error.contains(advice) && run.error.contains(code), "\(run.error)")
            #expect(!run.error.contains("\u{1B}"))
            #expect(run.error.contains("scopes: too many") == [400, 403].contains(status))
            let json = try await scene.run(["account-linking", "push", "--json"])
            let line = try JSONValue(parsing: Array(json.output.utf8))
            #expect(json.code == 1 && line["ok"]?.bool == false && line["reason"]?.string == code)
            #expect(scene.api.received.count == 2)
            #expect(scene.api.accountLinking(of: "amzn1.ask.skill.RIDES", stage: "live") == nil)
        }
    }

    @Test("a token or a skill that the API does not know is refused by it, not by us")
    func strangers() async throws {
        try await Self.with(smapi: #""other-token""#) { scene in
            let run = try await scene.run(["account-linking", "push"])
            #expect(run.code == 1 && run.error.contains("smapi.tokenRefused"))
        }
        try await Self.with(stage: "development") { scene in
            let run = try await scene.run(["account-linking", "push"])
            #expect(run.code == 1 && run.error.contains("smapi.skillUnknown"))
        }
    }

    @Test("nobody there is said as such")
    func unreachable() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/skillgate.json5"
            try Data(Self.configuration(port: 1).utf8).write(to: URL(filePath: path))
            let run = try await ProgramRun.run(
                ["account-linking", "push", "--config", path], environment: ["SMAPI_TOKEN": "x"])
            #expect(run.code == 1 && run.error.contains("smapi.unreachable"))
        }
    }

    @Test("what is missing for a push is named by its key, and nothing is sent")
    func missing() async throws {
        let other = #", { name: "more", id: "amzn1.ask.skill.MORE", linking: { clientID: "l", clientSecret: "s" } }"#
        try await Self.with(more: other) { scene in
            let several = try await scene.run(["account-linking", "push"])
            #expect(several.code == 2 && several.error.contains("rides, more"))
            let unlinked = try await scene.run(["account-linking", "push", "--skill", "plain"])
            #expect(unlinked.code == 2 && unlinked.error.contains("skills[1].linking: missing"))
            let unknown = try await scene.run(["account-linking", "show", "--skill", "nonsense"])
            #expect(unknown.code == 2 && unknown.error.contains("rides, plain, more"))
            #expect(scene.api.received.isEmpty)
            let one = try await scene.run(["account-linking", "push", "--skill", "more"])
            #expect(one.code == 0 && scene.api.accountLinking(of: "amzn1.ask.skill.MORE", stage: "development") != nil)
        }
        try await Self.with { scene in
            let text = try String(contentsOfFile: scene.path, encoding: .utf8)
            let path = scene.path + "-without"
            let without = text.replacing(#"token: { env: "SMAPI_TOKEN" }"#, with: "")
            try Data(without.utf8).write(to: URL(filePath: path))
            let run = try await scene.run(["account-linking", "push"], path: path)
            #expect(run.code == 2 && run.error.contains("smapi.token: missing"), "\(run.error)")
        }
    }

    @Test("with the company's provider the secret comes from a file of its own")
    func external() async throws {
        let provider = """
            external: { issuer: "https://login.example.com", jwksURL: "https://login.example.com/jwks.json",
                login: { clientID: "p", clientSecret: "s", authorizationURL: "https://login.example.com/a",
                    tokenURL: "https://login.example.com/t" } },
            """
        try await Self.with(provider: provider) { scene in
            let none = try await scene.run(["account-linking", "push"])
            #expect(none.code == 2 && none.error.contains("--client-secret: missing"), "\(none.error)")
            let file = scene.path + ".secret"
            try Data("\(Self.secret)\n".utf8).write(to: URL(filePath: file))
            let run = try await scene.run(["account-linking", "push", "--client-secret", file])
            #expect(run.code == 0, "\(run.error)")
            let stored = scene.api.accountLinking(of: "amzn1.ask.skill.RIDES", stage: "live")
            #expect(stored?["clientSecret"]?.string == Self.secret)
            #expect(stored?["authorizationUrl"]?.string == "https://login.example.com/a")
            #expect(stored?["accessTokenUrl"]?.string == "https://login.example.com/t")
        }
    }

    @Test("manifest show prints the events of each skill, with the address that answers them")
    func manifest() async throws {
        try await Self.with { scene in
            let run = try await scene.run(["manifest", "show", "--skill", "rides"])
            #expect(run.code == 0)
            for part in ["SKILL_DISABLED", "\"http://127.0.0.1:8080/alexa/custom\"", "manifest.apis.custom.endpoint"] {
                #expect(run.output.contains(part), "\(part)")
            }
            let json = try await scene.run(["manifest", "show", "--json"])
            let lines = json.output.split(separator: "\n").map { try? JSONValue(parsing: Array($0.utf8)) }
            #expect(lines.map { $0?["skill"]?.string } == ["rides", "plain"])
            #expect(lines[0]?["manifest"]?["events"]?["subscriptions"]?.array?.count == 5)
        }
    }
}
