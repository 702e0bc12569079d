import Alexa
import Crypto
import HTTP
import JSON
import OAuth
import Service
import TestSupport
import Testing
import Time

extension ServiceTests.Running {
    /// The event that answers a directive, sent as the forwarder does.
    func event(_ directive: String) async throws -> JSONValue {
        let target = "/alexa/smart-home"
        let body = Array(directive.utf8)
        let secret = try #require(configuration.forwarder.secret)
        let response = await service.router.respond(
            to: HTTPRequest(
                method: .post, target: target,
                fields: [
                    "Content-Type": "application/json",
                    ForwarderVerifier.headerName: ForwarderVerifier.headerValue(
                        secret: secret, at: clock.now, target: target, body: body),
                ], body: body, deadline: clock.deadline()))
        #expect(response.status == 200)
        let event = try JSONValue(parsing: response.body)
        let fault = try SmartHomeSchema.fault(of: event)
        #expect(fault == nil)
        return event
    }

    func homeToken(_ subject: String = "u1001") throws -> String {
        try #require(service.provider).accessToken(
            .init(subject: subject, clientID: "alexa", scopes: ["devices"]), lifetimeSeconds: 3600
        ).exposed
    }
}

/// The whole route, from the forwarder's bytes to the event, with the demo home behind it.
@Suite("Smart home: the demo home", .timeLimit(.minutes(5))) struct DemoHomeRouteTests {
    @Test("every device of the demo home is found, and tells each property that it says can be asked for")
    func discoverAndReport() async throws {
        let running = try await ServiceTests.start()
        let token = try running.homeToken()
        let discovery = try await running.event(SmartHomeHarness.discover(token: token))
        let endpoints = try #require(discovery["event"]?["payload"]?["endpoints"]?.array)
        #expect(endpoints.count >= 25)
        var reports = 0
        for endpoint in endpoints {
            let id = try #require(endpoint["endpointId"]?.string)
            let event = try await running.event(
                SmartHomeHarness.directive("Alexa", "ReportState", endpointID: id, token: token))
            guard event.eventName == "Alexa/StateReport" else {
                // Some are made to fail, as a device cloud would.
                #expect(event.eventName == "Alexa/ErrorResponse")
                #expect(event.errorType != "INTERNAL_ERROR", "\(id)")
                continue
            }
            reports += 1
            let found = Set(
                (event["context"]?["properties"]?.array ?? []).map {
                    [$0["namespace"]?.string, $0["instance"]?.string, $0["name"]?.string]
                })
            for capability in endpoint["capabilities"]?.array ?? []
            where capability["properties"]?["retrievable"] == true {
                for property in capability["properties"]?["supported"]?.array ?? [] {
                    let key = [
                        capability["interface"]?.string, capability["instance"]?.string, property["name"]?.string,
                    ]
                    // While nothing is held, there is no time at which it was.
                    #expect(found.contains(key) || key.last == "holdStartTime", "\(id): \(key)")
                }
            }
        }
        #expect(reports >= 25)
    }

    @Test("a user finds and reaches the own devices only")
    func foreign() async throws {
        let running = try await ServiceTests.start()
        let event = try await running.event(
            SmartHomeHarness.directive(
                "Alexa.PowerController", "TurnOn", endpointID: "lamp-living-room", token: try running.homeToken("u1002")
            ))
        #expect(event.errorType == "NO_SUCH_ENDPOINT")
        let discovery = try await running.event(SmartHomeHarness.discover(token: try running.homeToken("u1002")))
        let ids = (discovery["event"]?["payload"]?["endpoints"]?.array ?? []).map { $0["endpointId"]?.string }
        #expect(!ids.isEmpty)
        #expect(!ids.contains("lamp-living-room"))
    }

    @Test("a slow lock is deferred, a jammed one says so, and values that no device has are refused with the range")
    func refusals() async throws {
        let running = try await ServiceTests.start()
        let token = try running.homeToken()
        let slow = try await running.event(
            SmartHomeHarness.directive("Alexa.LockController", "Unlock", endpointID: "lock-cellar", token: token))
        #expect(slow.eventName == "Alexa/DeferredResponse")
        let cold = try await running.event(
            SmartHomeHarness.directive(
                "Alexa.ThermostatController", "SetTargetTemperature",
                ["targetSetpoint": ["value": 99, "scale": "CELSIUS"]], endpointID: "thermostat-living-room",
                token: token))
        #expect(cold.errorType == "TEMPERATURE_VALUE_OUT_OF_RANGE")
        #expect(cold["event"]?["payload"]?["validRange"]?["maximumValue"]?["scale"] == "CELSIUS")
        let bright = try await running.event(
            SmartHomeHarness.directive(
                "Alexa.BrightnessController", "SetBrightness", ["brightness": 101], endpointID: "lamp-hall",
                token: token))
        #expect(bright.errorType == "VALUE_OUT_OF_RANGE")
        #expect(bright["event"]?["payload"]?["validRange"] == ["minimumValue": 0, "maximumValue": 100])
    }

    @Test(
        "Amazon's evaluations end in their state through the whole route",
        .needsFixture("alexa-smart-home/test_plans"), arguments: TestPlanTests.plans)
    func testPlans(plan: String, device: String) async throws {
        let bytes = try Fixtures.bytes("alexa-smart-home/test_plans/\(plan).json")
        // One after another on one device, as Amazon does it.
        let running = try await ServiceTests.start()
        let token = try running.homeToken()
        for testCase in try #require(try JSONValue(parsing: bytes)["testCases"]?.array) {
            let directives = (testCase["initialSetups"]?.array ?? []).compactMap { $0["directive"] }
            for directive in directives + [testCase["directive"]].compactMap(\.self) {
                let payload = directive["payload"]?.object.map(JSONValue.object) ?? [:]
                let event = try await running.event(
                    SmartHomeHarness.directive(
                        directive["header"]?["namespace"]?.string ?? "", directive["header"]?["name"]?.string ?? "",
                        payload, endpointID: device, token: token))
                #expect(event.eventName == "Alexa/Response", "\(testCase["name"] ?? .null)")
            }
            let report = try await running.event(
                SmartHomeHarness.directive("Alexa", "ReportState", endpointID: device, token: token))
            let state = report["context"]?["properties"]?.array ?? []
            for expected in testCase["expectedCapabilityStates"]?.array ?? [] {
                let found = state.first {
                    $0["namespace"] == expected["namespace"] && $0["name"] == expected["name"]
                }
                let tolerance =
                    (testCase["capabilityTolerances"]?.array ?? []).first { $0["name"] == expected["name"] }?[
                        "percentThreshold"]?.double ?? 0
                let value = expected["value"] ?? .null
                #expect(
                    Self.isNear(found?["value"], value, tolerance, expected["compare"]?.string),
                    "\(testCase["name"] ?? .null) \(expected["name"] ?? .null)")
            }
        }
    }

    /// Whether a value is what a plan expects, numbers to so many per cent.
    private static func isNear(
        _ found: JSONValue?, _ expected: JSONValue, _ percent: Double, _ comparison: String?
    ) -> Bool {
        guard let found else { return false }
        if let number = found.double, let expected = expected.double {
            switch comparison {
            case "GREATER_THAN": return number > expected
            case "LESS_THAN": return number < expected
            default: return abs(number - expected) <= abs(expected) * percent / 100
            }
        }
        guard let object = expected.object else { return found == expected }
        return object.allSatisfy { isNear(found[$0.name], $0.value, percent, comparison) }
    }
}
