import Alexa
import Storage
import TestSupport
import Testing
import Time

@Suite("Claims on AcceptGrant codes in either store", .timeLimit(.minutes(5))) struct AcceptGrantClaimTests {
    private func claim(
        _ store: any GrantStore, _ hash: String = "h1", subject: String = "u1", owner: String
    ) async throws -> AcceptGrantClaim {
        try await store.claimAcceptGrant(
            codeHash: hash, subject: subject, owner: owner, for: .seconds(8), by: soon)
    }

    @Test("one caller owns a code; the others get its outcome for five minutes", arguments: StoreKind.allCases)
    func outcome(kind: StoreKind) async throws {
        try await kind.with { store, clock in
            guard case .owned(let place) = try await claim(store, owner: "p") else {
                Issue.record("no claim")
                return
            }
            #expect(try await claim(store, owner: "q") == .held)
            let result = AcceptGrantResult.accepted(credentials("a"), key: key(), sequence: place)
            #expect(try await store.finishAcceptGrant(codeHash: "h1", owner: "p", result: result, by: soon))
            #expect(try await claim(store, owner: "q") == .finished(.accepted))
            #expect(try await store.grant(key(), by: soon)?.credentials == credentials("a"))
            clock.advance(by: .seconds(299))
            #expect(try await claim(store, owner: "q") == .finished(.accepted))
            clock.advance(by: .seconds(1))
            guard case .owned(let later) = try await claim(store, owner: "q") else {
                Issue.record("the outcome is kept too long")
                return
            }
            #expect(later > place)
        }
    }

    @Test("a refusal is an outcome too, and stores nothing", arguments: StoreKind.allCases)
    func refusal(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            _ = try await claim(store, owner: "p")
            let result = AcceptGrantResult.refused(reasonCode: "grant.lwaInvalidGrant")
            #expect(try await store.finishAcceptGrant(codeHash: "h1", owner: "p", result: result, by: soon))
            #expect(try await claim(store, owner: "q") == .finished(.refused(reasonCode: "grant.lwaInvalidGrant")))
            #expect(try await store.grants(of: "u1", by: soon).isEmpty)
        }
    }

    @Test("another user does not learn what became of a code", arguments: StoreKind.allCases)
    func otherSubject(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            _ = try await claim(store, owner: "p")
            #expect(try await claim(store, subject: "u2", owner: "q") == .ofAnotherSubject)
            guard case .owned = try await claim(store, "h2", subject: "u2", owner: "q") else {
                Issue.record("another code is another claim")
                return
            }
        }
    }

    @Test("who lost a claim writes neither outcome nor grant", arguments: StoreKind.allCases)
    func lostClaim(kind: StoreKind) async throws {
        try await kind.with { store, clock in
            guard case .owned(let first) = try await claim(store, owner: "p") else {
                Issue.record("no claim")
                return
            }
            clock.advance(by: .seconds(8))
            guard case .owned(let second) = try await claim(store, owner: "q") else {
                Issue.record("a dead owner blocks the code")
                return
            }
            let late = AcceptGrantResult.accepted(credentials("late"), key: key(), sequence: first)
            #expect(try await !store.finishAcceptGrant(codeHash: "h1", owner: "p", result: late, by: soon))
            #expect(try await store.grant(key(), by: soon) == nil)
            let good = AcceptGrantResult.accepted(credentials("good"), key: key(), sequence: second)
            #expect(try await store.finishAcceptGrant(codeHash: "h1", owner: "q", result: good, by: soon))
            // Finished is finished: no second outcome.
            #expect(try await !store.finishAcceptGrant(codeHash: "h1", owner: "q", result: late, by: soon))
            #expect(try await store.grant(key(), by: soon)?.credentials == credentials("good"))
        }
    }

    @Test("of many callers at once one owns the code", arguments: StoreKind.allCases)
    func race(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            let claims = try await withThrowingTaskGroup(of: AcceptGrantClaim.self) { group in
                for number in 0..<16 { group.addTask { try await claim(store, owner: "p\(number)") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(claims.filter { $0 == .held }.count == 15)
        }
    }
}
