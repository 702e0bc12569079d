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

@Suite("The loop that sends events", .timeLimit(.minutes(5))) struct EventLoopTests {
    let harness = EventsHarness()

    /// What `body` does while the worker runs.
    func running(_ worker: EventWorker, _ body: () async throws -> Void) async throws {
        let task = Task { await worker.run() }
        defer { task.cancel() }
        try await body()
        await worker.stop(within: .seconds(600))
        await task.value
    }

    @Test(
        "EVG-3: 1000 changes in ten seconds, 429 to all but one a second: merged, backed off, bounded, few lines, last value"
    )
    func throttled() async throws {
        try await harness.grant()
        let clock = harness.clock
        let lastTaken = Locked(clock.now.adding(seconds: -10))
        harness.gateway { _, _ in
            let isTaken = lastTaken.withLock { last in
                guard clock.now.milliseconds(since: last) >= 1000 else { return false }
                last = clock.now
                return true
            }
            return isTaken ? HTTPResponse(status: 202) : EventsHarness.exception(429, "THROTTLING_EXCEPTION")
        }
        let tests = EventWorkerTests()
        let worker = harness.worker()
        let endpoint = try harness.endpoint()
        for number in 1...1000 {
            let body = tests.changed("cover", EventWorkerTests.property("brightness", .integer(Int64(number % 101))))
            #expect(try await harness.post(body, to: endpoint).status == 202)
            _ = try await worker.flush()
            #expect(try await harness.store.waitingRows(by: clock.deadline()) <= 1)
            clock.advance(by: .milliseconds(10))
        }
        clock.advance(by: .seconds(60))
        #expect(try await worker.flush().waiting == 0)
        // One a second is taken at most, and each refusal doubles the pause.
        #expect(harness.sent.count <= 24, "\(harness.sent.count) tries")
        let last = harness.sent.last?.event["event"]?["payload"]?["change"]?["properties"]?.array?.first
        #expect(last?["value"]?.integer == Int64(1000 % 101))
        #expect(harness.logText.split(separator: "\n").count { $0.contains("gateway.throttled") } <= 3)
    }

    @Test("EVG-3: what Retry-After asks for is kept, also where it is longer than the pause", arguments: ["30", "0"])
    func retryAfter(seconds: String) async throws {
        try await harness.grant()
        for device in ["a", "b", "c"] {
            #expect(try await harness.post(EventWorkerTests().changed(device)).status == 202)
        }
        harness.gateway { _, count in
            count == 1
                ? EventsHarness.exception(429, "THROTTLING_EXCEPTION", retryAfter: seconds) : HTTPResponse(status: 202)
        }
        let worker = harness.worker()
        #expect(try await worker.flush().postponed == 1)
        #expect(harness.sent.count == 1, "nothing else of the lane is sent meanwhile")
        harness.clock.advance(by: .milliseconds(max(1, Int64(seconds) ?? 0) * 1000 - 1))
        #expect(try await worker.flush().sent == 0)
        harness.clock.advance(by: .milliseconds(1))
        #expect(try await worker.flush().sent == 3)
    }

    @Test("a posting wakes the loop")
    func woken() async throws {
        try await harness.grant()
        let worker = harness.worker()
        let endpoint = try harness.endpoint { worker.wake() }
        try await running(worker) {
            for count in 1...20 {
                let answer = try await harness.post(EventWorkerTests().changed("d\(count)"), to: endpoint)
                #expect(answer.status == 202)
                while harness.sent.count < count { await Task.yield() }
            }
        }
        #expect(try await harness.store.waitingRows(by: harness.clock.deadline()) == 0)
    }

    @Test(
        "a lane whose gateway is silent holds up no other user's events, and stopping waits for it no longer than told")
    func silence() async throws {
        try await harness.grant("silent")
        for user in 0..<40 {
            let key = GrantKey(source: .events, subject: "v\(user)", skill: "home", region: .farEast)
            try await harness.grant("v\(user)", key)
        }
        let gate = Gate()
        harness.gateway { sent, _ in
            if sent.token == "Atza|silent" { await gate.pass() }
            return HTTPResponse(status: 202)
        }
        let worker = harness.worker()
        let endpoint = try harness.endpoint { worker.wake() }
        let task = Task { await worker.run() }
        #expect(try await harness.post(EventWorkerTests().changed(), to: endpoint).status == 202)
        await gate.arrived()
        for user in 0..<40 {
            let body = #"{"sub":"v\#(user)","deviceID":"d","kind":"removed"}"#
            #expect(try await harness.post(body, to: endpoint).status == 202)
        }
        while harness.sent.count < 41 { await Task.yield() }
        await worker.stop(within: .zero)
        task.cancel()
        await task.value
    }
}

extension EventLoopTests {
    static let lamp = #"""
        {"id":"lamp","name":"Lamp","capabilities":[
            {"interface":"PowerController","properties":["powerState"],"retrievable":true,"proactivelyReported":true},
            {"interface":"BrightnessController","properties":["brightness"],"retrievable":true}]}
        """#

    static func endpoint() throws -> DeviceEndpoint {
        try DeviceEndpoint(device: JSONValue(parsing: Array(lamp.utf8)))
    }

    static let after = [
        DeviceProperty(.init(interface: "PowerController", name: "powerState"), "ON"),
        DeviceProperty(.init(interface: "BrightnessController", name: "brightness"), 30),
    ]

    @Test("after a command by voice what the device reports by itself goes to Alexa, the rest as context")
    func voice() async throws {
        try await harness.grant()
        let worker = harness.worker()
        try await running(worker) {
            worker.reporting.discovered(subject: "u1", devices: [try Self.endpoint()])
            worker.reporting.commanded(
                subject: "u1", deviceID: "lamp", interface: "PowerController", instance: nil, properties: Self.after)
            while harness.sent.isEmpty { await Task.yield() }
        }
        let sent = try #require(harness.sent.first)
        let change = sent.event["event"]?["payload"]?["change"]
        #expect(change?["cause"]?["type"] == "VOICE_INTERACTION")
        #expect(change?["properties"]?.array?.map { $0["name"]?.string } == ["powerState"])
        #expect(sent.context.map { $0["name"]?.string } == ["brightness"])
    }

    @Test(
        "nothing is reported of a device that reports nothing, or of a user without a grant, or where nothing changed")
    func silent() async throws {
        try await harness.grant()
        let worker = harness.worker()
        try await running(worker) {
            worker.reporting.commanded(
                subject: "u1", deviceID: "lamp", interface: "PowerController", instance: nil, properties: Self.after)
            worker.reporting.discovered(subject: "u2", devices: [try Self.endpoint()])
            worker.reporting.commanded(
                subject: "u2", deviceID: "lamp", interface: "PowerController", instance: nil, properties: Self.after)
            worker.reporting.discovered(subject: "u1", devices: [try Self.endpoint()])
            worker.reporting.commanded(
                subject: "u1", deviceID: "lamp", interface: "PowerController", instance: nil, properties: [])
            worker.reporting.commanded(
                subject: "u1", deviceID: "lamp", interface: "PowerController", instance: nil,
                properties: [Self.after[1]])
            worker.reporting.commanded(
                subject: "u1", deviceID: "lamp", interface: "PowerController", instance: nil,
                properties: [Self.after[0]])
            // Reports are handled in their order, so the last one comes when the others are done with.
            while harness.sent.isEmpty { await Task.yield() }
        }
        #expect(harness.sent.count == 1)
    }
    @Test(
        "a command's answer holds the whole state: what is as it was before is context, and no change at all no report")
    func onlyWhatChanged() async throws {
        try await harness.grant()
        let worker = harness.worker()
        let lamp = Self.lamp.replacing(
            #""retrievable":true}]"#, with: #""retrievable":true,"proactivelyReported":true}]"#)
        func state(_ power: JSONValue, _ brightness: JSONValue) -> [DeviceProperty] {
            [
                DeviceProperty(.init(interface: "BrightnessController", name: "brightness"), brightness),
                DeviceProperty(.init(interface: "PowerController", name: "powerState"), power),
            ]
        }
        try await running(worker) {
            let device = try DeviceEndpoint(device: JSONValue(parsing: Array(lamp.utf8)))
            worker.reporting.discovered(subject: "u1", devices: [device])
            func command(_ interface: String, _ state: [DeviceProperty]) {
                worker.reporting.commanded(
                    subject: "u1", deviceID: "lamp", interface: interface, instance: nil, properties: state)
            }
            // Nothing is known yet, so only the controller that was told counts as changed.
            command("BrightnessController", state("ON", 30))
            while harness.sent.count < 1 { await Task.yield() }
            // Both differ now, whichever was told.
            command("BrightnessController", state("OFF", 40))
            while harness.sent.count < 2 { await Task.yield() }
            // As it was: no report. Then one that shows that the former was handled.
            command("BrightnessController", state("OFF", 40))
            command("BrightnessController", state("OFF", 41))
            while harness.sent.count < 3 { await Task.yield() }
        }
        func changed(_ place: Int) -> [String?]? {
            harness.sent[place].event["event"]?["payload"]?["change"]?["properties"]?.array?.map { $0["name"]?.string }
        }
        #expect(harness.sent.count == 3)
        #expect(changed(0) == ["brightness"])
        #expect(harness.sent[0].context.map { $0["name"]?.string } == ["powerState"])
        #expect(changed(1) == ["brightness", "powerState"])
        #expect(harness.sent[1].context.isEmpty)
        #expect(changed(2) == ["brightness"])
    }
    @Test("50 parallel directives whose changes need a refresh cause one refresh, and every change goes out")
    func parallelDirectives() async throws {
        try await harness.grant(seconds: 10)
        let worker = harness.worker()
        try await running(worker) {
            let devices = try (0..<50).map { number in
                let device = Self.lamp.replacing(#""id":"lamp""#, with: #""id":"lamp-\#(number)""#)
                return try DeviceEndpoint(device: JSONValue(parsing: Array(device.utf8)))
            }
            worker.reporting.discovered(subject: "u1", devices: devices)
            await withTaskGroup(of: Void.self) { group in
                for device in devices {
                    group.addTask {
                        worker.reporting.commanded(
                            subject: "u1", deviceID: device.deviceID, interface: "PowerController", instance: nil,
                            properties: Self.after)
                    }
                }
            }
            while harness.sent.count < 50 { await Task.yield() }
        }
        #expect(harness.refreshes.count == 1)
        #expect(Set(harness.sent.map(\.token)) == ["Atza|new-1"])
        #expect(Set(harness.sent.compactMap { $0.event["event"]?["endpoint"]?["endpointId"]?.string }).count == 50)
    }
}
