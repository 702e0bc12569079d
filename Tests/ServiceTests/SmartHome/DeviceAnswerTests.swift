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

@Suite("Smart home: answers of devices", .timeLimit(.minutes(5))) struct DeviceAnswerTests {
    static func harness(_ body: String, status: Int = 200, clock: ManualClock = ManualClock()) throws
        -> SmartHomeHarness
    {
        try SmartHomeHarness(servers: .init(devices: { _, _ in .json(body, status: status) }), clock: clock)
    }

    static let powerOn = #"{"properties":[{"interface":"PowerController","name":"powerState","value":"ON"}]}"#

    @Test("SHR-4: a command goes to the device's commands, and its answer has the directive's correlation token")
    func command() async throws {
        let harness = try Self.harness(
            #"{"properties":[{"interface":"PowerController","name":"powerState","value":"ON","#
                + #""sampledAt":"2025-01-15T09:59:59Z","uncertaintyMilliseconds":200}]}"#)
        for token in ["c+/=1", nil] {
            let event = try await harness.event(
                SmartHomeHarness.directive(
                    "Alexa.PowerController", "TurnOn", endpointID: "lamp-1", correlationToken: token,
                    token: try harness.token()))
            let messageID = try #require(event.header("messageId"))
            #expect(messageID != "m1")
            var header: JSONObject = [
                "namespace": "Alexa", "name": "Response", "messageId": .string(messageID), "payloadVersion": "3",
            ]
            header["correlationToken"] = token.map(JSONValue.string)
            #expect(
                event == [
                    "context": [
                        "properties": [
                            [
                                "namespace": "Alexa.PowerController", "name": "powerState", "value": "ON",
                                "timeOfSample": "2025-01-15T09:59:59.000Z", "uncertaintyInMilliseconds": 200,
                            ]
                        ]
                    ],
                    "event": ["header": .object(header), "endpoint": ["endpointId": "lamp-1"], "payload": [:]],
                ])
            #expect(try SmartHomeSchema.fault(of: event) == nil)
        }
        #expect(
            harness.deviceCalls.map(\.url)
                == Array(
                    repeating: SmartHomeHarness.resourcesURL + "/devices/lamp-1/commands", count: 2))
        let request = try #require(harness.deviceCalls.first)
        #expect(
            try JSONValue(parsing: request.body ?? [])
                == ["interface": "PowerController", "command": "TurnOn", "arguments": [:]])
        #expect(request.fields["Skillgate-Message-ID"] == "m1")
        #expect(request.fields["Skillgate-Correlation-Token"] == "c+/=1")
        #expect(harness.deviceCalls.last?.fields["Skillgate-Correlation-Token"] == nil)
    }

    @Test("ReportState is answered with what the device's state is")
    func reportState() async throws {
        let harness = try Self.harness(
            #"{"properties":[{"interface":"TemperatureSensor","name":"temperature","#
                + #""value":{"value":50.0,"scale":"CELSIUS"}},{"interface":"RangeController","instance":"Fan.Speed","#
                + #""name":"rangeValue","value":3},{"interface":"EndpointHealth","name":"connectivity","#
                + #""value":{"value":"OK"}}]}"#)
        let event = try await harness.event(
            SmartHomeHarness.directive("Alexa", "ReportState", token: try harness.token()))
        #expect(event.eventName == "Alexa/StateReport")
        #expect(event.header("correlationToken") == "ct-1")
        let properties = try #require(event["context"]?["properties"]?.array)
        #expect(
            properties.map { $0["namespace"]?.string } == [
                "Alexa.TemperatureSensor", "Alexa.RangeController", "Alexa.EndpointHealth",
            ])
        #expect(properties[0]["value"] == ["value": 50, "scale": "CELSIUS"])
        #expect(properties[0]["timeOfSample"]?.string == "2025-01-15T10:00:00.000Z")
        #expect(properties[0]["uncertaintyInMilliseconds"] == 0)
        #expect(properties[1]["instance"] == "Fan.Speed")
        #expect(properties[0]["instance"] == nil)
        #expect(try SmartHomeSchema.fault(of: event) == nil)
        #expect(harness.deviceCalls.map(\.url) == [SmartHomeHarness.resourcesURL + "/devices/e1/state"])
        #expect(harness.deviceCalls.map(\.method) == [.get])
    }

    @Test("a device without properties has an empty StateReport")
    func emptyState() async throws {
        let harness = try Self.harness(#"{"properties":[]}"#)
        let event = try await harness.event(
            SmartHomeHarness.directive("Alexa", "ReportState", token: try harness.token()))
        #expect(event["context"] == ["properties": []])
        #expect(try SmartHomeSchema.fault(of: event) == nil)
    }

    @Test("SHR-7: zero is a value, and minus zero is zero")
    func zero() async throws {
        for value in ["0", "0.0", "-0.0", "-0"] {
            let harness = try Self.harness(
                #"{"properties":[{"interface":"TemperatureSensor","name":"temperature","value":{"value":\#(value),"#
                    + #""scale":"CELSIUS"}},{"interface":"BrightnessController","name":"brightness","value":\#(value)},"#
                    + #"{"interface":"PowerController","name":"powerState","value":false}]}"#)
            let response = await harness.endpoint.respond(
                to: harness.request(SmartHomeHarness.directive("Alexa", "ReportState", token: try harness.token())))
            let text = String(decoding: response.body, as: UTF8.self)
            #expect(text.contains(#""value":{"value":0,"scale":"CELSIUS"}"#))
            #expect(text.contains(#""name":"brightness","value":0,"#))
            #expect(text.contains(#""name":"powerState","value":"OFF","#))
            #expect(try SmartHomeSchema.fault(of: JSONValue(parsing: response.body)) == nil)
        }
    }

    @Test(
        "SHR-10: values are confirmed as the device has them",
        arguments: [
            ("SetTargetTemperature", #"{"targetSetpoint":{"value":21.5,"scale":"CELSIUS"}}"#, "21.5", "CELSIUS"),
            ("SetTargetTemperature", #"{"targetSetpoint":{"value":70.7,"scale":"FAHRENHEIT"}}"#, "70.7", "FAHRENHEIT"),
            ("SetTargetTemperature", #"{"targetSetpoint":{"value":70.7,"scale":"FAHRENHEIT"}}"#, "21.5", "CELSIUS"),
            ("AdjustTargetTemperature", #"{"targetSetpointDelta":{"value":0.5,"scale":"CELSIUS"}}"#, "22.5", "CELSIUS"),
        ])
    func rounding(name: String, payload: String, value: String, scale: String) async throws {
        let harness = try Self.harness(
            #"{"properties":[{"interface":"ThermostatController","name":"targetSetpoint","#
                + #""value":{"value":\#(value),"scale":"\#(scale)"}}]}"#)
        let payload = try JSONValue(parsing: Array(payload.utf8))
        let response = await harness.endpoint.respond(
            to: harness.request(
                SmartHomeHarness.directive("Alexa.ThermostatController", name, payload, token: try harness.token())))
        #expect(
            String(decoding: response.body, as: UTF8.self).contains(
                #""value":{"value":\#(value),"scale":"\#(scale)"}"#))
        let body = try JSONValue(parsing: try #require(harness.deviceCalls.first?.body))
        #expect(body["arguments"] == payload)
    }

    @Test("SHR-9: names from a server that writes Latin-1 leave as UTF-8")
    func letters() async throws {
        let body: [UInt8] =
            Array(#"{"devices":[{"id":"1","name":"K"#.utf8) + [0xFC]
            + Array(#"che","categories":["LIGHT"],"capabilities":[{"interface":"PowerController","#.utf8)
            + Array(#""properties":["powerState"],"retrievable":true,"proactivelyReported":false}]}]}"#.utf8)
        let harness = try SmartHomeHarness(
            servers: .init(devices: { _, _ in
                HTTPResponse(status: 200, fields: ["Content-Type": "application/json;charset=ISO-8859-1"], body: body)
            }))
        let response = await harness.endpoint.respond(
            to: harness.request(SmartHomeHarness.discover(token: try harness.token())))
        #expect(response.fields["Content-Type"] == "application/json;charset=UTF-8")
        #expect(String(decoding: response.body, as: UTF8.self).contains(#""friendlyName":"Küche""#))
    }

    /// What is wrong with the first of two properties.
    static let badProperties = [
        #"{"interface":"PowerController","name":"powerState","value":"on"}"#,
        #"{"interface":"PowerController","name":"powerState"}"#,
        #"{"interface":"PowerController","value":"ON"}"#, #"{"name":"powerState","value":"ON"}"#,
        #"{"interface":"Alexa.PowerController","name":"powerState","value":"ON"}"#, "7", "null", "[]", #""ON""#,
        #"{"interface":"PowerController","name":7,"value":"ON"}"#,
        #"{"interface":"BrightnessController","name":"brightness","value":101}"#,
        #"{"interface":"BrightnessController","name":"brightness","value":"50"}"#,
        #"{"interface":"BrightnessController","name":"brightness","value":null}"#,
        #"{"interface":"TemperatureSensor","name":"temperature","value":21}"#,
        #"{"interface":"LockController","name":"lockState","value":"LOCKED","sampledAt":"yesterday"}"#,
        #"{"interface":"LockController","name":"lockState","value":"LOCKED","uncertaintyMilliseconds":-1}"#,
    ]

    @Test(
        "a property that would break the schema is left out with a log line; the others leave", arguments: badProperties
    )
    func badProperty(property: String) async throws {
        let harness = try Self.harness(
            #"{"properties":[\#(property),{"interface":"MotionSensor","name":"detectionState","value":"DETECTED"}]}"#)
        for (namespace, name, answer) in [
            ("Alexa", "ReportState", "Alexa/StateReport"), ("Alexa.PowerController", "TurnOn", "Alexa/Response"),
        ] {
            let event = try await harness.event(
                SmartHomeHarness.directive(namespace, name, token: try harness.token()))
            #expect(event.eventName == answer)
            #expect(event["context"]?["properties"]?.array?.map { $0["name"] } == ["detectionState"])
            #expect(try SmartHomeSchema.fault(of: event) == nil)
        }
        #expect(harness.logText.contains("property left out"))
    }

    @Test("a property that comes twice leaves once, as it came first")
    func twice() async throws {
        let harness = try Self.harness(
            #"{"properties":[{"interface":"PowerController","name":"powerState","value":"ON"},"#
                + #"{"interface":"PowerController","name":"powerState","value":"OFF"}]}"#)
        let event = try await harness.event(
            SmartHomeHarness.directive("Alexa", "ReportState", token: try harness.token()))
        #expect(event["context"]?["properties"]?.array?.map { $0["value"] } == ["ON"])
    }

    @Test("more properties than a thousand do not leave, and a line says that they were left out")
    func tooManyProperties() async throws {
        let list = (0..<1002).map {
            #"{"interface":"RangeController","instance":"i\#($0)","name":"rangeValue","value":1}"#
        }
        let harness = try Self.harness(#"{"properties":[\#(list.joined(separator: ","))]}"#)
        let event = try await harness.event(
            SmartHomeHarness.directive("Alexa", "ReportState", token: try harness.token()))
        #expect(event["context"]?["properties"]?.array?.count == 1000)
        #expect(harness.logText.split(separator: "\n").filter { $0.contains("one too many") }.count == 2)
    }

    @Test("a thousand bad properties cost twenty log lines and one with the rest as a number")
    func manyBadProperties() async throws {
        let list = Array(repeating: "{}", count: 1000).joined(separator: ",")
        let harness = try Self.harness(#"{"properties":[\#(list)]}"#)
        _ = try await harness.event(
            SmartHomeHarness.directive("Alexa", "ReportState", token: try harness.token()))
        let lines = harness.logText.split(separator: "\n").filter { $0.contains("property left out") }
        #expect(lines.count == 21)
        #expect(lines.last?.contains("980") == true)
    }

    @Test("what a command left behind is reported, with the device's own id; a state or a failure is not")
    func reported() async throws {
        let harness = try Self.harness(Self.powerOn)
        let id = EndpointID.encode("küche/1")
        _ = try await harness.event(
            SmartHomeHarness.directive("Alexa.PowerController", "TurnOn", endpointID: id, token: try harness.token()))
        _ = try await harness.event(
            SmartHomeHarness.directive("Alexa", "ReportState", endpointID: id, token: try harness.token()))
        let key = PropertyKey(interface: "PowerController", name: "powerState")
        #expect(
            harness.reports.commanded == [
                .init(
                    subject: "u1", deviceID: "küche/1", interface: "PowerController",
                    properties: [DeviceProperty(key, "ON")])
            ])
    }

    @Test(
        "SHR-2: a directive finds the device whatever its id is",
        arguments: [
            #"a\b"#, "küche/1", #"x"y"#, String(repeating: "x", count: 300), String(repeating: "ü/", count: 400),
            "lamp-1",
            "=b:x", "=d:x", "a b", "..x",
        ])
    func ids(id: String) async throws {
        let harness = try SmartHomeHarness(
            servers: .init(devices: { request, _ in
                guard request.url.hasSuffix("/devices") else { return .json(Self.powerOn) }
                let device: JSONValue = [
                    "id": .string(id), "name": "Lamp", "categories": ["LIGHT"],
                    "capabilities": [
                        ["interface": "PowerController", "properties": ["powerState"], "retrievable": true]
                    ],
                ]
                return .json(String(decoding: JSONValue.object(["devices": [device]]).encoded(), as: UTF8.self))
            }))
        let token = try harness.token()
        let discovery = try await harness.event(SmartHomeHarness.discover(token: token))
        #expect(try SmartHomeSchema.fault(of: discovery) == nil)
        let endpointID = try #require(
            discovery["event"]?["payload"]?["endpoints"]?.array?.first?["endpointId"]?.string)
        let event = try await harness.event(
            SmartHomeHarness.directive("Alexa.PowerController", "TurnOn", endpointID: endpointID, token: token))
        #expect(event.eventName == "Alexa/Response")
        #expect(
            harness.deviceCalls.last?.url
                == SmartHomeHarness.resourcesURL + "/devices/" + percentEncoded(id) + "/commands")
        #expect(harness.reports.commanded.map(\.deviceID) == [id])
    }

    @Test("a digest that nobody kept is no endpoint, and a store that is silent is INTERNAL_ERROR; nothing is sent")
    func digests() async throws {
        let endpointID = EndpointID.encode(String(repeating: "x", count: 300))
        for (store, type, reason) in [
            (nil, "NO_SUCH_ENDPOINT", "directive.endpointUnknown"),
            (BrokenEndpointIDStore(), "INTERNAL_ERROR", "smartHome.storeUnavailable"),
        ] as [((any EndpointIDStore)?, String, String)] {
            let harness = try SmartHomeHarness(endpointIDs: store)
            let event = try await harness.event(
                SmartHomeHarness.directive(
                    "Alexa.PowerController", "TurnOn", endpointID: endpointID, token: try harness.token()))
            #expect(event.errorType == type)
            #expect(try await harness.trace().reason == reason)
            #expect(harness.deviceCalls.isEmpty)
        }
    }

    @Test("OPS-6: with grants that are dead and Amazon out of reach directives are answered, and Amazon is not asked")
    func deadGrants() async throws {
        let harness = try SmartHomeHarness(
            servers: .init(
                lwa: { _, _ throws(HTTPClientError) in throw .unreachable("") },
                devices: { _, _ in .json(Self.powerOn) }))
        let key = GrantKey(source: .events, subject: "u1", skill: "home", region: .europe)
        let credentials = AmazonCredentials(
            accessToken: Secret("Atza|dead"), refreshToken: Secret("Atzr|dead"),
            expiresAt: ManualClock.start.adding(seconds: -86_400))
        let sequence = try await harness.grants.nextGrantSequence(by: harness.clock.deadline())
        _ = try await harness.grants.put(credentials, for: key, sequence: sequence, by: harness.clock.deadline())
        let event = try await harness.event(
            SmartHomeHarness.directive("Alexa.PowerController", "TurnOn", token: try harness.token()))
        #expect(event.eventName == "Alexa/Response")
        #expect(harness.exchanges.isEmpty)
        #expect(try await harness.stored().count == 1)
    }

    @Test("directives are counted by the names of the tables, everything else together")
    func counted() async throws {
        let harness = try Self.harness(Self.powerOn)
        for (namespace, name) in [
            ("Alexa.PowerController", "TurnOn"), ("Alexa", "ReportState"), ("Alexa.PowerController", "Explode"),
            ("Alexa.Nonsense", "TurnOn"), ("Alexa.PowerController", "TurnOn"),
        ] {
            _ = try await harness.event(SmartHomeHarness.directive(namespace, name, token: try harness.token()))
        }
        let text = harness.metrics.prometheusText
        #expect(text.contains(#"skill="home",type="Alexa.PowerController.TurnOn"} 2"#))
        #expect(text.contains(#"skill="home",type="Alexa.ReportState"} 1"#))
        #expect(text.contains(#"skill="home",type="other"} 2"#))
    }

    @Test("a directive with a kept token is one call and its trace is not stored; a failure's trace has its steps")
    func steps() async throws {
        let harness = try Self.harness(Self.powerOn)
        _ = try await harness.event(
            SmartHomeHarness.directive("Alexa.PowerController", "TurnOn", token: try harness.token()))
        #expect(harness.deviceCalls.count == 1)
        harness.servers.withLock { $0.devices = { _, _ throws(HTTPClientError) in throw .broken("") } }
        _ = try await harness.event(
            SmartHomeHarness.directive("Alexa.PowerController", "TurnOn", token: try harness.token()))
        let trace = try await harness.trace()
        #expect(trace.subject == "u1")
        #expect(trace.steps.map(\.name) == ["account", "command"])
        #expect(trace.steps.last?.reason == "resource.unreachable")
    }
}
