import Alexa
import Crypto
import FoundationEssentials
import Storage
import TestSupport
import Time

/// A store that takes no refreshed tokens; the clock passes their deadline meanwhile.
struct CommitRefusingStore: GrantStore {
    let store: MemoryStore
    let clock: ManualClock

    init(_ store: MemoryStore, clock: ManualClock) {
        self.store = store
        self.clock = clock
    }

    func refresh(
        _ key: GrantKey, with credentials: AmazonCredentials, owner: String, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool {
        clock.advance(by: .seconds(10))
        throw .unavailable("disk full")
    }

    func probeWriting(by deadline: Deadline) async throws(GrantStoreError) {
        try await store.probeWriting(by: deadline)
    }
    func nextGrantSequence(by deadline: Deadline) async throws(GrantStoreError) -> Int64 {
        try await store.nextGrantSequence(by: deadline)
    }
    func put(
        _ credentials: AmazonCredentials, for key: GrantKey, sequence: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool {
        try await store.put(credentials, for: key, sequence: sequence, by: deadline)
    }
    func grant(_ key: GrantKey, by deadline: Deadline) async throws(GrantStoreError) -> Grant? {
        try await store.grant(key, by: deadline)
    }
    func grants(of subject: String, by deadline: Deadline) async throws(GrantStoreError) -> [Grant] {
        try await store.grants(of: subject, by: deadline)
    }
    func deleteGrant(_ key: GrantKey, by deadline: Deadline) async throws(GrantStoreError) -> Bool {
        try await store.deleteGrant(key, by: deadline)
    }
    func deleteGrant(
        _ key: GrantKey, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool {
        try await store.deleteGrant(key, version: version, by: deadline)
    }
    func deleteGrants(
        of subject: String, skill: String?, by deadline: Deadline
    ) async throws(GrantStoreError) -> Int {
        try await store.deleteGrants(of: subject, skill: skill, by: deadline)
    }
    func setSuspended(
        _ isSuspended: Bool, grant key: GrantKey, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool {
        try await store.setSuspended(isSuspended, grant: key, version: version, by: deadline)
    }
    func rememberGateway(
        _ region: AlexaRegion, grant key: GrantKey, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool {
        try await store.rememberGateway(region, grant: key, version: version, by: deadline)
    }
    func leaseGrant(
        _ key: GrantKey, owner: String, for duration: Duration, by deadline: Deadline
    ) async throws(GrantStoreError) -> GrantLease {
        try await store.leaseGrant(key, owner: owner, for: duration, by: deadline)
    }
    func releaseGrant(_ key: GrantKey, owner: String, by deadline: Deadline) async throws(GrantStoreError) {
        try await store.releaseGrant(key, owner: owner, by: deadline)
    }
    func claimAcceptGrant(
        codeHash: String, subject: String, owner: String, for duration: Duration, by deadline: Deadline
    ) async throws(GrantStoreError) -> AcceptGrantClaim {
        try await store.claimAcceptGrant(
            codeHash: codeHash, subject: subject, owner: owner, for: duration, by: deadline)
    }
    func finishAcceptGrant(
        codeHash: String, owner: String, result: AcceptGrantResult, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool {
        try await store.finishAcceptGrant(codeHash: codeHash, owner: owner, result: result, by: deadline)
    }
}

/// A folder that is there while `body` runs.
func withEventsFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.path + "/skillgate-\(SecureRandom.token(bytes: 9))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}
