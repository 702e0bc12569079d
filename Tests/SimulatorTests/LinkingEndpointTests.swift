import Alexa
import Concurrency
import Crypto
import HTTP
import JSON
import Simulator
import TestSupport
import Testing
import Time

/// The simulated side of Amazon's in account linking: each of its rules refuses what breaks it.
@Suite("Simulated account linking", .timeLimit(.minutes(5))) struct LinkingEndpointTests {
    private static let authority = Result { try Authority(now: AmazonHostsTests.now) }
    private static let redirectURL = "https://ours.example/link"
    private static let skillID = "amzn1.ask.skill.x"
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    private let clock = ManualClock(AmazonHostsTests.now)
    private let hosts: AmazonHosts
    private let alice = AmazonAccount(name: "alice", home: .europe)
    /// What our token endpoint is asked, and what it answers.
    private let redeemed = Locked<[OutgoingRequest]>([])

    init() throws {
        hosts = AmazonHosts(
            authority: try Self.authority.get(),
            clients: [
                TokenEndpoint.Client(id: "linking", secret: Secret("s"), use: .linking),
                TokenEndpoint.Client(id: "other", secret: Secret("s"), use: .linking),
            ], clock: clock.wall)
        know(answer: #"{"access_token":"a","refresh_token":"r","token_type":"Bearer","expires_in":3600}"#)
    }

    private func know(answer: String, status: Int = 200) {
        let redeemed = redeemed
        let http = RecordingHTTPClient { request, _ throws(HTTPClientError) in
            redeemed.withLock { $0.append(request) }
            return HTTPResponse(status: status, body: Array(answer.utf8))
        }
        hosts.linking.know(
            [
                LinkingEndpoint.Skill(
                    id: Self.skillID, amazonClientID: "linking", redirectURLs: [Self.redirectURL],
                    tokenURL: "https://ours.example/token", providerClientID: "alexa",
                    providerClientSecret: Secret("secret"))
            ], accounts: [alice, AmazonAccount(name: "bob")], http: http)
    }

    private func address(_ changes: [String: String?] = [:], isApp: Bool = true) -> String {
        var values: [(String, String?)] = [
            ("client_id", "linking"), ("scope", "alexa::skills:account_linking"), ("response_type", "code"),
            ("redirect_uri", Self.redirectURL), ("state", "abcdefgh"), ("code_challenge", Self.challenge),
            ("code_challenge_method", "S256"),
        ]
        if isApp { values += [("fragment", "skill-account-linking-consent"), ("skill_stage", "development")] }
        for (name, value) in changes {
            values.removeAll { $0.0 == name }
            values.append((name, value))
        }
        var form = Form()
        for (name, value) in values { form.append(name, value) }
        let base =
            isApp ? "https://alexa.amazon.com/spa/skill-account-linking-consent" : "https://www.amazon.com/ap/oa"
        return base + "?" + form.encodedText
    }

    private func ask(
        _ method: HTTPMethod, _ target: String, host: String, token: String?, body: String = ""
    ) async -> (status: Int, json: JSONValue) {
        var fields: HTTPFields = ["Host": host]
        if method == .post { fields.append("Content-Type", "application/json") }
        if let token { fields.append("Authorization", "Bearer " + token) }
        let answer = await hosts.respond(
            to: HTTPRequest(
                method: method, target: target, fields: fields, body: Array(body.utf8),
                deadline: .after(.seconds(240), from: .now)))
        return (answer.status, (try? JSONValue(parsing: answer.body)) ?? .null)
    }

    /// Amazon's access token for a customer who agreed.
    private func token(_ account: AmazonAccount? = nil, client: String = "linking") async throws -> String {
        let code: String
        if client == "linking" {
            let url = try hosts.linking.consent(to: address(), account: account ?? alice)
            code = try #require(Form(decoding: url.drop { $0 != "?" }.dropFirst())?["code"])
        } else {
            code = hosts.tokens.issueCode(
                clientID: client, redirectURI: Self.redirectURL, challenge: Self.challenge, account: "alice")
        }
        var form = Form()
        for (name, value) in [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", Self.redirectURL),
            ("client_id", client), ("client_secret", "s"), ("code_verifier", Self.verifier),
        ] { form.append(name, value) }
        let answer = hosts.tokens.answer(
            HTTPRequest(
                method: .post, target: "/auth/o2/token", fields: ["Content-Type": "application/x-www-form-urlencoded"],
                body: Array(form.encodedText.utf8), deadline: .after(.seconds(240), from: .now)))
        return try #require(try JSONValue(parsing: answer.body)["access_token"]?.string)
    }

    private static let path = "/v1/users/~current/skills/\(skillID)/enablement"
    private static let good =
        #"{"stage":"development","accountLinkRequest":{"redirectUri":"\#(redirectURL)","authCode":"OURS","type":"AUTH_CODE"}}"#

    @Test("a customer agrees or not, in the Alexa app and at Login with Amazon, and goes back with the state")
    func consent() throws {
        for isApp in [true, false] {
            let url = try hosts.linking.consent(to: address(isApp: isApp), account: alice)
            let form = try #require(Form(decoding: url.drop { $0 != "?" }.dropFirst()))
            #expect(url.hasPrefix(Self.redirectURL + "?code=") && form["state"] == "abcdefgh")
            #expect((form["scope"] != nil) == !isApp)
            let refused = try hosts.linking.consent(to: address(isApp: isApp), account: alice, error: "access_denied")
            #expect(refused == Self.redirectURL + "?error=access_denied&state=abcdefgh")
        }
    }

    @Test(
        "an address that breaks a rule of Amazon's leads nowhere",
        arguments: [
            ("client_id", "unknown"), ("client_id", nil), ("scope", "profile"), ("scope", nil),
            ("response_type", "token"), ("redirect_uri", "https://ours.example/link/"), ("redirect_uri", nil),
            ("state", nil), ("state", "a&b"), ("state", ""), ("code_challenge", "short"), ("code_challenge", nil),
            ("code_challenge_method", "plain"), ("fragment", nil), ("fragment", "x"), ("skill_stage", "live"),
            ("skill_stage", nil), ("stage", "development"),
        ] as [(String, String?)])
    func consentRefused(name: String, value: String?) {
        #expect(throws: LinkingRefusal.self) {
            try hosts.linking.consent(to: address([name: value]), account: alice)
        }
    }

    @Test("the stage in Login with Amazon's address, a parameter twice, and another path are refused")
    func consentShape() {
        for url in [
            address(["skill_stage": "development"], isApp: false), address() + "&state=abcdefgh",
            "https://www.amazon.com/ap/oauth?" + address(isApp: false).drop { $0 != "?" }.dropFirst(),
        ] {
            #expect(throws: LinkingRefusal.self) { try hosts.linking.consent(to: url, account: alice) }
        }
    }

    @Test("the skill is enabled in the customer's region alone, by redeeming our code; then it is told and disabled")
    func enablement() async throws {
        let token = try await token()
        let regions = await ask(.get, "/v1/alexaApiEndpoint", host: "api.amazonalexa.com", token: token)
        #expect(regions.json == ["endpoints": ["api.eu.amazonalexa.com"]])
        for (host, expected) in [
            ("api.amazonalexa.com", 404), ("api.fe.amazonalexa.com", 404), ("api.eu.amazonalexa.com", 201),
        ] {
            #expect(await ask(.post, Self.path, host: host, token: token, body: Self.good).status == expected)
        }
        let request = try #require(redeemed.withLock { $0.first })
        #expect(redeemed.withLock { $0.count } == 1)
        let form = try #require(Form(decoding: String(decoding: request.body ?? [], as: UTF8.self)))
        #expect(form["code"] == "OURS" && form["redirect_uri"] == Self.redirectURL && form["client_id"] == "alexa")
        #expect(form["client_secret"] == nil && request.fields["Authorization"]?.hasPrefix("Basic ") == true)
        let told = await ask(.get, Self.path, host: "api.eu.amazonalexa.com", token: token)
        #expect(told.status == 200 && told.json["accountLink"]?["status"] == "LINKED")
        let user = told.json["user"]?["id"]
        // Linking anew keeps the user, enabling anew does not.
        let again = await ask(.post, Self.path, host: "api.eu.amazonalexa.com", token: token, body: Self.good)
        #expect(again.json["user"]?["id"] == user)
        #expect(await ask(.delete, Self.path, host: "api.eu.amazonalexa.com", token: token).status == 204)
        #expect(await ask(.delete, Self.path, host: "api.eu.amazonalexa.com", token: token).status == 404)
        #expect(await ask(.get, Self.path, host: "api.eu.amazonalexa.com", token: token).status == 404)
        let fresh = await ask(.post, Self.path, host: "api.eu.amazonalexa.com", token: token, body: Self.good)
        #expect(fresh.status == 201 && fresh.json["user"]?["id"] != user)
    }

    @Test(
        "a body that is not what Alexa asks for is refused before our code is redeemed",
        arguments: [
            "", "{}", #"{"stage":"development"}"#, good.replacing("development", with: "live"),
            good.replacing("AUTH_CODE", with: "IMPLICIT"), good.replacing("/link", with: "/other"),
            good.replacing("authCode", with: "code"), good.replacing(#""stage""#, with: #""skill_stage""#),
            good.replacing(#"{"stage""#, with: #"{"more":1,"stage""#),
        ])
    func bodies(body: String) async throws {
        let token = try await token()
        #expect(await ask(.post, Self.path, host: "api.eu.amazonalexa.com", token: token, body: body).status == 400)
        #expect(redeemed.withLock { $0.isEmpty })
    }

    @Test("a token that is missing, made up, ended or another client's is refused")
    func tokens() async throws {
        let token = try await token()
        let foreign = try await self.token(client: "other")
        let host = "api.eu.amazonalexa.com"
        for bad in [nil, "Atza|made-up", ""] as [String?] {
            #expect(await ask(.post, Self.path, host: host, token: bad, body: Self.good).status == 401)
        }
        #expect(await ask(.post, Self.path, host: host, token: foreign, body: Self.good).status == 403)
        clock.advance(by: .seconds(3601))
        #expect(await ask(.post, Self.path, host: host, token: token, body: Self.good).status == 401)
        #expect(redeemed.withLock { $0.isEmpty })
    }

    @Test(
        "an answer of our token endpoint that Alexa could not use is no link",
        arguments: [
            (#"{"error":"invalid_grant"}"#, 400), ("<html>", 200), (#"{"access_token":"a","expires_in":3600}"#, 200),
            (#"{"access_token":"a","refresh_token":"r","token_type":"Bearer","expires_in":300}"#, 200),
            (#"{"access_token":"a","refresh_token":"r","token_type":"mac","expires_in":3600}"#, 200),
        ])
    func redemption(answer: String, status: Int) async throws {
        know(answer: answer, status: status)
        let refused = await ask(
            .post, Self.path, host: "api.eu.amazonalexa.com", token: try await token(), body: Self.good)
        #expect(refused.status == 400 && refused.json["message"] == "Invalid account linking credentials")
    }

    @Test("a browser sees the consent, and goes back with the answer of the button")
    func page() async throws {
        let target = address(isApp: false).replacing("https://www.amazon.com", with: "")
        let shown = await hosts.respond(
            to: HTTPRequest(
                method: .get, target: target, fields: ["Host": "127.0.0.1:1"],
                deadline: .after(.seconds(240), from: .now)))
        #expect(shown.status == 200 && String(decoding: shown.body, as: UTF8.self).contains("Allow as alice"))
        for (account, expected) in [("alice", "?code="), ("", "?error=access_denied")] {
            var form = Form()
            form.append("address", target)
            form.append("account", account)
            let answer = await hosts.respond(
                to: HTTPRequest(
                    method: .post, target: "/ap/oa", fields: ["Host": "127.0.0.1:1"],
                    body: Array(form.encodedText.utf8), deadline: .after(.seconds(240), from: .now)))
            #expect(answer.status == 303)
            #expect(answer.fields["Location"]?.hasPrefix(Self.redirectURL + expected) == true)
        }
        let wrong = await hosts.respond(
            to: HTTPRequest(
                method: .get, target: "/ap/oa?client_id=linking", fields: ["Host": "127.0.0.1:1"],
                deadline: .after(.seconds(240), from: .now)))
        #expect(wrong.status == 400)
    }
}
