import Alexa
import Crypto
import HTTP
import JSON
import Simulator
import TestSupport
import Testing
import Time

@Suite("Simulated event gateways", .timeLimit(.minutes(5))) struct EventEndpointTests {
    /// One for all tests: keys take their time.
    private static let authority = Result { try Authority(now: AmazonHostsTests.now) }

    let clock = ManualClock(AmazonHostsTests.now)
    let hosts: AmazonHosts
    let token: String

    init() throws {
        hosts = AmazonHosts(
            authority: try Self.authority.get(), clients: AmazonHostsTests.clients, clock: clock.wall)
        token = hosts.issueEventTokens().accessToken.exposed
    }

    func ask(
        _ body: [UInt8], host: String = "api.eu.amazonalexa.com", method: HTTPMethod = .post,
        target: String = "/v3/events", fields: HTTPFields? = nil
    ) async -> HTTPResponse {
        var fields = fields ?? ["Content-Type": "application/json", "Authorization": "Bearer " + token]
        fields.append("Host", host)
        return await hosts.respond(
            to: HTTPRequest(
                method: method, target: target, fields: fields, body: body,
                deadline: .after(.seconds(30), from: .now)))
    }

    /// Sends a message; 202 and an empty code, or the status and code of the refusal.
    func send(_ message: JSONValue, host: String = "api.eu.amazonalexa.com") async -> (status: Int, code: String) {
        let answer = await ask(message.encoded(), host: host)
        let code = (try? JSONValue(parsing: answer.body))?["payload"]?["code"]?.string
        return (answer.status, code ?? "")
    }

    @Test("each region's gateway takes events at its host, answers 202 with nothing, and records them")
    func regions() async throws {
        let message = Messages.changeReport(token)
        for (host, region) in EventEndpoint.hosts.sorted(by: { $0.key < $1.key }) {
            let answer = await ask(message.encoded(), host: host)
            #expect(answer.status == 202)
            #expect(answer.body.isEmpty)
            let accepted = try #require(hosts.events.accepted.last)
            #expect(accepted.region == region)
            #expect(accepted.message == message)
            #expect(accepted.name == "ChangeReport")
            #expect(accepted.messageID == "5f8a426e-01e4-4cc9-8b79-65f8bd0fd8a4")
            #expect(accepted.endpointID == "light-1")
            #expect(accepted.changed?.count == 1)
            #expect(accepted.context?.count == 1)
        }
        #expect(Set(hosts.events.accepted.map(\.region)) == Set(AlexaRegion.allCases))
        for host in ["api.amazon.com", "api.jp.amazonalexa.com", "amazonalexa.com"] {
            #expect(await ask(message.encoded(), host: host).status == 404)
        }
        #expect(hosts.events.accepted.count == 3)
        hosts.events.forget()
        #expect(hosts.events.accepted.isEmpty)
    }

    @Test("method, address and content type are judged")
    func request() async {
        let body = Messages.changeReport(token).encoded()
        for method: HTTPMethod in [.get, .put, .delete] { #expect(await ask(body, method: method).status == 405) }
        for target in ["/v3/events/", "/v2/events", "/"] { #expect(await ask(body, target: target).status == 404) }
        for target in ["/v3/events?", "/v3/events?a=1"] { #expect(await ask(body, target: target).status == 400) }
        let bearer = "Bearer " + token
        for type in ["text/plain", "application/jsonx", ""] {
            #expect(await ask(body, fields: ["Content-Type": type, "Authorization": bearer]).status == 400)
        }
        #expect(await ask(body, fields: ["Authorization": bearer]).status == 400)
        let charset: HTTPFields = ["Content-Type": "Application/JSON; charset=utf-8", "Authorization": bearer]
        #expect(await ask(body, fields: charset).status == 202)
        #expect(hosts.events.accepted.count == 1)
    }

    @Test("only a live access token of the events client opens the gateway")
    func tokens() async throws {
        let refresh = hosts.issueEventTokens().refreshToken?.exposed ?? ""
        let linking = hosts.tokens.issueCode(clientID: "link-id", redirectURI: "https://a.test/")
        let exchange = try await exchangeForLinking(linking)
        for wrong in ["", "Atza|other", refresh, exchange] {
            let fields: HTTPFields = ["Content-Type": "application/json", "Authorization": "Bearer " + wrong]
            let answer = await ask(Messages.changeReport(wrong).encoded(), fields: fields)
            #expect(answer.status == 401, "\(wrong.prefix(5))")
        }
        let body = Messages.changeReport(token).encoded()
        for authorization in [token, "bearer " + token, "Basic " + token] {
            let fields: HTTPFields = ["Content-Type": "application/json", "Authorization": authorization]
            #expect(await ask(body, fields: fields).status == 401)
        }
        #expect(await ask(body, fields: ["Content-Type": "application/json"]).status == 401)
        clock.advance(by: .seconds(3599))
        #expect(await send(Messages.changeReport(token)).status == 202)
        clock.advance(by: .seconds(1))
        #expect(await send(Messages.changeReport(token)).status == 401)
        let other = hosts.issueEventTokens().accessToken.exposed
        hosts.tokens.endAccessTokens()
        #expect(!hosts.tokens.isLive(other))
    }

    private func exchangeForLinking(_ code: String) async throws -> String {
        var form = Form()
        for (name, value) in [
            ("grant_type", "authorization_code"), ("code", code), ("client_id", "link-id"),
            ("client_secret", "link-secret"), ("redirect_uri", "https://a.test/"),
        ] { form.append(name, value) }
        let answer = await ask(
            Array(form.encodedText.utf8), host: "api.amazon.com", target: "/auth/o2/token",
            fields: ["Content-Type": "application/x-www-form-urlencoded"])
        return try #require(try JSONValue(parsing: answer.body)["access_token"]?.string)
    }

    @Test("the messages of the documentation are taken", arguments: Messages.all.indices)
    func taken(index: Int) async {
        let (name, make) = Messages.all[index]
        let (status, code) = await send(make(token))
        #expect(status == 202, "\(name): \(code)")
    }

    static let rules = EventRule.all

    @Test("a message that breaks a rule is refused by its code, and not recorded", arguments: rules.indices)
    func refused(index: Int) async throws {
        let rule = Self.rules[index]
        #expect(rule.wrong.count >= 3)
        for (number, wrong) in rule.wrong.enumerated() {
            var message = rule.message(token)
            #expect(await send(message).status == 202, "\(rule.name)")
            message.set(rule.path, to: wrong)
            let (status, code) = await send(message)
            #expect(status == rule.status, "\(rule.name) \(number)")
            #expect(code == rule.code, "\(rule.name) \(number)")
        }
        #expect(hosts.events.accepted.count == rule.wrong.count)
    }

    @Test("what is no JSON object is refused", arguments: ["", "{", "[]", "\"event\"", "{}", #"{"event":{}}"#])
    func noObject(text: String) async throws {
        let answer = await ask(Array(text.utf8))
        #expect(answer.status == 400)
        let body = try JSONValue(parsing: answer.body)
        #expect(body["header"]?["namespace"] == "System")
        #expect(body["header"]?["name"] == "Exception")
        #expect(body["header"]?["messageId"]?.string?.isEmpty == false)
        #expect(body["payload"]?["code"] == "INVALID_REQUEST_EXCEPTION")
    }

    @Test("more than 300 endpoints, or more than a megabyte, are too many")
    func tooLarge() async {
        let ids = { (count: Int) in JSONValue.array((0..<count).map { ["endpointId": .string("e\($0)")] }) }
        var message = Messages.deleteReport(token)
        for (count, status) in [(1, 202), (300, 202), (301, 413), (1000, 413)] {
            message.set("event.payload.endpoints", to: ids(count))
            #expect(await send(message).status == status)
        }
        message = Messages.changeReport(token)
        message.set("event.payload.change.properties.0.value", to: .string(String(repeating: "x", count: 1 << 20)))
        #expect(await send(message).code == "REQUEST_ENTITY_TOO_LARGE_EXCEPTION")
    }

    @Test("EVG-1: faults are scripted a region, one after another or for good")
    func faults() async throws {
        let message = Messages.changeReport(token)
        let host = "api.amazonalexa.com"
        hosts.script(
            .events(.northAmerica),
            [
                .gateway(429, code: "THROTTLING_EXCEPTION", retryAfter: "7"), .status(503, body: "<html>"), .garbage,
            ])
        hosts.always(.events(.northAmerica), .gateway(403, code: "SKILL_DISABLED_EXCEPTION"))
        let throttled = await ask(message.encoded(), host: host)
        #expect(throttled.status == 429)
        #expect(throttled.fields["Retry-After"] == "7")
        #expect(await send(message).status == 202, "Europe is well")
        #expect(await ask(message.encoded(), host: host).status == 503)
        #expect(await ask(message.encoded(), host: host).status == 200)
        for _ in 0..<2 {
            let (status, code) = await send(message, host: host)
            #expect(status == 403)
            #expect(code == "SKILL_DISABLED_EXCEPTION")
        }
        hosts.always(.events(.northAmerica), nil)
        #expect(await send(message, host: host).status == 202)
        #expect(hosts.events.accepted.map(\.region) == [.europe, .northAmerica])
    }

    @Test("the client of the gateway reaches it over the simulated network, and reads its refusals")
    func client() async throws {
        let gateway = EventGateway(http: SimulatedNetwork(hosts: hosts), monotonic: { .now })
        let event = Messages.changeReport(token).encoded()
        let secret = Secret(token)
        for region in AlexaRegion.allCases {
            try await gateway.send(event, to: region, token: secret, by: .after(.seconds(30), from: .now))
        }
        #expect(hosts.events.accepted.map(\.region) == AlexaRegion.allCases)
        hosts.script(.events(.europe), [.gateway(403, code: "SKILL_NEVER_ENABLED_EXCEPTION")])
        hosts.tokens.revokeAll()
        for error: EventGatewayError in [.skillNeverEnabled, .invalidAccessToken] {
            await #expect(throws: error) {
                try await gateway.send(event, to: .europe, token: secret, by: .after(.seconds(30), from: .now))
            }
        }
    }

    @Test("so many events are remembered, then the oldest go")
    func bounded() {
        let gateway = EventEndpoint(tokens: hosts.tokens, recordLimit: 20)
        var message = Messages.changeReport(token)
        for number in 0...20 {
            message.set("event.header.messageId", to: .string("m\(number)"))
            let request = HTTPRequest(
                method: .post, target: "/v3/events",
                fields: ["Content-Type": "application/json", "Authorization": "Bearer " + token],
                body: message.encoded(), deadline: .after(.seconds(30), from: .now))
            #expect(gateway.answer(request, region: .europe).status == 202)
        }
        #expect(gateway.accepted.compactMap(\.messageID) == (2...20).map { "m\($0)" })
    }
}
