import Crypto
import HTTP
import OAuth
import Service
import TestSupport
import Testing
import Time

/// `/account/…` in the whole service.
@Suite("The account's pages", .timeLimit(.minutes(5))) struct AccountPageTests {
    static let links = "/account/links"

    /// A browser in which alice is signed in.
    private func alice() async throws -> Browser {
        let browser = Browser(try await ServiceTests.start())
        let page = await browser.get("/account/sign-in")
        #expect(page.isSignIn && page.action == "/account/sign-in")
        let sent = await browser.signIn(page)
        #expect(sent.status == 303 && sent.location == Self.links)
        return browser
    }

    /// Links alice with Alexa; the refresh token.
    private func link(_ running: ServiceTests.Running) async throws -> String {
        let client = try #require(running.service.authorization.clients["alexa"])
        let code = try await running.service.authorization.mintCode(
            client: client, redirectURI: Browser.alexaURI, scopes: ["profile"], subject: "u1001",
            by: running.clock.deadline()
        ).code
        let body =
            "grant_type=authorization_code&code=\(code.exposed)&redirect_uri=\(percentEncoded(Browser.alexaURI))"
        return try await token(body, running).refresh
    }

    private func token(_ body: String, _ running: ServiceTests.Running) async throws -> TokenHarness.Answer {
        try TokenHarness.Answer(
            await running.service.router.respond(
                to: HTTPRequest(
                    method: .post, target: "/oauth/token",
                    fields: [
                        "Content-Type": "application/x-www-form-urlencoded",
                        "Authorization": TokenHarness.basic("alexa", "alexa-secret"),
                    ], body: Array(body.utf8), deadline: running.clock.deadline())))
    }

    @Test("a user sees the clients that may use the account, and ends one")
    func revoke() async throws {
        let browser = try await alice()
        #expect(await browser.get(Self.links).text.contains("No service uses your account"))
        let refresh = try await link(browser.running)
        let page = await browser.get(Self.links)
        #expect(
            page.text.contains("Remove link</button>") && page.text.contains("Amazon Alexa")
                && page.text.contains("2025-01-15"))
        let token = page.hidden.filter { $0.0 == "token" }.prefix(1)
        let sent = await browser.post(Self.links, token + [("client", "alexa")])
        #expect(sent.status == 303 && sent.location == Self.links)
        #expect(await browser.get(Self.links).text.contains("No service uses your account"))
        let answer = try await self.token("grant_type=refresh_token&refresh_token=" + refresh, browser.running)
        #expect(answer.short == "400 invalid_grant")
    }

    @Test("a client that was linked twice has one entry, with the day of the first time, and ends as a whole")
    func linkedTwice() async throws {
        let browser = try await alice()
        let first = try await link(browser.running)
        browser.running.clock.advance(by: .seconds(2 * 86_400))
        let second = try await link(browser.running)
        let page = await browser.get(Self.links)
        #expect(page.text.ranges(of: "<section").count == 1 && page.text.contains("2025-01-15"))
        #expect(page.text.ranges(of: "<h2 id=\"link-0\">Amazon Alexa</h2>").count == 1)
        let token = page.hidden.filter { $0.0 == "token" }.prefix(1)
        #expect(await browser.post(Self.links, token + [("client", "alexa")]).status == 303)
        #expect(await browser.get(Self.links).text.contains("No service uses your account"))
        for refresh in [first, second] {
            let answer = try await self.token("grant_type=refresh_token&refresh_token=" + refresh, browser.running)
            #expect(answer.short == "400 invalid_grant")
        }
    }

    @Test("A18: no link is ended for another user, without a token, or by a client's name alone")
    func forged() async throws {
        let browser = try await alice()
        let refresh = try await link(browser.running)
        let bob = Browser(browser.running)
        _ = await bob.signIn(await bob.get("/account/sign-in"), "bob", "bob-password")
        let bobs = await bob.get(Self.links).hidden.filter { $0.0 == "token" }.prefix(1)
        #expect(await bob.post(Self.links, bobs + [("client", "alexa")]).status == 303)
        for hidden in [[], [("token", "")], Array(bobs)] {
            #expect(await browser.post(Self.links, hidden + [("client", "alexa")]).status == 403)
        }
        let mine = await browser.get(Self.links).hidden.filter { $0.0 == "token" }.prefix(1)
        for client in ["", "Alexa", "google"] {
            #expect(await browser.post(Self.links, mine + [("client", client)]).status == 303)
        }
        let answer = try await token("grant_type=refresh_token&refresh_token=" + refresh, browser.running)
        #expect(answer.status == 200)
    }

    @Test("PRO-8: a link outlives the sign-out and the session")
    func outlives() async throws {
        let browser = try await alice()
        let refresh = "grant_type=refresh_token&refresh_token=" + (try await link(browser.running))
        let token = await browser.get(Self.links).hidden.filter { $0.0 == "token" }.prefix(1)
        let out = await browser.post("/account/sign-out", Array(token))
        #expect(out.status == 303 && out.location == "/account/sign-out")
        #expect(await browser.get("/account/sign-out").text.contains("You are signed out"))
        #expect(await browser.get(Self.links).location == "/account/sign-in")
        #expect(try await self.token(refresh, browser.running).status == 200)
        browser.running.clock.advance(by: .seconds(15 * 86_400))
        #expect(try await self.token(refresh, browser.running).status == 200)
    }

    @Test(
        "A19: no address in a request leads the browser anywhere",
        arguments: ["next", "return_to", "redirect_uri", "url"])
    func closed(name: String) async throws {
        let browser = try await alice()
        let query = "?\(name)=https%3A%2F%2Fevil.example%2F"
        for path in ["/account/sign-in", Self.links, "/account/sign-out"] {
            let page = await browser.get(path + query)
            #expect(page.location == nil || page.location == Self.links)
            #expect(!page.text.contains("evil.example"))
        }
        #expect(await browser.post("/account/sign-out", []).status == 403)
        #expect(await browser.get(Self.links).status == 200)
    }

    @Test(
        "a cookie that was copied ends with the session: by sign-out, and by going over to another account",
        arguments: ["sign-out", "link", "authorize"])
    func copied(way: String) async throws {
        let browser = Browser(try await ServiceTests.start())
        _ = await browser.signIn(await browser.get("/account/sign-in"))
        let copy = Browser(browser.running)
        (copy.cookie, copy.others) = (browser.cookie, browser.others)
        let other = Browser(browser.running)
        _ = await other.signIn(await other.get("/account/sign-in"))
        #expect(await copy.get(Self.links).status == 200)
        switch way {
        case "sign-out":
            let token = try #require(await browser.get(Self.links).hidden.first { $0.0 == "token" })
            _ = await browser.post("/account/sign-out", [token])
        case "link": _ = await browser.submit(await browser.get("/link"), [("decision", "switch")])
        default: _ = await browser.submit(await browser.get(Browser.request()), [("decision", "switch")])
        }
        for gone in [browser, copy] { #expect(await gone.get(Self.links).status == 303, "\(way)") }
        #expect(await copy.get(Browser.request()).isSignIn)
        #expect(await other.get(Self.links).status == 200, "the user's other browser stays signed in")
        _ = await browser.signIn(await browser.get("/account/sign-in"))
        #expect(await browser.get(Self.links).status == 200)
    }
}
