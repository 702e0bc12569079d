import Crypto
import FoundationEssentials
import JSON
import OAuth
import Testing
import Time

@Suite("skillgate token check", .timeLimit(.minutes(5))) struct TokenCheckCommandTests {
    static let issuer = "https://login.example.test"
    static let now = UnixTime(seconds: 1_900_000_000)

    /// A key, its set in a file, and tokens of it.
    struct Issuer {
        let key: SigningKey
        let path: String

        init(folder: String) throws {
            key = SigningKey(try PrivateKey.generate(.p256), algorithm: .es256)
            path = folder + "/keys.json"
            try Data(JSONWebKeySet([key.publicKey]).json.encoded()).write(to: URL(filePath: path))
        }

        func token(by other: SigningKey? = nil, lifetimeSeconds: Int64 = 600) throws -> String {
            let claims = AccessTokenMinter.Claims(subject: "u1001", clientID: "alexa", scopes: ["profile"])
            return try AccessTokenMinter(issuer: issuer, audience: issuer, key: other ?? key)
                .token(claims, lifetimeSeconds: lifetimeSeconds, now: now).exposed
        }
    }

    @Test("a token is valid or has its reason; the claims are shown and the token is not")
    func verdicts() async throws {
        try await withTemporaryFolder { folder in
            let issuer = try Issuer(folder: folder)
            let good = try issuer.token()
            let other = SigningKey(try PrivateKey.generate(.p256), algorithm: .es256, id: issuer.key.id)
            let cases: [(String, [String], String?)] = [
                (good, [], nil), ("\n \(good)\r\n", [], nil), (good, ["--audience", Self.issuer], nil),
                (good, ["--at", "2040-01-01T00:00:00Z"], "token.expired"),
                (good, ["--at", "2020-01-01T00:00:00Z"], "token.notYetValid"),
                (try issuer.token(lifetimeSeconds: -600), [], "token.expired"),
                (good, ["--issuer", "https://other.example.test"], "token.wrongIssuer"),
                (good, ["--audience", "other"], "token.wrongAudience"),
                (try issuer.token(by: other), [], "token.badSignature"), ("", [], "token.missing"),
                ("garbage", [], "token.malformed"), (good + ".x", [], "token.malformed"),
                (String(repeating: "a", count: 100_000), [], "token.malformed"),
            ]
            for (input, options, reason) in cases {
                let words = ["token", "check", "--jwks", issuer.path, "--json"]
                let at = options.contains("--at") ? [] : ["--at", Self.now.iso8601()]
                let run = try await ProgramRun.run(words + at + options, input: input)
                let verdict = try JSONValue(parsing: Array(run.output.utf8))
                #expect(verdict["valid"]?.bool == (reason == nil), "\(options)")
                #expect(verdict["reason"]?.string == reason, "\(options)")
                #expect(run.code == (reason == nil ? 0 : 1), "\(options)")
                if reason == nil { #expect(verdict["claims"]?["sub"] == "u1001") }
                let plain = try await ProgramRun.run(words.dropLast() + at + options, input: input)
                #expect(plain.code == run.code)
                #expect(plain.output.hasPrefix(reason.map { "✗ \($0)" } ?? "✓ valid"), "\(plain.output)")
                for output in [run.output, plain.output, plain.error] {
                    #expect(!output.contains(good.split(separator: ".")[2]))
                }
            }
        }
    }

    @Test("--jsonl judges line by line: each has a verdict, and only what cannot be read is a failure")
    func lines() async throws {
        try await withTemporaryFolder { folder in
            let issuer = try Issuer(folder: folder)
            let good = try issuer.token()
            let key = issuer.key.publicKey.json
            let line = { (id: String, key: JSONValue, token: String) in
                let value: JSONValue = ["id": .string(id), "jwk": key, "jws": .string(token)]
                return String(decoding: value.encoded(), as: UTF8.self)
            }
            let readable = [
                line("a", key, good), line("b", ["keys": [key]], good), "", line("c", key, good.dropLast(4) + "AAAA"),
                line("d", key, "no token"),
            ]
            let run = try await ProgramRun.run(
                ["token", "check", "--jsonl"], input: readable.joined(separator: "\n") + "\n")
            #expect(run.code == 0)
            let verdicts = try ReplayCommandTests.lines(run)
            #expect(verdicts.map { $0["id"]?.string } == ["a", "b", "c", "d"])
            #expect(verdicts.map { $0["accepted"]?.bool } == [true, true, false, false])
            #expect(verdicts.map { $0["reason"]?.string } == [nil, nil, "token.badSignature", "token.malformed"])

            let unreadable = ["no JSON", "{}", "[1]", line("k", "no key", good)]
            let mixed = try await ProgramRun.run(
                ["token", "check", "--jsonl"],
                input: ([readable[0]] + unreadable + [readable[1]]).joined(separator: "\n"))
            #expect(mixed.code == 1)
            let all = try ReplayCommandTests.lines(mixed)
            #expect(all.map { $0["accepted"]?.bool } == [true, false, false, false, false, true])
            for verdict in all[1...4] { #expect(verdict["reason"]?.string?.hasPrefix("line.") == true, "\(verdict)") }
        }
    }

    @Test("with --config the provider's own keys decide, and wrong usage exits with 2")
    func usage() async throws {
        try await withTemporaryFolder { folder in
            let issuer = try Issuer(folder: folder)
            let config = try await ReplayCommandTests.development(in: folder)
            for options in [
                [], ["--jwks", issuer.path, "--config", config], ["--jwks", folder + "/nowhere.json"],
                ["--config", config], ["--jwks", issuer.path, "--at", "today"], ["--jsonl", "--jwks", issuer.path],
            ] {
                let run = try await ProgramRun.run(["token", "check"] + options, input: issuer.token())
                #expect(run.code == 2 && run.output.isEmpty && !run.error.isEmpty, "\(options)")
            }
            #expect(try await ProgramRun.run(["migrate", "--config", config]).code == 0)
            let run = try await ProgramRun.run(["token", "check", "--config", config, "--json"], input: issuer.token())
            #expect(run.code == 1)
            #expect(try JSONValue(parsing: Array(run.output.utf8))["reason"]?.string?.hasPrefix("token.") == true)
        }
    }
}
