import OAuth
import Storage
import Telemetry
import TestSupport
import Testing
import Time

@Suite("Signing keys and traces in either store", .timeLimit(.minutes(5))) struct KeyAndTraceStoreTests {
    private func record(_ id: String, createdAt: Int64 = 100, until: Int64? = nil) -> SigningKeyRecord {
        SigningKeyRecord(
            id: id, algorithm: "ES256", privateKeyPEM: Array("secret of \(id)".utf8),
            createdAt: UnixTime(seconds: createdAt), signsFrom: UnixTime(seconds: createdAt + 10),
            publishedUntil: until.map(UnixTime.init(seconds:)))
    }

    @Test("the first key is stored once, whoever comes first", arguments: StoreKind.allCases)
    func first(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            let answers = try await withThrowingTaskGroup(of: [SigningKeyRecord].self) { group in
                for number in 0..<8 {
                    group.addTask { try await store.insertFirstSigningKey(record("k\(number)")) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let stored = try await store.signingKeys()
            #expect(stored.count == 1)
            #expect(answers.allSatisfy { $0 == stored })
        }
    }

    @Test("a new key ends the others, but never later than their own end", arguments: StoreKind.allCases)
    func rotation(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            _ = try await store.insertFirstSigningKey(record("a"))
            try await store.addSigningKey(record("b", createdAt: 200), othersUntil: UnixTime(seconds: 500))
            try await store.addSigningKey(record("c", createdAt: 300), othersUntil: UnixTime(seconds: 900))
            #expect(
                try await store.signingKeys() == [
                    record("a", until: 500), record("b", createdAt: 200, until: 900), record("c", createdAt: 300),
                ])
            try await store.removeSigningKeys(endedBefore: UnixTime(seconds: 500))
            #expect(try await store.signingKeys().map(\.id) == ["a", "b", "c"])
            try await store.removeSigningKeys(endedBefore: UnixTime(seconds: 501))
            #expect(try await store.signingKeys().map(\.id) == ["b", "c"])
        }
    }

    private func trace(_ id: String, seconds: Int64, subject: String? = nil) -> TraceRecord {
        TraceRecord(
            id: id, kind: .smartHome, startedAt: UnixTime(seconds: seconds), duration: .milliseconds(12),
            outcome: .refused, reason: "grant.lwaInvalidGrant", subject: subject,
            steps: [
                TraceRecord.Step(
                    name: "exchange", outcome: .failed, reason: "grant.lwaTimedOut", start: .milliseconds(1),
                    duration: .milliseconds(10)),
                TraceRecord.Step(name: "code", outcome: .ok, start: .milliseconds(0), duration: .milliseconds(1)),
            ], droppedSteps: 3, notes: [TraceRecord.Note(name: "skill", value: "home \"ü\"")])
    }

    @Test("a trace comes back whole, by its id or its subject, newest first", arguments: StoreKind.allCases)
    func traces(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            let (old, new, other) = (
                trace("1", seconds: 100, subject: "u1"), trace("2", seconds: 200, subject: "u1"),
                trace("3", seconds: 300)
            )
            for trace in [new, old, other] { try await store.save(trace) }
            #expect(try await store.trace(id: "2") == new)
            #expect(try await store.trace(id: "4") == nil)
            #expect(try await store.traces(subject: "u1", limit: 10) == [new, old])
            #expect(try await store.traces(subject: "u2", limit: 10).isEmpty)
            #expect(try await store.traces(subject: nil, limit: 2) == [other, new])
            try await store.save(trace("2", seconds: 400, subject: "u9"))
            #expect(try await store.trace(id: "2")?.subject == "u9")
            #expect(try await store.prune(before: UnixTime(seconds: 300)) == 1)
            #expect(try await store.traces(subject: nil, limit: 10).map(\.id) == ["2", "3"])
        }
    }

    @Test("traces are found by kind, outcome and subject together, newest first", arguments: StoreKind.allCases)
    func queries(kind: StoreKind) async throws {
        try await kind.with { store, _ in
            func save(_ id: String, _ kind: Trace.Kind, _ outcome: TraceOutcome, _ subject: String? = nil) async throws
            {
                var trace = trace(id, seconds: 100 + (Int64(id) ?? 0), subject: subject)
                (trace.kind, trace.outcome) = (kind, outcome)
                try await store.save(trace)
            }
            try await save("1", .link, .refused, "u1")
            try await save("2", .link, .ok, "u1")
            try await save("3", .smartHome, .failed, "u1")
            try await save("4", .link, .failed, "u2")
            try await save("5", .link, .failed)
            func ids(_ query: TraceQuery, limit: Int = 10) async throws -> String {
                try await store.traces(matching: query, limit: limit).map(\.id).joined(separator: " ")
            }
            let failures: Set<TraceOutcome> = [.refused, .failed]
            #expect(try await ids(TraceQuery()) == "5 4 3 2 1")
            #expect(try await ids(TraceQuery(kind: .link)) == "5 4 2 1")
            #expect(try await ids(TraceQuery(kind: .link, outcomes: failures)) == "5 4 1")
            #expect(try await ids(TraceQuery(kind: .link, outcomes: failures), limit: 2) == "5 4")
            #expect(try await ids(TraceQuery(kind: .link, outcomes: failures, subject: "u1")) == "1")
            #expect(try await ids(TraceQuery(outcomes: [.failed], subject: "u1")) == "3")
            #expect(try await ids(TraceQuery(outcomes: [], subject: "u1")) == "")
            #expect(try await ids(TraceQuery(subject: "' OR 1=1 --")) == "")
            try await save("1", .link, .ok, "u1")
            #expect(try await ids(TraceQuery(kind: .link, outcomes: failures, subject: "u1")) == "")
        }
    }

    @Test("beyond the limit the oldest go, and no number of other traces pushes out one of a link")
    func limited() async throws {
        try await withFolder { folder in
            let keys = try TestKeys.keys(TestKeys.first)
            let stores: [any TraceStore] = [
                MemoryStore(clock: ManualClock().wall, traceLimit: 8),
                try SQLiteStore(
                    url: "sqlite:\(folder)/store.sqlite", keys: keys, clock: ManualClock().wall, traceLimit: 8),
            ]
            for store in stores {
                for number in 0..<4 {
                    var link = trace("link\(number)", seconds: Int64(number))
                    link.kind = .link
                    try await store.save(link)
                }
                for number in 0..<100 { try await store.save(trace("\(number)", seconds: 1000 + Int64(number))) }
                let kept = try await store.traces(matching: TraceQuery(), limit: 1000).map(\.id)
                #expect(kept == (92..<100).reversed().map { "\($0)" } + ["link3", "link2", "link1", "link0"])
                for number in 4..<20 {
                    var link = trace("link\(number)", seconds: Int64(number))
                    link.kind = .link
                    try await store.save(link)
                }
                let links = try await store.traces(matching: TraceQuery(kind: .link), limit: 1000).map(\.id)
                #expect(links == (12..<20).reversed().map { "link\($0)" })
                #expect(try await store.traces(matching: TraceQuery(kind: .smartHome), limit: 1000).count == 8)
            }
        }
    }
}
