public import Alexa
import Crypto
import JSON
public import Time

extension SQLiteStore: Outbox {
    /// Writes a row a lane for each event and brings the known states up to date; all of it or nothing.
    @discardableResult
    public func post(_ events: [PostedEvent], by deadline: Deadline) async throws(OutboxError) -> PostOutcome {
        let bodies = try encodedBodies(of: events)
        return try await writeOutbox(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let posting = OutboxPosting(keys: keys, now: now)
            var outcome = PostOutcome()
            for (event, body) in zip(events, bodies) {
                try posting.post(event, body: body, on: &connection, into: &outcome)
            }
            return outcome
        }
    }

    /// Takes the lane whose head waits longest, of those that nobody has leased, and gives out its heads.
    public func leaseLane(
        owner: String, for duration: Duration, by deadline: Deadline
    ) async throws(OutboxError) -> LeasedLane? {
        try await writeOutbox(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let now = now
            // CROSS JOIN: by the due heads, in their order, whatever SQLite makes of the sizes of the tables.
            let lane = try connection.row(
                """
                SELECT \(keyColumns) FROM grants WHERE id =
                    (SELECT lane FROM outbox CROSS JOIN grants ON grants.id = lane
                    WHERE head = 1 AND due_at <= ?1 AND outbox.expires_at > ?1
                        AND suspended = 0 AND lane_until <= ?1 AND lane_paused_until <= ?1
                    ORDER BY due_at, outbox.sequence LIMIT 1)
                """, [.integer(now)])
            guard let lane else { return nil }
            let id = SecureRandom.uuid()
            let until = now + milliseconds(duration)
            try connection.run(
                "UPDATE grants SET lane_lease = ?2, lane_owner = ?3, lane_until = ?4 WHERE id = ?1",
                [.text(lane.text(0)), .text(id), .text(owner), .integer(until)])
            let given = try connection.rows(
                """
                UPDATE outbox SET flight = ?2 WHERE sequence IN
                    (SELECT sequence FROM outbox WHERE lane = ?1 AND head = 1 AND due_at <= ?3 AND expires_at > ?3
                    ORDER BY sequence LIMIT ?4)
                RETURNING \(rowColumns)
                """,
                [.text(lane.text(0)), .text(id), .integer(now), .integer(Int64(LeasedLane.rowLimit))])
            var rows: [OutboxRow] = []
            for row in given { rows.append(try outboxRow(from: row)) }
            return LeasedLane(
                lease: LaneLease(key: try grantKey(from: lane), id: id, until: UnixTime(milliseconds: until)),
                rows: rows.sorted { $0.sequence < $1.sequence })
        }
    }

    /// Lets a lease run for `duration` from now.
    public func extendLane(
        _ lease: LaneLease, for duration: Duration, by deadline: Deadline
    ) async throws(OutboxError) -> LaneLease? {
        try await writeOutbox(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let now = now
            let until = now + milliseconds(duration)
            let extended = try connection.run(
                "UPDATE grants SET lane_until = ?9 WHERE \(isKey) AND lane_lease = ?7 AND lane_until > ?8",
                values(of: lease.key) + [.text(lease.id), .integer(now), .integer(until)])
            guard extended > 0 else { return nil }
            return LaneLease(key: lease.key, id: lease.id, until: UnixTime(milliseconds: until))
        }
    }

    /// Gives a lane back.
    public func releaseLane(_ lease: LaneLease, by deadline: Deadline) async throws(OutboxError) {
        try await writeOutbox(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                """
                UPDATE grants SET lane_lease = NULL, lane_owner = NULL, lane_until = 0
                WHERE \(isKey) AND lane_lease = ?7
                """, values(of: lease.key) + [.text(lease.id)])
        }
    }

    /// Gives a lane back and lets none of its rows be given out before `moment`.
    @discardableResult
    public func postponeLane(
        until moment: UnixTime, _ lease: LaneLease, by deadline: Deadline
    ) async throws(OutboxError) -> Bool {
        try await writeOutbox(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                """
                UPDATE grants SET lane_lease = NULL, lane_owner = NULL, lane_until = 0, lane_paused_until = ?9
                WHERE \(isKey) AND lane_lease = ?7 AND lane_until > ?8
                """,
                values(of: lease.key) + [.text(lease.id), .integer(now), .integer(moment.milliseconds)]) > 0
        }
    }

    /// Removes a row that was sent or is given up.
    @discardableResult
    public func finish(
        _ row: OutboxRow, _ lease: LaneLease, by deadline: Deadline
    ) async throws(OutboxError) -> Bool {
        try await writeOutbox(by: deadline) { (connection: inout Connection) throws(StorageError) in
            // Not the row's lease alone but the row itself says whether it is as it was given out.
            try connection.run(
                "DELETE FROM outbox WHERE sequence = ?1 AND flight = ?2", [.integer(row.sequence), .text(lease.id)]) > 0
        }
    }

    /// Lets a row wait until `moment` and counts an attempt.
    @discardableResult
    public func postpone(
        _ row: OutboxRow, until moment: UnixTime, _ lease: LaneLease, by deadline: Deadline
    ) async throws(OutboxError) -> Bool {
        try await writeOutbox(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                """
                UPDATE outbox SET due_at = ?3, attempts = attempts + 1, flight = NULL
                WHERE sequence = ?1 AND flight = ?2
                """, [.integer(row.sequence), .text(lease.id), .integer(moment.milliseconds)]) > 0
        }
    }

    /// When ``leaseLane(owner:for:by:)`` will next have something; nil where nothing waits.
    public func nextDue(by deadline: Deadline) async throws(OutboxError) -> UnixTime? {
        try await readOutbox(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let row = try connection.row(
                """
                SELECT min(max(due_at, lane_paused_until, lane_until)) FROM outbox INDEXED BY outbox_due
                JOIN grants ON grants.id = lane
                WHERE head = 1 AND outbox.expires_at > ?1 AND suspended = 0
                """, [.integer(now)])
            return row?.optionalInteger(0).map(UnixTime.init(milliseconds:))
        }
    }

    /// How many rows wait, those in flight included.
    public func waitingRows(by deadline: Deadline) async throws(OutboxError) -> Int {
        try await readOutbox(by: deadline) { (connection: inout Connection) throws(StorageError) in
            Int(try connection.row("SELECT count(*) FROM outbox")?.integer(0) ?? 0)
        }
    }

    /// Removes the rows that are too old to be sent, but those in flight.
    public func dropExpired(by deadline: Deadline) async throws(OutboxError) -> [PostedEvent.Kind: Int] {
        try await writeOutbox(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let rows = try connection.rows(
                """
                DELETE FROM outbox WHERE expires_at <= ?1 AND (flight IS NULL OR NOT EXISTS
                    (SELECT 1 FROM grants WHERE id = lane AND lane_lease = flight AND lane_until > ?1))
                RETURNING kind
                """, [.integer(now)])
            return Dictionary(rows.compactMap { row in PostedEvent.Kind(rawValue: row.text(0)).map { ($0, 1) } }) {
                $0 + $1
            }
        }
    }

    /// Removes every row of the lane, also those in flight.
    @discardableResult
    public func clearLane(_ key: GrantKey, by deadline: Deadline) async throws(OutboxError) -> Int {
        try await writeOutbox(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                "DELETE FROM outbox WHERE lane = (SELECT id FROM grants WHERE \(isKey))", values(of: key))
        }
    }

    /// What the device last reported; nil where nothing is known of it.
    public func knownState(
        subject: String, deviceID: String, by deadline: Deadline
    ) async throws(OutboxError) -> KnownState? {
        try await readOutbox(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try KnownStateRow(keys: keys, subject: subject, deviceID: deviceID).read(on: &connection)
        }
    }

    /// Keeps which properties each device reports by itself.
    public func noteDevices(
        subject: String, _ devices: [NotedDevice], by deadline: Deadline
    ) async throws(OutboxError) {
        try await writeOutbox(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let hasGrant = try connection.row(
                "SELECT 1 FROM grants WHERE subject = ?1 AND source = 'events' LIMIT 1", [.text(subject)])
            guard hasGrant != nil else { return }
            for device in devices {
                let row = KnownStateRow(keys: keys, subject: subject, deviceID: device.deviceID)
                let known = try row.read(on: &connection)
                guard known?.reported != device.reported else { continue }
                var state = known ?? KnownState()
                state.reported = device.reported
                try row.write(state, isNew: known == nil, at: now, on: &connection)
            }
        }
    }
}

extension SQLiteStore: EndpointIDStore {
    /// Keeps a device id by its digest; the first one of a digest stays.
    public func keep(digest: String, deviceID: String, by deadline: Deadline) async throws(OutboxError) {
        try await writeOutbox(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                "INSERT INTO endpoint_ids VALUES (?1, ?2) ON CONFLICT DO NOTHING", [.text(digest), .text(deviceID)])
        }
    }

    /// The device id of that digest; nil where none was kept.
    public func deviceID(digest: String, by deadline: Deadline) async throws(OutboxError) -> String? {
        try await readOutbox(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.row("SELECT device_id FROM endpoint_ids WHERE digest = ?1", [.text(digest)])?.text(0)
        }
    }
}

// MARK: - Rows

private let rowColumns = """
    sequence, device_id, kind, body, message_id, created_at, expires_at, due_at, attempts
    """

extension SQLiteStore {
    private func outboxRow(from row: Row) throws(StorageError) -> OutboxRow {
        guard let kind = PostedEvent.Kind(rawValue: row.text(2)) else {
            throw .damaged(table: "outbox", column: "kind")
        }
        return OutboxRow(
            sequence: row.integer(0), deviceID: row.text(1), kind: kind,
            body: try OutboxPosting.body(row.blob(3), messageID: row.text(4), keys), messageID: row.text(4),
            createdAt: UnixTime(milliseconds: row.integer(5)), expiresAt: UnixTime(milliseconds: row.integer(6)),
            dueAt: UnixTime(milliseconds: row.integer(7)), attempts: Int(row.integer(8)))
    }

    @discardableResult
    private func writeOutbox<Value: Sendable>(
        by deadline: Deadline, _ body: @Sendable (inout Connection) throws(StorageError) -> Value
    ) async throws(OutboxError) -> Value {
        do throws(StorageError) {
            return try await database.write(by: deadline, body)
        } catch { throw OutboxError(error) }
    }

    private func readOutbox<Value: Sendable>(
        by deadline: Deadline, _ body: @Sendable (inout Connection) throws(StorageError) -> Value
    ) async throws(OutboxError) -> Value {
        do throws(StorageError) {
            return try await database.read(by: deadline, body)
        } catch { throw OutboxError(error) }
    }
}

extension OutboxError {
    fileprivate init(_ error: StorageError) {
        self = error == .timedOut ? .timedOut : .unavailable(error.description)
    }
}
