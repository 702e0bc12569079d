import Alexa
import JSON
import Storage
import TestSupport
import Testing
import Time

@Suite("Known states, bounds and device ids in either store", .timeLimit(.minutes(5))) struct OutboxStateTests {
    let lock = PropertyKey(interface: "LockController", name: "lockState")
    let light = PropertyKey(interface: "BrightnessController", name: "brightness")

    @Test("the last value of each property is known, however it was told", arguments: StoreKind.allCases)
    func known(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await store.open(key())
            try await store.post([changed([brightness(1)], state: [power("ON"), brightness(1)])], by: soon)
            try await store.post([changed([brightness(2)]), changed("d2", [power("OFF")])], by: soon)
            let state = try await store.knownState(subject: "u1", deviceID: "d1", by: soon)
            #expect(state == KnownState(properties: [power("ON"), brightness(2)], reported: []))
            let other = try await store.knownState(subject: "u1", deviceID: "d2", by: soon)
            #expect(other?.properties == [power("OFF")])
            for (subject, device) in [("u1", "d3"), ("u2", "d1"), ("", "")] {
                #expect(try await store.knownState(subject: subject, deviceID: device, by: soon) == nil)
            }
        }
    }

    @Test("which properties a device reports by itself is kept beside its values", arguments: StoreKind.allCases)
    func reported(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await store.open(key())
            let instance = PropertyKey(interface: "ToggleController", instance: "a", name: "toggleState")
            try await store.noteDevices(
                subject: "u1",
                [NotedDevice(deviceID: "d1", reported: [light, instance]), NotedDevice(deviceID: "d2", reported: [])],
                by: soon)
            try await store.post([changed([brightness(2)])], by: soon)
            let state = try await store.knownState(subject: "u1", deviceID: "d1", by: soon)
            #expect(state == KnownState(properties: [brightness(2)], reported: [light, instance]))
            #expect(try await store.knownState(subject: "u1", deviceID: "d2", by: soon) == KnownState())
            try await store.noteDevices(
                subject: "u1", [NotedDevice(deviceID: "d1", reported: [lock])], by: soon)
            let noted = try await store.knownState(subject: "u1", deviceID: "d1", by: soon)
            #expect(noted == KnownState(properties: [brightness(2)], reported: [lock]))
        }
    }

    @Test("an added device brings what it reports; a removed one is forgotten", arguments: StoreKind.allCases)
    func addedAndRemoved(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await store.open(key())
            var added = event(.added)
            added.reported = [light]
            try await store.post([changed([power("ON")]), added, changed("d2", [power("ON")])], by: soon)
            let state = try await store.knownState(subject: "u1", deviceID: "d1", by: soon)
            #expect(state == KnownState(properties: [power("ON")], reported: [light]))
            try await store.post([event(.removed)], by: soon)
            #expect(try await store.knownState(subject: "u1", deviceID: "d1", by: soon) == nil)
            #expect(try await store.knownState(subject: "u1", deviceID: "d2", by: soon) != nil)
        }
    }

    @Test("a suspended grant keeps the state going", arguments: StoreKind.allCases)
    func suspended(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await store.open(key())
            try await store.setSuspended(true, grant: key(), version: 1, by: soon)
            #expect(try await store.post([changed([power("ON")])], by: soon) == PostOutcome())
            let state = try await store.knownState(subject: "u1", deviceID: "d1", by: soon)
            #expect(state?.properties == [power("ON")])
        }
    }

    @Test("a posting whose second event is too large writes nothing", arguments: StoreKind.allCases)
    func allOrNone(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await store.open(key())
            let rest = JSONValue.object(changed([property("A", "b", "")]).body).encoded().count
            let fitting = String(repeating: "x", count: PostedEvent.bodyLimitBytes - rest)
            for excess in ["x", "xx", fitting] {
                await #expect(throws: OutboxError.tooLarge(index: 1)) {
                    try await store.post(
                        [changed([brightness(1)]), changed("d2", [property("A", "b", .string(fitting + excess))])],
                        by: soon)
                }
            }
            #expect(try await store.waitingRows(by: soon) == 0)
            #expect(try await store.knownState(subject: "u1", deviceID: "d1", by: soon) == nil)
            let large = changed([property("A", "b", .string(fitting))])
            #expect(try await store.post([large], by: soon).rows == 1)
            // What would grow over the limit by merging waits beside the other.
            try await store.post([changed([brightness(1)])], by: soon)
            #expect(try await store.waitingRows(by: soon) == 2)
        }
    }

    @Test("EVG-3: a full lane loses its oldest change, and no row in flight", arguments: StoreKind.allCases)
    func full(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await store.open(key(), key(subject: "u2"))
            try await store.post([event(.added, "first")], by: soon)
            try await store.post([changed("in flight", [brightness(0)])], by: soon)
            let lane = try #require(try await store.lease())
            #expect(lane.rows.count == 2)
            try await store.post([event(.added, "kept")], by: soon)
            let count = LeasedLane.waitingLimit - 3
            let changes = (1...count).map { changed("d\($0)", [brightness(1)]) }
            #expect(try await store.post(changes, by: soon) == PostOutcome(rows: count))
            let more = try await store.post(
                [changed("e1", [power("ON")]), event(.added, "e2"), event(.added, "u", subject: "u2")], by: soon)
            #expect(more == PostOutcome(rows: 3, dropped: 2))
            #expect(try await store.waitingRows(by: soon) == LeasedLane.waitingLimit + 1)
            #expect(try await store.finish(lane.rows[0], lane.lease, by: soon))
            #expect(try await store.finish(lane.rows[1], lane.lease, by: soon))
            try await store.releaseLane(lane.lease, by: soon)
            #expect(try await store.lease()?.rows.map(\.deviceID) == ["kept"] + (3...51).map { "d\($0)" })
            #expect(try await store.clearLane(key(), by: soon) == LeasedLane.waitingLimit - 2)
        }
    }

    @Test("so many devices of a user are remembered, then the least lately heard of go", arguments: StoreKind.allCases)
    func manyDevices(kind: StoreKind) async throws {
        try await kind.with { store, clock in
            try await store.open(key(), key(subject: "u2"))
            try await store.noteDevices(
                subject: "u2", [NotedDevice(deviceID: "0", reported: [])], by: soon)
            let devices = (1...KnownState.deviceLimit).map { NotedDevice(deviceID: "\($0)", reported: []) }
            try await store.noteDevices(subject: "u1", devices, by: soon)
            clock.advance(by: .seconds(1))
            try await store.post([changed("1", [power("ON")]), changed("new", [power("ON")])], by: soon)
            #expect(try await store.knownState(subject: "u1", deviceID: "1", by: soon) != nil)
            #expect(try await store.knownState(subject: "u1", deviceID: "new", by: soon) != nil)
            #expect(try await store.knownState(subject: "u1", deviceID: "10", by: soon) == nil)
            #expect(try await store.knownState(subject: "u1", deviceID: "1000", by: soon) != nil)
            #expect(try await store.knownState(subject: "u2", deviceID: "0", by: soon) != nil)
        }
    }

    @Test("a device id is found by its digest; the first of a digest stays", arguments: StoreKind.allCases)
    func endpointIDs(kind: StoreKind) async throws {
        try await kind.withShared(2) { stores, _ in
            try await stores[0].keep(digest: "a1", deviceID: "device", by: soon)
            try await stores[1].keep(digest: "a1", deviceID: "another", by: soon)
            #expect(try await stores[1].deviceID(digest: "a1", by: soon) == "device")
            for digest in ["", "A1", "a2"] {
                #expect(try await stores[0].deviceID(digest: digest, by: soon) == nil)
            }
        }
    }

    @Test("EVG-1: the region that took an event is kept for that grant, until the next", arguments: StoreKind.allCases)
    func gateway(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await store.open(key(), key(subject: "u2"))
            #expect(try await store.grant(key(), by: soon)?.gatewayRegion == nil)
            for version: Int64 in [0, 2, -1] {
                #expect(try await !store.rememberGateway(.europe, grant: key(), version: version, by: soon))
            }
            #expect(try await !store.rememberGateway(.europe, grant: key(subject: "u3"), version: 1, by: soon))
            guard case .owned(let grant) = try await store.leaseGrant(key(), owner: "w", for: .seconds(9), by: soon)
            else {
                Issue.record("the grant is free")
                return
            }
            #expect(try await store.rememberGateway(.farEast, grant: key(), version: 1, by: soon))
            // A refresh that was under way is written all the same, and the region outlives it.
            #expect(
                try await store.refresh(
                    key(), with: credentials("b"), owner: "w", version: grant.version, by: soon))
            #expect(try await store.setSuspended(true, grant: key(), version: 2, by: soon))
            #expect(try await store.grant(key(), by: soon)?.gatewayRegion == .farEast)
            #expect(try await store.grants(of: "u1", by: soon).map(\.gatewayRegion) == [.farEast])
            #expect(try await store.grant(key(subject: "u2"), by: soon)?.gatewayRegion == nil)
            try await store.put(credentials("c"), for: key(), sequence: 9, by: soon)
            #expect(try await store.grant(key(), by: soon)?.gatewayRegion == nil)
        }
    }
}
