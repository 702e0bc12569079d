import AppLinking
import Concurrency
import Foundation
import JSON
import LinkMessages
import TestSupport
import Testing

@Suite("Links that come back to an app") struct AlexaLinkHandlerTests {
    static let fixture = "app-to-app/app_to_app_vectors.json"
    static let redirect = "https://app.example/link"

    static func outcome(
        _ text: String, strict: Bool = false, states: StateHelper? = nil
    ) async throws -> AlexaLinkOutcome {
        let helper = states ?? StateHelperTests.helper().helper
        if states == nil { try await helper.keep("S1") }
        let url = try #require(URL(string: text))
        let handler = AlexaLinkHandler(
            redirectURIs: [redirect, "https://app.example/cb?tenant=1"], states: helper, strict: strict)
        return try await handler.handle(url)
    }

    @Test("the shared vectors are judged as they say", .needsFixture(fixture))
    func shared() async throws {
        let vectors = try #require(JSONValue(parsing: Fixtures.bytes(Self.fixture))["returned_urls"]?.array)
        #expect(vectors.count >= 15)
        for vector in vectors {
            let url = try #require(vector["url"]?.string)
            let outcome = try await Self.outcome(url)
            let comment = Comment(rawValue: url)
            switch (vector["expect"]?.string, outcome) {
            case ("code", .complete), ("bad-state", .refused(.stateUnknown)), ("invalid", .refused(.redirect)): break
            case ("error", .declined): #expect(vector["show"]?.bool == false, comment)
            case ("error", .failed): #expect(vector["show"]?.bool == true, comment)
            case ("debatable", .complete), ("debatable", .declined): break
            default: Issue.record("\(url): \(outcome)")
            }
        }
    }

    @Test("strict is the sample's way: what it does not handle is another link")
    func strict() async throws {
        for rest in [
            "code=c&state=S1&source=app", "error=access_denied&state=S1", "code=c&state=S1&state=S1", "code=c",
            "code=c&state=S1&error=x", "error=x&error_description=x&scope=x&state=S1",
        ] {
            #expect(try await Self.outcome("\(Self.redirect)?\(rest)", strict: true) == .other, "\(rest)")
        }
        let complete = try await Self.outcome("\(Self.redirect)?code=c&scope=x&state=S1", strict: true)
        guard case .complete = complete else {
            Issue.record("\(complete)")
            return
        }
        #expect(
            try await Self.outcome("\(Self.redirect)?error=x&error_description=x&state=S2", strict: true)
                == .refused(.stateUnknown))
    }

    @Test("unknown parameters are ignored, also those of the redirect URL itself")
    func unknown() async throws {
        for url in ["\(Self.redirect)?x=1&code=c&x=2&state=S1", "https://app.example/cb?tenant=1&code=c&state=S1"] {
            guard case .complete = try await Self.outcome(url) else {
                Issue.record("\(url)")
                continue
            }
        }
    }

    @Test(
        "an address that is not exactly a redirect URL of ours is another link, and spends no state",
        arguments: [
            "https://app.example/link", "https://app.example/link/?code=c&state=S1",
            "https://app.example/other?state=S1",
            "http://app.example/link?code=c&state=S1", "https://evil.example/link?code=c&state=S1",
            "https://app.example/Link?code=c&state=S1", "https://app.example/cb?code=c&state=S1",
        ])
    func other(text: String) async throws {
        let states = StateHelperTests.helper().helper
        try await states.keep("S1")
        #expect(try await Self.outcome(text, states: states) == .other)
        #expect(try await states.spend("S1") == .valid)
    }

    @Test("the same link a second time is refused, and so is one after an hour")
    func again() async throws {
        let (states, clock) = StateHelperTests.helper()
        let first = try await states.generateState()
        let second = try await states.generateState()
        let link = "\(Self.redirect)?code=c&state=\(first)"
        guard case .complete = try await Self.outcome(link, states: states) else {
            Issue.record("the first time is refused")
            return
        }
        #expect(try await Self.outcome(link, states: states) == .refused(.stateUnknown))
        clock.withLock { $0 += 3601 }
        #expect(
            try await Self.outcome("\(Self.redirect)?code=c&state=\(second)", states: states) == .refused(.stateExpired)
        )
    }

    @Test("LNK-8: a refusal without description is no error, and the others say what Amazon's page says")
    func errors() async throws {
        guard case .declined = try await Self.outcome("\(Self.redirect)?error=access_denied&state=S1") else {
            Issue.record("access_denied is shown")
            return
        }
        for (error, kind) in [
            ("server_error", LinkErrorKind.unexpected), ("temporarily_unavailable", .momentary),
            ("invalid_scope", .problem), ("%3Cscript%3E", .problem),
        ] {
            guard case .failed(kind, _) = try await Self.outcome("\(Self.redirect)?error=\(error)&state=S1") else {
                Issue.record("\(error)")
                continue
            }
        }
    }

    @Test("the address that came back prints without its code")
    func redacted() async throws {
        let outcome = try await Self.outcome("\(Self.redirect)?code=ANsecret&state=S1")
        var dumped = ""
        dump(outcome, to: &dumped)
        for text in ["\(outcome)", String(reflecting: outcome), dumped] { #expect(!text.contains("ANsecret")) }
    }
}
