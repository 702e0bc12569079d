public import Alexa
import Concurrency
import Crypto
import JSON
public import Time

extension MemoryStore: Outbox {
    /// Writes a row a lane for each event and brings the known states up to date; all of it or nothing.
    @discardableResult
    public func post(_ events: [PostedEvent], by deadline: Deadline) async throws(OutboxError) -> PostOutcome {
        _ = try encodedBodies(of: events)
        let now = now
        return state.withLock { state in
            var outcome = PostOutcome()
            for event in events {
                let grants = state.eventGrants(of: event.subject)
                guard !grants.isEmpty else { continue }
                state.outbox.post(
                    event, to: grants.filter { !$0.isSuspended }.map(\.key), at: now, into: &outcome)
                state.outbox.hear(event, at: now)
            }
            return outcome
        }
    }

    /// Takes the lane whose head waits longest, of those that nobody has leased, and gives out its heads.
    public func leaseLane(
        owner: String, for duration: Duration, by deadline: Deadline
    ) async throws(OutboxError) -> LeasedLane? {
        let now = now
        return state.withLock { state in
            var found: (key: GrantKey, due: [OutboxRow], place: (UnixTime, Int64))?
            for (key, lane) in state.outbox.lanes {
                guard state.grants[key]?.grant.isSuspended == false, !lane.isLeased(at: now), lane.pausedUntil <= now
                else { continue }
                let due = lane.heads.filter { $0.dueAt.milliseconds <= now && $0.expiresAt.milliseconds > now }
                guard let place = due.map({ ($0.dueAt, $0.sequence) }).min(by: <) else { continue }
                if let found, found.place < place { continue }
                found = (key, due, place)
            }
            guard let found else { return nil }
            let until = UnixTime(milliseconds: now + milliseconds(duration))
            let lease = LaneLease(key: found.key, id: SecureRandom.uuid(), until: until)
            let rows = Array(found.due.prefix(LeasedLane.rowLimit))
            state.outbox.lanes[found.key]?.give(rows, under: lease)
            return LeasedLane(lease: lease, rows: rows)
        }
    }

    /// Lets a lease run for `duration` from now.
    public func extendLane(
        _ lease: LaneLease, for duration: Duration, by deadline: Deadline
    ) async throws(OutboxError) -> LaneLease? {
        let now = now
        return state.withLock { state in
            guard state.outbox.stands(lease, at: now) else { return nil }
            let until = UnixTime(milliseconds: now + milliseconds(duration))
            let extended = LaneLease(key: lease.key, id: lease.id, until: until)
            state.outbox.lanes[lease.key]?.lease = extended
            return extended
        }
    }

    /// Gives a lane back.
    public func releaseLane(_ lease: LaneLease, by deadline: Deadline) async throws(OutboxError) {
        state.withLock { state in
            if state.outbox.lanes[lease.key]?.lease?.id == lease.id { state.outbox.lanes[lease.key]?.lease = nil }
        }
    }

    /// Gives a lane back and lets none of its rows be given out before `moment`.
    @discardableResult
    public func postponeLane(
        until moment: UnixTime, _ lease: LaneLease, by deadline: Deadline
    ) async throws(OutboxError) -> Bool {
        let now = now
        return state.withLock { state in
            guard state.outbox.stands(lease, at: now) else { return false }
            state.outbox.lanes[lease.key]?.lease = nil
            state.outbox.lanes[lease.key]?.pausedUntil = moment.milliseconds
            return true
        }
    }

    /// Removes a row that was sent or is given up.
    @discardableResult
    public func finish(
        _ row: OutboxRow, _ lease: LaneLease, by deadline: Deadline
    ) async throws(OutboxError) -> Bool {
        state.withLock { state in
            state.outbox.lanes[lease.key]?.finish(row, lease) ?? false
        }
    }

    /// Lets a row wait until `moment` and counts an attempt.
    @discardableResult
    public func postpone(
        _ row: OutboxRow, until moment: UnixTime, _ lease: LaneLease, by deadline: Deadline
    ) async throws(OutboxError) -> Bool {
        state.withLock { state in
            state.outbox.lanes[lease.key]?.postpone(row, until: moment, lease) ?? false
        }
    }

    /// When ``leaseLane(owner:for:by:)`` will next have something; nil where nothing waits.
    public func nextDue(by deadline: Deadline) async throws(OutboxError) -> UnixTime? {
        let now = now
        return state.withLock { state in
            let lanes = state.outbox.lanes.filter { state.grants[$0.key]?.grant.isSuspended == false }.values
            let moments = lanes.flatMap { lane in
                lane.heads.filter { $0.expiresAt.milliseconds > now }.map { head in
                    max(head.dueAt.milliseconds, lane.pausedUntil, lane.lease?.until.milliseconds ?? 0)
                }
            }
            return moments.min().map(UnixTime.init(milliseconds:))
        }
    }

    /// How many rows wait, those in flight included.
    public func waitingRows(by deadline: Deadline) async throws(OutboxError) -> Int {
        state.withLock { state in state.outbox.lanes.values.reduce(0) { $0 + $1.count } }
    }

    /// Removes the rows that are too old to be sent, but those in flight.
    public func dropExpired(by deadline: Deadline) async throws(OutboxError) -> [PostedEvent.Kind: Int] {
        let now = now
        return state.withLock { state in
            var dropped: [PostedEvent.Kind: Int] = [:]
            for key in state.outbox.lanes.keys { state.outbox.lanes[key]?.dropExpired(at: now, into: &dropped) }
            return dropped
        }
    }

    /// Removes every row of the lane, also those in flight.
    @discardableResult
    public func clearLane(_ key: GrantKey, by deadline: Deadline) async throws(OutboxError) -> Int {
        state.withLock { state in
            state.outbox.lanes[key]?.clear() ?? 0
        }
    }

    /// What the device last reported; nil where nothing is known of it.
    public func knownState(
        subject: String, deviceID: String, by deadline: Deadline
    ) async throws(OutboxError) -> KnownState? {
        state.withLock { state in state.outbox.known[subject]?[deviceID]?.state }
    }

    /// Keeps which properties each device reports by itself.
    public func noteDevices(
        subject: String, _ devices: [NotedDevice], by deadline: Deadline
    ) async throws(OutboxError) {
        let now = now
        state.withLock { state in
            guard !state.eventGrants(of: subject).isEmpty else { return }
            for device in devices {
                var known = state.outbox.known[subject]?[device.deviceID]?.state ?? KnownState()
                known.reported = device.reported
                state.outbox.keep(known, of: subject, device.deviceID, at: now)
            }
        }
    }
}

extension MemoryStore: EndpointIDStore {
    /// Keeps a device id by its digest; the first one of a digest stays.
    public func keep(digest: String, deviceID: String, by deadline: Deadline) async throws(OutboxError) {
        state.withLock { state in
            if state.endpointIDs[digest] == nil { state.endpointIDs[digest] = deviceID }
        }
    }

    /// The device id of that digest; nil where none was kept.
    public func deviceID(digest: String, by deadline: Deadline) async throws(OutboxError) -> String? {
        state.withLock { state in state.endpointIDs[digest] }
    }
}

/// The bodies of the events as JSON.
func encodedBodies(of events: [PostedEvent]) throws(OutboxError) -> [[UInt8]] {
    var bodies: [[UInt8]] = []
    for (index, event) in events.enumerated() {
        let body = JSONValue.object(event.body).encoded()
        guard body.count <= PostedEvent.bodyLimitBytes else { throw .tooLarge(index: index) }
        bodies.append(body)
    }
    return bodies
}

extension MemoryStore.State {
    /// The user's `events` grants, in the order of their places.
    fileprivate func eventGrants(of subject: String) -> [Grant] {
        grants.values.map(\.grant).filter { $0.key.source == .events && $0.key.subject == subject }
            .sorted { $0.sequence < $1.sequence }
    }
}

extension MemoryOutbox {
    fileprivate func stands(_ lease: LaneLease, at now: Int64) -> Bool {
        lanes[lease.key].map { $0.lease?.id == lease.id && $0.isLeased(at: now) } ?? false
    }
}
