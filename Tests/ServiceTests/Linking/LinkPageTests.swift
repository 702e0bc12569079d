import Alexa
import Concurrency
import Crypto
import HTTP
import Service
import Telemetry
import TestSupport
import Testing
import Time

/// Linking in a browser, from the page that asks to the page that says that it is done.
@Suite("Linking in a browser", .timeLimit(.minutes(5))) struct LinkPageTests {
    @Test("a user of the website links: sign-in, one button, Amazon, one button, and the page that says so")
    func website() async throws {
        let harness = try await LinkHarness { $0.skills[0].linking?.returnURLs = ["https://shop.example/done?a=1&b=2"] }
        let browser = Browser(harness.running)
        let target = "/link?skill=ride-hailer&return=https%3A%2F%2Fshop.example%2Fdone%3Fa%3D1%26b%3D2"
        let asked = await browser.get(target)
        #expect(asked.isSignIn && asked.action == "/account/sign-in")
        let signedIn = await browser.signIn(asked)
        #expect(signedIn.status == 303 && signedIn.location == target)
        let page = await browser.get(target)
        #expect(page.text.contains("Order a ride by voice") && page.text.contains("Alice Archer (alice)"))
        #expect(page.text.contains("Use another account") && page.policy.contains("https://www.amazon.com"))
        let state = try await browser.begin(target)
        #expect(state.split(separator: ".").count >= 1)
        let address = try await browser.land(state)
        let last = await browser.get(address)
        #expect(last.isFinish && last.text.contains("Ride Hailer") && last.text.contains("Alice Archer"))
        #expect(try await harness.links().isEmpty, "nothing is linked before the button")
        let sent = await browser.submit(last, [("decision", "agree")])
        #expect(sent.status == 303 && sent.location == address)
        let done = await browser.get(address)
        #expect(done.heading == "Your account is linked" && done.link == "https://shop.example/done?a=1&b=2")
        let links = try await harness.links()
        #expect(links.map(\.flow) == [.web] && links.map(\.status) == [.linked])
        #expect(harness.world.withLock { $0.exchanges.first?["code"] } == "amz-1")
    }

    @Test("what came from Amazon stands in no later address, page or readable cookie, and no page tells where it was")
    func nothingLeft() async throws {
        let harness = try await LinkHarness()
        let browser = await Browser.signedIn(harness)
        let state = try await browser.begin()
        let landed = await browser.get(Browser.callback + "?code=amz-secret&state=\(state)")
        let address = try #require(landed.location)
        let answers = [landed, await browser.get(address), await browser.agree(address), await browser.get(address)]
        for answer in answers {
            #expect(answer.response.fields["Cache-Control"] == "no-store")
            #expect(answer.response.fields["Referrer-Policy"] == "no-referrer")
            let seen = answer.text + answer.response.fields.values("Set-Cookie").joined() + (answer.location ?? "")
            #expect(!seen.contains("amz-secret") && !seen.contains(state))
            #expect(!seen.contains(Base64URL.encode(Array("amz-secret".utf8))))
        }
        harness.running.log.flush()
        let lines = harness.running.lines.lines
        #expect(!lines.contains { $0.contains("amz-secret") || $0.contains(state) })
    }

    @Test("the last page needs its button, with the token of who is signed in")
    func button() async throws {
        let harness = try await LinkHarness()
        let browser = await Browser.signedIn(harness)
        let address = try await browser.land(try await browser.begin())
        let token = try #require(await browser.get(address).hidden.first { $0.0 == "token" })
        let bob = await Browser.signedIn(harness, "bob")
        let bobs = try #require(await bob.get("/account/links").hidden.first { $0.0 == "token" })
        let refused: [[(String, String)]] = [
            [("decision", "agree")], [("token", ""), ("decision", "agree")], [bobs, ("decision", "agree")],
            [token], [token, ("decision", "yes")],
        ]
        for items in refused { #expect(await browser.post(address, items).status == 403) }
        #expect(try await harness.links().isEmpty)
        #expect(await browser.post(address, [token, ("decision", "agree")]).status == 303)
        #expect(try await harness.links().count == 1)
    }

    @Test("the first page needs its button too")
    func firstButton() async throws {
        let harness = try await LinkHarness()
        let browser = await Browser.signedIn(harness)
        let token = try #require(await browser.get("/link").hidden.first { $0.0 == "token" })
        let skill = ("skill", "ride-hailer")
        let refused: [[(String, String)]] = [
            [skill, ("decision", "link")], [("token", "x"), skill, ("decision", "link")], [token, skill],
            [token, ("decision", "link")],
        ]
        for items in refused { #expect(await browser.post("/link", items).status == 403) }
        #expect(await browser.post("/link", [token, skill, ("decision", "link")]).status == 303)
    }

    @Test("a state of the app's comes to the landing page: sign-in first, and the answer is not lost")
    func fromApp() async throws {
        let harness = try await LinkHarness { $0.apps.openURL = "ride-hailer://linked?from=page&x=1" }
        let state = try await harness.state()
        let browser = Browser(harness.running)
        let address = try await browser.land(state)
        let asked = await browser.get(address)
        #expect(asked.isSignIn)
        #expect(await browser.signIn(asked, "alice", "wrong").status == 400)
        #expect(await browser.signIn(asked).location == address)
        #expect(try await harness.links().isEmpty)
        #expect(await browser.agree(address).status == 303)
        let done = await browser.get(address)
        #expect(done.heading == "Your account is linked" && done.link == "ride-hailer://linked?from=page&x=1")
        #expect(try await harness.links().map(\.flow) == [.app])
    }

    @Test("no account swap: another user cannot finish, and may sign in as who began")
    func otherUser() async throws {
        let harness = try await LinkHarness()
        let state = try await harness.state()
        let bob = await Browser.signedIn(harness, "bob")
        let address = try await bob.land(state)
        let page = await bob.get(address)
        #expect(page.status == 403 && page.text.contains("Someone else started") && page.text.contains("Bob"))
        #expect(page.text.contains("Use another account") && page.reference?.count == 32)
        let token = try #require(page.hidden.first { $0.0 == "token" })
        #expect(await bob.post(address, [token, ("decision", "agree")]).status == 403)
        #expect(try await harness.leftovers(of: "u1001") == [0, 0, 0])
        #expect(try await harness.leftovers(of: "u1002") == [0, 0, 0])
        let switched = await bob.post(address, [token, ("decision", "switch")])
        #expect(switched.status == 303 && switched.location == address)
        let asked = await bob.get(address)
        #expect(asked.isSignIn)
        #expect(await bob.signIn(asked).location == address)
        #expect(await bob.agree(address).status == 303)
        #expect(try await harness.links().count == 1)
    }

    @Test("no account swap: what began in one browser ends in no other, for the same user either")
    func otherBrowser() async throws {
        let harness = try await LinkHarness()
        let first = await Browser.signedIn(harness)
        let state = try await first.begin()
        let second = await Browser.signedIn(harness)
        _ = try await second.begin()
        for browser in [second, await Browser.signedIn(harness), await Browser.signedIn(harness, "bob")] {
            let address = try await browser.land(state)
            let page = await browser.get(address)
            #expect(page.status == 403 && page.text.contains("Someone else started"))
            #expect(try await harness.links().isEmpty)
        }
        #expect(await first.agree(try await first.land(state)).status == 303)
        #expect(try await harness.links().count == 1)
    }

    @Test("the browser that began is known again after its user signed out and in")
    func signedInAgain() async throws {
        let harness = try await LinkHarness()
        let browser = await Browser.signedIn(harness)
        let state = try await browser.begin()
        let token = await browser.get("/account/links").hidden.filter { $0.0 == "token" }.prefix(1)
        _ = await browser.post("/account/sign-out", Array(token))
        let address = try await browser.land(state)
        let asked = await browser.get(address)
        #expect(asked.isSignIn)
        _ = await browser.signIn(asked)
        #expect(await browser.agree(address).status == 303)
        #expect(try await harness.links().count == 1)
    }

    @Test(
        "a state that was used, is too old, or is nobody's is refused and explained", arguments: ["used", "old", "x"])
    func void(fault: String) async throws {
        let harness = try await LinkHarness()
        let browser = await Browser.signedIn(harness)
        var state = try await browser.begin()
        if fault == "used" { _ = await browser.agree(try await browser.land(state)) }
        if fault == "old" { harness.running.clock.advance(by: .seconds(3601)) }
        if fault == "x" { state = "unknown-state" }
        var page = await browser.get(Browser.callback + "?code=amz-2&state=\(state)")
        if let address = page.location { page = await browser.get(address) }
        #expect(page.status == 400 && page.text.contains("no longer valid"))
        #expect(page.link == "/link" && page.reference?.count == 32)
        #expect(try await harness.links().count == (fault == "used" ? 1 : 0))
        #expect(harness.world.withLock { $0.exchanges.count } == (fault == "used" ? 1 : 0))
    }

    @Test("a button that is pressed twice, and the way back, show what became of it")
    func twice() async throws {
        let harness = try await LinkHarness()
        let browser = await Browser.signedIn(harness)
        let address = try await browser.land(try await browser.begin())
        let page = await browser.get(address)
        #expect(await browser.submit(page, [("decision", "agree")]).location == address)
        #expect(await browser.submit(page, [("decision", "agree")]).location == address)
        #expect(await browser.get(address).heading == "Your account is linked")
        #expect(harness.world.withLock { $0.exchanges.count } == 1)
    }

    @Test("only a redirect URL of our own is a landing page, and the website's way goes there")
    func ownAddresses() async throws {
        let other = "https://www.example.com/link/alexa/elsewhere"
        let harness = try await LinkHarness { $0.skills[0].linking?.redirectURLs.insert(other, at: 0) }
        let browser = await Browser.signedIn(harness)
        #expect(await browser.get("/link/alexa/elsewhere?code=a&state=abcdefgh").status == 404)
        let sent = await browser.submit(await browser.get("/link"), [("decision", "link")])
        #expect(sent.answer?["redirect_uri"] == LinkHarness.redirectURL)
        let foreign = try await LinkHarness { $0.skills[0].linking?.redirectURLs = [other] }
        let page = await Browser.signedIn(foreign).get("/link")
        #expect(page.status == 400 && page.reason == "link.redirectNotAllowed")
    }

    @Test("where no skill can be linked there is no page to do it")
    func nothingToLink() async throws {
        let harness = try await LinkHarness { $0.skills[0].linking = nil }
        let browser = await Browser.signedIn(harness)
        for target in ["/link", "/link/alexa/callback?code=a&state=abcdefgh", "/link/answer/0123456789abcdef"] {
            #expect(await browser.get(target).status == 404, "\(target)")
        }
        #expect(await browser.get("/account/links").status == 200)
    }
}
