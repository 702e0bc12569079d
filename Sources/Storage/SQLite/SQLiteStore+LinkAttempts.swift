public import Alexa
import Crypto
public import Time

extension SQLiteStore {
    /// Stores a state that is given out.
    public func add(_ attempt: LinkAttempt, by deadline: Deadline) async throws(LinkStoreError) -> Bool {
        try await writeLinks(by: deadline) { (connection: inout Connection) throws(StorageError) in
            var verifier = SQLValue.null
            if let text = attempt.verifier?.exposed {
                verifier = .blob(try keys.seal(Array(text.utf8), in: .linkVerifier, row: attempt.stateHash))
            }
            return try connection.run(
                """
                INSERT INTO link_attempts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
                ON CONFLICT DO NOTHING
                """,
                [
                    .text(attempt.stateHash), .text(attempt.subject), .text(attempt.skill),
                    .text(attempt.redirectURI), verifier, .text(attempt.flow.rawValue), .optional(attempt.browser),
                    .optional(attempt.returnURL), .text(attempt.traceID), .integer(attempt.createdAt.milliseconds),
                    .integer(attempt.expiresAt.milliseconds), .optional(attempt.usedAt),
                ]) > 0
        }
    }

    /// The attempt of that state.
    public func attempt(stateHash: String, by deadline: Deadline) async throws(LinkStoreError) -> LinkAttempt? {
        try await readLinks(by: deadline) { (connection: inout Connection) throws(StorageError) in
            let row = try connection.row(
                """
                SELECT subject, skill, redirect_uri, verifier, flow, browser, return_url, trace_id, created_at,
                    expires_at, used_at
                FROM link_attempts WHERE state_hash = ?1
                """, [.text(stateHash)])
            guard let row else { return nil }
            guard let flow = Link.Flow(rawValue: row.text(4)) else {
                throw .damaged(table: "link_attempts", column: "flow")
            }
            var verifier: Secret?
            if case .blob(let record) = row.values[3] {
                let bytes = try keys.open(record, in: .linkVerifier, row: stateHash)
                verifier = Secret(String(decoding: bytes, as: UTF8.self))
            }
            return LinkAttempt(
                stateHash: stateHash, subject: row.text(0), skill: row.text(1), redirectURI: row.text(2),
                verifier: verifier, flow: flow, browser: row.optionalText(5), returnURL: row.optionalText(6),
                traceID: row.text(7), createdAt: UnixTime(milliseconds: row.integer(8)),
                expiresAt: UnixTime(milliseconds: row.integer(9)), usedAt: row.time(10))
        }
    }

    /// Uses an attempt up.
    public func spend(
        stateHash: String, at now: UnixTime, by deadline: Deadline
    ) async throws(LinkStoreError) -> Bool {
        try await writeLinks(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                "UPDATE link_attempts SET used_at = ?2 WHERE state_hash = ?1 AND used_at IS NULL",
                [.text(stateHash), .integer(now.milliseconds)]) > 0
        }
    }

    /// Forgets the attempts that ended before `moment`.
    @discardableResult
    public func pruneAttempts(before moment: UnixTime, by deadline: Deadline) async throws(LinkStoreError) -> Int {
        try await writeLinks(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.run(
                "DELETE FROM link_attempts WHERE expires_at < ?1", [.integer(moment.milliseconds)])
        }
    }

    @discardableResult
    func writeLinks<Value: Sendable>(
        by deadline: Deadline, _ body: @Sendable (inout Connection) throws(StorageError) -> Value
    ) async throws(LinkStoreError) -> Value {
        do throws(StorageError) { return try await database.write(by: deadline, body) } catch {
            throw LinkStoreError(error)
        }
    }

    func readLinks<Value: Sendable>(
        by deadline: Deadline, _ body: @Sendable (inout Connection) throws(StorageError) -> Value
    ) async throws(LinkStoreError) -> Value {
        do throws(StorageError) { return try await database.read(by: deadline, body) } catch {
            throw LinkStoreError(error)
        }
    }
}

extension LinkStoreError {
    init(_ error: StorageError) {
        self = error == .timedOut ? .timedOut : .unavailable(error.description)
    }
}

extension SQLValue {
    static func optional(_ time: UnixTime?) -> SQLValue { time.map { .integer($0.milliseconds) } ?? .null }
}
