import Alexa
import Concurrency
import HTTP
import JSON
import Service
import Telemetry
import TestSupport
import Testing
import Time

@Suite("Smart home: discovery against the clock", .timeLimit(.minutes(5))) struct DiscoveryDeadlineTests {
    /// How a provider is too slow.
    enum Slowness: String, CaseIterable, CustomTestStringConvertible {
        case nineSeconds, fivePages, endless
        var testDescription: String { rawValue }

        /// Every page with its time.
        func answer(_ clock: ManualClock) -> RecordingHTTPClient.Answer {
            switch self {
            case .nineSeconds: clock.slowly(.seconds(9), Provided.pages(["": Provided.page([])]))
            case .fivePages: clock.slowly(.seconds(2), DiscoveryDeadlineTests.fivePages)
            case .endless: clock.slowly(.seconds(86_400), Provided.pages([:]))
            }
        }

        /// What the log says of the pages.
        var times: String {
            switch self {
            case .nineSeconds, .endless: "4000 ms"
            case .fivePages: "2000 2000 2000 500 ms"
            }
        }
    }

    static let fivePages = Provided.pages([
        "": Provided.page([Provided.device("1")], cursor: "p2"),
        "p2": Provided.page([Provided.device("2")], cursor: "p3"),
        "p3": Provided.page([Provided.device("3")], cursor: "p4"),
        "p4": Provided.page([Provided.device("4")], cursor: "p5"), "p5": Provided.page([Provided.device("5")]),
    ])

    @Test(
        "SHR-8: a list that takes too long is BRIDGE_UNREACHABLE within 7 seconds, with the time per page in the log",
        arguments: Slowness.allCases)
    func tooSlow(slowness: Slowness) async throws {
        let clock = ManualClock()
        let harness = try SmartHomeHarness(servers: .init(devices: slowness.answer(clock)), clock: clock)
        let start = clock.instant
        let event = try await harness.event(SmartHomeHarness.discover(token: try harness.token()))
        #expect(event.errorType == "BRIDGE_UNREACHABLE")
        #expect(start.duration(to: clock.instant) <= .milliseconds(6500))
        let line = try #require(harness.logLines("discovery deadline").first)
        #expect(line.contains(slowness.times))
        #expect(try await harness.trace().reason == "resource.timedOut")
        #expect(try SmartHomeSchema.fault(of: event) == nil)
    }

    @Test(
        "SHR-8: where there was a whole list before, that one is sent; to its user and skill only",
        arguments: Slowness.allCases)
    func lastWholeList(slowness: Slowness) async throws {
        let clock = ManualClock()
        let other = SmartHomeSkill(name: "other", providerClient: "alexa", scopes: [], events: nil)
        let harness = try SmartHomeHarness(
            skills: [SmartHomeHarness.home, other], servers: .init(devices: Self.fivePages), clock: clock)
        let home = "/alexa/smart-home?skill=home"
        let whole = try await harness.event(SmartHomeHarness.discover(token: try harness.token()), target: home)
        harness.servers.withLock { $0.devices = slowness.answer(clock) }
        let start = clock.instant
        let again = try await harness.event(SmartHomeHarness.discover(token: try harness.token()), target: home)
        #expect(start.duration(to: clock.instant) <= .milliseconds(6500))
        #expect(again.eventName == "Alexa.Discovery/Discover.Response")
        #expect(again["event"]?["payload"]?["endpoints"]?.array?.count == 5)
        #expect(again["event"]?["payload"] == whole["event"]?["payload"])
        #expect(again.header("messageId") != whole.header("messageId"))
        #expect(harness.logLines("discovery deadline").count == 1)
        // What is not new is not reported as found.
        #expect(harness.reports.discovered.count == 1)
        for (subject, target) in [("u2", home), ("u1", "/alexa/smart-home?skill=other")] {
            let event = try await harness.event(
                SmartHomeHarness.discover(token: try harness.token(subject: subject)), target: target)
            #expect(event.errorType == "BRIDGE_UNREACHABLE")
        }
    }

    @Test("a provider that answers that something is wrong gets no old list in its place")
    func failureIsNoSlowness() async throws {
        for (outcome, type) in [
            (.success(.json("{}", status: 500)), "INTERNAL_ERROR"),
            (.success(.json("{}", status: 403)), "INSUFFICIENT_PERMISSIONS"),
            (.failure(.unreachable("")), "BRIDGE_UNREACHABLE"),
        ] as [(Result<HTTPResponse, HTTPClientError>, String)] {
            let harness = try SmartHomeHarness(servers: .init(devices: Self.fivePages))
            _ = try await harness.discovered()
            harness.servers.withLock { $0.devices = { _, _ throws(HTTPClientError) in try outcome.get() } }
            let event = try await harness.event(SmartHomeHarness.discover(token: try harness.token()))
            #expect(event.errorType == type)
            #expect(harness.logLines("discovery deadline").isEmpty)
        }
    }

    @Test("pages that together stay within the time are all sent")
    func inTime() async throws {
        let clock = ManualClock()
        let harness = try SmartHomeHarness(
            servers: .init(devices: clock.slowly(.milliseconds(1300), Self.fivePages)), clock: clock)
        #expect(try await harness.discovered().count == 5)
    }

    @Test("the old lists of a crowd stay within their room, and the latest of them are there")
    func bounded() async throws {
        let clock = ManualClock()
        let cookie: JSONObject = ["cookie": ["k": .string(String(repeating: "x", count: 4900))]]
        let devices = (1...300).map { Provided.device("d\($0)", cookie) }
        let harness = try SmartHomeHarness(
            servers: .init(devices: Provided.pages(["": Provided.page(devices)])), clock: clock)
        // A list is 1.6 MB; there is room for 32 MB.
        for number in 1...24 {
            let event = try await harness.event(
                SmartHomeHarness.discover(token: try harness.token(subject: "u\(number)")))
            #expect(event.eventName == "Alexa.Discovery/Discover.Response")
        }
        harness.servers.withLock { $0.devices = Slowness.endless.answer(clock) }
        var kept: [Int] = []
        for number in 1...24 {
            let event = try await harness.event(
                SmartHomeHarness.discover(token: try harness.token(subject: "u\(number)")))
            if event.eventName == "Alexa.Discovery/Discover.Response" { kept.append(number) }
        }
        #expect(kept.last == 24)
        #expect((10...20).contains(kept.count))
    }
}
