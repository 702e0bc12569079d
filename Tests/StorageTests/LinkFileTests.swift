import Alexa
import Crypto
import FoundationEssentials
import Storage
import Testing
import Time

@Suite("Links in the file", .timeLimit(.minutes(5))) struct LinkFileTests {
    typealias Files = SQLiteFileTests

    @Test("what was answered is there after the process was killed")
    func killed() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            await #expect(processExitsWith: .signal(9)) { [path = path as String] in
                let store = try SQLiteFileTests.open(path)
                _ = try await store.add(attempt("h1", verifier: "v"), by: soon)
                _ = try await store.spend(stateHash: "h1", at: SQLiteFileTests.clock(), by: soon)
                try await store.add(link("l1"), by: soon)
                try await store.add(link("l2", status: .pending), by: soon)
                _ = try await store.settle(link("l2", status: .pending), by: soon)
                try await store.put(
                    LinkJoin(
                        skill: "home", alexaUserID: "amzn1.a", subject: "u1", seenAt: SQLiteFileTests.clock()),
                    by: soon)
                killThisProcess()
            }
            let store = try Files.open(path)
            #expect(try await store.attempt(stateHash: "h1", by: soon)?.usedAt == Files.clock())
            #expect(try await !store.spend(stateHash: "h1", at: Files.clock(), by: soon))
            #expect(try await store.links(of: "u1", by: soon) == [link("l2").settledOnce])
            #expect(try await store.joins(of: "u1", by: soon).count == 1)
        }
    }

    @Test("no verifier lies in the file in clear, and none opens in another attempt's place")
    func sealed() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            let store = try Files.open(path)
            let verifiers = (1...2).map { "verifier-\($0)-" + SecureRandom.token() }
            for (index, verifier) in verifiers.enumerated() {
                #expect(try await store.add(attempt("h\(index + 1)", verifier: verifier), by: soon))
            }
            for name in ["store.sqlite", "store.sqlite-wal"] {
                guard let data = try? Data(contentsOf: URL(filePath: folder + "/" + name)) else { continue }
                for verifier in verifiers { #expect(data.firstRange(of: Data(verifier.utf8)) == nil) }
            }
            let swap = """
                UPDATE link_attempts SET verifier = (SELECT verifier FROM link_attempts WHERE state_hash = 'h1')
                WHERE state_hash = 'h2'
                """
            #expect(run(swap, path) == 0)
            #expect(try await store.attempt(stateHash: "h1", by: soon)?.verifier == Secret(verifiers[0]))
            await #expect(throws: LinkStoreError.self) { try await store.attempt(stateHash: "h2", by: soon) }
        }
    }

    @Test("a deadline that has passed stops every call before it writes")
    func late() async throws {
        try await withFolder { folder in
            let store = try Files.open(folder + "/store.sqlite")
            let past = Deadline.after(.seconds(-1), from: .now)
            await #expect(throws: LinkStoreError.timedOut) { try await store.add(attempt("h1"), by: past) }
            await #expect(throws: LinkStoreError.timedOut) { try await store.add(link("l1"), by: past) }
            await #expect(throws: LinkStoreError.timedOut) { try await store.links(of: "u1", by: past) }
            await #expect(throws: LinkStoreError.timedOut) {
                try await store.leaseDueLinks(limit: 1, for: .seconds(1), by: past)
            }
            #expect(try await store.attempt(stateHash: "h1", by: soon) == nil)
            #expect(try await store.links(of: "u1", by: soon).isEmpty)
        }
    }

    @Test("what is searched is found by an index")
    func indexes() async throws {
        try await withFolder { folder in
            let path = folder + "/store.sqlite"
            _ = try Files.open(path)
            let searches = [
                ("links", "subject = 'u' ORDER BY linked_at, id", "links_by_subject"),
                ("links", "alexa_user_id = 'a' AND skill = 's'", "links_by_alexa_user"),
                ("links", "(linked_at, id) > (1, '') ORDER BY linked_at, id LIMIT 5", "links_by_age"),
                ("links", "status = 'PENDING' AND due_at IS NOT NULL AND due_at <= 1", "links_due"),
                ("link_attempts", "expires_at < 1", "link_attempts_by_end"),
                ("link_joins", "subject = 'u'", "link_joins_by_subject"),
            ]
            for (table, condition, index) in searches {
                let plan = rows("EXPLAIN QUERY PLAN SELECT * FROM \(table) WHERE \(condition)", path).joined()
                #expect(plan.contains(index), "\(plan)")
                #expect(!plan.contains("SCAN"), "\(plan)")
            }
        }
    }
}

extension Link {
    /// The link after it was added and settled.
    fileprivate var settledOnce: Link {
        var link = at(version: 2)
        link.region = nil
        return link
    }
}
