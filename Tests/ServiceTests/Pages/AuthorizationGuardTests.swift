import HTTP
import OAuth
import Service
import TestSupport
import Testing
import Time

/// What the authorization page does not let pass.
@Suite("The authorization page's guards", .timeLimit(.minutes(5))) struct AuthorizationGuardTests {
    private func browser() async throws -> Browser { Browser(try await ServiceTests.start()) }

    @Test("A2: a client's request by POST is taken, and one that is no good gets a page")
    func byPost() async throws {
        let browser = try await browser()
        func post(_ changes: [String: String?]) async throws -> Browser.Page {
            let query = Browser.request(changes).drop { $0 != "?" }.dropFirst()
            let form = try #require(Form(decoding: query))
            return await browser.post(Browser.path, form.items.map { ($0.name, $0.value) })
        }
        let sent = try await post([:])
        #expect(sent.status == 303 && sent.location == Browser.request())
        for changes in [["client_id": "nobody"], ["redirect_uri": "https://evil.example/"], ["redirect_uri": ""]] {
            let page = try await post(changes)
            #expect(page.status == 400 && page.location == nil)
        }
    }

    @Test("a user who is disabled is told so with the right password alone, and is not signed in")
    func disabled() async throws {
        let users = try Users(
            json5: Array(
                """
                { users: [{ sub: "u7", username: "carol", password: "carol-password", name: "Carol",
                  email: "carol@example.com", disabled: true }] }
                """.utf8), development: true)
        let running = try await ServiceTests.start { configuration in
            guard case .embedded(var embedded) = configuration.provider.kind else { return }
            embedded.users = users
            configuration.provider.kind = .embedded(embedded)
        }
        let browser = Browser(running)
        let page = await browser.get(Browser.request())
        let wrong = await browser.signIn(page, "carol", "no")
        #expect(wrong.status == 400 && !wrong.text.contains("locked"))
        let right = await browser.signIn(page, "carol", "carol-password")
        #expect(right.status == 403 && right.text.contains("This account is locked"))
        #expect(await browser.get(Browser.request()).isSignIn)
    }

    @Test("A15: after a password the browser is led on by 303, by POST never again")
    func seeOther() async throws {
        let browser = try await browser()
        let sent = await browser.signIn(await browser.get(Browser.request()))
        #expect(sent.status == 303)
    }

    @Test("A16, A17, A20, A24: no page is framed, kept, read by other sites or told of to them")
    func fields() async throws {
        let browser = try await browser()
        browser.fields["Origin"] = "https://evil.example"
        let signIn = await browser.get(Browser.request())
        let wrong = await browser.signIn(signIn, "alice", "no")
        let sent = await browser.signIn(signIn)
        let consent = await browser.get(Browser.request())
        let done = await browser.submit(consent, [("decision", "agree")])
        let fault = await browser.get(Browser.path)
        for page in [signIn, wrong, sent, consent, done, fault] {
            let fields = page.response.fields
            #expect(fields["Cache-Control"] == "no-store" && fields["Referrer-Policy"] == "no-referrer")
            #expect(!fields.lines.contains { $0.name.lowercased().hasPrefix("access-control-") })
            guard page.status != 303 else { continue }
            #expect(fields["X-Frame-Options"] == "DENY" && page.policy.contains("frame-ancestors 'none'"))
            #expect(fields["Content-Type"] == "text/html; charset=utf-8" && !page.text.contains("<script"))
            for attribute in ["src=\"http", "url(", "@import", "<link"] { #expect(!page.text.contains(attribute)) }
        }
    }

    @Test("A18: a form that another session or nobody made is taken from no one")
    func forged() async throws {
        let (alice, bob) = (try await browser(), try await browser())
        _ = await alice.signIn(await alice.get(Browser.request()))
        let consent = await alice.get(Browser.request())
        let other = Browser(alice.running)
        _ = await other.signIn(await other.get(Browser.request()), "bob", "bob-password")
        let bobs = await other.get(Browser.request())
        let request = consent.hidden.filter { $0.0 == "request" }
        let token = { (page: Browser.Page) in page.hidden.filter { $0.0 == "token" } }
        for hidden in [request, request + [("token", "")], request + token(bobs), request + [("token", "1.YQ.YQ")]] {
            let page = await alice.post(Browser.path, hidden + [("decision", "agree")])
            #expect(page.status == 403 && page.location == nil && page.link == Browser.request())
        }
        // Another service's key signs nothing here.
        let foreign = await bob.get(Browser.request())
        let page = await alice.post(Browser.path, foreign.hidden + [("decision", "agree")])
        #expect(page.status == 400 && page.location == nil)
        #expect(await alice.submit(consent, [("decision", "agree")]).answer?["code"] != nil)
    }

    @Test("a browser that keeps no cookie, or a form too old, gets a page whose link keeps the request")
    func expired() async throws {
        let browser = try await browser()
        let page = await browser.get(Browser.request())
        let cookie = browser.cookie
        browser.cookie = nil
        let bare = await browser.signIn(page)
        #expect(bare.status == 403 && bare.link == Browser.request() && bare.text.contains("cookie"))
        browser.cookie = cookie
        browser.running.clock.advance(by: .seconds(3601))
        let late = await browser.signIn(page)
        #expect(late.status == 403 && late.link == Browser.request())
        #expect(await browser.signIn(await browser.get(Browser.request())).status == 303)
    }

    @Test(
        "who is no user, and who has another password, are told the same",
        arguments: [("alice", "Alice-password"), ("nobody", "alice-password"), ("Alice", "alice-password")])
    func wrong(username: String, password: String) async throws {
        let browser = try await browser()
        let page = await browser.signIn(await browser.get(Browser.request()), username, password)
        #expect(page.status == 400 && page.text.contains("User name or password is not right"))
        #expect(!page.text.contains(password) && page.location == nil)
        #expect(await browser.get(Browser.request()).isSignIn)
    }

    @Test("the cookie is the browser's alone, lasts 30 days, and another name or value opens nothing")
    func cookie() async throws {
        let browser = try await browser()
        let set = await browser.signIn(await browser.get(Browser.request())).response.fields["Set-Cookie"] ?? ""
        for part in ["; HttpOnly", "; SameSite=Lax", "; Path=/", "; Max-Age=2592000"] { #expect(set.contains(part)) }
        #expect(set.hasPrefix("__Host-") == set.contains("; Secure"))
        let good = try #require(browser.cookie)
        #expect(await browser.get(Browser.request()).isConsent)
        for bad in ["x" + good, good.dropLast() + "!", good.split(separator: "=")[0] + "=alice"] {
            browser.cookie = String(bad)
            #expect(await browser.get(Browser.request()).isSignIn)
        }
        browser.cookie = good
        browser.running.clock.advance(by: .seconds(30 * 86_400))
        #expect(await browser.get(Browser.request()).isSignIn)
    }

    @Test("OPS-2: wrong passwords close one account for a while, wherever they come from, and no other")
    func account() async throws {
        let browser = try await browser()
        let page = await browser.get(Browser.request())
        var statuses: [Int] = []
        for attempt in 0..<12 {
            browser.address = "192.0.2.\(attempt)"
            statuses.append(await browser.signIn(page, "alice", "no").status)
        }
        #expect(statuses == Array(repeating: 400, count: 10) + [429, 429])
        let closed = await browser.signIn(page)
        #expect(closed.status == 429 && closed.response.fields["Retry-After"] == "900")
        browser.running.clock.advance(by: .seconds(900))
        #expect(await browser.signIn(page).status == 303)
        let other = Browser(browser.running)
        #expect(await other.signIn(await other.get(Browser.request()), "bob", "bob-password").status == 303)
    }

    @Test("OPS-2: an address is slowed on the form, where others and right passwords after the pause pass")
    func slowed() async throws {
        let browser = try await browser()
        let page = await browser.get(Browser.request())
        for attempt in 0..<30 { #expect(await browser.signIn(page, "nobody\(attempt)", "no").status == 400) }
        let slowed = await browser.signIn(page)
        #expect(slowed.status == 429 && slowed.response.fields["Retry-After"] == "2")
        #expect(await browser.get(Browser.request()).isSignIn)
        browser.running.clock.advance(by: .seconds(2))
        #expect(await browser.signIn(page).status == 303)
    }
}
