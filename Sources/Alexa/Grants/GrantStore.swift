public import Time

/// Keeps Amazon's grants: SQLite in the program, memory in tests and replays.
///
/// Whoever calls Amazon holds no transaction meanwhile. One caller across all processes owns the row through a
/// lease (owner, and `leaseUntil` by the store's clock); the others ask again until their deadline. A result is
/// written only while its owner's lease and the version it read still stand.
public protocol GrantStore: Sendable {
    /// Writes something and waits until it is on disk, to learn whether the store can be written.
    ///
    /// - Throws: ``GrantStoreError`` where that fails or takes until past the deadline.
    func probeWriting(by deadline: Deadline) async throws(GrantStoreError)

    /// The next place among grants, larger than all given out before by any process.
    ///
    /// - Throws: ``GrantStoreError`` where the store does not answer by the deadline.
    func nextGrantSequence(by deadline: Deadline) async throws(GrantStoreError) -> Int64

    /// Stores the tokens unless a grant of a later place is there already; lifts a suspension and ends a lease.
    ///
    /// - Returns: Whether these tokens are now the stored ones.
    /// - Throws: ``GrantStoreError`` where they are not safely on disk by the deadline.
    @discardableResult
    func put(
        _ credentials: AmazonCredentials, for key: GrantKey, sequence: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool

    /// The grant of that key.
    ///
    /// - Throws: ``GrantStoreError`` where the store does not answer by the deadline.
    func grant(_ key: GrantKey, by deadline: Deadline) async throws(GrantStoreError) -> Grant?

    /// Every grant of the user, in the order of their places.
    ///
    /// - Throws: ``GrantStoreError`` where the store does not answer by the deadline.
    func grants(of subject: String, by deadline: Deadline) async throws(GrantStoreError) -> [Grant]

    /// Deletes one grant, and what waits in its lane of the outbox.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: ``GrantStoreError`` where the store does not answer by the deadline.
    @discardableResult
    func deleteGrant(_ key: GrantKey, by deadline: Deadline) async throws(GrantStoreError) -> Bool

    /// Deletes one grant, and what waits in its lane, provided that it is still of that version.
    ///
    /// - Returns: Whether it was.
    /// - Throws: ``GrantStoreError`` where the store does not answer by the deadline.
    @discardableResult
    func deleteGrant(
        _ key: GrantKey, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool

    /// Deletes the user's grants: of one skill, or of all where `skill` is nil; and what waits in their lanes.
    ///
    /// What is known of the user's devices goes with the last `events` grant.
    ///
    /// - Returns: How many there were.
    /// - Throws: ``GrantStoreError`` where the store does not answer by the deadline.
    @discardableResult
    func deleteGrants(
        of subject: String, skill: String?, by deadline: Deadline
    ) async throws(GrantStoreError) -> Int

    /// Stops or resumes sending with a grant, provided that it is still of that version.
    ///
    /// - Returns: Whether it was.
    /// - Throws: ``GrantStoreError`` where the store does not answer by the deadline.
    @discardableResult
    func setSuspended(
        _ isSuspended: Bool, grant key: GrantKey, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool

    /// Keeps which region's event gateway takes the grant's events, provided that it is still of that version.
    ///
    /// The version stays: a refresh under way is not disturbed. An AcceptGrant forgets the region.
    ///
    /// - Returns: Whether it was of that version.
    /// - Throws: ``GrantStoreError`` where the store does not answer by the deadline.
    @discardableResult
    func rememberGateway(
        _ region: AlexaRegion, grant key: GrantKey, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool

    /// Takes the right to refresh a grant, unless somebody's lease still runs.
    ///
    /// - Throws: ``GrantStoreError`` where the store does not answer by the deadline.
    func leaseGrant(
        _ key: GrantKey, owner: String, for duration: Duration, by deadline: Deadline
    ) async throws(GrantStoreError) -> GrantLease

    /// Writes what a refresh brought, provided that the owner's lease and the version still stand; ends the lease.
    ///
    /// - Returns: Whether they stood. Where not, a newer AcceptGrant came meanwhile and its tokens stay.
    /// - Throws: ``GrantStoreError`` where the tokens are not safely on disk by the deadline.
    func refresh(
        _ key: GrantKey, with credentials: AmazonCredentials, owner: String, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool

    /// Gives a lease back unused; nothing happens where it is no longer held.
    ///
    /// - Throws: ``GrantStoreError`` where the store does not answer by the deadline.
    func releaseGrant(_ key: GrantKey, owner: String, by deadline: Deadline) async throws(GrantStoreError)

    /// Takes the right to exchange an AcceptGrant's code, known by its hash.
    ///
    /// - Parameters:
    ///   - codeHash: SHA-256 of the code, in hex. The code itself is never stored.
    ///   - subject: The user of the directive's grantee token.
    ///   - owner: Names the caller; unique among all processes.
    ///   - duration: How long the exchange may take at most.
    ///   - deadline: When the caller gives up.
    /// - Returns: Whether the caller may exchange it, or what became of it before.
    /// - Throws: ``GrantStoreError`` where the store does not answer by the deadline.
    func claimAcceptGrant(
        codeHash: String, subject: String, owner: String, for duration: Duration, by deadline: Deadline
    ) async throws(GrantStoreError) -> AcceptGrantClaim

    /// Records the outcome of an exchange and stores what it brought, both or neither.
    ///
    /// The outcome is kept for ``acceptGrantOutcomeSeconds`` after the claim.
    ///
    /// - Returns: Whether the owner's claim still stood; where not, nothing was written.
    /// - Throws: ``GrantStoreError`` where it is not safely on disk by the deadline.
    func finishAcceptGrant(
        codeHash: String, owner: String, result: AcceptGrantResult, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool
}

/// How long the same code gets the first outcome again: as long as an Amazon code lives.
public let acceptGrantOutcomeSeconds: Int64 = 300

/// What asking for the right to refresh brought.
public enum GrantLease: Hashable, Sendable {
    /// The caller owns the row: it may refresh this grant.
    case owned(Grant)
    /// Somebody else is refreshing; ask again.
    case held
    /// There is no such grant.
    case absent
}

/// What asking for the right to exchange a code brought.
public enum AcceptGrantClaim: Hashable, Sendable {
    /// The caller owns the code; `sequence` is the place of the grant to come.
    case owned(sequence: Int64)
    /// Somebody else is exchanging it; ask again.
    case held
    /// It was exchanged within the last five minutes.
    case finished(AcceptGrantOutcome)
    /// Another user presented the same code before.
    case ofAnotherSubject
}

/// How an AcceptGrant ended, for whoever presents the same code again.
public enum AcceptGrantOutcome: Hashable, Sendable {
    /// The grant is stored.
    case accepted
    /// It was refused, for the reason of that code.
    case refused(reasonCode: String)
}

/// What an exchange brought.
public enum AcceptGrantResult: Hashable, Sendable {
    /// Tokens, to be stored under the key at the place that the claim gave.
    case accepted(AmazonCredentials, key: GrantKey, sequence: Int64)
    /// Nothing, for the reason of that code.
    case refused(reasonCode: String)
}

/// Why the store of grants did not do what was asked.
public enum GrantStoreError: Error, Hashable, Sendable {
    /// The deadline passed first; a write may have been done or not.
    case timedOut
    /// The store cannot be used; the text is for the log and holds no stored value.
    case unavailable(String)
}
