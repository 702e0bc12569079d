public import OAuth
public import Time

extension SQLiteStore: SigningKeyStore {
    /// Every key that is stored, oldest first.
    public func signingKeys() async throws -> [SigningKeyRecord] {
        try await database.read(by: .ofBackgroundWork) { (connection: inout Connection) throws(StorageError) in
            try signingKeys(on: &connection)
        }
    }

    /// Stores `key` where no key is stored; says what is stored afterwards.
    public func insertFirstSigningKey(_ key: SigningKeyRecord) async throws -> [SigningKeyRecord] {
        try await database.write(by: .ofBackgroundWork) { (connection: inout Connection) throws(StorageError) in
            let known = try signingKeys(on: &connection)
            guard known.isEmpty else { return known }
            try insert(key, on: &connection)
            try connection.countChange()
            return [key]
        }
    }

    /// Adds `key` and lets every other key be published until `othersUntil` at most.
    public func addSigningKey(_ key: SigningKeyRecord, othersUntil: UnixTime) async throws {
        try await database.write(by: .ofBackgroundWork) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                "UPDATE signing_keys SET published_until = min(coalesce(published_until, ?1), ?1)",
                [.integer(othersUntil.milliseconds)])
            try insert(key, on: &connection)
            try connection.countChange()
        }
    }

    /// Deletes the keys whose publication ended before `moment`.
    public func removeSigningKeys(endedBefore moment: UnixTime) async throws {
        try await database.write(by: .ofBackgroundWork) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                "DELETE FROM signing_keys WHERE published_until < ?1", [.integer(moment.milliseconds)])
        }
    }

    private func signingKeys(on connection: inout Connection) throws(StorageError) -> [SigningKeyRecord] {
        let rows = try connection.rows(
            """
            SELECT id, algorithm, private_key, created_at, signs_from, published_until FROM signing_keys
            ORDER BY created_at, id
            """)
        var records: [SigningKeyRecord] = []
        for row in rows {
            let privateKey = try keys.open(row.blob(2), in: .signingKey, row: row.text(0))
            records.append(
                SigningKeyRecord(
                    id: row.text(0), algorithm: row.text(1), privateKeyPEM: privateKey,
                    createdAt: UnixTime(milliseconds: row.integer(3)),
                    signsFrom: UnixTime(milliseconds: row.integer(4)),
                    publishedUntil: row.optionalInteger(5).map(UnixTime.init(milliseconds:))))
        }
        return records
    }

    private func insert(_ key: SigningKeyRecord, on connection: inout Connection) throws(StorageError) {
        let sealed = try keys.seal(key.privateKeyPEM, in: .signingKey, row: key.id)
        try connection.run(
            "INSERT INTO signing_keys VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            [
                .text(key.id), .text(key.algorithm), .blob(sealed), .integer(key.createdAt.milliseconds),
                .integer(key.signsFrom.milliseconds), key.publishedUntil.map { .integer($0.milliseconds) } ?? .null,
            ])
    }
}
