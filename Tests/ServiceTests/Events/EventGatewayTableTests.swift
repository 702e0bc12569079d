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

@Suite("The gateway's table of errors", .timeLimit(.minutes(5))) struct EventGatewayTableTests {
    let harness = EventsHarness()

    static let ring = #"{"sub":"u1","deviceID":"lamp","kind":"removed"}"#

    func post() async throws { #expect(try await harness.post(Self.ring).status == 202) }
    var waiting: Int { get async throws { try await harness.store.waitingRows(by: harness.clock.deadline()) } }

    @Test(
        "what is wrong with the message is logged and dropped; the grant stays",
        arguments: [
            EventsHarness.exception(400, "INVALID_REQUEST_EXCEPTION"),
            EventsHarness.exception(404, "ACCOUNT_NOT_FOUND_EXCEPTION"),
            EventsHarness.exception(413, "REQUEST_ENTITY_TOO_LARGE_EXCEPTION"), HTTPResponse(status: 400),
            HTTPResponse(status: 413),
        ])
    func dropped(answer: HTTPResponse) async throws {
        try await harness.grant()
        try await post()
        harness.gateway { _, _ in answer }
        let before = try await harness.stored()
        #expect(try await harness.worker().flush().dropped == 1)
        #expect(try await waiting == 0)
        #expect(try await harness.stored() == before)
        #expect(harness.sent.count == 1 && harness.refreshes.isEmpty)
        #expect(harness.logText.contains("an event was given up"))
    }

    @Test(
        "what may mend itself is tried again after 1, 2, 4 … 48 s; the grant stays, and no token is refreshed",
        arguments: [
            EventsHarness.exception(429, "THROTTLING_EXCEPTION"),
            EventsHarness.exception(500, "INTERNAL_SERVICE_EXCEPTION"),
            EventsHarness.exception(503, "SERVICE_UNAVAILABLE_EXCEPTION"), HTTPResponse(status: 502),
            EventsHarness.exception(403, "INSUFFICIENT_PERMISSION_EXCEPTION"), HTTPResponse(status: 418),
            HTTPResponse(status: 503, body: Array("<html>busy</html>".utf8)),
        ])
    func postponed(answer: HTTPResponse) async throws {
        try await harness.grant(seconds: 400_000)
        try await post()
        harness.gateway { _, _ in answer }
        let before = try await harness.stored()
        let worker = harness.worker()
        for (index, seconds) in [1, 2, 4, 8, 16, 32, 48, 48].enumerated() {
            #expect(try await worker.flush().postponed == 1)
            #expect(harness.sent.count == index + 1)
            harness.clock.advance(by: .milliseconds(seconds * 1000 - 1))
            #expect(try await worker.flush().postponed == 0)
            harness.clock.advance(by: .milliseconds(1))
        }
        #expect(try await harness.stored() == before)
        #expect(harness.refreshes.isEmpty)
        harness.gateway { _, _ in HTTPResponse(status: 202) }
        #expect(try await worker.flush().sent == 1)
        #expect(Set(harness.sent.map(\.messageID)).count == 1)
    }

    @Test("EVG-5: 500, 503 with HTML and a reset connection, then 202: tried again, the grant untouched, no refresh")
    func amazonsSide() async throws {
        try await harness.grant(seconds: 400_000)
        try await post()
        let before = try await harness.stored()
        harness.gateway { _, count throws(HTTPClientError) in
            switch count {
            case 1: return EventsHarness.exception(500, "INTERNAL_SERVICE_EXCEPTION")
            case 2: return HTTPResponse(status: 503, body: Array("<html>".utf8))
            case 3: throw .broken("reset")
            default: return HTTPResponse(status: 202)
            }
        }
        let worker = harness.worker()
        for seconds in [1, 2, 4] {
            #expect(try await worker.flush().postponed == 1)
            harness.clock.advance(by: .seconds(seconds))
        }
        #expect(try await worker.flush().sent == 1)
        #expect(harness.sent.count == 4 && harness.refreshes.isEmpty)
        #expect(try await harness.stored()?.credentials == before?.credentials)
    }

    @Test("EVG-5: a newer state replaces the one that waits, and what nobody took is dropped after a day, not before")
    func day() async throws {
        try await harness.grant(seconds: 400_000)
        let worker = harness.worker()
        let tests = EventWorkerTests()
        harness.gateway { _, _ throws(HTTPClientError) in throw .timedOut }
        #expect(try await harness.post(tests.changed("lamp", EventWorkerTests.property("brightness", 1))).status == 202)
        #expect(try await worker.flush().postponed == 1)
        #expect(try await harness.post(tests.changed("lamp", EventWorkerTests.property("brightness", 2))).status == 202)
        #expect(try await waiting == 1)
        harness.clock.advance(by: .seconds(86_399))
        #expect(try await worker.flush().postponed == 1)
        let sent = try #require(harness.sent.last?.event["event"]?["payload"]?["change"]?["properties"]?.array)
        #expect(sent.map { $0["value"]?.integer } == [2])
        harness.clock.advance(by: .seconds(1))
        #expect(try await worker.flush().dropped == 1)
        #expect(try await waiting == 0)
        #expect(harness.logText.contains("events.expired"))
    }
}
