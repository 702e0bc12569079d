public import Alexa
import Concurrency
import OAuth
import Telemetry
public import Time

/// What outlives a request, kept in memory: for tests and replays, with the rules of ``SQLiteStore``.
public final class MemoryStore: Sendable {
    struct State {
        var sequence: Int64 = 0
        var grants: [GrantKey: Entry] = [:]
        var acceptGrants: [String: Claim] = [:]
        var signingKeys: [String: SigningKeyRecord] = [:]
        var traces: [String: TraceRecord] = [:]
        /// Until when, by hash.
        var endedSessions: [String: UnixTime] = [:]
        var outbox = MemoryOutbox()
        var endpointIDs: [String: String] = [:]
        var provider = MemoryProvider()
        var links = MemoryLinks()
        var users = MemoryUsers()
    }

    struct Entry {
        var grant: Grant
        var lease: (owner: String, until: Int64)?
    }

    struct Claim {
        let subject: String
        var owner: String
        var leaseUntil: Int64
        let claimedAt: Int64
        var outcome: AcceptGrantOutcome?
    }

    let state = Locked(State())
    private let clock: WallClock
    /// How many traces of links are kept at most, and how many others; beyond that the oldest go.
    let traceLimit: Int

    /// An empty store whose leases run by `clock`.
    public init(clock: @escaping WallClock, traceLimit: Int = 10_000) {
        self.clock = clock
        self.traceLimit = traceLimit
    }

    var now: Int64 { clock().milliseconds }
}

extension MemoryStore: GrantStore {
    /// Does nothing: memory can always be written.
    public func probeWriting(by deadline: Deadline) async throws(GrantStoreError) {}

    /// The next place among grants.
    public func nextGrantSequence(by deadline: Deadline) async throws(GrantStoreError) -> Int64 {
        state.withLock { state in
            state.sequence += 1
            return state.sequence
        }
    }

    /// Stores the tokens unless a grant of a later place is there already.
    @discardableResult
    public func put(
        _ credentials: AmazonCredentials, for key: GrantKey, sequence: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool {
        state.withLock { state in state.put(credentials, for: key, sequence: sequence) }
    }

    /// The grant of that key.
    public func grant(_ key: GrantKey, by deadline: Deadline) async throws(GrantStoreError) -> Grant? {
        state.withLock { state in state.grants[key]?.grant }
    }

    /// Every grant of the user, in the order of their places.
    public func grants(of subject: String, by deadline: Deadline) async throws(GrantStoreError) -> [Grant] {
        state.withLock { state in
            state.grants.values.map(\.grant).filter { $0.key.subject == subject }.sorted { $0.sequence < $1.sequence }
        }
    }

    /// Deletes one grant.
    @discardableResult
    public func deleteGrant(_ key: GrantKey, by deadline: Deadline) async throws(GrantStoreError) -> Bool {
        state.withLock { state in state.removeGrant(key) }
    }

    /// Deletes one grant of that version.
    @discardableResult
    public func deleteGrant(
        _ key: GrantKey, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool {
        state.withLock { state in
            guard state.grants[key]?.grant.version == version else { return false }
            return state.removeGrant(key)
        }
    }

    /// Deletes the user's grants: of one skill, or of all where `skill` is nil.
    @discardableResult
    public func deleteGrants(
        of subject: String, skill: String?, by deadline: Deadline
    ) async throws(GrantStoreError) -> Int {
        state.withLock { state in
            let keys = state.grants.keys.filter { $0.subject == subject && (skill == nil || $0.skill == skill) }
            for key in keys { state.removeGrant(key) }
            return keys.count
        }
    }

    /// Stops or resumes sending with a grant of that version.
    @discardableResult
    public func setSuspended(
        _ isSuspended: Bool, grant key: GrantKey, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool {
        state.withLock { state in
            guard let known = state.grants[key]?.grant, known.version == version else { return false }
            state.grants[key]?.grant = Grant(
                key: key, credentials: known.credentials, sequence: known.sequence, isSuspended: isSuspended,
                version: version + 1, gatewayRegion: known.gatewayRegion)
            return true
        }
    }

    /// Keeps which region's event gateway takes the events of a grant of that version.
    @discardableResult
    public func rememberGateway(
        _ region: AlexaRegion, grant key: GrantKey, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool {
        state.withLock { state in
            guard let known = state.grants[key]?.grant, known.version == version else { return false }
            state.grants[key]?.grant = Grant(
                key: key, credentials: known.credentials, sequence: known.sequence, isSuspended: known.isSuspended,
                version: version, gatewayRegion: region)
            return true
        }
    }

    /// Takes the right to refresh a grant, unless somebody's lease still runs.
    public func leaseGrant(
        _ key: GrantKey, owner: String, for duration: Duration, by deadline: Deadline
    ) async throws(GrantStoreError) -> GrantLease {
        let now = now
        return state.withLock { state in
            guard let entry = state.grants[key] else { return .absent }
            if let lease = entry.lease, lease.owner != owner, lease.until > now { return .held }
            state.grants[key]?.lease = (owner, now + milliseconds(duration))
            return .owned(entry.grant)
        }
    }

    /// Writes what a refresh brought, provided that the owner's lease and the version still stand.
    public func refresh(
        _ key: GrantKey, with credentials: AmazonCredentials, owner: String, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool {
        state.withLock { state in
            guard let entry = state.grants[key], entry.lease?.owner == owner, entry.grant.version == version else {
                return false
            }
            state.grants[key] = Entry(
                grant: Grant(
                    key: key, credentials: credentials, sequence: entry.grant.sequence,
                    isSuspended: entry.grant.isSuspended, version: version + 1,
                    gatewayRegion: entry.grant.gatewayRegion))
            return true
        }
    }

    /// Gives a lease back unused.
    public func releaseGrant(_ key: GrantKey, owner: String, by deadline: Deadline) async throws(GrantStoreError) {
        state.withLock { state in
            if state.grants[key]?.lease?.owner == owner { state.grants[key]?.lease = nil }
        }
    }

    /// Takes the right to exchange an AcceptGrant's code, known by its hash.
    public func claimAcceptGrant(
        codeHash: String, subject: String, owner: String, for duration: Duration, by deadline: Deadline
    ) async throws(GrantStoreError) -> AcceptGrantClaim {
        let now = now
        return state.withLock { state in
            state.acceptGrants = state.acceptGrants.filter {
                $0.value.claimedAt > now - acceptGrantOutcomeSeconds * 1000
            }
            var claimedAt = now
            if let known = state.acceptGrants[codeHash] {
                guard known.subject == subject else { return .ofAnotherSubject }
                if let outcome = known.outcome { return .finished(outcome) }
                guard known.leaseUntil <= now else { return .held }
                claimedAt = known.claimedAt
            }
            state.acceptGrants[codeHash] = Claim(
                subject: subject, owner: owner, leaseUntil: now + milliseconds(duration), claimedAt: claimedAt)
            state.sequence += 1
            return .owned(sequence: state.sequence)
        }
    }

    /// Records the outcome of an exchange and stores what it brought, both or neither.
    public func finishAcceptGrant(
        codeHash: String, owner: String, result: AcceptGrantResult, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool {
        state.withLock { state in
            guard let claim = state.acceptGrants[codeHash], claim.owner == owner, claim.outcome == nil else {
                return false
            }
            state.acceptGrants[codeHash]?.outcome = AcceptGrantOutcome(result)
            if case .accepted(let credentials, let key, let sequence) = result {
                state.put(credentials, for: key, sequence: sequence)
            }
            return true
        }
    }
}

extension MemoryStore.State {
    /// Removes a grant with its lane; with the last `events` grant of a user goes what is known of the devices.
    @discardableResult
    fileprivate mutating func removeGrant(_ key: GrantKey) -> Bool {
        guard grants.removeValue(forKey: key) != nil else { return false }
        outbox.lanes[key] = nil
        if !grants.keys.contains(where: { $0.source == .events && $0.subject == key.subject }) {
            outbox.known[key.subject] = nil
        }
        return true
    }

    @discardableResult
    fileprivate mutating func put(_ credentials: AmazonCredentials, for key: GrantKey, sequence: Int64) -> Bool {
        let known = grants[key]?.grant
        if let known, known.sequence > sequence { return false }
        grants[key] = MemoryStore.Entry(
            grant: Grant(key: key, credentials: credentials, sequence: sequence, version: (known?.version ?? 0) + 1))
        return true
    }
}
