import Concurrency
public import Time

/// What outlives a request, in a SQLite file.
///
/// Its conformances to the store protocols are in this type's extensions, one file each.
public final class SQLiteStore: Sendable {
    let database: Database
    let keys: SealingKeys
    /// SQLite runs inside the process, so the database's clock is the machine's, which all its processes share.
    let clock: WallClock
    /// How many traces this process has saved, so that only some saves look whether there are too many.
    let savedTraces = Locked(0)

    /// Opens the store at `url`, `sqlite:` and a path.
    ///
    /// It blocks, so it is for the start of the program.
    ///
    /// - Throws: ``StorageError`` where the file cannot be opened and written, is of a newer schema, or holds secrets
    ///   sealed under other keys.
    public init(url: String, keys: SealingKeys, clock: @escaping WallClock) throws(StorageError) {
        guard url.hasPrefix("sqlite:"), url.utf8.count > 7 else { throw .unknownURL }
        database = try Database(path: String(url.dropFirst(7))) { (connection: inout Connection) throws(StorageError) in
            try checkKeys(keys, on: &connection)
        }
        self.keys = keys
        self.clock = clock
    }

    var now: Int64 { clock().milliseconds }
}

extension Deadline {
    /// For calls behind which nobody waits with a deadline of their own.
    static var ofBackgroundWork: Deadline { .after(.seconds(5), from: .now) }
}

/// Compares the keys with those that sealed what the store holds, each known by a sealed text; enters the current one.
private func checkKeys(_ keys: SealingKeys, on connection: inout Connection) throws(StorageError) {
    try connection.transaction { (connection: inout Connection) throws(StorageError) in
        for row in try connection.rows("SELECT id, probe FROM sealing_keys") {
            let id = row.text(0)
            do throws(StorageError) {
                _ = try keys.open(row.blob(1), table: "sealing_keys", column: "probe", row: id)
            } catch {
                throw .wrongEncryptionKey(id: id)
            }
        }
        let id = keys.current.id
        let probe = try keys.seal(Array("skillgate".utf8), table: "sealing_keys", column: "probe", row: id)
        try connection.run(
            "INSERT INTO sealing_keys VALUES (?1, ?2) ON CONFLICT DO NOTHING", [.text(id), .blob(probe)])
    }
}
