public import Crypto
public import OAuth
public import Time

extension SQLiteStore: UserStore {
    private static let userColumns = "subject, username, password_hash, name, email, locale, disabled, created_at"

    /// Adds a user unless the username or the subject is taken.
    public func add(_ user: StoredUser, by deadline: Deadline) async throws(ProviderStoreError) -> UserAddition {
        try await writeProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            if try connection.row("SELECT 1 FROM users WHERE username = ?1", [.text(user.username)]) != nil {
                return .usernameTaken
            }
            if try connection.row("SELECT 1 FROM users WHERE subject = ?1", [.text(user.subject)]) != nil {
                return .subjectTaken
            }
            try connection.run(
                "INSERT INTO users (\(Self.userColumns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                [
                    .text(user.subject), .text(user.username), .blob(try sealed(user.passwordHash, of: user.subject)),
                    .text(user.name), .optional(user.email), .optional(user.locale),
                    .integer(user.isDisabled ? 1 : 0), .integer(user.createdAt.milliseconds),
                ])
            try connection.countChange()
            return .added
        }
    }

    /// The user of that subject.
    public func user(subject: String, by deadline: Deadline) async throws(ProviderStoreError) -> StoredUser? {
        try await readProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.row("SELECT \(Self.userColumns) FROM users WHERE subject = ?1", [.text(subject)])
                .map { (row) throws(StorageError) in try user(row) }
        }
    }

    /// The user of that username.
    public func user(named username: String, by deadline: Deadline) async throws(ProviderStoreError) -> StoredUser? {
        try await readProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.row("SELECT \(Self.userColumns) FROM users WHERE username = ?1", [.text(username)])
                .map { (row) throws(StorageError) in try user(row) }
        }
    }

    /// At most `limit` users in the order of their usernames, beginning after `username`.
    public func users(
        after username: String?, limit: Int, by deadline: Deadline
    ) async throws(ProviderStoreError) -> [StoredUser] {
        try await readProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.rows(
                """
                SELECT \(Self.userColumns) FROM users WHERE ?1 IS NULL OR username > ?1 ORDER BY username LIMIT ?2
                """, [.optional(username), .integer(Int64(limit))]
            ).map { (row) throws(StorageError) in try user(row) }
        }
    }

    /// Disables a user and revokes their grants, or enables them again.
    @discardableResult
    public func setUser(
        _ subject: String, isDisabled: Bool, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> Bool {
        try await writeProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let count = try connection.run(
                "UPDATE users SET disabled = ?2 WHERE subject = ?1", [.text(subject), .integer(isDisabled ? 1 : 0)])
            guard count > 0 else { return false }
            if isDisabled { try connection.revokeProviderGrants(of: subject, at: now) }
            try connection.countChange()
            return true
        }
    }

    /// Gives a user another password and revokes their grants.
    @discardableResult
    public func setPasswordHash(
        _ hash: Secret, of subject: String, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> Bool {
        try await writeProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let count = try connection.run(
                "UPDATE users SET password_hash = ?2 WHERE subject = ?1",
                [.text(subject), .blob(try sealed(hash, of: subject))])
            guard count > 0 else { return false }
            try connection.revokeProviderGrants(of: subject, at: now)
            try connection.countChange()
            return true
        }
    }

    /// Compares the users file with what it was at the last start.
    public func compareUsersFile(
        marks: [String: String], at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> [String] {
        try await writeProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let rows = try connection.rows("SELECT subject, mark FROM user_file_marks")
            let known = Dictionary(rows.map { ($0.text(0), $0.text(1)) }, uniquingKeysWith: { $1 })
            let changed = known.filter { marks[$0.key] != $0.value }.keys.sorted()
            for subject in changed {
                try connection.run("DELETE FROM user_file_marks WHERE subject = ?1", [.text(subject)])
                try connection.revokeProviderGrants(of: subject, at: now)
            }
            for (subject, mark) in marks where known[subject] != mark {
                try connection.run("INSERT INTO user_file_marks VALUES (?1, ?2)", [.text(subject), .text(mark)])
            }
            if !changed.isEmpty { try connection.countChange() }
            return changed
        }
    }

    /// Ends a browser's session.
    public func endSession(
        hash: String, until end: UnixTime, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) {
        try await writeProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.run("DELETE FROM ended_sessions WHERE ends_at < ?1", [.integer(now.milliseconds)])
            try connection.run(
                "INSERT OR REPLACE INTO ended_sessions VALUES (?1, ?2)", [.text(hash), .integer(end.milliseconds)])
        }
    }

    /// Whether the session of that hash was ended.
    public func isSessionEnded(hash: String, by deadline: Deadline) async throws(ProviderStoreError) -> Bool {
        try await readProvider(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.row("SELECT 1 FROM ended_sessions WHERE hash = ?1", [.text(hash)]) != nil
        }
    }

    private func user(_ row: Row) throws(StorageError) -> StoredUser {
        let hash = try keys.open(row.blob(2), in: .passwordHash, row: row.text(0))
        return StoredUser(
            subject: row.text(0), username: row.text(1), passwordHash: Secret(String(decoding: hash, as: UTF8.self)),
            name: row.text(3), email: row.optionalText(4), locale: row.optionalText(5), isDisabled: row.integer(6) != 0,
            createdAt: UnixTime(milliseconds: row.integer(7)))
    }

    private func sealed(_ hash: Secret, of subject: String) throws(StorageError) -> [UInt8] {
        try keys.seal(Array(hash.exposed.utf8), in: .passwordHash, row: subject)
    }
}

extension Connection {
    /// Revokes what a user let clients do, in the transaction that says why.
    fileprivate mutating func revokeProviderGrants(of subject: String, at now: UnixTime) throws(StorageError) {
        try run(
            "UPDATE provider_grants SET revoked_at = ?2 WHERE subject = ?1 AND revoked_at IS NULL",
            [.text(subject), .integer(now.milliseconds)])
    }
}
