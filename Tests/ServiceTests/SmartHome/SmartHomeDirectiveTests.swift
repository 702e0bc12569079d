import Alexa
import Concurrency
import Crypto
import HTTP
import JSON
import Service
import Telemetry
import TestSupport
import Testing
import Time

@Suite("Smart home: directives", .timeLimit(.minutes(5))) struct SmartHomeDirectiveTests {
    static func directive(
        _ namespace: String = "Alexa.PowerController", _ name: String = "TurnOn", version: String = #""3""#
    ) -> String {
        #"{"directive":{"header":{"namespace":"\#(namespace)","name":"\#(name)","messageId":"m1","#
            + #""correlationToken":"ct-1","payloadVersion":\#(version)},"#
            + #""endpoint":{"endpointId":"e1","scope":{"type":"BearerToken","token":"t"}},"payload":{}}}"#
    }

    @Test("Discover is answered with no endpoints for a good token")
    func discovers() async throws {
        let harness = try SmartHomeHarness()
        let event = try await harness.event(SmartHomeHarness.discover(token: try harness.token()))
        let messageID = try #require(event.header("messageId"))
        #expect(
            event == [
                "event": [
                    "header": [
                        "namespace": "Alexa.Discovery", "name": "Discover.Response", "messageId": .string(messageID),
                        "payloadVersion": "3",
                    ], "payload": ["endpoints": []],
                ]
            ])
        #expect(messageID != "m1")
        #expect(harness.logText.contains("directive answered"))
        #expect(harness.metrics.prometheusText.contains(#"skill="home",type="Alexa.Discovery.Discover"} 1"#))
    }

    @Test(
        "TOK-10: a token that is not good gets the error from which Alexa can heal it",
        arguments: TokenFault.allCases)
    func tokens(fault: TokenFault) async throws {
        let harness = try SmartHomeHarness()
        let event = try await harness.event(SmartHomeHarness.discover(token: try fault.token(harness)))
        #expect(event.eventName == "Alexa/ErrorResponse")
        let expected =
            switch fault {
            case .expired: "EXPIRED_AUTHORIZATION_CREDENTIAL"
            case .providerSilent: "INTERNAL_ERROR"
            default: "INVALID_AUTHORIZATION_CREDENTIAL"
            }
        #expect(event.errorType == expected)
        let reason = try #require(event.errorMessage)
        #expect(reason.hasPrefix("token."))
        #expect(try await harness.trace().reason == reason)
        #expect(harness.logText.contains(reason))
        #expect(harness.metrics.prometheusText.contains(#"skillgate_token_rejections_total{reason="\#(reason)"} 1"#))
    }

    @Test("TOK-9: an opaque token is no JWT, which the log says with its length alone; introspection decides otherwise")
    func opaque() async throws {
        let token = "0123456789abcdef0123456789abcdef"
        let harness = try SmartHomeHarness()
        let refused = try await harness.event(SmartHomeHarness.discover(token: token))
        #expect(refused.errorType == "INVALID_AUTHORIZATION_CREDENTIAL")
        #expect(harness.logText.contains("not a JWT (length 32)"))
        #expect(!harness.logText.contains(token))
        for (body, name) in [
            (#"{"active":true,"sub":"u1","client_id":"alexa","scope":"devices"}"#, "Discover.Response"),
            (#"{"active":false}"#, "ErrorResponse"),
        ] {
            let harness = try SmartHomeHarness(
                introspects: true, servers: .init(introspection: { _, _ in .json(body) }))
            #expect(try await harness.event(SmartHomeHarness.discover(token: token)).header("name") == name)
        }
    }

    @Test("TOK-7: a kept introspection answer opens nothing whose scope it lacks")
    func keptScopes() async throws {
        let strict = SmartHomeSkill(
            name: "strict", providerClient: "alexa", scopes: ["devices:write"], events: SmartHomeHarness.home.events)
        let body = #"{"active":true,"sub":"u1","client_id":"alexa","scope":"devices"}"#
        let harness = try SmartHomeHarness(
            skills: [SmartHomeHarness.home, strict], introspects: true,
            servers: .init(introspection: { _, _ in .json(body) }))
        let discover = SmartHomeHarness.discover(token: "opaque")
        let first = try await harness.event(discover, target: "/alexa/smart-home?skill=home")
        #expect(first.header("name") == "Discover.Response")
        let second = try await harness.event(discover, target: "/alexa/smart-home?skill=strict")
        #expect(second.errorType == "INVALID_AUTHORIZATION_CREDENTIAL")
        #expect(second.errorMessage == "token.lacksScope")
        #expect(harness.http.requests.filter { $0.url == SmartHomeHarness.introspectionURL }.count == 1)
        // What the kept answer does not open for discovery, it does not open for commands either.
        let command = try await harness.event(
            SmartHomeHarness.directive("Alexa.PowerController", "TurnOn", token: "opaque"),
            target: "/alexa/smart-home?skill=strict")
        #expect(command.errorMessage == "token.lacksScope")
        #expect(harness.deviceCalls.count == 1)
    }

    @Test("a directive that the skill does not take is INVALID_DIRECTIVE with its correlation token")
    func unknown() async throws {
        let harness = try SmartHomeHarness()
        for (namespace, name) in [
            ("Alexa.PowerController", "TurnUp"), ("Alexa", "reportState"), ("Alexa.Discovery", "Other"),
            ("Alexa.Nonsense", "TurnOn"), ("PowerController", "TurnOn"),
        ] {
            let event = try await harness.event(Self.directive(namespace, name))
            #expect(event.eventName == "Alexa/ErrorResponse")
            #expect(event.errorType == "INVALID_DIRECTIVE")
            #expect(event.header("correlationToken") == "ct-1")
            #expect(event["event"]?["endpoint"]?["endpointId"]?.string == "e1")
        }
        #expect(try await harness.trace().reason == "directive.unknown")
        #expect(harness.http.requests.isEmpty)
    }

    @Test(
        "another payloadVersion than the text 3, and what is no directive, is INVALID_DIRECTIVE",
        arguments: [
            (directive(version: #""2""#), "directive.payloadVersion"),
            (directive(version: "3"), "directive.payloadVersion"),
            (directive(version: "null"), "directive.payloadVersion"), ("{}", "directive.missing"),
            ("[]", "directive.missing"),
            (#"{"directive":{"header":{}}}"#, "directive.payloadVersion"),
        ])
    func unreadable(body: String, reason: String) async throws {
        let harness = try SmartHomeHarness()
        let event = try await harness.event(body)
        #expect(event.errorType == "INVALID_DIRECTIVE")
        #expect(try await harness.trace().reason == reason)
    }

    @Test("no JSON is 400", arguments: ["", "{", "directive", #"{"directive":1e400}"#])
    func noJSON(body: String) async throws {
        let harness = try SmartHomeHarness()
        let response = await harness.endpoint.respond(to: harness.request(body))
        #expect(response.status == 400)
        #expect(response.fields["Content-Type"] == "application/problem+json")
        #expect(try await harness.trace().reason == "verification.bodyUnreadable")
    }

    @Test(
        "a query that names no skill or region of ours is a 400 with its code, and nothing is asked of the provider",
        arguments: [
            ("?skill=other", "smartHome.unknownSkill"), ("?skill=", "smartHome.unknownSkill"),
            ("?region=eu", "smartHome.unknownRegion"), ("?region=", "smartHome.unknownRegion"),
            ("?skill=home&skill=home", "smartHome.query"), ("?region=EU&region=NA", "smartHome.query"),
            ("?skill=%zz", "smartHome.query"),
        ])
    func query(query: String, code: String) async throws {
        let harness = try SmartHomeHarness()
        let body = SmartHomeHarness.discover(token: try harness.token())
        let response = await harness.endpoint.respond(
            to: harness.request(body, target: "/alexa/smart-home" + query))
        #expect(response.status == 400)
        let problem = try JSONValue(parsing: response.body)
        #expect(problem["code"]?.string == code)
        #expect(problem["status"]?.integer == 400)
        #expect(harness.http.requests.isEmpty)
        #expect(try await harness.trace().reason == code)
    }

    @Test("with several skills the query must name one")
    func severalSkills() async throws {
        let other = SmartHomeSkill(name: "other", providerClient: "alexa", scopes: [], events: nil)
        let harness = try SmartHomeHarness(skills: [SmartHomeHarness.home, other])
        let body = SmartHomeHarness.discover(token: try harness.token())
        let response = await harness.endpoint.respond(to: harness.request(body))
        #expect(try JSONValue(parsing: response.body)["code"]?.string == "smartHome.skillNotNamed")
        let event = try await harness.event(body, target: "/alexa/smart-home?skill=other&region=NA")
        #expect(event.header("name") == "Discover.Response")
    }

    /// What is wrong with a forwarder's proof.
    enum ProofFault: String, CaseIterable, CustomTestStringConvertible {
        case missing, empty, otherSecret, otherPath, otherQuery, otherBody, old, early, twice, cut
        var testDescription: String { rawValue }
    }

    @Test("without the forwarder's proof it is 401, and nothing reaches the provider", arguments: ProofFault.allCases)
    func unproven(fault: ProofFault) async throws {
        let harness = try SmartHomeHarness()
        let body = SmartHomeHarness.acceptGrant(token: try harness.token())
        var request = harness.request(body, target: "/alexa/smart-home?skill=home")
        let name = ForwarderVerifier.headerName
        let good = request.fields[name] ?? ""
        switch fault {
        case .missing: request.fields[name] = nil
        case .empty: request.fields[name] = ""
        case .otherSecret:
            request.fields[name] = ForwarderVerifier.headerValue(
                secret: Secret("other"), at: harness.clock.now, target: request.target, body: request.body)
        case .otherPath: request.target = "/alexa/Smart-home?skill=home"
        case .otherQuery: request.target += "&region=EU"
        case .otherBody: request.body.append(UInt8(ascii: " "))
        case .old: harness.clock.advance(by: .seconds(61))
        case .early: harness.clock.set(harness.clock.now.adding(seconds: -61))
        case .twice: request.fields.append(name, good)
        case .cut: request.fields[name] = String(good.dropLast(2))
        }
        let response = await harness.endpoint.respond(to: request)
        #expect(response.status == 401)
        #expect(response.fields["WWW-Authenticate"] != nil)
        #expect(harness.http.requests.isEmpty)
        #expect(try await harness.stored().isEmpty)
        let trace = try await harness.trace()
        let reason = try #require(trace.reason)
        #expect(reason.hasPrefix("verification."))
        #expect(harness.logText.contains(reason))
        // Whoever cannot prove anything learns no reason.
        #expect(!String(decoding: response.body, as: UTF8.self).contains(reason))
        if fault == .old || fault == .early { #expect(harness.drift.medianSeconds == (fault == .old ? -61 : 61)) }
    }

    @Test("a proof of up to 60 seconds ago or ahead is taken", arguments: [-60, 0, 60] as [Int64])
    func fresh(seconds: Int64) async throws {
        let harness = try SmartHomeHarness()
        let request = harness.request(SmartHomeHarness.discover(token: try harness.token()))
        harness.clock.set(harness.clock.now.adding(seconds: seconds))
        #expect(await harness.endpoint.respond(to: request).status == 200)
    }

    @Test("in development the forwarder need not prove itself")
    func development() async throws {
        let harness = try SmartHomeHarness(isProofRequired: false)
        var request = harness.request(SmartHomeHarness.discover(token: try harness.token()))
        request.fields[ForwarderVerifier.headerName] = nil
        #expect(await harness.endpoint.respond(to: request).status == 200)
    }

    @Test("what leaves when time is up is an error in the directive's own words", .timeLimit(.minutes(5)))
    func lateAnswers() async throws {
        for (directive, name, type) in [
            (SmartHomeHarness.discover(token: "t"), "Alexa/ErrorResponse", "BRIDGE_UNREACHABLE"),
            (Self.directive(), "Alexa/ErrorResponse", "BRIDGE_UNREACHABLE"),
            (SmartHomeHarness.acceptGrant(token: "t"), "Alexa.Authorization/ErrorResponse", "ACCEPT_GRANT_FAILED"),
        ] {
            let harness = try SmartHomeHarness()
            let request = harness.request(directive)
            _ = await harness.endpoint.respond(to: request)
            let late = request.lateAnswer.response
            #expect(late.status == 200)
            let event = try JSONValue(parsing: late.body)
            #expect(event.eventName == name)
            #expect(event.errorType == type)
            #expect(event.header("correlationToken") == (directive.contains("ct-1") ? "ct-1" : nil))
        }
        #expect(try SmartHomeHarness().endpoint.route.timeLimit == .seconds(7))
    }

    @Test(
        "Amazon's own samples get answers that its schema accepts",
        .needsFixture("alexa-smart-home/sample_messages/Authorization"),
        arguments: [
            ("Authorization/Authorization.AcceptGrant.request.json", "AcceptGrant.Response", [] as [String]),
            ("Discovery/Discovery.request.json", "Discover.Response", ["endpoints"]),
        ])
    func samples(file: String, name: String, members: [String]) async throws {
        let harness = try SmartHomeHarness()
        let bytes = try Fixtures.bytes("alexa-smart-home/sample_messages/" + file)
        let sample = String(decoding: bytes, as: UTF8.self)
        let event = try await harness.event(
            sample.replacing("access-token-from-skill", with: try harness.token()))
        #expect(event.header("name") == name)
        #expect(Self.faults(event, payload: Set(members)).isEmpty)
        let refused = try await harness.event(sample)
        #expect(refused.header("name") == "ErrorResponse")
        #expect(Self.faults(refused, payload: ["type", "message"]).isEmpty)
    }

    /// What the members that Amazon's schema names, and its patterns, have against an event.
    static func faults(_ event: JSONValue, payload: Set<String>) -> [String] {
        var faults: [String] = []
        func check(_ holds: Bool, _ fault: String) { if !holds { faults.append(fault) } }
        check(event.object?.names == ["event"], "top level")
        check(Set(event["event"]?.object?.names ?? []) == ["header", "payload"], "event")
        let header = event["event"]?["header"]
        check(
            Set(header?.object?.names ?? []) == ["namespace", "name", "messageId", "payloadVersion"], "header")
        check(header?["payloadVersion"]?.string == "3", "payloadVersion")
        let messageID = header?["messageId"]?.string ?? ""
        check((1...127).contains(messageID.utf8.count), "length of messageId")
        check(messageID.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }, "messageId")
        check(Set(event["event"]?["payload"]?.object?.names ?? ["?"]) == payload, "payload")
        if let message = event["event"]?["payload"]?["message"] { check(message.string?.isEmpty == false, "message") }
        return faults
    }
}
