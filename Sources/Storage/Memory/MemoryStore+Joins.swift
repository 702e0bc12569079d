public import Alexa
import Concurrency
public import Time

extension MemoryStore {
    /// Takes pending links that are due.
    public func leaseDueLinks(
        limit: Int, for duration: Duration, by deadline: Deadline
    ) async throws(LinkStoreError) -> [Link] {
        let now = now
        let until = UnixTime(milliseconds: now + milliseconds(duration))
        return state.withLock { state in
            let due = state.links.links.values
                .filter { $0.status == .pending && ($0.dueAt?.milliseconds ?? .max) <= now }
                .sorted { ($0.dueAt?.milliseconds ?? 0, $0.id) < ($1.dueAt?.milliseconds ?? 0, $1.id) }
            return due.prefix(max(0, limit)).map { link in
                var leased = link.at(version: link.version + 1)
                leased.dueAt = until
                state.links.links[link.id] = leased
                return leased
            }
        }
    }

    /// When the next pending link is due.
    public func nextDueLink(by deadline: Deadline) async throws(LinkStoreError) -> UnixTime? {
        state.withLock { state in
            state.links.links.values.filter { $0.status == .pending }.compactMap(\.dueAt).min()
        }
    }

    /// Forgets the attempts that ended before `moment`.
    @discardableResult
    public func pruneAttempts(before moment: UnixTime, by deadline: Deadline) async throws(LinkStoreError) -> Int {
        state.withLock { state in
            let kept = state.links.attempts.filter { $0.value.expiresAt >= moment }
            defer { state.links.attempts = kept }
            return state.links.attempts.count - kept.count
        }
    }

    /// Keeps what a request taught.
    @discardableResult
    public func put(_ join: LinkJoin, by deadline: Deadline) async throws(LinkStoreError) -> LinkJoin? {
        state.withLock { state in
            let key = MemoryLinks.JoinKey(skill: join.skill, alexaUserID: join.alexaUserID)
            let known = state.links.joins[key]
            if let known, known.seenAt > join.seenAt { return nil }
            state.links.joins[key] = join.after(known)
            return known.flatMap { $0.isSame(as: join) ? nil : $0 }
        }
    }

    /// What was learned of an Alexa user of a skill.
    public func join(
        skill: String, alexaUserID: String, by deadline: Deadline
    ) async throws(LinkStoreError) -> LinkJoin? {
        state.withLock { $0.links.joins[MemoryLinks.JoinKey(skill: skill, alexaUserID: alexaUserID)] }
    }

    /// What was learned of a user.
    public func joins(of subject: String, by deadline: Deadline) async throws(LinkStoreError) -> [LinkJoin] {
        state.withLock { state in
            state.links.joins.values.filter { $0.subject == subject }.sorted {
                ($0.firstSeenAt, $0.skill, $0.alexaUserID) < ($1.firstSeenAt, $1.skill, $1.alexaUserID)
            }
        }
    }

    /// Forgets a join.
    @discardableResult
    public func deleteJoin(
        skill: String, alexaUserID: String, by deadline: Deadline
    ) async throws(LinkStoreError) -> LinkJoin? {
        state.withLock {
            $0.links.joins.removeValue(forKey: MemoryLinks.JoinKey(skill: skill, alexaUserID: alexaUserID))
        }
    }
}
