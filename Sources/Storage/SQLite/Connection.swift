import CSQLite

/// One connection to a database file; it cannot be shared, and closes itself.
///
/// Every statement is prepared once and kept. All SQL is fixed text of this module; values are bound, never written in.
@safe struct Connection: ~Copyable {
    private let handle: OpaquePointer  // sqlite3 *, never nil
    private var statements: [String: OpaquePointer] = unsafe [:]  // sqlite3_stmt *, finalised with the connection

    /// Opens the file at `path`, which exists.
    init(path: String) throws(StorageError) {
        var handle: OpaquePointer?
        // The connection belongs to one actor, so SQLite's own mutex would guard nothing.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = unsafe sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle = unsafe handle else {
            unsafe sqlite3_close_v2(handle)
            throw .cannotOpen(path: path, reason: meaning(of: code))
        }
        unsafe self.handle = handle
    }

    deinit {
        while let statement = unsafe sqlite3_next_stmt(handle, nil) { unsafe sqlite3_finalize(statement) }
        unsafe sqlite3_close_v2(handle)
    }

    /// Whether the file can only be read.
    var isReadOnly: Bool { unsafe sqlite3_db_readonly(handle, "main") != 0 }

    /// How long a statement waits for another process that holds the lock.
    mutating func setBusyTimeout(milliseconds: Int32) { unsafe sqlite3_busy_timeout(handle, milliseconds) }

    /// Runs SQL that is used once: pragmas and migrations.
    mutating func execute(_ sql: String) throws(StorageError) {
        try check(unsafe sqlite3_exec(handle, sql, nil, nil, nil))
    }

    /// Runs a statement.
    ///
    /// - Returns: How many rows it changed.
    @discardableResult
    mutating func run(_ sql: String, _ values: [SQLValue] = []) throws(StorageError) -> Int {
        _ = try rows(sql, values)
        return Int(unsafe sqlite3_changes(handle))
    }

    /// The first row of the answer.
    mutating func row(_ sql: String, _ values: [SQLValue] = []) throws(StorageError) -> Row? {
        try rows(sql, values).first
    }

    /// Every row of the answer.
    mutating func rows(_ sql: String, _ values: [SQLValue] = []) throws(StorageError) -> [Row] {
        let statement = unsafe try prepared(sql)
        // Values must not stay bound: some are tokens, though sealed ones.
        defer {
            unsafe sqlite3_reset(statement)
            unsafe sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() {
            unsafe try bind(value, to: statement, at: Int32(index + 1))
        }
        var rows: [Row] = []
        while true {
            let code = unsafe sqlite3_step(statement)
            if code == SQLITE_DONE { return rows }
            guard code == SQLITE_ROW else { throw error(code) }
            unsafe rows.append(row(of: statement))
        }
    }

    /// Runs `body` in a transaction that takes the write lock at once.
    ///
    /// A deferred transaction that reads and then writes fails at once where another process wrote meanwhile, whatever
    /// the busy timeout; BEGIN IMMEDIATE waits for its turn before it reads.
    @discardableResult
    mutating func transaction<Value>(
        _ body: (inout Connection) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        try run("BEGIN IMMEDIATE")
        do {
            let value = try body(&self)
            try run("COMMIT")
            return value
        } catch {
            // A failed COMMIT may have rolled back already; then there is nothing left to undo.
            if unsafe sqlite3_get_autocommit(handle) == 0 { _ = try? run("ROLLBACK") }
            throw error
        }
    }

    private mutating func prepared(_ sql: String) throws(StorageError) -> OpaquePointer {
        if let statement = unsafe statements[sql] { return unsafe statement }
        var statement: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        try check(code)
        guard let statement = unsafe statement else { throw .failed(code: SQLITE_MISUSE, reason: "empty statement") }
        unsafe statements[sql] = statement
        return unsafe statement
    }

    private func bind(_ value: SQLValue, to statement: OpaquePointer, at index: Int32) throws(StorageError) {
        // SQLITE_TRANSIENT, a macro that Swift does not see: SQLite copies before the call returns.
        let copying = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let code =
            switch value {
            case .null: unsafe sqlite3_bind_null(statement, index)
            case .integer(let number): unsafe sqlite3_bind_int64(statement, index, number)
            case .text(let text):
                unsafe sqlite3_bind_text(statement, index, text, Int32(text.utf8.count), copying)
            case .blob(let bytes) where bytes.isEmpty: unsafe sqlite3_bind_zeroblob(statement, index, 0)
            case .blob(let bytes): unsafe sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), copying)
            }
        try check(code)
    }

    private func row(of statement: OpaquePointer) -> Row {
        let columns = unsafe sqlite3_column_count(statement)
        return Row(
            values: (0..<columns).map { column in
                switch unsafe sqlite3_column_type(statement, column) {
                case SQLITE_INTEGER: return .integer(unsafe sqlite3_column_int64(statement, column))
                case SQLITE_TEXT:
                    guard let start = unsafe sqlite3_column_text(statement, column) else { return .null }
                    let count = Int(unsafe sqlite3_column_bytes(statement, column))
                    let bytes = unsafe UnsafeBufferPointer(start: start, count: count)
                    return .text(unsafe String(decoding: bytes, as: UTF8.self))
                case SQLITE_BLOB:
                    let count = Int(unsafe sqlite3_column_bytes(statement, column))
                    let start = unsafe sqlite3_column_blob(statement, column)
                    return .blob(unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count)))
                default: return .null
                }
            })
    }

    private func check(_ code: Int32) throws(StorageError) {
        guard code == SQLITE_OK else { throw error(code) }
    }

    private func error(_ code: Int32) -> StorageError {
        switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_INTERRUPT: .timedOut
        default: .failed(code: code, reason: meaning(of: code))
        }
    }
}

/// SQLite's words for a result code; unlike its message for the connection they never quote SQL or values.
private func meaning(of code: Int32) -> String {
    guard let text = unsafe sqlite3_errstr(code) else { return "unknown error" }
    return unsafe String(cString: text)
}
