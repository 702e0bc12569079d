import Testing

/// A link that begins in the Alexa app or Google's Home app, both simulated, over the company's pages of a `dev` that
/// runs, in Chromium.
@Suite(
    "Linking in the assistants' apps, in Chromium", .timeLimit(.minutes(5)),
    .enabled(if: Browser.isInstalled, "skipped: needs chromium and chromium-driver"))
struct AssistantBrowserTests {
    @Test("bob links in the Alexa app, is known to the skill, disables it; links with Google and unlinks")
    func both() async throws {
        let program = try ProgramRun(["dev", "--port", "0"])
        var address: String?
        for _ in 0..<1000 {
            let line = await program.line()
            if line.contains("/assistants") {
                address = line.split(separator: " ").first { $0.hasPrefix("http") }.map(String.init)
            }
            if line.contains("Ctrl-C") { break }
        }
        let page = try #require(address)
        try await Browser.with(.phone) { browser in
            func said(_ words: String) async throws {
                try await browser.wait(words) {
                    guard try await browser.count("[role=status]") == 1 else { return false }
                    return try await browser.text("[role=status]").contains(words)
                }
            }
            let alexa = "form:has(input[value=customer])"
            try await browser.open(page)
            try await browser.click(alexa + " button[value=disable]")
            try await said("SkillDisabled: status 200")
            try await browser.click(alexa + " button[value=open]")
            try await said("status 200")
            try await browser.click(alexa + " button[value=link]")
            try await browser.wait("there is a form") { try await browser.count("#username") == 1 }
            try await browser.type("bob", into: "#username")
            try await browser.type("bob-password", into: "#password")
            try await browser.click("form button")
            try await browser.wait("the consent") { try await browser.count("button[value=agree]") == 1 }
            #expect(try await browser.text("main").contains("Alexa"))
            try await browser.click("button[value=agree]")
            try await said("answered with 200 and 200")
            try await browser.click(alexa + " button[value=open]")
            try await said("status 200")
            let home = "form[action$=google]"
            try await browser.click(home + " button[value=link]")
            try await browser.wait("Google's consent") { try await browser.count("button[value=agree]") == 1 }
            #expect(try await browser.text("main").contains("Google"))
            try await browser.click("button[value=agree]")
            try await said("Google has tokens")
            try await browser.click(home + " button[value=unlink]")
            try await said("Google revoked its token")
        }
        program.send(signal: 15)
        #expect(await program.end().code == 0)
    }
}
