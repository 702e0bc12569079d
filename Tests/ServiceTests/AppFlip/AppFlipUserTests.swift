import Crypto
import HTTP
import JSON
import OAuth
import Service
import TestSupport
import Testing
import Time

/// Who may have a code for Google's apps, and what comes of the code.
@Suite("App Flip: users and codes", .timeLimit(.minutes(5))) struct AppFlipUserTests {
    typealias Harness = AppFlipHarness

    @Test("without a good token Google's app goes on in the browser, whatever the user chose")
    func sessions() async throws {
        let harness = try await Harness()
        let revoked = SecureRandom.token(bytes: 16)
        try #require(harness.running.service.provider).revokedGrants.revoke(
            revoked, until: harness.running.clock.now.adding(seconds: 7200), now: harness.running.clock.now)
        let good = try harness.token()
        let bad: [String?] = [
            nil, "", "nonsense", good + "x", String(good.dropLast(8)), try harness.token(seconds: -120),
            try harness.token(grantID: revoked), try harness.token("u9999"),
        ]
        for token in bad {
            for decision in ["agree", "deny", "cancel"] {
                let answer = try await harness.post(Harness.body(["decision": .string(decision)]), token: token)
                #expect(answer.short == "200 cancelled" && answer.state == "s+1= &ü" && answer.code == nil)
            }
        }
        #expect(try await harness.post(Harness.body(), token: good).short == "200 code")
    }

    @Test("a token that expires is good up to its end and no longer")
    func expiry() async throws {
        let harness = try await Harness()
        let token = try harness.token(seconds: 600)
        #expect(try await harness.post(Harness.body(), token: token).short == "200 code")
        harness.running.clock.advance(by: .seconds(700))
        #expect(try await harness.post(Harness.body(), token: token).short == "200 cancelled")
    }

    @Test("a disabled user is told once and for all")
    func disabled() async throws {
        let harness = try await Harness()
        let token = try harness.token("u1003")
        for (decision, error) in [("agree", "unrecoverable"), ("deny", "unrecoverable"), ("cancel", "cancelled")] {
            let answer = try await harness.post(Harness.body(["decision": .string(decision)]), token: token)
            #expect(answer.short == "200 \(error)" && answer.state == "s+1= &ü")
        }
        #expect(
            try await harness.post(Harness.body(), token: try harness.token("u1003", seconds: -120)).error
                == "cancelled")
    }

    @Test("a token of another client than the company's apps' is refused and nothing is opened")
    func otherClients() async throws {
        let listed = try await Harness()
        for (client, isTaken) in [("app", true), ("alexa", false), ("google", false), ("other", false)] {
            let answer = try await listed.post(Harness.body(), token: try listed.token(client: client))
            #expect(answer.short == (isTaken ? "200 code" : "401 token.wrongClient"), "\(client)")
            #expect(isTaken || answer.openURL == nil && answer.response.fields["WWW-Authenticate"] != nil)
        }
        let open = try await Harness { $0.apps.clients = nil }
        for (client, isTaken) in [("app", true), ("other", true), ("alexa", false), ("google", false)] {
            let answer = try await open.post(Harness.body(), token: try open.token(client: client))
            #expect(answer.short == (isTaken ? "200 code" : "401 token.wrongClient"), "\(client)")
        }
        // A back end's token is for other routes.
        let backEnd = await listed.running.service.authorization.answerToken(
            HTTPRequest(
                method: .post, target: "/oauth/token",
                fields: [
                    "Content-Type": "application/x-www-form-urlencoded",
                    "Authorization": TokenHarness.basic("back-end", "back-end-secret"),
                ], body: Array("grant_type=client_credentials".utf8), deadline: listed.running.clock.deadline()))
        let token = try #require(try JSONValue(parsing: backEnd.body)["access_token"]?.string)
        #expect(try await listed.post(Harness.body(), token: token).short == "200 cancelled")
    }

    @Test("a code is good once, for Google alone, and for five minutes; used twice it takes its tokens with it")
    func replay() async throws {
        let harness = try await Harness()
        let code = try #require(try await harness.flip().code)
        #expect(try await harness.redeem(code, uri: Harness.home, client: "alexa").short == "400 invalid_grant")
        let tokens = try await harness.redeem(code, uri: Harness.home)
        #expect(tokens.short == "200")
        #expect(try await harness.redeem(code, uri: Harness.home).short == "400 invalid_grant")
        let refreshed = await harness.running.service.router.respond(
            to: HTTPRequest(
                method: .post, target: "/oauth/token",
                fields: [
                    "Content-Type": "application/x-www-form-urlencoded",
                    "Authorization": TokenHarness.basic("google", "google-secret"),
                ], body: Array("grant_type=refresh_token&refresh_token=\(tokens.refresh)".utf8),
                deadline: harness.running.clock.deadline()))
        #expect(refreshed.status == 400)
        let late = try #require(try await harness.flip().code)
        harness.running.clock.advance(by: .seconds(301))
        #expect(try await harness.redeem(late, uri: Harness.home).short == "400 invalid_grant")
    }

    @Test("FLP-4: a code of the flip is redeemed with its own address, and a difference is refused and logged")
    func mismatch() async throws {
        let harness = try await Harness()
        let others = [Harness.browser, Harness.redirectURIs[1], Harness.home + "/", "https://evil.example/", nil]
        for other in others {
            let code = try #require(try await harness.flip().code)
            #expect(try await harness.redeem(code, uri: other).short == "400 invalid_grant", "\(other ?? "none")")
            // A wrong address spends nothing.
            #expect(try await harness.redeem(code, uri: Harness.home).short == "200")
        }
        let lines = harness.log()
        #expect(lines.contains("oauth.redirectMismatch") && lines.contains(#""outcome":"refused""#))
        #expect(lines.contains(String(Harness.browser.dropFirst(8))))
    }

    @Test("FLP-4: for a first live test a difference among Google's own addresses is logged and taken")
    func mismatchLogged() async throws {
        let harness = try await Harness { $0.google?.redirectMismatch = .log }
        for other in [Harness.browser, Harness.redirectURIs[1], Harness.redirectURIs[11], nil] {
            let code = try #require(try await harness.flip().code)
            #expect(try await harness.redeem(code, uri: other).short == "200", "\(other ?? "none")")
            #expect(try await harness.redeem(code, uri: Harness.home).short == "400 invalid_grant")
        }
        let taken = harness.log().components("\"outcome\":\"taken\"")
        #expect(taken == 4)
        for other in [Harness.home + "/", "https://evil.example/", Browser.alexaURI, Harness.host + "/r/OTHER"] {
            let code = try #require(try await harness.flip().code)
            #expect(try await harness.redeem(code, uri: other).short == "400 invalid_grant", "\(other)")
        }
        // Only Google's client may.
        let browser = Browser(harness.running)
        let page = await browser.signIn(await browser.get(Browser.request()), "alice", "pw")
        let consent = await browser.get(page.location ?? "")
        let code = try #require(await browser.submit(consent, [("decision", "agree")]).answer?["code"])
        let answer = try await harness.redeem(code, uri: Harness.home, client: "alexa")
        #expect(answer.short == "400 invalid_grant")
    }
}

extension String {
    /// How often a piece occurs.
    fileprivate func components(_ piece: String) -> Int { ranges(of: piece).count }
}
