public import OAuth
public import Time

extension SQLiteStore {
    static let grantColumns = "g.id, subject, client, scopes, created_at, redeemed_at, g.used_at, revoked_at"

    static func grant(_ row: Row) -> ProviderGrant {
        ProviderGrant(
            id: row.text(0), subject: row.text(1), clientID: row.text(2),
            scopes: row.text(3).split(separator: " ").map(String.init),
            createdAt: UnixTime(milliseconds: row.integer(4)), redeemedAt: row.time(5), usedAt: row.time(6),
            revokedAt: row.time(7))
    }

    /// The user's grants that stand, newest first.
    public func providerGrants(
        of subject: String, by deadline: Deadline
    ) async throws(ProviderStoreError) -> [ProviderGrant] {
        try await readProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.rows(
                """
                SELECT \(Self.grantColumns) FROM provider_grants g
                WHERE subject = ?1 AND redeemed_at IS NOT NULL AND revoked_at IS NULL ORDER BY created_at DESC, id DESC
                """, [.text(subject)]
            ).map(Self.grant)
        }
    }

    /// Revokes a grant.
    @discardableResult
    public func revokeProviderGrant(
        _ id: String, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> Bool {
        try await writeProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let count = try connection.run(
                "UPDATE provider_grants SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL",
                [.text(id), .integer(now.milliseconds)])
            if count > 0 { try connection.countChange() }
            return count > 0
        }
    }

    /// Revokes the user's grants, those of one client or all.
    public func revokeProviderGrants(
        of subject: String, client: String?, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> [String] {
        try await writeProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let rows = try connection.rows(
                """
                UPDATE provider_grants SET revoked_at = ?3
                WHERE subject = ?1 AND (?2 IS NULL OR client = ?2) AND revoked_at IS NULL RETURNING id
                """, [.text(subject), .optional(client), .integer(now.milliseconds)])
            if !rows.isEmpty { try connection.countChange() }
            return rows.map { $0.text(0) }
        }
    }

    /// The grants that were revoked at `moment` or later, and when.
    public func revokedProviderGrants(
        since moment: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> [String: UnixTime] {
        try await readProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let rows = try connection.rows(
                "SELECT id, revoked_at FROM provider_grants WHERE revoked_at IS NOT NULL AND revoked_at >= ?1",
                [.integer(moment.milliseconds)])
            return Dictionary(
                rows.map { ($0.text(0), UnixTime(milliseconds: $0.integer(1))) }, uniquingKeysWith: { $1 })
        }
    }

    /// The secret key of that name; `proposal` where there was none.
    public func secretKey(
        named name: String, else proposal: [UInt8], by deadline: Deadline
    ) async throws(ProviderStoreError) -> [UInt8] {
        try await writeProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            if let row = try connection.row("SELECT value FROM provider_keys WHERE name = ?1", [.text(name)]) {
                return try keys.open(row.blob(0), in: .providerKey, row: name)
            }
            let sealed = try keys.seal(proposal, in: .providerKey, row: name)
            try connection.run("INSERT INTO provider_keys VALUES (?1, ?2)", [.text(name), .blob(sealed)])
            return proposal
        }
    }

    /// How often something changed that other processes must learn of.
    public func changeCounter(by deadline: Deadline) async throws(ProviderStoreError) -> Int64 {
        try await readProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.row("SELECT value FROM counters WHERE name = 'changes'")?.integer(0) ?? 0
        }
    }

    /// Forgets what nothing is gained by remembering.
    @discardableResult
    public func pruneProvider(
        before moments: ProviderPruning, by deadline: Deadline
    ) async throws(ProviderStoreError) -> Int {
        try await writeProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            var count = try connection.run(
                """
                DELETE FROM provider_grants WHERE redeemed_at IS NULL AND revoked_at IS NULL
                AND id IN (SELECT grant_id FROM provider_codes WHERE expires_at < ?1)
                """, [.integer(moments.codes.milliseconds)])
            count += try connection.run(
                "DELETE FROM provider_grants WHERE revoked_at IS NOT NULL AND revoked_at < ?1",
                [.integer(moments.revokedGrants.milliseconds)])
            count += try connection.run(
                "DELETE FROM provider_codes WHERE expires_at < ?1", [.integer(moments.codes.milliseconds)])
            count += try connection.run(
                "DELETE FROM refresh_tokens WHERE replaced_at IS NOT NULL AND replaced_at < ?1",
                [.integer(moments.replacedTokens.milliseconds)])
            return count
        }
    }

    @discardableResult
    func writeProvider<Value: Sendable>(
        by deadline: Deadline, _ body: @Sendable (inout Connection) throws(StorageError) -> Value
    ) async throws(ProviderStoreError) -> Value {
        do throws(StorageError) { return try await database.write(by: deadline, body) } catch {
            throw ProviderStoreError(error)
        }
    }

    func readProvider<Value: Sendable>(
        by deadline: Deadline, _ body: @Sendable (inout Connection) throws(StorageError) -> Value
    ) async throws(ProviderStoreError) -> Value {
        do throws(StorageError) { return try await database.read(by: deadline, body) } catch {
            throw ProviderStoreError(error)
        }
    }
}

extension ProviderStoreError {
    init(_ error: StorageError) {
        self = error == .timedOut ? .timedOut : .unavailable(error.description)
    }
}

extension Connection {
    /// Tells other processes that something changed, in the transaction that changes it.
    mutating func countChange() throws(StorageError) {
        try run("UPDATE counters SET value = value + 1 WHERE name = 'changes'")
    }
}

extension Row {
    func time(_ column: Int) -> UnixTime? { optionalInteger(column).map(UnixTime.init(milliseconds:)) }
}
