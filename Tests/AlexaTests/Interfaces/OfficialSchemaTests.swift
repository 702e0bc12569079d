import Alexa
import Crypto
import JSON
import TestSupport
import Testing
import Time

/// Our own checks, which run in production, held against Amazon's schema, which does not.
@Suite("Checks against Amazon's schema", .needsFixture("alexa-smart-home")) struct OfficialSchemaTests {
    static let folder = "alexa-smart-home"
    static let now = UnixTime(milliseconds: 1_767_225_600_250)
    static let echo = DirectiveEcho(namespace: "Alexa.PowerController", correlationToken: "c+/=", endpointID: "e1")

    let schema: SchemaValidator

    init() throws {
        schema = try SchemaValidator(
            JSONValue(parsing: Fixtures.bytes(Self.folder + "/alexa_smart_home_message_schema.json")))
    }

    /// A property with that value.
    static func property(_ namespace: String, _ name: String, _ value: JSONValue, instance: String? = nil) -> JSONValue
    {
        var property: JSONObject = [
            "namespace": .string(namespace), "name": .string(name), "value": value,
            "timeOfSample": "2026-01-31T12:00:00.25Z", "uncertaintyInMilliseconds": 200,
        ]
        if let instance { property["instance"] = .string(instance) }
        return .object(property)
    }

    /// One good value of each property that Amazon's schema knows.
    static let values: [(String, String, String?, JSONValue)] = [
        ("PowerController", "powerState", nil, "ON"), ("ToggleController", "toggleState", "Oscillate", "OFF"),
        ("BrightnessController", "brightness", nil, 0), ("BrightnessController", "brightness", nil, 100),
        ("ColorController", "color", nil, ["hue": 350.5, "saturation": 0.7138, "brightness": 0.6524]),
        ("ColorTemperatureController", "colorTemperatureInKelvin", nil, 7500),
        ("PercentageController", "percentage", nil, 74), ("PowerLevelController", "powerLevel", nil, 5),
        ("RangeController", "rangeValue", "Speed", 7.5), ("ModeController", "mode", "Wash", "Wash.Delicate"),
        ("ThermostatController", "targetSetpoint", nil, ["value": 21.5, "scale": "CELSIUS"]),
        ("ThermostatController", "lowerSetpoint", nil, ["value": 68, "scale": "FAHRENHEIT"]),
        ("ThermostatController", "upperSetpoint", nil, ["value": 74, "scale": "FAHRENHEIT"]),
        ("ThermostatController", "thermostatMode", nil, "AUTO"),
        ("TemperatureSensor", "temperature", nil, ["value": 0, "scale": "CELSIUS"]),
        ("LockController", "lockState", nil, "JAMMED"), ("ContactSensor", "detectionState", nil, "DETECTED"),
        ("MotionSensor", "detectionState", nil, "NOT_DETECTED"),
        ("EndpointHealth", "connectivity", nil, ["value": "UNREACHABLE"]),
        ("Speaker", "volume", nil, 50), ("Speaker", "muted", nil, false), ("InputController", "input", nil, "HDMI 1"),
        ("ChannelController", "channel", nil, ["number": "1234", "callSign": "KSTATION1"]),
        ("EqualizerController", "bands", nil, [["name": "BASS", "value": -2], ["name": "TREBLE", "value": 1]]),
        ("EqualizerController", "mode", nil, "NIGHT"),
        ("Launcher", "target", nil, ["name": "Video", "identifier": "amzn1.alexa-ask-target.app.1"]),
        ("RecordController", "RecordingState", nil, "RECORDING"),
        ("SecurityPanelController", "armState", nil, "ARMED_NIGHT"),
        ("SecurityPanelController", "fireAlarm", nil, ["value": "ALARM"]),
        (
            "EventDetectionSensor", "humanPresenceDetectionState", nil,
            ["value": "DETECTED", "detectionMethods": ["AUDIO", "VIDEO"]]
        ),
        ("InventoryLevelSensor", "level", "Filter", ["@type": "Percentage", "value": 30.5]),
        ("InventoryLevelSensor", "level", "Filter", ["@type": "Volume", "value": 2, "unit": "LITER"]),
        ("TimeHoldController", "holdStartTime", nil, "2026-01-31T12:00:00Z"),
        ("Cooking", "cookingMode", nil, ["value": "BAKE"]),
        ("Cooking.TimeController", "cookingPowerLevel", nil, ["@type": "EnumeratedPowerLevel", "value": "HIGH"]),
        ("Cooking.PresetController", "requestedFoodDoneness", nil, ["value": "RARE"]),
    ]

    func stateReport(_ property: JSONValue) -> Event {
        Event.answer(.stateReport, to: Self.echo, properties: [property], now: Self.now)
    }

    func official(_ event: Event, token: Secret? = nil) throws -> String? {
        schema.fault(in: try JSONValue(parsing: event.encoded(amazonToken: token)))
    }

    /// What Amazon's schema says of a property alone, wherever it stands.
    func official(property: JSONValue) -> String? {
        schema.fault(in: [property], at: "#/definitions/state.properties")
    }

    @Test("a good value of each property passes both")
    func goodValues() throws {
        for (interface, name, instance, value) in Self.values {
            let event = stateReport(Self.property("Alexa." + interface, name, value, instance: instance))
            #expect(event.violation() == nil, "\(interface).\(name)")
            #expect(try official(event) == nil, "\(interface).\(name)")
        }
    }

    @Test("a value of another kind, out of range or misspelt is refused by ours wherever the schema refuses it")
    func badValues() throws {
        var refused = 0
        for (interface, name, instance, value) in Self.values {
            let wrong: [JSONValue] =
                [.null, true, "", "nonsense", -1, 101, 1e9, 0.5, [], [:], ["value": "X"], ["value": -5]]
                + mutations(of: value)
            for value in wrong {
                let property = Self.property("Alexa." + interface, name, value, instance: instance)
                guard official(property: property) != nil else { continue }
                let event = stateReport(property)
                refused += 1
                #expect(
                    event.violation() != nil,
                    "\(interface).\(name) = \(String(decoding: value.encoded(), as: UTF8.self))")
            }
        }
        #expect(refused > 350)
    }

    @Test("a property without one of its members, or with one more, is refused by both")
    func brokenProperties() throws {
        let good = Self.property("Alexa.RangeController", "rangeValue", 7, instance: "Speed")
        for broken in mutations(of: good) {
            let event = stateReport(broken)
            let ours = event.violation() == nil
            #expect((official(property: broken) == nil) == ours, "\(String(decoding: broken.encoded(), as: UTF8.self))")
        }
        for time in [
            "2026-02-30T12:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:00:00", "2026-01-31T12:00:00.1234Z",
            "2026-01-31 12:00:00Z", "31.01.2026", "2026-01-31T12:00:00+01:00", "0999-01-31T12:00:00Z",
        ] {
            var property = try #require(good.object)
            property["timeOfSample"] = .string(time)
            let event = stateReport(.object(property))
            #expect(event.violation() != nil, "\(time)")
            #expect(official(property: .object(property)) != nil, "\(time)")
        }
    }

    @Test("every answer and report that can be built passes both")
    func everyMessage() throws {
        let token = Secret("Atza|token")
        let lock = Self.property("Alexa.LockController", "lockState", "LOCKED")
        let power = Self.property("Alexa.PowerController", "powerState", "ON")
        let payloads: [AnswerKind: JSONObject] = [
            .armResponse: [
                "exitDelayInSeconds": 30, "bypassedEndpoints": [["friendlyName": "Door", "endpointId": "d"]],
            ],
            .cameraResponse: [
                "cameraStreams": [
                    [
                        "uri": "rtsp://192.0.2.1/s", "protocol": "RTSP", "resolution": ["width": 1920, "height": 1080],
                        "authorizationType": "BASIC", "videoCodec": "H264", "audioCodec": "AAC",
                        "idleTimeoutSeconds": 30,
                    ]
                ], "imageUri": "https://example.com/i.jpg",
            ],
            .seekReport: ["properties": [["name": "positionMilliseconds", "value": 1000]]],
            .answerGeneratedForSession: ["answer": ["format": "SDP", "value": "v=0"]],
            .sessionConnected: ["sessionId": "s"], .sessionDisconnected: ["sessionId": "s"],
        ]
        var events: [Event] = []
        for kind in AnswerKind.allCases where kind != .getMediaMetadataResponse {
            if kind == .discoverResponse || kind == .acceptGrantResponse { continue }
            events.append(
                .answer(kind, to: Self.echo, properties: [lock], payload: payloads[kind] ?? ["x": 1], now: Self.now))
        }
        events += [
            .acceptGrantResponse(), .discoverResponse(endpoints: []), .discoverResponse(endpoints: [Self.endpoint]),
            .deferredResponse(to: Self.echo, seconds: 20), .deferredResponse(to: Self.echo, seconds: nil),
        ]
        for event in events {
            #expect(event.violation() == nil, "\(event.namespace).\(event.name)")
            #expect(try official(event) == nil, "\(event.namespace).\(event.name)")
        }
        let reports: [Event] = [
            .changeReport(endpointID: "e1", cause: .appInteraction, changed: [lock], unchanged: [power, lock]),
            .addOrUpdateReport(endpoints: [Self.endpoint]), .doorbellPress(endpointID: "e1", at: Self.now),
            .scene(isActive: true, endpointID: "e1", cause: .ruleTrigger, at: Self.now),
            .scene(isActive: false, endpointID: "e1", cause: .appInteraction, at: Self.now),
            .answer(.response, to: Self.echo, properties: [lock], now: Self.now),
        ]
        for report in reports {
            #expect(report.violation() == nil, "\(report.name)")
            #expect(try official(report, token: token) == nil, "\(report.name)")
        }
        // PROVENANCE: the schema lacks DeleteReport.
        #expect(Event.deleteReport(endpointIDs: ["e1", "e2"]).violation() == nil)
    }

    @Test("an error of each type passes both, with the details that it may carry and without those that it may not")
    func errors() throws {
        let lacking: Set<SmartHomeErrorType> = [
            // PROVENANCE: missing in the schema.
            .obstacleDetected, .actionNotPermittedForContent,
        ]
        let degrees: JSONValue = ["value": 1.5, "scale": "CELSIUS"]
        let details: JSONObject = [
            "validRange": ["minimumValue": degrees, "maximumValue": degrees], "currentDeviceMode": "ASLEEP",
            "minimumTemperatureDelta": degrees, "percentageState": 3, "maxCookTime": "PT1H",
            "endpointsNeedingBypass": [["friendlyName": "Door"]], "nonsense": 1,
        ]
        for type in SmartHomeErrorType.allCases {
            for given in [details, [:]] {
                let event = Event.errorResponse(to: Self.echo, type, message: "m", details: given)
                #expect(event.violation() == nil, "\(type)")
                if !lacking.contains(type) { #expect(try official(event) == nil, "\(type)") }
            }
        }
    }

    @Test("what Amazon's own samples answer passes ours wherever it passes the schema")
    func officialSamples() throws {
        var judged = 0
        for path in Fixtures.files(in: Self.folder + "/sample_messages") where !path.contains(".request.") {
            let json = try JSONValue(parsing: Fixtures.bytes(path))
            guard let event = Event(json), schema.fault(in: json) == nil else { continue }
            judged += 1
            #expect(event.violation() == nil, "\(path)")
        }
        #expect(judged >= 10, "judged \(judged)")
    }

    @Test("each message that is changed in one place is refused by ours wherever the schema refuses it")
    func changedMessages() throws {
        let lock = Self.property("Alexa.LockController", "lockState", "LOCKED")
        let messages: [Event] = [
            .changeReport(endpointID: "e1", cause: .appInteraction, changed: [lock], unchanged: []),
            .answer(
                .armResponse, to: Self.echo, properties: [lock], payload: ["exitDelayInSeconds": 30], now: Self.now),
            .scene(isActive: true, endpointID: "e1", cause: .ruleTrigger, at: Self.now),
            .doorbellPress(endpointID: "e1", at: Self.now), .discoverResponse(endpoints: [Self.endpoint]),
            .answer(
                .seekReport, to: Self.echo, properties: nil,
                payload: ["properties": [["name": "positionMilliseconds", "value": 1000]]], now: Self.now),
        ]
        var refused = 0
        for message in messages {
            for payload in mutations(of: .object(message.payload)) {
                guard let payload = payload.object else { continue }
                var event = message
                event.payload = payload
                guard try official(event) != nil else { continue }
                refused += 1
                #expect(
                    event.violation() != nil,
                    "\(event.name): \(String(decoding: JSONValue.object(payload).encoded(), as: UTF8.self))")
            }
        }
        #expect(refused > 100, "refused \(refused)")
    }

    static let endpoint: JSONValue = [
        "endpointId": "lamp-1", "manufacturerName": "Hue & Co", "friendlyName": "Küche", "description": "a lamp",
        "displayCategories": ["LIGHT"], "cookie": ["a": "b"],
        "additionalAttributes": ["manufacturer": "Hue & Co", "model": "L1"],
        "capabilities": [
            ["type": "AlexaInterface", "interface": "Alexa", "version": "3"],
            [
                "type": "AlexaInterface", "interface": "Alexa.PowerController", "version": "3",
                "properties": [
                    "supported": [["name": "powerState"]], "proactivelyReported": true, "retrievable": true,
                ],
            ],
            [
                "type": "AlexaInterface", "interface": "Alexa.RangeController", "version": "3",
                "instance": "Lamp.Speed",
                "properties": [
                    "supported": [["name": "rangeValue"]], "proactivelyReported": false, "retrievable": true,
                ],
                "capabilityResources": [
                    "friendlyNames": [["@type": "asset", "value": ["assetId": "Alexa.Setting.FanSpeed"]]]
                ],
                "configuration": ["supportedRange": ["minimumValue": 0, "maximumValue": 10, "precision": 1]],
            ],
        ],
    ]
}

/// The value with one member removed, replaced or added, at every depth.
func mutations(of value: JSONValue) -> [JSONValue] {
    switch value {
    case .object(let object):
        var found: [JSONValue] = []
        for (name, member) in object {
            var without = object
            without[name] = nil
            found.append(.object(without))
            for other in [JSONValue.integer(12_345_678_901), .string("¤"), true, [], [:]] + mutations(of: member) {
                var changed = object
                changed[name] = other
                found.append(.object(changed))
            }
        }
        var more = object
        more["unexpectedMember"] = 1
        return found + [.object(more)]
    case .array(let list):
        return list.indices.flatMap { index in
            mutations(of: list[index]).map { changed in
                var list = list
                list[index] = changed
                return .array(list)
            }
        } + (list.isEmpty ? [] : [.array(list + [list[0]])])
    default: return []
    }
}

extension Event {
    /// An event of Amazon's samples; nil where it has members that our events never have.
    fileprivate init?(_ json: JSONValue) {
        guard let header = json["event"]?["header"], let namespace = header["namespace"]?.string,
            let name = header["name"]?.string, let payload = json["event"]?["payload"]?.object
        else { return nil }
        self.init(
            namespace: namespace, name: name, messageID: header["messageId"]?.string ?? "",
            correlationToken: header["correlationToken"]?.string,
            endpointID: json["event"]?["endpoint"]?["endpointId"]?.string, payload: payload,
            contextProperties: json["context"]?["properties"]?.array)
    }
}
