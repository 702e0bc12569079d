import Concurrency
import Time

/// A SQLite file: one connection that writes and two that read, each on a thread of its own.
///
/// WAL mode lets the readers go on while the writer writes; `synchronous=FULL` means that what was answered is on disk.
final class Database: Sendable {
    private let writer: ConnectionActor
    private let readers: [ConnectionActor]
    private let nextReader = Locked(0)
    private let keys: SealingKeys

    /// Opens the file at `path`, made with mode 0600 where it does not exist, and migrates it.
    ///
    /// It blocks, so it is for the start of the program. Several processes may start at once.
    ///
    /// - Throws: ``StorageError`` where the file cannot be opened and written, is of a newer schema, or holds what
    ///   other keys sealed.
    init(path: String, keys: SealingKeys) throws(StorageError) {
        try makePrivateFile(at: path)
        var connection = try openedConnection(path: path)
        guard !connection.isReadOnly else {
            throw .notWritable(path: path, reason: "the file or its file system is read-only")
        }
        do throws(StorageError) {
            try connection.migrate(path: path)
            try connection.probeWriting(at: 0)
        } catch .failed(_, let reason) {
            throw .notWritable(path: path, reason: reason)
        }
        try connection.transaction { (connection: inout Connection) throws(StorageError) in
            try connection.check(keys)
            try connection.enter(keys)
        }
        var readers: [ConnectionActor] = []
        for number in 1...2 {
            var reader = try openedConnection(path: path)
            try reader.execute("PRAGMA query_only=ON")
            readers.append(ConnectionActor(reader, label: "store reader \(number)"))
        }
        writer = ConnectionActor(connection, label: "store writer")
        self.readers = readers
        self.keys = keys
    }

    /// Reads, in one statement or more; what `body` sees may change between statements.
    func read<Value: Sendable>(
        by deadline: Deadline, _ body: @Sendable (inout Connection) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let turn = nextReader.withLock { turn in
            turn &+= 1
            return turn
        }
        return try await readers[turn & 1].perform(by: deadline, body)
    }

    /// Reads and writes in one transaction, alone among all processes.
    @discardableResult
    func write<Value: Sendable>(
        by deadline: Deadline, _ body: @Sendable (inout Connection) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try await writer.perform(by: deadline) { (connection: inout Connection) throws(StorageError) -> Value in
            try connection.transaction { (connection: inout Connection) throws(StorageError) in
                try connection.enter(keys)
                return try body(&connection)
            }
        }
    }

    /// Brings what was written into the database's own file and empties the one beside it.
    ///
    /// - Returns: Whether it is empty; a reader of another process may still need what is in it.
    func emptyJournal(by deadline: Deadline) async throws(StorageError) -> Bool {
        try await writer.perform(by: deadline) { (connection: inout Connection) throws(StorageError) in
            do throws(StorageError) {
                return try connection.row("PRAGMA wal_checkpoint(TRUNCATE)")?.integer(0) == 0
            } catch .timedOut { return false }
        }
    }

    /// Writes a row and waits until it is on disk.
    ///
    /// - Throws: ``StorageError`` where that fails or takes until past the deadline.
    func probeWriting(at time: UnixTime, by deadline: Deadline) async throws(StorageError) {
        try await write(by: deadline) { (connection: inout Connection) throws(StorageError) in
            try connection.run("UPDATE health SET checked_at = ?1 WHERE id = 1", [.integer(time.milliseconds)])
        }
    }
}

/// The owner of one connection. SQLite blocks, so each owner has a queue of its own.
private actor ConnectionActor {
    private nonisolated let executor: QueueExecutor
    private var connection: Connection

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(_ connection: consuming Connection, label: String) {
        executor = QueueExecutor(label: label)
        self.connection = connection
    }

    func perform<Value: Sendable>(
        by deadline: Deadline, _ body: @Sendable (inout Connection) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        // Counted here, not by the caller: the wait for this connection is part of what the deadline leaves.
        let left = deadline.remaining(at: .now)
        guard left > .zero else { throw .timedOut }
        connection.setBusyTimeout(milliseconds: milliseconds(left))
        return try body(&connection)
    }

    private func milliseconds(_ duration: Duration) -> Int32 {
        let (seconds, attoseconds) = duration.components
        return Int32(clamping: min(seconds, 60) * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
