import Crypto
import Glibc
import HTTP
import JSON
import OAuth
import Storage
import Testing
import Time

@Suite("The embedded provider, by the program", .timeLimit(.minutes(5))) struct ProviderProgramTests {
    static let uri = "https://layla.amazon.com/api/skill/link/M"

    static func form(_ target: String, _ items: [(String, String)], _ stage: Stage) -> [UInt8] {
        var form = Form()
        for (name, value) in items { form.append(name, value) }
        let pair = Base64.encode(Array("alexa:\(stage.options.secretPrefix)alexa-secret".utf8))
        return RawClient.request(
            target,
            fields: ["Content-Type": "application/x-www-form-urlencoded", "Authorization": "Basic " + pair],
            body: Array(form.encodedText.utf8))
    }

    /// A code in the store, as the page of another process would leave it.
    static func plantCode(_ stage: Stage) async throws -> String {
        let code = SecureRandom.token()
        let now = Stage.now()
        try await stage.openStore().add(
            ProviderGrant(
                id: SecureRandom.token(bytes: 16), subject: "u1001", clientID: "alexa", scopes: ["profile"],
                createdAt: now),
            code: CodeRecord(
                hash: Hex.encode(SHA256.digest(code)), redirectURI: uri, challenge: nil,
                expiresAt: now.adding(seconds: 300)),
            by: .after(.seconds(5), from: .now))
        return code
    }

    static func keys(_ service: RunningService) async throws -> Int {
        let answer = try await service.answer(
            to: Array("GET /oauth/jwks.json HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8))
        return try JSONValue(parsing: answer.body)["keys"]?.array?.count ?? 0
    }

    @Test("OPS-3: tokens that were answered are good after kill -9, and a grant that another process ends is not")
    func killed() async throws {
        var options = Stage.Options()
        options.provider = .embedded
        try await Stage.with(options) { stage in
            var refreshToken = ""
            try await stage.run(isEndedByBody: true) { service in
                let answer = try await service.answer(
                    to: Self.form(
                        "/oauth/token",
                        [
                            ("grant_type", "authorization_code"), ("code", try await Self.plantCode(stage)),
                            ("redirect_uri", Self.uri),
                        ], stage))
                service.program.send(signal: SIGKILL)
                #expect(answer.status == 200)
                refreshToken = try JSONValue(parsing: answer.body)["refresh_token"]?.string ?? ""
            }
            let refresh = Self.form(
                "/oauth/token", [("grant_type", "refresh_token"), ("refresh_token", refreshToken)], stage)
            try await stage.run { service in
                let answer = try await service.answer(to: refresh)
                #expect(answer.status == 200)
                let token = try JSONValue(parsing: answer.body)["access_token"]?.string ?? ""
                let me = Array(
                    ("GET /v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(token)\r\n"
                        + "Connection: close\r\n\r\n").utf8)
                #expect(try await service.answer(to: me).status == 200)
                let store = try stage.openStore()
                let deadline = Deadline.after(.seconds(5), from: .now)
                let ended = try await store.revokeProviderGrants(
                    of: "u1001", client: nil, at: Stage.now(), by: deadline)
                #expect(ended.count == 1)
                let start = ContinuousClock.now
                while try await service.answer(to: me).status == 200 {
                    try #require(ContinuousClock.now - start < .seconds(10), "the revocation is not seen")
                }
                #expect(try await service.answer(to: refresh).status == 400)
            }
        }
    }

    @Test("keys rotate signing: a process that runs publishes the new key by itself")
    func rotation() async throws {
        var options = Stage.Options()
        options.provider = .embedded
        try await Stage.with(options) { stage in
            _ = try await stage.run { service in
                #expect(try await Self.keys(service) == 1)
                let run = try await ProgramRun.run(
                    ["keys", "rotate", "signing", "--config", stage.configurationPath, "--json"])
                #expect(run.code == 0 && run.error.isEmpty)
                #expect(run.output == #"{"ok":true,"published":2}"# + "\n")
                let start = ContinuousClock.now
                while try await Self.keys(service) == 1 {
                    try #require(ContinuousClock.now - start < .seconds(10), "the key is not published")
                }
            }
        }
    }

    @Test(
        "keys rotate names what it rotates",
        arguments: [[], ["nonsense"], ["signing", "signing"], ["encryption", "signing"]] as [[String]])
    func usage(words: [String]) async throws {
        let run = try await ProgramRun.run(["keys", "rotate"] + words + ["--config", "x"])
        #expect(run.code == 2 && run.output.isEmpty)
        #expect(run.error.contains("signing") || run.error.contains(words.first ?? "signing"))
    }
}
