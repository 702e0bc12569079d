import Concurrency
import Crypto
import HTTP
import JSON
import OAuth
import Service
import TestSupport
import Testing
import Time

@Suite("Revocation, introspection and metadata") struct TokenInspectionTests {
    let world: TokenHarness

    init() async throws { world = try await TokenHarness() }

    private func revoke(
        _ token: String, hint: String? = nil, basic: String? = TokenHarness.alexa, _ more: [(String, String)] = []
    ) async throws -> TokenHarness.Answer {
        let items = [("token", token)] + (hint.map { [("token_type_hint", $0)] } ?? []) + more
        return try TokenHarness.Answer(
            await world.server.answerRevocation(world.request(items, basic: basic, target: "/oauth/revoke")))
    }

    private func introspect(
        _ token: String, hint: String? = nil, basic: String? = TokenHarness.alexa, _ more: [(String, String)] = []
    ) async throws -> TokenHarness.Answer {
        let items = [("token", token)] + (hint.map { [("token_type_hint", $0)] } ?? []) + more
        return try TokenHarness.Answer(
            await world.server.answerIntrospection(world.request(items, basic: basic, target: "/oauth/introspect")))
    }

    @Test("V1, V4: a client that proves itself ends its tokens: the refresh token and its access tokens")
    func refreshToken() async throws {
        let tokens = try await world.redeem(try await world.code())
        #expect(try await revoke(tokens.refresh, basic: nil).short == "401 invalid_client")
        #expect(try await revoke(tokens.refresh, basic: TokenHarness.basic("alexa", "no")).status == 401)
        #expect(try await revoke("", hint: "refresh_token").short == "400 invalid_request")
        #expect(await world.rejection(tokens.access) == nil)
        let answer = try await revoke(tokens.refresh, hint: "refresh_token")
        #expect(answer.status == 200 && answer.response.body.isEmpty)
        #expect(await world.rejection(tokens.access) == .revoked)
        #expect(try await world.refresh(tokens.refresh).short == "400 invalid_grant")
    }

    @Test("V4: an access token ends with its grant, also for a public client")
    func accessToken() async throws {
        let tokens = try await world.appTokens()
        #expect(try await revoke(tokens.access, basic: nil, [("client_id", "app")]).status == 200)
        #expect(await world.rejection(tokens.access) == .revoked)
        #expect(try await world.appRefresh(tokens.refresh).short == "400 invalid_grant")
    }

    @Test("V2: an unknown or dead token is 200, and a wrong hint does not hide one")
    func unknown() async throws {
        let tokens = try await world.redeem(try await world.code())
        for token in ["nonsense", "a.b.c", tokens.access + "x"] { #expect(try await revoke(token).status == 200) }
        #expect(await world.rejection(tokens.access) == nil)
        #expect(try await revoke(tokens.refresh, hint: "access_token").status == 200)
        #expect(await world.rejection(tokens.access) == .revoked)
        #expect(try await revoke(tokens.refresh).status == 200)
        #expect(try await revoke(tokens.access, hint: "nonsense").status == 200)
    }

    @Test("V3: a token of another client is refused and stays good")
    func another() async throws {
        let tokens = try await world.redeem(try await world.code())
        let odd = TokenHarness.basic("odd", TokenHarness.oddSecret)
        #expect(try await revoke(tokens.refresh, basic: odd).short == "400 unauthorized_client")
        #expect(try await revoke(tokens.access, basic: odd).short == "400 unauthorized_client")
        let app = try await revoke(tokens.access, basic: nil, [("client_id", "app")])
        #expect(app.short == "400 unauthorized_client")
        #expect(await world.rejection(tokens.access) == nil)
        #expect(try await world.refresh(tokens.refresh).short == "200")
    }

    @Test("V5: a back end's token cannot be revoked, and a store that is down is 503 with Retry-After")
    func kinds() async throws {
        let basic = TokenHarness.basic("back-end", "s3cret")
        let token = try await world.token([("grant_type", "client_credentials")], basic: basic).access
        #expect(try await revoke(token, basic: basic).short == "400 unsupported_token_type")
        world.failing.isDown.withLock { $0 = true }
        let answer = try await revoke("x")
        #expect(answer.short == "503 temporarily_unavailable" && answer.response.fields["Retry-After"] == "5")
    }

    @Test("I1, I4: a caller that does not prove itself gets 401, a public client too")
    func callers() async throws {
        let tokens = try await world.redeem(try await world.code())
        #expect(try await introspect(tokens.access, basic: nil).short == "401 invalid_client")
        #expect(try await introspect(tokens.access, basic: TokenHarness.basic("alexa", "no")).status == 401)
        let app = try await introspect(tokens.access, basic: nil, [("client_id", "app")])
        #expect(app.short == "401 invalid_client")
        #expect(try await introspect("").short == "400 invalid_request")
        #expect(try await introspect(tokens.access).json["active"] == true)
    }

    @Test("I2: what is dead, unknown or another client's is inactive, and nothing else is said")
    func inactive() async throws {
        let tokens = try await world.redeem(try await world.code())
        let odd = TokenHarness.basic("odd", TokenHarness.oddSecret)
        for answer in [
            try await introspect("nonsense"), try await introspect(tokens.access + "x"),
            try await introspect(tokens.access, basic: odd), try await introspect(tokens.refresh, basic: odd),
        ] {
            #expect(answer.status == 200 && answer.json == ["active": false])
            #expect(answer.response.fields["Cache-Control"] == "no-store")
        }
        let replaced = try await world.appTokens().refresh
        _ = try await world.appRefresh(replaced)
        let operatorBasic = TokenHarness.basic("operator", "s3cret")
        #expect(try await introspect(replaced, basic: operatorBasic).json == ["active": false])
        #expect(try await introspect(tokens.access, basic: operatorBasic).json["active"] == true)
        _ = try await revoke(tokens.refresh)
        #expect(try await introspect(tokens.access).json == ["active": false])
        #expect(try await introspect(tokens.refresh).json == ["active": false])
        let late = try await world.redeem(try await world.code()).access
        world.clock.advance(by: .seconds(3661))
        #expect(try await introspect(late).json == ["active": false])
    }

    @Test("I3: an active token says whose it is, for whom, for what and until when")
    func active() async throws {
        let tokens = try await world.redeem(try await world.code(scopes: ["profile", "devices"]))
        let access = try await introspect(tokens.access, hint: "refresh_token").json
        let now = world.clock.now.seconds
        #expect(access["client_id"] == "alexa" && access["sub"] == "u1" && access["username"] == "alice")
        #expect(access["token_type"] == "Bearer" && access["scope"] == "devices profile")
        #expect(access["iss"] == "https://skill.example.com" && access["aud"] == "https://skill.example.com")
        #expect(access["iat"] == .integer(now) && access["exp"] == .integer(now + 3600))
        #expect(access["jti"]?.string != nil && access["grant_id"] == nil)
        let refresh = try await introspect(tokens.refresh).json
        #expect(refresh["active"] == true && refresh["client_id"] == "alexa" && refresh["sub"] == "u1")
        #expect(refresh["scope"] == "profile devices" && refresh["token_type"] == nil)
        let basic = TokenHarness.basic("back-end", "s3cret")
        let token = try await world.token([("grant_type", "client_credentials")], basic: basic).access
        let own = try await introspect(token, basic: basic).json
        #expect(own["active"] == true && own["sub"] == "back-end" && own["username"] == nil)
    }

    @Test("M3, M4, M5, P10: the metadata lists what is there, lists explicitly, and leaves empty ones out")
    func metadata() {
        let issuer = TokenHarness.issuer
        let json = ProviderMetadata(issuer: issuer, clients: TokenHarness.clients, hasPages: true).json
        #expect(json["issuer"] == .string(issuer))
        for (name, path) in [
            ("authorization_endpoint", "/oauth/authorize"), ("token_endpoint", "/oauth/token"),
            ("jwks_uri", "/oauth/jwks.json"), ("revocation_endpoint", "/oauth/revoke"),
            ("introspection_endpoint", "/oauth/introspect"), ("userinfo_endpoint", "/oauth/userinfo"),
        ] { #expect(json[name] == .string(issuer + path)) }
        #expect(json["response_types_supported"] == ["code"])
        #expect(json["code_challenge_methods_supported"] == ["S256"])
        #expect(json["grant_types_supported"] == ["authorization_code", "refresh_token", "client_credentials"])
        #expect(
            json["token_endpoint_auth_methods_supported"] == ["client_secret_basic", "client_secret_post", "none"])
        #expect(json["scopes_supported"] == ["profile", "devices", "report"])
        // A21, A22: not claimed, so no client waits for it.
        #expect(json["authorization_response_iss_parameter_supported"] == nil)
        let none = ProviderMetadata(issuer: issuer, clients: ProviderClients([]), hasPages: false).json
        #expect(none["scopes_supported"] == nil && none["authorization_endpoint"] == nil)
        #expect(none["response_types_supported"] == nil && none["grant_types_supported"] == nil)
    }
}
