import CSQLite
import Glibc

/// Makes an empty file that only its owner may read, or takes that away from others where the file exists.
///
/// The file is made without being opened: closing any descriptor of a file drops this process's locks on it (POSIX),
/// and another connection of this process may hold some.
func makePrivateFile(at path: String) throws(StorageError) {
    if unsafe mknod(path, S_IFREG | 0o600, 0) == 0 { return }
    let reason = errno
    guard reason == EEXIST else { throw .cannotOpen(path: path, reason: systemMessage(reason)) }
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw .cannotOpen(path: path, reason: systemMessage(errno)) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .cannotOpen(path: path, reason: "it is not a file") }
    if status.st_mode & 0o077 != 0, unsafe chmod(path, 0o600) != 0 {
        throw .cannotOpen(path: path, reason: "others may read it, and that cannot be changed")
    }
}

/// Opens a connection and sets what each connection needs.
func openedConnection(path: String) throws(StorageError) -> Connection {
    var connection = try Connection(path: path)
    connection.setBusyTimeout(milliseconds: 10_000)
    do throws(StorageError) {
        try connection.enterWALMode(path: path)
        try connection.execute("PRAGMA synchronous=FULL")
        try connection.execute("PRAGMA foreign_keys=ON")
        try connection.execute("PRAGMA trusted_schema=OFF")
        try connection.execute("PRAGMA secure_delete=ON")
    } catch .failed(let code, let reason) where code & 0xff == SQLITE_NOTADB || code & 0xff == SQLITE_CORRUPT {
        throw .cannotOpen(path: path, reason: reason)
    } catch .failed(_, let reason) {
        throw .notWritable(path: path, reason: reason)
    }
    return connection
}

extension Connection {
    /// Writes the row that ``Database/probeWriting(at:by:)`` writes.
    mutating func probeWriting(at milliseconds: Int64) throws(StorageError) {
        try transaction { (connection: inout Connection) throws(StorageError) in
            try connection.run("UPDATE health SET checked_at = ?1 WHERE id = 1", [.integer(milliseconds)])
        }
    }

    /// Switches the file to WAL mode; where two processes do so at once, SQLite refuses one without waiting.
    fileprivate mutating func enterWALMode(path: String) throws(StorageError) {
        let giveUp = ContinuousClock.now + .seconds(10)
        while true {
            do throws(StorageError) {
                guard let mode = try row("PRAGMA journal_mode=WAL")?.text(0), mode == "wal" else {
                    throw .notWritable(path: path, reason: "its file system does not support SQLite's WAL mode")
                }
                return
            } catch .timedOut where ContinuousClock.now < giveUp {
                usleep(10_000)
            }
        }
    }
}

/// The system's words for an error number.
func systemMessage(_ number: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard unsafe strerror_r(number, &buffer, buffer.count - 1) == 0 else { return "error \(number)" }
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}
