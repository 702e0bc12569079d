public import Time

/// Keeps link attempts, links and joins: SQLite in the program, memory in tests; every write is on disk before its call
/// returns.
///
/// Whoever calls Amazon or the provider holds no transaction meanwhile: a link is changed only at the version that was
/// read.
public protocol LinkStore: Sendable {
    /// Stores a state that is given out.
    ///
    /// - Returns: Whether it is new; where not, nothing was written.
    /// - Throws: ``LinkStoreError`` where it is not safely on disk by the deadline.
    func add(_ attempt: LinkAttempt, by deadline: Deadline) async throws(LinkStoreError) -> Bool

    /// The attempt of that state, by the state's hash; also one that is used or expired, until it is pruned.
    ///
    /// - Throws: ``LinkStoreError`` where the store does not answer by the deadline.
    func attempt(stateHash: String, by deadline: Deadline) async throws(LinkStoreError) -> LinkAttempt?

    /// Uses an attempt up; of several calls for one attempt exactly one is told that it did.
    ///
    /// - Returns: Whether it was unused until now.
    /// - Throws: ``LinkStoreError`` where it is not safely on disk by the deadline.
    func spend(stateHash: String, at now: UnixTime, by deadline: Deadline) async throws(LinkStoreError) -> Bool

    /// Stores a new link, at version 1.
    ///
    /// A linked one replaces the earlier one of its subject, skill and Alexa user, as ``settle(_:by:)`` does.
    ///
    /// - Returns: The link that it replaced, whose tokens are to be revoked.
    /// - Throws: ``LinkStoreError`` where it is not safely on disk by the deadline, or its id is taken.
    @discardableResult
    func add(_ link: Link, by deadline: Deadline) async throws(LinkStoreError) -> Link?

    /// The link of that id.
    ///
    /// - Throws: ``LinkStoreError`` where the store does not answer by the deadline.
    func link(id: String, by deadline: Deadline) async throws(LinkStoreError) -> Link?

    /// The user's links, pending ones included, oldest first.
    ///
    /// - Throws: ``LinkStoreError`` where the store does not answer by the deadline.
    func links(of subject: String, by deadline: Deadline) async throws(LinkStoreError) -> [Link]

    /// The links of an Alexa user of a skill, to whichever of our users, oldest first.
    ///
    /// - Throws: ``LinkStoreError`` where the store does not answer by the deadline.
    func links(
        alexaUserID: String, skill: String, by deadline: Deadline
    ) async throws(LinkStoreError) -> [Link]

    /// All links, oldest first, those after `link` where that is given.
    ///
    /// - Throws: ``LinkStoreError`` where the store does not answer by the deadline.
    func links(after link: Link?, limit: Int, by deadline: Deadline) async throws(LinkStoreError) -> [Link]

    /// Writes a link over the version that it was read at.
    ///
    /// A link becomes linked by ``settle(_:by:)`` alone, since that keeps one row for each Alexa user.
    ///
    /// - Returns: The link as it is now, at its next version; nil where it was changed or deleted meanwhile.
    /// - Throws: ``LinkStoreError`` where it is not safely on disk by the deadline, or would be a second linked one of
    ///   its Alexa user.
    func update(_ link: Link, by deadline: Deadline) async throws(LinkStoreError) -> Link?

    /// Writes a link as linked, and removes the earlier linked one of the same subject, skill and Alexa user, in one
    /// step.
    ///
    /// - Returns: What was written and what it replaced; or that it was changed or deleted meanwhile.
    /// - Throws: ``LinkStoreError`` where it is not safely on disk by the deadline.
    func settle(_ link: Link, by deadline: Deadline) async throws(LinkStoreError) -> LinkSettlement

    /// Deletes a link.
    ///
    /// - Returns: The link as it was, nil where there was none.
    /// - Throws: ``LinkStoreError`` where it is not safely on disk by the deadline.
    @discardableResult
    func deleteLink(id: String, by deadline: Deadline) async throws(LinkStoreError) -> Link?

    /// Takes pending links that are due, those first that wait longest; they are due again after `duration`.
    ///
    /// Times are those of the store's clock. Each link comes at its new version, so that an update of an earlier
    /// reader's fails.
    ///
    /// - Throws: ``LinkStoreError`` where the store does not answer by the deadline.
    func leaseDueLinks(
        limit: Int, for duration: Duration, by deadline: Deadline
    ) async throws(LinkStoreError) -> [Link]

    /// When the next pending link is due; nil where none is pending.
    ///
    /// - Throws: ``LinkStoreError`` where the store does not answer by the deadline.
    func nextDueLink(by deadline: Deadline) async throws(LinkStoreError) -> UnixTime?

    /// Forgets the attempts that ended before `moment`.
    ///
    /// - Returns: How many.
    /// - Throws: ``LinkStoreError`` where the store does not answer by the deadline.
    @discardableResult
    func pruneAttempts(before moment: UnixTime, by deadline: Deadline) async throws(LinkStoreError) -> Int

    /// Keeps what a request taught, unless a later request taught something already.
    ///
    /// - Returns: The join of another subject or grant that it replaced; nil where there was none.
    /// - Throws: ``LinkStoreError`` where it is not safely on disk by the deadline.
    @discardableResult
    func put(_ join: LinkJoin, by deadline: Deadline) async throws(LinkStoreError) -> LinkJoin?

    /// What was learned of an Alexa user of a skill.
    ///
    /// - Throws: ``LinkStoreError`` where the store does not answer by the deadline.
    func join(skill: String, alexaUserID: String, by deadline: Deadline) async throws(LinkStoreError) -> LinkJoin?

    /// What was learned of a user, in the order in which it was.
    ///
    /// - Throws: ``LinkStoreError`` where the store does not answer by the deadline.
    func joins(of subject: String, by deadline: Deadline) async throws(LinkStoreError) -> [LinkJoin]

    /// Forgets a join.
    ///
    /// - Returns: The join as it was, nil where there was none.
    /// - Throws: ``LinkStoreError`` where it is not safely on disk by the deadline.
    @discardableResult
    func deleteJoin(
        skill: String, alexaUserID: String, by deadline: Deadline
    ) async throws(LinkStoreError) -> LinkJoin?
}

/// What became of a link that was to be settled.
public enum LinkSettlement: Hashable, Sendable {
    /// It is stored as linked; `replaced` is the earlier link of the same Alexa user, whose tokens are to be revoked.
    case settled(Link, replaced: Link?)
    /// Somebody changed it meanwhile: this is what is stored; nil where it was deleted. Nothing was written.
    case changed(Link?)
}

/// Why the store of links did not do what was asked.
public enum LinkStoreError: Error, Hashable, Sendable {
    /// The deadline passed first; a write may have been done or not.
    case timedOut
    /// The store cannot be used; the text is for the log and holds no stored value.
    case unavailable(String)
}
