import Concurrency
import Crypto
import HTTP
import JSON
import OAuth
import Testing
import Time

@Suite("Access tokens by keys") struct TokenValidatorTests {
    @Test("a good token says whom it stands for")
    func good() async throws {
        let provider = try Provider()
        let token = try provider.token(["grant_id": "g1", "extra": ["a": 1]])
        let principal = try await provider.validator().principal(
            for: token, client: "alexa", scopes: ["read", "write"], by: soon)
        #expect(principal.subject == "u1")
        #expect(principal.scopes == ["read", "write"])
        #expect(principal.clientID == "alexa")
        #expect(principal.expiresAt == t0.adding(seconds: 3600))
        #expect(principal.grantID == "g1")
        #expect(principal.issuer == issuerName)
        #expect(principal.token == token)
        #expect(principal.claims["extra"] == ["a": 1])
    }

    @Test("a token is nowhere to be seen in what is printed of a principal or a rejection")
    func redacted() async throws {
        let provider = try Provider()
        let token = try provider.token(["email": "u1@example.com"])
        let principal = try await provider.validator().principal(for: token, client: nil, scopes: [], by: soon)
        var dumped = ""
        dump(principal, to: &dumped)
        for text in ["\(principal)", String(reflecting: principal), dumped] {
            #expect(!text.contains(token.exposed.prefix(12)))
            #expect(!text.contains("u1@example.com"))
        }
    }

    @Test("a missing token is missing", arguments: [nil, Secret("")])
    func missing(token: Secret?) async throws {
        let provider = try Provider()
        #expect(await verdict(provider.validator(), token) == .missing)
        #expect(provider.server.count == 0)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let changes: [String: JSONValue?]
        let rejection: TokenRejection?
        init(_ changes: [String: JSONValue?], _ rejection: TokenRejection?) {
            self.changes = changes
            self.rejection = rejection
        }
        var testDescription: String { "\(changes.keys.sorted()) \(changes.values.map { String(describing: $0) })" }
    }

    @Test(
        "J4, J10: each claim is judged",
        arguments: [
            Case([:], nil), Case(["iat": nil], nil), Case(["scope": nil], nil), Case(["client_id": nil], nil),
            Case(["iss": nil], .wrongIssuer), Case(["iss": .null], .wrongIssuer),
            Case(["iss": "https://id.example.com/"], .wrongIssuer),
            Case(["iss": "HTTPS://id.example.com"], .wrongIssuer),
            Case(["iss": ["https://id.example.com"]], .malformed("iss is not a text")),
            Case(["aud": nil], .wrongAudience), Case(["aud": "Skill-api"], .wrongAudience),
            Case(["aud": ""], .wrongAudience),
            Case(["aud": 7], .malformed("aud is neither a text nor a list")), Case(["aud": .null], .wrongAudience),
            Case(["sub": nil], .malformed("no sub")), Case(["sub": ""], .malformed("no sub")),
            Case(["sub": 7], .malformed("sub is not a text")),
            Case(["exp": nil], .malformed("no exp")), Case(["exp": "1736938800"], .malformed("exp is not a number")),
            Case(["exp": .bool(true)], .malformed("exp is not a number")), Case(["exp": 1_736_938_800.5], nil),
            Case(["exp": 1e18], nil),
            Case(["exp": .integer(.max)], nil), Case(["exp": -1], .expired), Case(["exp": -1e300], .expired),
            Case(["client_id": 7], .malformed("client_id is not a text")),
            Case(["azp": 7, "client_id": nil], .malformed("azp is not a text")),
            Case(["nbf": "now"], .malformed("nbf is not a number")),
            Case(["iat": ["a"]], .malformed("iat is not a number")),
            Case(["scope": 7], .malformed("scope is neither a text nor a list")),
        ])
    func claims(given: Case) async throws {
        let provider = try Provider()
        #expect(await verdict(provider.validator(), try provider.token(given.changes)) == given.rejection)
    }

    @Test("clocks may differ by 60 seconds and no more")
    func leeway() async throws {
        let provider = try Provider()
        let seconds = t0.seconds
        for (name, value, rejection) in [
            ("exp", seconds, nil), ("exp", seconds - 59, nil), ("exp", seconds - 60, .expired),
            ("exp", seconds - 61, .expired),
            ("nbf", seconds + 60, nil), ("nbf", seconds + 61, .notYetValid), ("nbf", seconds - 999, nil),
            ("iat", seconds + 60, nil), ("iat", seconds + 61, .notYetValid), ("iat", seconds + 9999, .notYetValid),
        ] as [(String, Int64, TokenRejection?)] {
            let token = try provider.token([name: .integer(value)])
            #expect(await verdict(provider.validator(), token) == rejection, "\(name) \(value - seconds)")
        }
    }

    @Test("what is expired and forged is forged; what is expired and somebody else's is somebody else's")
    func order() async throws {
        let provider = try Provider()
        let past = JSONValue.integer(t0.seconds - 3600)
        let validator = provider.validator()
        #expect(await verdict(validator, try provider.token(["exp": past])) == .expired)
        let forged = try compact(
            header: #"{"alg":"ES256","kid":"k1"}"#,
            payload: String(decoding: provider.claims(["exp": past]).encoded(), as: UTF8.self),
            key: Keys.otherP256.get(), .es256)
        #expect(await verdict(validator, Secret(forged)) == .badSignature)
        #expect(await verdict(validator, try provider.token(["exp": past, "iss": "x"])) == .wrongIssuer)
        #expect(await verdict(validator, try provider.token(["exp": past, "aud": "x"])) == .wrongAudience)
    }

    @Test(
        "J9: typ is that of an access token, of a JWT, or absent",
        arguments: [
            (nil, true, false), ("JWT", true, false), ("jwt", true, false), ("at+jwt", true, true),
            ("AT+JWT", true, true),
            ("application/at+jwt", true, true), ("id_token", false, false), ("dpop+jwt", false, false),
            ("logout+jwt", false, false), ("application/jwt", false, false), ("", false, false),
            ("at+jwt ", false, false),
        ] as [(String?, Bool, Bool)])
    func type(type: String?, isTaken: Bool, isTakenStrictly: Bool) async throws {
        let provider = try Provider()
        var header: JSONObject = ["alg": "ES256", "kid": "k1"]
        header["typ"] = type.map { .string($0) }
        let token = try provider.token(header: .object(header))
        let refusal = TokenRejection.malformed("typ is not that of an access token")
        #expect(await verdict(provider.validator(), token) == (isTaken ? nil : refusal))
        var strict = provider.validation
        strict.strictType = true
        #expect(await verdict(provider.validator(strict), token) == (isTakenStrictly ? nil : refusal))
    }

    @Test(
        "a claim that occurs twice, and claims that are none, are refused",
        arguments: [
            #"{"iss":"https://id.example.com","sub":"u1","sub":"u2"}"#, "[]", "null", "\"u1\"", "7", "{", "", "{}x",
        ])
    func claimsForm(payload: String) async throws {
        let provider = try Provider()
        let text = try compact(header: #"{"alg":"ES256","kid":"k1"}"#, payload: payload, key: provider.key, .es256)
        guard case .malformed = await verdict(provider.validator(), Secret(text)) else {
            Issue.record("\(payload) was taken")
            return
        }
    }

    @Test("which client may use a token is judged on every call, by the rule of the route")
    func clients() async throws {
        let provider = try Provider()
        let validator = provider.validator()
        let (named, nameless) = (try provider.token(), try provider.token(["client_id": nil]))
        let authorized = try provider.token(["client_id": nil, "azp": "app"])
        for (token, rule, rejection) in [
            (named, .any, nil), (named, .issuedTo("alexa"), nil), (named, .issuedTo("google"), .wrongClient),
            (named, .issuedTo("Alexa"), .wrongClient), (named, .oneOf(["alexa", "app"]), nil),
            (named, .oneOf(["app"]), .wrongClient),
            (named, .oneOf([]), .wrongClient), (named, .noneOf(["alexa"]), .wrongClient),
            (named, .noneOf(["google"]), nil),
            (nameless, .issuedTo("google"), nil), (nameless, .oneOf(["app"]), .wrongClient),
            (nameless, .noneOf(["alexa"]), nil),
            (authorized, .oneOf(["app"]), nil), (authorized, .issuedTo("alexa"), .wrongClient),
        ] as [(Secret, ClientRule, TokenRejection?)] {
            #expect(await verdict(validator, token, clients: rule) == rejection, "\(rule)")
        }
    }

    @Test("every scope that is asked for has to be there")
    func scopes() async throws {
        let provider = try Provider()
        let (validator, token) = (provider.validator(), try provider.token())
        for (scopes, rejection) in [
            ([], nil), (["read"], nil), (["read", "write"], nil), (["admin"], .lacksScope("admin")),
            (["read", "delete"], .lacksScope("delete")), (["READ"], .lacksScope("READ")),
        ] as [(Set<String>, TokenRejection?)] {
            #expect(await verdict(validator, token, scopes: scopes) == rejection)
        }
    }

    @Test("a revoked grant ends its tokens, kept ones too, and no others")
    func revokedGrants() async throws {
        let provider = try Provider()
        let revoked = RevokedGrants()
        let validator = provider.validator(revoked: revoked)
        let (token, other) = (try provider.token(["grant_id": "g1"]), try provider.token(["grant_id": "g2"]))
        #expect(await verdict(validator, token) == nil)
        revoked.revoke("g1", until: t0.adding(seconds: 3600), now: t0)
        #expect(await verdict(validator, token) == .revoked)
        #expect(await verdict(validator, other) == nil)
        #expect(await verdict(validator, try provider.token()) == nil)
    }

    @Test("the ids of revoked grants are forgotten once their tokens have ended, and not before")
    func revokedGrantsEnd() {
        let revoked = RevokedGrants()
        revoked.revoke("long", until: t0.adding(seconds: 9999), now: t0)
        revoked.revoke("long", until: t0.adding(seconds: 1), now: t0)
        for number in 0..<1100 { revoked.revoke("g\(number)", until: t0.adding(seconds: 10), now: t0) }
        #expect(revoked.contains("g0"))
        for number in 1100..<4000 {
            revoked.revoke("g\(number)", until: t0.adding(seconds: 90), now: t0.adding(seconds: 20))
        }
        #expect(!revoked.contains("g0"))
        #expect(revoked.contains("g3999"))
        #expect(revoked.contains("long"))
    }

    @Test("a kept token is judged without waiting, and so is a new one once the keys are at hand")
    func withoutWaiting() async throws {
        let provider = try Provider()
        let validator = provider.validator()
        let (token, other) = (try provider.token(), try provider.token(["sub": "u2"]))
        #expect(try validator.principalWithoutWaiting(for: token, clients: .any, scopes: []) == nil)
        #expect(await verdict(validator, token) == nil)
        #expect(try validator.principalWithoutWaiting(for: token, clients: .any, scopes: [])?.subject == "u1")
        #expect(try validator.principalWithoutWaiting(for: other, clients: .any, scopes: [])?.subject == "u2")
        #expect(throws: TokenRejection.lacksScope("x")) {
            try validator.principalWithoutWaiting(for: token, clients: .any, scopes: ["x"])
        }
        #expect(provider.server.count == 1)
    }

    @Test("a kept token is not believed past its end")
    func keptEnd() async throws {
        let provider = try Provider()
        let (validator, token) = (provider.validator(), try provider.token())
        #expect(await verdict(validator, token) == nil)
        provider.clock.advance(3659)
        #expect(await verdict(validator, token) == nil)
        provider.clock.advance(1)
        #expect(await verdict(validator, token) == .expired)
        #expect(await verdict(validator, token) == .expired)
    }

    @Test("a JWT without an end, where that is allowed, is believed for 30 seconds at a time")
    func endless() async throws {
        let provider = try Provider()
        var validation = provider.validation
        validation.requiresExpiry = false
        let validator = provider.validator(validation)
        let token = try provider.token(["exp": nil])
        #expect(await verdict(validator, token) == nil)
        let other = JSONWebKeySet([JSONWebKey(try Keys.otherP256.get().publicKey, id: "k1")])
        provider.server.play { _ in answer(other.json) }
        provider.clock.advance(29)
        #expect(await verdict(validator, token) == nil)
        provider.clock.advance(300)
        #expect(await verdict(validator, token) == .badSignature)
    }

    @Test("only so many tokens are kept, and the others are judged again")
    func bounded() async throws {
        let provider = try Provider()
        var validation = provider.validation
        validation.keptTokenLimit = 2
        let validator = provider.validator(validation)
        let tokens = try (0..<3).map { try provider.token(["sub": .string("u\($0)")]) }
        for token in tokens { #expect(await verdict(validator, token) == nil) }
        // With other keys only what is kept stays good.
        let other = JSONWebKeySet([JSONWebKey(try Keys.otherP256.get().publicKey, id: "k1")])
        provider.server.play { _ in answer(other.json, ["Cache-Control": "max-age=0"]) }
        provider.clock.advance(400)
        #expect(await verdict(validator, tokens[0]) == .badSignature)
        #expect(await verdict(validator, tokens[1]) == nil)
        #expect(await verdict(validator, tokens[2]) == nil)
    }

    @Test("every rejection has a code of its own")
    func codes() {
        let all: [TokenRejection] = [
            .missing, .malformed("x"), .algorithm, .badSignature, .unknownKey, .wrongIssuer, .wrongAudience,
            .wrongClient,
            .notYetValid, .expired, .revoked, .lacksScope("s"), .providerUnreachable,
        ]
        #expect(Set(all.map(\.reasonCode)).count == all.count)
        #expect(all.allSatisfy { $0.reasonCode.hasPrefix("token.") })
        #expect(all.compactMap(\.detail) == ["x", "scope s"])
    }
}
