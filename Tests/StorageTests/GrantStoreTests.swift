import Alexa
import Crypto
import Storage
import TestSupport
import Testing
import Time

@Suite("Grants in either store", .timeLimit(.minutes(5))) struct GrantStoreTests {
    @Test("a grant comes back as it was put; a key that differs in one part is another", arguments: StoreKind.allCases)
    func keys(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            let own = key(providerGrantID: "g1")
            #expect(try await store.put(credentials("a"), for: own, sequence: 1, by: soon))
            let grant = try #require(try await store.grant(own, by: soon))
            #expect(grant == Grant(key: own, credentials: credentials("a"), sequence: 1, version: 1))
            let others = [
                key(), key(providerGrantID: "g2"), key(.linking, providerGrantID: "g1"),
                key(subject: "u2", providerGrantID: "g1"), key(skill: "other", providerGrantID: "g1"),
                key(region: .farEast, providerGrantID: "g1"), key(amazonUserID: "a1", providerGrantID: "g1"),
            ]
            for other in others { #expect(try await store.grant(other, by: soon) == nil) }
            for other in others { try await store.put(credentials("b"), for: other, sequence: 2, by: soon) }
            #expect(try await store.grant(own, by: soon) == grant)
        }
    }

    @Test("AG-4: of two directives the later one's tokens stay, whoever ends first", arguments: StoreKind.allCases)
    func newestWins(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            let first = try await store.nextGrantSequence(by: soon)
            let second = try await store.nextGrantSequence(by: soon)
            #expect(first < second)
            #expect(try await store.put(credentials("c2"), for: key(), sequence: second, by: soon))
            #expect(try await !store.put(credentials("c1"), for: key(), sequence: first, by: soon))
            let grants = try await store.grants(of: "u1", by: soon)
            #expect(grants.map(\.credentials) == [credentials("c2")])
        }
    }

    @Test("AG-4: parallel directives leave one row, that of the last place", arguments: StoreKind.allCases)
    func parallel(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            let places = try await withThrowingTaskGroup(of: Int64.self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        let place = try await store.nextGrantSequence(by: soon)
                        try await store.put(credentials("\(place)"), for: key(), sequence: place, by: soon)
                        return place
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(places).count == 16)
            let last = try #require(places.max())
            let grants = try await store.grants(of: "u1", by: soon)
            #expect(grants.map(\.credentials) == [credentials("\(last)")])
        }
    }

    @Test("AG-4: the refresh of an older grant does not overwrite a newer one", arguments: StoreKind.allCases)
    func refreshRace(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await store.put(credentials("c1"), for: key(), sequence: 1, by: soon)
            guard case .owned(let grant) = try await store.leaseGrant(key(), owner: "p", for: .seconds(10), by: soon)
            else {
                Issue.record("no lease")
                return
            }
            try await store.put(credentials("c2"), for: key(), sequence: 2, by: soon)
            let wrote = try await store.refresh(
                key(), with: credentials("c1-refreshed"), owner: "p", version: grant.version, by: soon)
            #expect(!wrote)
            #expect(try await store.grant(key(), by: soon)?.credentials == credentials("c2"))
        }
    }

    @Test("a lease is held by one owner until it ends, is given back or used", arguments: StoreKind.allCases)
    func lease(kind: StoreKind) async throws {
        try await kind.with { store, clock in
            #expect(try await store.leaseGrant(key(), owner: "p", for: .seconds(10), by: soon) == .absent)
            try await store.put(credentials("a"), for: key(), sequence: 1, by: soon)
            let grant = try #require(try await store.grant(key(), by: soon))
            #expect(try await store.leaseGrant(key(), owner: "p", for: .seconds(10), by: soon) == .owned(grant))
            #expect(try await store.leaseGrant(key(), owner: "q", for: .seconds(10), by: soon) == .held)
            // A stranger neither gives it back nor writes.
            try await store.releaseGrant(key(), owner: "q", by: soon)
            #expect(try await store.leaseGrant(key(), owner: "q", for: .seconds(10), by: soon) == .held)
            #expect(try await !store.refresh(key(), with: credentials("q"), owner: "q", version: 1, by: soon))
            clock.advance(by: .seconds(10))
            #expect(try await store.leaseGrant(key(), owner: "q", for: .seconds(10), by: soon) == .owned(grant))
            // The first owner's lease is over, so its late result is not written.
            #expect(try await !store.refresh(key(), with: credentials("p"), owner: "p", version: 1, by: soon))
            #expect(try await store.refresh(key(), with: credentials("q"), owner: "q", version: 1, by: soon))
            let refreshed = try #require(try await store.grant(key(), by: soon))
            #expect(refreshed == Grant(key: key(), credentials: credentials("q"), sequence: 1, version: 2))
            #expect(try await store.leaseGrant(key(), owner: "p", for: .seconds(10), by: soon) == .owned(refreshed))
            try await store.releaseGrant(key(), owner: "p", by: soon)
            #expect(try await store.leaseGrant(key(), owner: "q", for: .seconds(10), by: soon) == .owned(refreshed))
        }
    }

    @Test("a suspension needs the version that was read; a new grant lifts it", arguments: StoreKind.allCases)
    func suspension(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            #expect(try await !store.setSuspended(true, grant: key(), version: 1, by: soon))
            try await store.put(credentials("a"), for: key(), sequence: 1, by: soon)
            #expect(try await !store.setSuspended(true, grant: key(), version: 2, by: soon))
            #expect(try await store.grant(key(), by: soon)?.isSuspended == false)
            #expect(try await store.setSuspended(true, grant: key(), version: 1, by: soon))
            #expect(try await store.grant(key(), by: soon)?.isSuspended == true)
            try await store.put(credentials("b"), for: key(), sequence: 2, by: soon)
            #expect(try await store.grant(key(), by: soon)?.isSuspended == false)
        }
    }

    @Test("deleting takes the key, the user's skill or the whole user, and no more", arguments: StoreKind.allCases)
    func deletion(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            let kept = key(subject: "u2")
            let keys = [key(), key(skill: "other"), key(.linking, amazonUserID: "a1"), kept]
            for (index, key) in keys.enumerated() {
                try await store.put(credentials("\(index)"), for: key, sequence: Int64(index), by: soon)
            }
            #expect(try await store.deleteGrant(keys[2], by: soon))
            #expect(try await !store.deleteGrant(keys[2], by: soon))
            let version = try #require(try await store.grant(keys[0], by: soon)?.version)
            #expect(try await !store.deleteGrant(keys[0], version: version + 1, by: soon))
            #expect(try await !store.deleteGrant(keys[2], version: version, by: soon))
            #expect(try await store.grants(of: "u1", by: soon).map(\.key) == [keys[0], keys[1]])
            #expect(try await store.deleteGrants(of: "u1", skill: "home", by: soon) == 1)
            #expect(try await store.deleteGrants(of: "u1", skill: nil, by: soon) == 1)
            #expect(try await store.grants(of: "u1", by: soon).isEmpty)
            #expect(try await store.grants(of: "u2", by: soon).map(\.key) == [kept])
        }
    }

    @Test("no text that a caller chooses is read as SQL", arguments: StoreKind.allCases)
    func injection(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            let odd = key(subject: "u1'; DROP TABLE grants; --", skill: "\"\u{0}ü%_", providerGrantID: "?1")
            try await store.put(credentials("odd"), for: odd, sequence: 1, by: soon)
            try await store.put(credentials("b"), for: key(), sequence: 2, by: soon)
            #expect(try await store.grant(odd, by: soon)?.key == odd)
            #expect(try await store.grants(of: "u1", by: soon).map(\.credentials) == [credentials("b")])
        }
    }
}
