import Alexa
import Crypto
import FoundationEssentials
import Glibc
import HTTP
import JSON
import OAuth
import Simulator
import Storage
import Testing
import Time

@Suite("keys rotate encryption, by the program", .timeLimit(.minutes(5))) struct KeysRotateTests {
    static let (old, new) = (SealingKeys.newLine().exposed, SealingKeys.newLine().exposed)

    static func id(_ line: String) throws -> String {
        try SealingKeys(text: Secret(line), origin: "test").ids[0]
    }

    /// What the operator puts into the key file.
    static func enter(_ lines: String..., in stage: Stage) throws {
        let path = stage.databasePath + ".key"
        try Data(lines.joined().utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    static func rotate(_ stage: Stage, json: Bool = true) async throws -> ProgramRun.Outcome {
        try await ProgramRun.run(
            ["keys", "rotate", "encryption", "--config", stage.configurationPath] + (json ? ["--json"] : []))
    }

    static func summary(_ run: ProgramRun.Outcome) throws -> JSONValue {
        try JSONValue(parsing: Array(#require(run.output.split(separator: "\n").last).utf8))
    }

    /// Why the service does not start.
    static func refusal(_ stage: Stage) async throws -> String {
        do {
            try await stage.run { _ in Issue.record("the service starts") }
            return ""
        } catch let fault as Stage.NotStarted { return fault.error }
    }

    /// A code of a public client, as the page of another process would leave it.
    private func plantCode(_ stage: Stage, verifier: String) async throws -> String {
        let code = SecureRandom.token()
        try await stage.openStore().add(
            ProviderGrant(
                id: SecureRandom.token(bytes: 16), subject: "u1001", clientID: "phone", scopes: ["profile"],
                createdAt: Stage.now()),
            code: CodeRecord(
                hash: Hex.encode(SHA256.digest(code)), redirectURI: "com.example.app:/back",
                challenge: Base64URL.encode(SHA256.digest(verifier)), expiresAt: Stage.now().adding(seconds: 300)),
            by: .after(.seconds(5), from: .now))
        return code
    }

    private func tokens(_ items: [(String, String)], _ service: RunningService, _ id: String) async throws -> JSONValue
    {
        var request = ProviderProgramTests.form("/oauth/token", items, service.stage)
        if id != "alexa" {
            var form = Form()
            for (name, value) in items + [("client_id", id)] { form.append(name, value) }
            request = RawClient.request(
                "/oauth/token", fields: ["Content-Type": "application/x-www-form-urlencoded"],
                body: Array(form.encodedText.utf8))
        }
        let answer = try await service.answer(to: request)
        #expect(answer.status == 200, "\(answer.text)")
        return try JSONValue(parsing: answer.body)
    }

    private func keyIDs(_ service: RunningService) async throws -> [String] {
        let answer = try await service.answer(
            to: Array("GET /oauth/jwks.json HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8))
        return try JSONValue(parsing: answer.body)["keys"]?.array?.compactMap { $0["kid"]?.string } ?? []
    }

    @Test("what was used under the old key works under the new one alone; the service runs on meanwhile")
    func whole() async throws {
        var options = Stage.Options()
        options.provider = .embedded
        options.clients = """
            { id: "phone", authentication: ["none"], redirectURIs: ["com.example.app:/back"], scopes: ["profile"] },
            """
        try await Stage.with(options) { stage in
            let (oldID, newID) = (try Self.id(Self.old), try Self.id(Self.new))
            try Self.enter(Self.old, in: stage)
            stage.hosts.always(.events(.northAmerica), .silence)
            let verifier = String(repeating: "v", count: 43)
            var (alexa, phone, keys) = ("", "", [String]())
            try await stage.run { service in
                let body = try await stage.body(
                    "smart-home/accept-grant", token: stage.embeddedToken(of: service),
                    grantCode: stage.hosts.issueGrantCode())
                let granted = try await service.answer(to: stage.forwarded(body))
                #expect(granted.text.contains("AcceptGrant.Response"))
                let posted = try await service.answer(to: stage.posted(EventsProgramTests.event("lamp", "c1")))
                #expect(posted.status == 202)
                let code = try await ProviderProgramTests.plantCode(stage)
                let first = try await tokens(
                    [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", ProviderProgramTests.uri)],
                    service, "alexa")
                alexa = try #require(first["refresh_token"]?.string)
                let other = try await tokens(
                    [
                        ("grant_type", "authorization_code"), ("code", try await plantCode(stage, verifier: verifier)),
                        ("redirect_uri", "com.example.app:/back"), ("code_verifier", verifier),
                    ], service, "phone")
                phone = try #require(other["refresh_token"]?.string)
                let rotated = try await tokens(
                    [("grant_type", "refresh_token"), ("refresh_token", phone)], service, "phone")
                #expect(rotated["refresh_token"]?.string != phone)
                phone = try #require(rotated["refresh_token"]?.string)
                keys = try await keyIDs(service)
            }
            let alone = try await Self.rotate(stage, json: false)
            #expect(alone.code == 0)
            #expect(alone.output.hasPrefix("nothing to do: ") && alone.output.contains("has no other"))

            try Self.enter(Self.new, Self.old, in: stage)
            try await stage.run { service in
                let run = try await Self.rotate(stage)
                #expect(run.code == 0 && run.error.isEmpty)
                let done = try Self.summary(run)
                // Two tokens and an event of Amazon's grant, the signing key, the answer of the replaced token, cookies.
                #expect(try #require(done["records"]?.integer) >= 6)
                #expect(done["key"]?.string == newID)
                #expect(done["retired"] == [.string(oldID)])
                _ = try await tokens([("grant_type", "refresh_token"), ("refresh_token", alexa)], service, "alexa")
                let again = try await Self.rotate(stage, json: false)
                #expect(again.output.contains("the key \(oldID) opens nothing any more"))
            }

            try Self.enter(Self.old, in: stage)
            let refusal = try await Self.refusal(stage)
            #expect(refusal.contains("the key with the id \(newID)"), "\(refusal)")
            let command = try await Self.rotate(stage)
            #expect(command.code == 1 && command.output.contains(newID))

            try Self.enter(Self.new, in: stage)
            stage.hosts.always(.events(.northAmerica), nil)
            try await stage.run { service in
                #expect(try await keyIDs(service) == keys)
                _ = try await tokens([("grant_type", "refresh_token"), ("refresh_token", alexa)], service, "alexa")
                _ = try await tokens([("grant_type", "refresh_token"), ("refresh_token", phone)], service, "phone")
                try await until { EventsProgramTests.taken(stage) == ["lamp": ["c1"]] }
            }
        }
    }

    @Test("killed in the middle the command is called again; until then the old key is needed")
    func killed() async throws {
        try await Stage.with { stage in
            try Self.enter(Self.old, in: stage)
            let store = try stage.openStore()
            let deadline = Deadline.after(.seconds(240), from: .now)
            func key(_ number: Int) -> GrantKey {
                GrantKey(source: .events, subject: "u\(number)", skill: "demo", region: .europe)
            }
            func credentials(_ number: Int) -> AmazonCredentials {
                AmazonCredentials(
                    accessToken: Secret("a\(number)"), refreshToken: Secret("r\(number)"), expiresAt: Stage.now())
            }
            for number in 0..<1000 {
                try await store.put(credentials(number), for: key(number), sequence: 1, by: deadline)
            }
            try Self.enter(Self.new, Self.old, in: stage)
            let run = try ProgramRun(["keys", "rotate", "encryption", "--config", stage.configurationPath, "--json"])
            let line = await run.line()
            run.send(signal: SIGKILL)
            #expect(line == #"{"records":200}"#)
            let outcome = await run.end()
            #expect(outcome.code == -SIGKILL && !outcome.output.contains("ok"))

            try Self.enter(Self.new, in: stage)
            #expect(try await Self.refusal(stage).contains("the key with the id \(try Self.id(Self.old))"))

            try Self.enter(Self.new, Self.old, in: stage)
            let done = try Self.summary(try await Self.rotate(stage))
            let rest = try #require(done["records"]?.integer)
            #expect(done["ok"] == true && (1...1800).contains(rest))
            try Self.enter(Self.new, in: stage)
            let rotated = try stage.openStore()
            for number in 0..<1000 {
                let grant = try await rotated.grant(key(number), by: deadline)
                #expect(grant?.credentials.refreshToken == Secret("r\(number)"))
            }
        }
    }
}
