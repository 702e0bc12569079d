import Alexa
import Crypto
import JSON
import Testing
import Time

@Suite("Events as they leave") struct EventEncodingTests {
    static let now = UnixTime(milliseconds: 1_767_225_600_250)

    func json(_ event: Event, token: String? = nil) throws -> JSONValue {
        try JSONValue(parsing: event.encoded(amazonToken: token.map { Secret($0) }))
    }

    /// Every member's path, sorted.
    func paths(_ value: JSONValue, _ path: String = "") -> [String] {
        switch value {
        case .object(let object): object.flatMap { paths($0.value, path + "/" + $0.name) }.sorted()
        case .array(let list): Set(list.flatMap { paths($0, path + "/*") }).sorted()
        default: [path]
        }
    }

    @Test("EVG-4: reports of several endpoints have the event on top and the token in the payload's scope")
    func reportsOfEndpoints() throws {
        let endpoint: JSONValue = ["endpointId": "e1", "friendlyName": "Lamp"]
        let added = try json(.addOrUpdateReport(endpoints: [endpoint], messageID: "m"), token: "Atza|t")
        #expect(
            paths(added) == [
                "/event/header/messageId", "/event/header/name", "/event/header/namespace",
                "/event/header/payloadVersion", "/event/payload/endpoints/*/endpointId",
                "/event/payload/endpoints/*/friendlyName", "/event/payload/scope/token", "/event/payload/scope/type",
            ])
        #expect(added["event"]?["header"]?["namespace"] == "Alexa.Discovery")
        #expect(added["event"]?["payload"]?["scope"] == ["type": "BearerToken", "token": "Atza|t"])
        let removed = try json(.deleteReport(endpointIDs: ["e1", "e2"], messageID: "m"), token: "Atza|t")
        #expect(
            removed == [
                "event": [
                    "header": [
                        "namespace": "Alexa.Discovery", "name": "DeleteReport", "messageId": "m", "payloadVersion": "3",
                    ],
                    "payload": [
                        "endpoints": [["endpointId": "e1"], ["endpointId": "e2"]],
                        "scope": ["type": "BearerToken", "token": "Atza|t"],
                    ],
                ]
            ])
    }

    @Test("EVG-4: a report of one endpoint has the token in the endpoint's scope, and changes apart from the rest")
    func reportOfOneEndpoint() throws {
        let on = OfficialSchemaTests.property("Alexa.PowerController", "powerState", "ON")
        let bright = OfficialSchemaTests.property("Alexa.BrightnessController", "brightness", 0)
        let report = Event.changeReport(
            endpointID: "e1", cause: .physicalInteraction, changed: [on], unchanged: [on, bright], messageID: "m")
        #expect(
            try json(report, token: "Atza|t") == [
                "context": ["properties": [bright]],
                "event": [
                    "header": ["namespace": "Alexa", "name": "ChangeReport", "messageId": "m", "payloadVersion": "3"],
                    "endpoint": ["scope": ["type": "BearerToken", "token": "Atza|t"], "endpointId": "e1"],
                    "payload": ["change": ["cause": ["type": "PHYSICAL_INTERACTION"], "properties": [on]]],
                ],
            ])
        var doubled = report
        doubled.contextProperties = [on, bright]
        #expect(doubled.violation()?.detail == "context.properties holds a value twice")
        #expect(report.violation() == nil)
    }

    @Test("SHR-3: a discovery answer has these members and no others")
    func discoveryMembers() throws {
        let answer = try json(.discoverResponse(endpoints: [OfficialSchemaTests.endpoint], messageID: "m"))
        #expect(
            paths(answer) == [
                "/event/header/messageId", "/event/header/name", "/event/header/namespace",
                "/event/header/payloadVersion", "/event/payload/endpoints/*/additionalAttributes/manufacturer",
                "/event/payload/endpoints/*/additionalAttributes/model",
                "/event/payload/endpoints/*/capabilities/*/capabilityResources/friendlyNames/*/@type",
                "/event/payload/endpoints/*/capabilities/*/capabilityResources/friendlyNames/*/value/assetId",
                "/event/payload/endpoints/*/capabilities/*/configuration/supportedRange/maximumValue",
                "/event/payload/endpoints/*/capabilities/*/configuration/supportedRange/minimumValue",
                "/event/payload/endpoints/*/capabilities/*/configuration/supportedRange/precision",
                "/event/payload/endpoints/*/capabilities/*/instance",
                "/event/payload/endpoints/*/capabilities/*/interface",
                "/event/payload/endpoints/*/capabilities/*/properties/proactivelyReported",
                "/event/payload/endpoints/*/capabilities/*/properties/retrievable",
                "/event/payload/endpoints/*/capabilities/*/properties/supported/*/name",
                "/event/payload/endpoints/*/capabilities/*/type",
                "/event/payload/endpoints/*/capabilities/*/version", "/event/payload/endpoints/*/cookie/a",
                "/event/payload/endpoints/*/description", "/event/payload/endpoints/*/displayCategories/*",
                "/event/payload/endpoints/*/endpointId", "/event/payload/endpoints/*/friendlyName",
                "/event/payload/endpoints/*/manufacturerName",
            ])
    }

    @Test("SHR-4: the correlation token is repeated byte for byte, or left out; a number stays a number")
    func correlation() throws {
        let warm = OfficialSchemaTests.property(
            "Alexa.TemperatureSensor", "temperature", ["value": 50.0, "scale": "CELSIUS"])
        let echo = DirectiveEcho(correlationToken: "c+/=\"ü", endpointID: "e1")
        let event = Event.answer(.stateReport, to: echo, properties: [warm], now: Self.now)
        let text = String(decoding: event.encoded(), as: UTF8.self)
        #expect(text.contains(#""correlationToken":"c+/=\"ü""#))
        #expect(text.contains(#""value":{"value":50,"scale":"CELSIUS"}"#))
        #expect(event.messageID != Event.answer(.stateReport, to: echo, now: Self.now).messageID)
        let silent = Event.answer(.stateReport, to: DirectiveEcho(endpointID: "e1"), properties: [warm], now: Self.now)
        #expect(!String(decoding: silent.encoded(), as: UTF8.self).contains("correlationToken"))
    }

    @Test("SHR-7: nothing is a value: 0, 0.0 and -0.0 leave as 0")
    func zero() throws {
        for zero in ["0", "0.0", "-0.0", "-0"] {
            let value = try JSONValue(parsing: Array(#"{"value":\#(zero),"scale":"CELSIUS"}"#.utf8))
            let property = OfficialSchemaTests.property("Alexa.TemperatureSensor", "temperature", value)
            let event = Event.answer(.stateReport, to: DirectiveEcho(), properties: [property], now: Self.now)
            #expect(event.violation() == nil)
            let text = String(decoding: event.encoded(), as: UTF8.self)
            #expect(text.contains(#""value":{"value":0,"scale":"CELSIUS"}"#), "\(zero)")
        }
        let dark = OfficialSchemaTests.property("Alexa.BrightnessController", "brightness", 0)
        #expect(Event.answer(.response, to: DirectiveEcho(), properties: [dark], now: Self.now).violation() == nil)
    }

    @Test("SHR-10: a value leaves with the digits that it came with")
    func digits() throws {
        for digits in ["21.5", "70.7", "0.1", "19.999999999", "22"] {
            let value = try JSONValue(parsing: Array(#"{"value":\#(digits),"scale":"FAHRENHEIT"}"#.utf8))
            let property = OfficialSchemaTests.property("Alexa.ThermostatController", "targetSetpoint", value)
            let event = Event.answer(.response, to: DirectiveEcho(), properties: [property], now: Self.now)
            #expect(event.violation() == nil)
            #expect(String(decoding: event.encoded(), as: UTF8.self).contains(#"{"value":\#(digits),"scale""#))
        }
    }

    @Test("an event that Alexa would drop is told by its path: header, endpoint, property, payload")
    func violations() {
        let echo = DirectiveEcho(correlationToken: "c", endpointID: "e1")
        let on = OfficialSchemaTests.property("Alexa.PowerController", "powerState", "ON")
        func event(_ change: (inout Event) -> Void) -> String? {
            var event = Event.answer(.response, to: echo, properties: [on], now: Self.now)
            change(&event)
            return event.violation()?.detail
        }
        #expect(event { _ in } == nil)
        #expect(event { $0.messageID = "" } == "event.header.messageId is too short or too long")
        #expect(event { $0.messageID = "m 1" } == "event.header.messageId has the wrong form")
        #expect(event { $0.correlationToken = "" } == "event.header.correlationToken is too short or too long")
        #expect(event { $0.endpointID = "a b" } == "event.endpoint.endpointId has the wrong form")
        #expect(event { $0.endpointID = String(repeating: "a", count: 257) } != nil)
        #expect(event { $0.name = "Reponse" } == "event.header.name is none of the known words")
        #expect(event { $0.payload = ["a": 1] } == "event.payload.a must not be there")
        #expect(event { $0.contextProperties = [on, on] } == "context.properties holds a value twice")
        #expect(
            event {
                $0.contextProperties = [OfficialSchemaTests.property("Alexa.PowerController", "powerState", "on")]
            } == "context.properties[0].value is none of the known words")
        #expect(
            event { $0.contextProperties = [OfficialSchemaTests.property("Alexa.PowerController", "power", "ON")] }
                == "context.properties[0].name is none of the known words")
        #expect(
            event { $0.contextProperties = [OfficialSchemaTests.property("Alexa.ModeController", "mode", "x")] }
                == "context.properties[0].instance is missing")
        // An interface that no table has is judged by the general rules alone.
        #expect(
            event { $0.contextProperties = [OfficialSchemaTests.property("Alexa.Humidity", "level", 3)] } == nil)
        #expect(event { $0.contextProperties = [OfficialSchemaTests.property("Humidity", "level", 3)] } != nil)
    }
}
