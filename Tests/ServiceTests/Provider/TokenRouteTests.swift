import Concurrency
import Crypto
import HTTP
import JSON
import OAuth
import Service
import Storage
import Telemetry
import TestSupport
import Testing
import Time

/// The provider's routes in the whole service, as `serve` builds it.
@Suite("The provider's routes", .timeLimit(.minutes(5))) struct TokenRouteTests {
    static let alexaURI = "https://layla.amazon.com/api/skill/link/MDEVELOPMENT"

    private func call(
        _ service: MadeService, _ method: HTTPMethod, _ target: String, basic: String? = nil, body: String = "",
        type: String = "application/x-www-form-urlencoded", clock: ManualClock
    ) async throws -> TokenHarness.Answer {
        var fields: HTTPFields = [:]
        if method == .post { fields["Content-Type"] = type }
        fields["Authorization"] = basic
        return try TokenHarness.Answer(
            await service.router.respond(
                to: HTTPRequest(
                    method: method, target: target, fields: fields, body: Array(body.utf8), peerAddress: "127.0.0.1",
                    deadline: clock.deadline())))
    }

    private func tokens(_ running: ServiceTests.Running, scopes: [String]) async throws -> TokenHarness.Answer {
        let client = try #require(running.service.authorization.clients["alexa"])
        let code = try await running.service.authorization.mintCode(
            client: client, redirectURI: Self.alexaURI, scopes: scopes, subject: "u1001", by: running.clock.deadline()
        ).code
        return try await call(
            running.service, .post, "/oauth/token", basic: TokenHarness.basic("alexa", "alexa-secret"),
            body: "grant_type=authorization_code&code=\(code.exposed)&redirect_uri=\(percentEncoded(Self.alexaURI))",
            clock: running.clock)
    }

    @Test("a code becomes tokens that the resource server takes, and revocation ends them there too")
    func whole() async throws {
        let running = try await ServiceTests.start()
        let tokens = try await tokens(running, scopes: ["profile", "devices"])
        #expect(tokens.status == 200)
        let bearer = "Bearer " + tokens.access
        let me = try await call(running.service, .get, "/v1/me", basic: bearer, clock: running.clock)
        #expect(me.json["sub"] == "u1001")
        let revoked = try await call(
            running.service, .post, "/oauth/revoke", basic: TokenHarness.basic("alexa", "alexa-secret"),
            body: "token=" + tokens.refresh, clock: running.clock)
        #expect(revoked.status == 200)
        let after = try await call(running.service, .get, "/v1/me", basic: bearer, clock: running.clock)
        #expect(after.status == 401 && after.json["code"] == "token.revoked")
    }

    @Test("why the token endpoint refused a client is a trace, without what the client sent")
    func traced() async throws {
        let running = try await ServiceTests.start()
        let good = TokenHarness.basic("alexa", "alexa-secret")
        for (basic, body, reason, client) in [
            (good, "grant_type=authorization_code&code=hidden-code&redirect_uri=x", "oauth.codeUnknown", "alexa"),
            (good, "grant_type=refresh_token&refresh_token=hidden-token", "oauth.refreshUnknown", "alexa"),
            (TokenHarness.basic("alexa", "hidden"), "grant_type=refresh_token", "client.wrongSecret", "alexa"),
            (TokenHarness.basic("hidden", "alexa"), "grant_type=refresh_token", "client.wrongSecret", nil),
        ] as [(String, String, String, String?)] {
            let answer = try await call(
                running.service, .post, "/oauth/token", basic: basic, body: body, clock: running.clock)
            #expect(answer.status == (reason.hasPrefix("client") ? 401 : 400))
            let line = try #require(running.lines(naming: reason).last, "\(reason)")
            let id = try #require(try JSONValue(parsing: Array(line.utf8))["traceID"]?.string)
            let trace = try #require(try await running.trace(id))
            #expect(trace.reason == reason && trace.notes.first { $0.name == "client" }?.value == client)
            #expect(!trace.text.contains("hidden"))
        }
    }

    @Test("O2: userinfo answers GET and POST with sub, and with the rest where the token reaches that far")
    func userInfo() async throws {
        let running = try await ServiceTests.start()
        let wide = "Bearer " + (try await tokens(running, scopes: ["profile"]).access)
        let narrow = "Bearer " + (try await tokens(running, scopes: ["devices"]).access)
        for method in [HTTPMethod.get, .post] {
            let answer = try await call(running.service, method, "/oauth/userinfo", basic: wide, clock: running.clock)
            #expect(answer.status == 200 && answer.json["sub"] == "u1001")
            #expect(answer.json["email"] == "alice@example.com" && answer.json["name"] == "Alice Archer")
            #expect(answer.response.fields["Cache-Control"] == "no-store")
            let less = try await call(running.service, method, "/oauth/userinfo", basic: narrow, clock: running.clock)
            #expect(less.status == 200 && less.json == ["sub": "u1001"])
        }
    }

    @Test("O3: userinfo refuses as every resource does")
    func userInfoRefusals() async throws {
        let running = try await ServiceTests.start()
        let token = try await tokens(running, scopes: ["profile"]).access
        let path = "/oauth/userinfo"
        let none = try await call(running.service, .get, path, clock: running.clock)
        #expect(none.status == 401)
        #expect(none.response.fields["WWW-Authenticate"] == "Bearer realm=\"skillgate\"")
        let bad = try await call(running.service, .post, path, basic: "Bearer x.y.z", clock: running.clock)
        #expect(bad.status == 401)
        #expect(bad.response.fields["WWW-Authenticate"]?.contains("error=\"invalid_token\"") == true)
        let body = try await call(
            running.service, .post, path, basic: "Bearer " + token, body: "access_token=" + token,
            clock: running.clock)
        #expect(body.status == 400)
        let backEnd = try await call(
            running.service, .post, "/oauth/token", basic: TokenHarness.basic("back-end", "back-end-secret"),
            body: "grant_type=client_credentials", clock: running.clock)
        let own = try await call(
            running.service, .get, path, basic: "Bearer " + backEnd.access, clock: running.clock)
        #expect(own.status == 401 && own.json["code"] == "token.wrongAudience")
    }

    @Test("T1, T16, PRO-11: the token address takes POST with a form alone")
    func methods() async throws {
        let running = try await ServiceTests.start()
        let get = try await call(
            running.service, .get, "/oauth/token?response_type=code", clock: running.clock)
        #expect(get.status == 405 && get.response.fields["Allow"] == "POST")
        for path in ["/oauth/token", "/oauth/revoke", "/oauth/introspect"] {
            let json = try await call(
                running.service, .post, path, body: "{}", type: "application/json", clock: running.clock)
            #expect(json.status == 415, "\(path)")
            #expect(running.service.router.timeLimit(for: .post, target: path) < .milliseconds(4500))
        }
    }

    @Test("M1, M2, M5: the metadata is at the well-known address, and its issuer is the one that was asked")
    func metadata() async throws {
        let running = try await ServiceTests.start()
        let answer = try await call(
            running.service, .get, "/.well-known/oauth-authorization-server", clock: running.clock)
        #expect(answer.status == 200 && answer.response.fields["Content-Type"] == "application/json")
        #expect(answer.json["issuer"] == .string(running.configuration.publicURL))
        for (name, value) in answer.json.object ?? JSONObject()
        where name.hasSuffix("_endpoint") || name == "jwks_uri" {
            let path = try #require(value.string).dropFirst(running.configuration.publicURL.utf8.count)
            let there = await running.get(String(path))
            #expect(there.status != 404, "\(name) leads nowhere")
        }
    }

    @Test("a back end's token is taken by /v1/events where its client has the role, and by nothing of a user's")
    func events() async throws {
        let running = try await ServiceTests.start()
        func token(_ id: String) async throws -> String {
            let answer = try await call(
                running.service, .post, "/oauth/token", basic: TokenHarness.basic(id, id + "-secret"),
                body: "grant_type=client_credentials", clock: running.clock)
            #expect(answer.status == 200 && answer.refresh.isEmpty)
            return "Bearer " + answer.access
        }
        let event = #"{"sub":"u1001","deviceID":"lamp","kind":"removed"}"#
        func post(_ authorization: String) async throws -> TokenHarness.Answer {
            try await call(
                running.service, .post, "/v1/events", basic: authorization, body: event, type: "application/json",
                clock: running.clock)
        }
        let backEnd = try await token("back-end")
        #expect(try await post(backEnd).status == 202)
        #expect(try await post(TokenHarness.basic("back-end", "back-end-secret")).status == 202)
        let other = try await post(try await token("operator"))
        #expect(other.status == 403 && other.json["code"] == "client.role")
        let user = try await post("Bearer " + (try await tokens(running, scopes: ["devices"]).access))
        #expect(user.status == 401 && user.json["code"] == "token.wrongAudience")
        #expect(try await post(backEnd + "x").status == 401)
        running.clock.advance(by: .seconds(3661))
        #expect(try await post(backEnd).json["code"] == "token.expired")
        #expect(try await call(running.service, .get, "/v1/me", basic: backEnd, clock: running.clock).status == 401)
    }

    @Test("with an external provider back ends get tokens here, and nobody else does")
    func external() async throws {
        var draft = ConfigurationDraft.external
        draft["provider.external.resources"] = ["baseURL": "https://api.example.com/v1"]
        draft["provider.clients"] = [
            ["id": "back-end", "secret": ["env": "SECRET"], "grants": ["client_credentials"], "role": "events"]
        ]
        let configuration = try draft.configuration()
        let clock = ManualClock()
        let parts = ServiceParts(
            store: MemoryStore(clock: clock.wall),
            http: RecordingHTTPClient { _, _ throws(HTTPClientError) in throw .unreachable("nothing is there") },
            clock: clock.wall, monotonic: clock.monotonic, log: .silent, metrics: Metrics(),
            trustAnchors: try TestAuthority().anchors)
        let service = try await makeService(configuration, parts)
        let basic = TokenHarness.basic("back-end", "hunter2-value")
        let answer = try await call(
            service, .post, "/oauth/token", basic: basic, body: "grant_type=client_credentials", clock: clock)
        #expect(answer.status == 200)
        let posted = try await call(
            service, .post, "/v1/events", basic: "Bearer " + answer.access,
            body: #"{"sub":"u","deviceID":"lamp","kind":"removed"}"#, type: "application/json", clock: clock)
        #expect(posted.status == 202)
        let code = try await call(
            service, .post, "/oauth/token", basic: basic, body: "grant_type=authorization_code&code=x", clock: clock)
        #expect(code.short == "400 unauthorized_client")
        for path in ["/oauth/revoke", "/oauth/introspect", "/oauth/userinfo"] {
            #expect(try await call(service, .post, path, basic: basic, body: "token=x", clock: clock).status == 404)
        }
    }

    @Test("a grant that one process revokes, and a key that it makes, reach the others by the change counter")
    func changes() async throws {
        let clock = ManualClock()
        let store = MemoryStore(clock: clock.wall)
        func start() async throws -> MadeService {
            try await makeService(
                try ServiceTests.configuration(),
                ServiceParts(
                    store: store,
                    http: RecordingHTTPClient { _, _ throws(HTTPClientError) in throw .unreachable("none") },
                    clock: clock.wall, monotonic: clock.monotonic, log: .silent, metrics: Metrics(),
                    trustAnchors: try TestAuthority().anchors))
        }
        let (first, second) = (try await start(), try await start())
        let client = try #require(first.authorization.clients["alexa"])
        let code = try await first.authorization.mintCode(
            client: client, redirectURI: Self.alexaURI, scopes: ["profile"], subject: "u1001", by: clock.deadline()
        ).code
        let tokens = try await call(
            first, .post, "/oauth/token", basic: TokenHarness.basic("alexa", "alexa-secret"),
            body: "grant_type=authorization_code&code=\(code.exposed)&redirect_uri=\(percentEncoded(Self.alexaURI))",
            clock: clock)
        let bearer = "Bearer " + tokens.access
        func status(_ service: MadeService) async throws -> Int {
            try await call(service, .get, "/v1/me", basic: bearer, clock: clock).status
        }
        #expect(try await status(second) == 200)
        #expect(try await !second.changes.check())
        #expect(try await first.authorization.revoke(subject: "u1001", client: nil, by: clock.deadline()) == 1)
        #expect(try await status(first) == 401)
        #expect(try await second.changes.check())
        #expect(try await status(second) == 401)
        #expect(try await !second.changes.check())
        // A process that starts later refuses it from its first request on.
        #expect(try await status(try await start()) == 401)

        try await SigningKeys(store: store, tokenSeconds: 3600, clock: clock.wall).rotate()
        func keys() async throws -> Int {
            let answer = try await call(second, .get, "/oauth/jwks.json", clock: clock)
            return answer.json["keys"]?.array?.count ?? 0
        }
        #expect(try await keys() == 1)
        #expect(try await second.changes.check())
        #expect(try await keys() == 2)
    }

    @Test("OPS-3: a jump of unknown refresh tokens is told once, at the level of an error")
    func alarm() async throws {
        let running = try await ServiceTests.start()
        for number in 0..<30 {
            let answer = try await call(
                running.service, .post, "/oauth/token", basic: TokenHarness.basic("alexa", "alexa-secret"),
                body: "grant_type=refresh_token&refresh_token=lost-\(number)", clock: running.clock)
            #expect(answer.short == "400 invalid_grant")
        }
        running.log.flush()
        let lines = running.lines.lines.filter { $0.contains("many refresh tokens") }
        #expect(lines.count == 1 && lines.first?.contains("error") == true)
    }

    @Test("FLP-4: a mismatch of addresses is logged with both")
    func mismatch() async throws {
        let running = try await ServiceTests.start()
        let client = try #require(running.service.authorization.clients["alexa"])
        let code = try await running.service.authorization.mintCode(
            client: client, redirectURI: Self.alexaURI, scopes: [], subject: "u1001", by: running.clock.deadline()
        ).code
        let answer = try await call(
            running.service, .post, "/oauth/token", basic: TokenHarness.basic("alexa", "alexa-secret"),
            body: "grant_type=authorization_code&code=\(code.exposed)&redirect_uri=https://other.example/r",
            clock: running.clock)
        #expect(answer.short == "400 invalid_grant")
        running.log.flush()
        let line = try #require(running.lines.lines.first { $0.contains("another redirect_uri") })
        #expect(line.contains("layla.amazon.com/api/skill/link/MDEVELOPMENT") && line.contains("other.example/r"))
        #expect(!line.contains(code.exposed))
    }
}
