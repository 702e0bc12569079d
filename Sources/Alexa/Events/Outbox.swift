public import Time

/// Keeps the events that are to be sent to Alexa until they are sent: SQLite in the program, memory in tests.
///
/// Each `events` grant is a lane. A posting writes a row into every lane of the user; a worker leases a lane, sends its
/// heads one after another, and finishes or postpones each. Whoever sends holds no transaction meanwhile: a lease ends
/// by the store's clock, and what was given out under it is then given out again with the same message id.
public protocol Outbox: Sendable {
    /// Writes a row a lane for each event, in order, and brings the known states up to date; all of it or nothing.
    ///
    /// The lanes are the user's `events` grants that are not suspended. A `changed` event joins the last row of that
    /// lane and device where that is a waiting `changed` row which is not in flight: the newest value of each property
    /// wins, the message id is new, its turn and its attempts stay. A full lane loses its oldest `changed` row.
    /// Of a user without any `events` grant nothing is written and nothing known.
    ///
    /// - Throws: ``OutboxError``; then nothing is written, but after `timedOut` it may be.
    @discardableResult
    func post(_ events: [PostedEvent], by deadline: Deadline) async throws(OutboxError) -> PostOutcome

    /// Takes the lane whose head waits longest, of those that nobody has leased, and gives out its heads.
    ///
    /// A head is a row that is due, not expired, and has no earlier row of the same device in its lane. The rows are in
    /// flight, and never changed, until they are finished or postponed, or the lease ends.
    ///
    /// - Parameters:
    ///   - owner: Names the caller, for whoever looks at the store.
    ///   - duration: How long the lease runs unless it is extended.
    ///   - deadline: When the caller gives up.
    /// - Returns: The lane with at most ``LeasedLane/rowLimit`` rows, or nil where no lane has a head that is due.
    /// - Throws: ``OutboxError`` where the store does not answer by the deadline.
    func leaseLane(
        owner: String, for duration: Duration, by deadline: Deadline
    ) async throws(OutboxError) -> LeasedLane?

    /// Lets a lease run for `duration` from now.
    ///
    /// - Returns: The lease as it is now, or nil where it ended and somebody else may have the lane.
    /// - Throws: ``OutboxError`` where the store does not answer by the deadline.
    func extendLane(
        _ lease: LaneLease, for duration: Duration, by deadline: Deadline
    ) async throws(OutboxError) -> LaneLease?

    /// Gives a lane back; rows that were neither finished nor postponed are due again.
    ///
    /// - Throws: ``OutboxError`` where the store does not answer by the deadline.
    func releaseLane(_ lease: LaneLease, by deadline: Deadline) async throws(OutboxError)

    /// Gives a lane back and lets none of its rows be given out before `moment`.
    ///
    /// - Returns: Whether the lease still stood; where not, nothing was written.
    /// - Throws: ``OutboxError`` where the store does not answer by the deadline.
    @discardableResult
    func postponeLane(
        until moment: UnixTime, _ lease: LaneLease, by deadline: Deadline
    ) async throws(OutboxError) -> Bool

    /// Removes a row that was sent or is given up.
    ///
    /// - Returns: Whether it was still as it was given out; where not, it stays and will be sent.
    /// - Throws: ``OutboxError`` where the store does not answer by the deadline.
    @discardableResult
    func finish(_ row: OutboxRow, _ lease: LaneLease, by deadline: Deadline) async throws(OutboxError) -> Bool

    /// Lets a row wait until `moment` and counts an attempt; the device's later rows wait behind it.
    ///
    /// - Returns: Whether it was still as it was given out; where not, nothing was written.
    /// - Throws: ``OutboxError`` where the store does not answer by the deadline.
    @discardableResult
    func postpone(
        _ row: OutboxRow, until moment: UnixTime, _ lease: LaneLease, by deadline: Deadline
    ) async throws(OutboxError) -> Bool

    /// When ``leaseLane(owner:for:by:)`` will next have something, as far as it is known now; nil where nothing waits.
    ///
    /// - Throws: ``OutboxError`` where the store does not answer by the deadline.
    func nextDue(by deadline: Deadline) async throws(OutboxError) -> UnixTime?

    /// How many rows wait, those in flight included.
    ///
    /// - Throws: ``OutboxError`` where the store does not answer by the deadline.
    func waitingRows(by deadline: Deadline) async throws(OutboxError) -> Int

    /// Removes the rows that are too old to be sent, but those in flight.
    ///
    /// - Returns: How many of each kind.
    /// - Throws: ``OutboxError`` where the store does not answer by the deadline.
    func dropExpired(by deadline: Deadline) async throws(OutboxError) -> [PostedEvent.Kind: Int]

    /// Removes every row of the lane, also those in flight.
    ///
    /// - Returns: How many there were.
    /// - Throws: ``OutboxError`` where the store does not answer by the deadline.
    @discardableResult
    func clearLane(_ key: GrantKey, by deadline: Deadline) async throws(OutboxError) -> Int

    /// What the device last reported; nil where nothing is known of it.
    ///
    /// - Throws: ``OutboxError`` where the store does not answer by the deadline.
    func knownState(
        subject: String, deviceID: String, by deadline: Deadline
    ) async throws(OutboxError) -> KnownState?

    /// Keeps which properties each device reports by itself, as a discovery said; other devices stay as they are.
    ///
    /// Of a user without any `events` grant nothing is kept.
    ///
    /// - Throws: ``OutboxError`` where the store does not answer by the deadline.
    func noteDevices(
        subject: String, _ devices: [NotedDevice], by deadline: Deadline
    ) async throws(OutboxError)
}

/// Keeps the device ids that are too long to be written into an endpoint id, by their digest.
public protocol EndpointIDStore: Sendable {
    /// Keeps a device id by its digest; the first one of a digest stays.
    ///
    /// - Throws: ``OutboxError`` where it is not safely on disk by the deadline.
    func keep(digest: String, deviceID: String, by deadline: Deadline) async throws(OutboxError)

    /// The device id of that digest; nil where none was kept.
    ///
    /// - Throws: ``OutboxError`` where the store does not answer by the deadline.
    func deviceID(digest: String, by deadline: Deadline) async throws(OutboxError) -> String?
}

/// Why the outbox did not do what was asked.
public enum OutboxError: Error, Hashable, Sendable {
    /// The deadline passed first; a write may have been done or not.
    case timedOut
    /// The store cannot be used; the text is for the log and holds no stored value.
    case unavailable(String)
    /// The event at that place of the posting is larger than ``PostedEvent/bodyLimitBytes``; nothing was written.
    case tooLarge(index: Int)
}
