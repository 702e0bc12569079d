public import Alexa
import Crypto
public import Time

extension SQLiteStore: GrantStore {
    /// Writes a row and waits until it is on disk.
    public func probeWriting(by deadline: Deadline) async throws(GrantStoreError) {
        do throws(StorageError) {
            try await database.probeWriting(at: clock(), by: deadline)
        } catch { throw GrantStoreError(error) }
    }

    /// The next place among grants.
    public func nextGrantSequence(by deadline: Deadline) async throws(GrantStoreError) -> Int64 {
        try await write(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try nextSequence(on: &connection)
        }
    }

    /// Stores the tokens unless a grant of a later place is there already.
    @discardableResult
    public func put(
        _ credentials: AmazonCredentials, for key: GrantKey, sequence: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool {
        try await write(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try put(credentials, for: key, sequence: sequence, on: &connection)
        }
    }

    /// The grant of that key.
    public func grant(_ key: GrantKey, by deadline: Deadline) async throws(GrantStoreError) -> Grant? {
        try await read(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try grant(key, on: &connection)
        }
    }

    /// Every grant of the user, in the order of their places.
    public func grants(of subject: String, by deadline: Deadline) async throws(GrantStoreError) -> [Grant] {
        try await read(by: deadline) { (connection: inout Connection) throws(StorageError) in
            var grants: [Grant] = []
            let rows = try connection.rows(
                "SELECT \(columns) FROM grants WHERE subject = ?1 ORDER BY sequence", [.text(subject)])
            for row in rows { grants.append(try grant(from: row)) }
            return grants
        }
    }

    /// Deletes one grant.
    @discardableResult
    public func deleteGrant(_ key: GrantKey, by deadline: Deadline) async throws(GrantStoreError) -> Bool {
        try await write(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.run("DELETE FROM grants WHERE \(isKey)", values(of: key)) > 0
        }
    }

    /// Deletes one grant of that version.
    @discardableResult
    public func deleteGrant(
        _ key: GrantKey, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool {
        try await write(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                "DELETE FROM grants WHERE \(isKey) AND version = ?7", values(of: key) + [.integer(version)]) > 0
        }
    }

    /// Deletes the user's grants: of one skill, or of all where `skill` is nil.
    @discardableResult
    public func deleteGrants(
        of subject: String, skill: String?, by deadline: Deadline
    ) async throws(GrantStoreError) -> Int {
        try await write(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                "DELETE FROM grants WHERE subject = ?1 AND (?2 IS NULL OR skill = ?2)",
                [.text(subject), .optional(skill)])
        }
    }

    /// Stops or resumes sending with a grant of that version.
    @discardableResult
    public func setSuspended(
        _ isSuspended: Bool, grant key: GrantKey, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool {
        try await write(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                "UPDATE grants SET suspended = ?7, version = version + 1 WHERE \(isKey) AND version = ?8",
                values(of: key) + [.integer(isSuspended ? 1 : 0), .integer(version)]) > 0
        }
    }

    /// Keeps which region's event gateway takes the events of a grant of that version.
    @discardableResult
    public func rememberGateway(
        _ region: AlexaRegion, grant key: GrantKey, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool {
        try await write(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                "UPDATE grants SET gateway_region = ?7 WHERE \(isKey) AND version = ?8",
                values(of: key) + [.text(region.rawValue), .integer(version)]) > 0
        }
    }

    /// Takes the right to refresh a grant, unless somebody's lease still runs.
    public func leaseGrant(
        _ key: GrantKey, owner: String, for duration: Duration, by deadline: Deadline
    ) async throws(GrantStoreError) -> GrantLease {
        try await write(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let now = now
            let taken = try connection.run(
                """
                UPDATE grants SET lease_owner = ?7, lease_until = ?8
                WHERE \(isKey) AND (lease_owner IS NULL OR lease_owner = ?7 OR lease_until <= ?9)
                """,
                values(of: key) + [.text(owner), .integer(now + milliseconds(duration)), .integer(now)])
            guard let grant = try grant(key, on: &connection) else { return .absent }
            return taken > 0 ? .owned(grant) : .held
        }
    }

    /// Writes what a refresh brought, provided that the owner's lease and the version still stand.
    public func refresh(
        _ key: GrantKey, with credentials: AmazonCredentials, owner: String, version: Int64, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool {
        try await write(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let id = try connection.row(
                "SELECT id FROM grants WHERE \(isKey) AND lease_owner = ?7 AND version = ?8",
                values(of: key) + [.text(owner), .integer(version)])
            guard let id = id?.text(0) else { return false }
            try update(id, with: credentials, on: &connection)
            return true
        }
    }

    /// Gives a lease back unused.
    public func releaseGrant(_ key: GrantKey, owner: String, by deadline: Deadline) async throws(GrantStoreError) {
        try await write(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                "UPDATE grants SET lease_owner = NULL, lease_until = 0 WHERE \(isKey) AND lease_owner = ?7",
                values(of: key) + [.text(owner)])
        }
    }

    /// Takes the right to exchange an AcceptGrant's code, known by its hash.
    public func claimAcceptGrant(
        codeHash: String, subject: String, owner: String, for duration: Duration, by deadline: Deadline
    ) async throws(GrantStoreError) -> AcceptGrantClaim {
        try await write(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let now = now
            try connection.run(
                "DELETE FROM accept_grants WHERE claimed_at <= ?1", [.integer(now - acceptGrantOutcomeSeconds * 1000)])
            let known = try connection.row(
                "SELECT subject, lease_until, outcome FROM accept_grants WHERE code_hash = ?1", [.text(codeHash)])
            if let known {
                guard known.text(0) == subject else { return .ofAnotherSubject }
                if let outcome = known.optionalText(2) { return .finished(AcceptGrantOutcome(stored: outcome)) }
                guard known.integer(1) <= now else { return .held }
            }
            try connection.run(
                """
                INSERT INTO accept_grants VALUES (?1, ?2, ?3, ?4, ?5, NULL)
                ON CONFLICT DO UPDATE SET owner = ?3, lease_until = ?4
                """,
                [
                    .text(codeHash), .text(subject), .text(owner), .integer(now + milliseconds(duration)),
                    .integer(now),
                ])
            return .owned(sequence: try nextSequence(on: &connection))
        }
    }

    /// Records the outcome of an exchange and stores what it brought, both or neither.
    public func finishAcceptGrant(
        codeHash: String, owner: String, result: AcceptGrantResult, by deadline: Deadline
    ) async throws(GrantStoreError) -> Bool {
        try await write(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let recorded = try connection.run(
                "UPDATE accept_grants SET outcome = ?3 WHERE code_hash = ?1 AND owner = ?2 AND outcome IS NULL",
                [.text(codeHash), .text(owner), .text(AcceptGrantOutcome(result).stored)])
            guard recorded > 0 else { return false }
            if case .accepted(let credentials, let key, let sequence) = result {
                try put(credentials, for: key, sequence: sequence, on: &connection)
            }
            return true
        }
    }
}

// MARK: - Rows

let keyColumns = "id, subject, source, skill, region, amazon_user_id, provider_grant_id"

private let columns = """
    \(keyColumns), access_token, refresh_token, expires_at, sequence, suspended, version, gateway_region
    """

let isKey = """
    subject = ?1 AND source = ?2 AND skill = ?3 AND region = ?4 AND amazon_user_id = ?5 AND provider_grant_id = ?6
    """

func values(of key: GrantKey) -> [SQLValue] {
    [
        .text(key.subject), .text(key.source.rawValue), .text(key.skill), .text(key.region.rawValue),
        .text(key.amazonUserID ?? ""), .text(key.providerGrantID ?? ""),
    ]
}

/// The key in a row that begins with ``keyColumns``.
func grantKey(from row: Row) throws(StorageError) -> GrantKey {
    guard let source = GrantKey.Source(rawValue: row.text(2)), let region = AlexaRegion(rawValue: row.text(4))
    else { throw .damaged(table: "grants", column: "region") }
    return GrantKey(
        source: source, subject: row.text(1), skill: row.text(3), region: region,
        amazonUserID: row.text(5).isEmpty ? nil : row.text(5),
        providerGrantID: row.text(6).isEmpty ? nil : row.text(6))
}

private func nextSequence(on connection: inout Connection) throws(StorageError) -> Int64 {
    let row = try connection.row("UPDATE counters SET value = value + 1 WHERE name = 'grants' RETURNING value")
    guard let row else { throw .damaged(table: "counters", column: "value") }
    return row.integer(0)
}

extension SQLiteStore {
    @discardableResult
    private func put(
        _ credentials: AmazonCredentials, for key: GrantKey, sequence: Int64, on connection: inout Connection
    ) throws(StorageError) -> Bool {
        let known = try connection.row("SELECT id, sequence FROM grants WHERE \(isKey)", values(of: key))
        if let known {
            guard known.integer(1) <= sequence else { return false }
            try update(known.text(0), with: credentials, on: &connection)
            try connection.run(
                "UPDATE grants SET sequence = ?2, suspended = 0, gateway_region = NULL WHERE id = ?1",
                [.text(known.text(0)), .integer(sequence)])
            return true
        }
        let id = SecureRandom.uuid()
        try connection.run(
            """
            INSERT INTO grants (subject, source, skill, region, amazon_user_id, provider_grant_id, id, access_token,
                refresh_token, expires_at, sequence, suspended, version, lease_until)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 0, 1, 0)
            """,
            values(of: key) + [.text(id)] + sealed(credentials, row: id) + [.integer(sequence)])
        return true
    }

    private func update(
        _ id: String, with credentials: AmazonCredentials, on connection: inout Connection
    ) throws(StorageError) {
        try connection.run(
            """
            UPDATE grants SET access_token = ?2, refresh_token = ?3, expires_at = ?4, version = version + 1,
                lease_owner = NULL, lease_until = 0
            WHERE id = ?1
            """, [.text(id)] + sealed(credentials, row: id))
    }

    private func grant(_ key: GrantKey, on connection: inout Connection) throws(StorageError) -> Grant? {
        guard let row = try connection.row("SELECT \(columns) FROM grants WHERE \(isKey)", values(of: key)) else {
            return nil
        }
        return try grant(from: row)
    }

    private func grant(from row: Row) throws(StorageError) -> Grant {
        let key = try grantKey(from: row)
        let credentials = AmazonCredentials(
            accessToken: try opened(row.blob(7), in: .grantAccessToken, row: row.text(0)),
            refreshToken: try opened(row.blob(8), in: .grantRefreshToken, row: row.text(0)),
            expiresAt: UnixTime(milliseconds: row.integer(9)))
        return Grant(
            key: key, credentials: credentials, sequence: row.integer(10), isSuspended: row.integer(11) != 0,
            version: row.integer(12), gatewayRegion: row.optionalText(13).flatMap(AlexaRegion.init(rawValue:)))
    }

    /// Access token, refresh token and expiry, in the order of their columns.
    private func sealed(_ credentials: AmazonCredentials, row: String) throws(StorageError) -> [SQLValue] {
        let access = Array(credentials.accessToken.exposed.utf8)
        let refresh = Array(credentials.refreshToken.exposed.utf8)
        return [
            .blob(try keys.seal(access, in: .grantAccessToken, row: row)),
            .blob(try keys.seal(refresh, in: .grantRefreshToken, row: row)),
            .integer(credentials.expiresAt.milliseconds),
        ]
    }

    private func opened(_ record: [UInt8], in column: SealedColumn, row: String) throws(StorageError) -> Secret {
        Secret(String(decoding: try keys.open(record, in: column, row: row), as: UTF8.self))
    }

    @discardableResult
    private func write<Value: Sendable>(
        by deadline: Deadline, _ body: @Sendable (inout Connection) throws(StorageError) -> Value
    ) async throws(GrantStoreError) -> Value {
        do throws(StorageError) {
            return try await database.write(by: deadline, body)
        } catch { throw GrantStoreError(error) }
    }

    private func read<Value: Sendable>(
        by deadline: Deadline, _ body: @Sendable (inout Connection) throws(StorageError) -> Value
    ) async throws(GrantStoreError) -> Value {
        do throws(StorageError) {
            return try await database.read(by: deadline, body)
        } catch { throw GrantStoreError(error) }
    }
}

extension GrantStoreError {
    init(_ error: StorageError) {
        self = error == .timedOut ? .timedOut : .unavailable(error.description)
    }
}

extension AcceptGrantOutcome {
    init(_ result: AcceptGrantResult) {
        self =
            switch result {
            case .accepted: .accepted
            case .refused(let reasonCode): .refused(reasonCode: reasonCode)
            }
    }

    /// `accepted`, or `refused` and the reason code.
    fileprivate var stored: String {
        switch self {
        case .accepted: "accepted"
        case .refused(let reasonCode): "refused " + reasonCode
        }
    }

    fileprivate init(stored: String) {
        self = stored == "accepted" ? .accepted : .refused(reasonCode: String(stored.dropFirst(8)))
    }
}

func milliseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
}
