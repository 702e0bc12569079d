import Alexa
import Crypto
import Storage
import TestSupport
import Testing
import Time

private let now = UnixTime(seconds: 1_900_000_000)

func attempt(_ hash: String, subject: String = "u1", verifier: String? = nil, expiresAt: UnixTime = now) -> LinkAttempt
{
    LinkAttempt(
        stateHash: hash, subject: subject, skill: "home", redirectURI: "https://a.test/cb?x=1",
        verifier: verifier.map { Secret($0) }, flow: .web, browser: "mark", returnURL: "https://a.test/done",
        traceID: "t1", createdAt: now.adding(seconds: -3600), expiresAt: expiresAt)
}

func link(
    _ id: String, subject: String = "u1", skill: String = "home", status: Link.Status = .linked,
    user: String? = "amzn1.a", grant: String? = nil, seconds: Int64 = 0, due: UnixTime? = nil
) -> Link {
    Link(
        id: id, subject: subject, skill: skill, stage: "live", flow: .app, status: status,
        region: status == .linked ? .europe : nil, alexaUserID: user, providerGrantID: grant,
        linkedAt: now.adding(seconds: seconds), dueAt: due)
}

@Suite("Attempts of links, kept", .timeLimit(.minutes(5))) struct LinkAttemptStoreTests {
    @Test("an attempt comes back as it was given out, with and without what it may lack", arguments: StoreKind.allCases)
    func roundTrip(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            let full = attempt("h1", verifier: "v")
            let bare = LinkAttempt(
                stateHash: "h2", subject: "u2", skill: "home", redirectURI: "https://a.test/", flow: .app,
                traceID: "t2", createdAt: now, expiresAt: now.adding(seconds: 3600))
            let added = [try await store.add(full, by: soon), try await store.add(bare, by: soon)]
            #expect(added == [true, true])
            #expect(try await store.attempt(stateHash: "h1", by: soon) == full)
            #expect(try await store.attempt(stateHash: "h2", by: soon) == bare)
            #expect(try await store.attempt(stateHash: "h3", by: soon) == nil)
            #expect(try await store.attempt(stateHash: "H1", by: soon) == nil)
            #expect(try await store.attempt(stateHash: "", by: soon) == nil)
        }
    }

    @Test("a state that was given out before is no new one, whoever asks", arguments: StoreKind.allCases)
    func firstUse(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            #expect(try await store.add(attempt("h1", verifier: "first"), by: soon))
            #expect(try await !store.add(attempt("h1", verifier: "first"), by: soon))
            #expect(try await !store.add(attempt("h1", subject: "u2", verifier: "second"), by: soon))
            #expect(try await store.spend(stateHash: "h1", at: now, by: soon))
            #expect(try await !store.add(attempt("h1"), by: soon))
            let stored = try await store.attempt(stateHash: "h1", by: soon)
            #expect(stored?.subject == "u1")
            #expect(stored?.verifier == Secret("first"))
            #expect(stored?.usedAt == now)
        }
    }

    @Test("of many who bring the same state back exactly one spends it", arguments: StoreKind.allCases)
    func spending(kind: StoreKind) async throws {
        try await kind.withShared(3) { stores, _ in
            #expect(try await stores[0].add(attempt("h1"), by: soon))
            #expect(try await stores[0].add(attempt("h2"), by: soon))
            #expect(try await !stores[0].spend(stateHash: "h3", at: now, by: soon))
            let won = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<12 {
                    group.addTask {
                        try await stores[number % 3].spend(
                            stateHash: "h1", at: now.adding(seconds: Int64(number)), by: soon)
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(won == 1)
            #expect(try await stores[1].attempt(stateHash: "h1", by: soon)?.usedAt != nil)
            #expect(try await stores[2].attempt(stateHash: "h2", by: soon)?.usedAt == nil)
        }
    }

    @Test("pruning forgets what ended before, used or not, and nothing that ends then", arguments: StoreKind.allCases)
    func pruning(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            for (hash, seconds) in [("h1", -2), ("h2", -1), ("h3", 0), ("h4", 1)] as [(String, Int64)] {
                #expect(try await store.add(attempt(hash, expiresAt: now.adding(seconds: seconds)), by: soon))
            }
            #expect(try await store.spend(stateHash: "h1", at: now, by: soon))
            #expect(try await store.pruneAttempts(before: now, by: soon) == 2)
            #expect(try await store.pruneAttempts(before: now, by: soon) == 0)
            for (hash, stays) in [("h1", false), ("h2", false), ("h3", true), ("h4", true)] {
                let stored = try await store.attempt(stateHash: hash, by: soon)
                #expect((stored != nil) == stays)
            }
        }
    }
}

@Suite("What Alexa's requests taught, kept", .timeLimit(.minutes(5))) struct LinkJoinStoreTests {
    private func join(
        _ user: String = "amzn1.a", subject: String = "u1", grant: String? = "g1", region: AlexaRegion? = nil,
        at seconds: Int64 = 0
    ) -> LinkJoin {
        LinkJoin(
            skill: "home", alexaUserID: user, subject: subject, providerGrantID: grant, region: region,
            seenAt: now.adding(seconds: seconds))
    }

    @Test("a join is found by its Alexa user and by its user of ours", arguments: StoreKind.allCases)
    func finding(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            #expect(try await store.put(join(region: .farEast, at: 2), by: soon) == nil)
            #expect(try await store.put(join("amzn1.b", grant: nil, at: 1), by: soon) == nil)
            #expect(try await store.put(join("amzn1.c", subject: "u2"), by: soon) == nil)
            let found = try await store.join(skill: "home", alexaUserID: "amzn1.a", by: soon)
            #expect(found == join(region: .farEast, at: 2))
            #expect(try await store.join(skill: "other", alexaUserID: "amzn1.a", by: soon) == nil)
            #expect(try await store.join(skill: "home", alexaUserID: "amzn1.d", by: soon) == nil)
            #expect(try await store.join(skill: "home", alexaUserID: "", by: soon) == nil)
            #expect(try await store.joins(of: "u1", by: soon).map(\.alexaUserID) == ["amzn1.b", "amzn1.a"])
            #expect(try await store.joins(of: "u3", by: soon).isEmpty)
        }
    }

    @Test("the same again moves the time alone; a known region stays", arguments: StoreKind.allCases)
    func again(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await store.put(join(region: .europe), by: soon)
            #expect(try await store.put(join(at: 5), by: soon) == nil)
            let stored = try await store.join(skill: "home", alexaUserID: "amzn1.a", by: soon)
            #expect(stored?.firstSeenAt == now)
            #expect(stored?.seenAt == now.adding(seconds: 5))
            #expect(stored?.region == .europe)
        }
    }

    @Test("another grant or another user replaces a join, and what was there is told", arguments: StoreKind.allCases)
    func replacing(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await store.put(join(), by: soon)
            #expect(try await store.put(join(grant: "g2", at: 1), by: soon) == join())
            let other = try await store.put(join(subject: "u2", grant: "g3", at: 2), by: soon)
            #expect(other?.providerGrantID == "g2")
            #expect(other?.firstSeenAt == now)
            let stored = try await store.join(skill: "home", alexaUserID: "amzn1.a", by: soon)
            #expect(stored == join(subject: "u2", grant: "g3", at: 2))
            #expect(try await store.joins(of: "u1", by: soon).isEmpty)
        }
    }

    @Test("what a late request says does not stand over what a later one said", arguments: StoreKind.allCases)
    func late(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await store.put(join(subject: "u2", at: 10), by: soon)
            #expect(try await store.put(join(at: 9), by: soon) == nil)
            #expect(try await store.join(skill: "home", alexaUserID: "amzn1.a", by: soon)?.subject == "u2")
            #expect(try await store.deleteJoin(skill: "home", alexaUserID: "amzn1.a", by: soon)?.subject == "u2")
            #expect(try await store.deleteJoin(skill: "home", alexaUserID: "amzn1.a", by: soon) == nil)
            #expect(try await store.join(skill: "home", alexaUserID: "amzn1.a", by: soon) == nil)
        }
    }
}
