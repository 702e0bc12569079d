import Alexa
import Concurrency
import Crypto
import FoundationEssentials
import HTTP
import JSON
import Service
import Simulator
import Storage
import Telemetry
import TestSupport
import Testing
import Time

@Suite("POST /v1/events", .timeLimit(.minutes(5))) struct EventsEndpointTests {
    let harness = EventsHarness()

    static let power = #"{"interface":"PowerController","name":"powerState","value":"ON"}"#
    static let head = #""sub":"u1","deviceID":"lamp-1""#
    static let lamp = #"""
        {"id":"lamp-1","name":"Lamp","categories":["LIGHT"],"capabilities":[
            {"interface":"PowerController","properties":["powerState"],"retrievable":true,"proactivelyReported":true}]}
        """#

    /// An event of each kind, and its name at the gateway.
    static let accepted: [(String, String)] = [
        (#"{\#(head),"cause":"PHYSICAL_INTERACTION","properties":[\#(power)]}"#, "ChangeReport"),
        (
            #"{\#(head),"kind":"changed","cause":"APP_INTERACTION","properties":[\#(power)],"state":[\#(power)]}"#,
            "ChangeReport"
        ),
        (#"{\#(head),"kind":"added","device":\#(lamp)}"#, "AddOrUpdateReport"),
        (#"{\#(head),"kind":"removed"}"#, "DeleteReport"),
        (#"{\#(head),"kind":"doorbellPress"}"#, "DoorbellPress"),
        (#"{\#(head),"kind":"doorbellPress","cause":"PHYSICAL_INTERACTION"}"#, "DoorbellPress"),
        (#"{\#(head),"kind":"deferred","correlationToken":"c1","properties":[\#(power)]}"#, "Response"),
        (
            #"{\#(head),"kind":"deferred","correlationToken":"c1","properties":[],"interface":"SecurityPanelController","#
                + #""command":"Arm","payload":{"exitDelayInSeconds":30}}"#, "Arm.Response"
        ),
        (
            #"{\#(head),"kind":"deferred","correlationToken":"c1","error":"ENDPOINT_UNREACHABLE","message":"x"}"#,
            "ErrorResponse"
        ),
        (#"{\#(head),"kind":"sceneActivated","cause":"VOICE_INTERACTION"}"#, "ActivationStarted"),
        (#"{\#(head),"kind":"sceneDeactivated","cause":"APP_INTERACTION"}"#, "DeactivationStarted"),
    ]

    @Test("every kind is taken, and leaves as a message that a strict gateway takes", arguments: accepted)
    func kinds(body: String, name: String) async throws {
        let tokens = TokenEndpoint(
            clients: [.init(id: EventsHarness.pair.id, secret: EventsHarness.pair.secret, use: .events)],
            clock: harness.clock.wall)
        let gateway = EventEndpoint(tokens: tokens)
        harness.gateway { sent, _ in gateway.answer(sent.request, region: sent.region) }
        let token = tokens.issueEventTokens().accessToken.exposed.dropFirst("Atza|".count)
        try await harness.grant(String(token))
        let answer = try await harness.post(body)
        #expect(answer.status == 202)
        #expect(try JSONValue(parsing: answer.body) == ["accepted": 1])
        #expect(try await harness.worker().flush().sent == 1)
        #expect(gateway.accepted.map(\.name) == [name])
        #expect(harness.metrics.counter(.eventsSent, "EU").value == 1)
    }

    /// Bodies that are refused, and the member that the answer names.
    static let refused: [(String, String)] = [
        ("", "JSON"), ("{", "JSON"), ("3", "object"), ("[3]", "[0]"), ("[[]]", "[0]"),
        ("{}", "sub"), (#"{"sub":"","deviceID":"d"}"#, "sub"), (#"{"sub":7,"deviceID":"d"}"#, "sub"),
        (#"{"sub":"u1"}"#, "deviceID"), (#"{"sub":"u1","deviceID":null}"#, "deviceID"),
        (#"{"sub":"u1","deviceID":""}"#, "deviceID"),
        (#"{"sub":"u1","deviceID":"\#(String(repeating: "x", count: 2049))"}"#, "deviceID"),
        (#"{\#(head),"kind":"CHANGED"}"#, "kind"), (#"{\#(head),"kind":"rang"}"#, "kind"),
        (#"{\#(head),"kind":1}"#, "kind"),
        // changed
        (#"{\#(head),"properties":[\#(power)]}"#, "cause"),
        (#"{\#(head),"cause":"BOREDOM","properties":[\#(power)]}"#, "cause"),
        (#"{\#(head),"cause":"APP_INTERACTION"}"#, "properties"),
        (#"{\#(head),"cause":"APP_INTERACTION","properties":[]}"#, "properties"),
        (#"{\#(head),"cause":"APP_INTERACTION","properties":{}}"#, "properties"),
        (#"{\#(head),"cause":"APP_INTERACTION","properties":[\#(power),\#(power)]}"#, "properties[1]"),
        (
            #"{\#(head),"cause":"APP_INTERACTION","properties":[\#(power.replacing("ON", with: "on"))]}"#,
            "properties[0].value"
        ),
        (
            #"{\#(head),"cause":"APP_INTERACTION","properties":[\#(power.replacing("powerState", with: "power"))]}"#,
            "properties[0].name"
        ),
        (
            #"{\#(head),"cause":"APP_INTERACTION","properties":[{"interface":"BrightnessController","name":"brightness","value":101}]}"#,
            "properties[0].value"
        ),
        (
            #"{\#(head),"cause":"APP_INTERACTION","properties":[\#(power)],"state":[{"interface":"Alexa.X"}]}"#,
            "state[0].interface"
        ),
        (
            #"{\#(head),"cause":"APP_INTERACTION","properties":[{"interface":"ModeController","name":"mode","value":"a"}]}"#,
            "properties[0].instance"
        ),
        // added
        (#"{\#(head),"kind":"added"}"#, "device"), (#"{\#(head),"kind":"added","device":[]}"#, "device"),
        (#"{\#(head),"kind":"added","device":{"id":"lamp-1"}}"#, "device.capabilities"),
        (#"{"sub":"u1","deviceID":"lamp-2","kind":"added","device":\#(lamp)}"#, "device.id"),
        // removed, doorbell, scenes
        (#"{\#(head),"kind":"removed","cause":"?"}"#, "cause"), (#"{"kind":"removed","deviceID":"d"}"#, "sub"),
        (#"{"sub":"u1","kind":"removed"}"#, "deviceID"),
        (#"{\#(head),"kind":"doorbellPress","cause":"?"}"#, "cause"),
        (#"{\#(head),"kind":"doorbellPress","cause":1}"#, "cause"),
        (#"{"sub":"u1","kind":"doorbellPress"}"#, "deviceID"),
        (#"{\#(head),"kind":"sceneActivated"}"#, "cause"), (#"{\#(head),"kind":"sceneActivated","cause":""}"#, "cause"),
        (#"{"sub":"u1","kind":"sceneActivated","cause":"VOICE_INTERACTION"}"#, "deviceID"),
        (#"{\#(head),"kind":"sceneDeactivated"}"#, "cause"),
        (#"{\#(head),"kind":"sceneDeactivated","cause":[]}"#, "cause"),
        (#"{"deviceID":"d","kind":"sceneDeactivated","cause":"VOICE_INTERACTION"}"#, "sub"),
        // deferred
        (#"{\#(head),"kind":"deferred","properties":[]}"#, "correlationToken"),
        (#"{\#(head),"kind":"deferred","correlationToken":"","properties":[]}"#, "correlationToken"),
        (#"{\#(head),"kind":"deferred","correlationToken":"c"}"#, "properties"),
        (#"{\#(head),"kind":"deferred","correlationToken":"c","error":"BROKEN"}"#, "error"),
        (
            #"{\#(head),"kind":"deferred","correlationToken":"c","error":"VALUE_OUT_OF_RANGE","properties":[]}"#,
            "properties"
        ),
        (#"{\#(head),"kind":"deferred","correlationToken":"c","error":"NOT_SUPPORTED_IN_CURRENT_MODE"}"#, "error"),
        (#"{\#(head),"kind":"deferred","correlationToken":"c","properties":[],"payload":{}}"#, "command"),
        (
            #"{\#(head),"kind":"deferred","correlationToken":"c","properties":[],"payload":{},"command":"TurnOn","interface":"PowerController"}"#,
            "payload"
        ),
        (#"{\#(head),"kind":"deferred","correlationToken":"c","properties":[],"payload":7}"#, "payload"),
        // lists
        ("[" + Array(repeating: "{}", count: 101).joined(separator: ",") + "]", "100"),
        (
            #"[{\#(head),"kind":"removed"},{\#(head),"cause":"APP_INTERACTION","properties":[\#(power.replacing("ON", with: "1"))]}]"#,
            "[1].properties[0].value"
        ),
    ]

    @Test("whatever else is refused with the member named, and nothing of the call is stored", arguments: refused)
    func refusals(body: String, member: String) async throws {
        try await harness.grant()
        let answer = try await harness.post(body)
        #expect(answer.status == 400)
        let problem = try JSONValue(parsing: answer.body)
        let detail = problem["detail"]?.string ?? ""
        if member == "JSON" {
            #expect(problem["code"] == "events.notJSON")
        } else {
            #expect(problem["code"] == "events.member")
            #expect(
                detail.hasPrefix(member + ":") || !member.contains(/[a-z]/) && detail.contains(member)
                    || member == "object")
        }
        #expect(try await harness.store.waitingRows(by: harness.clock.deadline()) == 0)
    }
}

extension EventsEndpointTests {
    @Test("a list of a hundred is taken, and an empty one")
    func lists() async throws {
        try await harness.grant()
        let list = (0..<100).map { #"{"sub":"u1","deviceID":"d\#($0)","kind":"removed"}"# }.joined(separator: ",")
        #expect(try await JSONValue(parsing: harness.post("[\(list)]").body) == ["accepted": 100])
        #expect(try await JSONValue(parsing: harness.post("[]").body) == ["accepted": 0])
        #expect(try await harness.store.waitingRows(by: harness.clock.deadline()) == 100)
    }

    @Test("an event goes to every skill's grant of the user, and of nobody else")
    func everyGrant() async throws {
        try await harness.grant("home")
        try await harness.grant("other", GrantKey(source: .events, subject: "u1", skill: "other", region: .farEast))
        try await harness.grant("u2", GrantKey(source: .events, subject: "u2", skill: "home", region: .europe))
        #expect(try await harness.post(#"{\#(Self.head),"kind":"removed"}"#).status == 202)
        #expect(try await harness.worker().flush().sent == 2)
        #expect(Set(harness.sent.map(\.token)) == ["Atza|home", "Atza|other"])
        #expect(Set(harness.sent.map(\.region)) == [.europe, .farEast])
    }

    @Test("a user without a grant is nothing wrong: the event is taken, and nothing waits")
    func noGrant() async throws {
        #expect(try await harness.post(#"{\#(Self.head),"kind":"removed"}"#).status == 202)
        #expect(try await harness.store.waitingRows(by: harness.clock.deadline()) == 0)
    }

    /// Headers, and what they are answered with.
    static let credentials: [(String?, Int, String)] = [
        (nil, 401, "client.missing"),
        ("Bearer abc", 401, "client.scheme"),
        ("Basic", 401, "client.malformed"),
        ("Basic !!!", 401, "client.malformed"),
        (basic("no-colon"), 401, "client.malformed"),
        (basic("back-end:wrong"), 401, "client.wrongSecret"),
        (basic("back-end:"), 401, "client.wrongSecret"),
        (basic("nobody:right secret+%/é"), 401, "client.wrongSecret"),
        (basic("public:"), 401, "client.wrongSecret"),
        (basic("in-body:body-secret"), 401, "client.wrongSecret"),
        (basic("no-role:other"), 403, "client.role"),
        (basic("operator:operator-secret"), 403, "client.role"),
    ]

    static func basic(_ pair: String) -> String { "Basic " + Base64.encode(Array(pair.utf8)) }

    @Test("who is not a back end with the role is refused, with the challenge that fits", arguments: credentials)
    func refusedClients(header: String?, status: Int, code: String) async throws {
        try await harness.grant()
        let answer = try await harness.post(#"{\#(Self.head),"kind":"removed"}"#, authorization: header)
        #expect(answer.status == status)
        #expect(try JSONValue(parsing: answer.body)["code"] == .string(code))
        let challenge = answer.fields["WWW-Authenticate"]
        #expect(challenge == (status == 401 ? #"Basic realm="skillgate", charset="UTF-8""# : nil))
        #expect(try await harness.store.waitingRows(by: harness.clock.deadline()) == 0)
    }

    @Test(
        "the secret may be form-encoded as RFC 6749 wants it, or as it is",
        arguments: [
            "back-end:right+secret%2B%25%2F%C3%A9", "back%2Dend:right+secret%2b%25/%c3%a9", "back-end:right secret+%/é",
        ])
    func encodedSecrets(pair: String) async throws {
        let answer = try await harness.post(#"{\#(Self.head),"kind":"removed"}"#, authorization: Self.basic(pair))
        #expect(answer.status == 202)
    }

    @Test(
        "after ten wrong secrets in a minute further ones get 429; a right one passes, and other peers are not held up")
    func guessing() async throws {
        let body = #"{\#(Self.head),"kind":"removed"}"#
        let endpoint = try harness.endpoint()
        let wrong = Self.basic("back-end:wrong")
        for _ in 0..<10 { #expect(try await harness.post(body, authorization: wrong, to: endpoint).status == 401) }
        let answer = try await harness.post(body, authorization: wrong, to: endpoint)
        #expect(answer.status == 429)
        #expect(answer.fields["Retry-After"].flatMap { Int($0) }.map { (1...61).contains($0) } == true)
        #expect(try await harness.post(body, to: endpoint).status == 202)
        #expect(try await harness.post(body, authorization: wrong, peer: "192.0.2.7", to: endpoint).status == 401)
        harness.clock.advance(by: .seconds(61))
        #expect(try await harness.post(body, authorization: wrong, to: endpoint).status == 401)
    }

    @Test("a device id that is too long for Alexa leads back to the device")
    func longIDs() async throws {
        try await harness.grant()
        let id = String(repeating: "long id ", count: 60)
        #expect(try await harness.post(#"{"sub":"u1","deviceID":"\#(id)","kind":"removed"}"#).status == 202)
        _ = try await harness.worker().flush()
        let sent = try #require(harness.sent.first?.event["event"]?["payload"]?["endpoints"]?.array?.first)
        guard case .digest(let digest) = EndpointID.decode(sent["endpointId"]?.string ?? "") else {
            Issue.record("no digest")
            return
        }
        #expect(try await harness.store.deviceID(digest: digest, by: harness.clock.deadline()) == id)
    }
}
