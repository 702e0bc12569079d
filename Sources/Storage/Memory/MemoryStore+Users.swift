import Concurrency
public import Crypto
public import OAuth
public import Time

/// The users and the marks of the users file, in memory.
struct MemoryUsers {
    /// By the bytes of the subject: the store compares bytes, not what looks alike.
    var bySubject: [[UInt8]: StoredUser] = [:]
    var fileMarks: [String: String] = [:]

    subscript(subject: String) -> StoredUser? {
        get { bySubject[Array(subject.utf8)] }
        set { bySubject[Array(subject.utf8)] = newValue }
    }

    func named(_ username: String) -> StoredUser? {
        bySubject.values.first { $0.username.utf8.elementsEqual(username.utf8) }
    }
}

extension MemoryStore: UserStore {
    /// Ends a browser's session.
    public func endSession(
        hash: String, until end: UnixTime, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) {
        state.withLock { state in
            state.endedSessions = state.endedSessions.filter { $0.value >= now }
            state.endedSessions[hash] = end
        }
    }

    /// Whether the session of that hash was ended.
    public func isSessionEnded(hash: String, by deadline: Deadline) async throws(ProviderStoreError) -> Bool {
        state.withLock { $0.endedSessions[hash] != nil }
    }

    /// Adds a user unless the username or the subject is taken.
    public func add(_ user: StoredUser, by deadline: Deadline) async throws(ProviderStoreError) -> UserAddition {
        state.withLock { state in
            if state.users.named(user.username) != nil { return .usernameTaken }
            if state.users[user.subject] != nil { return .subjectTaken }
            state.users[user.subject] = user
            state.provider.changes += 1
            return .added
        }
    }

    /// The user of that subject.
    public func user(subject: String, by deadline: Deadline) async throws(ProviderStoreError) -> StoredUser? {
        state.withLock { $0.users[subject] }
    }

    /// The user of that username.
    public func user(named username: String, by deadline: Deadline) async throws(ProviderStoreError) -> StoredUser? {
        state.withLock { $0.users.named(username) }
    }

    /// At most `limit` users in the order of their usernames, beginning after `username`.
    public func users(
        after username: String?, limit: Int, by deadline: Deadline
    ) async throws(ProviderStoreError) -> [StoredUser] {
        state.withLock { state in
            let users = state.users.bySubject.values.filter { user in
                username.map { $0.utf8.lexicographicallyPrecedes(user.username.utf8) } ?? true
            }
            return Array(
                users.sorted { $0.username.utf8.lexicographicallyPrecedes($1.username.utf8) }.prefix(limit))
        }
    }

    /// Disables a user and revokes their grants, or enables them again.
    @discardableResult
    public func setUser(
        _ subject: String, isDisabled: Bool, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> Bool {
        state.withLock { state in
            guard state.users[subject] != nil else { return false }
            state.users[subject]?.isDisabled = isDisabled
            if isDisabled { state.provider.revokeAll(of: subject, at: now) }
            state.provider.changes += 1
            return true
        }
    }

    /// Gives a user another password and revokes their grants.
    @discardableResult
    public func setPasswordHash(
        _ hash: Secret, of subject: String, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> Bool {
        state.withLock { state in
            guard state.users[subject] != nil else { return false }
            state.users[subject]?.passwordHash = hash
            state.provider.revokeAll(of: subject, at: now)
            state.provider.changes += 1
            return true
        }
    }

    /// Compares the users file with what it was at the last start.
    public func compareUsersFile(
        marks: [String: String], at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> [String] {
        state.withLock { state in
            let changed = state.users.fileMarks.filter { marks[$0.key] != $0.value }.keys.sorted()
            for subject in changed { state.provider.revokeAll(of: subject, at: now) }
            state.users.fileMarks = marks
            if !changed.isEmpty { state.provider.changes += 1 }
            return changed
        }
    }
}

extension MemoryProvider {
    fileprivate mutating func revokeAll(of subject: String, at now: UnixTime) {
        for grant in grants.values where grant.subject == subject && grant.revokedAt == nil {
            grants[grant.id]?.revokedAt = now
        }
    }
}
