import Alexa
import Crypto
import FoundationEssentials
import HTTP
import JSON
import Simulator
import TestSupport
import Testing

/// Linking from the company's website and at the landing page, in Chromium, through Amazon's simulated page.
@Suite(
    "Linking with Alexa, in Chromium", .timeLimit(.minutes(5)),
    .enabled(if: Browser.isInstalled, "skipped: needs chromium and chromium-driver"))
struct LinkBrowserTests {
    /// A browser and a service beside a simulated Amazon with one customer.
    private func site(
        _ view: Browser.View, _ body: (Browser, LinkingStage, String) async throws -> Void
    ) async throws {
        try await LinkingStage.with(accounts: [LinkingStage.account(.europe)]) { app in
            try await Browser.with(view) { browser in
                try await body(browser, app, "http://127.0.0.1:\(app.service.port)")
            }
        }
    }

    /// Waits until the page says that; gives its address.
    @discardableResult private func until(_ browser: Browser, _ heading: String) async throws -> String {
        var found = ""
        for _ in 0..<2000 {
            if try await browser.count("h1") == 1 { found = try await browser.text("h1") }
            if found == heading { return try await browser.url() }
        }
        throw Browser.Fault(message: "the page says \(found), not \(heading)")
    }

    /// Waits for the form to sign in, and signs in.
    private func signIn(_ browser: Browser, as username: String = "alice") async throws {
        try await browser.wait("there is a form") { try await browser.count("#username") == 1 }
        try await browser.type(username, into: "#username")
        try await browser.type(username + "-password", into: "#password")
        try await browser.click("form button")
    }

    /// Goes from the website to Amazon's page, as alice.
    private func begin(_ browser: Browser, _ origin: String) async throws {
        try await browser.open(origin + "/link")
        try await signIn(browser)
        try await until(browser, "Link Skillgate with Alexa")
        try await browser.click("button[value=link]")
        try await until(browser, "Link the skill?")
    }

    @Test(
        "the website's user signs in, links through Amazon's page, sees the link and removes it",
        arguments: [Browser.View.phone, .desktop.dark])
    func website(view: Browser.View) async throws {
        try await site(view) { browser, app, origin in
            try await browser.open(origin + "/link")
            try await signIn(browser)
            try await until(browser, "Link Skillgate with Alexa")
            #expect(try await browser.text(".who").contains("Alice Archer"))
            try await browser.click("button[value=link]")
            try await until(browser, "Link the skill?")
            #expect(try await browser.url().hasPrefix(app.stage.consent.loginURL))
            try await browser.click("button[value=carol]")
            let last = try await until(browser, "One last step")
            #expect(!last.contains("code=") && !last.contains("state="), "what came back is in no address")
            #expect(app.stage.hosts.linking.enabled.isEmpty)
            try await browser.click("button[value=agree]")
            try await until(browser, "Your account is linked")
            #expect(app.stage.hosts.linking.enabled.map(\.account.home) == [.europe])
            // Back leads to what became of it, and Amazon's page before that to no second link.
            try await browser.back()
            try await until(browser, "Your account is linked")
            try await browser.back()
            try await until(browser, "Link the skill?")
            try await browser.click("button[value=carol]")
            try await until(browser, "Your account was not linked")
            #expect(try await browser.text("main").contains("link.stateReused"))
            #expect(app.stage.hosts.linking.enabled.count == 1)
            try await browser.open(last)
            try await until(browser, "Your account is linked")
            try await browser.open(origin + "/account/links")
            #expect(try await browser.text("main").contains("Alexa"))
            try await browser.click("form button")
            try await browser.wait("the link is gone") { try await app.links(["list"]).output.isEmpty }
            #expect(app.stage.hosts.linking.enabled.isEmpty)
        }
    }

    @Test("who says no at Amazon is back at the start, and may begin anew")
    func cancelled() async throws {
        try await site(.phone) { browser, app, origin in
            try await begin(browser, origin)
            try await browser.click("button.no")
            try await until(browser, "Link Skillgate with Alexa")
            #expect(app.stage.hosts.linking.enabled.isEmpty)
        }
    }

    @Test("a button that is pressed twice links once, and the page says that it is done")
    func twice() async throws {
        try await site(.phone) { browser, app, origin in
            try await begin(browser, origin)
            try await browser.click("button[value=carol]")
            try await until(browser, "One last step")
            _ = try await browser.script(
                "const agree = document.querySelector('button[value=agree]'); agree.click(); agree.click()")
            try await until(browser, "Your account is linked")
            #expect(app.stage.hosts.linking.enabled.count == 1)
            #expect(try await app.links(["list"]).output.split(separator: "\n").count == 1)
        }
    }

    @Test("what began in one browser ends in no other, the same user's neither")
    func otherBrowser() async throws {
        try await site(.desktop) { first, app, origin in
            try await begin(first, origin)
            let address = try await first.url()
            try await Browser.with(.phone) { second in
                try await second.open(address)
                try await until(second, "Link the skill?")
                try await second.click("button[value=carol]")
                try await signIn(second)
                try await until(second, "Your account was not linked")
                #expect(try await second.text("main").contains("link.stateOtherBrowser"))
                #expect(app.stage.hosts.linking.enabled.isEmpty)
            }
            try await first.click("button[value=carol]")
            try await until(first, "One last step")
            try await first.click("button[value=agree]")
            try await until(first, "Your account is linked")
        }
    }

    @Test("the landing page takes an answer to the app's attempt after a sign-in, from its user alone")
    func landing() async throws {
        try await site(.phone.dark) { browser, app, _ in
            let address = try #require(try await app.call("GET", "/alexaurl").json["lwaFallBackUrl"]?.string)
            try await browser.open(address)
            try await until(browser, "Link the skill?")
            try await browser.click("button[value=carol]")
            try await signIn(browser, as: "bob")
            try await until(browser, "Your account was not linked")
            #expect(try await browser.text("main").contains("Someone else"))
            #expect(app.stage.hosts.linking.enabled.isEmpty)
            try await browser.click("button[value=switch]")
            try await signIn(browser)
            try await until(browser, "One last step")
            try await browser.click("button[value=agree]")
            try await until(browser, "Your account is linked")
            #expect(try await app.call("GET", "/alexa/link").json["status"] == "LINKED")
        }
    }
}
