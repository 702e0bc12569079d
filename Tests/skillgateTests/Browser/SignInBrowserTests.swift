import Crypto
import HTTP
import JSON
import TestSupport
import Testing

/// The provider's pages in Chromium, as a user has them who links an account.
@Suite(
    "Signing in and consenting, in Chromium", .timeLimit(.minutes(5)),
    .enabled(if: Browser.isInstalled, "skipped: needs chromium and chromium-driver"))
struct SignInBrowserTests {
    /// A service with users, and a client whose page says what came back to it.
    func pages(_ view: Browser.View, _ body: (Browser, RunningService, Client) async throws -> Void) async throws {
        let server = try RawServer { connection in
            while connection.head() != nil {
                connection.answer(
                    "200 OK", "<!doctype html><title>Client</title><h1>Back at the client</h1>",
                    fields: "Content-Type: text/html\r\n")
            }
        }
        defer { server.stop() }
        let client = Client(redirectURI: "http://127.0.0.1:\(server.port)/back")
        var options = Stage.Options()
        options.provider = .embedded
        options.clients = #"{ id: "app", redirectURIs: ["\#(client.redirectURI)"], scopes: ["profile"] },"#
        _ = try await Stage.with(options) { stage in
            try await stage.run { service in
                try await Browser.with(view) { browser in try await body(browser, service, client) }
            }
        }
    }

    /// A public client, as an app is.
    struct Client: Sendable {
        let redirectURI: String
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

        func authorizeURL(_ service: RunningService, state: String) -> String {
            let challenge = Base64URL.encode(SHA256.digest(verifier))
            return "http://127.0.0.1:\(service.port)/oauth/authorize?response_type=code&client_id=app&scope=profile"
                + "&redirect_uri=\(percentEncoded(redirectURI))&state=\(percentEncoded(state))"
                + "&code_challenge=\(challenge)&code_challenge_method=S256"
        }

        /// What the token endpoint answers to the code in an address.
        func redeem(_ url: String, at service: RunningService) async throws -> JSONValue {
            let query = try #require(Form(decoding: url.split(separator: "?").last.map(String.init) ?? ""))
            let form = [
                ("grant_type", "authorization_code"), ("client_id", "app"), ("redirect_uri", redirectURI),
                ("code", query["code"] ?? ""), ("code_verifier", verifier),
            ].map { "\($0)=\(percentEncoded($1))" }.joined(separator: "&")
            let request = RawClient.request(
                "/oauth/token", fields: ["Content-Type": "application/x-www-form-urlencoded"], body: Array(form.utf8))
            return try await JSONValue(parsing: service.answer(to: request).body)
        }
    }

    /// Waits until the browser is back at the client; gives the address that it came with.
    func backAtClient(_ browser: Browser, _ client: Client) async throws -> String {
        while true {
            let url = try await browser.url()
            if url.hasPrefix(client.redirectURI) { return url }
        }
    }

    func signIn(_ browser: Browser, password: String = "alice-password") async throws {
        try await browser.type("alice", into: "#username")
        try await browser.type(password, into: "#password")
        try await browser.click("form button")
    }

    @Test(
        "a user signs in and agrees, and the client gets tokens for the code",
        arguments: [Browser.View.phone, .phone.dark, .desktop, .desktop.dark])
    func agreed(view: Browser.View) async throws {
        try await pages(view) { browser, service, client in
            try await browser.open(client.authorizeURL(service, state: "s+1=ü"))
            #expect(try await browser.count("label[for=username]") == 1)
            let isWide = try await browser.script(
                "return document.documentElement.scrollWidth > document.documentElement.clientWidth")
            #expect(isWide == false, "nothing is wider than the window")
            try await signIn(browser, password: "wrong")
            #expect(try await !browser.text("[role=alert]").isEmpty)
            #expect(try await browser.script("return document.querySelector('#username').value") == "alice")
            #expect(try await browser.script("return document.querySelector('#password').value") == "")
            try await signIn(browser)
            #expect(try await browser.text(".who").contains("Alice Archer"))
            try await browser.click("button[value=agree]")
            let url = try await backAtClient(browser, client)
            #expect(try await browser.title() == "Client")
            #expect(url.contains("state=s%2B1%3D%C3%BC"))
            #expect(try await client.redeem(url, at: service)["token_type"] == "Bearer")
            #expect(try await client.redeem(url, at: service)["error"] == "invalid_grant")
        }
    }

    @Test("who cancels is back at the client with access_denied and the state, and stays signed in")
    func cancelled() async throws {
        try await pages(.phone) { browser, service, client in
            try await browser.open(client.authorizeURL(service, state: "s1"))
            try await signIn(browser)
            try await browser.click("button[value=deny]")
            let url = try await backAtClient(browser, client)
            #expect(url.hasPrefix(client.redirectURI + "?") && url.contains("error=access_denied"))
            #expect(url.contains("state=s1") && !url.contains("code="))
            try await browser.open(client.authorizeURL(service, state: "s2"))
            #expect(try await browser.count("button[value=agree]") == 1)
        }
    }

    @Test("PRO-6: two tabs and Back: each tab goes on with its own request, and a code is good once")
    func tabs() async throws {
        try await pages(.desktop) { browser, service, client in
            try await browser.open(client.authorizeURL(service, state: "first"))
            let first = try await #require(browser.tabs().first)
            try await browser.newTab()
            try await browser.open(client.authorizeURL(service, state: "second"))
            try await signIn(browser)
            #expect(try await browser.text(".who").contains("alice"))
            try await browser.look(at: first)
            // The first tab still shows the sign-in; going on there leads to its own consent.
            try await signIn(browser)
            try await browser.click("button[value=agree]")
            let url = try await backAtClient(browser, client)
            #expect(url.contains("state=first"))
            #expect(try await client.redeem(url, at: service)["token_type"] == "Bearer")
            try await browser.back()
            #expect(try await browser.text(".who").contains("alice"))
            try await browser.click("button[value=agree]")
            let again = try await backAtClient(browser, client)
            #expect(again.contains("state=first") && again != url)
            #expect(try await client.redeem(again, at: service)["token_type"] == "Bearer")
        }
    }
}
