import Alexa
import HTTP
import JSON
import Service
import TestSupport
import Testing

/// What a device does when told.
@Suite("Commands to devices") struct DeviceCommandTests {
    @Test(
        "a device changes, clamps and refuses by its capabilities", arguments: CommandRows.all + ThermostatRows.all)
    func rows(table: String) async throws {
        let home = try await DeviceHarness()
        let rows = table.split(separator: "\n")
        try #require(!rows.isEmpty)
        for row in rows {
            let columns = row.split(separator: "|", omittingEmptySubsequences: false).map {
                String($0).trimmingPrefix { $0 == " " }
            }
            try #require(columns.count == 4)
            let device = columns[0].split(separator: " ").joined()
            let answer = try await send(String(columns[1]), String(columns[2]), to: device, home)
            try await judge(answer, String(columns[3]), device, home, String(row))
        }
    }

    private func send(
        _ command: String, _ arguments: String, to device: String, _ home: DeviceHarness
    ) async throws -> (status: Int, json: JSONValue) {
        let parts = command.split(separator: " ").joined().split { "()".contains($0) }.map(String.init)
        let arguments = try JSONValue(json5: Array("{\(arguments)}".utf8))
        if parts.count == 3 {
            return try await home.command(
                device, parts[0], String(parts[2].dropFirst()), instance: parts[1], arguments)
        }
        let names = parts[0].split(separator: ".").map(String.init)
        return try await home.command(device, names[0], names[1], arguments)
    }

    private func judge(
        _ answer: (status: Int, json: JSONValue), _ expected: String, _ device: String, _ home: DeviceHarness,
        _ row: String
    ) async throws {
        // The names of properties have dots, which JSON5 wants in quotes.
        let quoted = expected.replacing(/[A-Z][A-Za-z]+(\.[A-Za-z]+)+:/) { "'\($0.output.0.dropLast())':" }
        let expected = try #require(try JSONValue(json5: Array("{\(quoted)}".utf8)).object)
        guard expected["error"] == nil else {
            #expect((400...499).contains(answer.status), "\(row)")
            #expect(answer.json["message"]?.string?.isEmpty == false)
            for (name, member) in expected { #expect(answer.json[name] == member, "\(row)") }
            return
        }
        #expect(answer.status == 200, "\(row)")
        for property in answer.json["properties"]?.array ?? [] { #expect(fits(property), "\(row)") }
        let (answered, state) = (DeviceHarness.values(answer.json), try await home.state(device))
        for (name, member) in expected where name != "payload" {
            #expect(answered[name] == member, "\(row)")
            #expect(state[name] == member, "\(row)")
        }
        if let payload = expected["payload"] { #expect(answer.json["payload"] == payload, "\(row)") }
    }

    /// Whether a property is as Alexa's tables have it.
    private func fits(_ property: JSONValue) -> Bool {
        guard let key = try? DeviceProperty(decoding: property).key,
            let rule = AlexaInterface.named(key.namespace)?.property(key.name)
        else { return false }
        return rule.value.fault(in: property["value"] ?? .null) == nil
    }

    @Test("an offer of WebRTC is answered by a session description")
    func offer() async throws {
        let home = try await DeviceHarness()
        let answer = try await home.command(
            "doorbell-front", "RTCSessionController", "InitiateSessionWithOffer",
            ["sessionId": "S", "offer": ["format": "SDP", "value": "v=0\r\n"]])
        #expect(answer.json["payload"]?["answer"]?["format"] == "SDP")
        #expect(answer.json["payload"]?["answer"]?["value"]?.string?.hasPrefix("v=0\r\n") == true)
    }

    @Test("after five wrong codes a panel takes none for a minute, not even the right one")
    func guessing() async throws {
        let home = try await DeviceHarness()
        func disarm(_ code: String) async throws -> JSONValue? {
            try await home.command(
                "panel-house", "SecurityPanelController", "Disarm",
                ["authorization": ["type": "FOUR_DIGIT_PIN", "value": .string(code)]]
            ).json["error"]
        }
        for _ in 1...5 { #expect(try await disarm("0000") == "UNAUTHORIZED") }
        #expect(try await disarm("1234") == "TOO_MANY_FAILED_ATTEMPTS")
        home.clock.advance(by: .seconds(59))
        #expect(try await disarm("1234") == "TOO_MANY_FAILED_ATTEMPTS")
        home.clock.advance(by: .seconds(1))
        #expect(try await disarm("1234") == nil)
    }

    @Test("a slow lock answers at once, is busy for a while, and then has obeyed")
    func slowLock() async throws {
        let home = try await DeviceHarness()
        let answer = try await home.command("lock-cellar", "LockController", "Unlock")
        #expect(answer.status == 202 && answer.json == ["deferSeconds": 20])
        #expect(try await home.state("lock-cellar")["LockController.lockState"] == "LOCKED")
        #expect(try await home.command("lock-cellar", "LockController", "Lock").json["error"] == "ENDPOINT_BUSY")
        home.clock.advance(by: .seconds(19))
        #expect(try await home.state("lock-cellar")["LockController.lockState"] == "LOCKED")
        home.clock.advance(by: .seconds(1))
        #expect(try await home.state("lock-cellar")["LockController.lockState"] == "UNLOCKED")
        #expect(try await home.command("lock-cellar", "LockController", "Lock").status == 202)
    }

    @Test("devices fail as the file has it")
    func failing() async throws {
        let home = try await DeviceHarness()
        home.clock.advance(by: .seconds(60))
        #expect(
            try await home.command("heater-cabin", "PowerController", "TurnOff").json["error"] == "ENDPOINT_UNREACHABLE"
        )
        let state = try await home.send(.get, "/v1/devices/heater-cabin/state").json
        #expect(DeviceHarness.values(state)["EndpointHealth.connectivity"] == ["value": "UNREACHABLE"])
        #expect(DeviceHarness.values(state)["PowerController.powerState"] == "ON")
        #expect(state["properties"]?.array?.allSatisfy { $0["sampledAt"] == "2025-01-15T10:00:00.000Z" } == true)
        let attic = try await home.command("remote-attic", "PowerController", "TurnOn").json
        #expect(attic["error"] == "ENDPOINT_LOW_POWER" && attic["percentageState"] == 4)
        let valve = try await home.command("valve-garden", "ToggleController", "TurnOn", instance: "Valve.Water").json
        #expect(valve == ["error": "CLOUD_CONTROL_DISABLED", "message": "Switched off in the app"])
    }

    @Test("a device that is offline and cannot say so has no state")
    func offline() async throws {
        let home = try await DeviceHarness(
            DeviceHarness.file(
                capabilities: "{interface:'SceneController',supportsDeactivation:false}", behaviour: "reachable:false"))
        #expect(try await home.send(.get, "/v1/devices/d/state").json["error"] == "ENDPOINT_UNREACHABLE")
    }

    @Test("a refused command leaves the state as it was")
    func refused() async throws {
        let home = try await DeviceHarness()
        let before = try await home.state("soundbar-living-room")
        let answer = try await home.command(
            "soundbar-living-room", "EqualizerController", "SetBands",
            ["bands": [["name": "BASS", "level": 3], ["name": "TREBLE", "level": 99]]])
        #expect(answer.json["error"] == "VALUE_OUT_OF_RANGE")
        #expect(try await home.state("soundbar-living-room") == before)
    }
}
