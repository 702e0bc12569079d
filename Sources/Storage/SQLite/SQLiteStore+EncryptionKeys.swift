import Time

/// What a change of the encryption key did.
public struct EncryptionRotation: Hashable, Sendable {
    /// How many values were sealed anew.
    public let records: Int
    /// The ids of the keys that sealed something before and open nothing any more.
    public let retired: [String]
    /// Whether the old values are gone from the file beside the database too, which SQLite writes first.
    public let isJournalEmpty: Bool
}

extension SQLiteStore {
    /// The ids of the encryption keys, the current one first; they tell nothing about the keys.
    public var encryptionKeyIDs: [String] { keys.ids }

    /// How many values a transaction seals anew: so few that those who write meanwhile hardly wait.
    private static let batchRows = 200
    /// Each round finds what was written during the one before; with the right key in use there is nothing to find.
    private static let roundLimit = 20
    /// Nobody waits for this, so a batch may wait for its turn; others hold the lock for moments.
    private static var patience: Deadline { .after(.seconds(60), from: .now) }

    /// Seals with the current key whatever another key sealed, while other processes read and write.
    ///
    /// Every batch is a transaction of its own that reads its rows again, so nothing that somebody else wrote is lost,
    /// and nothing but the sealed value changes. Stopped at any moment, it goes on where it is called again. `progress`
    /// is told how many values are done after each batch.
    ///
    /// - Throws: ``StorageError`` where a value does not open, or a process goes on sealing with another key.
    public func rotateEncryption(
        progress: @Sendable (Int) -> Void = { _ in }
    ) async throws(StorageError) -> EncryptionRotation {
        var records = 0
        for _ in 0..<Self.roundLimit {
            for column in SealedColumn.rotated {
                var last = SQLValue.null
                while true {
                    let batch = try await batch(of: column, after: last)
                    guard let end = batch.last else { break }
                    last = end
                    let count = try await reseal(batch, of: column)
                    records += count
                    progress(records)
                }
            }
            guard let retired = try await retireKeys() else { continue }
            let isEmpty = try await database.emptyJournal(by: Self.patience)
            return EncryptionRotation(records: records, retired: retired, isJournalEmpty: isEmpty)
        }
        throw .encryptionKeys("a process that runs still seals with another key than \(keys.current.id)")
    }

    /// The keys of the next rows that another key than the current one sealed.
    private func batch(of column: SealedColumn, after last: SQLValue) async throws(StorageError) -> [SQLValue] {
        let sql = """
            SELECT \(column.key) FROM \(column.table)
            WHERE (?1 IS NULL OR \(column.key) > ?1) AND substr(\(column.column), 1, \(SealingKeys.headBytes)) <> ?2
            ORDER BY \(column.key) LIMIT \(Self.batchRows)
            """
        let head = keys.currentHead
        return try await database.read(by: Self.patience) { (connection: inout Connection) throws(StorageError) in
            try connection.rows(sql, [last, .blob(head)]).map { $0.values[0] }
        }
    }

    private func reseal(_ batch: [SQLValue], of column: SealedColumn) async throws(StorageError) -> Int {
        let (name, key) = (column.column, column.key)
        // Another process may have changed or deleted the row since, or moved another one to its place.
        let find = """
            SELECT \(name), \(column.row) FROM \(column.table)
            WHERE \(key) = ?1 AND substr(\(name), 1, \(SealingKeys.headBytes)) <> ?2
            """
        let change = "UPDATE \(column.table) SET \(name) = ?2 WHERE \(key) = ?1"
        return try await database.write(by: Self.patience) { (connection: inout Connection) throws(StorageError) in
            var count = 0
            for value in batch {
                guard let row = try connection.row(find, [value, .blob(keys.currentHead)]) else { continue }
                let plain = try keys.open(row.blob(0), in: column, row: row.text(1))
                let sealed = try keys.seal(plain, in: column, row: row.text(1))
                count += try connection.run(change, [value, .blob(sealed)])
            }
            return count
        }
    }

    /// Strikes the old keys off the list of those in use; nil where a value still needs one.
    private func retireKeys() async throws(StorageError) -> [String]? {
        try await database.write(by: Self.patience) { (connection: inout Connection) throws(StorageError) in
            for column in SealedColumn.rotated {
                let left = try connection.row(
                    """
                    SELECT 1 FROM \(column.table)
                    WHERE substr(\(column.column), 1, \(SealingKeys.headBytes)) <> ?1 LIMIT 1
                    """, [.blob(keys.currentHead)])
                if left != nil { return nil }
            }
            return try connection.rows("DELETE FROM sealing_keys WHERE id <> ?1 RETURNING id", [.text(keys.current.id)])
                .map { $0.text(0) }.sorted()
        }
    }
}

extension Connection {
    /// Enters the current key among those in use.
    ///
    /// Before every write: a process that still seals with a key that others gave up enters it again, so that the next
    /// start without that key is refused and not the next reading of what it sealed.
    mutating func enter(_ keys: SealingKeys) throws(StorageError) {
        let id = keys.current.id
        guard try row("SELECT 1 FROM sealing_keys WHERE id = ?1", [.text(id)]) == nil else { return }
        let probe = try keys.seal(Array("skillgate".utf8), in: .keyProbe, row: id)
        try run("INSERT INTO sealing_keys VALUES (?1, ?2)", [.text(id), .blob(probe)])
    }
}

extension SealedColumn {
    /// The probes are not sealed anew, they go with their keys.
    fileprivate static let rotated = allCases.filter { $0 != .keyProbe }
}
