import Alexa
import Crypto
import JSON
import Time

/// Writes events into the lanes of their users, inside a transaction.
struct OutboxPosting {
    let keys: SealingKeys
    let now: Int64

    private struct Lane {
        let id: String
        /// The lease that runs now.
        let lease: String?
    }

    func post(
        _ event: PostedEvent, body: [UInt8], on connection: inout Connection, into outcome: inout PostOutcome
    ) throws(StorageError) {
        let grants = try connection.rows(
            """
            SELECT id, suspended, CASE WHEN lane_until > ?2 THEN lane_lease END FROM grants
            WHERE subject = ?1 AND source = 'events' ORDER BY sequence
            """, [.text(event.subject), .integer(now)])
        guard !grants.isEmpty else { return }
        for grant in grants where grant.integer(1) == 0 {
            let lane = Lane(id: grant.text(0), lease: grant.optionalText(2))
            outcome.rows += 1
            if try merge(event, into: lane, on: &connection) { continue }
            outcome.dropped += try append(event, body: body, to: lane, on: &connection)
        }
        let row = KnownStateRow(keys: keys, subject: event.subject, deviceID: event.deviceID)
        let known = try row.read(on: &connection)
        let news = OutboxRules.known(known, after: event)
        if news != known { try row.write(news, isNew: known == nil, at: now, on: &connection) }
    }

    private func merge(
        _ event: PostedEvent, into lane: Lane, on connection: inout Connection
    ) throws(StorageError) -> Bool {
        guard event.kind == .changed else { return false }
        let last = try connection.row(
            """
            SELECT sequence, kind, body, message_id, expires_at, flight FROM outbox
            WHERE lane = ?1 AND device_id = ?2 ORDER BY sequence DESC LIMIT 1
            """, [.text(lane.id), .text(event.deviceID)])
        guard let last, last.text(1) == PostedEvent.Kind.changed.rawValue, last.integer(4) > now else { return false }
        if let flight = last.optionalText(5), flight == lane.lease { return false }
        let waiting = try Self.body(last.blob(2), messageID: last.text(3), keys)
        let merged = JSONValue.object(OutboxRules.merged(waiting, with: event.body)).encoded()
        guard merged.count <= PostedEvent.bodyLimitBytes else { return false }
        let messageID = SecureRandom.uuid()
        try connection.run(
            """
            UPDATE outbox SET body = ?2, message_id = ?3, created_at = ?4, expires_at = ?5, flight = NULL
            WHERE sequence = ?1
            """,
            [
                .integer(last.integer(0)), .blob(try seal(merged, messageID)), .text(messageID), .integer(now),
                .integer(now + event.kind.lifeSeconds * 1000),
            ])
        return true
    }

    /// Writes a row; says how many others made room for it.
    private func append(
        _ event: PostedEvent, body: [UInt8], to lane: Lane, on connection: inout Connection
    ) throws(StorageError) -> Int {
        let messageID = SecureRandom.uuid()
        let sequence = try connection.row(
            """
            INSERT INTO outbox (lane, device_id, kind, body, message_id, created_at, expires_at, due_at, attempts, head)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?6, 0,
                NOT EXISTS (SELECT 1 FROM outbox WHERE lane = ?1 AND device_id = ?2))
            RETURNING sequence
            """,
            [
                .text(lane.id), .text(event.deviceID), .text(event.kind.rawValue),
                .blob(try seal(body, messageID)), .text(messageID), .integer(now),
                .integer(now + event.kind.lifeSeconds * 1000),
            ])
        let waiting = try connection.row("SELECT count(*) FROM outbox WHERE lane = ?1", [.text(lane.id)])
        guard let sequence, let waiting, waiting.integer(0) > Int64(LeasedLane.waitingLimit) else { return 0 }
        return try connection.run(
            """
            DELETE FROM outbox WHERE sequence =
                (SELECT sequence FROM outbox WHERE lane = ?1 AND sequence < ?2 AND (flight IS NULL OR flight IS NOT ?3)
                ORDER BY kind <> 'changed', sequence LIMIT 1)
            """, [.text(lane.id), .integer(sequence.integer(0)), .optional(lane.lease)])
    }

    private func seal(_ body: [UInt8], _ messageID: String) throws(StorageError) -> [UInt8] {
        try keys.seal(body, in: .outboxBody, row: messageID)
    }

    /// A body as it was posted.
    static func body(
        _ record: [UInt8], messageID: String, _ keys: SealingKeys
    ) throws(StorageError) -> JSONObject {
        let bytes = try keys.open(record, in: .outboxBody, row: messageID)
        guard let body = (try? JSONValue(parsing: bytes))?.object else {
            throw .damaged(table: "outbox", column: "body")
        }
        return body
    }
}

/// The row of a device's known state.
struct KnownStateRow {
    let keys: SealingKeys
    let subject: String
    let deviceID: String

    /// The place that the sealed state is bound to; the length keeps the two parts apart.
    private var place: String { "\(subject.utf8.count) \(subject) \(deviceID)" }

    func read(on connection: inout Connection) throws(StorageError) -> KnownState? {
        let row = try connection.row(
            "SELECT state FROM known_states WHERE subject = ?1 AND device_id = ?2", [.text(subject), .text(deviceID)])
        guard let row else { return nil }
        let bytes = try keys.open(row.blob(0), in: .knownState, row: place)
        guard let state = (try? JSONValue(parsing: bytes)).flatMap(KnownState.init(stored:)) else {
            throw .damaged(table: "known_states", column: "state")
        }
        return state
    }

    /// Writes the state, or removes it where it is nil.
    func write(
        _ state: KnownState?, isNew: Bool, at now: Int64, on connection: inout Connection
    ) throws(StorageError) {
        guard let state else {
            try connection.run(
                "DELETE FROM known_states WHERE subject = ?1 AND device_id = ?2", [.text(subject), .text(deviceID)])
            return
        }
        let sealed = try keys.seal(state.stored.encoded(), in: .knownState, row: place)
        try connection.run(
            """
            INSERT INTO known_states VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET state = ?3, heard_at = ?4
            """, [.text(subject), .text(deviceID), .blob(sealed), .integer(now)])
        guard isNew else { return }
        let devices = try connection.row("SELECT count(*) FROM known_states WHERE subject = ?1", [.text(subject)])
        guard let devices, devices.integer(0) > Int64(KnownState.deviceLimit) else { return }
        try connection.run(
            """
            DELETE FROM known_states WHERE rowid =
                (SELECT rowid FROM known_states WHERE subject = ?1 AND device_id <> ?2
                ORDER BY heard_at, device_id LIMIT 1)
            """, [.text(subject), .text(deviceID)])
    }
}

extension KnownState {
    fileprivate var stored: JSONValue {
        let keys = reported.map { key -> JSONValue in
            [.string(key.interface), key.instance.map(JSONValue.string) ?? .null, .string(key.name)]
        }
        return ["properties": .array(properties), "reported": .array(keys)]
    }

    fileprivate init?(stored: JSONValue) {
        guard let properties = stored["properties"]?.array, let keys = stored["reported"]?.array else { return nil }
        self.init(
            properties: properties,
            reported: Set(
                keys.compactMap { key in
                    guard let parts = key.array, parts.count == 3, let interface = parts[0].string,
                        let name = parts[2].string
                    else { return nil }
                    return PropertyKey(interface: interface, instance: parts[1].string, name: name)
                }))
    }
}
