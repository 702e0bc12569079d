import Concurrency
import Crypto
import HTTP
import JSON
import OAuth
import Service
import TestSupport
import Testing
import Time

/// The token cases at the level of the service: what is said, and what the log says.
@Suite("Custom skills: tokens") struct SkillTokenTests {
    static let intents = """
        { requests: {
            Secret: { account: "required", say: { en: "You are {principal.subject}." } },
            Open: { account: "optional", say: { en: "Hello, {principal.subject}." },
                    cases: [{ when: { "principal.subject": null }, say: { en: "Hello, stranger." } }] },
            Greedy: { account: "optional", say: { en: "Hello, {principal.subject}." } },
            Public: { account: "ignored", say: { en: "Hello, world." } },
            Me: { resources: { me: "/me" }, say: { en: "{me.name}" } } } }
        """

    static func asksToLink(_ answer: JSONValue) -> Bool {
        answer.cardType == "LinkAccount" && answer.endsSession == true && answer.speech?.contains("link") == true
    }

    @Test(
        "TOK-1: an unsigned token in any spelling is refused with a LinkAccount card",
        arguments: ["none", "NoNe", "", nil])
    func algorithmNone(name: String?) async throws {
        let harness = try SkillHarness(intents: Self.intents)
        var header: JSONObject = ["kid": "k1", "typ": "at+jwt"]
        if let name { header["alg"] = .string(name) }
        let token = try harness.token(header: .object(header), isSigned: false)
        #expect(Self.asksToLink(try await harness.answer(intent: "Secret", token: token)))
        #expect(try await harness.answer(intent: "Open", token: token).speech == "Hello, stranger.")
    }

    @Test(
        "TOK-2: a key id is only compared, and at most 64 characters of it are logged",
        arguments: [
            "../../../../dev/null", "k1' OR '1'='1", .string(String(repeating: "x", count: 10_000)), "", 7,
        ] as [JSONValue])
    func keyID(id: JSONValue) async throws {
        let harness = try SkillHarness(intents: Self.intents)
        let token = try harness.token(header: ["alg": "ES256", "typ": "at+jwt", "kid": id])
        #expect(Self.asksToLink(try await harness.answer(intent: "Secret", token: token)))
        #expect(Set(harness.http.requests.map(\.url)).isSubset(of: [TestSigner.usualURL, SkillHarness.jwksURL]))
        #expect(!harness.logText.contains(String(repeating: "x", count: 65)))
    }

    @Test("TOK-3: two hundred unknown keys cause one forced fetch, and a good token passes after them")
    func unknownKeys() async throws {
        let harness = try SkillHarness(intents: Self.intents)
        for index in 0..<200 {
            let token = try harness.token(header: ["alg": "ES256", "typ": "at+jwt", "kid": .string("k\(index + 2)")])
            #expect(Self.asksToLink(try await harness.answer(intent: "Secret", token: token)))
        }
        let good = try harness.token()
        #expect(try await harness.answer(intent: "Secret", token: good).speech == "You are u1.")
        #expect(harness.http.requests.filter { $0.url == SkillHarness.jwksURL }.count <= 2)
    }

    @Test("TOK-4: a refetch that fails takes no good key away")
    func failedRefetch() async throws {
        let harness = try SkillHarness(intents: Self.intents)
        let unknown = try harness.token(header: ["alg": "ES256", "typ": "at+jwt", "kid": "k9"])
        #expect(try await harness.answer(intent: "Secret", token: harness.token()).speech == "You are u1.")
        for answer in [HTTPResponse.json("{}", status: 500), .json("{}")] {
            harness.provider.withLock { $0.jwks = { _, _ in answer } }
            harness.clock.advance(by: .seconds(60))
            _ = try await harness.answer(intent: "Secret", token: unknown)
            #expect(try await harness.answer(intent: "Secret", token: harness.token()).speech == "You are u1.")
        }
    }

    @Test(
        "TOK-5: an audience is a text or a list of texts",
        arguments: [
            ("skill-api", true), (["account", "skill-api"], true), ([], false), ("skill-api account", false),
            (["skill-api", 7], false),
        ] as [(JSONValue, Bool)])
    func audience(audience: JSONValue, isGood: Bool) async throws {
        let harness = try SkillHarness(intents: Self.intents)
        let token = try harness.token(
            header: ["alg": "ES256", "typ": "at+jwt", "kid": "k1"],
            claims: [
                "iss": .string(SkillHarness.issuer), "aud": audience, "sub": "u1",
                "exp": .integer(harness.clock.now.seconds + 600),
            ])
        let answer = try await harness.answer(intent: "Secret", token: token)
        #expect(isGood ? answer.speech == "You are u1." : Self.asksToLink(answer))
    }

    @Test(
        "TOK-6: scopes are read from a text or a list; where they are missing, the log says which",
        arguments: [
            (["scope": "read  write"], nil), (["scope": ["read", "write"]], nil), (["scp": "read write"], nil),
            (["scope": ["read", 7]], "token.malformed"), (["scope": nil], "token.lacksScope"),
            ([:], "token.lacksScope"),
        ] as [(JSONObject, String?)])
    func scopes(claims: JSONObject, reason: String?) async throws {
        let harness = try SkillHarness(intents: Self.intents, scopes: ["read", "write"])
        var all: JSONObject = [
            "iss": .string(SkillHarness.issuer), "aud": "skill-api", "sub": "u1",
            "exp": .integer(harness.clock.now.seconds + 600),
        ]
        for (name, value) in claims { all[name] = value }
        let token = try harness.token(header: ["alg": "ES256", "typ": "at+jwt", "kid": "k1"], claims: .object(all))
        let answer = try await harness.answer(intent: "Secret", token: token)
        if let reason {
            #expect(Self.asksToLink(answer))
            #expect(harness.logText.contains(reason))
        } else {
            #expect(answer.speech == "You are u1.")
        }
    }

    @Test("TOK-7: a kept token is judged again for another skill's scopes")
    func keptScopes() async throws {
        let harness = try SkillHarness(
            intents: Self.intents, scopes: ["devices:read"], otherScopes: ["devices:write"], introspects: true)
        let body = #"{"active":true,"sub":"u1","client_id":"alexa","scope":"devices:read"}"#
        harness.provider.withLock { $0.introspection = { _, _ in .json(body) } }
        let request = SkillHarness.intent("Secret", token: "opaque-token")
        #expect(try await harness.answer(request).speech == "You are u1.")
        let other = request.replacing(SkillHarness.skillID, with: SkillHarness.otherSkillID)
        #expect(Self.asksToLink(try await harness.answer(other)))
        #expect(harness.logText.contains("token.lacksScope"))
    }

    @Test("TOK-8: a revoked token without an end is refused after 30 seconds at the latest")
    func revokedToken() async throws {
        let harness = try SkillHarness(intents: Self.intents, introspects: true)
        harness.provider.withLock { $0.introspection = { _, _ in .json(#"{"active":true,"sub":"u1"}"#) } }
        #expect(try await harness.answer(intent: "Secret", token: "opaque").speech == "You are u1.")
        harness.clock.advance(by: .seconds(10))
        harness.provider.withLock { $0.introspection = { _, _ in .json(#"{"active":false}"#) } }
        harness.clock.advance(by: .seconds(25))
        #expect(Self.asksToLink(try await harness.answer(intent: "Secret", token: "opaque")))
    }

    @Test("TOK-8: a skill-disabled event clears what is kept at once, and a second copy of it does nothing")
    func disabledSkill() async throws {
        let harness = try SkillHarness(intents: Self.intents, introspects: true)
        harness.provider.withLock { $0.introspection = { _, _ in .json(#"{"active":true,"sub":"u1"}"#) } }
        #expect(try await harness.answer(intent: "Secret", token: "opaque").speech == "You are u1.")
        let asked = harness.http.requests.count
        let disabled = SkillHarness.envelope(
            #""type":"AlexaSkillEvent.SkillDisabled""#, session: nil, locale: nil, id: "event-1")
        #expect(try await harness.answer(disabled) == .emptyAnswer)
        harness.provider.withLock { $0.introspection = { _, _ in .json(#"{"active":false}"#) } }
        #expect(Self.asksToLink(try await harness.answer(intent: "Secret", token: "opaque")))
        #expect(harness.http.requests.count == asked + 1)

        harness.clock.advance(by: .seconds(20))
        harness.provider.withLock { $0.introspection = { _, _ in .json(#"{"active":true,"sub":"u1"}"#) } }
        #expect(try await harness.answer(intent: "Secret", token: "opaque").speech == "You are u1.")
        #expect(try await harness.answer(disabled) == .emptyAnswer)
        let later = harness.http.requests.count
        #expect(try await harness.answer(intent: "Secret", token: "opaque").speech == "You are u1.")
        #expect(harness.http.requests.count == later)
    }

    @Test("TOK-9: an opaque token is refused by its form where JWTs are expected, and the log tells its length alone")
    func opaqueToken() async throws {
        let token = "0123456789abcdef0123456789abcdef"
        let harness = try SkillHarness(intents: Self.intents)
        #expect(Self.asksToLink(try await harness.answer(intent: "Secret", token: token)))
        #expect(harness.logText.contains("not a JWT (length 32)"))
        #expect(!harness.logText.contains(token))

        let introspecting = try SkillHarness(intents: Self.intents, introspects: true)
        introspecting.provider.withLock { $0.introspection = { _, _ in .json(#"{"active":true,"sub":"u1"}"#) } }
        #expect(try await introspecting.answer(intent: "Secret", token: token).speech == "You are u1.")
    }

    @Test("TOK-9: a token that the resource server refuses leads to linking, and is judged again")
    func tokenRefusedByResourceServer() async throws {
        let harness = try SkillHarness(intents: Self.intents, introspects: true)
        harness.provider.withLock {
            $0.introspection = { _, _ in .json(#"{"active":true,"sub":"u1"}"#) }
            $0.resource = { _, _ in
                .json("{}", status: 401, fields: ["WWW-Authenticate": #"Bearer error="invalid_token""#])
            }
        }
        #expect(Self.asksToLink(try await harness.answer(intent: "Me", token: "opaque")))
        #expect(harness.logText.contains("resource.tokenRefused"))
        let asked = harness.http.requests.count { $0.url == SkillHarness.introspectionURL }
        _ = try await harness.answer(intent: "Me", token: "opaque")
        #expect(harness.http.requests.count { $0.url == SkillHarness.introspectionURL } == asked + 1)
    }

    @Test(
        "TOK-10: an expired token is answered with speech that says so and a LinkAccount card",
        arguments: [("en-US", "expired"), ("de-DE", "abgelaufen"), ("ja-JP", "期限切れ"), ("fr-FR", "expired")])
    func expiredToken(locale: String, word: String) async throws {
        let harness = try SkillHarness(intents: Self.intents)
        let token = try harness.token(lifetimeSeconds: -120)
        let answer = try await harness.answer(intent: "Secret", token: token, locale: locale)
        #expect(answer.speech?.contains(word) == true)
        #expect(answer.cardType == "LinkAccount")
        #expect(answer.endsSession == true)
        #expect(harness.logText.contains("token.expired"))
    }

    @Test("without a token, what needs the account asks to link, what does not goes on")
    func noToken() async throws {
        let harness = try SkillHarness(intents: Self.intents)
        let answer = try await harness.answer(intent: "Secret")
        #expect(Self.asksToLink(answer))
        #expect(answer.speech?.contains("expired") == false)
        #expect(try await harness.answer(intent: "Open").speech == "Hello, stranger.")
        #expect(try await harness.answer(intent: "Public").speech == "Hello, world.")
        #expect(Self.asksToLink(try await harness.answer(intent: "Greedy")))
    }

    @Test("a token that is not good is passed over where the account is optional or ignored")
    func tokenPassedOver() async throws {
        let harness = try SkillHarness(intents: Self.intents)
        let foreign = SigningKey(try PrivateKey.generate(.p256), algorithm: .es256, id: "k1")
        for token in [
            try harness.token(lifetimeSeconds: -120), try harness.token(key: foreign),
            try harness.token(issuer: "https://other.example.com"), try harness.token(client: "google"),
        ] {
            #expect(try await harness.answer(intent: "Open", token: token).speech == "Hello, stranger.")
            #expect(try await harness.answer(intent: "Public", token: token).speech == "Hello, world.")
            #expect(Self.asksToLink(try await harness.answer(intent: "Secret", token: token)))
        }
        #expect(try await harness.answer(intent: "Open", token: harness.token()).speech == "Hello, u1.")
    }

    @Test(
        "where the resource server refuses the token, an optional account counts as not linked",
        arguments: [
            .json("{}", status: 401), .json(#"{"error":"EXPIRED_AUTHORIZATION_CREDENTIAL"}"#, status: 403),
            .json(#"{"error":"INVALID_AUTHORIZATION_CREDENTIAL"}"#, status: 403),
        ] as [HTTPResponse])
    func optionalAccountRefused(refusal: HTTPResponse) async throws {
        let intents = """
            { requests: {
                Mine: { account: "optional", resources: { me: "/me" }, say: { en: "Hello, {me.name}." },
                        cases: [{ when: { "principal.subject": null }, say: { en: "Hello, stranger." } }] },
                Needy: { account: "optional", resources: { me: "/me" }, say: { en: "Hello, {me.name}." } },
                Strict: { account: "required", resources: { me: "/me" }, say: { en: "Hello, {me.name}." },
                        cases: [{ when: { "principal.subject": null }, say: { en: "Hello, stranger." } }] } } }
            """
        let harness = try SkillHarness(intents: intents, provider: .init(resource: { _, _ in refusal }))
        let token = try harness.token()
        let answer = try await harness.answer(intent: "Mine", token: token)
        #expect(answer.speech == "Hello, stranger.")
        #expect(answer.cardType == nil)
        #expect(Self.asksToLink(try await harness.answer(intent: "Needy", token: token)))
        #expect(Self.asksToLink(try await harness.answer(intent: "Strict", token: token)))
        // Any other failure says nothing of the account.
        harness.provider.withLock { $0.resource = { _, _ in .json("{}", status: 403) } }
        #expect(try await harness.answer(intent: "Mine", token: token).speech?.hasPrefix("Sorry") == true)
    }

    @Test(
        "a provider out of reach is apologized for, and never asked to link against", arguments: ["Secret", "Greedy"])
    func providerUnreachable(intent: String) async throws {
        let harness = try SkillHarness(intents: Self.intents)
        harness.provider.withLock { $0.jwks = { _, _ throws(HTTPClientError) in throw .timedOut } }
        let answer = try await harness.answer(intent: intent, token: harness.token())
        #expect(answer.cardType == nil)
        #expect(answer.speech?.hasPrefix("Sorry") == true)
        #expect(harness.logText.contains("token.providerUnreachable"))
        #expect(try await harness.answer(intent: "Open", token: harness.token()).speech == "Hello, stranger.")
    }

    @Test("a token that lacks a scope leads to linking, in words of its own")
    func lacksScope() async throws {
        let harness = try SkillHarness(intents: Self.intents, scopes: ["rides"])
        let answer = try await harness.answer(intent: "Secret", token: harness.token())
        #expect(answer.cardType == "LinkAccount")
        #expect(answer.speech?.contains("does not allow") == true)
    }

    @Test("a kept token costs no call")
    func keptToken() async throws {
        let harness = try SkillHarness(intents: Self.intents)
        let token = try harness.token()
        _ = try await harness.answer(intent: "Secret", token: token)
        let calls = harness.http.requests.count
        for _ in 0..<20 { _ = try await harness.answer(intent: "Secret", token: token) }
        #expect(harness.http.requests.count == calls)
    }
}
