public import Crypto
public import OAuth
public import Time

extension SQLiteStore: ProviderStore {
    /// Stores a grant and the code that it is redeemed by.
    public func add(
        _ grant: ProviderGrant, code: CodeRecord, by deadline: Deadline
    ) async throws(ProviderStoreError) {
        try await writeProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                "INSERT INTO provider_grants VALUES (?1, ?2, ?3, ?4, ?5, NULL, NULL, NULL)",
                [
                    .text(grant.id), .text(grant.subject), .text(grant.clientID),
                    .text(grant.scopes.joined(separator: " ")), .integer(grant.createdAt.milliseconds),
                ])
            try connection.run(
                "INSERT INTO provider_codes VALUES (?1, ?2, ?3, ?4, ?5, NULL)",
                [
                    .text(code.hash), .text(grant.id), .text(code.redirectURI), .optional(code.challenge),
                    .integer(code.expiresAt.milliseconds),
                ])
        }
    }

    /// The code of that hash and its grant.
    public func code(hash: String, by deadline: Deadline) async throws(ProviderStoreError) -> StoredCode? {
        try await readProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let row = try connection.row(
                """
                SELECT \(Self.grantColumns), redirect_uri, challenge, expires_at, c.used_at
                FROM provider_codes c JOIN provider_grants g ON g.id = c.grant_id WHERE c.hash = ?1
                """, [.text(hash)])
            return row.map { row in
                StoredCode(
                    code: CodeRecord(
                        hash: hash, redirectURI: row.text(8), challenge: row.optionalText(9),
                        expiresAt: UnixTime(milliseconds: row.integer(10)), usedAt: row.time(11)),
                    grant: Self.grant(row))
            }
        }
    }

    /// Uses the code up, and stores the refresh token of that hash.
    public func redeem(
        codeHash: String, refreshTokenHash: String?, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> CodeRedemption {
        try await writeProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let row = try connection.row(
                """
                SELECT grant_id, c.used_at, expires_at, revoked_at
                FROM provider_codes c JOIN provider_grants g ON g.id = c.grant_id WHERE c.hash = ?1
                """, [.text(codeHash)])
            guard let row else { return .gone }
            guard row.time(1) == nil else { return .usedBefore }
            guard row.integer(2) > now.milliseconds, row.time(3) == nil else { return .gone }
            try connection.run(
                "UPDATE provider_codes SET used_at = ?2 WHERE hash = ?1",
                [.text(codeHash), .integer(now.milliseconds)])
            try connection.run(
                "UPDATE provider_grants SET redeemed_at = ?2, used_at = ?2 WHERE id = ?1",
                [.text(row.text(0)), .integer(now.milliseconds)])
            if let refreshTokenHash {
                try insert(refreshToken: refreshTokenHash, grant: row.text(0), at: now, on: &connection)
            }
            return .redeemed
        }
    }

    /// Uses the code up without giving anything for it.
    public func spend(codeHash: String, at now: UnixTime, by deadline: Deadline) async throws(ProviderStoreError) {
        try await writeProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                "UPDATE provider_codes SET used_at = ?2 WHERE hash = ?1 AND used_at IS NULL",
                [.text(codeHash), .integer(now.milliseconds)])
        }
    }

    /// Deletes a code that nobody has used, and its grant.
    @discardableResult
    public func withdraw(codeHash: String, by deadline: Deadline) async throws(ProviderStoreError) -> Bool {
        try await writeProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                """
                DELETE FROM provider_grants
                WHERE id = (SELECT grant_id FROM provider_codes WHERE hash = ?1 AND used_at IS NULL)
                """, [.text(codeHash)]) > 0
        }
    }

    /// The refresh token of that hash and its grant.
    public func refreshToken(
        hash: String, by deadline: Deadline
    ) async throws(ProviderStoreError) -> StoredRefreshToken? {
        try await readProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let row = try connection.row(
                """
                SELECT \(Self.grantColumns), issued_at, replaced_at
                FROM refresh_tokens t JOIN provider_grants g ON g.id = t.grant_id WHERE t.hash = ?1
                """, [.text(hash)])
            return row.map { row in
                StoredRefreshToken(
                    issuedAt: UnixTime(milliseconds: row.integer(8)), replacedAt: row.time(9), grant: Self.grant(row))
            }
        }
    }

    /// Replaces a refresh token, and keeps what is answered, sealed.
    public func rotate(
        refreshTokenHash: String, to newHash: String, answer: Secret, graceSeconds: Int64, at now: UnixTime,
        by deadline: Deadline
    ) async throws(ProviderStoreError) -> Rotation {
        try await writeProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let row = try connection.row(
                """
                SELECT grant_id, replaced_at, answer, revoked_at
                FROM refresh_tokens t JOIN provider_grants g ON g.id = t.grant_id WHERE t.hash = ?1
                """, [.text(refreshTokenHash)])
            guard let row, row.time(3) == nil else { return .gone }
            if let replacedAt = row.time(1) {
                guard now <= replacedAt.adding(seconds: graceSeconds), !row.blob(2).isEmpty else { return .replayed }
                let bytes = try keys.open(row.blob(2), in: .refreshAnswer, row: refreshTokenHash)
                return .repeated(Secret(String(decoding: bytes, as: UTF8.self)))
            }
            let sealed = try keys.seal(Array(answer.exposed.utf8), in: .refreshAnswer, row: refreshTokenHash)
            try connection.run(
                "UPDATE refresh_tokens SET replaced_at = ?2, answer = ?3 WHERE hash = ?1",
                [.text(refreshTokenHash), .integer(now.milliseconds), .blob(sealed)])
            // What was answered for the one before is of no use any more.
            try connection.run(
                "UPDATE refresh_tokens SET answer = NULL WHERE grant_id = ?1 AND replaced_at < ?2",
                [.text(row.text(0)), .integer(now.adding(seconds: -graceSeconds).milliseconds)])
            try insert(refreshToken: newHash, grant: row.text(0), at: now, on: &connection)
            try connection.run(
                "UPDATE provider_grants SET used_at = ?2 WHERE id = ?1",
                [.text(row.text(0)), .integer(now.milliseconds)])
            return .rotated
        }
    }

    /// Notes that the grant was used.
    public func touchProviderGrant(
        _ id: String, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) {
        try await writeProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                "UPDATE provider_grants SET used_at = ?2 WHERE id = ?1", [.text(id), .integer(now.milliseconds)])
        }
    }

    private func insert(
        refreshToken hash: String, grant: String, at now: UnixTime, on connection: inout Connection
    ) throws(StorageError) {
        try connection.run(
            "INSERT INTO refresh_tokens VALUES (?1, ?2, ?3, NULL, NULL)",
            [.text(hash), .text(grant), .integer(now.milliseconds)])
    }
}
