import Alexa
import Concurrency
import HTTP
import Service
import Telemetry
import TestSupport
import Testing

/// What a browser is shown where linking does not go well.
@Suite("Faults of linking in a browser", .timeLimit(.minutes(5))) struct LinkPageFaultTests {
    @Test("LNK-8: a user who says no is back at the start, is told of no error, and the state is spent")
    func declined() async throws {
        let harness = try await LinkHarness()
        let browser = await Browser.signedIn(harness)
        let state = try await browser.begin()
        let back = await browser.get(Browser.callback + "?error=access_denied&state=\(state)")
        #expect(back.status == 303 && back.location == "/link?skill=ride-hailer")
        #expect(await browser.get("/link?skill=ride-hailer").heading == "Link Ride Hailer with Alexa")
        let late = await browser.get(try await browser.land(state))
        #expect(late.status == 400 && late.text.contains("no longer valid"))
    }

    @Test("LNK-8: Amazon's other errors are told in the user's language, with the id for support, never word for word")
    func amazonsErrors() async throws {
        let harness = try await LinkHarness()
        let rows = [
            ("server_error&error_description=x", 502, "unexpected problem", "unerwartetes Problem", "予期しない問題"),
            ("temporarily_unavailable", 503, "briefly unavailable", "kurz nicht erreichbar", "一時的に利用できない"),
            ("invalid_scope", 502, "We can't connect", "gerade nicht mit Alexa", "接続して"),
            ("%3Cscript%3Ealert(1)%3C/script%3E", 502, "We can't connect", "gerade nicht mit Alexa", "接続して"),
        ]
        for (error, status, english, german, japanese) in rows {
            for (language, words) in [("en-US", english), ("de-DE", german), ("ja-JP", japanese)] {
                let browser = await Browser.signedIn(harness)
                browser.fields["Accept-Language"] = language
                let state = try await browser.begin()
                let page = await browser.get(Browser.callback + "?error=\(error)&state=\(state)")
                let text = page.text.replacing("&#39;", with: "'")
                #expect(page.status == status && text.contains(words), "\(error) \(language)")
                #expect(!page.text.contains("script") && !page.text.contains(state))
                #expect(page.link == "/link?skill=ride-hailer")
                #expect(await browser.get(try await browser.land(state)).status == 400, "spent")
            }
        }
    }

    @Test("an error ends an attempt of the app's without a sign-in, and nobody else's attempt")
    func errorsOfOthers() async throws {
        let harness = try await LinkHarness()
        let state = try await harness.state()
        let bob = await Browser.signedIn(harness, "bob")
        let stranger = await bob.get(Browser.callback + "?error=access_denied&state=\(state)")
        #expect(stranger.status == 403 && stranger.text.contains("Someone else"))
        let alice = await Browser.signedIn(harness)
        let ofWeb = try await alice.begin()
        let elsewhere = await Browser(harness.running).get(Browser.callback + "?error=access_denied&state=\(ofWeb)")
        #expect(elsewhere.status == 403)
        #expect(await alice.get(try await alice.land(ofWeb)).isFinish, "both are good still")
        #expect(await alice.get(try await alice.land(state)).isFinish)
        let nobody = Browser(harness.running)
        #expect(await nobody.get(Browser.callback + "?error=access_denied&state=\(state)").status == 303)
        #expect(await alice.get(try await alice.land(state)).status == 400)
    }

    @Test(
        "LNK-8: what holds no answer is 400 with words for the user, and changes nothing",
        arguments: [
            "", "?error=access_denied", "?code=a", "?state=S", "?code=a&code=b&state=S", "?code=a&state=S&state=S",
            "?code=a&error=b&state=S", "?code=&state=S", "?code=a&state=", "?code=%ZZ&state=S", "?code=a%0Ab&state=S",
            "?code=a&state=S#", "?code=LONG&state=S",
        ])
    func badQuery(query: String) async throws {
        let harness = try await LinkHarness()
        let browser = await Browser.signedIn(harness)
        let state = try await browser.begin()
        let target = query.replacing("S", with: state + (query.hasSuffix("#") ? "x" : ""))
            .replacing("LONG", with: String(repeating: "a", count: 2049))
        let page = await browser.get(Browser.callback + target)
        #expect(page.status == 400 && page.reference?.count == 32 && page.link == "/link")
        let reason = try #require(page.reason)
        #expect(reason.hasPrefix("link."))
        let trace = try #require(try await harness.trace(page.reference ?? ""))
        #expect(trace.kind == .other && trace.reason == reason && trace.steps.map(\.reason) == [reason])
        #expect(browser.others.count == 1, "no answer is kept")
        #expect(await browser.get(try await browser.land(state)).isFinish, "the attempt is good still")
    }

    @Test("where Amazon or Alexa refuses, the page says so and the way begins anew")
    func refusedLater() async throws {
        let harness = try await LinkHarness()
        let browser = await Browser.signedIn(harness)
        harness.world.withLock {
            $0.tokenAnswer = HTTPResponse(status: 400, body: Array(#"{"error":"invalid_grant"}"#.utf8))
        }
        var address = try await browser.land(try await browser.begin())
        var page = await browser.agree(address)
        #expect(page.status == 502 && page.link == "/link" && page.reference?.count == 32)
        #expect(page.reason == "grant.lwaInvalidGrant")
        #expect(await browser.get(address).status == 400, "an answer is good once")
        harness.world.withLock {
            $0.tokenAnswer = nil
            $0.regions[.northAmerica] = .status(403, "{}")
        }
        address = try await browser.land(try await browser.begin(), code: "amz-2")
        page = await browser.agree(address)
        #expect(page.status == 502 && page.heading == "Your account was not linked")
        #expect(try await harness.leftovers() == [0, 0, 0])
        harness.world.withLock { $0.regions[.northAmerica] = .home }
        address = try await browser.land(try await browser.begin(), code: "amz-3")
        #expect(await browser.agree(address).status == 303)
        #expect(try await harness.links().count == 1)
    }

    @Test("a link that Alexa has not confirmed says so, and looking again shows what became of it")
    func pending() async throws {
        let harness = try await LinkHarness()
        harness.world.withLock { $0.regions[.northAmerica] = .answerLost }
        let browser = await Browser.signedIn(harness)
        let address = try await browser.land(try await browser.begin())
        #expect(await browser.agree(address).location == address)
        let page = await browser.get(address)
        #expect(page.heading == "Almost done" && page.link == address && page.text.contains("Look again"))
        let list = await browser.get("/account/links")
        #expect(list.text.contains("Alexa has not confirmed it yet"))
        harness.running.clock.advance(by: .seconds(60))
        _ = try await harness.running.service.links.flush()
        #expect(await browser.get(address).heading == "Your account is linked")
    }

    @Test("a return address is one of the configuration's, to the letter")
    func returnURL() async throws {
        let harness = try await LinkHarness { $0.skills[0].linking?.returnURLs = ["https://shop.example/done"] }
        let browser = await Browser.signedIn(harness)
        for url in [
            "https://shop.example/done/", "https://shop.example/done?x", "https://evil.example/", "//evil.example",
            "http://shop.example/done", "https://shop.example/DONE", "javascript:alert(1)", "/account/links",
        ] {
            let page = await browser.get("/link?return=" + percentEncoded(url))
            #expect(page.status == 400 && !page.text.contains(url))
            let token = try #require(await browser.get("/link").hidden.first { $0.0 == "token" })
            let items = [token, ("skill", "ride-hailer"), ("return", url), ("decision", "link")]
            #expect(await browser.post("/link", items).status == 400)
        }
        let stranger = Browser(harness.running)
        #expect(await stranger.get("/link?return=https%3A%2F%2Fevil.example").status == 400, "before the sign-in")
        #expect(await browser.get("/link?return=https%3A%2F%2Fshop.example%2Fdone").status == 200)
        #expect(await browser.get("/link?skill=nobody").status == 404)
        #expect(await browser.get("/link?skill=a&skill=b").status == 400)
    }

    @Test("the way back after the sign-in is one that we signed for that, and nothing else")
    func way() async throws {
        let harness = try await LinkHarness()
        let browser = Browser(harness.running)
        let page = await browser.get("/link")
        let token = try #require(page.hidden.first { $0.0 == "token" })
        // What is signed on other pages: an attacker chooses the content of the first.
        let request = try #require(
            await browser.get(Browser.request(["x": "//evil.example"])).hidden.first { $0.0 == "request" }
        ).1
        let user = [("username", "alice"), ("password", "alice-password")]
        for way in ["//evil.example", "https://evil.example", request, token.1, ""] {
            let other = Browser(harness.running)
            let own = try #require(await other.get("/link").hidden.first { $0.0 == "token" })
            let sent = await other.post("/account/sign-in", [own, ("way", way)] + user)
            #expect(sent.status == 303 && sent.location == "/account/links")
        }
        #expect(await browser.signIn(page).location == "/link")
    }

    @Test("several skills: one button and one consent each; two with one path are told apart by the state")
    func several() async throws {
        let harness = try await LinkHarness { configuration in
            var second = configuration.skills[0]
            second.name = "freight"
            second.id = "amzn1.ask.skill.00000000-0000-4000-8000-000000000009"
            second.linking?.clientID = "amzn1.application-oa2-client.second"
            configuration.skills.append(second)
        }
        let browser = await Browser.signedIn(harness)
        let page = await browser.get("/link")
        #expect(page.text.ranges(of: "value=\"link\"").count == 2 && page.text.contains("Freight"))
        let token = try #require(page.hidden.first { $0.0 == "token" })
        for (skill, client) in [("freight", "second"), ("ride-hailer", "linking")] {
            let sent = await browser.post("/link", [token, ("skill", skill), ("decision", "link")])
            #expect(sent.answer?["client_id"] == "amzn1.application-oa2-client." + client)
            let address = try await browser.land(try #require(sent.answer?["state"]), code: "amz-" + client)
            #expect(await browser.agree(address).status == 303)
        }
        #expect(Set(try await harness.links().map(\.skill)) == ["freight", "ride-hailer"])
        #expect(await browser.post("/link", [token, ("decision", "link")]).status == 403)
    }

    @Test("a stranger's page cannot fill the browser with answers")
    func manyAnswers() async throws {
        let harness = try await LinkHarness()
        let browser = await Browser.signedIn(harness)
        let state = try await browser.begin()
        for _ in 0..<20 { _ = try await browser.land(state) }
        #expect(browser.others.count <= 6)
        #expect(await browser.get(try await browser.land(state)).isFinish)
    }
}
