public import Alexa
public import Time

extension SQLiteStore {
    /// Keeps what a request taught.
    @discardableResult
    public func put(_ join: LinkJoin, by deadline: Deadline) async throws(LinkStoreError) -> LinkJoin? {
        try await writeLinks(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let known = try connection.join(join.skill, join.alexaUserID)
            if let known, known.seenAt > join.seenAt { return nil }
            let written = join.after(known)
            try connection.run(
                """
                INSERT INTO link_joins VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE SET
                    subject = ?3, provider_grant_id = ?4, region = ?5, first_seen_at = ?6, seen_at = ?7
                """,
                [
                    .text(written.skill), .text(written.alexaUserID), .text(written.subject),
                    .optional(written.providerGrantID), .optional(written.region?.rawValue),
                    .integer(written.firstSeenAt.milliseconds), .integer(written.seenAt.milliseconds),
                ])
            return known.flatMap { $0.isSame(as: join) ? nil : $0 }
        }
    }

    /// What was learned of an Alexa user of a skill.
    public func join(
        skill: String, alexaUserID: String, by deadline: Deadline
    ) async throws(LinkStoreError) -> LinkJoin? {
        try await readLinks(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.join(skill, alexaUserID)
        }
    }

    /// What was learned of a user.
    public func joins(of subject: String, by deadline: Deadline) async throws(LinkStoreError) -> [LinkJoin] {
        try await readLinks(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.rows(
                """
                SELECT \(joinColumns) FROM link_joins WHERE subject = ?1
                ORDER BY first_seen_at, skill, alexa_user_id
                """, [.text(subject)]
            ).map(joined)
        }
    }

    /// Forgets a join.
    @discardableResult
    public func deleteJoin(
        skill: String, alexaUserID: String, by deadline: Deadline
    ) async throws(LinkStoreError) -> LinkJoin? {
        try await writeLinks(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.row(
                "DELETE FROM link_joins WHERE skill = ?1 AND alexa_user_id = ?2 RETURNING \(joinColumns)",
                [.text(skill), .text(alexaUserID)]
            ).map(joined)
        }
    }
}

private let joinColumns = "skill, alexa_user_id, subject, provider_grant_id, region, first_seen_at, seen_at"

private func joined(_ row: Row) -> LinkJoin {
    LinkJoin(
        skill: row.text(0), alexaUserID: row.text(1), subject: row.text(2), providerGrantID: row.optionalText(3),
        region: row.optionalText(4).flatMap(AlexaRegion.init(rawValue:)),
        seenAt: UnixTime(milliseconds: row.integer(6)), firstSeenAt: UnixTime(milliseconds: row.integer(5)))
}

extension Connection {
    fileprivate mutating func join(_ skill: String, _ alexaUserID: String) throws(StorageError) -> LinkJoin? {
        try row(
            "SELECT \(joinColumns) FROM link_joins WHERE skill = ?1 AND alexa_user_id = ?2",
            [.text(skill), .text(alexaUserID)]
        ).map(joined)
    }
}
