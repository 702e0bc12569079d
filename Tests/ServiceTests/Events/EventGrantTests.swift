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

@Suite("What the gateway says of a grant", .timeLimit(.minutes(5))) struct EventGrantTests {
    let harness = EventsHarness()
    static let disabled = EventsHarness.exception(403, "SKILL_DISABLED_EXCEPTION")
    static let neverEnabled = EventsHarness.exception(403, "SKILL_NEVER_ENABLED_EXCEPTION")
    static let badToken = EventsHarness.exception(401, "INVALID_ACCESS_TOKEN_EXCEPTION")

    func post() async throws { #expect(try await harness.post(EventGatewayTableTests.ring).status == 202) }
    var waiting: Int { get async throws { try await harness.store.waitingRows(by: harness.clock.deadline()) } }

    @Test(
        "EVG-1: a user of the EU whose region is not known: the others are asked once, the good one is kept",
        arguments: [disabled, neverEnabled])
    func wrongRegion(refusal: HTTPResponse) async throws {
        let key = try await harness.grant(
            "first", GrantKey(source: .events, subject: "u1", skill: "home", region: .northAmerica))
        harness.gateway { sent, _ in sent.region == .europe ? HTTPResponse(status: 202) : refusal }
        try await post()
        #expect(try await harness.worker().flush().sent == 1)
        #expect(harness.sent.map(\.region) == [.northAmerica, .europe])
        #expect(try await harness.stored(key)?.gatewayRegion == .europe)
        #expect(try await harness.stored(key)?.isSuspended == false)
        try await post()
        #expect(try await harness.worker().flush().sent == 1)
        #expect(harness.sent.map(\.region) == [.northAmerica, .europe, .europe])
    }

    @Test("EVG-1: a user of the EU is sent for in the EU, from AcceptGrant on")
    func rightRegion() async throws {
        try await harness.grant()
        harness.gateway { sent, _ in sent.region == .europe ? HTTPResponse(status: 202) : Self.disabled }
        try await post()
        #expect(try await harness.worker().flush().sent == 1)
        #expect(harness.sent.map(\.region) == [.europe])
    }

    @Test("EVG-1: disabled in all three regions: the grant is suspended, kept, and nothing is sent until a new one")
    func disabledEverywhere() async throws {
        try await harness.grant()
        harness.gateway { _, _ in Self.disabled }
        try await post()
        let worker = harness.worker()
        #expect(try await worker.flush().sent == 0)
        #expect(Set(harness.sent.map(\.region)) == Set(AlexaRegion.allCases))
        #expect(harness.sent.count == 3)
        #expect(try await harness.stored()?.isSuspended == true)
        #expect(try await harness.stored()?.credentials == harness.credentials("first"))
        harness.clock.advance(by: .seconds(3000))
        try await post()
        _ = try await worker.flush()
        #expect(harness.sent.count == 3 && harness.refreshes.isEmpty)
        harness.gateway { _, _ in HTTPResponse(status: 202) }
        try await harness.grant("second")
        try await post()
        #expect(try await worker.flush().sent > 0)
        #expect(harness.sent.last?.token == "Atza|second")
    }

    @Test("EVG-1: one 403 while another region cannot be asked suspends nothing")
    func undecided() async throws {
        try await harness.grant()
        harness.gateway { sent, _ throws(HTTPClientError) in
            if sent.region == .farEast { throw .timedOut }
            return Self.disabled
        }
        try await post()
        #expect(try await harness.worker().flush().postponed == 1)
        #expect(try await harness.stored()?.isSuspended == false)
    }

    @Test("never enabled in any region may be news that has not spread: tried again three times before it is believed")
    func unpropagated() async throws {
        try await harness.grant()
        harness.gateway { _, _ in Self.neverEnabled }
        try await post()
        let worker = harness.worker()
        for seconds in [1, 2, 4] {
            #expect(try await worker.flush().postponed == 1)
            #expect(try await harness.stored()?.isSuspended == false)
            harness.clock.advance(by: .seconds(seconds))
        }
        _ = try await worker.flush()
        #expect(try await harness.stored()?.isSuspended == true)
    }

    @Test("a grant that came while every region refused the old one is not suspended for it")
    func overtakenWhileRefused() async throws {
        try await harness.grant()
        let harness = harness
        harness.gateway { sent, count in
            if count == 3 { _ = try? await harness.grant("c2") }
            return sent.token == "Atza|c2" ? HTTPResponse(status: 202) : Self.disabled
        }
        try await post()
        let worker = harness.worker()
        #expect(try await worker.flush().postponed == 1)
        #expect(try await harness.stored()?.isSuspended == false)
        harness.clock.advance(by: .seconds(2))
        #expect(try await worker.flush().sent == 1)
    }

    @Test("a gateway that fails for two devices of a user is not asked for the others before the pause is over")
    func failsInARow() async throws {
        try await harness.grant()
        harness.gateway { _, _ in HTTPResponse(status: 500) }
        let rings = (0..<4).map { #"{"sub":"u1","deviceID":"door-\#($0)","kind":"doorbellPress"}"# }
        #expect(try await harness.post("[" + rings.joined(separator: ",") + "]").status == 202)
        let worker = harness.worker()
        #expect(try await worker.flush().postponed == 2)
        #expect(harness.sent.count == 2)
        harness.gateway { _, _ in HTTPResponse(status: 202) }
        harness.clock.advance(by: .seconds(2))
        #expect(try await worker.flush().sent == 4)
    }

    @Test("a skill of another stage suspends the grant")
    func otherStage() async throws {
        try await harness.grant()
        harness.gateway { _, _ in EventsHarness.exception(404, "SKILL_NOT_FOUND_EXCEPTION") }
        try await post()
        _ = try await harness.worker().flush()
        #expect(harness.sent.count == 1)
        #expect(try await harness.stored()?.isSuspended == true)
    }
}

extension EventGrantTests {
    @Test("401: the token is refreshed once and the same message sent once more")
    func refreshedOnce() async throws {
        try await harness.grant()
        harness.gateway { sent, _ in sent.token == "Atza|new-1" ? HTTPResponse(status: 202) : Self.badToken }
        try await post()
        #expect(try await harness.worker().flush().sent == 1)
        #expect(harness.sent.map(\.token) == ["Atza|first", "Atza|new-1"])
        #expect(Set(harness.sent.map(\.messageID)).count == 1)
        #expect(harness.refreshes.count == 1)
    }

    @Test(
        "401 again with the new token, or a refresh refused for good: grant and lane are deleted",
        arguments: [true, false])
    func ended(isRefreshed: Bool) async throws {
        try await harness.grant()
        harness.gateway { _, _ in Self.badToken }
        if !isRefreshed { harness.lwa { _, _ in EventsHarness.refused("invalid_grant") } }
        try await post()
        let worker = harness.worker()
        #expect(try await worker.flush() == FlushReport())
        #expect(harness.sent.count == (isRefreshed ? 2 : 1))
        #expect(harness.refreshes.count == 1)
        #expect(try await harness.stored() == nil)
        #expect(try await waiting == 0)
        #expect(harness.logText.contains(isRefreshed ? "gateway.invalidAccessToken" : "grant.revoked"))
    }

    @Test("401 while Login with Amazon cannot be reached: the grant stays and the event waits")
    func refreshFails() async throws {
        try await harness.grant()
        harness.gateway { _, _ in Self.badToken }
        harness.lwa { _, _ throws(HTTPClientError) in throw .timedOut }
        try await post()
        #expect(try await harness.worker().flush().postponed == 1)
        #expect(try await harness.stored() != nil)
    }

    @Test("a grant that came while the old token was refused is not deleted for it")
    func overtaken() async throws {
        try await harness.grant()
        let harness = harness
        harness.gateway { sent, count in
            if count == 2 { _ = try? await harness.grant("c2") }
            return sent.token == "Atza|c2" ? HTTPResponse(status: 202) : Self.badToken
        }
        try await post()
        let worker = harness.worker()
        #expect(try await worker.flush().postponed == 1)
        #expect(try await harness.stored()?.credentials == harness.credentials("c2"))
        harness.clock.advance(by: .seconds(2))
        #expect(try await worker.flush().sent == 1)
    }

    @Test("OPS-6: dead refresh tokens and nobody to refresh at hold nothing up; nothing is asked before it is needed")
    func startUp() async throws {
        for user in 0..<50 {
            let key = GrantKey(source: .events, subject: "u\(user)", skill: "home", region: .europe)
            try await harness.grant("dead-\(user)", key, seconds: -1)
        }
        harness.lwa { _, _ throws(HTTPClientError) in throw .timedOut }
        let worker = harness.worker()
        #expect(try await worker.flush() == FlushReport())
        #expect(harness.refreshes.isEmpty)
        try await post()
        #expect(try await worker.flush().postponed == 1)
        #expect(harness.refreshes.count == 1)
        #expect(try await worker.flush().postponed == 0)
        #expect(harness.refreshes.count == 1)
    }
}
