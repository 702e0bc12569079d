import Alexa
import Crypto
import JSON
import Time

/// The rows and known states of ``MemoryStore``.
struct MemoryOutbox {
    var lanes: [GrantKey: MemoryLane] = [:]
    var known: [String: [String: (state: KnownState, heardAt: Int64)]] = [:]
    private var lastSequence: Int64 = 0

    mutating func post(_ event: PostedEvent, to keys: [GrantKey], at now: Int64, into outcome: inout PostOutcome) {
        for key in keys {
            outcome.rows += 1
            if lanes[key, default: MemoryLane()].merge(event, at: now) { continue }
            lastSequence += 1
            let due = UnixTime(milliseconds: now)
            let row = event.row(sequence: lastSequence, body: event.body, at: now, dueAt: due, attempts: 0)
            outcome.dropped += lanes[key, default: MemoryLane()].append(row, at: now)
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
}

/// The rows of one grant.
struct MemoryLane {
    struct Entry {
        var row: OutboxRow
        /// The lease under which it was given out last.
        var flight: String?
    }

    var lease: LaneLease?
    var pausedUntil: Int64 = 0
    private(set) var count = 0
    /// The rows of each device in their order; no list is empty.
    private var devices: [String: [Entry]] = [:]

    func isLeased(at now: Int64) -> Bool { lease.map { $0.until.milliseconds > now } ?? false }

    /// The first row of each device, in the order of their places.
    var heads: [OutboxRow] { devices.values.compactMap(\.first?.row).sorted { $0.sequence < $1.sequence } }

    /// Marks rows as given out under the lease, which is now the lane's.
    mutating func give(_ rows: [OutboxRow], under lease: LaneLease) {
        self.lease = lease
        for row in rows { devices[row.deviceID]?[0].flight = lease.id }
    }

    /// Removes a row that is as it was given out under the lease.
    mutating func finish(_ row: OutboxRow, _ lease: LaneLease) -> Bool {
        guard let index = index(of: row, lease) else { return false }
        remove(row.deviceID, at: index)
        return true
    }

    /// Lets a row wait that is as it was given out under the lease.
    mutating func postpone(_ row: OutboxRow, until moment: UnixTime, _ lease: LaneLease) -> Bool {
        guard let index = index(of: row, lease), let waiting = devices[row.deviceID]?[index].row else { return false }
        devices[row.deviceID]?[index] = Entry(row: waiting.postponed(until: moment))
        return true
    }

    mutating func merge(_ event: PostedEvent, at now: Int64) -> Bool {
        guard event.kind == .changed, let last = devices[event.deviceID]?.last, last.row.kind == .changed,
            last.row.expiresAt.milliseconds > now, !isInFlight(last, at: now)
        else { return false }
        let body = OutboxRules.merged(last.row.body, with: event.body)
        guard JSONValue.object(body).encoded().count <= PostedEvent.bodyLimitBytes else { return false }
        let row = event.row(
            sequence: last.row.sequence, body: body, at: now, dueAt: last.row.dueAt, attempts: last.row.attempts)
        devices[event.deviceID]?.removeLast()
        devices[event.deviceID]?.append(Entry(row: row))
        return true
    }

    /// Adds a row; says how many others made room for it.
    mutating func append(_ row: OutboxRow, at now: Int64) -> Int {
        defer {
            devices[row.deviceID, default: []].append(Entry(row: row))
            count += 1
        }
        guard count >= LeasedLane.waitingLimit else { return 0 }
        let waiting = devices.values.joined().filter { !isInFlight($0, at: now) }.map(\.row)
        let oldest = waiting.min { left, right in
            (left.kind == .changed ? 0 : 1, left.sequence) < (right.kind == .changed ? 0 : 1, right.sequence)
        }
        guard let oldest, let index = devices[oldest.deviceID]?.firstIndex(where: { $0.row == oldest }) else {
            return 0
        }
        remove(oldest.deviceID, at: index)
        return 1
    }

    /// Removes the rows that are too old to be sent, but those in flight.
    mutating func dropExpired(at now: Int64, into dropped: inout [PostedEvent.Kind: Int]) {
        for (deviceID, entries) in devices {
            for index in entries.indices.reversed()
            where entries[index].row.expiresAt.milliseconds <= now && !isInFlight(entries[index], at: now) {
                dropped[entries[index].row.kind, default: 0] += 1
                remove(deviceID, at: index)
            }
        }
    }

    /// Removes every row; says how many there were.
    mutating func clear() -> Int {
        defer { (devices, count) = ([:], 0) }
        return count
    }

    private mutating func remove(_ deviceID: String, at index: Int) {
        devices[deviceID]?.remove(at: index)
        if devices[deviceID]?.isEmpty == true { devices[deviceID] = nil }
        count -= 1
    }

    private func index(of row: OutboxRow, _ lease: LaneLease) -> Int? {
        devices[row.deviceID]?.firstIndex { $0.row.sequence == row.sequence && $0.flight == lease.id }
    }

    private func isInFlight(_ entry: Entry, at now: Int64) -> Bool {
        isLeased(at: now) && entry.flight != nil && entry.flight == lease?.id
    }
}

extension PostedEvent {
    /// The event as a row, with a new message id.
    fileprivate func row(
        sequence: Int64, body: JSONObject, at now: Int64, dueAt: UnixTime, attempts: Int
    ) -> OutboxRow {
        let now = UnixTime(milliseconds: now)
        return OutboxRow(
            sequence: sequence, deviceID: deviceID, kind: kind, body: body, messageID: SecureRandom.uuid(),
            createdAt: now, expiresAt: now.adding(seconds: kind.lifeSeconds), dueAt: dueAt, attempts: attempts)
    }
}

extension OutboxRow {
    fileprivate func postponed(until moment: UnixTime) -> OutboxRow {
        OutboxRow(
            sequence: sequence, deviceID: deviceID, kind: kind, body: body, messageID: messageID,
            createdAt: createdAt, expiresAt: expiresAt, dueAt: moment, attempts: attempts + 1)
    }
}
