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

/// What the provider's server does instead of its work, and what Alexa is told then.
struct ProviderFailure: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let outcome: Result<HTTPResponse, HTTPClientError>
    let type: String
    let reason: String

    private init(
        _ name: String, _ outcome: Result<HTTPResponse, HTTPClientError>, _ type: String, _ reason: String
    ) {
        testDescription = name
        self.outcome = outcome
        self.type = type
        self.reason = reason
    }

    /// Statuses by the table of the contract, whatever the body.
    static let statuses: [ProviderFailure] = [
        (401, "INVALID_AUTHORIZATION_CREDENTIAL", "resource.tokenRefused"),
        (403, "INSUFFICIENT_PERMISSIONS", "resource.forbidden"), (404, "NO_SUCH_ENDPOINT", "resource.notFound"),
        (409, "ENDPOINT_BUSY", "resource.busy"), (429, "RATE_LIMIT_EXCEEDED", "resource.rateLimited"),
        (301, "INTERNAL_ERROR", "resource.status"), (304, "INTERNAL_ERROR", "resource.status"),
        (400, "INTERNAL_ERROR", "resource.status"), (422, "INTERNAL_ERROR", "resource.status"),
        (500, "INTERNAL_ERROR", "resource.status"), (502, "INTERNAL_ERROR", "resource.status"),
        (503, "INTERNAL_ERROR", "resource.status"),
    ].flatMap { status, type, reason in
        [
            ("", "application/json"), (#"{"message":"try later"}"#, "application/json"),
            ("<html><body>Bad</body></html>", "text/html"), (#"{"error":"no_such_type"}"#, "application/json"),
            (#"{"error":7}"#, "application/json"), (#"{"error":"ACCEPT_GRANT_FAILED"}"#, "application/json"),
        ].map { body, mediaType in
            ProviderFailure(
                "\(status) \(body)", .success(.json(body, status: status, fields: ["Content-Type": mediaType])), type,
                reason)
        }
    }

    static let network: [ProviderFailure] = [
        ("no connection", .unreachable("refused"), "BRIDGE_UNREACHABLE", "resource.unreachable"),
        ("tls", .tls("untrusted"), "BRIDGE_UNREACHABLE", "resource.unreachable"),
        ("broken", .broken("reset"), "BRIDGE_UNREACHABLE", "resource.unreachable"),
        ("circuit", .circuitOpen, "BRIDGE_UNREACHABLE", "resource.unreachable"),
        ("silence", .timedOut, "BRIDGE_UNREACHABLE", "resource.timedOut"),
        ("too large", .answerTooLarge, "INTERNAL_ERROR", "resource.tooLarge"),
        ("address", .address, "INTERNAL_ERROR", "resource.address"),
    ].map { ProviderFailure($0, .failure($1), $2, $3) }

    /// Success that is none.
    static let garbage: [ProviderFailure] = [
        ("html", "<html>200 OK</html>", "text/html", "resource.notJSON"),
        ("html called json", "<html>200 OK</html>", "application/json", "resource.notJSON"),
        ("cut", #"{"properties":[{"interface":"Pow"#, "application/json", "resource.notJSON"),
        ("empty", "", "application/json", "resource.notJSON"),
        (
            "deep", String(repeating: "[", count: 70) + String(repeating: "]", count: 70), "application/json",
            "resource.notJSON"
        ),
        ("charset", "{}", "application/json;charset=utf-7", "resource.notJSON"),
        ("not UTF-8 number", #"{"properties":[],"n":1e999}"#, "application/json", "resource.notJSON"),
        ("array", "[]", "application/json", "resource.malformed"),
        ("text", #""properties""#, "application/json", "resource.malformed"),
        ("null", "null", "application/json", "resource.malformed"),
        ("without members", "{}", "application/json", "resource.malformed"),
        ("members of other kinds", #"{"properties":{},"devices":{}}"#, "application/json", "resource.malformed"),
        ("members that are null", #"{"properties":null,"devices":null}"#, "application/json", "resource.malformed"),
    ].map { name, body, mediaType, reason in
        ProviderFailure(
            name, .success(.json(body, fields: ["Content-Type": mediaType])), "INTERNAL_ERROR", reason)
    }

    static let all = statuses + network + garbage
}

@Suite("Smart home: a provider that fails", .timeLimit(.minutes(5))) struct DeviceFailureTests {
    static func harness(_ outcome: Result<HTTPResponse, HTTPClientError>) throws -> SmartHomeHarness {
        try SmartHomeHarness(servers: .init(devices: { _, _ throws(HTTPClientError) in try outcome.get() }))
    }

    /// Checks that it is the error event of this directive, and that log and trace have the reason.
    static func check(
        _ event: JSONValue, _ type: String, _ reason: String, _ harness: SmartHomeHarness,
        hasEndpoint: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(event.eventName == "Alexa/ErrorResponse", sourceLocation: sourceLocation)
        #expect(event.errorType == type, sourceLocation: sourceLocation)
        #expect(event.errorMessage?.isEmpty == false, sourceLocation: sourceLocation)
        #expect(event.header("correlationToken") == (hasEndpoint ? "ct-1" : nil), sourceLocation: sourceLocation)
        #expect(
            event["event"]?["endpoint"]?["endpointId"]?.string == (hasEndpoint ? "e1" : nil),
            sourceLocation: sourceLocation)
        #expect(try await harness.trace().reason == reason, sourceLocation: sourceLocation)
        #expect(harness.logText.contains(reason), sourceLocation: sourceLocation)
        #expect(try SmartHomeSchema.fault(of: event) == nil, sourceLocation: sourceLocation)
    }

    @Test("a command that fails is sent once, and each failure has its type", arguments: ProviderFailure.all)
    func command(failure: ProviderFailure) async throws {
        let harness = try Self.harness(failure.outcome)
        let event = try await harness.event(
            SmartHomeHarness.directive("Alexa.PowerController", "TurnOn", token: try harness.token()))
        try await Self.check(event, failure.type, failure.reason, harness)
        #expect(harness.deviceCalls.map(\.method) == [.post])
        #expect(harness.reports.commanded.isEmpty)
    }

    @Test("a state that cannot be had has the same types", arguments: ProviderFailure.all)
    func state(failure: ProviderFailure) async throws {
        let harness = try Self.harness(failure.outcome)
        let event = try await harness.event(
            SmartHomeHarness.directive("Alexa", "ReportState", token: try harness.token()))
        try await Self.check(event, failure.type, failure.reason, harness)
        #expect(harness.deviceCalls.map(\.method) == [.get])
    }

    @Test(
        "a list of devices that cannot be had has the same types, without an endpoint", arguments: ProviderFailure.all)
    func discovery(failure: ProviderFailure) async throws {
        let harness = try Self.harness(failure.outcome)
        let event = try await harness.event(SmartHomeHarness.discover(token: try harness.token()))
        try await Self.check(event, failure.type, failure.reason, harness, hasEndpoint: false)
        #expect(harness.reports.discovered.isEmpty)
    }

    @Test("a message that repeats the user's token is dropped, in whole or cut; the error stays")
    func repeatedToken() async throws {
        for padding in [0, 200, 235] {
            let words = String(repeating: "x", count: padding)
            let harness = try SmartHomeHarness(
                servers: .init(devices: { request, _ throws(HTTPClientError) in
                    let token = request.fields["Authorization"] ?? ""
                    return .json(#"{"error":"ENDPOINT_BUSY","message":"\#(words) \#(token)"}"#, status: 409)
                }))
            let token = try harness.token()
            let event = try await harness.event(
                SmartHomeHarness.directive("Alexa.PowerController", "TurnOn", token: token))
            #expect(event.errorType == "ENDPOINT_BUSY")
            #expect(event.errorMessage == "resource.declared")
            #expect(!harness.logText.contains(token.prefix(8)))
        }
    }

    @Test(
        "an error type of Alexa's comes through with its message and the members that the schema knows",
        arguments: [
            (#"{"error":"ENDPOINT_UNREACHABLE","message":"asleep"}"#, "Alexa", "asleep", [:]),
            (
                #"{"error":"VALUE_OUT_OF_RANGE","message":"m","validRange":{"minimumValue":1,"maximumValue":7}}"#,
                "Alexa", "m", ["validRange": ["minimumValue": 1, "maximumValue": 7]]
            ),
            (
                #"{"error":"TEMPERATURE_VALUE_OUT_OF_RANGE","message":"m","validRange":{"minimumValue":"#
                    + #"{"value":15.5,"scale":"CELSIUS"},"maximumValue":{"value":30,"scale":"CELSIUS"}}}"#,
                "Alexa", "m",
                [
                    "validRange": [
                        "minimumValue": ["value": 15.5, "scale": "CELSIUS"],
                        "maximumValue": ["value": 30, "scale": "CELSIUS"],
                    ]
                ]
            ),
            (
                #"{"error":"NOT_SUPPORTED_IN_CURRENT_MODE","message":"m","currentDeviceMode":"COLOR"}"#, "Alexa", "m",
                ["currentDeviceMode": "COLOR"]
            ),
            (
                #"{"error":"ENDPOINT_LOW_POWER","message":"m","percentageState":5}"#, "Alexa", "m",
                ["percentageState": 5]
            ),
            (#"{"error":"THERMOSTAT_IS_OFF","message":"m"}"#, "Alexa.ThermostatController", "m", [:]),
            (
                #"{"error":"BYPASS_NEEDED","message":"m","endpointsNeedingBypass":[{"friendlyName":"Window"}]}"#,
                "Alexa.SecurityPanelController", "m", ["endpointsNeedingBypass": [["friendlyName": "Window"]]]
            ),
        ] as [(String, String, String, JSONObject)], [200, 400, 409, 503])
    func declared(row: (String, String, String, JSONObject), status: Int) async throws {
        let (body, namespace, message, details) = row
        let harness = try Self.harness(.success(.json(body, status: status)))
        let event = try await harness.event(
            SmartHomeHarness.directive("Alexa.PowerController", "TurnOn", token: try harness.token()))
        #expect(event.eventName == namespace + "/ErrorResponse")
        #expect(event.errorMessage == message)
        var payload = try #require(event["event"]?["payload"]?.object)
        payload["type"] = nil
        payload["message"] = nil
        #expect(payload == details)
        #expect(try SmartHomeSchema.fault(of: event) == nil)
        #expect(try await harness.trace().reason == "resource.declared")
        #expect(harness.deviceCalls.count == 1)
    }

    @Test("extras that would break the schema do not leave, and a type that needs one is INTERNAL_ERROR without it")
    func badExtras() async throws {
        for (body, type) in [
            (#"{"error":"VALUE_OUT_OF_RANGE","validRange":{"minimumValue":"low"}}"#, "VALUE_OUT_OF_RANGE"),
            (#"{"error":"VALUE_OUT_OF_RANGE","validRange":7,"stack":"at x.js:3"}"#, "VALUE_OUT_OF_RANGE"),
            (#"{"error":"ENDPOINT_LOW_POWER","percentageState":"5 %"}"#, "ENDPOINT_LOW_POWER"),
            (#"{"error":"ENDPOINT_BUSY","type":"INTERNAL_ERROR","message":""}"#, "ENDPOINT_BUSY"),
            (#"{"error":"NOT_SUPPORTED_IN_CURRENT_MODE","message":"m"}"#, "INTERNAL_ERROR"),
            (#"{"error":"NOT_SUPPORTED_IN_CURRENT_MODE","currentDeviceMode":"SLEEPY"}"#, "INTERNAL_ERROR"),
        ] {
            let harness = try Self.harness(.success(.json(body, status: 400)))
            let event = try await harness.event(
                SmartHomeHarness.directive("Alexa.PowerController", "TurnOn", token: try harness.token()))
            #expect(event.errorType == type)
            #expect(event["event"]?["payload"]?.object?.names.sorted() == ["message", "type"])
            #expect(event.errorMessage?.isEmpty == false)
            #expect(try SmartHomeSchema.fault(of: event) == nil)
        }
    }

    @Test("a long message of the provider's is cut")
    func longMessage() async throws {
        let text = String(repeating: "x", count: 5000)
        let harness = try Self.harness(.success(.json(#"{"error":"ENDPOINT_BUSY","message":"\#(text)"}"#, status: 409)))
        let event = try await harness.event(
            SmartHomeHarness.directive("Alexa.PowerController", "TurnOn", token: try harness.token()))
        #expect(event.errorMessage?.count == 256)
    }

    @Test("TOK-9: a 401 of the resource server is INVALID, or EXPIRED where it says so, never INTERNAL_ERROR")
    func refusedToken() async throws {
        for (challenge, type) in [
            (nil, "INVALID_AUTHORIZATION_CREDENTIAL"),
            (#"Bearer error="invalid_token""#, "INVALID_AUTHORIZATION_CREDENTIAL"),
            (
                #"Bearer error="invalid_token", error_description="The token expired""#,
                "EXPIRED_AUTHORIZATION_CREDENTIAL"
            ),
        ] as [(String?, String)] {
            var fields: HTTPFields = [:]
            fields["WWW-Authenticate"] = challenge
            let harness = try Self.harness(.success(.json("{}", status: 401, fields: fields)))
            for directive in [
                SmartHomeHarness.directive("Alexa.PowerController", "TurnOn", token: try harness.token()),
                SmartHomeHarness.directive("Alexa", "ReportState", token: try harness.token()),
                SmartHomeHarness.discover(token: try harness.token()),
            ] {
                #expect(try await harness.event(directive).errorType == type)
            }
        }
    }

    @Test("TOK-10: a token that ends on the way is EXPIRED, though the resource server only says 401")
    func endsOnTheWay() async throws {
        let clock = ManualClock()
        let harness = try SmartHomeHarness(
            servers: .init(devices: clock.slowly(.seconds(3)) { _, _ in .json("{}", status: 401) }), clock: clock)
        let event = try await harness.event(
            SmartHomeHarness.directive(
                "Alexa.PowerController", "TurnOn", token: try harness.token(lifetimeSeconds: 2)))
        #expect(event.errorType == "EXPIRED_AUTHORIZATION_CREDENTIAL")
        #expect(event.header("correlationToken") == "ct-1")
    }

    @Test("a token that the resource server refuses is judged anew the next time")
    func judgedAnew() async throws {
        let answers = Locked(0)
        let harness = try SmartHomeHarness(
            introspects: true,
            servers: .init(
                introspection: { _, _ in
                    let count = answers.withLock { count in
                        count += 1
                        return count
                    }
                    return .json(
                        count == 1
                            ? #"{"active":true,"sub":"u1","client_id":"alexa","scope":"devices"}"#
                            : #"{"active":false}"#)
                }, devices: { _, _ in .json("{}", status: 401) }))
        for reason in ["resource.tokenRefused", "token.revoked"] {
            let event = try await harness.event(
                SmartHomeHarness.directive("Alexa.PowerController", "TurnOn", token: "opaque"))
            #expect(event.errorMessage == reason)
        }
    }

    @Test("DEC-11: the status decides, and what cannot be decoded never hides it in the log")
    func unexpectedForm() async throws {
        for (response, type, detail) in [
            (
                HTTPResponse.json(#"{"message":"try later"}"#, status: 429), "RATE_LIMIT_EXCEEDED",
                "resource.rateLimited"
            ),
            (
                .json("<html>", status: 503, fields: ["Content-Type": "text/html"]), "INTERNAL_ERROR", "status 503"
            ),
            (HTTPResponse(status: 400), "INTERNAL_ERROR", "status 400"),
            (HTTPResponse(status: 200), "INTERNAL_ERROR", "resource.notJSON"),
        ] {
            let harness = try Self.harness(.success(response))
            let event = try await harness.event(
                SmartHomeHarness.directive("Alexa.PowerController", "TurnOn", token: try harness.token()))
            #expect(event.errorType == type)
            #expect(harness.logText.contains(detail))
        }
    }

    @Test("a provider that is silent is given up within the time of one call, and the command is not sent again")
    func silent() async throws {
        let clock = ManualClock()
        let harness = try SmartHomeHarness(
            servers: .init(devices: clock.slowly(.seconds(60)) { _, _ in .json("{}") }), clock: clock)
        let start = clock.instant
        let event = try await harness.event(
            SmartHomeHarness.directive("Alexa.PowerController", "TurnOn", token: try harness.token()))
        #expect(event.errorType == "BRIDGE_UNREACHABLE")
        #expect(start.duration(to: clock.instant) == .seconds(4))
        #expect(harness.deviceCalls.count == 1)
    }

    @Test("no token, body or secret of a failing call reaches log or trace")
    func secrets() async throws {
        let marker = "marker-in-answer"
        for failure in ProviderFailure.statuses + ProviderFailure.garbage {
            guard case .success(var response) = failure.outcome else { continue }
            response.fields["X-Debug"] = marker
            response.body += Array(marker.utf8)
            let harness = try Self.harness(.success(response))
            let token = try harness.token()
            _ = try await harness.event(
                SmartHomeHarness.directive("Alexa.PowerController", "TurnOn", token: token))
            let text = harness.logText + "\(try await harness.trace())"
            #expect(!text.contains(marker))
            #expect(!text.contains(token))
        }
    }
}
