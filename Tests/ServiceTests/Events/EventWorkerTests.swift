import Alexa
import Concurrency
import Crypto
import HTTP
import JSON
import Service
import Storage
import TestSupport
import Testing
import Time

@Suite("Sending events", .timeLimit(.minutes(5))) struct EventWorkerTests {
    let harness = EventsHarness()

    static func property(_ name: String = "powerState", _ value: JSONValue = "ON") -> JSONValue {
        let interface: JSONValue = name == "powerState" ? "PowerController" : "BrightnessController"
        return ["interface": interface, "name": .string(name), "value": value]
    }

    func changed(_ device: String = "lamp", _ properties: JSONValue..., state: [JSONValue]? = nil) -> String {
        var event: JSONObject = [
            "sub": "u1", "deviceID": .string(device), "cause": "PHYSICAL_INTERACTION",
            "properties": .array(properties.isEmpty ? [Self.property()] : properties),
        ]
        event["state"] = state.map(JSONValue.array)
        return String(decoding: JSONValue.object(event).encoded(), as: UTF8.self)
    }

    func post(_ bodies: String...) async throws {
        for body in bodies { #expect(try await harness.post(body).status == 202) }
    }

    var waiting: Int { get async throws { try await harness.store.waitingRows(by: harness.clock.deadline()) } }

    @Test("a change leaves with what else was reported as its context, and nothing in both")
    func context() async throws {
        try await harness.grant()
        let worker = harness.worker()
        try await post(changed("lamp", Self.property("brightness", 40)))
        _ = try await worker.flush()
        try await post(changed("lamp", Self.property(), state: [Self.property(), Self.property("brightness", 41)]))
        try await post(changed("other"))
        #expect(try await worker.flush() == report(sent: 2))
        let event = try #require(harness.sent.first { $0.endpointID == "lamp" && $0.context.count == 1 }?.event)
        #expect(event["context"]?["properties"]?.array?.map { $0["name"]?.string } == ["brightness"])
        #expect(event["context"]?["properties"]?.array?.map { $0["value"]?.integer } == [41])
        let change = event["event"]?["payload"]?["change"]
        #expect(change?["cause"]?["type"] == "PHYSICAL_INTERACTION")
        #expect(change?["properties"]?.array?.map { $0["namespace"]?.string } == ["Alexa.PowerController"])
        #expect(event["event"]?["endpoint"]?["scope"]?["token"] == "Atza|first")
        #expect(
            change?["properties"]?.array?.first?["timeOfSample"] == .string(harness.clock.now.iso8601(fraction: true)))
    }

    @Test("a property keeps the time at which it was told, in a later context and where it waited")
    func times() async throws {
        try await harness.grant()
        let told = harness.clock.now
        let worker = harness.worker()
        try await post(changed("lamp", Self.property("brightness", 40)))
        _ = try await worker.flush()
        harness.clock.advance(by: .seconds(60))
        try await post(changed("lamp", Self.property()))
        harness.clock.advance(by: .seconds(60))
        _ = try await worker.flush()
        let sent = try #require(harness.sent.last)
        let change = sent.event["event"]?["payload"]?["change"]?["properties"]?.array
        #expect(sent.context.map { $0["timeOfSample"]?.string } == [told.iso8601(fraction: true)])
        #expect(
            change?.map { $0["timeOfSample"]?.string } == [told.adding(seconds: 60).iso8601(fraction: true)])
    }

    func report(sent: Int = 0, dropped: Int = 0, postponed: Int = 0, waiting: Int = 0) -> FlushReport {
        var report = FlushReport()
        (report.sent, report.dropped) = (sent, dropped)
        (report.postponed, report.waiting) = (postponed, waiting)
        return report
    }

    @Test("events of a device keep their order, also where one has to wait; others do not wait for it")
    func order() async throws {
        try await harness.grant()
        try await post(changed("lamp"), #"{"sub":"u1","deviceID":"lamp","kind":"removed"}"#, changed("fan"))
        harness.gateway { sent, _ in
            sent.endpointID == "lamp"
                ? EventsHarness.exception(500, "INTERNAL_SERVICE_EXCEPTION") : HTTPResponse(status: 202)
        }
        #expect(try await harness.worker().flush() == report(sent: 1, postponed: 1, waiting: 2))
        harness.gateway { _, _ in HTTPResponse(status: 202) }
        harness.clock.advance(by: .seconds(1))
        #expect(try await harness.worker().flush() == report(sent: 2))
        #expect(harness.sent.map(\.name) == ["ChangeReport", "ChangeReport", "ChangeReport", "DeleteReport"])
        #expect(harness.sent[0].messageID == harness.sent[2].messageID)
    }
}

extension EventsHarness.Sent {
    var context: [JSONValue] { event["context"]?["properties"]?.array ?? [] }
}
