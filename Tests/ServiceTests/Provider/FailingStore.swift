import Concurrency
import Crypto
import OAuth
import Time

/// A provider's store that does not answer while the test says so.
final class FailingStore: ProviderStore, UserStore {
    let isDown = Locked(false)
    /// How often it was asked of a user.
    let userReads = Locked(0)
    private let store: any ProviderStore & UserStore

    init(_ store: any ProviderStore & UserStore) { self.store = store }

    private func up() throws(ProviderStoreError) -> any ProviderStore & UserStore {
        if isDown.withLock({ $0 }) { throw .unavailable("down") }
        return store
    }

    func add(_ grant: ProviderGrant, code: CodeRecord, by deadline: Deadline) async throws(ProviderStoreError) {
        try await up().add(grant, code: code, by: deadline)
    }
    func code(hash: String, by deadline: Deadline) async throws(ProviderStoreError) -> StoredCode? {
        try await up().code(hash: hash, by: deadline)
    }
    func redeem(
        codeHash: String, refreshTokenHash: String?, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> CodeRedemption {
        try await up().redeem(codeHash: codeHash, refreshTokenHash: refreshTokenHash, at: now, by: deadline)
    }
    func spend(codeHash: String, at now: UnixTime, by deadline: Deadline) async throws(ProviderStoreError) {
        try await up().spend(codeHash: codeHash, at: now, by: deadline)
    }
    func withdraw(codeHash: String, by deadline: Deadline) async throws(ProviderStoreError) -> Bool {
        try await up().withdraw(codeHash: codeHash, by: deadline)
    }
    func refreshToken(hash: String, by deadline: Deadline) async throws(ProviderStoreError) -> StoredRefreshToken? {
        try await up().refreshToken(hash: hash, by: deadline)
    }
    func rotate(
        refreshTokenHash: String, to newHash: String, answer: Secret, graceSeconds: Int64, at now: UnixTime,
        by deadline: Deadline
    ) async throws(ProviderStoreError) -> Rotation {
        try await up().rotate(
            refreshTokenHash: refreshTokenHash, to: newHash, answer: answer, graceSeconds: graceSeconds, at: now,
            by: deadline)
    }
    func touchProviderGrant(_ id: String, at now: UnixTime, by deadline: Deadline) async throws(ProviderStoreError) {
        try await up().touchProviderGrant(id, at: now, by: deadline)
    }
    func providerGrants(of subject: String, by deadline: Deadline) async throws(ProviderStoreError) -> [ProviderGrant] {
        try await up().providerGrants(of: subject, by: deadline)
    }
    func revokeProviderGrant(
        _ id: String, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> Bool { try await up().revokeProviderGrant(id, at: now, by: deadline) }
    func revokeProviderGrants(
        of subject: String, client: String?, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> [String] {
        try await up().revokeProviderGrants(of: subject, client: client, at: now, by: deadline)
    }
    func revokedProviderGrants(
        since moment: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> [String: UnixTime] {
        try await up().revokedProviderGrants(since: moment, by: deadline)
    }
    func secretKey(
        named name: String, else proposal: [UInt8], by deadline: Deadline
    ) async throws(ProviderStoreError) -> [UInt8] {
        try await up().secretKey(named: name, else: proposal, by: deadline)
    }
    func changeCounter(by deadline: Deadline) async throws(ProviderStoreError) -> Int64 {
        try await up().changeCounter(by: deadline)
    }
    func pruneProvider(
        before moments: ProviderPruning, by deadline: Deadline
    ) async throws(ProviderStoreError) -> Int { try await up().pruneProvider(before: moments, by: deadline) }

    func add(_ user: StoredUser, by deadline: Deadline) async throws(ProviderStoreError) -> UserAddition {
        try await up().add(user, by: deadline)
    }
    func user(subject: String, by deadline: Deadline) async throws(ProviderStoreError) -> StoredUser? {
        userReads.withLock { $0 += 1 }
        return try await up().user(subject: subject, by: deadline)
    }
    func user(named username: String, by deadline: Deadline) async throws(ProviderStoreError) -> StoredUser? {
        userReads.withLock { $0 += 1 }
        return try await up().user(named: username, by: deadline)
    }
    func users(
        after username: String?, limit: Int, by deadline: Deadline
    ) async throws(ProviderStoreError) -> [StoredUser] {
        try await up().users(after: username, limit: limit, by: deadline)
    }
    func setUser(
        _ subject: String, isDisabled: Bool, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> Bool {
        try await up().setUser(subject, isDisabled: isDisabled, at: now, by: deadline)
    }
    func setPasswordHash(
        _ hash: Secret, of subject: String, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> Bool {
        try await up().setPasswordHash(hash, of: subject, at: now, by: deadline)
    }
    func compareUsersFile(
        marks: [String: String], at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> [String] {
        try await up().compareUsersFile(marks: marks, at: now, by: deadline)
    }
    func endSession(
        hash: String, until end: UnixTime, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) { try await up().endSession(hash: hash, until: end, at: now, by: deadline) }
    func isSessionEnded(hash: String, by deadline: Deadline) async throws(ProviderStoreError) -> Bool {
        try await up().isSessionEnded(hash: hash, by: deadline)
    }
}
