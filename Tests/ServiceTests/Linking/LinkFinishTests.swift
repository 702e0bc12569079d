import Alexa
import Concurrency
import Crypto
import HTTP
import JSON
import OAuth
import Service
import Storage
import Telemetry
import Testing
import TestSupport
import Time

/// `POST /alexa/link`: what came back becomes a link.
@Suite("Ending a link", .timeLimit(.minutes(5))) struct LinkFinishTests {
    @Test("LNK-1: Amazon's code buys Amazon's token, and Alexa gets a code of our own, the stage and the redirect URI")
    func linked() async throws {
        let harness = try await LinkHarness()
        let answer = try await harness.link()
        #expect(answer.status == 200 && answer.json["status"] == "LINKED" && answer.json["region"] == "NA")
        #expect(answer.json["traceID"]?.string?.count == 32)
        let world = harness.world.withLock { $0 }
        let exchange = try #require(world.exchanges.first)
        #expect(exchange["code"] == "amz-1" && exchange["redirect_uri"] == LinkHarness.redirectURL)
        #expect(exchange["client_id"] == "amzn1.application-oa2-client.linking")
        #expect(exchange["code_verifier"]?.count == 43)
        let call = try #require(world.enabled.first)
        #expect(world.enabled.count == 1 && call.token == "amz-1" && call.body["stage"] == "development")
        let request = try #require(call.body["accountLinkRequest"])
        #expect(request["type"] == "AUTH_CODE" && request["redirectUri"]?.string == LinkHarness.redirectURL)
        #expect(request["authCode"]?.string?.contains("amz-1") == false && request["authCode"] != nil)
        let link = try #require(try await harness.links().first)
        #expect(link.status == .linked && link.region == .northAmerica && link.flow == .app)
        #expect(link.alexaUserID == "amzn1.ask.account.amz-1")
        #expect(try await harness.grants().map(\.id) == [link.providerGrantID])
        let grant = try #require(try await harness.amazonGrants().first)
        #expect(grant.key.source == .linking && grant.key.amazonUserID == "amzn1.ask.account.amz-1")
        #expect(grant.credentials.refreshToken == Secret("Atzr|amz-1"))
        #expect(try await harness.amazonGrants().count == 1)
    }

    @Test("LNK-2: each link has a new code of ours, and there is no way to bring one that was used")
    func freshCodes() async throws {
        let harness = try await LinkHarness()
        let state = try await harness.state()
        // What an app's own sign-in had redeemed a second ago.
        for member in ["authCode", "providerCode", "code", "authorizationCode"] {
            let answer = try await harness.call(
                .post, "/alexa/link",
                ["amazonAuthCode": .string("amz-\(member)"), member: "spent-code", "state": .string(state)])
            #expect(answer.status == (member == "authCode" ? 200 : 400), "\(answer.text)")
        }
        #expect(try await harness.link(code: "amz-2").status == 200)
        let codes = harness.world.withLock { world in
            world.enabled.compactMap { $0.body["accountLinkRequest"]?["authCode"]?.string }
        }
        #expect(codes.count == 2 && Set(codes).count == 2 && !codes.contains("spent-code"))
    }

    @Test("the whole redirect is as good as its parts, from the Alexa app and from Login with Amazon")
    func redirect() async throws {
        for query in ["code=amz-2&state=STATE", "state=STATE&code=amz-2&scope=alexa%3A%3Askills%3Aaccount_linking"] {
            let harness = try await LinkHarness()
            let state = try await harness.state()
            let url = LinkHarness.redirectURL + "?" + query.replacing("STATE", with: state)
            let answer = try await harness.call(.post, "/alexa/link", ["redirect": .string(url)])
            #expect(answer.json["status"] == "LINKED")
        }
    }

    @Test("a redirect to another address than the attempt's is refused, and the attempt stays good")
    func foreignRedirect() async throws {
        let harness = try await LinkHarness()
        let state = try await harness.state()
        for address in ["https://evil.example/link/alexa/callback", LinkHarness.redirectURL + "/x"] {
            let answer = try await harness.call(
                .post, "/alexa/link", ["redirect": .string(address + "?code=c&state=" + state)])
            #expect(answer.status == 400 && answer.code == "link.stateOtherSkill")
        }
        #expect(harness.world.withLock { $0.exchanges.isEmpty })
        let good = try await harness.call(.post, "/alexa/link", ["amazonAuthCode": "amz-1", "state": .string(state)])
        #expect(good.json["status"] == "LINKED")
    }

    @Test("a state is good once, for its user, for an hour, and only one that was given out")
    func states() async throws {
        let harness = try await LinkHarness()
        func post(_ state: String, _ token: Secret? = nil) async throws -> LinkHarness.Answer {
            try await harness.call(
                .post, "/alexa/link", ["amazonAuthCode": "amz-1", "state": .string(state)], token: token)
        }
        let state = try await harness.state()
        // Another user neither learns nor spoils anything.
        let foreign = try await post(state, try harness.token("u1002"))
        #expect(foreign.status == 403 && foreign.code == "link.stateOtherUser")
        #expect(try await post(state).json["status"] == "LINKED")
        let again = try await post(state)
        #expect(again.status == 400 && again.code == "link.stateReused")
        // The seed's status screen sends a state that it made after the redirect.
        let fresh = try await post("aU9TLjE3MDAwMDAwMDAuYWJj")
        #expect(fresh.code == "link.stateUnknown" && fresh.json["detail"]?.string?.contains("redirect") == true)
        let old = try await harness.state()
        harness.running.clock.advance(by: .seconds(3601))
        #expect(try await post(old).code == "link.stateExpired")
        #expect(harness.world.withLock { $0.exchanges.count } == 1)
    }

    @Test("two at one moment with one state: one links, the other is refused")
    func race() async throws {
        let harness = try await LinkHarness()
        let state = try await harness.state()
        let answers = try await withThrowingTaskGroup(of: LinkHarness.Answer.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    try await harness.call(
                        .post, "/alexa/link", ["amazonAuthCode": "amz-1", "state": .string(state)])
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.map(\.status).sorted() == [200, 400])
        #expect(harness.world.withLock { $0.exchanges.count } == 1)
    }

    @Test(
        "a body that is none of the three forms is refused",
        arguments: [
            "", "[]", "{}", #"{"amazonAuthCode":"c"}"#, #"{"amazonAuthCode":"","state":"s"}"#,
            #"{"amazonAuthCode":"c","error":"e","state":"s"}"#, #"{"amazonAuthCode":1,"state":"s"}"#,
            #"{"amazonAuthCode":"c","state":"a","state":"b"}"#, #"{"redirect":"https://x/?code=c"}"#,
            #"{"redirect":"https://x/?code=c&code=d&state=s"}"#, #"{"redirect":"https://x/?code=c&error=e&state=s"}"#,
            #"{"error":"<script>","errorDescription":"x"}"#, #"{"amazonAuthCode":"a b","state":"s"}"#,
        ])
    func malformed(body: String) async throws {
        let harness = try await LinkHarness()
        let response = await harness.running.service.router.respond(
            to: HTTPRequest(
                method: .post, target: "/alexa/link",
                fields: [
                    "Content-Type": "application/json", "Authorization": "Bearer " + (try harness.token()).exposed,
                ], body: Array(body.utf8), deadline: harness.running.clock.deadline()))
        #expect(response.status == 400)
        #expect(response.fields["Content-Type"] == "application/problem+json")
        let problem = try JSONValue(parsing: response.body)
        #expect(problem["code"]?.string?.hasPrefix("link.") == true && problem["userMessage"] != nil)
        #expect(!String(decoding: response.body, as: UTF8.self).contains("<script>"))
    }

    @Test(
        "LNK-8: an error that came back spends the state and says what its cause says",
        arguments: [
            ("access_denied", 400, "link.accessDenied", "", "now"),
            ("server_error", 502, "link.amazonServerError", "unexpected problem", "now"),
            ("temporarily_unavailable", 503, "link.amazonUnavailable", "briefly unavailable", "later"),
            ("invalid_request", 502, "link.amazonInvalidRequest", "can't connect", "never"),
            ("unauthorized_client", 502, "link.amazonUnauthorizedClient", "can't connect", "never"),
            ("unsupported_response_type", 502, "link.amazonResponseType", "can't connect", "never"),
            ("invalid_scope", 502, "link.amazonInvalidScope", "can't connect", "never"),
            ("<script>", 502, "link.amazonUnknownError", "can't connect", "later"),
        ])
    func errors(error: String, status: Int, code: String, message: String, retry: String) async throws {
        for description in [JSONValue?.none, "because"] {
            let harness = try await LinkHarness()
            let state = try await harness.state()
            var body: JSONObject = ["error": .string(error), "state": .string(state)]
            body["errorDescription"] = description
            let answer = try await harness.call(.post, "/alexa/link", .object(body))
            #expect(answer.status == status && answer.code == code && answer.json["retry"]?.string == retry)
            let said: String = answer.json["userMessage"]?.string ?? ""
            #expect(said.contains(message) || message.isEmpty)
            #expect((answer.json["userMessage"] == nil) == message.isEmpty)
            #expect(!answer.text.contains("<script>"))
            let again = try await harness.call(.post, "/alexa/link", .object(body))
            #expect(again.code == "link.stateReused")
            #expect(try await harness.links().isEmpty)
        }
    }

    @Test("the user's language decides the words, and the company's own come first")
    func words() async throws {
        let harness = try await LinkHarness {
            $0.texts.linkErrors = ["link.amazonServerError": LocalizedText(["de": "Eigene Worte", "fr": "Nos mots"])]
        }
        func message(_ error: String, _ language: String) async throws -> String? {
            let state = try await harness.state()
            let body: JSONValue = ["error": .string(error), "state": .string(state)]
            return try await harness.call(.post, "/alexa/link", body, language: language).json["userMessage"]?.string
        }
        #expect(try await message("invalid_scope", "de-AT,de;q=0.9")?.contains("später") == true)
        #expect(try await message("invalid_scope", "ja")?.contains("後で") == true)
        #expect(try await message("server_error", "de-DE") == "Eigene Worte")
        #expect(try await message("server_error", "fr-CA,en;q=0.5") == "Nos mots")
        #expect(try await message("server_error", "en")?.contains("unexpected") == true)
    }
}
