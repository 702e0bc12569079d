import Alexa
import JSON
import Storage
import TestSupport
import Testing
import Time

@Suite("Changes that wait together, in either store", .timeLimit(.minutes(5))) struct OutboxMergeTests {
    @Test("EVG-3: a thousand changes of one property leave one row, the last", arguments: StoreKind.allCases)
    func thousand(kind: StoreKind) async throws {
        try await kind.with { store, clock in
            try await store.open(key())
            for value in 1...1000 {
                let outcome = try await store.post([changed([brightness(Int64(value))])], by: soon)
                #expect(outcome == PostOutcome(rows: 1))
                clock.advance(by: .milliseconds(10))
            }
            #expect(try await store.waitingRows(by: soon) == 1)
            #expect(try await store.drain().map(\.properties) == [[brightness(1000)]])
        }
    }

    @Test("EVG-3: while one is in flight the rest become one more row", arguments: StoreKind.allCases)
    func inFlight(kind: StoreKind) async throws {
        try await kind.with { store, clock in
            try await store.open(key())
            try await store.post([changed([brightness(0)])], by: soon)
            let lane = try #require(try await store.lease())
            for value in 1...100 { try await store.post([changed([brightness(Int64(value))])], by: soon) }
            #expect(try await store.waitingRows(by: soon) == 2)
            try await store.postpone(lane.rows[0], until: clock.now, lane.lease, by: soon)
            try await store.releaseLane(lane.lease, by: soon)
            let again = try #require(try await store.lease())
            #expect(again.rows.map(\.messageID) == [lane.rows[0].messageID])
            #expect(again.rows.map(\.body) == [lane.rows[0].body], "what was in flight is unchanged")
            try await store.finish(again.rows[0], again.lease, by: soon)
            try await store.releaseLane(again.lease, by: soon)
            #expect(try await store.drain().map(\.properties) == [[brightness(100)]])
        }
    }

    @Test("a merged row has a new message id and life, and keeps its turn and attempts", arguments: StoreKind.allCases)
    func renewed(kind: StoreKind) async throws {
        try await kind.with { store, clock in
            try await store.open(key())
            try await store.post([changed([brightness(1)])], by: soon)
            let lane = try #require(try await store.lease())
            let due = clock.now.adding(seconds: 60)
            try await store.postpone(lane.rows[0], until: due, lane.lease, by: soon)
            try await store.releaseLane(lane.lease, by: soon)
            clock.advance(by: .seconds(30))
            try await store.post([changed([brightness(2)], cause: "APP_INTERACTION")], by: soon)
            #expect(try await store.lease() == nil, "no earlier than before")
            #expect(try await store.nextDue(by: soon) == due)
            clock.advance(by: .seconds(30))
            let row = try #require(try await store.lease()?.rows.first)
            #expect(row.messageID != lane.rows[0].messageID)
            #expect(row.sequence == lane.rows[0].sequence)
            #expect(row.attempts == 1)
            #expect(row.expiresAt == due.adding(seconds: 86_400 - 30))
            #expect(row.body["cause"] == "APP_INTERACTION")
            #expect(row.properties == [brightness(2)])
        }
    }

    @Test("only the last row of the same device and lane is joined", arguments: StoreKind.allCases)
    func lastAlone(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await store.open(key())
            try await store.post([changed([brightness(1)]), event(.doorbellPress), changed([brightness(2)])], by: soon)
            try await store.post([changed("d2", [brightness(3)]), changed([brightness(4)])], by: soon)
            try await store.post([event(.removed), changed([brightness(5)])], by: soon)
            let sent = try await store.drain()
            #expect(sent.filter { $0.deviceID == "d2" }.map(\.properties) == [[brightness(3)]])
            let own = sent.filter { $0.deviceID == "d1" }
            #expect(own.map(\.kind) == [.changed, .doorbellPress, .changed, .removed, .changed])
            #expect(own.compactMap(\.properties) == [[brightness(1)], [brightness(4)], [brightness(5)]])
        }
    }

    @Test("events of other kinds never join", arguments: StoreKind.allCases)
    func otherKinds(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await store.open(key())
            for event in PostedEvent.Kind.allCases where event != .changed {
                try await store.post([StorageTests.event(event), StorageTests.event(event)], by: soon)
            }
            #expect(try await store.waitingRows(by: soon) == 2 * (PostedEvent.Kind.allCases.count - 1))
        }
    }

    @Test("a change that expired is not joined", arguments: StoreKind.allCases)
    func expired(kind: StoreKind) async throws {
        try await kind.with { store, clock in
            try await store.open(key())
            try await store.post([changed([power("ON")])], by: soon)
            clock.advance(by: .seconds(86_400))
            try await store.post([changed([brightness(1)])], by: soon)
            #expect(try await store.dropExpired(by: soon) == [.changed: 1])
            #expect(try await store.drain().map(\.properties) == [[brightness(1)]])
        }
    }

    static let merges:
        [(name: String, older: PostedEvent, newer: PostedEvent, properties: [JSONValue], state: [JSONValue]?)] =
            [
                (
                    "another property", changed([power("ON")]), changed([brightness(2)]), [power("ON"), brightness(2)],
                    nil
                ),
                (
                    "both", changed([power("ON"), brightness(1)]), changed([brightness(2)]),
                    [power("ON"), brightness(2)], nil
                ),
                (
                    "another instance",
                    changed([property("ToggleController", "toggleState", "ON", instance: "a")]),
                    changed([property("ToggleController", "toggleState", "OFF", instance: "b")]),
                    [
                        property("ToggleController", "toggleState", "ON", instance: "a"),
                        property("ToggleController", "toggleState", "OFF", instance: "b"),
                    ], nil
                ),
                (
                    "what changed before and is only told now", changed([power("ON")]),
                    changed([brightness(2)], state: [power("OFF"), brightness(2)]), [power("OFF"), brightness(2)], []
                ),
                (
                    "what was told before and changes now", changed([power("ON")], state: [brightness(1)]),
                    changed([brightness(2)]), [power("ON"), brightness(2)], []
                ),
                (
                    "what is told twice",
                    changed([power("ON")], state: [brightness(1), property("LockController", "lockState", "LOCKED")]),
                    changed([power("OFF")], state: [brightness(2)]), [power("OFF")],
                    [brightness(2), property("LockController", "lockState", "LOCKED")]
                ),
            ]

    @Test("the newest value of each property wins", arguments: StoreKind.allCases, merges.indices)
    func newest(kind: StoreKind, index: Int) async throws {
        let merge = Self.merges[index]
        try await kind.with { store, _ in
            try await store.open(key())
            try await store.post([merge.older], by: soon)
            try await store.post([merge.newer], by: soon)
            let sent = try await store.drain()
            #expect(sent.map(\.properties) == [merge.properties], "\(merge.name)")
            #expect(sent.map(\.state) == [merge.state], "\(merge.name)")
        }
    }
}
