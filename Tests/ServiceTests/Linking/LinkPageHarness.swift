import Alexa
import Concurrency
import HTTP
import Service
import Storage
import Telemetry
import Testing

/// A browser on its way from `/link` to Amazon and back.
extension Browser {
    static let callback = "/link/alexa/callback"

    /// A browser in which that user is signed in.
    static func signedIn(_ harness: LinkHarness, _ username: String = "alice") async -> Browser {
        let browser = Browser(harness.running)
        _ = await browser.signIn(await browser.get("/account/sign-in"), username, username + "-password")
        return browser
    }

    /// Presses the page's button; gives the state that goes to Amazon.
    func begin(_ target: String = "/link") async throws -> String {
        let sent = await submit(await get(target), [("decision", "link")])
        #expect(sent.status == 303 && sent.location?.hasPrefix("https://www.amazon.com/ap/oa?") == true, "\(sent.text)")
        return try #require(sent.answer?["state"])
    }

    /// Comes back from Amazon with a code; gives the address that the browser is led to.
    func land(_ state: String, code: String = "amz-1") async throws -> String {
        let landed = await get(Self.callback + "?code=\(code)&scope=alexa%3A%3Askills%3Aaccount_linking&state=\(state)")
        let address = try #require(landed.location, "\(landed.status) \(landed.text)")
        #expect(landed.status == 303 && address.hasPrefix("/link/answer/"))
        return address
    }

    /// Presses the last button.
    func agree(_ address: String) async -> Page { await submit(await get(address), [("decision", "agree")]) }
}

extension LinkHarness {
    /// The trace of that id, which is stored soon after the answer has left.
    func trace(_ id: String) async throws -> TraceRecord? { try await running.trace(id) }
}

extension ServiceTests.Running {
    /// The trace of that id, which is stored soon after the answer has left.
    func trace(_ id: String) async throws -> TraceRecord? {
        for _ in 0..<200_000 {
            if let trace = try await store.trace(id: id) { return trace }
            await Task.yield()
        }
        return nil
    }

    /// The lines of the log that hold that text.
    func lines(naming text: String) -> [String] {
        log.flush()
        return lines.lines.filter { $0.contains(text) }
    }
}

extension Browser.Page {
    private var support: [String] {
        guard let range = text.firstRange(of: "For support: ") else { return [] }
        return text[range.upperBound...].prefix { $0 != "<" }.split(separator: " · ").map(String.init)
    }
    /// The reason code for support.
    var reason: String? { support.first }
    /// The trace's id for support.
    var reference: String? { support.last }
    var isFinish: Bool { status == 200 && text.contains("One last step") }
    var heading: String {
        text.firstRange(of: "<h1>").map { range in String(text[range.upperBound...].prefix { $0 != "<" }) } ?? ""
    }
}
