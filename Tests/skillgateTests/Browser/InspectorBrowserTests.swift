import JSON
import Testing

/// The inspector of a `dev` that runs, in Chromium.
@Suite(
    "The inspector, in Chromium", .timeLimit(.minutes(5)),
    .enabled(if: Browser.isInstalled, "skipped: needs chromium and chromium-driver"))
struct InspectorBrowserTests {
    @Test(
        "requests appear by themselves, and one is changed and sent again",
        arguments: [Browser.View.phone.dark, .desktop])
    func inspected(view: Browser.View) async throws {
        let program = try ProgramRun(["dev", "--port", "0"])
        let port = try #require(await program.line().split(separator: ":").last.flatMap { Int($0) })
        while await !program.line().contains("Ctrl-C") {}
        let origin = "http://127.0.0.1:\(port)"
        try await Browser.with(view) { browser in
            try await browser.open(origin + "/_inspect")
            #expect(try await browser.text("h1") == "Requests")
            let first = try await browser.count("#rows tbody tr")
            #expect(first >= 100)
            let link = try await browser.script(
                "return [...document.querySelectorAll('#rows a')].find(a => a.textContent == 'POST /alexa/custom').href"
            )
            // Something comes in while the page is open.
            let top = try await browser.text("#rows tbody tr")
            _ = try await onOwnThread {
                let client = try RawClient(port: port)
                client.send(RawClient.request("/v1/me", method: "GET"))
                return client.answer()?.status
            }
            try await browser.wait("a row is added") { try await browser.text("#rows tbody tr") != top }
            #expect(try await browser.text("#rows tbody tr").contains("/v1/me"))
            try await browser.open(try #require(link.string))
            #expect(try await browser.text("main").contains("verification"))
            _ = try await browser.script(
                "const b = document.getElementById('body');"
                    + "b.value = b.value.replace(/\"type\": \"AlexaSkillEvent[^\"]*\"/, '\"type\": \"LaunchRequest\"');"
            )
            try await browser.click("form button")
            try await browser.wait("it was sent again") { try await browser.url() != link.string }
            let answered = try await browser.text("main")
            #expect(try await browser.url().contains("/_inspect/requests/") && answered.contains("200"), "\(answered)")
        }
        program.send(signal: 15)
        #expect(await program.end().code == 0)
    }
}
