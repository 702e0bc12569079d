import HTTP
import JSON
import Service
import TestSupport
import Testing

/// What Google asks of the page that links an account, row by row, in the whole service.
@Suite("Google's screens", .timeLimit(.minutes(5))) struct GooglePageTests {
    /// The request that Google's app sends the browser with.
    static func request(_ changes: [String: String?] = [:]) -> String {
        let google: [String: String?] = [
            "client_id": "google", "redirect_uri": AppFlipHarness.browser, "scope": "devices", "user_locale": "en-US",
        ]
        return Browser.request(google.merging(changes) { $1 })
    }

    private func consent(_ request: String) async throws -> (Browser, Browser.Page) {
        let browser = Browser(try await ServiceTests.start { $0.company.privacyURL = "https://example.com/privacy" })
        let sent = await browser.signIn(await browser.get(request))
        return (browser, await browser.get(try #require(sent.location)))
    }

    @Test("the page says that Google will be able to control the devices, and names no app of Google's")
    func control() async throws {
        let (_, page) = try await consent(Self.request())
        #expect(page.isConsent && page.text.contains("you allow Google to control your devices"))
        #expect(page.text.contains("<h1>Link Ride Hailer with Google</h1>"))
        for name in ["Google Home", "Assistant", "Chromecast", "Nest"] { #expect(!page.text.contains(name)) }
    }

    @Test("the buttons are Agree and link, and Cancel", arguments: ["en-US", "de-DE", "ja-JP"])
    func buttons(locale: String) async throws {
        let (_, page) = try await consent(Self.request(["user_locale": locale]))
        let labels = ["en-US": ("Agree and link", "Cancel"), "de-DE": ("Zustimmen und verbinden", "Abbrechen")]
        let (agree, cancel) = labels[locale] ?? ("同意してリンク", "キャンセル")
        #expect(page.text.contains("value=\"agree\">\(agree)</button>"))
        #expect(page.text.contains("value=\"deny\">\(cancel)</button>"))
    }

    @Test("the user signs in with the company's own credentials, and nothing of Google's skips that")
    func ownSignIn() async throws {
        let browser = Browser(try await ServiceTests.start())
        let page = await browser.get(Self.request(["login_hint": "alice@example.com", "prompt": "none"]))
        #expect(page.isSignIn && page.text.contains("With your Ride Hailer account"))
        #expect(!page.text.contains("google.com") && !page.text.contains("<script"))
    }

    @Test("company, what is shared, Google's privacy policy, how to unlink, and another account stand on the page")
    func details() async throws {
        let (_, page) = try await consent(Self.request())
        #expect(page.text.contains("Ride Hailer") && page.text.contains("src=\"/assets/logo-"))
        #expect(page.text.contains("see and control your devices") && page.text.contains("Alice Archer"))
        #expect(page.text.contains("<a href=\"https://policies.google.com/privacy\">Google privacy policy</a>"))
        #expect(page.text.contains("remove the link at any time") && page.text.contains("value=\"switch\""))
        #expect(page.text.contains("href=\"https://example.com/privacy\""))
    }

    @Test("after agreeing the browser is back at Google at once with a code, after cancelling with an error")
    func back() async throws {
        let (browser, page) = try await consent(Self.request())
        let agreed = await browser.submit(page, [("decision", "agree")])
        #expect(agreed.status == 303 && agreed.location?.hasPrefix(AppFlipHarness.browser + "?") == true)
        #expect(agreed.answer?["code"]?.isEmpty == false && agreed.answer?["state"] == "s+1=")
        #expect(agreed.response.body.isEmpty)
        let left = await browser.submit(page, [("decision", "deny")])
        #expect(left.status == 303 && left.location?.hasPrefix(AppFlipHarness.browser + "?") == true)
        #expect(left.answer?["error"] == "access_denied" && left.answer?["state"] == "s+1=")
    }

    @Test("Alexa's consent leads to Amazon's privacy policy, and an app of the company's to nobody's but ours")
    func otherPolicies() async throws {
        let (_, alexa) = try await consent(Browser.request())
        #expect(alexa.text.contains("<a href=\"https://www.amazon.com/privacy\">Amazon Alexa privacy policy</a>"))
        #expect(!alexa.text.contains("policies.google.com") && !alexa.text.contains("control your devices."))
        let (_, app) = try await consent(
            Browser.request([
                "client_id": "app", "redirect_uri": "com.example.ridehailer:/callback",
                "code_challenge": TokenHarness.challenge, "code_challenge_method": "S256",
            ]))
        #expect(app.isConsent && !app.text.contains("amazon.com") && !app.text.contains("google.com"))
    }
}
