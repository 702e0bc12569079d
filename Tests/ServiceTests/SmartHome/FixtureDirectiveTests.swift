import Alexa
import Concurrency
import HTTP
import JSON
import Service
import TestSupport
import Testing
import Time

/// A provider that has every device and answers as somebody else's skill did.
enum Mirror {
    /// The answer of the provider from which an event like `event` comes.
    static func provider(_ event: JSONValue?) -> RecordingHTTPClient.Answer {
        { request, _ in
            let body: JSONValue
            var status = 200
            if let type = event?.errorType {
                var error = event?["event"]?["payload"]?.object ?? [:]
                error["type"] = nil
                error["error"] = .string(type)
                body = .object(error)
                status = 400
            } else if request.url.hasSuffix("/devices") {
                body = ["devices": .array((event?["event"]?["payload"]?["endpoints"]?.array ?? []).map(device))]
            } else {
                var answer: JSONObject = [
                    "properties": .array((event?["context"]?["properties"]?.array ?? []).map(property))
                ]
                if let payload = event?["event"]?["payload"], payload.object?.isEmpty == false {
                    answer["payload"] = payload
                }
                body = .object(answer)
            }
            return .json(String(decoding: body.encoded(), as: UTF8.self), status: status)
        }
    }

    private static func bare(_ interface: JSONValue?) -> JSONValue {
        let name = interface?.string ?? ""
        return .string(name.hasPrefix("Alexa.") ? String(name.dropFirst(6)) : name)
    }

    static func property(_ property: JSONValue) -> JSONValue {
        var object = property.object ?? [:]
        object["interface"] = bare(object["namespace"])
        object["sampledAt"] = object["timeOfSample"]
        object["uncertaintyMilliseconds"] = object["uncertaintyInMilliseconds"]
        for name in ["namespace", "timeOfSample", "uncertaintyInMilliseconds"] { object[name] = nil }
        return .object(object)
    }

    static func device(_ endpoint: JSONValue) -> JSONValue {
        var device = endpoint.object ?? [:]
        device["id"] = device["endpointId"]
        device["name"] = device["friendlyName"]
        device["manufacturer"] = device["manufacturerName"]
        device["categories"] = device["displayCategories"]
        device["capabilities"] = .array((device["capabilities"]?.array ?? []).map(capability))
        for name in ["endpointId", "friendlyName", "manufacturerName", "displayCategories"] { device[name] = nil }
        return .object(device)
    }

    private static func capability(_ capability: JSONValue) -> JSONValue {
        var object = capability.object ?? [:]
        object["interface"] = bare(object["interface"])
        for (name, value) in object["properties"]?.object ?? [:] where name != "supported" { object[name] = value }
        object["properties"] = object["properties"]?["supported"]?.array.map { .array($0.compactMap { $0["name"] }) }
        return .object(object)
    }
}

/// Directives that others have published, each answered so that Amazon's schema accepts it.
@Suite("Smart home: published directives", .timeLimit(.minutes(5))) struct FixtureDirectiveTests {
    static let samples = Fixtures.files(in: "alexa-smart-home/sample_messages").filter {
        $0.hasSuffix(".request.json") || $0.hasSuffix("/ReportState.json")
    }

    /// What a directive is answered by, where it is carried out.
    static func answer(to directive: JSONValue) -> String {
        let header = directive["directive"]?["header"]
        switch (header?["namespace"]?.string ?? "", header?["name"]?.string ?? "") {
        case ("Alexa", _): return "Alexa/StateReport"
        case ("Alexa.Discovery", _): return "Alexa.Discovery/Discover.Response"
        case ("Alexa.Authorization", _): return "Alexa.Authorization/AcceptGrant.Response"
        case ("Alexa.SceneController", "Activate"): return "Alexa.SceneController/ActivationStarted"
        case ("Alexa.SeekController", _): return "Alexa.SeekController/StateReport"
        default: return "Alexa/Response"
        }
    }

    /// `directive` with a good token in the place of its own.
    static func withToken(_ directive: JSONValue, _ token: String) -> String {
        func replaced(_ value: JSONValue) -> JSONValue {
            guard var object = value.object else { return value }
            for (name, member) in object {
                object[name] = name == "token" ? .string(token) : replaced(member)
            }
            return .object(object)
        }
        return String(decoding: replaced(directive).encoded(), as: UTF8.self)
    }

    /// Checks an answer against its directive and Amazon's schema.
    static func check(_ event: JSONValue, to directive: JSONValue, _ name: String) throws {
        let fault = try SmartHomeSchema.fault(of: event)
        #expect(fault == nil, "\(name)")
        let header = directive["directive"]?["header"]
        #expect(event.header("correlationToken") == header?["correlationToken"]?.string, "\(name)")
        #expect(event.header("messageId") != header?["messageId"]?.string, "\(name)")
        #expect(
            event["event"]?["endpoint"]?["endpointId"] == directive["directive"]?["endpoint"]?["endpointId"],
            "\(name)")
    }

    @Test("there are the samples of Amazon's", .needsFixture("alexa-smart-home/sample_messages"))
    func present() { #expect(Self.samples.count >= 20) }

    @Test(
        "each directive among Amazon's samples is carried out", .needsFixture("alexa-smart-home/sample_messages"),
        arguments: samples)
    func amazon(file: String) async throws {
        let directive = try JSONValue(parsing: try Fixtures.bytes(file))
        let response = file.replacing(".request.json", with: ".response.json")
        let published =
            Fixtures.exists(response) && response != file
            ? try JSONValue(parsing: try Fixtures.bytes(response)) : nil
        let harness = try SmartHomeHarness(servers: .init(devices: Mirror.provider(published)))
        let event = try await harness.event(Self.withToken(directive, try harness.token()))
        #expect(event.eventName == Self.answer(to: directive))
        try Self.check(event, to: directive, file)
        if directive["directive"]?["endpoint"] != nil {
            #expect(harness.deviceCalls.count == 1)
            #expect(harness.deviceCalls.first?.url.contains("/devices/endpoint-001/") == true)
        }
        // With the token of the sample itself, which nobody made, it is an error that fits the schema too.
        let refused = try await harness.event(String(decoding: directive.encoded(), as: UTF8.self))
        #expect(refused.header("name") == "ErrorResponse")
        try Self.check(refused, to: directive, file)
    }

    @Test(
        "the properties of the answers among Amazon's samples come out as they were, those that fit the interfaces",
        .needsFixture("alexa-smart-home/sample_messages"), arguments: samples)
    func roundTrip(file: String) async throws {
        let response = file.replacing(".request.json", with: ".response.json")
        guard response != file, Fixtures.exists(response) else { return }
        let published = try JSONValue(parsing: try Fixtures.bytes(response))
        let directive = try JSONValue(parsing: try Fixtures.bytes(file))
        let harness = try SmartHomeHarness(servers: .init(devices: Mirror.provider(published)))
        let event = try await harness.event(Self.withToken(directive, try harness.token()))
        let expected = (published["context"]?["properties"]?.array ?? []).filter {
            ContextProperty.violation(of: $0) == nil
        }
        let found = event["context"]?["properties"]?.array ?? []
        for member in ["namespace", "name", "value", "uncertaintyInMilliseconds"] {
            #expect(found.map { $0[member] } == expected.map { $0[member] })
        }
    }

    @Test(
        "each directive that Home Assistant answers is answered, with its error type where it is one",
        .needsFixture("home-assistant-pairs/pairs.json"))
    func homeAssistant() async throws {
        let pairs = try #require(
            try JSONValue(parsing: try Fixtures.bytes("home-assistant-pairs/pairs.json")).array)
        #expect(pairs.count > 40)
        for pair in pairs {
            let directive = try #require(pair["directive"])
            let theirs = pair["home_assistant_answer"]
            let header = directive["directive"]?["header"]
            let name = "\(header?["namespace"]?.string ?? "").\(header?["name"]?.string ?? "")"
            let harness = try SmartHomeHarness(servers: .init(devices: Mirror.provider(theirs)))
            let event = try await harness.event(Self.withToken(directive, try harness.token()))
            try Self.check(event, to: directive, name)
            if name == "Alexa.DoorbellEventSource.x" {
                #expect(event.errorType == "INVALID_DIRECTIVE")
            } else if let type = theirs?.errorType {
                #expect(event.errorType == type, "\(name)")
            } else {
                #expect(event.eventName == Self.answer(to: directive), "\(name)")
                let ids = theirs?["event"]?["payload"]?["endpoints"]?.array?.map { $0["endpointId"] }
                #expect(event["event"]?["payload"]?["endpoints"]?.array?.map { $0["endpointId"] } == ids, "\(name)")
            }
        }
    }
}
