import JSON
import Testing

/// A user who may not sign in, in Chromium.
@Suite(
    "A locked account, in Chromium", .timeLimit(.minutes(5)),
    .enabled(if: Browser.isInstalled, "skipped: needs chromium and chromium-driver"))
struct LockedBrowserTests {
    @Test("a disabled user reads that the account is locked, and somebody else goes on with the same request")
    func locked() async throws {
        let pages = SignInBrowserTests()
        try await pages.pages(.phone) { browser, service, client in
            for words in [["add", "carol"], ["disable", "carol"]] {
                #expect(try await UserCommandTests.users(words, service.stage, input: "carol-password").code == 0)
            }
            try await browser.open(client.authorizeURL(service, state: "kept"))
            try await browser.type("carol", into: "#username")
            try await browser.type("carol-password", into: "#password")
            try await browser.click("form button")
            #expect(try await browser.text("[role=alert]").contains("locked"))
            #expect(try await browser.count("button[value=agree]") == 0)
            try await pages.signIn(browser)
            #expect(try await browser.text(".who").contains("Alice Archer"))
            try await browser.click("button[value=agree]")
            let url = try await pages.backAtClient(browser, client)
            #expect(url.contains("state=kept"))
            #expect(try await client.redeem(url, at: service)["token_type"] == "Bearer")
        }
    }
}
