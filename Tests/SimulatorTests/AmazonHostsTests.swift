import Crypto
import HTTP
import JSON
import Simulator
import Testing
import TestSupport
import Time

@Suite("Simulated hosts of Amazon") struct AmazonHostsTests {
    static let now = UnixTime(seconds: 1_900_000_000)
    static let clients = [
        TokenEndpoint.Client(id: "events-id", secret: Secret("events-secret"), use: .events),
        TokenEndpoint.Client(id: "link-id", secret: Secret("link-secret"), use: .linking),
    ]
    let authority: Authority
    let hosts: AmazonHosts
    let clock = ManualClock(AmazonHostsTests.now)

    init() throws {
        authority = try Authority(now: Self.now)
        hosts = AmazonHosts(authority: authority, clients: Self.clients, clock: clock.wall)
    }

    func ask(
        _ method: HTTPMethod = .get, host: String, _ target: String, _ fields: HTTPFields = [:], body: String = ""
    ) async -> HTTPResponse {
        var fields = fields
        fields.append("Host", host)
        return await hosts.respond(
            to: HTTPRequest(
                method: method, target: target, fields: fields, body: Array(body.utf8),
                deadline: .after(.seconds(30), from: .now)))
    }

    func token(
        _ pairs: [(String, String)], type: String = "application/x-www-form-urlencoded;charset=UTF-8",
        target: String = "/auth/o2/token"
    ) async throws -> (status: Int, body: JSONValue) {
        var form = Form()
        for (name, value) in pairs { form.append(name, value) }
        let answer = await ask(
            .post, host: "api.amazon.com", target, ["Content-Type": type], body: form.encodedText)
        return (answer.status, try JSONValue(parsing: answer.body))
    }

    static let pair = [("client_id", "events-id"), ("client_secret", "events-secret")]

    func exchange(_ code: String, _ more: [(String, String)] = pair) async throws -> (status: Int, body: JSONValue) {
        try await token([("grant_type", "authorization_code"), ("code", code)] + more)
    }

    @Test("the certificate host serves the good chain and each faulty one, and nothing else")
    func chains() async throws {
        let folder = "/echo.api/"
        let good = await ask(host: "s3.amazonaws.com", folder + AlexaSigner.chainFile)
        #expect(good.status == 200)
        #expect(good.body == authority.signing.pem)
        #expect(await ask(host: "S3.amazonaws.com:443", folder + AlexaSigner.chainFile).status == 200)
        for fault in ChainFault.allCases {
            let signer = try hosts.signer(with: fault)
            #expect(signer.chainURL.hasPrefix("https://s3.amazonaws.com/echo.api/"))
            let path = String(signer.chainURL.dropFirst("https://s3.amazonaws.com".count))
            #expect(await ask(host: "s3.amazonaws.com", path).status == 200)
        }
        for target in ["/echo.api/other.pem", "/echo.api/", "/", "/echo.api/\(AlexaSigner.chainFile)?x=1"] {
            #expect(await ask(host: "s3.amazonaws.com", target).status == 404)
        }
        #expect(await ask(host: "example.test", folder + AlexaSigner.chainFile).status == 404)
        #expect(await ask(.post, host: "s3.amazonaws.com", folder + AlexaSigner.chainFile).status == 405)
        #expect(hosts.received.last?.method == "POST")
    }

    @Test("a signature fits body and chain, unless a fault is planted")
    func signer() throws {
        let body = Array(#"{"a":1}"#.utf8)
        let signer = AlexaSigner(authority)
        let valid = { (fault: SigningFault?) throws -> Bool? in
            let fields = try signer.headers(for: body, fault: fault)
            guard let text = fields["Signature-256"], let signature = Base64.decode(text) else { return nil }
            return authority.signing.chain[0].publicKey.isValid(signature: signature, of: body, algorithm: .rs256)
        }
        #expect(try valid(nil) == true)
        #expect(try valid(.otherBody) == false)
        #expect(try valid(.otherKey) == false)
        #expect(try valid(.noSignature) == nil)
        #expect(try valid(.malformedSignature) == nil)
        #expect(try signer.headers(for: body, fault: .noChainURL)["SignatureCertChainUrl"] == nil)
        #expect(try signer.headers(for: body, fault: .emptySignature)["Signature-256"] == "")
        #expect(
            try signer.headers(for: body, fault: .chainURL("https://a.test/"))["SignatureCertChainUrl"]
                == "https://a.test/")
    }

    @Test("a code is exchanged once, and the refresh token brings new access tokens")
    func exchange() async throws {
        let code = hosts.issueGrantCode()
        let (status, body) = try await exchange(code)
        #expect(status == 200)
        #expect(body["access_token"]?.string?.hasPrefix("Atza|") == true)
        #expect(body["token_type"] == "bearer")
        #expect(body["expires_in"] == 3600)
        let refresh = try #require(body["refresh_token"]?.string)
        #expect(refresh.hasPrefix("Atzr|"))
        let again = try await exchange(code)
        #expect(again.status == 400)
        #expect(again.body["error"] == "invalid_grant")
        let refreshed = try await token([("grant_type", "refresh_token"), ("refresh_token", refresh)] + Self.pair)
        #expect(refreshed.status == 200)
        #expect(refreshed.body["access_token"] != body["access_token"])
        #expect(refreshed.body["refresh_token"]?.string == refresh)
        hosts.tokens.revokeAll()
        let revoked = try await token([("grant_type", "refresh_token"), ("refresh_token", refresh)] + Self.pair)
        #expect(revoked.body["error"] == "invalid_grant")
    }

    @Test("refresh tokens rotate and lifetimes are texts where a test asks for it")
    func variants() async throws {
        hosts.tokens.rotatesRefreshTokens = true
        hosts.tokens.expiresInAsText = true
        let body = try await exchange(hosts.issueGrantCode()).body
        #expect(body["expires_in"] == "3600")
        let old = try #require(body["refresh_token"]?.string)
        let refreshed = try await token([("grant_type", "refresh_token"), ("refresh_token", old)] + Self.pair)
        #expect(refreshed.status == 200)
        #expect(refreshed.body["refresh_token"]?.string != old)
        #expect(try await token([("grant_type", "refresh_token"), ("refresh_token", old)] + Self.pair).status == 400)
    }

    static let refusals: [(String, [(String, String)], String)] = [
        ("no code", [("grant_type", "authorization_code")] + pair, "invalid_request"),
        ("no grant type", [("code", "CODE")] + pair, "invalid_request"),
        ("another grant type", [("grant_type", "password"), ("code", "CODE")] + pair, "unsupported_grant_type"),
        ("no pair", [("grant_type", "authorization_code"), ("code", "CODE")], "invalid_request"),
        (
            "a wrong secret",
            [
                ("grant_type", "authorization_code"), ("code", "CODE"), ("client_id", "events-id"),
                ("client_secret", "x"),
            ], "invalid_client"
        ),
        (
            "an unknown client",
            [
                ("grant_type", "authorization_code"), ("code", "CODE"), ("client_id", "x"),
                ("client_secret", "events-secret"),
            ], "invalid_client"
        ),
        (
            "another client",
            [
                ("grant_type", "authorization_code"), ("code", "CODE"), ("client_id", "link-id"),
                ("client_secret", "link-secret"),
            ], "invalid_grant"
        ),
        (
            "a redirect URI",
            [("grant_type", "authorization_code"), ("code", "CODE"), ("redirect_uri", "https://a.test")] + pair,
            "invalid_request"
        ),
        (
            "a repeated parameter", [("grant_type", "authorization_code"), ("code", "CODE"), ("code", "CODE")] + pair,
            "invalid_request"
        ),
        (
            "an unknown parameter", [("grant_type", "authorization_code"), ("code", "CODE"), ("scope", "x")] + pair,
            "invalid_request"
        ),
        ("an unknown code", [("grant_type", "authorization_code"), ("code", "other")] + pair, "invalid_grant"),
        (
            "a refresh token that is a code", [("grant_type", "refresh_token"), ("refresh_token", "CODE")] + pair,
            "invalid_grant"
        ),
    ]

    @Test("a request that breaks a rule is refused by its code", arguments: refusals.indices)
    func refused(index: Int) async throws {
        let (name, pairs, error) = Self.refusals[index]
        let code = hosts.issueGrantCode()
        let (status, body) = try await token(pairs.map { ($0.0, $0.1 == "CODE" ? code : $0.1) })
        #expect(status == 400, "\(name)")
        #expect(body["error"]?.string == error, "\(name)")
        #expect(body["error_description"]?.string != nil)
        #expect(body["request_id"]?.string != nil)
    }

    @Test("parameters in the query, another content type and a Basic header are refused")
    func wrongForm() async throws {
        let code = hosts.issueGrantCode()
        let right = [("grant_type", "authorization_code"), ("code", code)] + Self.pair
        #expect(try await token(right, target: "/auth/o2/token?code=\(code)").status == 400)
        #expect(try await token(right, target: "/auth/o2/token?").status == 400)
        #expect(try await token(right, type: "application/json").status == 400)
        #expect(await ask(host: "api.amazon.com", "/auth/o2/token").status == 405)
        #expect(try await token(right).status == 200, "the code is still good")
    }

    @Test("a code ends after five minutes, to the second", arguments: [(299, 200), (300, 400)])
    func codeEnds(seconds: Int64, status: Int) async throws {
        let code = hosts.issueGrantCode()
        clock.advance(by: .seconds(seconds))
        #expect(try await exchange(code).status == status)
    }

    @Test("a code of app-to-app linking needs its redirect URI and its verifier")
    func linkingCode() async throws {
        let pair = [("client_id", "link-id"), ("client_secret", "link-secret")]
        let verifier = SecureRandom.token()
        let challenge = Base64URL.encode(SHA256.digest(verifier))
        for (more, status) in [
            ([("redirect_uri", "https://a.test/cb"), ("code_verifier", verifier)], 200),
            ([("redirect_uri", "https://a.test/cb/"), ("code_verifier", verifier)], 400),
            ([("code_verifier", verifier)], 400),
            ([("redirect_uri", "https://a.test/cb")], 400),
            ([("redirect_uri", "https://a.test/cb"), ("code_verifier", verifier + "x")], 400),
        ] {
            let code = hosts.tokens.issueCode(
                clientID: "link-id", redirectURI: "https://a.test/cb", challenge: challenge)
            #expect(try await exchange(code, pair + more).status == status, "\(more)")
        }
    }

    @Test("scripted faults come one after another, then all is right")
    func faults() async throws {
        hosts.script(.token, [.status(503, body: "{}"), .garbage, .delay(.milliseconds(1))])
        let code = hosts.issueGrantCode()
        let form = "grant_type=authorization_code&code=\(code)&client_id=events-id&client_secret=events-secret"
        let fields: HTTPFields = ["Content-Type": "application/x-www-form-urlencoded"]
        let ask = { await self.ask(.post, host: "api.amazon.com", "/auth/o2/token", fields, body: form) }
        #expect(await ask().status == 503)
        #expect(String(decoding: await ask().body, as: UTF8.self).hasPrefix("<html>"))
        #expect(await ask().status == 200)
        #expect(await ask().status == 400, "the code is used up by now")
        #expect(hosts.received.count == 4)
        #expect(hosts.received.allSatisfy { $0.host == "api.amazon.com" && $0.body == Array(form.utf8) })
        hosts.forget()
        #expect(hosts.received.isEmpty)
    }

    @Test("silence lasts until the caller gives up", .timeLimit(.minutes(5)))
    func silence() async throws {
        hosts.script(.certificates, [.silence])
        let asked = Task { await ask(host: "s3.amazonaws.com", "/echo.api/" + AlexaSigner.chainFile).status }
        while hosts.received.isEmpty { await Task.yield() }
        asked.cancel()
        #expect(await asked.value == 503)
        #expect(await ask(host: "s3.amazonaws.com", "/echo.api/" + AlexaSigner.chainFile).status == 200)
    }
}
