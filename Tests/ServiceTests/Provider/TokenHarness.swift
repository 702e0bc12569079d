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

/// An authorization server with its resource server, clock and store played by the test.
final class TokenHarness: Sendable {
    static let issuer = "https://skill.example.com"
    static let alexaURI = "https://layla.amazon.com/api/skill/link/M123"
    static let appURI = "com.example.app:/callback"
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    /// Plus, percent, colon, blank, accent.
    static let oddSecret = "k+9%F!a:b&c=d é"
    static let users = """
        { users: [
          { sub: "u1", username: "alice", password: "pw", name: "Alice", email: "alice@example.com" },
          { sub: "u2", username: "bob", password: "pw", name: "Bob", email: "bob@example.com", disabled: true },
        ] }
        """

    let clock = ManualClock()
    let store: any ServiceStore
    let keys: SigningKeys
    let embedded: EmbeddedProvider
    let server: AuthorizationServer
    let events = Locked<[ProviderEvent]>([])
    let failing: FailingStore

    static func client(
        _ id: String, secret: String? = "s3cret", authentication: Set<ProviderClient.Authentication> = [.basic, .body],
        redirectURIs: [String] = [alexaURI], scopes: [String] = ["profile", "devices"],
        grants: Set<ProviderClient.Grant> = [.authorizationCode, .refreshToken], rotates: Bool = false,
        pkce: Bool = false, role: ProviderClient.Role? = nil
    ) -> ProviderClient {
        ProviderClient(
            id: id, secret: secret.map { Secret($0) }, authentication: authentication, redirectURIs: redirectURIs,
            scopes: scopes, grants: grants, rotatesRefreshTokens: rotates, requiresPKCE: pkce, role: role)
    }

    static let clients = ProviderClients([
        client("alexa"), client("odd", secret: oddSecret),
        client(
            "google", redirectURIs: GoogleRedirects.addresses(projectID: "PROJECT", sandbox: true)),
        client("app", secret: nil, authentication: [.none], redirectURIs: [appURI], rotates: true, pkce: true),
        client("basic-only", authentication: [.basic]), client("body-only", authentication: [.body]),
        client("once", grants: [.authorizationCode]),
        client("back-end", redirectURIs: [], scopes: ["report"], grants: [.clientCredentials], role: .events),
        client("operator", redirectURIs: [], scopes: [], grants: [.clientCredentials], role: .operator),
        client("no-role", redirectURIs: [], scopes: [], grants: [.clientCredentials]),
    ])

    init(store given: (any ServiceStore)? = nil, clock: ManualClock? = nil, tokenSeconds: Int64 = 3600) async throws {
        let clock = clock ?? self.clock
        let store = given ?? MemoryStore(clock: clock.wall)
        self.store = store
        keys = SigningKeys(store: store, tokenSeconds: tokenSeconds, clock: clock.wall)
        try await keys.load()
        let failing = FailingStore(store)
        self.failing = failing
        embedded = EmbeddedProvider(
            issuer: Self.issuer,
            users: UserDirectory(
                file: try Users(json5: Array(Self.users.utf8), development: true), store: failing, clock: clock.wall),
            keys: keys, accountScopes: ["profile"], clock: clock.wall, monotonic: clock.monotonic)
        var parts = AuthorizationServer.Parts(
            issuer: Self.issuer, clients: Self.clients, store: failing, keys: keys, accessTokenSeconds: tokenSeconds,
            clock: clock.wall, monotonic: clock.monotonic)
        let (users, events, jwks) = (embedded.users, events, embedded.client())
        parts.validator = embedded.validator
        parts.revokedGrants = embedded.revokedGrants
        parts.isSubject = { (subject, deadline) async throws(ProviderStoreError) in
            try await users.current(subject: subject, by: deadline)?.isDisabled == false
        }
        parts.username = { (subject, deadline) async throws(ProviderStoreError) in
            try await users.current(subject: subject, by: deadline)?.username
        }
        parts.observe = { event in events.withLock { $0.append(event) } }
        var validation = TokenValidation(
            issuer: Self.issuer, audience: AuthorizationServer.backEndAudience(issuer: Self.issuer),
            keys: .fetched(url: EmbeddedProvider.jwksURL))
        validation.strictType = true
        parts.backEndValidator = TokenValidator(
            validation, http: jwks, clock: clock.wall, monotonic: clock.monotonic)
        server = AuthorizationServer(parts)
        moving = clock
    }

    /// The clock that everything here goes by.
    let moving: ManualClock
    var deadline: Deadline { moving.deadline(in: .seconds(600)) }

    /// A code as the consent of user `u1` gives it.
    func code(
        client: String = "alexa", uri: String? = nil, scopes: [String] = ["profile"], challenge: String? = nil,
        subject: String = "u1"
    ) async throws -> String {
        let known = try #require(Self.clients[client])
        let uri = try #require(uri ?? known.redirectURIs.first)
        var form = Form()
        for (name, value) in [
            ("response_type", "code"), ("client_id", client), ("redirect_uri", uri),
            ("scope", scopes.joined(separator: " ")), ("code_challenge", challenge ?? ""),
            ("code_challenge_method", challenge == nil ? "" : "S256"),
        ] { form.append(name, value) }
        let decision = AuthorizationDecision(form: form, clients: Self.clients, resource: Self.issuer)
        guard case .ask(let request) = decision else {
            Issue.record("not asked: \(decision)")
            return ""
        }
        return try await server.code(for: request, subject: subject, by: deadline).exposed
    }

    static func basic(_ id: String, _ secret: String) -> String {
        "Basic " + Base64.encode(Array("\(id):\(secret)".utf8))
    }

    func request(
        _ items: [(String, String)], basic: String? = nil, target: String = "/oauth/token", peer: String = "192.0.2.1"
    ) -> HTTPRequest {
        var form = Form()
        for (name, value) in items { form.append(name, value) }
        return request(body: form.encodedText, basic: basic, target: target, peer: peer)
    }

    func request(
        body: String, basic: String? = nil, target: String = "/oauth/token", peer: String = "192.0.2.1"
    ) -> HTTPRequest {
        var fields: HTTPFields = ["Content-Type": "application/x-www-form-urlencoded"]
        fields["Authorization"] = basic
        return HTTPRequest(
            method: .post, target: target, fields: fields, body: Array(body.utf8), peerAddress: peer,
            deadline: deadline)
    }

    static let alexa = basic("alexa", "s3cret")

    func token(_ items: [(String, String)], basic: String? = alexa, peer: String = "192.0.2.1") async throws -> Answer {
        try Answer(await server.answerToken(request(items, basic: basic, peer: peer)))
    }

    func redeem(
        _ code: String, uri: String? = alexaURI, basic: String? = alexa, verifier: String? = nil,
        _ more: [(String, String)] = []
    ) async throws -> Answer {
        try await token(
            [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", uri ?? "")]
                + (verifier.map { [("code_verifier", $0)] } ?? []) + more, basic: basic)
    }

    func refresh(_ token: String, basic: String? = alexa, _ more: [(String, String)] = []) async throws -> Answer {
        try await self.token([("grant_type", "refresh_token"), ("refresh_token", token)] + more, basic: basic)
    }

    /// Tokens of the public client, whose refresh tokens rotate.
    func appTokens() async throws -> Answer {
        let code = try await code(client: "app", challenge: Self.challenge)
        return try await redeem(
            code, uri: Self.appURI, basic: nil, verifier: Self.verifier, [("client_id", "app")])
    }

    func appRefresh(_ token: String) async throws -> Answer {
        try await refresh(token, basic: nil, [("client_id", "app")])
    }

    /// Why the token opens nothing; nil where it is good.
    func rejection(_ accessToken: String) async -> TokenRejection? {
        do throws(TokenRejection) {
            _ = try await embedded.validator.principal(
                for: Secret(accessToken), clients: .any, scopes: [], by: deadline)
            return nil
        } catch { return error }
    }

    struct Answer {
        let response: HTTPResponse
        let json: JSONValue

        init(_ response: HTTPResponse) throws {
            self.response = response
            json = response.body.isEmpty ? .null : try JSONValue(parsing: response.body)
        }

        var status: Int { response.status }
        var error: String? { json["error"]?.string }
        var access: String { json["access_token"]?.string ?? "" }
        var refresh: String { json["refresh_token"]?.string ?? "" }
        /// Status and error code.
        var short: String { error.map { "\(status) \($0)" } ?? "\(status)" }
    }
}
