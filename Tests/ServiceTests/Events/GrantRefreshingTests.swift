import Alexa
import Concurrency
import Crypto
import FoundationEssentials
import HTTP
import JSON
import Service
import Storage
import TestSupport
import Testing
import Time

@Suite("Refreshing Amazon's tokens", .timeLimit(.minutes(5))) struct GrantRefreshingTests {
    let harness = EventsHarness()
    let key = EventsHarness.key
    /// So far ahead that no busy machine reaches a deadline.
    let ahead = ContinuousClock.now.advanced(by: .seconds(3600))

    func token(_ refreshing: GrantRefreshing? = nil, insteadOf rejected: Secret? = nil) async throws -> String {
        let refreshing = refreshing ?? harness.refreshing()
        return try await refreshing.grant(for: key, insteadOf: rejected, by: soon)
            .credentials.accessToken.exposed
    }

    @Test("EVG-2: a token of an hour is used at 3200 s, and refreshed first at 3400 s and after a day's standby")
    func margin() async throws {
        try await harness.grant()
        harness.clock.advance(by: .seconds(3200))
        #expect(try await token() == "Atza|first")
        #expect(harness.refreshes.isEmpty)
        harness.clock.advance(by: .seconds(200))
        #expect(try await token() == "Atza|new-1")
        #expect(try await harness.stored()?.credentials.expiresAt == harness.clock.now.adding(seconds: 3600))
        harness.clock.advance(by: .seconds(86_600))
        #expect(try await token() == "Atza|new-2")
        #expect(harness.refreshes.count == 2)
        #expect(harness.refreshes[0]["grant_type"] == "refresh_token")
        #expect(harness.refreshes[0]["refresh_token"] == "Atzr|first")
        #expect(harness.refreshes[0]["client_secret"] == "marker-pair-secret")
    }

    @Test("299 s are too little, 300 s are enough")
    func exactMargin() async throws {
        try await harness.grant(seconds: 300)
        #expect(try await token() == "Atza|first")
        harness.clock.advance(by: .milliseconds(1))
        #expect(try await token() == "Atza|new-1")
    }

    @Test("50 needs at once cause one refresh, and all get its token")
    func oneInProcess() async throws {
        try await harness.grant(seconds: 10)
        let refreshing = harness.refreshing()
        let tokens = try await tokens(of: [refreshing], count: 50)
        #expect(tokens == ["Atza|new-1"])
        #expect(harness.refreshes.count == 1)
    }

    @Test("50 needs of two processes on one file cause one refresh, and all get its token")
    func oneAmongProcesses() async throws {
        try await withEventsFolder { folder in
            let keys = try SealingKeys(text: Secret(Base64.encode(SecureRandom.bytes(32))), origin: "test")
            let stores = try (0..<2).map { _ in
                try SQLiteStore(url: "sqlite:\(folder)/store.sqlite", keys: keys, clock: harness.clock.wall)
            }
            try await stores[0].put(harness.credentials("first", seconds: 10), for: key, sequence: 1, by: soon)
            let tokens = try await tokens(of: stores.map { harness.refreshing($0, now: { ahead }) }, count: 50)
            #expect(tokens == ["Atza|new-1"])
            #expect(harness.refreshes.count == 1)
        }
    }

    private var soon: Deadline { Deadline(at: ahead) }

    /// The tokens that `count` needs, dealt out among `refreshings`, got.
    private func tokens(of refreshings: [GrantRefreshing], count: Int) async throws -> Set<String> {
        try await withThrowingTaskGroup(of: String.self) { group in
            for index in 0..<count {
                group.addTask { try await token(refreshings[index % refreshings.count]) }
            }
            return try await group.reduce(into: []) { $0.insert($1) }
        }
    }
}

extension GrantRefreshingTests {
    @Test("a refresh token that Amazon replaced is stored before the new access token is used")
    func rotation() async throws {
        try await harness.grant(seconds: 10)
        harness.lwa { form, count in
            form["refresh_token"] == (count == 1 ? "Atzr|first" : "Atzr|second")
                ? EventsHarness.tokens("new-\(count)", rotated: "second") : EventsHarness.refused("invalid_grant")
        }
        #expect(try await token() == "Atza|new-1")
        #expect(try await harness.stored()?.credentials.refreshToken == Secret("Atzr|second"))
        harness.clock.advance(by: .seconds(3600))
        #expect(try await token() == "Atza|new-2")
    }

    @Test("tokens that cannot be stored are not used")
    func uncommitted() async throws {
        try await harness.grant(seconds: 10)
        let store = ForwardingStore(harness.store, refusing: harness.clock)
        await #expect(throws: GrantRefreshingError.store(.unavailable("disk full"))) {
            try await token(harness.refreshing(store))
        }
        #expect(try await harness.stored()?.credentials.accessToken == Secret("Atza|first"))
    }

    @Test("invalid_grant ends the grant and clears its lane, and no other")
    func invalidGrant() async throws {
        try await harness.grant(seconds: 10)
        let other = GrantKey(source: .events, subject: "u1", skill: "other", region: .europe)
        try await harness.grant("other", other)
        let event = PostedEvent(subject: "u1", deviceID: "lamp", kind: .removed, body: [:])
        #expect(try await harness.store.post([event], by: harness.clock.deadline()).rows == 2)
        harness.lwa { _, _ in EventsHarness.refused("invalid_grant") }
        await #expect(throws: GrantRefreshingError.revoked) { try await token() }
        #expect(try await harness.stored() == nil)
        #expect(try await harness.stored(other) != nil)
        #expect(try await harness.store.waitingRows(by: harness.clock.deadline()) == 1)
        await #expect(throws: GrantRefreshingError.absent) { try await token() }
        #expect(harness.refreshes.count == 1)
    }

    @Test(
        "whatever else Login with Amazon answers leaves the grant as it is, and the next need asks again",
        arguments: [
            EventsHarness.refused("invalid_client", status: 401), EventsHarness.refused("invalid_request"),
            EventsHarness.refused("server_error", status: 503), HTTPResponse(status: 429), HTTPResponse(status: 200),
        ])
    func otherFailures(answer: HTTPResponse) async throws {
        try await harness.grant(seconds: 10)
        let before = try await harness.stored()
        harness.lwa { _, count in count == 1 ? answer : EventsHarness.tokens("new") }
        let refreshing = harness.refreshing()
        await #expect(throws: GrantRefreshingError.self) { try await token(refreshing) }
        #expect(try await harness.stored() == before)
        #expect(try await token(refreshing) == "Atza|new")
    }

    @Test("AG-4: c2 while c1's refresh is running: the tokens of c2 stay, and are the ones that the refresh gives")
    func overtaken() async throws {
        try await harness.grant("c1", seconds: 10)
        let harness = harness
        harness.lwa { _, _ in
            _ = try? await harness.grant("c2")
            return EventsHarness.tokens("refreshed", rotated: "refreshed")
        }
        #expect(try await token() == "Atza|c2")
        #expect(try await harness.stored()?.credentials == harness.credentials("c2"))
        #expect(try await harness.store.grants(of: "u1", by: harness.clock.deadline()).count == 1)
    }

    @Test("AG-4: c2 while c1's refresh is refused: the grant of c2 stays")
    func overtakenAndRefused() async throws {
        try await harness.grant("c1", seconds: 10)
        let harness = harness
        harness.lwa { _, _ in
            _ = try? await harness.grant("c2")
            return EventsHarness.refused("invalid_grant")
        }
        #expect(try await token() == "Atza|c2")
        #expect(try await harness.stored()?.credentials == harness.credentials("c2"))
    }

    @Test("a token that Amazon rejects is refreshed however long it should last, another one is not")
    func rejected() async throws {
        try await harness.grant()
        #expect(try await token(insteadOf: Secret("Atza|older")) == "Atza|first")
        #expect(try await token(insteadOf: Secret("Atza|first")) == "Atza|new-1")
        #expect(harness.refreshes.count == 1)
    }

    @Test("no token and no secret is in any log line")
    func secrets() async throws {
        try await harness.grant(seconds: 10)
        _ = try await token()
        harness.clock.advance(by: .seconds(7200))
        harness.lwa { _, _ in EventsHarness.refused("invalid_grant") }
        _ = try? await token()
        let text = harness.logText
        #expect(text.contains("grant.revoked"))
        for word in ["Atza", "Atzr", "marker"] { #expect(!text.contains(word)) }
    }
}
