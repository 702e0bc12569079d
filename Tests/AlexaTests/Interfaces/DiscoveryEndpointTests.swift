import Alexa
import JSON
import TestSupport
import Testing

@Suite("Endpoints of a discovery") struct DiscoveryEndpointTests {
    /// The endpoint of the schema's tests with a change at the end of that path.
    static func endpoint(_ path: [String], _ value: JSONValue?) -> JSONObject {
        changed(OfficialSchemaTests.endpoint, path[...], value).object ?? [:]
    }

    private static func changed(_ json: JSONValue, _ path: ArraySlice<String>, _ value: JSONValue?) -> JSONValue {
        guard let name = path.first else { return value ?? .null }
        switch json {
        case .array(var list):
            guard let place = Int(name), list.indices.contains(place) else { return json }
            list[place] = changed(list[place], path.dropFirst(), value)
            return .array(list)
        case .object(var object):
            if path.count == 1 {
                object[name] = value
            } else {
                object[name] = changed(object[name] ?? [:], path.dropFirst(), value)
            }
            return .object(object)
        default: return json
        }
    }

    static let alexa: JSONValue = ["type": "AlexaInterface", "interface": "Alexa", "version": "3"]
    static let long = JSONValue.string(String(repeating: "ü", count: 129))

    @Test(
        "what Alexa does not take is told by its path",
        arguments: [
            (["endpointId"], "a b", "endpointId has the wrong form"),
            (["endpointId"], "", "endpointId is too short or too long"), (["endpointId"], nil, "endpointId is missing"),
            (["friendlyName"], "", "friendlyName is too short or too long"),
            (["friendlyName"], long, "friendlyName is too short or too long"),
            (["description"], .null, "description is of the wrong kind"),
            (["manufacturerName"], 3, "manufacturerName is of the wrong kind"),
            (["displayCategories"], [], "displayCategories is too short or too long"),
            (["displayCategories"], ["LIGHT", "LIGHT"], "displayCategories holds a value twice"),
            (["capabilities"], [], "capabilities is too short or too long"),
            (["capabilities", "1", "version"], "3.0", "capabilities[1].version is none of the known words"),
            (["capabilities", "1", "interface"], "PowerController", "capabilities[1].interface has the wrong form"),
            (["capabilities"], [alexa, alexa], "capabilities holds a value twice"),
            (["capabilities", "0", "interface"], "Alexa.Speaker", "capabilities.Alexa is missing"),
            (
                ["capabilities", "1", "properties", "supported"], [["name": "power"]],
                "capabilities[1].properties.supported[0].name is none of the known words"
            ),
            (
                ["capabilities", "1", "properties", "retrievable"], "yes",
                "capabilities[1].properties.retrievable is of the wrong kind"
            ),
            (["capabilities", "2", "instance"], nil, "capabilities[2].instance is missing"),
            (
                ["capabilities", "2", "configuration", "supportedRange", "precision"], nil,
                "capabilities[2].configuration.supportedRange.precision is missing"
            ),
            (
                ["capabilities", "2", "configuration", "supportedRange", "minimumValue"], 11,
                "capabilities[2].configuration.supportedRange.maximumValue is out of range"
            ),
            (["cookie"], ["a": 1], "cookie.a is of the wrong kind"),
            (["cookie"], ["a": .string(String(repeating: "x", count: 5000))], "cookie is too short or too long"),
            (["additionalAttributes"], ["colour": "red"], "additionalAttributes.colour must not be there"),
        ] as [([String], JSONValue?, String)])
    func refused(path: [String], value: JSONValue?, fault: String) {
        #expect(DiscoveryEndpoint.violation(of: Self.endpoint(path, value))?.description == fault)
    }

    @Test("what Alexa takes passes, an interface that no table has and an unknown category among it")
    func taken() {
        let unknown: JSONValue = ["type": "AlexaInterface", "interface": "Alexa.Humidity", "version": "1.0"]
        for (path, value) in [
            (["friendlyName"], .string(String(repeating: "ü", count: 128))),
            (["displayCategories"], ["VACUUM_CLEANER"]),
            (["cookie"], nil), (["cookie"], [:]), (["capabilities", "1"], unknown), (["relationships"], ["a": 1]),
            (["connections"], [["type": "ZIGBEE", "macAddress": "00:11"]]),
        ] as [([String], JSONValue?)] {
            #expect(DiscoveryEndpoint.violation(of: Self.endpoint(path, value)) == nil, "\(path)")
        }
    }

    /// A whole capability of each interface that has members of its own.
    static let capabilities: [JSONValue] = {
        let names: JSONValue = [
            "friendlyNames": [["@type": "text", "value": ["text": "Speed", "locale": "en-US"]]]
        ]
        let rest: [(String, JSONObject)] = [
            ("SceneController", ["supportsDeactivation": true]),
            (
                "ThermostatController",
                [
                    "properties": ["supported": [["name": "targetSetpoint"]], "retrievable": true],
                    "configuration": ["supportsScheduling": true, "supportedModes": ["HEAT", "OFF"]],
                ]
            ),
            (
                "ModeController",
                [
                    "instance": "Washer.Cycle", "capabilityResources": names,
                    "properties": ["supported": [["name": "mode"]], "retrievable": true],
                    "configuration": [
                        "ordered": true, "supportedModes": [["value": "Delicate", "modeResources": names]],
                    ],
                    "semantics": [
                        "actionMappings": [
                            [
                                "@type": "ActionsToDirective", "actions": ["Alexa.Actions.Close"],
                                "directive": ["name": "SetMode", "payload": ["mode": "Delicate"]],
                            ]
                        ]
                    ],
                ]
            ),
            (
                "SecurityPanelController",
                [
                    "properties": ["supported": [["name": "armState"]], "retrievable": true],
                    "configuration": [
                        "supportedAuthorizationTypes": [["type": "FOUR_DIGIT_PIN"]],
                        "supportedArmStates": [["value": "ARMED_AWAY"], ["value": "DISARMED"]],
                    ],
                ]
            ),
            (
                "InventoryLevelSensor",
                [
                    "instance": "Filter", "capabilityResources": names,
                    "properties": ["supported": [["name": "level"]], "retrievable": true],
                    "configuration": [
                        "measurement": ["@type": "Volume", "unit": "LITER"],
                        "replenishment": ["@type": "DashReplenishmentId", "value": "x"],
                    ],
                ]
            ),
            (
                "CameraStreamController",
                [
                    "cameraStreamConfigurations": [
                        [
                            "protocols": ["RTSP"], "resolutions": [["width": 1280, "height": 720]],
                            "authorizationTypes": ["NONE"], "videoCodecs": ["H264"], "audioCodecs": ["AAC"],
                        ]
                    ]
                ]
            ),
            (
                "EqualizerController",
                [
                    "properties": ["supported": [["name": "bands"]], "retrievable": true],
                    "configurations": [
                        "bands": ["supported": [["name": "BASS"]], "range": ["minimum": -6, "maximum": 6]],
                        "modes": ["supported": [["name": "MOVIE"]]],
                    ],
                ]
            ),
            ("InputController", ["inputs": [["name": "HDMI 1", "friendlyNames": ["box"]]]]),
            ("PlaybackController", ["supportedOperations": ["Play", "Pause"]]),
            ("DoorbellEventSource", ["proactivelyReported": true]),
            ("WakeOnLANController", ["configuration": ["MACAddresses": ["00:11:22:33:44:55"]]]),
            ("RTCSessionController", ["configuration": ["isFullDuplexAudioSupported": true]]),
        ]
        return rest.map { name, members in
            var capability: JSONObject = [
                "type": "AlexaInterface", "interface": .string("Alexa." + name), "version": "3",
            ]
            for (name, value) in members { capability[name] = value }
            return .object(capability)
        }
    }()

    @Test(
        "a capability that is changed in one place is refused wherever Amazon's schema refuses it",
        .needsFixture("alexa-smart-home"))
    func capabilitiesAgainstTheSchema() throws {
        let schema = try SchemaValidator(
            JSONValue(parsing: Fixtures.bytes("alexa-smart-home/alexa_smart_home_message_schema.json")))
        var refused = 0
        for capability in Self.capabilities {
            func endpoint(_ capability: JSONValue) -> JSONObject {
                Self.endpoint(
                    ["capabilities"],
                    [Self.alexa, capability])
            }
            let name = capability["interface"]?.string ?? ""
            #expect(DiscoveryEndpoint.violation(of: endpoint(capability)) == nil, "\(name)")
            #expect(schema.fault(in: [capability], at: "#/definitions/endpoint.capabilities") == nil, "\(name)")
            for changed in mutations(of: capability) {
                guard schema.fault(in: [changed], at: "#/definitions/endpoint.capabilities") != nil else { continue }
                refused += 1
                #expect(
                    DiscoveryEndpoint.violation(of: endpoint(changed)) != nil,
                    "\(String(decoding: changed.encoded(), as: UTF8.self))")
            }
        }
        #expect(refused > 150, "refused \(refused)")
    }
}
