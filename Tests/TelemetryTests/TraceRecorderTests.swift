import Concurrency
import Telemetry
import Testing
import Time

/// Keeps what it is given, once it is let.
private final class GatedStore: TraceStore {
    struct Full: Error {}
    let saved = Locked<[TraceRecord]>([])
    private let gate: AsyncStream<Void>
    private let open: AsyncStream<Void>.Continuation
    private let arrived: AsyncStream<Void>.Continuation
    let arrivals: AsyncStream<Void>
    let fails: Bool

    init(fails: Bool = false) {
        (gate, open) = AsyncStream.makeStream()
        (arrivals, arrived) = AsyncStream.makeStream()
        self.fails = fails
    }

    func release() { open.finish() }

    func save(_ trace: TraceRecord) async throws {
        for await _ in gate {}
        defer { arrived.yield() }
        if fails { throw Full() }
        saved.withLock { saved in saved.append(trace) }
    }

    func trace(id: String) async throws -> TraceRecord? { saved.withLock { $0.first { $0.id == id } } }
    func traces(subject: String?, limit: Int) async throws -> [TraceRecord] {
        saved.withLock { Array($0.prefix(limit)) }
    }
    func traces(matching query: TraceQuery, limit: Int) async throws -> [TraceRecord] {
        saved.withLock { Array($0.filter(query.isMet).prefix(limit)) }
    }
    func prune(before moment: UnixTime) async throws -> Int { 0 }
}

@Suite("What traces are stored", .timeLimit(.minutes(5)))
struct TraceRecorderTests {
    let metrics = Metrics()

    func record(_ kind: Trace.Kind, _ outcome: TraceOutcome, id: String = "a") -> TraceRecord {
        TraceRecord(id: id, kind: kind, startedAt: UnixTime(seconds: 0), duration: .milliseconds(1), outcome: outcome)
    }

    fileprivate func arrivals(_ count: Int, at store: GatedStore) async {
        var iterator = store.arrivals.makeAsyncIterator()
        for _ in 0..<count { _ = await iterator.next() }
    }

    @Test("requests only where refused or failed, link attempts always, in their order")
    func kept() async {
        let store = GatedStore()
        let recorder = TraceRecorder(store: store, log: .silent, metrics: metrics)
        for kind in [Trace.Kind.custom, .smartHome, .other, .link] {
            for outcome in TraceOutcome.allCases { recorder.finish(record(kind, outcome)) }
        }
        store.release()
        await arrivals(10, at: store)
        #expect(
            store.saved.withLock { $0 }.map { "\($0.kind) \($0.outcome)" } == [
                "custom refused", "custom failed", "smartHome refused", "smartHome failed", "other refused",
                "other failed", "link ok", "link refused", "link failed", "link skipped",
            ])
    }

    @Test("a slow store makes traces drop, counted, and holds nobody up")
    func bounded() async {
        let store = GatedStore()
        let recorder = TraceRecorder(store: store, log: .silent, metrics: metrics)
        for number in 0..<1000 { recorder.finish(record(.custom, .failed, id: "\(number)")) }
        let dropped = metrics.counter(.tracesDropped).value
        #expect(dropped >= 1000 - 2 * TraceRecorder.waitingLimit && dropped <= 1000 - TraceRecorder.waitingLimit)
        store.release()
        await arrivals(1000 - dropped, at: store)
        #expect(store.saved.withLock { $0.count } == 1000 - dropped)
    }

    @Test("a store that fails is counted and logged, and the next trace is tried")
    func failing() async {
        let store = GatedStore(fails: true)
        let sink = LogLines()
        let log = Log(level: .info, format: .text, clock: { UnixTime(seconds: 0) }, sink: sink)
        let recorder = TraceRecorder(store: store, log: log, metrics: metrics)
        recorder.finish(record(.link, .ok))
        recorder.finish(record(.link, .ok))
        store.release()
        await arrivals(2, at: store)
        while metrics.counter(.tracesDropped).value < 2 { await Task.yield() }
        recorder.finish(record(.link, .ok))
        await arrivals(1, at: store)
        #expect(store.saved.withLock { $0.isEmpty })
        while metrics.counter(.tracesDropped).value < 3 { await Task.yield() }
        log.flush()
        #expect(sink.lines.contains { $0.contains("trace not stored") })
    }
}
