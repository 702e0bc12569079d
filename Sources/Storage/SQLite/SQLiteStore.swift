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
    /// How many traces of links are kept at most, and how many others; beyond that the oldest go.
    let traceLimit: Int64
    /// How many traces this process has saved, so that only some saves look whether there are too many.
    let savedTraces = Locked(0)

    /// Opens the store at `url`, `sqlite:` and a path.
    ///
    /// It blocks, so it is for the start of the program.
    ///
    /// - Throws: ``StorageError`` where the file cannot be opened and written, is of a newer schema, or holds secrets
    ///   sealed under other keys.
    public init(
        url: String, keys: SealingKeys, clock: @escaping WallClock, traceLimit: Int = 50_000
    ) throws(StorageError) {
        guard url.hasPrefix("sqlite:"), url.utf8.count > 7 else { throw .unknownURL }
        database = try Database(path: String(url.dropFirst(7)), keys: keys)
        self.keys = keys
        self.clock = clock
        self.traceLimit = Int64(traceLimit)
    }

    var now: Int64 { clock().milliseconds }
}

extension Deadline {
    /// For calls behind which nobody waits with a deadline of their own.
    static var ofBackgroundWork: Deadline { .after(.seconds(5), from: .now) }
}

extension Connection {
    /// Compares the keys with those that sealed what the store holds, each known by a sealed text.
    mutating func check(_ keys: SealingKeys) throws(StorageError) {
        for row in try rows("SELECT id, probe FROM sealing_keys") {
            let id = row.text(0)
            do throws(StorageError) {
                _ = try keys.open(row.blob(1), in: .keyProbe, row: id)
            } catch {
                throw .wrongEncryptionKey(id: id)
            }
        }
    }
}
