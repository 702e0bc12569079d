import Alexa
import HTTP
import JSON
import Service
import TestSupport
import Testing

/// Every directive of Alexa's at every device that has its interface, with arguments that no sane caller sends.
@Suite("Devices under odd commands") struct DeviceFuzzTests {
    static let arguments = [
        "brightness", "brightnessDelta", "percentage", "percentageDelta", "powerLevel", "powerLevelDelta", "rangeValue",
        "rangeValueDelta", "mode", "modeDelta", "color", "colorTemperatureInKelvin", "targetSetpoint", "lowerSetpoint",
        "upperSetpoint", "targetSetpointDelta", "thermostatMode", "schedule", "armState", "bypassType", "authorization",
        "volume", "mute", "volumeSteps", "input", "channel", "channelMetadata", "channelCount", "identifier", "name",
        "deltaPositionMilliseconds", "bands", "cameraStreams", "sessionId", "offer",
    ]
    static let values: [JSONValue] = [
        nil, true, 0, -1, 1, 50, 100, 0.5, 1e308, -1e308, 1e-300, .integer(.max), .integer(.min), .unsigned(.max), "",
        "ON",
        "DISARMED", .string(String(repeating: "x", count: 200)), [], [nil], [[:]], [:],
        ["value": 1e308, "scale": "FAHRENHEIT"], ["value": -1e308, "scale": "KELVIN"],
        ["value": 21, "scale": "CELSIUS"],
        ["value": 70.01, "scale": "FAHRENHEIT"], ["number": "9223372036854775807"], ["value": "AUTO"],
        ["value": "HEAT"],
        ["value": "COOL"], ["hue": 1e308, "saturation": -1, "brightness": 2], ["format": "SDP", "value": "v=0"],
        [["name": "BASS", "level": 1e308, "levelDelta": 1e308]], [["name": "TREBLE", "levelDelta": -3]],
    ]

    @Test("no command brings a device down, or its state out of Alexa's tables", .timeLimit(.minutes(5)))
    func odd() async throws {
        let home = try await DeviceHarness()
        var devices: [JSONValue] = []
        for target in ["/v1/devices", "/v1/devices?cursor=20"] {
            devices += try await home.send(.get, target).json["devices"]?.array ?? []
        }
        var (answers, turn) = (0, 0)
        for device in devices {
            let id = try #require(device["id"]?.string)
            let token = try home.token("u1001")
            // Others want to run too: nothing here waits for anything.
            await Task.yield()
            for capability in device["capabilities"]?.array ?? [] {
                let interface = try #require(capability["interface"]?.string)
                for directive in AlexaInterface.named("Alexa." + interface)?.directives ?? [] {
                    // Every third value, by turns: over all devices of an interface each has its turn.
                    turn += 1
                    for (index, value) in Self.values.enumerated() where (index + turn) % 3 == 0 {
                        var arguments = JSONObject()
                        for name in Self.arguments { arguments[name] = value }
                        let answer = try await home.command(
                            id, interface, directive.name, instance: capability["instance"]?.string, .object(arguments),
                            token: token)
                        answers += 1
                        #expect(answer.status == 200 || answer.status == 202 || (400...499).contains(answer.status))
                        #expect(answer.status != 401)
                        home.clock.advance(by: .seconds(1))
                    }
                }
            }
            for property in try await home.send(.get, "/v1/devices/\(percentEncoded(id))/state").json["properties"]?
                .array ?? []
            {
                let key = try DeviceProperty(decoding: property).key
                let rule = try #require(AlexaInterface.named(key.namespace)?.property(key.name))
                #expect(rule.value.fault(in: property["value"] ?? nil) == nil, "\(id) \(key.name)")
            }
        }
        #expect(answers > 1000)
    }
}
