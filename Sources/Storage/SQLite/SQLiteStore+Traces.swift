import Concurrency
public import Telemetry
public import Time

extension SQLiteStore: TraceStore {
    /// Keeps `trace`, in place of one of the same id.
    public func save(_ trace: TraceRecord) async throws {
        let mustTrim = savedTraces.withLock { count in
            defer { count &+= 1 }
            return count % Int(min(256, max(1, traceLimit / 16))) == 0
        }
        try await database.write(by: .ofBackgroundWork) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                """
                INSERT OR REPLACE INTO traces (id, started_at, subject, record, kind, outcome)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                """,
                [
                    .text(trace.id), .integer(trace.startedAt.milliseconds), .optional(trace.subject),
                    .blob(trace.stored), .text(trace.kind.rawValue), .text(trace.outcome.rawValue),
                ])
            guard mustTrim else { return }
            // Apart from each other: whoever sends refused requests by the thousand pushes out no trace of a link.
            for isLink in [Int64(0), 1] {
                try connection.run(
                    """
                    DELETE FROM traces WHERE id IN
                        (SELECT id FROM traces WHERE (kind = 'link') = ?1
                            ORDER BY started_at DESC LIMIT -1 OFFSET ?2)
                    """, [.integer(isLink), .integer(traceLimit)])
            }
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
        try await traces(matching: TraceQuery(subject: subject), limit: limit)
    }

    /// The latest traces of what `query` describes, newest first, at most `limit`.
    public func traces(matching query: TraceQuery, limit: Int) async throws -> [TraceRecord] {
        var conditions: [String] = []
        var values: [SQLValue] = []
        func place(_ value: SQLValue) -> String {
            values.append(value)
            return "?\(values.count)"
        }
        if let subject = query.subject { conditions.append("subject = \(place(.text(subject)))") }
        if let kind = query.kind { conditions.append("kind = \(place(.text(kind.rawValue)))") }
        if let outcomes = query.outcomes {
            let places = outcomes.map { place(.text($0.rawValue)) }
            conditions.append("outcome IN (\(places.joined(separator: ", ")))")
        }
        let selection = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))"
        let most = place(.integer(Int64(limit)))
        let sql = "SELECT record FROM traces \(selection) ORDER BY started_at DESC, id LIMIT \(most)"
        let bound = values
        return try await database.read(by: .ofBackgroundWork) { (connection: inout Connection) throws(StorageError) in
            try connection.rows(sql, bound).compactMap { TraceRecord(stored: $0.blob(0)) }
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
