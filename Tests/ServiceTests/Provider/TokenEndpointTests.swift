import Concurrency
import Crypto
import HTTP
import JSON
import OAuth
import Service
import Storage
import TestSupport
import Testing
import Time

@Suite("The token endpoint") struct TokenEndpointTests {
    let world: TokenHarness

    init() async throws { world = try await TokenHarness() }

    @Test("T11, T12, PRO-10: a code brings Bearer, a number of seconds, a refresh token and scope, never kept")
    func success() async throws {
        let answer = try await world.redeem(try await world.code(scopes: ["profile", "devices"]))
        #expect(answer.status == 200)
        let names = Set(answer.json.object?.names ?? [])
        #expect(names == ["access_token", "token_type", "expires_in", "refresh_token", "scope"])
        #expect(answer.json["token_type"] == "Bearer" && answer.json["expires_in"] == 3600)
        #expect(answer.json["scope"] == "profile devices")
        #expect(answer.response.fields["Cache-Control"] == "no-store")
        #expect(answer.response.fields["Pragma"] == "no-cache")
        #expect(answer.response.fields["Content-Type"] == "application/json")
        #expect(await world.rejection(answer.access) == nil)
        let refreshed = try await world.refresh(answer.refresh)
        #expect(Set(refreshed.json.object?.names ?? []) == ["access_token", "token_type", "expires_in", "scope"])
        #expect(refreshed.json["token_type"] == "Bearer" && refreshed.json["expires_in"] == 3600)
        #expect(await world.rejection(refreshed.access) == nil)
    }

    @Test("J1, J2, J3: an access token says at+jwt, ES256, issuer, audience, user, client, times, id and scope")
    func claims() async throws {
        let token = try await world.redeem(try await world.code()).access
        let parts = token.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let header = try JSONValue(parsing: try #require(Base64URL.decode(parts[0])))
        #expect(header["typ"] == "at+jwt" && header["alg"] == "ES256" && header["kid"]?.string != nil)
        let claims = try JSONValue(parsing: try #require(Base64URL.decode(parts[1])))
        #expect(claims["iss"] == "https://skill.example.com" && claims["aud"] == "https://skill.example.com")
        #expect(claims["sub"] == "u1" && claims["client_id"] == "alexa" && claims["scope"] == "profile")
        #expect(claims["jti"]?.string?.isEmpty == false && claims["grant_id"]?.string?.isEmpty == false)
        #expect(claims["exp"]?.integer == (claims["iat"]?.integer ?? 0) + 3600)
    }

    @Test("T1: parameters in the address are refused, whoever sends them")
    func query() async throws {
        let code = try await world.code()
        let items = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", TokenHarness.alexaURI)]
        for query in ["?client_secret=s3cret", "?client_id=alexa", "?grant_type=authorization_code", "?code=x", "?%"] {
            let request = world.request(items, basic: TokenHarness.alexa, target: "/oauth/token" + query)
            #expect(try TokenHarness.Answer(await world.server.answerToken(request)).short == "400 invalid_request")
        }
        let request = world.request(items, basic: TokenHarness.alexa, target: "/oauth/token?trace=1")
        #expect(await world.server.answerToken(request).status == 200)
    }

    @Test("T2: a doubled parameter is invalid_request, an empty one is absent, unknown ones are ignored")
    func parameters() async throws {
        let code = try await world.code()
        for name in ["code", "grant_type", "redirect_uri", "client_id", "code_verifier"] {
            let answer = try await world.redeem(code, [(name, "alexa"), (name, "alexa")])
            #expect(answer.short == "400 invalid_request", "\(name)")
        }
        #expect(try await world.token([("grant_type", "")]).short == "400 invalid_request")
        let answer = try await world.redeem(code, [("code_verifier", ""), ("client_id", ""), ("x", "1"), ("x", "2")])
        #expect(answer.short == "200")
    }

    @Test("DEC-8: a form that is not UTF-8 is refused, not repaired")
    func encoding() async throws {
        for body in ["grant_type=refresh_token&refresh_token=a%C3%28b", "grant_type=%zz", "x=%ED%A0%80", "x=%C3"] {
            let request = world.request(body: body, basic: TokenHarness.alexa)
            #expect(try TokenHarness.Answer(await world.server.answerToken(request)).short == "400 invalid_request")
        }
        var request = world.request(body: "", basic: TokenHarness.alexa)
        request.body = Array("grant_type=".utf8) + [0x61, 0xC3, 0x28, 0x62]
        #expect(try TokenHarness.Answer(await world.server.answerToken(request)).short == "400 invalid_request")
    }

    @Test("T3, PRO-9: a secret with odd characters passes raw and form-encoded by Basic, and in the body")
    func oddSecret() async throws {
        let secret = TokenHarness.oddSecret
        let encoded = "k%2B9%25F%21a%3Ab%26c%3Dd+%C3%A9"
        let grant = [("grant_type", "refresh_token"), ("refresh_token", "none")]
        for basic in [TokenHarness.basic("odd", secret), TokenHarness.basic("odd", encoded)] {
            #expect(try await world.token(grant, basic: basic).short == "400 invalid_grant")
        }
        let body = try await world.token(grant + [("client_id", "odd"), ("client_secret", secret)], basic: nil)
        #expect(body.short == "400 invalid_grant")
        for wrong in [secret + "x", encoded + "x", "k 9%F!a:b&c=d é", String(secret.prefix(8)), ""] {
            let answer = try await world.token(grant, basic: TokenHarness.basic("odd", wrong))
            #expect(answer.short == "401 invalid_client", "\(wrong)")
            #expect(answer.response.fields["WWW-Authenticate"]?.hasPrefix("Basic realm=") == true)
        }
    }

    @Test("T4: a client proves itself only in the ways that are its own")
    func methods() async throws {
        let grant = [("grant_type", "refresh_token"), ("refresh_token", "none")]
        func body(_ id: String, _ secret: String?) async throws -> String {
            let more = [("client_id", id)] + (secret.map { [("client_secret", $0)] } ?? [])
            return try await world.token(grant + more, basic: nil).short
        }
        func basic(_ id: String) async throws -> String {
            try await world.token(grant, basic: TokenHarness.basic(id, "s3cret")).short
        }
        #expect(try await body("body-only", "s3cret") == "400 invalid_grant")
        #expect(try await basic("basic-only") == "400 invalid_grant")
        #expect(try await body("app", nil) == "400 invalid_grant")
        #expect(try await body("basic-only", "s3cret") == "401 invalid_client")
        #expect(try await basic("body-only") == "401 invalid_client")
        #expect(try await body("alexa", nil) == "401 invalid_client")
        #expect(try await body("app", "anything") == "401 invalid_client")
        #expect(try await world.token(grant, basic: TokenHarness.basic("app", "")).short == "401 invalid_client")
    }

    @Test("T5: two ways of proving oneself in one request are invalid_request")
    func twoMethods() async throws {
        let code = try await world.code()
        for more in [
            [("client_id", "alexa"), ("client_secret", "s3cret")], [("client_secret", "s3cret")],
            [("client_id", "odd")],
        ] {
            #expect(try await world.redeem(code, more).short == "400 invalid_request")
        }
        #expect(try await world.redeem(code, [("client_id", "alexa")]).short == "200")
    }

    @Test("T6: a client that is not believed gets 401, the challenge and invalid_client")
    func wrongClient() async throws {
        let grant = [("grant_type", "refresh_token"), ("refresh_token", "x")]
        for basic in [TokenHarness.basic("alexa", "wrong"), TokenHarness.basic("nobody", "s3cret"), "Bearer x"] {
            let answer = try await world.token(grant, basic: basic)
            #expect(answer.short == "401 invalid_client", "\(basic)")
            #expect(answer.response.fields["WWW-Authenticate"]?.hasPrefix("Basic ") == true)
            #expect(answer.response.fields["Cache-Control"] == "no-store")
        }
        let none = try await world.token(grant, basic: nil)
        #expect(none.short == "401 invalid_client")
        let body = try await world.token(grant + [("client_id", "alexa"), ("client_secret", "no")], basic: nil)
        #expect(body.short == "401 invalid_client")
        #expect(try await world.token(grant, basic: "Basic !").short == "400 invalid_request")
    }

    @Test("T7, OPS-2: eleven wrong secrets of one client from one peer are too many; a right one always passes")
    func guessing() async throws {
        let grant = [("grant_type", "refresh_token"), ("refresh_token", "x")]
        let wrong = TokenHarness.basic("alexa", "wrong")
        for number in 1...12 {
            let answer = try await world.token(grant, basic: wrong)
            #expect(answer.status == (number <= 10 ? 401 : 429), "\(number)")
            if number > 10 { #expect(answer.response.fields["Retry-After"].flatMap { Int($0) } ?? 0 > 0) }
        }
        #expect(try await world.token(grant, basic: TokenHarness.alexa).short == "400 invalid_grant")
        #expect(try await world.token(grant, basic: wrong, peer: "192.0.2.2").status == 401)
        #expect(try await world.token(grant, basic: TokenHarness.basic("odd", "wrong")).status == 401)
        world.clock.advance(by: .seconds(61))
        #expect(try await world.token(grant, basic: wrong).status == 401)
    }

    @Test("OPS-2: a thousand bad refresh tokens from one address do not keep the good one out")
    func badTokens() async throws {
        let good = try await world.redeem(try await world.code()).refresh
        for number in 0..<1000 {
            #expect(try await world.refresh("bad-\(number)").short == "400 invalid_grant")
        }
        #expect(try await world.refresh(good).short == "200")
    }

    @Test("T8, A14, PRO-12: a code is good for its client, its address and five minutes, once")
    func binding() async throws {
        let code = try await world.code()
        let odd = TokenHarness.basic("odd", TokenHarness.oddSecret)
        #expect(try await world.redeem(code, basic: odd).short == "400 invalid_grant")
        for uri in ["https://layla.amazon.com/api/skill/link/OTHER", TokenHarness.alexaURI + "/", nil] {
            #expect(try await world.redeem(code, uri: uri).short == "400 invalid_grant")
        }
        #expect(try await world.redeem("nonsense").short == "400 invalid_grant")
        #expect(try await world.redeem(code).short == "200")
        let late = try await world.code()
        world.clock.advance(by: .seconds(299))
        let fresh = try await world.code()
        world.clock.advance(by: .seconds(1))
        #expect(try await world.redeem(late).short == "400 invalid_grant")
        #expect(try await world.redeem(fresh).short == "200")
        let veryLate = try await world.code()
        world.clock.advance(by: .seconds(660))
        #expect(try await world.redeem(veryLate).short == "400 invalid_grant")
    }

    @Test("T9: a code seen twice is denied, and what it brought is revoked")
    func twice() async throws {
        let code = try await world.code()
        let other = try await world.redeem(try await world.code())
        let first = try await world.redeem(code)
        #expect(await world.rejection(first.access) == nil)
        // Another client that shows it learns nothing and ends nothing.
        let odd = TokenHarness.basic("odd", TokenHarness.oddSecret)
        #expect(try await world.redeem(code, basic: odd).short == "400 invalid_grant")
        #expect(await world.rejection(first.access) == nil)
        #expect(try await world.redeem(code).short == "400 invalid_grant")
        #expect(await world.rejection(first.access) == .revoked)
        #expect(try await world.refresh(first.refresh).short == "400 invalid_grant")
        #expect(await world.rejection(other.access) == nil)
        #expect(try await world.refresh(other.refresh).short == "200")
    }

    @Test("T10: of many at one instant exactly one redeems the code, and what it got is revoked")
    func atOnce() async throws {
        let code = try await world.code()
        let world = world
        let answers = try await withThrowingTaskGroup(of: TokenHarness.Answer.self) { group in
            for _ in 0..<8 { group.addTask { try await world.redeem(code) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let good = answers.filter { $0.status == 200 }
        #expect(good.count == 1)
        #expect(answers.filter { $0.short == "400 invalid_grant" }.count == 7)
        #expect(await world.rejection(try #require(good.first).access) == .revoked)
    }

    @Test("T13, T14, T15: grants that are unknown, or not the client's, each have their error; no password grant")
    func grants() async throws {
        for grant in ["password", "implicit", "urn:ietf:params:oauth:grant-type:jwt-bearer", "AUTHORIZATION_CODE"] {
            let answer = try await world.token([("grant_type", grant), ("username", "alice"), ("password", "pw")])
            #expect(answer.short == "400 unsupported_grant_type", "\(grant)")
            #expect(answer.json["error_description"]?.string != nil)
        }
        #expect(try await world.token([("grant_type", "client_credentials")]).short == "400 unauthorized_client")
        let backEnd = TokenHarness.basic("back-end", "s3cret")
        let code = try await world.code()
        #expect(try await world.redeem(code, basic: backEnd).short == "400 unauthorized_client")
        #expect(try await world.refresh("x", basic: backEnd).short == "400 unauthorized_client")
        let once = try await world.redeem(
            try await world.code(client: "once"), basic: TokenHarness.basic("once", "s3cret"))
        #expect(once.status == 200 && once.refresh.isEmpty)
    }

    @Test("P2, P6, P7, P8, P9, P11, PRO-13: a challenge needs its verifier, and no challenge takes none")
    func proofKeys() async throws {
        let right = TokenHarness.verifier
        #expect(try await world.redeem(try await world.code()).short == "200")
        let code = try await world.code(challenge: TokenHarness.challenge)
        #expect(try await world.redeem(code, verifier: right).short == "200")
        for verifier in [
            nil, "x" + right.dropFirst(), String(right.dropLast()), right + String(repeating: "a", count: 86),
            right.replacing("-", with: "+"), TokenHarness.challenge,
        ] {
            let code = try await world.code(challenge: TokenHarness.challenge)
            #expect(try await world.redeem(code, verifier: verifier).short == "400 invalid_grant")
            // Spent: the right verifier comes too late.
            #expect(try await world.redeem(code, verifier: right).short == "400 invalid_grant")
        }
        #expect(try await world.redeem(try await world.code(), verifier: right).short == "400 invalid_grant")
        #expect(try await world.appTokens().short == "200")
    }

    @Test("FLP-4: a code of the flip is good for its own address alone, and the log has both")
    func flip() async throws {
        let google = TokenHarness.basic("google", "s3cret")
        let client = try #require(TokenHarness.clients["google"])
        let flip = "https://oauth-redirect.googleusercontent.com/a/com.google.Chromecast"
        let browser = "https://oauth-redirect.googleusercontent.com/r/PROJECT"
        func mint() async throws -> String {
            try await world.server.mintCode(
                client: client, redirectURI: flip, scopes: ["devices"], subject: "u1", by: world.deadline
            ).code.exposed
        }
        #expect(try await world.redeem(try await mint(), uri: flip, basic: google).short == "200")
        #expect(try await world.redeem(try await mint(), uri: browser, basic: google).short == "400 invalid_grant")
        #expect(try await world.redeem(try await mint(), uri: nil, basic: google).short == "400 invalid_grant")
        let events = world.events.withLock { $0 }
        #expect(events.contains(.redirectMismatch(client: "google", bound: flip, sent: browser, isTaken: false)))
        #expect(events.contains(.redirectMismatch(client: "google", bound: flip, sent: "none", isTaken: false)))
        let code = Secret(try await mint())
        #expect(try await world.server.withdraw(code: code, by: world.deadline))
        #expect(try await world.redeem(code.exposed, uri: flip, basic: google).short == "400 invalid_grant")
        #expect(try await !world.server.withdraw(code: code, by: world.deadline))
    }

    @Test("T17, N5: no answer and no event repeats a code, a token or a secret")
    func silence() async throws {
        let markers = ["CODEMARKER", "REFRESHMARKER", "SECRETMARKER", "VERIFIERMARKER"]
        let answers = [
            try await world.redeem("CODEMARKER", verifier: "VERIFIERMARKER"),
            try await world.refresh("REFRESHMARKER"),
            try await world.refresh("x", basic: TokenHarness.basic("alexa", "SECRETMARKER")),
            try await world.token(
                [("grant_type", "refresh_token"), ("client_id", "alexa"), ("client_secret", "SECRETMARKER")],
                basic: nil),
        ]
        let events = "\(world.events.withLock { $0 })"
        for answer in answers {
            let text = String(decoding: answer.response.body, as: UTF8.self)
            #expect(answer.status >= 400 && answer.response.fields["Cache-Control"] == "no-store")
            for marker in markers { #expect(!text.contains(marker) && !events.contains(marker)) }
        }
    }

    @Test("a store that does not answer is 503 with Retry-After, and the code stays good")
    func storeDown() async throws {
        let code = try await world.code()
        world.failing.isDown.withLock { $0 = true }
        let answer = try await world.redeem(code)
        #expect(answer.short == "503 temporarily_unavailable")
        #expect(answer.response.fields["Retry-After"] == "5")
        world.failing.isDown.withLock { $0 = false }
        #expect(try await world.redeem(code).short == "200")
    }

    @Test("PRO-11: a token request at the authorization address is told where it belongs, other requests are not")
    func misplaced() throws {
        let server = world.server
        func answer(_ items: [(String, String)]) -> HTTPResponse? {
            server.answerMisplacedTokenRequest(world.request(items, target: "/oauth/authorize"))
        }
        let told = try TokenHarness.Answer(
            try #require(answer([("grant_type", "authorization_code"), ("code", "CODEMARKER")])))
        #expect(told.short == "400 invalid_request")
        #expect(told.json["error_description"]?.string?.contains("https://skill.example.com/oauth/token") == true)
        #expect(!String(decoding: told.response.body, as: UTF8.self).contains("CODEMARKER"))
        #expect(answer([("response_type", "code"), ("client_id", "alexa")]) == nil)
        #expect(answer([("response_type", "code"), ("grant_type", "x")]) == nil)
        #expect(answer([("decision", "agree")]) == nil)
    }

    @Test("a user who was disabled gets no tokens, by no code")
    func disabled() async throws {
        let code = try await world.code(subject: "u2")
        #expect(try await world.redeem(code).short == "400 invalid_grant")
    }
}
