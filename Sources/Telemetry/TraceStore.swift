import Concurrency
public import Time

/// Keeps traces of link attempts, and of requests that were refused or failed.
public protocol TraceStore: Sendable {
    /// Keeps `trace`, in place of one of the same id.
    func save(_ trace: TraceRecord) async throws

    /// The trace of that id; nil where there is none.
    func trace(id: String) async throws -> TraceRecord?

    /// The latest traces of a subject, or of all where it is nil, newest first, at most `limit`.
    func traces(subject: String?, limit: Int) async throws -> [TraceRecord]

    /// The latest traces of what `query` describes, newest first, at most `limit`.
    func traces(matching query: TraceQuery, limit: Int) async throws -> [TraceRecord]

    /// Drops what began before `moment`; says how many.
    @discardableResult
    func prune(before moment: UnixTime) async throws -> Int
}

/// Which traces are meant; what is nil does not matter.
public struct TraceQuery: Sendable, Hashable {
    /// What they tell of.
    public var kind: Trace.Kind?
    /// What became of it: one of these.
    public var outcomes: Set<TraceOutcome>?
    /// Whose they are.
    public var subject: String?

    /// Traces of that kind, with one of those outcomes, of that subject.
    public init(kind: Trace.Kind? = nil, outcomes: Set<TraceOutcome>? = nil, subject: String? = nil) {
        self.kind = kind
        self.outcomes = outcomes
        self.subject = subject
    }

    /// Whether a trace is meant.
    public func isMet(by trace: TraceRecord) -> Bool {
        (kind ?? trace.kind) == trace.kind && outcomes?.contains(trace.outcome) != false
            && (subject ?? trace.subject) == trace.subject
    }
}

/// Hears of every trace when it ends, and of calls to the provider's server: a developer's tool.
public protocol TraceObserver: Sendable {
    /// A trace ended; called in the task of its request where there is one, and must not wait.
    func finished(_ trace: TraceRecord)
    /// The provider's server was called for the user's resource at `path`; `outcome` is a status or what went wrong.
    func called(_ path: String, outcome: String, duration: Duration)
}

/// Hands finished traces to a store after the answer has left.
///
/// At most ``waitingLimit`` wait; more are dropped and counted, so a slow store never holds a request or memory.
public final class TraceRecorder: Sendable {
    /// How many traces wait for the store.
    public static let waitingLimit = 256

    private struct Waiting: Sendable {
        var traces: [TraceRecord] = []
        var isSaving = false
    }

    private let waiting = Locked(Waiting())
    private let store: any TraceStore
    private let dropped: Counter
    private let log: Log
    private let observer: (any TraceObserver)?

    /// A recorder in front of `store`; `observer` hears of every trace.
    public init(store: any TraceStore, log: Log, metrics: Metrics, observer: (any TraceObserver)? = nil) {
        self.store = store
        self.log = log
        self.observer = observer
        dropped = metrics.counter(.tracesDropped)
    }

    /// Whether traces are wanted of what went well too, which are not kept.
    public var wantsAll: Bool { observer != nil }

    /// Stores `trace` soon, if it is one that is kept.
    public func finish(_ trace: TraceRecord) {
        observer?.finished(trace)
        guard trace.kind == .link || trace.outcome == .refused || trace.outcome == .failed else { return }
        let mustStart = waiting.withLock { waiting -> Bool? in
            guard waiting.traces.count < Self.waitingLimit else { return nil }
            waiting.traces.append(trace)
            defer { waiting.isSaving = true }
            return !waiting.isSaving
        }
        switch mustStart {
        case .none: dropped.add()
        case .some(true): Task { await saveAll() }
        case .some(false): break
        }
    }

    private func saveAll() async {
        while true {
            let batch = waiting.withLock { waiting in
                defer { waiting.traces = [] }
                waiting.isSaving = !waiting.traces.isEmpty
                return waiting.traces
            }
            if batch.isEmpty { return }
            for trace in batch {
                do {
                    try await store.save(trace)
                } catch {
                    dropped.add()
                    log.error("trace not stored")
                }
            }
        }
    }
}
