import Alexa
import Crypto
import FoundationEssentials
import Storage
import TestSupport
import Testing
import Time

private let now = UnixTime(seconds: 1_900_000_000)

@Suite("Links, kept", .timeLimit(.minutes(5))) struct LinkTests {
    @Test("a link comes back as it was stored, with and without what it may lack", arguments: StoreKind.allCases)
    func roundTrip(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            let full = Link(
                id: "l1", subject: "u1", skill: "home", stage: "development", flow: .web, status: .pending,
                region: .farEast, alexaUserID: "amzn1.a", providerGrantID: "g1",
                candidates: [.init(region: .northAmerica, providerGrantID: "g\"2\n"), .init(region: .farEast)],
                linkedAt: now, traceID: "t1", dueAt: now.adding(seconds: 5), attempts: 3, version: 9)
            let bare = link("l2", subject: "u2", user: nil)
            let replaced = [try await store.add(full, by: soon), try await store.add(bare, by: soon)]
            #expect(replaced == [nil, nil])
            #expect(try await store.link(id: "l1", by: soon) == full.at(version: 1))
            #expect(try await store.link(id: "l2", by: soon) == bare)
            #expect(try await store.link(id: "L1", by: soon) == nil)
            #expect(try await store.link(id: "", by: soon) == nil)
            await #expect(throws: LinkStoreError.self) { try await store.add(link("l1", user: nil), by: soon) }
            #expect(try await store.links(of: "u1", by: soon) == [full.at(version: 1)])
        }
    }

    @Test(
        "links are found by user and by Alexa user of a skill, and all are listed by age", arguments: StoreKind.allCases
    )
    func finding(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            let links = [
                link("l5", seconds: 1), link("l4", user: "amzn1.b", seconds: 2),
                link("l3", subject: "u2", seconds: 2), link("l2", skill: "other", seconds: 3),
                link("l1", status: .pending, user: nil, seconds: 4),
            ]
            for link in links.reversed() { try await store.add(link, by: soon) }
            #expect(try await store.links(of: "u1", by: soon).map(\.id) == ["l5", "l4", "l2", "l1"])
            #expect(try await store.links(of: "u3", by: soon).isEmpty)
            #expect(try await store.links(alexaUserID: "amzn1.a", skill: "home", by: soon).map(\.id) == ["l5", "l3"])
            #expect(try await store.links(alexaUserID: "amzn1.c", skill: "home", by: soon).isEmpty)
            #expect(try await store.links(alexaUserID: "", skill: "home", by: soon).isEmpty)
            var listed: [String] = []
            var last: Link?
            while let page = try? await store.links(after: last, limit: 2, by: soon), let end = page.last {
                #expect(page.count <= 2)
                listed += page.map(\.id)
                last = end
                // Who was last on a page may be gone when the next one is asked for.
                try await store.deleteLink(id: end.id, by: soon)
            }
            #expect(listed == ["l5", "l3", "l4", "l2", "l1"])
            #expect(try await store.links(after: nil, limit: 0, by: soon).isEmpty)
        }
    }

    @Test("a link is written over the version that was read, and over no other", arguments: StoreKind.allCases)
    func versions(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            var pending = link("l1", status: .pending, user: nil, due: now)
            try await store.add(pending, by: soon)
            pending.attempts = 1
            let second = try #require(try await store.update(pending, by: soon))
            #expect(second.version == 2)
            #expect(second.attempts == 1)
            #expect(try await store.update(pending, by: soon) == nil, "it was changed meanwhile")
            #expect(try await store.update(second.at(version: 3), by: soon) == nil)
            #expect(try await store.update(link("l2", status: .pending), by: soon) == nil)
            #expect(try await store.link(id: "l1", by: soon) == second)
            #expect(try await store.settle(pending, by: soon) == .changed(second))
            #expect(try await store.deleteLink(id: "l1", by: soon) == second)
            #expect(try await store.update(second, by: soon) == nil)
            #expect(try await store.settle(second, by: soon) == .changed(nil))
            #expect(try await store.deleteLink(id: "l1", by: soon) == nil)
            #expect(try await store.links(after: nil, limit: 9, by: soon).isEmpty)
        }
    }

    @Test("LNK-10: a settled link takes the place of the earlier one of its Alexa user", arguments: StoreKind.allCases)
    func settling(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            let earlier = link("l1", grant: "g1")
            try await store.add(earlier, by: soon)
            let others = [
                link("l2", user: "amzn1.b"), link("l3", subject: "u2"), link("l4", skill: "other"),
                link("l5", status: .pending, due: now), link("l6", user: nil),
            ]
            for other in others { try await store.add(other, by: soon) }
            var pending = link("l9", status: .pending, user: nil, grant: "g9", seconds: 9, due: now)
            pending.candidates = [.init(region: .europe, providerGrantID: "g9")]
            try await store.add(pending, by: soon)
            pending.alexaUserID = "amzn1.a"
            pending.region = .europe
            var settled = link("l9", grant: "g9", seconds: 9).at(version: 2)
            settled.region = .europe
            #expect(try await store.settle(pending, by: soon) == .settled(settled, replaced: earlier))
            #expect(try await store.link(id: "l9", by: soon) == settled)
            #expect(try await store.link(id: "l1", by: soon) == nil)
            for other in others { #expect(try await store.link(id: other.id, by: soon) == other) }
            #expect(try await store.settle(settled, by: soon) == .settled(settled.at(version: 3), replaced: nil))
        }
    }

    @Test(
        "LNK-10: of two links that settle at once one stays, and just one is told of the other",
        arguments: StoreKind.allCases)
    func settlingAtOnce(kind: StoreKind) async throws {
        try await kind.withShared(2) { stores, _ in
            for round in 0..<10 {
                let user = "amzn1.\(round)"
                let links = (0..<2).map { link("\(round).\($0)", status: .pending, user: user, grant: "g\($0)") }
                for link in links { try await stores[0].add(link, by: soon) }
                async let first = stores[0].settle(links[0], by: soon)
                async let second = stores[1].settle(links[1], by: soon)
                let replaced = try await [first, second].map { settlement -> String? in
                    guard case .settled(_, let replaced) = settlement else { return "not settled" }
                    return replaced?.id
                }
                let left = try await stores[0].links(alexaUserID: user, skill: "home", by: soon)
                #expect(left.count == 1)
                #expect(Set(replaced) == [nil, links.first { $0.id != left.first?.id }?.id])
            }
        }
    }

    @Test(
        "a link that is added as linked replaces too; one without Alexa user replaces none",
        arguments: StoreKind.allCases)
    func addingLinked(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            try await store.add(link("l1"), by: soon)
            #expect(try await store.add(link("l2"), by: soon)?.id == "l1")
            #expect(try await store.add(link("l3", user: nil), by: soon) == nil)
            #expect(try await store.add(link("l4", user: nil), by: soon) == nil)
            #expect(try await store.add(link("l5", status: .pending), by: soon) == nil)
            #expect(try await store.links(of: "u1", by: soon).map(\.id) == ["l2", "l3", "l4", "l5"])
            var second = try #require(try await store.link(id: "l3", by: soon))
            second.alexaUserID = "amzn1.a"
            // Only settling makes room.
            await #expect(throws: LinkStoreError.self) { try await store.update(second, by: soon) }
            #expect(try await store.link(id: "l3", by: soon)?.alexaUserID == nil)
        }
    }

    @Test(
        "links that are due are taken once, those first that wait longest, until the lease ends",
        arguments: StoreKind.allCases)
    func leasing(kind: StoreKind) async throws {
        try await kind.with { store, clock in
            let start = clock.wall()
            for (id, seconds) in [("l1", 0), ("l2", -2), ("l3", -1), ("l4", 1)] as [(String, Int64)] {
                try await store.add(
                    link(id, status: .pending, user: nil, due: start.adding(seconds: seconds)), by: soon)
            }
            try await store.add(link("l5", user: nil, due: start), by: soon)
            try await store.add(link("l6", status: .pending, user: nil), by: soon)
            #expect(try await store.nextDueLink(by: soon) == start.adding(seconds: -2))
            let first = try await store.leaseDueLinks(limit: 2, for: .seconds(30), by: soon)
            #expect(first.map(\.id) == ["l2", "l3"])
            #expect(first.map(\.version) == [2, 2])
            #expect(try await store.link(id: "l2", by: soon) == first[0])
            #expect(try await store.leaseDueLinks(limit: 9, for: .seconds(30), by: soon).map(\.id) == ["l1"])
            #expect(try await store.leaseDueLinks(limit: 9, for: .seconds(30), by: soon).isEmpty)
            #expect(try await store.nextDueLink(by: soon) == start.adding(seconds: 1))
            // Who read a link before it was leased writes no more; who leased it does.
            #expect(try await store.update(link("l2", status: .pending), by: soon) == nil)
            guard case .settled = try await store.settle(first[0], by: soon) else {
                Issue.record("not settled")
                return
            }
            clock.advance(by: .seconds(30))
            let again = try await store.leaseDueLinks(limit: 9, for: .seconds(30), by: soon)
            #expect(again.map(\.id) == ["l4", "l1", "l3"])
            #expect(again.map(\.version) == [2, 3, 3])
        }
    }
}
