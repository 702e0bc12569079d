import Alexa
import JSON
import Service
import Testing
import Time

@Suite("Properties of devices") struct DevicePropertyTests {
    private static let now = UnixTime(milliseconds: 1_736_935_200_250)

    private func property(_ json: String) throws -> DeviceProperty {
        try DeviceProperty(decoding: JSONValue(parsing: Array(json.utf8)))
    }

    @Test("a property of the resource server becomes one of Alexa's context")
    func context() throws {
        let given = try property(
            #"""
            {"interface":"RangeController","instance":"Fan.Speed","name":"rangeValue","value":4,
             "sampledAt":"2026-11-30T13:00:00.5+01:00","uncertaintyMilliseconds":200}
            """#)
        #expect(given.key == .init(interface: "RangeController", instance: "Fan.Speed", name: "rangeValue"))
        #expect(
            given.contextProperty(now: Self.now) == [
                "namespace": "Alexa.RangeController", "instance": "Fan.Speed", "name": "rangeValue", "value": 4,
                "timeOfSample": "2026-11-30T12:00:00.500Z", "uncertaintyInMilliseconds": 200,
            ])
        #expect(
            try property(#"{"interface":"LockController","name":"lockState","value":"LOCKED"}"#)
                .contextProperty(now: Self.now) == [
                    "namespace": "Alexa.LockController", "name": "lockState", "value": "LOCKED",
                    "timeOfSample": "2025-01-15T10:00:00.250Z", "uncertaintyInMilliseconds": 0,
                ])
    }

    @Test("what is written is read again")
    func again() throws {
        let given = DeviceProperty(
            .init(interface: "ToggleController", instance: "I", name: "toggleState"), "ON", sampledAt: Self.now,
            uncertaintyMilliseconds: 0.5)
        #expect(try DeviceProperty(decoding: given.json) == given)
    }

    @Test("Alexa itself has no interface behind its name", arguments: ["Alexa", ""])
    func alexaItself(interface: String) throws {
        #expect(PropertyKey(interface: interface, name: "x").namespace == "Alexa")
        let given = try property(#"{"interface":"\#(interface)","name":"x","value":1}"#)
        #expect(given.contextProperty(now: Self.now)["namespace"] == "Alexa")
    }

    @Test("SHR-7: zero is a value, and never minus zero", arguments: ["0", "0.0", "-0.0", "-0"])
    func zero(number: String) throws {
        let given = try property(
            #"{"interface":"TemperatureSensor","name":"temperature","value":{"value":\#(number),"scale":"CELSIUS"}}"#)
        let value = try #require(given.contextProperty(now: Self.now)["value"])
        let text = String(decoding: value.encoded(), as: UTF8.self)
        #expect(text.hasPrefix(#"{"value":0"#) && !text.contains("-"))
    }

    @Test("SHR-7: what is false or off is a value")
    func falseValue() throws {
        let muted = try property(#"{"interface":"Speaker","name":"muted","value":false}"#)
        #expect(muted.contextProperty(now: Self.now)["value"] == false)
    }

    @Test(
        "a property that is none is a fault with its place",
        arguments: [
            (#"[]"#, ""), (#"{"name":"x","value":1}"#, "interface"),
            (#"{"interface":7,"name":"x","value":1}"#, "interface"),
            (#"{"interface":"Alexa.Speaker","name":"x","value":1}"#, "interface"),
            (#"{"interface":"Speaker","value":1}"#, "name"), (#"{"interface":"Speaker","name":"","value":1}"#, "name"),
            (#"{"interface":"Speaker","name":"x"}"#, "value"),
            (#"{"interface":"Speaker","name":"x","value":1,"instance":7}"#, "instance"),
            (#"{"interface":"Speaker","name":"x","value":1,"sampledAt":"yesterday"}"#, "sampledAt"),
            (#"{"interface":"Speaker","name":"x","value":1,"sampledAt":1736935200}"#, "sampledAt"),
            (#"{"interface":"Speaker","name":"x","value":1,"sampledAt":"0999-12-31T00:00:00Z"}"#, "sampledAt"),
            (#"{"interface":"Speaker","name":"x","value":1,"uncertaintyMilliseconds":-1}"#, "uncertaintyMilliseconds"),
            (#"{"interface":"Speaker","name":"x","value":1,"uncertaintyMilliseconds":"1"}"#, "uncertaintyMilliseconds"),
        ])
    func faults(json: String, path: String) throws {
        #expect { try property(json) } throws: { ($0 as? DeviceFault)?.path == path }
    }
}
