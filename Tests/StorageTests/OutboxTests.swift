import Alexa
import JSON
import Storage
import TestSupport
import Testing
import Time

@Suite("The outbox in either store", .timeLimit(.minutes(5))) struct OutboxTests {
    @Test("an event is a row in each lane of its user that is not suspended", arguments: StoreKind.allCases)
    func lanes(kind: StoreKind) async throws {
        try await kind.with { store, clock in
            let suspended = key(skill: "suspended")
            try await store.open(
                key(), key(region: .farEast), suspended, key(.linking, amazonUserID: "a1"), key(subject: "u2"))
            try await store.setSuspended(true, grant: suspended, version: 1, by: soon)
            let outcome = try await store.post([changed([brightness(1)]), event(.doorbellPress)], by: soon)
            #expect(outcome == PostOutcome(rows: 4, dropped: 0))
            #expect(try await store.waitingRows(by: soon) == 4)
            let lane = try #require(try await store.lease())
            #expect(lane.rows.map(\.kind) == [.changed])
            let other = try #require(try await store.lease())
            #expect(Set([lane.lease.key, other.lease.key]) == [key(), key(region: .farEast)])
            #expect(try await store.lease() == nil)
            let row = try #require(lane.rows.first)
            #expect(row.deviceID == "d1")
            #expect(row.body == changed([brightness(1)]).body)
            #expect(row.createdAt == clock.now)
            #expect(row.dueAt == clock.now)
            #expect(row.attempts == 0)
            #expect(row.messageID != other.rows.first?.messageID)
        }
    }

    @Test("a user without a grant of events gets no rows, and nothing is known of them", arguments: StoreKind.allCases)
    func noGrant(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await store.open(key(.linking), key(subject: "u2"))
            #expect(try await store.post([changed([brightness(1)])], by: soon) == PostOutcome())
            try await store.noteDevices(subject: "u1", [NotedDevice(deviceID: "d1", reported: [])], by: soon)
            #expect(try await store.knownState(subject: "u1", deviceID: "d1", by: soon) == nil)
            #expect(try await store.waitingRows(by: soon) == 0)
            #expect(try await store.nextDue(by: soon) == nil)
        }
    }

    @Test("the rows of a device come in order, one at a time; other devices do not wait", arguments: StoreKind.allCases)
    func order(kind: StoreKind) async throws {
        try await kind.with { store, clock in
            try await store.open(key())
            let kinds: [PostedEvent.Kind] = [.added, .changed, .removed, .added, .doorbellPress]
            for kind in kinds { try await store.post([event(kind)], by: soon) }
            try await store.post([event(.changed, "d2")], by: soon)
            let lane = try #require(try await store.lease())
            #expect(lane.rows.map(\.deviceID) == ["d1", "d2"])
            #expect(lane.rows.map(\.kind) == [.added, .changed])
            // A postponed row keeps those behind it waiting.
            try await store.postpone(lane.rows[0], until: clock.now.adding(seconds: 2), lane.lease, by: soon)
            try await store.finish(lane.rows[1], lane.lease, by: soon)
            try await store.releaseLane(lane.lease, by: soon)
            #expect(try await store.lease() == nil)
            #expect(try await store.nextDue(by: soon) == clock.now.adding(seconds: 2))
            clock.advance(by: .seconds(2))
            #expect(try await store.drain().map(\.kind) == kinds)
            #expect(try await store.nextDue(by: soon) == nil)
        }
    }

    @Test("a resend has the message id of the first try, and one more attempt", arguments: StoreKind.allCases)
    func resend(kind: StoreKind) async throws {
        try await kind.with { store, clock in
            try await store.open(key())
            try await store.post([event(.sceneActivated)], by: soon)
            var lane = try #require(try await store.lease())
            let first = lane.rows[0]
            for attempt in 1...3 {
                #expect(try await store.postpone(lane.rows[0], until: clock.now, lane.lease, by: soon))
                // The row is no longer as it was given out.
                #expect(try await !store.postpone(lane.rows[0], until: clock.now, lane.lease, by: soon))
                #expect(try await !store.finish(lane.rows[0], lane.lease, by: soon))
                try await store.releaseLane(lane.lease, by: soon)
                lane = try #require(try await store.lease())
                #expect(lane.rows[0].messageID == first.messageID)
                #expect(lane.rows[0].attempts == attempt)
                #expect(lane.rows[0].createdAt == first.createdAt)
            }
            #expect(try await store.finish(lane.rows[0], lane.lease, by: soon))
            #expect(try await store.waitingRows(by: soon) == 0)
        }
    }

    @Test("one of several stores has a lane at a time, until it gives it back", arguments: StoreKind.allCases)
    func oneOwner(kind: StoreKind) async throws {
        try await kind.withShared(3) { stores, _ in
            try await stores[0].open(key(), key(skill: "other"))
            try await stores[0].post([changed([brightness(1)])], by: soon)
            let taken = try await withThrowingTaskGroup(of: LeasedLane?.self) { group in
                for store in stores {
                    for worker in 0..<4 { group.addTask { try await store.lease("w\(worker)") } }
                }
                return try await group.reduce(into: []) { $0.append($1) }.compactMap { $0 }
            }
            #expect(taken.count == 2)
            #expect(Set(taken.map(\.lease.key)).count == 2)
            #expect(Set(taken.map(\.lease.id)).count == 2)
            try await stores[1].releaseLane(taken[0].lease, by: soon)
            let again = try #require(try await stores[2].lease())
            #expect(again.lease.key == taken[0].lease.key)
            #expect(again.rows.map(\.messageID) == taken[0].rows.map(\.messageID))
        }
    }

    @Test("EVG-5: when a lease runs out another store sends the same message", arguments: StoreKind.allCases)
    func leaseEnds(kind: StoreKind) async throws {
        try await kind.withShared(2) { stores, clock in
            try await stores[0].open(key())
            try await stores[0].post([event(.added), event(.removed)], by: soon)
            let dead = try #require(try await stores[0].lease(for: .seconds(30)))
            #expect(dead.lease.until == clock.now.adding(seconds: 30))
            #expect(try await stores[1].nextDue(by: soon) == dead.lease.until)
            clock.advance(by: .seconds(29))
            #expect(try await stores[1].lease() == nil)
            let extended = try #require(try await stores[0].extendLane(dead.lease, for: .seconds(30), by: soon))
            clock.advance(by: .seconds(29))
            #expect(try await stores[1].lease() == nil)
            clock.advance(by: .seconds(1))
            #expect(try await stores[0].extendLane(extended, for: .seconds(30), by: soon) == nil)
            let living = try #require(try await stores[1].lease("w2"))
            #expect(living.rows == dead.rows)
            // Who lost the lane changes nothing any more.
            #expect(try await !stores[0].finish(dead.rows[0], dead.lease, by: soon))
            #expect(try await !stores[0].postpone(dead.rows[0], until: clock.now, dead.lease, by: soon))
            #expect(try await !stores[0].postponeLane(until: clock.now, dead.lease, by: soon))
            try await stores[0].releaseLane(dead.lease, by: soon)
            #expect(try await stores[0].lease() == nil)
            #expect(try await stores[1].finish(living.rows[0], living.lease, by: soon))
            try await stores[1].releaseLane(living.lease, by: soon)
            #expect(try await stores[0].drain().map(\.kind) == [.removed])
        }
    }

    @Test("a row whose lease ran out but that nobody took is still finished", arguments: StoreKind.allCases)
    func late(kind: StoreKind) async throws {
        try await kind.with { store, clock in
            try await store.open(key())
            try await store.post([event(.added)], by: soon)
            let lane = try #require(try await store.lease(for: .seconds(1)))
            clock.advance(by: .seconds(60))
            #expect(try await store.finish(lane.rows[0], lane.lease, by: soon))
            #expect(try await store.waitingRows(by: soon) == 0)
        }
    }

    @Test("EVG-3: a lane that is throttled rests, and others do not", arguments: StoreKind.allCases)
    func throttled(kind: StoreKind) async throws {
        try await kind.with { store, clock in
            try await store.open(key(), key(subject: "u2"))
            try await store.post([event(.added)], by: soon)
            let lane = try #require(try await store.lease())
            let moment = clock.now.adding(seconds: 10)
            #expect(try await store.postponeLane(until: moment, lane.lease, by: soon))
            #expect(try await !store.postponeLane(until: moment, lane.lease, by: soon))
            #expect(try await store.lease() == nil)
            #expect(try await store.nextDue(by: soon) == moment)
            try await store.post([event(.added, subject: "u2"), event(.added, "d2")], by: soon)
            let other = try #require(try await store.lease())
            #expect(other.lease.key.subject == "u2")
            #expect(try await store.lease() == nil)
            clock.advance(by: .seconds(10))
            let rested = try #require(try await store.lease())
            #expect(rested.rows.map(\.deviceID) == ["d1", "d2"])
            #expect(rested.rows[0].messageID == lane.rows[0].messageID)
            #expect(rested.rows[0].attempts == 0)
        }
    }

    @Test("the lane whose head waits longest comes first, and gives out fifty at most", arguments: StoreKind.allCases)
    func turns(kind: StoreKind) async throws {
        try await kind.with { store, clock in
            try await store.open(key(), key(subject: "u2"), key(subject: "u3"))
            for subject in ["u2", "u3", "u1"] {
                try await store.post((0..<60).map { event(.added, "d\($0)", subject: subject) }, by: soon)
                clock.advance(by: .seconds(1))
            }
            var subjects: [String] = []
            while let lane = try await store.lease() {
                subjects.append(lane.lease.key.subject)
                #expect(lane.rows.map(\.deviceID) == (0..<50).map { "d\($0)" })
            }
            #expect(subjects == ["u2", "u3", "u1"])
        }
    }

    static let lives: [(PostedEvent.Kind, Int64)] = [
        (.changed, 86_400), (.added, 86_400), (.removed, 86_400), (.doorbellPress, 60), (.sceneActivated, 60),
        (.sceneDeactivated, 60), (.deferred, 300),
    ]

    @Test("each kind is dropped when its time is over, and counted", arguments: StoreKind.allCases)
    func expiry(kind: StoreKind) async throws {
        #expect(Self.lives.count == PostedEvent.Kind.allCases.count)
        for (event, seconds) in Self.lives {
            try await kind.with { store, clock in
                try await store.open(key())
                let body = StorageTests.event(event, "d1")
                try await store.post([body, StorageTests.event(event, "d2")], by: soon)
                clock.advance(by: .seconds(seconds) - .milliseconds(1))
                #expect(try await store.dropExpired(by: soon) == [:])
                let lane = try #require(try await store.lease(for: .seconds(1)), "\(event)")
                #expect(lane.rows.allSatisfy { $0.expiresAt == clock.now.adding(milliseconds: 1) })
                try await store.finish(lane.rows[1], lane.lease, by: soon)
                clock.advance(by: .milliseconds(1))
                // In flight, it may be on its way.
                #expect(try await store.dropExpired(by: soon) == [:])
                try await store.releaseLane(lane.lease, by: soon)
                #expect(try await store.lease() == nil)
                #expect(try await store.nextDue(by: soon) == nil)
                #expect(try await store.dropExpired(by: soon) == [event: 1])
                #expect(try await store.waitingRows(by: soon) == 0)
            }
        }
    }

    @Test("what waited behind an expired row is sent", arguments: StoreKind.allCases)
    func behindExpired(kind: StoreKind) async throws {
        try await kind.with { store, clock in
            try await store.open(key())
            try await store.post([event(.doorbellPress), event(.doorbellPress), event(.added)], by: soon)
            clock.advance(by: .seconds(61))
            #expect(try await store.dropExpired(by: soon) == [.doorbellPress: 2])
            #expect(try await store.drain().map(\.kind) == [.added])
        }
    }

    @Test("a suspended lane gives out nothing until its next grant", arguments: StoreKind.allCases)
    func suspended(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await store.open(key())
            try await store.post([event(.added)], by: soon)
            try await store.setSuspended(true, grant: key(), version: 1, by: soon)
            #expect(try await store.lease() == nil)
            #expect(try await store.nextDue(by: soon) == nil)
            #expect(try await store.post([event(.removed)], by: soon) == PostOutcome())
            try await store.put(credentials("b"), for: key(), sequence: 2, by: soon)
            #expect(try await store.drain().map(\.kind) == [.added])
        }
    }

    @Test("the rows and known states go with their grant; another lane's stay", arguments: StoreKind.allCases)
    func deleted(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            let second = key(skill: "other")
            try await store.open(key(), second, key(subject: "u2"))
            try await store.post([changed([brightness(1)]), event(.doorbellPress)], by: soon)
            try await store.post([changed([brightness(2)], subject: "u2")], by: soon)
            let lane = try #require(try await store.lease())
            try await store.deleteGrant(lane.lease.key, by: soon)
            #expect(try await !store.finish(lane.rows[0], lane.lease, by: soon))
            #expect(try await store.waitingRows(by: soon) == 3)
            #expect(try await store.knownState(subject: "u1", deviceID: "d1", by: soon) != nil)
            #expect(try await store.deleteGrants(of: "u1", skill: nil, by: soon) == 1)
            #expect(try await store.waitingRows(by: soon) == 1)
            #expect(try await store.knownState(subject: "u1", deviceID: "d1", by: soon) == nil)
            #expect(try await store.knownState(subject: "u2", deviceID: "d1", by: soon) != nil)
            #expect(try await store.drain().map(\.properties) == [[brightness(2)]])
            // A new grant of the same key begins with an empty lane.
            try await store.open(key())
            #expect(try await store.lease() == nil)
        }
    }

    @Test("a lane is cleared of all that waits, and goes on", arguments: StoreKind.allCases)
    func cleared(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await store.open(key(), key(skill: "other"))
            try await store.post([event(.added), event(.removed), event(.added, "d2")], by: soon)
            #expect(try await store.clearLane(key(), by: soon) == 3)
            #expect(try await store.clearLane(key(), by: soon) == 0)
            #expect(try await store.clearLane(key(subject: "u9"), by: soon) == 0)
            #expect(try await store.waitingRows(by: soon) == 3)
            try await store.post([event(.added)], by: soon)
            let lane = try #require(try await store.lease())
            #expect(lane.rows.map(\.deviceID) == (lane.lease.key == key() ? ["d1"] : ["d1", "d2"]))
        }
    }
}
