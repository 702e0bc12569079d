import Alexa
import Crypto
import HTTP
import JSON
import Service
import Telemetry
import TestSupport
import Testing
import Time

/// What a token decides about directives for devices; discovery and grants have tests beside their own.
@Suite("Smart home: tokens of directives", .timeLimit(.minutes(5))) struct DirectiveTokenTests {
    static let directives = [("Alexa", "ReportState"), ("Alexa.PowerController", "TurnOn")]

    static func harness(introspects: Bool = false, _ introspection: String = "") throws -> SmartHomeHarness {
        try SmartHomeHarness(
            introspects: introspects,
            servers: .init(
                introspection: { _, _ in .json(introspection) },
                devices: { _, _ in .json(DeviceAnswerTests.powerOn) }))
    }

    @Test(
        "TOK-10: a token that is not good gets the error from which Alexa can heal it, and no device hears of it",
        arguments: TokenFault.allCases, directives)
    func faults(fault: TokenFault, directive: (namespace: String, name: String)) async throws {
        let harness = try Self.harness()
        let token = try fault.token(harness)
        let event = try await harness.event(
            SmartHomeHarness.directive(directive.namespace, directive.name, token: token))
        let type =
            switch fault {
            case .expired: "EXPIRED_AUTHORIZATION_CREDENTIAL"
            case .providerSilent: "INTERNAL_ERROR"
            default: "INVALID_AUTHORIZATION_CREDENTIAL"
            }
        #expect(event.eventName == "Alexa/ErrorResponse")
        #expect(event.errorType == type)
        #expect(event.header("correlationToken") == "ct-1")
        #expect(event["event"]?["endpoint"]?["endpointId"] == "e1")
        #expect(try SmartHomeSchema.fault(of: event) == nil)
        #expect(harness.deviceCalls.isEmpty)
    }

    @Test(
        "TOK-1: an unsigned token is refused, however its algorithm is spelled",
        arguments: [
            #"{"alg":"none","kid":"k1"}"#, #"{"alg":"NoNe","kid":"k1"}"#, #"{"alg":"","kid":"k1"}"#, #"{"kid":"k1"}"#,
        ])
    func unsigned(head: String) async throws {
        let harness = try Self.harness()
        let claims = try harness.token().split(separator: ".")[1]
        let token = Base64URL.encode(Array(head.utf8)) + "." + claims + "."
        for (namespace, name) in Self.directives {
            let event = try await harness.event(SmartHomeHarness.directive(namespace, name, token: token))
            #expect(event.errorType == "INVALID_AUTHORIZATION_CREDENTIAL")
        }
        let discovery = try await harness.event(SmartHomeHarness.discover(token: token))
        #expect(discovery.errorType == "INVALID_AUTHORIZATION_CREDENTIAL")
        #expect(harness.deviceCalls.isEmpty)
    }

    @Test("TOK-9: whether an opaque token opens a device is for introspection to say")
    func opaque() async throws {
        let token = "0123456789abcdef0123456789abcdef"
        for (body, type) in [
            (#"{"active":true,"sub":"u1","client_id":"alexa","scope":"devices"}"#, nil),
            (#"{"active":false}"#, "INVALID_AUTHORIZATION_CREDENTIAL"),
        ] as [(String, String?)] {
            let harness = try Self.harness(introspects: true, body)
            let event = try await harness.event(
                SmartHomeHarness.directive("Alexa.PowerController", "TurnOn", token: token))
            #expect(event.errorType == type)
            #expect(harness.deviceCalls.map { $0.fields["Authorization"] } == (type == nil ? ["Bearer " + token] : []))
            #expect(!harness.logText.contains(token))
        }
    }

    // MARK: - Directives that no table takes

    static let refused: [(String, String, JSONValue, String?, String, String)] = [
        ("Alexa.PowerController", "TurnUp", [:], nil, "INVALID_DIRECTIVE", "directive.unknown"),
        ("Alexa.Nonsense", "TurnOn", [:], nil, "INVALID_DIRECTIVE", "directive.unknown"),
        ("Alexa.RangeController", "SetRangeValue", ["rangeValue": 3], nil, "INVALID_DIRECTIVE", "directive.malformed"),
        ("Alexa.RangeController", "SetRangeValue", [:], "Fan.Speed", "INVALID_DIRECTIVE", "directive.payload"),
        ("Alexa.BrightnessController", "SetBrightness", [:], nil, "INVALID_DIRECTIVE", "directive.payload"),
        (
            "Alexa.BrightnessController", "SetBrightness", ["brightness": "50"], nil, "INVALID_DIRECTIVE",
            "directive.payload"
        ),
        (
            "Alexa.BrightnessController", "SetBrightness", ["brightness": 101], nil, "VALUE_OUT_OF_RANGE",
            "directive.valueOutOfRange"
        ),
        (
            "Alexa.BrightnessController", "SetBrightness", ["brightness": -1], nil, "VALUE_OUT_OF_RANGE",
            "directive.valueOutOfRange"
        ),
        ("Alexa.SecurityPanelController", "Arm", ["armState": "ARMED_ASLEEP"], nil, "INVALID_VALUE", "directive.value"),
    ]

    @Test("a directive that its interface does not take is refused before anything is asked", arguments: refused)
    func rejections(
        row: (
            namespace: String, name: String, payload: JSONValue, instance: String?, type: String, reason: String
        )
    ) async throws {
        let harness = try Self.harness()
        let event = try await harness.event(
            SmartHomeHarness.directive(
                row.namespace, row.name, row.payload, instance: row.instance, token: try harness.token()))
        #expect(event.errorType == row.type)
        #expect(event.errorMessage?.hasPrefix(row.reason) == true)
        #expect(event.header("correlationToken") == "ct-1")
        let range: JSONValue? = row.type == "VALUE_OUT_OF_RANGE" ? ["minimumValue": 0, "maximumValue": 100] : nil
        #expect(event["event"]?["payload"]?["validRange"] == range)
        #expect(try SmartHomeSchema.fault(of: event) == nil)
        #expect(try await harness.trace().reason == row.reason)
        #expect(harness.http.requests.isEmpty)
    }

    @Test("an instance reaches the provider, and so does a number that JSON writes with a fraction of nothing")
    func instance() async throws {
        let harness = try Self.harness()
        let event = try await harness.event(
            SmartHomeHarness.directive(
                "Alexa.RangeController", "SetRangeValue", ["rangeValue": 3.0], instance: "Fan.Speed",
                token: try harness.token()))
        #expect(event.eventName == "Alexa/Response")
        let body = try JSONValue(parsing: try #require(harness.deviceCalls.first?.body))
        #expect(body["instance"] == "Fan.Speed")
        #expect(body["arguments"] == ["rangeValue": 3])
    }

    @Test("an endpoint id and a correlation token that Alexa would not send are repeated, not judged")
    func echoed() async throws {
        let harness = try Self.harness()
        let event = try await harness.event(
            SmartHomeHarness.directive(
                "Alexa.PowerController", "TurnOn", endpointID: "a b/c", correlationToken: "", token: try harness.token()
            ))
        #expect(event.eventName == "Alexa/Response")
        #expect(event["event"]?["endpoint"]?["endpointId"] == "a b/c")
        #expect(harness.deviceCalls.first?.url.hasSuffix("/devices/a%20b%2Fc/commands") == true)
    }
}
