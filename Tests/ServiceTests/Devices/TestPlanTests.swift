import JSON
import TestSupport
import Testing

/// Amazon's evaluations of devices, run against those of the demo home.
@Suite("Device evaluations") struct TestPlanTests {
    /// A plan, and the device that it fits.
    static let plans: [(plan: String, device: String)] = [
        ("PowerController", "plug-coffee"), ("PowerController", "lamp-hall"), ("PowerController", "tv-living-room"),
        ("BrightnessController", "lamp-living-room"), ("ColorController", "lamp-living-room"),
        ("ColorTemperatureController", "lamp-living-room"),
        ("ThermostatAuto", "thermostat-living-room"), ("ThermostatAuto", "thermostat-upstairs"),
        ("ThermostatAuto", "thermostat-office"),
        ("ThermostatCool_CELSIUS", "thermostat-living-room"), ("ThermostatHeat_CELSIUS", "thermostat-living-room"),
        ("ThermostatCool_FAHRENHEIT", "thermostat-den"), ("ThermostatHeat_FAHRENHEIT", "thermostat-den"),
        ("ThermostatCool_FAHRENHEIT", "thermostat-office"), ("ThermostatHeat_FAHRENHEIT", "thermostat-office"),
    ]
    private static let folder = "alexa-smart-home/test_plans"

    @Test("every case of a plan ends in its state", .needsFixture(folder), arguments: plans)
    func run(plan: String, device: String) async throws {
        let cases = try #require(
            try JSONValue(parsing: Fixtures.bytes("\(Self.folder)/\(plan).json"))["testCases"]?.array)
        try #require(!cases.isEmpty)
        for testCase in cases {
            let home = try await DeviceHarness()
            let name = testCase["name"]?.string ?? ""
            for setup in testCase["initialSetups"]?.array ?? [] {
                try await carryOut(setup["directive"], device, home, name)
                let state = try await home.state(device)
                expect(setup["capabilityState"], in: state, tolerance: 0, name)
            }
            try await carryOut(testCase["directive"], device, home, name)
            let state = try await home.state(device)
            let expected = testCase["expectedCapabilityStates"]?.array ?? []
            #expect(!expected.isEmpty)
            for property in expected {
                let tolerance = (testCase["capabilityTolerances"]?.array ?? []).first { $0["name"] == property["name"] }
                expect(property, in: state, tolerance: tolerance?["percentThreshold"]?.double ?? 0, name)
            }
        }
    }

    private func carryOut(
        _ directive: JSONValue?, _ device: String, _ home: DeviceHarness, _ name: String
    ) async throws {
        let namespace = try #require(directive?["header"]?["namespace"]?.string)
        let answer = try await home.command(
            device, String(namespace.dropFirst("Alexa.".count)),
            try #require(directive?["header"]?["name"]?.string), directive?["payload"] ?? .null)
        #expect(answer.status == 200, "\(name)")
    }

    private func expect(
        _ property: JSONValue?, in state: [String: JSONValue], tolerance: Double, _ name: String
    ) {
        guard let namespace = property?["namespace"]?.string, let member = property?["name"]?.string,
            let expected = property?["value"], let found = state["\(namespace.dropFirst("Alexa.".count)).\(member)"]
        else {
            Issue.record("\(name): a property is missing")
            return
        }
        switch property?["compare"]?.string {
        case "GREATER_THAN": #expect(found.double ?? 0 > expected.double ?? 0, "\(name)")
        case "LESS_THAN": #expect(found.double ?? 0 < expected.double ?? 0, "\(name)")
        default: #expect(isNear(found, expected, tolerance), "\(name): \(member)")
        }
    }

    /// Whether two values are the same, numbers to so many per cent.
    private func isNear(_ found: JSONValue, _ expected: JSONValue, _ percent: Double) -> Bool {
        if let found = found.double, let expected = expected.double {
            return abs(found - expected) <= abs(expected) * percent / 100
        }
        guard let object = expected.object else { return found == expected }
        return object.allSatisfy { member in found[member.name].map { isNear($0, member.value, percent) } ?? false }
    }
}
