import Crypto
import HTTP
import JSON
import Service
import TestSupport
import Testing

@Suite("The routes of devices") struct DeviceRoutesTests {
    @Test("the list comes in pages, each device once, and shows a user's own alone")
    func pages() async throws {
        let home = try await DeviceHarness()
        for (subject, count) in [("u1001", 36), ("u1002", 4)] {
            var ids: [String] = []
            var target = "/v1/devices"
            var pages = 0
            repeat {
                let (status, page) = try await home.send(.get, target, as: subject)
                #expect(status == 200)
                ids += (page["devices"]?.array ?? []).compactMap { $0["id"]?.string }
                target = "/v1/devices?cursor=" + percentEncoded(page["cursor"]?.string ?? "")
                pages += 1
            } while target != "/v1/devices?cursor=" && pages < 10
            #expect(pages == (count + 19) / 20)
            #expect(ids.count == count && Set(ids).count == count)
            #expect(ids.contains("küche/Licht 1") && ids.contains("lock-front"))
            #expect(ids.contains("bob-lamp") == (subject == "u1002"))
            #expect(ids.contains("lamp-hall") == (subject == "u1001"))
        }
    }

    @Test("every device of the demo home becomes an endpoint, with every confirmed interface among them")
    func endpoints() async throws {
        let home = try await DeviceHarness()
        var interfaces: Set<String> = []
        for target in ["/v1/devices", "/v1/devices?cursor=20"] {
            for device in try await home.send(.get, target).json["devices"]?.array ?? [] {
                let endpoint = try DeviceEndpoint(device: device)
                interfaces.formUnion(
                    (endpoint.object["capabilities"]?.array ?? []).compactMap { $0["interface"]?.string })
            }
        }
        #expect(
            interfaces.isSuperset(
                of: [
                    "", "PowerController", "BrightnessController", "ColorController", "ColorTemperatureController",
                    "PercentageController", "PowerLevelController", "RangeController", "ModeController",
                    "ToggleController", "ThermostatController", "TemperatureSensor", "LockController",
                    "SceneController",
                    "ContactSensor", "MotionSensor", "EndpointHealth", "Speaker", "StepSpeaker", "InputController",
                    "PlaybackController", "PlaybackStateReporter", "ChannelController", "EqualizerController",
                    "SeekController", "Launcher", "RecordController", "CameraStreamController", "RTCSessionController",
                    "DoorbellEventSource", "SecurityPanelController", "EventDetectionSensor", "InventoryLevelSensor",
                    "TimeHoldController", "WakeOnLANController",
                ].map { $0.isEmpty ? "Alexa" : "Alexa." + $0 }))
    }

    @Test(
        "a cursor that is none of ours is refused",
        arguments: ["0", "36", "99", "-1", "+20", "020", "x", "", "20&cursor=20", "%FF", "9999999999999999999999"])
    func cursors(cursor: String) async throws {
        let (status, json) = try await DeviceHarness().send(.get, "/v1/devices?cursor=\(cursor)")
        #expect(status == 400 && json["error"] == "INVALID_DIRECTIVE")
    }

    @Test("a state is of now, and tells what can be asked for alone")
    func state() async throws {
        let home = try await DeviceHarness(
            DeviceHarness.file(
                capabilities:
                    "{interface:'PowerController',properties:['powerState'],retrievable:false},"
                    + "{interface:'Speaker',properties:['volume'],retrievable:true}",
                state:
                    "{interface:'PowerController',name:'powerState',value:'ON'},{interface:'Speaker',name:'volume',value:0}"
            ))
        home.clock.advance(by: .milliseconds(1500))
        #expect(
            try await home.send(.get, "/v1/devices/d/state").json == [
                "properties": [
                    [
                        "interface": "Speaker", "name": "volume", "value": 0, "sampledAt": "2025-01-15T10:00:01.500Z",
                        "uncertaintyMilliseconds": 0,
                    ]
                ]
            ])
    }

    @Test("an answer to a command tells what it changed before the rest")
    func order() async throws {
        let home = try await DeviceHarness()
        let answer = try await home.command("tv-living-room", "Speaker", "SetVolume", ["volume": 7])
        let names = (answer.json["properties"]?.array ?? []).compactMap { $0["name"]?.string }
        #expect(names.first == "volume" && names.count == 8)
    }

    @Test("ids are one percent-encoded segment")
    func segments() async throws {
        let home = try await DeviceHarness()
        #expect(try await home.state("küche/Licht 1")["BrightnessController.brightness"] == 40)
        #expect(try await home.send(.get, "/v1/devices/k%C3%BCche%2FLicht%201/state").status == 200)
        for other in ["küche/Licht%201", "k%C3%BCche/Licht%201", "ku%CC%88che%2FLicht%201", "k%C3%BCche%2FLicht+1"] {
            #expect(try await home.send(.get, "/v1/devices/\(other)/state").status == 404)
        }
    }

    @Test(
        "somebody else's device is as good as none",
        arguments: ["bob-lamp", "bob-thermostat", "no-such-device", "LAMP-HALL", "lamp-hall "])
    func foreign(device: String) async throws {
        let home = try await DeviceHarness()
        let state = try await home.send(.get, "/v1/devices/\(percentEncoded(device))/state")
        let command = try await home.command(device, "PowerController", "TurnOn")
        for answer in [state, command] {
            #expect(answer.status == 404)
            #expect(answer.json == ["error": "NO_SUCH_ENDPOINT", "message": "The user has no such device"])
        }
        if device == "bob-lamp" {
            #expect(try await home.state(device, as: "u1002")["PowerController.powerState"] == "OFF")
        }
    }

    @Test("a device of two is one: what the one changes, the other sees")
    func shared() async throws {
        let home = try await DeviceHarness()
        #expect(try await home.command("lock-front", "LockController", "Unlock", as: "u1002").status == 200)
        #expect(try await home.state("lock-front")["LockController.lockState"] == "UNLOCKED")
    }

    @Test(
        "a body that is no command is refused",
        arguments: [
            "", "[]", "null", "{", #"{"interface":"PowerController"}"#, #"{"command":"TurnOn"}"#,
            #"{"interface":7,"command":"TurnOn"}"#, #"{"interface":"PowerController","command":["TurnOn"]}"#,
            #"{"interface":"PowerController","command":"TurnOn","arguments":[]}"#,
            #"{"interface":"PowerController","command":"TurnOn","arguments":"x"}"#,
            #"{"interface":"PowerController","command":"TurnOn","instance":7}"#,
            #"{"interface":"PowerController","interface":"PowerController","command":"TurnOn"}"#,
            #"{"interface":"Alexa.PowerController","command":"TurnOn"}"#,
            #"{"interface":"PowerController","command":"TurnOn","instance":"x"}"#,
        ])
    func bodies(body: String) async throws {
        let home = try await DeviceHarness()
        let (status, json) = try await home.send(.post, "/v1/devices/lamp-hall/commands", body: Array(body.utf8))
        #expect(status == 400 && json["error"] == "INVALID_DIRECTIVE")
        #expect(try await home.state("lamp-hall")["PowerController.powerState"] == "OFF")
    }

    @Test(
        "arguments may be missing where a command has none",
        arguments: [
            #"{"interface":"PowerController","command":"TurnOn"}"#,
            #"{"interface":"PowerController","command":"TurnOn","arguments":null,"instance":null}"#,
            #"{"interface":"PowerController","command":"TurnOn","arguments":{},"more":1}"#,
        ])
    func lean(body: String) async throws {
        let home = try await DeviceHarness()
        #expect(try await home.send(.post, "/v1/devices/lamp-hall/commands", body: Array(body.utf8)).status == 200)
        #expect(try await home.state("lamp-hall")["PowerController.powerState"] == "ON")
    }

    @Test("a token has to have the scopes of smart-home skills")
    func scopes() async throws {
        let home = try await DeviceHarness()
        let body = Array(#"{"interface":"PowerController","command":"TurnOn"}"#.utf8)
        for (method, path) in [
            (HTTPMethod.get, "/v1/devices"), (.get, "/v1/devices/lamp-hall/state"),
            (.post, "/v1/devices/lamp-hall/commands"),
        ] {
            for (scopes, status) in [(["profile"], 403), ([], 403), (["devices"], 200), (["devices", "profile"], 200)]
                as [(Set<String>, Int)]
            {
                #expect(try await home.send(method, path, scopes: scopes, body: body).status == status)
            }
            let fields: HTTPFields = ["Content-Type": "application/json"]
            let bare = await Router(home.provider.routes).respond(
                to: HTTPRequest(
                    method: method, target: path, fields: fields, body: body, deadline: home.clock.deadline()))
            #expect(bare.status == 401 && bare.fields["WWW-Authenticate"]?.hasPrefix("Bearer ") == true)
        }
    }

    @Test("a command is JSON by its media type")
    func mediaType() async throws {
        let home = try await DeviceHarness()
        let response = await Router(home.provider.routes).respond(
            to: HTTPRequest(
                method: .post, target: "/v1/devices/lamp-hall/commands",
                fields: ["Authorization": "Bearer \(try home.token("u1001").exposed)", "Content-Type": "text/plain"],
                body: Array(#"{"interface":"PowerController","command":"TurnOn"}"#.utf8),
                deadline: home.clock.deadline()))
        #expect(response.status == 415)
    }
}
