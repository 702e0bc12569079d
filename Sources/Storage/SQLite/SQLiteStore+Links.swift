public import Alexa
import JSON
public import Time

extension SQLiteStore: LinkStore {
    /// Stores a new link.
    @discardableResult
    public func add(_ link: Link, by deadline: Deadline) async throws(LinkStoreError) -> Link? {
        try await writeLinks(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let replaced = try connection.removeEarlier(of: link)
            try connection.run(
                "INSERT INTO links VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
                values(of: link.at(version: 1)))
            return replaced
        }
    }

    /// The link of that id.
    public func link(id: String, by deadline: Deadline) async throws(LinkStoreError) -> Link? {
        try await readLinks(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.link(id)
        }
    }

    /// The user's links.
    public func links(of subject: String, by deadline: Deadline) async throws(LinkStoreError) -> [Link] {
        try await readLinks(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.links("subject = ?1 ORDER BY linked_at, id", [.text(subject)])
        }
    }

    /// The links of an Alexa user of a skill.
    public func links(
        alexaUserID: String, skill: String, by deadline: Deadline
    ) async throws(LinkStoreError) -> [Link] {
        try await readLinks(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.links(
                "alexa_user_id = ?1 AND skill = ?2 ORDER BY linked_at, id", [.text(alexaUserID), .text(skill)])
        }
    }

    /// All links.
    public func links(after link: Link?, limit: Int, by deadline: Deadline) async throws(LinkStoreError) -> [Link] {
        try await readLinks(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.links(
                "(linked_at, id) > (?1, ?2) ORDER BY linked_at, id LIMIT ?3",
                [
                    .integer(link?.linkedAt.milliseconds ?? .min), .text(link?.id ?? ""),
                    .integer(Int64(max(0, limit))),
                ])
        }
    }

    /// Writes a link over the version that it was read at.
    public func update(_ link: Link, by deadline: Deadline) async throws(LinkStoreError) -> Link? {
        try await writeLinks(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let written = link.at(version: link.version + 1)
            return try connection.overwrite(link.version, with: written) ? written : nil
        }
    }

    /// Writes a link as linked and removes the earlier one of its Alexa user.
    public func settle(_ link: Link, by deadline: Deadline) async throws(LinkStoreError) -> LinkSettlement {
        try await writeLinks(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let stored = try connection.link(link.id)
            guard let stored, stored.version == link.version else { return .changed(stored) }
            let settled = link.settled
            let replaced = try connection.removeEarlier(of: settled)
            _ = try connection.overwrite(link.version, with: settled)
            return .settled(settled, replaced: replaced)
        }
    }

    /// Deletes a link.
    @discardableResult
    public func deleteLink(id: String, by deadline: Deadline) async throws(LinkStoreError) -> Link? {
        try await writeLinks(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let row = try connection.row("DELETE FROM links WHERE id = ?1 RETURNING \(columns)", [.text(id)])
            guard let row else { return nil }
            return try Link(row)
        }
    }

    /// Takes pending links that are due.
    public func leaseDueLinks(
        limit: Int, for duration: Duration, by deadline: Deadline
    ) async throws(LinkStoreError) -> [Link] {
        try await writeLinks(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let now = now
            let due = try connection.links(
                "status = 'PENDING' AND due_at IS NOT NULL AND due_at <= ?1 ORDER BY due_at, id LIMIT ?2",
                [.integer(now), .integer(Int64(max(0, limit)))])
            var leased: [Link] = []
            for link in due {
                var link = link.at(version: link.version + 1)
                link.dueAt = UnixTime(milliseconds: now + milliseconds(duration))
                _ = try connection.overwrite(link.version - 1, with: link)
                leased.append(link)
            }
            return leased
        }
    }

    /// When the next pending link is due.
    public func nextDueLink(by deadline: Deadline) async throws(LinkStoreError) -> UnixTime? {
        try await readLinks(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.row(
                "SELECT min(due_at) FROM links WHERE status = 'PENDING' AND due_at IS NOT NULL")?.time(0)
        }
    }
}

// MARK: - Rows

private let columns = """
    id, subject, skill, stage, flow, status, region, alexa_user_id, provider_grant_id, candidates, linked_at, trace_id,
    due_at, attempts, version
    """

private func values(of link: Link) -> [SQLValue] {
    [
        .text(link.id), .text(link.subject), .text(link.skill), .text(link.stage), .text(link.flow.rawValue),
        .text(link.status.rawValue), .optional(link.region?.rawValue), .optional(link.alexaUserID),
        .optional(link.providerGrantID), .text(text(of: link.candidates)), .integer(link.linkedAt.milliseconds),
        .optional(link.traceID), .optional(link.dueAt), .integer(Int64(link.attempts)), .integer(link.version),
    ]
}

extension Link {
    fileprivate init(_ row: Row) throws(StorageError) {
        guard let flow = Flow(rawValue: row.text(4)) else { throw .damaged(table: "links", column: "flow") }
        guard let status = Status(rawValue: row.text(5)) else { throw .damaged(table: "links", column: "status") }
        self.init(
            id: row.text(0), subject: row.text(1), skill: row.text(2), stage: row.text(3), flow: flow,
            status: status, region: row.optionalText(6).flatMap(AlexaRegion.init(rawValue:)),
            alexaUserID: row.optionalText(7), providerGrantID: row.optionalText(8),
            candidates: try readCandidates(row.text(9)), linkedAt: UnixTime(milliseconds: row.integer(10)),
            traceID: row.optionalText(11), dueAt: row.time(12), attempts: Int(clamping: row.integer(13)),
            version: row.integer(14))
    }
}

/// An array of arrays: a region and, where it is known, a grant.
private func text(of candidates: [Link.Candidate]) -> String {
    let value = JSONValue.array(
        candidates.map { candidate in
            .array([.string(candidate.region.rawValue)] + (candidate.providerGrantID.map { [.string($0)] } ?? []))
        })
    return String(decoding: value.encoded(), as: UTF8.self)
}

private func readCandidates(_ text: String) throws(StorageError) -> [Link.Candidate] {
    let items = (try? JSONValue(parsing: Array(text.utf8)))?.array
    guard let items else { throw .damaged(table: "links", column: "candidates") }
    return items.compactMap { item in
        guard let parts = item.array?.compactMap(\.string), let first = parts.first,
            let region = AlexaRegion(rawValue: first)
        else { return nil }
        return Link.Candidate(region: region, providerGrantID: parts.count > 1 ? parts[1] : nil)
    }
}

extension Connection {
    fileprivate mutating func link(_ id: String) throws(StorageError) -> Link? {
        try links("id = ?1", [.text(id)]).first
    }

    fileprivate mutating func links(_ condition: String, _ values: [SQLValue]) throws(StorageError) -> [Link] {
        var links: [Link] = []
        for row in try rows("SELECT \(columns) FROM links WHERE \(condition)", values) { links.append(try Link(row)) }
        return links
    }

    /// Writes all of a link over its row of that version; false where there is none.
    fileprivate mutating func overwrite(_ version: Int64, with link: Link) throws(StorageError) -> Bool {
        let count = try run(
            """
            UPDATE links SET (\(columns)) = (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
            WHERE id = ?1 AND version = ?16
            """, values(of: link) + [.integer(version)])
        return count > 0
    }

    /// Removes the linked row of the same subject, skill and Alexa user.
    fileprivate mutating func removeEarlier(of link: Link) throws(StorageError) -> Link? {
        guard link.status == .linked, let user = link.alexaUserID else { return nil }
        let row = try row(
            """
            DELETE FROM links
            WHERE subject = ?1 AND skill = ?2 AND alexa_user_id = ?3 AND status = 'LINKED' AND id <> ?4
            RETURNING \(columns)
            """, [.text(link.subject), .text(link.skill), .text(user), .text(link.id)])
        guard let row else { return nil }
        return try Link(row)
    }
}
