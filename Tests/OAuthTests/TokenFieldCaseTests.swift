import Concurrency
import Crypto
import HTTP
import JSON
import OAuth
import Testing
import Time

/// Faults that others reported in public, as far as the judging of tokens reaches.
@Suite("Field cases of access tokens") struct TokenFieldCaseTests {
    @Test(
        "TOK-1: no spelling of none is an algorithm",
        arguments: [
            #"{"alg":"none","kid":"k1"}"#, #"{"alg":"NoNe","kid":"k1"}"#, #"{"alg":"","kid":"k1"}"#, #"{"kid":"k1"}"#,
            #"{"alg":"none"}"#, #"{"alg":"NONE","typ":"at+jwt"}"#, #"{"alg":null,"kid":"k1"}"#,
            #"{"alg":["ES256"],"kid":"k1"}"#,
        ])
    func none(header: String) async throws {
        let provider = try Provider()
        let claims = Base64URL.encode(provider.claims().encoded())
        let validator = provider.validator()
        #expect(await verdict(validator, try provider.token()) == nil)
        #expect(await verdict(validator, Secret("\(Base64URL.encode(Array(header.utf8))).\(claims).")) == .algorithm)
        #expect(provider.server.count == 1)
    }

    @Test(
        "TOK-2: a key id is compared and nothing else",
        arguments: [
            #""../../../../dev/null""#, #""k1' OR '1'='1""#, #""\#(String(repeating: "k", count: 10_000))""#, #""""#,
            "7",
            #""https://evil.example/k1""#, "null", #"["k1"]"#, #""k1 ""#, #""K1""#,
        ])
    func keyID(kid: String) async throws {
        let provider = try Provider()
        let validator = provider.validator()
        #expect(await verdict(validator, try provider.token()) == nil)
        let claims = String(decoding: provider.claims().encoded(), as: UTF8.self)
        let input = [#"{"alg":"HS256","kid":\#(kid)}"#, claims].map { Base64URL.encode(Array($0.utf8)) }.joined(
            separator: ".")
        let code = HMACSHA256.code(Array(input.utf8), key: [])
        #expect(await verdict(validator, Secret(input + "." + Base64URL.encode(code))) == .unknownKey)
        // An algorithm that we never take is not worth a fetch.
        #expect(provider.server.count == 1)
        let signed = try compact(header: #"{"alg":"ES256","kid":\#(kid)}"#, payload: claims, key: provider.key, .es256)
        #expect(await verdict(validator, Secret(signed)) == .unknownKey)
        #expect(provider.server.asked.allSatisfy { $0.url == keySetURL && $0.body == nil })
        for case .unknownKey(let id) in provider.events.withLock({ $0 }) {
            #expect(id.count <= 66)
            #expect(!id.contains("\n"))
        }
    }

    @Test("TOK-3: 200 unknown key ids cause one fetch, and a good token is still good")
    func unknownKeys() async throws {
        let provider = try Provider()
        let validator = provider.validator()
        #expect(await verdict(validator, try provider.token()) == nil)
        for number in 0..<200 {
            let token = try provider.token(header: ["alg": "ES256", "kid": .string("random-\(number)")])
            #expect(await verdict(validator, token) == .unknownKey)
            provider.clock.now = t0.adding(milliseconds: Int64(number) * 50)
        }
        #expect(provider.server.count == 2)
        #expect(await verdict(validator, try provider.token(["sub": "u2"])) == nil)
        provider.clock.now = t0.adding(seconds: 29)
        #expect(await verdict(validator, try provider.token(header: ["alg": "ES256", "kid": "x"])) == .unknownKey)
        #expect(provider.server.count == 2)
        provider.clock.now = t0.adding(seconds: 31)
        #expect(await verdict(validator, try provider.token(header: ["alg": "ES256", "kid": "x"])) == .unknownKey)
        #expect(provider.server.count == 3)
    }

    @Test("TOK-3: a cold start with unknown key ids fetches once, and the first new key is fetched at once")
    func newKey() async throws {
        let provider = try Provider()
        let validator = provider.validator()
        let new = try Keys.otherP256.get()
        let token = try compact(
            header: #"{"alg":"ES256","kid":"k2"}"#,
            payload: String(decoding: provider.claims().encoded(), as: UTF8.self), key: new, .es256)
        #expect(await verdict(validator, Secret(token)) == .unknownKey)
        #expect(provider.server.count == 1)
        let both = JSONWebKeySet(provider.keySet.keys + [JSONWebKey(new.publicKey, id: "k2")])
        provider.server.play { _ in answer(both.json) }
        #expect(await verdict(validator, Secret(token)) == nil)
        #expect(provider.server.count == 2)
    }

    @Test(
        "TOK-4: a failed or empty refetch keeps the keys",
        arguments: [
            answer(["error": "x"], status: 500), answer([:]), answer(["keys": []]),
            HTTPResponse(status: 200, body: Array("<html>".utf8)),
            answer(["keys": [["kty": "oct", "kid": "k1", "k": "AAAA"]]]), HTTPResponse(status: 304),
            HTTPResponse(status: 302),
        ])
    func failedRefetch(response: HTTPResponse) async throws {
        let provider = try Provider()
        let validator = provider.validator()
        #expect(await verdict(validator, try provider.token()) == nil)
        provider.server.play { _ in response }
        let unknown = try provider.token(header: ["alg": "ES256", "kid": "x"])
        // The key may be one that the provider has just made: nothing is known against the token.
        #expect(await verdict(validator, unknown) == .providerUnreachable)
        #expect(await verdict(validator, unknown) == .providerUnreachable)
        #expect(provider.server.count == 2)
        #expect(await verdict(validator, try provider.token(["sub": "u2"])) == nil)
        // Also when the set is not fresh any more, for a day.
        provider.clock.advance(23 * 3600)
        let late =
            ["iat": .integer(provider.clock.now.seconds), "exp": .integer(t0.seconds + 90_000)] as [String: JSONValue?]
        #expect(await verdict(validator, try provider.token(late)) == nil)
        provider.clock.advance(2 * 3600)
        let later = try provider.token(["exp": .integer(t0.seconds + 99_000)])
        #expect(await verdict(validator, later) == .providerUnreachable)
    }

    @Test(
        "TOK-5: the audience is a text or a list of texts, and never split",
        arguments: [
            ("skill-api", nil), (["account", "skill-api"], nil), ([], .wrongAudience),
            ("skill-api account", .wrongAudience),
            (["skill-api", 7], .malformed("aud lists something that is no text")), (["account"], .wrongAudience),
            (["skill-api account"], .wrongAudience),
        ] as [(JSONValue, TokenRejection?)])
    func audience(value: JSONValue, rejection: TokenRejection?) async throws {
        let provider = try Provider()
        #expect(await verdict(provider.validator(), try provider.token(["aud": value])) == rejection)
    }

    @Test(
        "TOK-6: scopes are a text, a list, or scp",
        arguments: [
            (["scope": "read  write"], ["read", "write"]), (["scope": ["read", "write"]], ["read", "write"]),
            (["scope": nil, "scp": "read write"], ["read", "write"]), (["scope": nil, "scp": ["read"]], ["read"]),
            (["scope": .null], []), (["scope": nil], []), (["scope": "read", "scp": "admin"], ["read"]),
            (["scope": ""], []),
        ] as [([String: JSONValue?], Set<String>)])
    func scopes(changes: [String: JSONValue?], scopes: Set<String>) async throws {
        let provider = try Provider()
        let (validator, token) = (provider.validator(), try provider.token(changes))
        let principal = try await validator.principal(for: token, client: nil, scopes: [], by: soon)
        #expect(principal.scopes == scopes)
        let missing = await verdict(validator, token, scopes: ["write"])
        #expect(missing == (scopes.contains("write") ? nil : .lacksScope("write")))
    }

    @Test(
        "TOK-6: a list of scopes with something else in it is malformed",
        arguments: [
            ["scope": ["read", 7]], ["scope": ["read", .null]], ["scope": nil, "scp": [["read"]]],
            ["scope": ["read": true]],
        ] as [[String: JSONValue?]])
    func oddScopes(changes: [String: JSONValue?]) async throws {
        let provider = try Provider()
        guard case .malformed = await verdict(provider.validator(), try provider.token(changes)) else {
            Issue.record("taken")
            return
        }
    }

    @Test("TOK-7: what is kept of an introspected token is its scopes, not the decision")
    func keptScopes() async throws {
        let provider = try Provider()
        provider.server.play { _ in answer(["active": true, "sub": "u1", "scope": "devices:read"]) }
        let validator = provider.validator(
            TokenValidation(issuer: nil, audience: nil, keys: .none, introspection: provider.introspection))
        let token = Secret("opaque-1")
        #expect(await verdict(validator, token, scopes: ["devices:read"]) == nil)
        #expect(await verdict(validator, token, scopes: ["devices:write"]) == .lacksScope("devices:write"))
        #expect(await verdict(validator, token, scopes: ["devices:read"]) == nil)
        #expect(provider.server.count == 1)
    }

    @Test("TOK-8: a revoked token is refused after 30 seconds at the latest, and at once after an event")
    func revoked() async throws {
        for event in [nil, "token", "subject"] {
            let provider = try Provider()
            provider.server.play { _ in answer(["active": true, "sub": "u1"]) }
            let validator = provider.validator(
                TokenValidation(issuer: nil, audience: nil, keys: .none, introspection: provider.introspection))
            let token = Secret("opaque-1")
            #expect(await verdict(validator, token) == nil)
            provider.clock.advance(10)
            provider.server.play { _ in answer(["active": false]) }
            if event == "token" { validator.forget(token: token) }
            if event == "subject" { validator.forget(subject: "u1") }
            provider.clock.advance(10)
            #expect(await verdict(validator, token) == (event == nil ? nil : .revoked))
            provider.clock.advance(10)
            #expect(await verdict(validator, token) == .revoked)
        }
    }

    @Test("TOK-9: an opaque token is no JWT, and its length is all that is said of it; introspection may know it")
    func opaque() async throws {
        let provider = try Provider()
        let token = Secret("0123456789abcdef0123456789abcdef")
        let rejection = await verdict(provider.validator(), token)
        #expect(rejection == .malformed("not a JWT (length 32)"))
        #expect(provider.server.count == 0)
        provider.server.play { _ in answer(["active": true, "sub": "u1"]) }
        let introspecting = TokenValidation(
            issuer: issuerName, audience: audienceName, keys: .none, introspection: provider.introspection)
        #expect(await verdict(provider.validator(introspecting), token) == nil)
        provider.server.play { _ in answer(["active": false]) }
        #expect(await verdict(provider.validator(introspecting), token) == .revoked)
    }

    @Test("TOK-10: an expired token is expired, so that Alexa refreshes it, and never just invalid")
    func expired() async throws {
        let provider = try Provider()
        let token = try provider.token(["exp": .integer(t0.seconds + 400)])
        let validator = provider.validator()
        #expect(await verdict(validator, token) == nil)
        provider.clock.advance(500)
        #expect(await verdict(validator, token) == .expired)
        // Also where the provider only says that it is not active.
        provider.clock.now = t0
        let end = t0.seconds + 400
        provider.server.play { _ in answer(["active": true, "sub": "u1", "exp": .integer(end)]) }
        let introspecting = provider.validator(
            TokenValidation(issuer: nil, audience: nil, keys: .none, introspection: provider.introspection))
        #expect(await verdict(introspecting, Secret("opaque-1")) == nil)
        provider.server.play { _ in answer(["active": false]) }
        provider.clock.advance(401)
        #expect(await verdict(introspecting, Secret("opaque-1")) == .expired)
        provider.clock.advance(99)
        #expect(await verdict(introspecting, Secret("opaque-1")) == .expired)
        #expect(provider.server.count == 3)
    }
}
