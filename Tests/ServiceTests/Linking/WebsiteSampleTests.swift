import FoundationEssentials
import HTTP
import Service
import Testing

/// The pages to copy, held against the service.
@Suite("The website's sample", .timeLimit(.minutes(5))) struct WebsiteSampleTests {
    private static let returnURL = "https://www.example.com/linked.html"

    private static func page(_ name: String) throws -> String {
        try String(contentsOfFile: ServiceTests.package + "/samples/website/" + name, encoding: .utf8)
    }

    /// Where the links of a page lead.
    private static func links(_ page: String) -> [String] {
        page.split(separator: "href=\"").dropFirst().map {
            String($0.prefix { $0 != "\"" }).replacing("&amp;", with: "&")
        }
    }

    @Test("its button leads to the page that asks, and its other link to the user's links")
    func addresses() async throws {
        let harness = try await LinkHarness { $0.skills[0].linking?.returnURLs = [Self.returnURL] }
        let browser = await Browser.signedIn(harness)
        let origin = harness.running.configuration.publicURL
        let links = Self.links(try Self.page("account.html"))
        #expect(links.count == 2)
        for (link, heading) in zip(links, ["Link Ride Hailer with Alexa", "My links"]) {
            try #require(link.hasPrefix(origin + "/"), "\(link)")
            let page = await browser.get(String(link.dropFirst(origin.count)))
            #expect(page.status == 200 && page.heading == heading, "\(link): \(page.heading)")
        }
        let asked = String(links[0].dropFirst(origin.count))
        let address = try await browser.land(try await browser.begin(asked))
        #expect(await browser.agree(address).status == 303)
        #expect(await browser.get(address).text.contains(Self.returnURL))
        let without = try await LinkHarness()
        #expect(await Browser.signedIn(without).get(asked).status == 400, "an address that is not listed")
    }

    @Test("the pages need no script and nothing of anybody else's", arguments: ["account.html", "linked.html"])
    func plain(name: String) throws {
        let page = try Self.page(name)
        #expect(
            page.hasPrefix("<!doctype html>") && page.contains("<html lang=\"en\">")
                && page.contains("name=\"viewport\""))
        for part in ["<script", " src=", "@import", "url(", " onclick", "<link"] {
            #expect(!page.contains(part), "\(part)")
        }
        #expect(page.split(separator: "<h1").count == 2)
    }
}
