import HTTP
import JSON
import OAuth
import Service
import TestSupport
import Telemetry
import Testing
import Time

/// `/oauth/authorize` in the whole service, over the demo's configuration.
@Suite("The authorization page", .timeLimit(.minutes(5))) struct AuthorizationPageTests {
    private func browser() async throws -> Browser { Browser(try await ServiceTests.start()) }

    /// A browser in which alice is signed in, at the consent page for the request.
    private func consent(_ request: String = Browser.request()) async throws -> (Browser, Browser.Page) {
        let browser = try await browser()
        let sent = await browser.signIn(await browser.get(request))
        return (browser, await browser.get(try #require(sent.location)))
    }

    @Test("a user signs in, agrees, and the code becomes tokens of that user")
    func whole() async throws {
        let browser = try await browser()
        let page = await browser.get(Browser.request())
        #expect(page.isSignIn)
        let sent = await browser.signIn(page)
        #expect(sent.status == 303 && sent.location == Browser.request())
        let consent = await browser.get(Browser.request())
        #expect(consent.isConsent && consent.text.contains("Alice Archer") && consent.text.contains("Amazon Alexa"))
        #expect(consent.text.contains("see your name and address"))
        let done = await browser.submit(consent, [("decision", "agree")])
        #expect(done.status == 303 && done.location?.hasPrefix(Browser.alexaURI + "?") == true)
        #expect(done.answer?["state"] == "s+1=" && done.answer?["iss"] == nil)
        let code = try #require(done.answer?["code"])
        let answer = try await redeem(code, browser)
        #expect(answer.status == 200 && answer.json["scope"] ?? "profile" == "profile")
        #expect(try await redeem(code, browser).short == "400 invalid_grant")
    }

    private func redeem(_ code: String, _ browser: Browser) async throws -> TokenHarness.Answer {
        try TokenHarness.Answer(
            await browser.running.service.router.respond(
                to: HTTPRequest(
                    method: .post, target: "/oauth/token",
                    fields: [
                        "Content-Type": "application/x-www-form-urlencoded",
                        "Authorization": TokenHarness.basic("alexa", "alexa-secret"),
                    ],
                    body: Array(
                        "grant_type=authorization_code&code=\(code)&redirect_uri=\(percentEncoded(Browser.alexaURI))"
                            .utf8), deadline: browser.running.clock.deadline())))
    }

    @Test("whoever says no is led back with access_denied and the state; no code is made")
    func denied() async throws {
        let (browser, page) = try await consent()
        let done = await browser.submit(page, [("decision", "deny")])
        #expect(done.status == 303 && done.location?.hasPrefix(Browser.alexaURI + "?") == true)
        #expect(done.answer?["error"] == "access_denied" && done.answer?["state"] == "s+1=")
        #expect(done.answer?["code"] == nil)
    }

    @Test("another account: the session ends and the request stays")
    func otherAccount() async throws {
        let (browser, page) = try await consent()
        let switched = await browser.submit(page, [("decision", "switch")])
        #expect(switched.status == 303 && switched.location == Browser.request())
        let again = await browser.get(Browser.request())
        #expect(again.isSignIn)
        _ = await browser.signIn(again, "bob", "bob-password")
        #expect(await browser.get(Browser.request()).text.contains("Bob"))
    }

    @Test(
        "PRO-4: an error is sent to the client after sign-in alone",
        arguments: [
            (["scope": "nonsense"], "invalid_scope"), (["response_type": "token"], "unsupported_response_type"),
        ])
    func refused(changes: [String: String], error: String) async throws {
        let (browser, request) = (try await browser(), Browser.request(changes))
        let page = await browser.get(request)
        #expect(page.isSignIn && page.location == nil)
        #expect(await browser.signIn(page).location == request)
        let done = await browser.get(request)
        #expect(done.status == 303 && done.location?.hasPrefix(Browser.alexaURI + "?") == true)
        #expect(done.answer?["error"] == error && done.answer?["state"] == "s+1=")
    }

    @Test(
        "PRO-4, A19: a client or address that is not known gets a page, also once the user is signed in",
        arguments: [
            ["client_id": "nobody"], ["redirect_uri": "https://evil.example/"],
            ["redirect_uri": Browser.alexaURI + "/"], ["redirect_uri": "/frontend"], ["redirect_uri": ""],
        ])
    func nowhere(changes: [String: String]) async throws {
        let (browser, _) = try await consent()
        for browser in [browser, Browser(browser.running)] {
            let page = await browser.get(Browser.request(changes))
            #expect(page.status == 400 && page.location == nil && !page.text.contains("evil.example"))
            #expect(page.text.contains("This link does not work"))
        }
    }

    @Test("PRO-5: the consent page lets the form lead to the client's origin and nowhere else; the answer is 303")
    func policy() async throws {
        let (browser, page) = try await consent()
        #expect(page.policy.contains("form-action 'self' https://layla.amazon.com"))
        #expect(!page.policy.contains("pitangui") && page.policy.contains("default-src 'none'"))
        #expect(await browser.submit(page, [("decision", "agree")]).status == 303)
        let fault = await browser.get(Browser.request(["client_id": "nobody"]))
        #expect(fault.policy.hasSuffix("form-action 'self'"))
    }

    @Test("PRO-6: a second tab and Back lose nothing; each code has its own state")
    func tabs() async throws {
        let browser = try await browser()
        let (one, two) = (Browser.request(["state": "s1"]), Browser.request(["state": "s2"]))
        let first = await browser.get(one)
        _ = await browser.signIn(await browser.get(two))
        // The first tab still shows the sign-in, made for the session before.
        let moved = await browser.submit(first, [("username", ""), ("password", "")])
        #expect(moved.status == 303 && moved.location == one)
        let consent = await browser.get(one)
        #expect(consent.isConsent)
        let done = await browser.submit(consent, [("decision", "agree")])
        let again = await browser.submit(consent, [("decision", "agree")])
        #expect(done.answer?["state"] == "s1" && again.answer?["state"] == "s1")
        let codes = [done, again].compactMap { $0.answer?["code"] }
        #expect(Set(codes).count == 2)
        let other = await browser.submit(await browser.get(two), [("decision", "agree")])
        #expect(other.answer?["state"] == "s2")
    }

    @Test("LNK-7: an address that was entered with parameters of its own gets a page that names the repeated one")
    func enteredWithParameters() async throws {
        let browser = try await browser()
        let uri = percentEncoded("https://pitangui.amazon.com/api/skill/link/MDEVELOPMENT")
        let entered = "/oauth/authorize?client_id=alexa&response_type=code&state=%3Cstate%3E"
        let page = await browser.get(
            entered + "&client_id=alexa&response_type=code&state=alexa-123&redirect_uri=\(uri)")
        #expect(page.status == 400 && page.location == nil && page.text.contains("client_id is in the address more"))
        let german = Browser(browser.running)
        german.fields["Accept-Language"] = "de"
        let other = await german.get("/oauth/authorize?client_id=alexa&redirect_uri=\(uri)&redirect_uri=\(uri)")
        #expect(other.status == 400 && other.text.contains("redirect_uri steht mehrmals"))
        // Where it is known whom to tell, Alexa is told.
        let told = await browser.get("/oauth/authorize?client_id=alexa&redirect_uri=\(uri)&state=a&state=b")
        let answer = await browser.signIn(told).location ?? told.location
        #expect(told.status != 400 && answer?.contains("more than once") != true)
        #expect(!(await browser.get("/oauth/authorize?client_id=nobody")).text.contains("more than once"))
    }

    @Test("the page of a request that leads nowhere names reason and trace, and the trace what was asked for")
    func traced() async throws {
        let browser = try await browser()
        let good = percentEncoded("https://pitangui.amazon.com/api/skill/link/MDEVELOPMENT")
        let wrong = percentEncoded("https://layla.amazon.co.uk/api/skill/link/M1?token=secret")
        for (query, reason, client, address) in [
            (
                "client_id=alexa&redirect_uri=\(wrong)", "authorize.redirectUnknown", "alexa",
                "https://layla.amazon.co.uk/api/skill/link/M1"
            ),
            ("client_id=alexa", "authorize.redirectMissing", "alexa", nil),
            (
                "client_id=nobody&redirect_uri=\(good)", "authorize.clientUnknown", "nobody",
                "https://pitangui.amazon.com/api/skill/link/MDEVELOPMENT"
            ),
            (
                "redirect_uri=\(good)", "authorize.clientMissing", nil,
                "https://pitangui.amazon.com/api/skill/link/MDEVELOPMENT"
            ),
            ("%ZZ", "authorize.malformed", nil, nil),
        ] as [(String, String, String?, String?)] {
            let page = await browser.get("/oauth/authorize?response_type=code&" + query)
            #expect(page.status == 400 && page.reason == reason, "\(query)")
            let trace = try #require(try await browser.running.trace(page.reference ?? ""), "\(query)")
            #expect(trace.reason == reason && trace.kind == .other)
            #expect(trace.notes.first { $0.name == "client" }?.value == client)
            #expect(trace.notes.first { $0.name == "redirectURI" }?.value == address)
        }
    }

    @Test("what the client is told of is a trace too, once the user is known")
    func tracedRefusal() async throws {
        let browser = try await browser()
        let uri = percentEncoded("https://pitangui.amazon.com/api/skill/link/MDEVELOPMENT")
        let target = "/oauth/authorize?client_id=alexa&response_type=code&state=s&scope=admin&redirect_uri=\(uri)"
        let signedIn = await browser.signIn(await browser.get(target))
        let back = await browser.get(try #require(signedIn.location))
        #expect(back.answer?["error"] == "invalid_scope")
        let line = try #require(browser.running.lines(naming: "authorize.refused").first)
        let id = try #require(line.split(separator: "\"traceID\":\"").last?.prefix { $0 != "\"" })
        let trace = try #require(try await browser.running.trace(String(id)))
        #expect(trace.subject == "u1001")
        #expect(trace.notes.first { $0.name == "detail" }?.value.hasPrefix("invalid_scope: ") == true)
    }
}
