import Alexa
import Concurrency
import Crypto
import FoundationEssentials
import Storage
import TestSupport
import Time

/// A store that does what another one does, unless the test wants it otherwise.
final class ForwardingStore: GrantStore {
    let store: MemoryStore
    /// Where it is given, no refreshed tokens are taken, and this clock passes their deadline meanwhile.
    let refusing: ManualClock?
    private let extended = Locked(0)

    init(_ store: MemoryStore, refusing: ManualClock? = nil) {
        self.store = store
        self.refusing = refusing
    }

    /// How often a lane's lease was extended.
    var extensions: Int { extended.withLock { $0 } }

    func refresh(
        _ key: GrantKey, with credentials: AmazonCredentials, owner: String, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool {
        guard let refusing else {
            return try await store.refresh(key, with: credentials, owner: owner, version: version, by: deadline)
        }
        refusing.advance(by: .seconds(10))
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

extension ForwardingStore: Outbox {
    func extendLane(
        _ lease: LaneLease, for duration: Duration, by deadline: Deadline
    ) async throws(OutboxError) -> LaneLease? {
        let lease = try await store.extendLane(lease, for: duration, by: deadline)
        extended.withLock { $0 += 1 }
        return lease
    }

    func post(_ events: [PostedEvent], by deadline: Deadline) async throws(OutboxError) -> PostOutcome {
        try await store.post(events, by: deadline)
    }
    func leaseLane(
        owner: String, for duration: Duration, by deadline: Deadline
    ) async throws(OutboxError) -> LeasedLane? {
        try await store.leaseLane(owner: owner, for: duration, by: deadline)
    }
    func releaseLane(_ lease: LaneLease, by deadline: Deadline) async throws(OutboxError) {
        try await store.releaseLane(lease, by: deadline)
    }
    func postponeLane(
        until moment: UnixTime, _ lease: LaneLease, by deadline: Deadline
    ) async throws(OutboxError) -> Bool {
        try await store.postponeLane(until: moment, lease, by: deadline)
    }
    func finish(_ row: OutboxRow, _ lease: LaneLease, by deadline: Deadline) async throws(OutboxError) -> Bool {
        try await store.finish(row, lease, by: deadline)
    }
    func postpone(
        _ row: OutboxRow, until moment: UnixTime, _ lease: LaneLease, by deadline: Deadline
    ) async throws(OutboxError) -> Bool {
        try await store.postpone(row, until: moment, lease, by: deadline)
    }
    func nextDue(by deadline: Deadline) async throws(OutboxError) -> UnixTime? {
        try await store.nextDue(by: deadline)
    }
    func waitingRows(by deadline: Deadline) async throws(OutboxError) -> Int {
        try await store.waitingRows(by: deadline)
    }
    func dropExpired(by deadline: Deadline) async throws(OutboxError) -> [PostedEvent.Kind: Int] {
        try await store.dropExpired(by: deadline)
    }
    func clearLane(_ key: GrantKey, by deadline: Deadline) async throws(OutboxError) -> Int {
        try await store.clearLane(key, by: deadline)
    }
    func knownState(
        subject: String, deviceID: String, by deadline: Deadline
    ) async throws(OutboxError) -> KnownState? {
        try await store.knownState(subject: subject, deviceID: deviceID, by: deadline)
    }
    func noteDevices(
        subject: String, _ devices: [NotedDevice], by deadline: Deadline
    ) async throws(OutboxError) {
        try await store.noteDevices(subject: subject, devices, by: deadline)
    }
}

/// A folder that is there while `body` runs.
func withEventsFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.path + "/skillgate-\(SecureRandom.token(bytes: 9))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}
