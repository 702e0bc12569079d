import Alexa
import Concurrency
import Crypto
import HTTP
import JSON
import Simulator
import TestSupport
import Testing
import Time

/// Links that begin in the simulated Alexa app and Google's, and what they refuse.
@Suite("The assistants' pages", .timeLimit(.minutes(5))) struct AssistantPagesTests {
    private static let origin = "http://127.0.0.1:9000"
    private static let skillID = "amzn1.ask.skill.x"
    private static let authority = Result { try Authority(now: AmazonHostsTests.now) }

    private let pages: AssistantPages
    private let hosts: AmazonHosts
    /// What the company's service was asked, and whether its token endpoint gives tokens.
    private let asked = Locked<[OutgoingRequest]>([])
    private let givesTokens = Locked(true)

    init() throws {
        hosts = AmazonHosts(authority: try Self.authority.get(), clients: [], clock: ManualClock().wall)
        let (asked, givesTokens) = (asked, givesTokens)
        let http = RecordingHTTPClient { request, _ throws(HTTPClientError) in
            asked.withLock { $0.append(request) }
            if request.url.hasSuffix("/token"), givesTokens.withLock({ $0 }) {
                let body = #"{"access_token":"A","refresh_token":"R","token_type":"Bearer","expires_in":3600}"#
                return HTTPResponse(status: 200, body: Array(body.utf8))
            }
            if request.url.hasSuffix("/token") { return HTTPResponse(status: 400) }
            let body = #"{"response":{"outputSpeech":{"text":"Hello"},"card":{"type":"LinkAccount"}}}"#
            return HTTPResponse(status: 200, body: Array(body.utf8))
        }
        hosts.linking.know(
            [
                LinkingEndpoint.Skill(
                    id: Self.skillID, amazonClientID: "linking", redirectURLs: [],
                    tokenURL: "https://ours.example/token", providerClientID: "alexa",
                    providerClientSecret: Secret("secret"))
            ], accounts: [AmazonAccount(name: "carol", home: .europe)], http: http)
        pages = AssistantPages(
            linking: hosts.linking,
            alexa: AlexaCaller(
                signer: AlexaSigner(hosts.authority), endpoint: "https://ours.example/alexa", http: http,
                clock: ManualClock().wall),
            google: GoogleApp(
                clientID: "google", clientSecret: Secret("s"), tokenURL: "https://ours.example/token",
                revocationURL: "https://ours.example/revoke", http: http),
            provider: AssistantPages.Provider(
                authorizationURL: "https://ours.example/authorize", alexaScopes: ["a", "b"], googleScopes: ["g"]),
            origin: Self.origin)
    }

    private func ask(
        _ method: HTTPMethod, _ target: String, _ body: String = "", _ fields: HTTPFields = [:]
    ) async throws -> HTTPResponse {
        try #require(
            await pages.answer(
                HTTPRequest(
                    method: method, target: target, fields: fields, body: Array(body.utf8),
                    deadline: .after(.seconds(240), from: .now))))
    }

    private func press(alexa button: String) async throws -> HTTPResponse {
        try await ask(.post, "/assistants/alexa", "do=\(button)&skill=\(Self.skillID)&account=carol")
    }

    private func text() async throws -> String {
        String(decoding: try await ask(.get, "/assistants").body, as: UTF8.self)
    }

    /// The query that the browser is sent to the provider with.
    private func query(_ response: HTTPResponse) throws -> Form {
        let address = try #require(response.fields["Location"])
        try #require(response.status == 303 && address.hasPrefix("https://ours.example/authorize?"))
        return try #require(Form(decoding: address.drop { $0 != "?" }.dropFirst()))
    }

    @Test("a customer links in the Alexa app, opens the skill and disables it: redeemed, told, told")
    func alexa() async throws {
        let query = try query(await press(alexa: "link"))
        #expect(query["client_id"] == "alexa" && query["response_type"] == "code" && query["scope"] == "a b")
        #expect(query["redirect_uri"] == Self.origin + AssistantPages.alexaReturnPath)
        let state = try #require(query["state"])
        let back = try await ask(.get, AssistantPages.alexaReturnPath + "?code=OURS&state=\(state)")
        #expect(back.status == 303 && back.fields["Location"] == "/assistants")
        let enabled = try #require(hosts.linking.enabled.first)
        #expect(enabled.account.name == "carol" && enabled.accessToken == Secret("A"))
        #expect(try await text().contains("answered with 200 and 200"))
        #expect(try await !text().contains("answered with"), "it is told once")
        _ = try await press(alexa: "open")
        let opened = try await text()
        #expect(opened.contains("Alexa: “Hello”") && opened.contains("LinkAccount"))
        _ = try await press(alexa: "disable")
        #expect(try await text().contains("SkillDisabled: status 200") && hosts.linking.enabled.isEmpty)
        _ = try await press(alexa: "open")
        let bodies = try asked.withLock { $0 }.filter { $0.url.hasSuffix("/alexa") }.map {
            try JSONValue(parsing: $0.body ?? [])
        }
        #expect(
            bodies.map { $0["request"]?["type"]?.string ?? "" } == [
                "AlexaSkillEvent.SkillEnabled", "AlexaSkillEvent.SkillAccountLinked", "LaunchRequest",
                "AlexaSkillEvent.SkillDisabled", "LaunchRequest",
            ])
        let users = bodies.map { $0["context"]?["System"]?["user"] }
        #expect(users[2]?["accessToken"] == "A" && users[4]?["accessToken"] == nil)
    }

    @Test("what comes back otherwise links nothing, and the page says why")
    func refused() async throws {
        func state() async throws -> String { try #require(try query(await press(alexa: "link"))["state"]) }
        for (query, why) in [
            ("code=OURS&state=foreign", "none that the assistant sent"), ("code=OURS", "none that the assistant sent"),
            ("error=access_denied&state=S", "access_denied"), ("state=S", "not one code"),
            ("code=&state=S", "not one code"), ("code=a&code=b&state=S", "not one code"),
            ("code=%ZZ&state=S", "none that the assistant sent"),
        ] {
            let target = query.replacing("=S", with: "=" + (try await state()))
            _ = try await ask(.get, AssistantPages.alexaReturnPath + "?" + target)
            #expect(try await text().contains(why), "\(query)")
        }
        let used = try await state()
        _ = try await ask(.get, AssistantPages.googleReturnPath + "?code=OURS&state=\(used)")
        #expect(try await text().contains("the other assistant"))
        _ = try await ask(.get, AssistantPages.alexaReturnPath + "?code=OURS&state=\(used)")
        #expect(try await text().contains("came back before"))
        givesTokens.withLock { $0 = false }
        _ = try await ask(.get, AssistantPages.alexaReturnPath + "?code=OURS&state=\(try await state())")
        #expect(try await text().contains("gives Alexa no tokens"))
        #expect(hosts.linking.enabled.isEmpty)
    }

    @Test("Google links in the browser and revokes its token at the end")
    func google() async throws {
        let query = try query(await ask(.post, "/assistants/google", "do=link"))
        #expect(query["client_id"] == "google" && query["scope"] == "g")
        #expect(query["redirect_uri"] == Self.origin + AssistantPages.googleReturnPath)
        let state = try #require(query["state"])
        _ = try await ask(.get, AssistantPages.googleReturnPath + "?code=OURS&state=\(state)")
        let linked = try await text()
        #expect(linked.contains("Google has tokens") && linked.contains("Unlink"))
        _ = try await ask(.post, "/assistants/google", "do=unlink")
        #expect(try await text().contains("Google revoked its token"))
        let last = try #require(asked.withLock { $0.last })
        #expect(last.url.hasSuffix("/revoke") && String(decoding: last.body ?? [], as: UTF8.self).contains("token=R"))
    }

    @Test("another site's page presses nothing, and what is no button is refused")
    func foreign() async throws {
        let good = "do=link&skill=\(Self.skillID)&account=carol"
        for site in ["cross-site", "same-site"] {
            #expect(try await ask(.post, "/assistants/alexa", good, ["Sec-Fetch-Site": site]).status == 403)
            #expect(try await ask(.post, "/assistants/google", "do=link", ["Sec-Fetch-Site": site]).status == 403)
        }
        #expect(try await ask(.post, "/assistants/alexa", good, ["Sec-Fetch-Site": "same-origin"]).status == 303)
        for body in ["", "do=link", good.replacing("carol", with: "dave"), good.replacing("do=link", with: "do=x")] {
            #expect(try await ask(.post, "/assistants/alexa", body).status == 400, "\(body)")
        }
        #expect(try await ask(.post, "/assistants/google", "do=x").status == 400)
        for target in ["/", "/assistants/x", "/assistants/alexa"] {
            let request = HTTPRequest(method: .get, target: target, deadline: .after(.seconds(240), from: .now))
            #expect(await pages.answer(request) == nil, "\(target)")
        }
    }
}
