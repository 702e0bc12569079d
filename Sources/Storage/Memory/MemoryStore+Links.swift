public import Alexa
import Concurrency
public import Time

/// Link attempts, links and joins, in memory.
struct MemoryLinks {
    struct JoinKey: Hashable {
        let skill: String
        let alexaUserID: String
    }

    var attempts: [String: LinkAttempt] = [:]
    var links: [String: Link] = [:]
    var joins: [JoinKey: LinkJoin] = [:]

    /// Oldest first, as the file's index has them.
    func sorted(where matches: (Link) -> Bool) -> [Link] {
        links.values.filter(matches).sorted { ($0.linkedAt, $0.id) < ($1.linkedAt, $1.id) }
    }

    /// Another linked row of the same subject, skill and Alexa user.
    func other(than link: Link) -> Link? {
        guard link.status == .linked, let user = link.alexaUserID else { return nil }
        return links.values.first {
            $0.id != link.id && $0.status == .linked && $0.subject == link.subject && $0.skill == link.skill
                && $0.alexaUserID == user
        }
    }

    mutating func removeEarlier(of link: Link) -> Link? {
        other(than: link).flatMap { links.removeValue(forKey: $0.id) }
    }
}

extension MemoryStore: LinkStore {
    /// Stores a state that is given out.
    public func add(_ attempt: LinkAttempt, by deadline: Deadline) async throws(LinkStoreError) -> Bool {
        state.withLock { state in
            guard state.links.attempts[attempt.stateHash] == nil else { return false }
            state.links.attempts[attempt.stateHash] = attempt
            return true
        }
    }

    /// The attempt of that state.
    public func attempt(stateHash: String, by deadline: Deadline) async throws(LinkStoreError) -> LinkAttempt? {
        state.withLock { $0.links.attempts[stateHash] }
    }

    /// Uses an attempt up.
    public func spend(
        stateHash: String, at now: UnixTime, by deadline: Deadline
    ) async throws(LinkStoreError) -> Bool {
        state.withLock { state in
            guard let attempt = state.links.attempts[stateHash], attempt.usedAt == nil else { return false }
            state.links.attempts[stateHash] = attempt.used(at: now)
            return true
        }
    }

    /// Stores a new link.
    @discardableResult
    public func add(_ link: Link, by deadline: Deadline) async throws(LinkStoreError) -> Link? {
        try state.withLock { state throws(LinkStoreError) in
            guard state.links.links[link.id] == nil else { throw .unavailable("the link's id is taken") }
            let replaced = state.links.removeEarlier(of: link)
            state.links.links[link.id] = link.at(version: 1)
            return replaced
        }
    }

    /// The link of that id.
    public func link(id: String, by deadline: Deadline) async throws(LinkStoreError) -> Link? {
        state.withLock { $0.links.links[id] }
    }

    /// The user's links.
    public func links(of subject: String, by deadline: Deadline) async throws(LinkStoreError) -> [Link] {
        state.withLock { state in state.links.sorted { $0.subject == subject } }
    }

    /// The links of an Alexa user of a skill.
    public func links(
        alexaUserID: String, skill: String, by deadline: Deadline
    ) async throws(LinkStoreError) -> [Link] {
        state.withLock { state in state.links.sorted { $0.alexaUserID == alexaUserID && $0.skill == skill } }
    }

    /// All links.
    public func links(after link: Link?, limit: Int, by deadline: Deadline) async throws(LinkStoreError) -> [Link] {
        state.withLock { state in
            let after = state.links.sorted { other in
                link.map { ($0.linkedAt, $0.id) < (other.linkedAt, other.id) } ?? true
            }
            return Array(after.prefix(max(0, limit)))
        }
    }

    /// Writes a link over the version that it was read at.
    public func update(_ link: Link, by deadline: Deadline) async throws(LinkStoreError) -> Link? {
        try state.withLock { state throws(LinkStoreError) in
            guard state.links.links[link.id]?.version == link.version else { return nil }
            guard state.links.other(than: link) == nil else {
                throw .unavailable("another link of that Alexa user is stored")
            }
            let written = link.at(version: link.version + 1)
            state.links.links[link.id] = written
            return written
        }
    }

    /// Writes a link as linked and removes the earlier one of its Alexa user.
    public func settle(_ link: Link, by deadline: Deadline) async throws(LinkStoreError) -> LinkSettlement {
        state.withLock { state in
            let stored = state.links.links[link.id]
            guard let stored, stored.version == link.version else { return .changed(stored) }
            let settled = link.settled
            state.links.links[link.id] = settled
            return .settled(settled, replaced: state.links.removeEarlier(of: settled))
        }
    }

    /// Deletes a link.
    @discardableResult
    public func deleteLink(id: String, by deadline: Deadline) async throws(LinkStoreError) -> Link? {
        state.withLock { $0.links.links.removeValue(forKey: id) }
    }
}
