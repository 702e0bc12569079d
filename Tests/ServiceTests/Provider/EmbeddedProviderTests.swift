import Crypto
import HTTP
import JSON
import OAuth
import Service
import Storage
import TestSupport
import Testing
import Time

@Suite("The embedded provider") struct EmbeddedProviderTests {
    static let users = #"""
        { users: [
          { sub: "u1", username: "alice", password: "pw", name: "Alice", email: "alice@example.com", locale: "en-US" },
          { sub: "u2", username: "bob", password: "pw", name: "Bob", email: "bob@example.com" },
          { sub: "u3", username: "eve", password: "pw", name: "Eve", email: "eve@example.com", disabled: true },
        ] }
        """#

    let clock = ManualClock()
    let keys: SigningKeys
    let provider: EmbeddedProvider

    init() async throws {
        let store = MemoryStore(clock: clock.wall)
        keys = SigningKeys(store: store, tokenSeconds: 3600, clock: clock.wall)
        try await keys.load()
        provider = EmbeddedProvider(
            issuer: "http://127.0.0.1:8080",
            users: UserDirectory(
                file: try Users(json5: Array(Self.users.utf8), development: true), store: store, clock: clock.wall),
            keys: keys, accountScopes: ["profile"], clock: clock.wall, monotonic: clock.monotonic)
    }

    private func token(
        _ subject: String = "u1", scopes: Set<String> = ["profile"], grantID: String? = nil, seconds: Int64 = 3600
    ) throws -> Secret {
        let claims = AccessTokenMinter.Claims(subject: subject, clientID: "alexa", scopes: scopes, grantID: grantID)
        return try provider.accessToken(claims, lifetimeSeconds: seconds)
    }

    private func get(_ target: String, _ fields: HTTPFields = [:], body: [UInt8] = []) async -> HTTPResponse {
        await Router(provider.routes).respond(
            to: HTTPRequest(method: .get, target: target, fields: fields, body: body, deadline: clock.deadline()))
    }

    private func me(_ token: Secret) async -> HTTPResponse {
        await get("/v1/me", ["Authorization": "Bearer \(token.exposed)"])
    }

    @Test("/v1/me says who the token's user is, and no more")
    func account() async throws {
        let response = await me(try token())
        #expect(response.status == 200)
        #expect(response.fields["Content-Type"] == "application/json")
        #expect(response.fields["Cache-Control"] == "no-store")
        #expect(
            try JSONValue(parsing: response.body)
                == ["sub": "u1", "name": "Alice", "email": "alice@example.com", "locale": "en-US"])
        let other = try JSONValue(parsing: await me(try token("u2")).body)
        #expect(other == ["sub": "u2", "name": "Bob", "email": "bob@example.com"])
    }

    @Test("a token whose user was removed or disabled is revoked, also where nobody asks the resource server")
    func removedUser() async throws {
        for (subject, rejection) in [("u1", nil), ("u3", .revoked), ("u9", .revoked)] as [(String, TokenRejection?)] {
            let token = try token(subject)
            var found: TokenRejection?
            do throws(TokenRejection) {
                _ = try await provider.validator.principal(
                    for: token, client: "alexa", scopes: [], by: clock.deadline())
            } catch { found = error }
            #expect(found == rejection)
        }
    }

    @Test("K1: the key set has public members only and may be kept for a while")
    func keySet() async throws {
        let response = await get("/oauth/jwks.json")
        #expect(response.status == 200)
        #expect(response.fields["Content-Type"] == "application/json")
        #expect(response.fields["Cache-Control"] == "public, max-age=300")
        let key = try #require(try JSONValue(parsing: response.body)["keys"]?.array?.first?.object)
        #expect(Set(key.names) == ["kty", "crv", "x", "y", "use", "alg", "kid"])
        try await keys.rotate()
        #expect(try JSONWebKeySet(parsing: await get("/oauth/jwks.json").body).keys.count == 2)
    }

    @Test("B1: the scheme is known by any case", arguments: ["Bearer", "bearer", "BEARER", "bEaReR"])
    func scheme(name: String) async throws {
        #expect(await get("/v1/me", ["Authorization": "\(name) \(try token().exposed)"]).status == 200)
        #expect(await get("/v1/me", ["authorization": "\(name)  \(try token().exposed)"]).status == 200)
    }

    @Test("B2, B3: a token in the address or a form is refused, with or without a good one in the header")
    func otherWays() async throws {
        let token = try token().exposed
        let header = ["Authorization": "Bearer \(token)"] as HTTPFields
        var form = header
        form["Content-Type"] = "application/x-www-form-urlencoded; charset=utf-8"
        let body = Array("access_token=\(token)".utf8)
        for response in [
            await get("/v1/me?access_token=\(token)"), await get("/v1/me?a=1&access_token=\(token)", header),
            await get("/v1/me", form, body: body),
            await get("/v1/me", ["Content-Type": "application/x-www-form-urlencoded"], body: body),
        ] {
            #expect(response.status == 400)
            #expect(response.fields["WWW-Authenticate"]?.contains(#"error="invalid_request""#) == true)
        }
        #expect(await get("/v1/me?a=access_token", header).status == 200)
        var twice = header
        twice.append("Authorization", "Bearer \(token)")
        #expect(await get("/v1/me", twice).status == 400)
    }

    @Test(
        "B4: without credentials the challenge names no error",
        arguments: [nil, "Basic YTpi", "Digest x", "BearerX abc", ""])
    func noCredentials(field: String?) async throws {
        var fields: HTTPFields = [:]
        fields["Authorization"] = field
        let response = await get("/v1/me", fields)
        #expect(response.status == 401)
        #expect(response.fields.values("WWW-Authenticate") == [#"Bearer realm="skillgate""#])
        #expect(try JSONValue(parsing: response.body)["code"] == "token.missing")
    }

    @Test("B5: a token that is bad, expired or revoked is invalid_token, each with its own code")
    func invalid() async throws {
        let expired = try token(seconds: -61)
        let revoked = try token(grantID: "g1")
        provider.revokedGrants.revoke("g1", until: clock.now.adding(seconds: 3600), now: clock.now)
        let good = try token().exposed
        for (token, code, description) in [
            (expired, "token.expired", "The access token expired"),
            (revoked, "token.revoked", "The access token was revoked"),
            (Secret("opaque"), "token.malformed", "The access token is not valid here"),
            (Secret(String(good.dropLast(8)) + "AAAAAAAA"), "token.badSignature", "The access token is not valid here"),
        ] {
            let response = await me(token)
            #expect(response.status == 401)
            #expect(
                response.fields["WWW-Authenticate"]
                    == #"Bearer realm="skillgate", error="invalid_token", error_description="\#(description)""#)
            #expect(response.fields["Content-Type"] == "application/problem+json")
            #expect(try JSONValue(parsing: response.body)["code"]?.string == code)
            #expect(!String(decoding: response.body, as: UTF8.self).contains(token.exposed))
        }
    }

    @Test("B6, B8: a token that does not reach is told which scope it lacks, quoted and once")
    func scope() async throws {
        let response = await me(try token(scopes: ["devices"]))
        #expect(response.status == 403)
        let challenge = try #require(response.fields["WWW-Authenticate"])
        #expect(challenge.contains(#"error="insufficient_scope""#))
        #expect(challenge.hasSuffix(#"scope="profile""#))
        let names = challenge.dropFirst(7).split(separator: ", ").map { $0.prefix { $0 != "=" } }
        #expect(names == ["realm", "error", "error_description", "scope"])
        #expect(await me(try token(scopes: [])).status == 403)
    }

    @Test(
        "B7: what is no token is a malformed request",
        arguments: [
            "Bearer", "Bearer ", "Bearer a b", "Bearer a,b", "Bearer \"a\"", "Bearer a=b", "Bearer =", "Bearer tökén",
            "bearer a;",
        ])
    func malformed(field: String) async {
        let response = await get("/v1/me", ["Authorization": field])
        #expect(response.status == 400)
        #expect(response.fields["WWW-Authenticate"]?.contains(#"error="invalid_request""#) == true)
    }

    @Test("B9: audience, issuer, type and key are checked on every call")
    func everyCall() async throws {
        let claims = AccessTokenMinter.Claims(subject: "u1", clientID: "alexa", scopes: ["profile"])
        let own = "http://127.0.0.1:8080"
        let key = try keys.current()
        for (issuer, audience, code) in [
            ("https://other.example", own, "token.wrongIssuer"), (own, "https://other.example", "token.wrongAudience"),
            (own, own, nil),
        ] {
            let minter = AccessTokenMinter(issuer: issuer, audience: audience, key: key)
            let response = await me(try minter.token(claims, lifetimeSeconds: 60, now: clock.now))
            #expect(try JSONValue(parsing: response.body)["code"]?.string == code)
        }
        let foreign = SigningKey(try PrivateKey.generate(.p256), algorithm: .es256)
        let minter = AccessTokenMinter(issuer: own, audience: own, key: foreign)
        let response = await me(try minter.token(claims, lifetimeSeconds: 60, now: clock.now))
        #expect(try JSONValue(parsing: response.body)["code"] == "token.unknownKey")
        // Of this provider's own making, but no access token.
        let payload = #"{"iss":"\#(own)","aud":"\#(own)","sub":"u1","exp":9999999999}"#
        let input = [#"{"alg":"ES256","kid":"\#(key.id)","typ":"JWT"}"#, payload].map {
            Base64URL.encode(Array($0.utf8))
        }
        .joined(separator: ".")
        let signature = try key.privateKey.signature(of: Array(input.utf8), algorithm: .es256)
        let other = await me(Secret(input + "." + Base64URL.encode(signature)))
        #expect(try JSONValue(parsing: other.body)["code"] == "token.malformed")
    }

    @Test("a user who is disabled or gone is refused, however good the token", arguments: ["u3", "u4"])
    func disabled(subject: String) async throws {
        let response = await me(try token(subject))
        #expect(response.status == 401)
        #expect(try JSONValue(parsing: response.body)["code"] == "token.revoked")
        #expect(response.fields["WWW-Authenticate"]?.contains(#"error="invalid_token""#) == true)
    }

    @Test("without a key the provider says so, and no token is judged bad for it")
    func noKeys() async throws {
        let empty = SigningKeys(store: MemoryStore(clock: clock.wall), tokenSeconds: 3600, clock: clock.wall)
        let users = UserDirectory(
            file: try Users(json5: Array(Self.users.utf8), development: true), store: MemoryStore(clock: clock.wall),
            clock: clock.wall)
        let other = EmbeddedProvider(
            issuer: "http://127.0.0.1:8080", users: users, keys: empty, accountScopes: [], clock: clock.wall,
            monotonic: clock.monotonic)
        let token = try token()
        for (target, code) in [("/oauth/jwks.json", "provider.noKeys"), ("/v1/me", "token.providerUnreachable")] {
            let response = await Router(other.routes).respond(
                to: HTTPRequest(
                    method: .get, target: target, fields: ["Authorization": "Bearer \(token.exposed)"],
                    deadline: clock.deadline()))
            #expect(response.status == 503)
            #expect(response.fields["Retry-After"] != nil)
            #expect(response.fields["WWW-Authenticate"] == nil)
            #expect(try JSONValue(parsing: response.body)["code"]?.string == code)
        }
        #expect(throws: SigningKeyError.none) {
            try other.accessToken(.init(subject: "u1", clientID: "a", scopes: []), lifetimeSeconds: 60)
        }
    }
}

@Suite("A router reached as a server") struct RouterClientTests {
    private static let echo = Route(.post, "/a/{b}", timeLimit: .seconds(1)) { request, arguments in
        HTTPResponse(status: 201, body: Array("\(arguments["b"] ?? "") \(request.query ?? "")".utf8) + request.body)
    }
    private let clock = ManualClock()

    @Test("method, path, query and body arrive, and the answer comes back")
    func passes() async throws {
        let client = RouterClient(origin: "http://provider.invalid", responder: Router([Self.echo]))
        let request = OutgoingRequest(method: .post, url: "http://provider.invalid/a/x%2Fy?q=1", body: Array("!".utf8))
        let response = try await client.send(request, by: clock.deadline())
        #expect(response.status == 201)
        #expect(String(decoding: response.body, as: UTF8.self) == "x/y q=1!")
        let unknown = try await client.send(OutgoingRequest(url: "http://provider.invalid"), by: clock.deadline())
        #expect(unknown.status == 404)
    }

    @Test(
        "a host that only begins like ours is another, and goes to the other client",
        arguments: [
            "http://provider.invalid.evil.example/a/b", "http://provider.invalid:80/a/b",
            "http://provider.invalid@evil.example/a/b",
            "https://provider.invalid/a/b", "http://other.example/a/b", "",
        ])
    func otherHosts(url: String) async throws {
        let other = RecordingHTTPClient { _, _ throws(HTTPClientError) in HTTPResponse(status: 299) }
        let origin = "http://provider.invalid"
        let client = RouterClient(origin: origin, responder: Router([Self.echo]), otherwise: other)
        #expect(try await client.send(OutgoingRequest(method: .post, url: url), by: clock.deadline()).status == 299)
        #expect(other.requests.map(\.url) == [url])
        let alone = RouterClient(origin: origin, responder: Router([Self.echo]))
        await #expect(throws: HTTPClientError.address) {
            try await alone.send(OutgoingRequest(method: .post, url: url), by: clock.deadline())
        }
    }

    @Test("an answer that is larger than was allowed is none")
    func tooLarge() async throws {
        let client = RouterClient(origin: "http://provider.invalid", responder: Router([Self.echo]))
        var request = OutgoingRequest(method: .post, url: "http://provider.invalid/a/b", body: Array("1234".utf8))
        request.answerLimitBytes = 6
        #expect(try await client.send(request, by: clock.deadline()).body.count == 6)
        request.answerLimitBytes = 5
        let refused = request
        await #expect(throws: HTTPClientError.answerTooLarge) {
            try await client.send(refused, by: clock.deadline())
        }
    }
}
