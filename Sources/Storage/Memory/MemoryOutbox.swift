import Alexa
import Crypto
import JSON
import Time

/// The rows and known states of ``MemoryStore``.
struct MemoryOutbox {
    struct Lane {
        /// In the order of their sequence.
        var rows: [Entry] = []
        var lease: LaneLease?
        var pausedUntil: Int64 = 0

        func isLeased(at now: Int64) -> Bool { lease.map { $0.until.milliseconds > now } ?? false }

        func isInFlight(_ entry: Entry, at now: Int64) -> Bool {
            isLeased(at: now) && entry.flight != nil && entry.flight == lease?.id
        }

        /// The first row of each device, in the order of their sequence.
        var heads: [OutboxRow] {
            var devices: Set<String> = []
            return rows.map(\.row).filter { devices.insert($0.deviceID).inserted }
        }
    }

    struct Entry {
        var row: OutboxRow
        /// The lease under which it was given out last.
        var flight: String?
    }

    var lanes: [GrantKey: Lane] = [:]
    var known: [String: [String: (state: KnownState, heardAt: Int64)]] = [:]
    private var lastSequence: Int64 = 0

    mutating func post(_ event: PostedEvent, to keys: [GrantKey], at now: Int64, into outcome: inout PostOutcome) {
        for key in keys {
            outcome.rows += 1
            if !merge(event, into: key, at: now) { outcome.dropped += append(event, to: key, at: now) }
        }
    }

    mutating func hear(_ event: PostedEvent, at now: Int64) {
        let before = known[event.subject]?[event.deviceID]?.state
        keep(OutboxRules.known(before, after: event), of: event.subject, event.deviceID, at: now)
    }

    mutating func keep(_ state: KnownState?, of subject: String, _ deviceID: String, at now: Int64) {
        known[subject, default: [:]][deviceID] = state.map { ($0, now) }
        guard let devices = known[subject], devices.count > KnownState.deviceLimit else { return }
        let others = devices.filter { $0.key != deviceID }
        let oldest = others.min { ($0.value.heardAt, $0.key) < ($1.value.heardAt, $1.key) }
        if let oldest { known[subject]?[oldest.key] = nil }
    }

    private mutating func merge(_ event: PostedEvent, into key: GrantKey, at now: Int64) -> Bool {
        guard event.kind == .changed, let lane = lanes[key],
            let index = lane.rows.lastIndex(where: { $0.row.deviceID == event.deviceID }),
            lane.rows[index].row.kind == .changed, lane.rows[index].row.expiresAt.milliseconds > now,
            !lane.isInFlight(lane.rows[index], at: now)
        else { return false }
        let row = lane.rows[index].row
        let body = OutboxRules.merged(row.body, with: event.body)
        guard JSONValue.object(body).encoded().count <= PostedEvent.bodyLimitBytes else { return false }
        let merged = event.row(
            sequence: row.sequence, body: body, at: now, dueAt: row.dueAt, attempts: row.attempts)
        lanes[key]?.rows[index] = Entry(row: merged)
        return true
    }

    private mutating func append(_ event: PostedEvent, to key: GrantKey, at now: Int64) -> Int {
        lastSequence += 1
        let due = UnixTime(milliseconds: now)
        let row = event.row(sequence: lastSequence, body: event.body, at: now, dueAt: due, attempts: 0)
        lanes[key, default: Lane()].rows.append(Entry(row: row))
        guard let lane = lanes[key], lane.rows.count > LeasedLane.waitingLimit else { return 0 }
        let waiting = lane.rows.dropLast().indices.filter { !lane.isInFlight(lane.rows[$0], at: now) }
        guard let index = waiting.first(where: { lane.rows[$0].row.kind == .changed }) ?? waiting.first else {
            return 0
        }
        lanes[key]?.rows.remove(at: index)
        return 1
    }
}

extension PostedEvent {
    /// The event as a row, with a new message id.
    func row(sequence: Int64, body: JSONObject, at now: Int64, dueAt: UnixTime, attempts: Int) -> OutboxRow {
        let now = UnixTime(milliseconds: now)
        return OutboxRow(
            sequence: sequence, deviceID: deviceID, kind: kind, body: body, messageID: SecureRandom.uuid(),
            createdAt: now, expiresAt: now.adding(seconds: kind.lifeSeconds), dueAt: dueAt, attempts: attempts)
    }
}
