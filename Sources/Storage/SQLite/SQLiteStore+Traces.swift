import Concurrency
public import Telemetry
public import Time

extension SQLiteStore: TraceStore {
    /// How many traces are kept at most; beyond that the oldest go.
    public static let traceLimit: Int64 = 50_000

    /// Keeps `trace`, in place of one of the same id.
    public func save(_ trace: TraceRecord) async throws {
        let mustTrim = savedTraces.withLock { count in
            count &+= 1
            return count % 256 == 1
        }
        try await database.write(by: .ofBackgroundWork) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                "INSERT OR REPLACE INTO traces VALUES (?1, ?2, ?3, ?4)",
                [
                    .text(trace.id), .integer(trace.startedAt.milliseconds), .optional(trace.subject),
                    .blob(trace.stored),
                ])
            guard mustTrim else { return }
            try connection.run(
                """
                DELETE FROM traces WHERE id IN
                    (SELECT id FROM traces ORDER BY started_at DESC LIMIT -1 OFFSET ?1)
                """, [.integer(Self.traceLimit)])
        }
    }

    /// The trace of that id; nil where there is none.
    public func trace(id: String) async throws -> TraceRecord? {
        try await database.read(by: .ofBackgroundWork) { (connection: inout Connection) throws(StorageError) in
            try connection.row("SELECT record FROM traces WHERE id = ?1", [.text(id)])
                .flatMap { TraceRecord(stored: $0.blob(0)) }
        }
    }

    /// The latest traces of a subject, or of all where it is nil, newest first, at most `limit`.
    public func traces(subject: String?, limit: Int) async throws -> [TraceRecord] {
        try await database.read(by: .ofBackgroundWork) { (connection: inout Connection) throws(StorageError) in
            let rows =
                if let subject {
                    try connection.rows(
                        "SELECT record FROM traces WHERE subject = ?1 ORDER BY started_at DESC, id LIMIT ?2",
                        [.text(subject), .integer(Int64(limit))])
                } else {
                    try connection.rows(
                        "SELECT record FROM traces ORDER BY started_at DESC, id LIMIT ?1", [.integer(Int64(limit))])
                }
            return rows.compactMap { TraceRecord(stored: $0.blob(0)) }
        }
    }

    /// Drops what began before `moment`; says how many.
    @discardableResult
    public func prune(before moment: UnixTime) async throws -> Int {
        try await database.write(by: .ofBackgroundWork) { (connection: inout Connection) throws(StorageError) in
            try connection.run("DELETE FROM traces WHERE started_at < ?1", [.integer(moment.milliseconds)])
        }
    }
}
