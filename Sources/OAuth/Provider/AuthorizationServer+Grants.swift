public import Time

extension AuthorizationServer {
    /// The user's grants that stand, newest first.
    ///
    /// - Throws: ``ProviderStoreError`` where the store does not answer.
    public func grants(of subject: String, by deadline: Deadline) async throws(ProviderStoreError) -> [ProviderGrant] {
        try await parts.store.providerGrants(of: subject, by: deadline)
    }

    /// Ends a grant and all its tokens: here at once, in other processes as they read the change counter.
    ///
    /// - Returns: whether there was such a grant.
    /// - Throws: ``ProviderStoreError`` where the store does not answer.
    @discardableResult
    public func revoke(grantID: String, by deadline: Deadline) async throws(ProviderStoreError) -> Bool {
        let now = parts.clock()
        let isNew = try await parts.store.revokeProviderGrant(grantID, at: now, by: deadline)
        refuseTokens(of: grantID, revokedAt: now)
        return isNew
    }

    /// Ends the user's grants, those of one client or all.
    ///
    /// - Returns: how many there were.
    /// - Throws: ``ProviderStoreError`` where the store does not answer.
    @discardableResult
    public func revoke(
        subject: String, client: String?, by deadline: Deadline
    ) async throws(ProviderStoreError) -> Int {
        let now = parts.clock()
        let ids = try await parts.store.revokeProviderGrants(of: subject, client: client, at: now, by: deadline)
        for id in ids { refuseTokens(of: id, revokedAt: now) }
        return ids.count
    }

    /// Learns which grants were revoked, by other processes too, while tokens of theirs live.
    ///
    /// - Throws: ``ProviderStoreError`` where the store does not answer.
    public func loadRevocations(by deadline: Deadline) async throws(ProviderStoreError) {
        let since = parts.clock().adding(seconds: -tokenTailSeconds)
        for (id, moment) in try await parts.store.revokedProviderGrants(since: since, by: deadline) {
            refuseTokens(of: id, revokedAt: moment)
        }
    }

    /// Forgets what nothing is gained by remembering; says how much.
    ///
    /// - Throws: ``ProviderStoreError`` where the store does not answer.
    @discardableResult
    public func prune(by deadline: Deadline) async throws(ProviderStoreError) -> Int {
        let now = parts.clock()
        return try await parts.store.pruneProvider(
            before: ProviderPruning(
                codes: now.adding(seconds: -86_400), replacedTokens: now.adding(seconds: -Self.idleSeconds),
                revokedGrants: now.adding(seconds: -max(86_400, tokenTailSeconds))), by: deadline)
    }

    /// For how long after its grant ended a token could still be taken for good.
    private var tokenTailSeconds: Int64 { parts.accessTokenSeconds + 2 * Self.leewaySeconds }

    private func refuseTokens(of grantID: String, revokedAt moment: UnixTime) {
        parts.revokedGrants.revoke(grantID, until: moment.adding(seconds: tokenTailSeconds), now: parts.clock())
    }
}
