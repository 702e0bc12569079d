import Concurrency
public import Crypto
public import OAuth
public import Time

/// What the provider gave out, in memory.
struct MemoryProvider {
    struct Code {
        var record: CodeRecord
        let grantID: String
    }

    struct RefreshToken {
        let grantID: String
        let issuedAt: UnixTime
        var replacedAt: UnixTime?
        var answer: Secret?
    }

    var grants: [String: ProviderGrant] = [:]
    var codes: [String: Code] = [:]
    var refreshTokens: [String: RefreshToken] = [:]
    var secretKeys: [String: [UInt8]] = [:]
    var changes: Int64 = 0

    mutating func remove(grant id: String) {
        grants[id] = nil
        codes = codes.filter { $0.value.grantID != id }
        refreshTokens = refreshTokens.filter { $0.value.grantID != id }
    }

    mutating func revoke(_ id: String, at now: UnixTime) -> Bool {
        guard let grant = grants[id], grant.revokedAt == nil else { return false }
        grants[id]?.revokedAt = now
        changes += 1
        return true
    }
}

extension MemoryStore: ProviderStore {
    /// Stores a grant and the code that it is redeemed by.
    public func add(
        _ grant: ProviderGrant, code: CodeRecord, by deadline: Deadline
    ) async throws(ProviderStoreError) {
        state.withLock { state in
            state.provider.grants[grant.id] = grant
            state.provider.codes[code.hash] = .init(record: code, grantID: grant.id)
        }
    }

    /// The code of that hash and its grant.
    public func code(hash: String, by deadline: Deadline) async throws(ProviderStoreError) -> StoredCode? {
        state.withLock { state in
            guard let code = state.provider.codes[hash], let grant = state.provider.grants[code.grantID] else {
                return nil
            }
            return StoredCode(code: code.record, grant: grant)
        }
    }

    /// Uses the code up, and stores the refresh token of that hash.
    public func redeem(
        codeHash: String, refreshTokenHash: String?, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> CodeRedemption {
        state.withLock { state in
            guard let code = state.provider.codes[codeHash], let grant = state.provider.grants[code.grantID] else {
                return .gone
            }
            guard code.record.usedAt == nil else { return .usedBefore }
            guard code.record.expiresAt > now, grant.revokedAt == nil else { return .gone }
            state.provider.codes[codeHash]?.record.usedAt = now
            state.provider.grants[grant.id]?.redeemedAt = now
            state.provider.grants[grant.id]?.usedAt = now
            if let refreshTokenHash {
                state.provider.refreshTokens[refreshTokenHash] = .init(grantID: grant.id, issuedAt: now)
            }
            return .redeemed
        }
    }

    /// Uses the code up without giving anything for it.
    public func spend(codeHash: String, at now: UnixTime, by deadline: Deadline) async throws(ProviderStoreError) {
        state.withLock { state in
            if state.provider.codes[codeHash]?.record.usedAt == nil {
                state.provider.codes[codeHash]?.record.usedAt = now
            }
        }
    }

    /// Deletes a code that nobody has used, and its grant.
    @discardableResult
    public func withdraw(codeHash: String, by deadline: Deadline) async throws(ProviderStoreError) -> Bool {
        state.withLock { state in
            guard let code = state.provider.codes[codeHash], code.record.usedAt == nil else { return false }
            state.provider.remove(grant: code.grantID)
            return true
        }
    }

    /// The refresh token of that hash and its grant.
    public func refreshToken(
        hash: String, by deadline: Deadline
    ) async throws(ProviderStoreError) -> StoredRefreshToken? {
        state.withLock { state in
            guard let token = state.provider.refreshTokens[hash], let grant = state.provider.grants[token.grantID]
            else { return nil }
            return StoredRefreshToken(issuedAt: token.issuedAt, replacedAt: token.replacedAt, grant: grant)
        }
    }

    /// Replaces a refresh token, and keeps what is answered.
    public func rotate(
        refreshTokenHash: String, to newHash: String, answer: Secret, graceSeconds: Int64, at now: UnixTime,
        by deadline: Deadline
    ) async throws(ProviderStoreError) -> Rotation {
        state.withLock { state in
            guard let token = state.provider.refreshTokens[refreshTokenHash],
                let grant = state.provider.grants[token.grantID], grant.revokedAt == nil
            else { return .gone }
            if let replacedAt = token.replacedAt {
                guard let answer = token.answer, now <= replacedAt.adding(seconds: graceSeconds) else {
                    return .replayed
                }
                return .repeated(answer)
            }
            state.provider.refreshTokens[refreshTokenHash]?.replacedAt = now
            state.provider.refreshTokens[refreshTokenHash]?.answer = answer
            state.provider.refreshTokens[newHash] = .init(grantID: grant.id, issuedAt: now)
            state.provider.grants[grant.id]?.usedAt = now
            return .rotated
        }
    }

    /// Notes that the grant was used.
    public func touchProviderGrant(
        _ id: String, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) {
        state.withLock { state in state.provider.grants[id]?.usedAt = now }
    }
}

extension MemoryStore {
    /// The user's grants that stand, newest first.
    public func providerGrants(
        of subject: String, by deadline: Deadline
    ) async throws(ProviderStoreError) -> [ProviderGrant] {
        state.withLock { state in
            state.provider.grants.values
                .filter { $0.subject == subject && $0.redeemedAt != nil && $0.revokedAt == nil }
                .sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
        }
    }

    /// Revokes a grant.
    @discardableResult
    public func revokeProviderGrant(
        _ id: String, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> Bool {
        state.withLock { state in state.provider.revoke(id, at: now) }
    }

    /// Revokes the user's grants, those of one client or all.
    public func revokeProviderGrants(
        of subject: String, client: String?, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> [String] {
        state.withLock { state in
            let ids = state.provider.grants.values
                .filter { $0.subject == subject && (client == nil || $0.clientID == client) }.map(\.id)
            return ids.filter { state.provider.revoke($0, at: now) }
        }
    }

    /// The grants that were revoked at `moment` or later, and when.
    public func revokedProviderGrants(
        since moment: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> [String: UnixTime] {
        state.withLock { state in
            state.provider.grants.compactMapValues { grant in
                grant.revokedAt.flatMap { $0 >= moment ? $0 : nil }
            }
        }
    }

    /// The secret key of that name; `proposal` where there was none.
    public func secretKey(
        named name: String, else proposal: [UInt8], by deadline: Deadline
    ) async throws(ProviderStoreError) -> [UInt8] {
        state.withLock { state in
            let key = state.provider.secretKeys[name] ?? proposal
            state.provider.secretKeys[name] = key
            return key
        }
    }

    /// How often something changed that other processes must learn of.
    public func changeCounter(by deadline: Deadline) async throws(ProviderStoreError) -> Int64 {
        state.withLock { $0.provider.changes }
    }

    /// Forgets what nothing is gained by remembering.
    @discardableResult
    public func pruneProvider(
        before moments: ProviderPruning, by deadline: Deadline
    ) async throws(ProviderStoreError) -> Int {
        state.withLock { state in
            let before = state.provider.rowCount
            let ended = state.provider.grants.values.filter { grant in
                if let revokedAt = grant.revokedAt { return revokedAt < moments.revokedGrants }
                return grant.redeemedAt == nil
                    && state.provider.codes.values.contains {
                        $0.grantID == grant.id && $0.record.expiresAt < moments.codes
                    }
            }
            for grant in ended { state.provider.remove(grant: grant.id) }
            state.provider.codes = state.provider.codes.filter { $0.value.record.expiresAt >= moments.codes }
            state.provider.refreshTokens = state.provider.refreshTokens.filter { token in
                token.value.replacedAt.map { $0 >= moments.replacedTokens } ?? true
            }
            return before - state.provider.rowCount
        }
    }
}

extension MemoryProvider {
    fileprivate var rowCount: Int { grants.count + codes.count + refreshTokens.count }
}
