import Concurrency
public import Telemetry
public import Time

extension MemoryStore: TraceStore {
    /// Keeps `trace`, in place of one of the same id.
    public func save(_ trace: TraceRecord) async throws {
        state.withLock { state in
            state.traces[trace.id] = trace
            guard state.traces.count > traceLimit else { return }
            let sort = state.traces.values.filter { ($0.kind == .link) == (trace.kind == .link) }
            if sort.count > traceLimit, let oldest = sort.min(by: { $0.startedAt < $1.startedAt }) {
                state.traces[oldest.id] = nil
            }
        }
    }

    /// The trace of that id; nil where there is none.
    public func trace(id: String) async throws -> TraceRecord? {
        state.withLock { state in state.traces[id] }
    }

    /// The latest traces of a subject, or of all where it is nil, newest first, at most `limit`.
    public func traces(subject: String?, limit: Int) async throws -> [TraceRecord] {
        try await traces(matching: TraceQuery(subject: subject), limit: limit)
    }

    /// The latest traces of what `query` describes, newest first, at most `limit`.
    public func traces(matching query: TraceQuery, limit: Int) async throws -> [TraceRecord] {
        state.withLock { state in Array(state.sortedTraces.filter(query.isMet).prefix(limit)) }
    }

    /// Drops what began before `moment`; says how many.
    @discardableResult
    public func prune(before moment: UnixTime) async throws -> Int {
        state.withLock { state in
            let before = state.traces.count
            state.traces = state.traces.filter { $0.value.startedAt >= moment }
            return before - state.traces.count
        }
    }
}

extension MemoryStore.State {
    fileprivate var sortedTraces: [TraceRecord] {
        traces.values.sorted { $0.startedAt == $1.startedAt ? $0.id < $1.id : $0.startedAt > $1.startedAt }
    }
}
