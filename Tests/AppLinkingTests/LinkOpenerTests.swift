import AppLinking
import Concurrency
import Foundation
import TestSupport
import Testing

@Suite("The way to Amazon") struct LinkOpenerTests {
    static func opener() async throws -> LinkOpener {
        let server = try LinkServer { _ in ("200 OK", LinkClientTests.startAnswer) }
        let start = try await server.client().start(state: nil)
        return LinkOpener(start: start, redirect: try #require(URL(string: "https://app.example/link")))
    }

    static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    @Test("the Alexa app first; where it opens, the app waits for the universal link")
    func alexaApp() async throws {
        var opener = try await Self.opener()
        #expect(opener.begin() == .openAlexaApp(try Self.url("https://alexa.example/app?x=1")))
        #expect(opener.alexaApp(opened: true) == .waitForReturn)
        let back = try Self.url("https://app.example/link?code=c&state=s")
        #expect(opener.returned(to: back) == .handle(back))
    }

    @Test("else Login with Amazon in a session that ends at the redirect URL")
    func session() async throws {
        let back = try Self.url("https://app.example/link?code=c&state=s")
        let ends: [(LinkOpener.SessionEnd, LinkOpener.Step)] = [
            (.redirected(back), .handle(back)), (.closedByUser, .stop), (.failed, .fail),
        ]
        for (end, step) in ends {
            var opener = try await Self.opener()
            _ = opener.begin()
            #expect(
                opener.alexaApp(opened: false)
                    == .openLoginWithAmazon(
                        try Self.url("https://amazon.example/ap/oa?x=1"),
                        redirect: try Self.url("https://app.example/link")))
            #expect(opener.session(ended: end) == step)
            #expect(opener.session(ended: end) == .waitForReturn)
        }
    }

    @Test("a universal link that comes first closes the session, whose end is then no second one")
    func both() async throws {
        var opener = try await Self.opener()
        #expect(opener.alexaApp(opened: false) == .waitForReturn)
        _ = opener.begin()
        _ = opener.alexaApp(opened: false)
        let back = try Self.url("https://app.example/link?code=c&state=s")
        #expect(opener.returned(to: back) == .handle(back))
        #expect(opener.session(ended: .closedByUser) == .waitForReturn)
        #expect(opener.alexaApp(opened: false) == .waitForReturn)
    }
}
