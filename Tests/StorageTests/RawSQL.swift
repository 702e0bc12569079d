import CSQLite

/// Runs statements on a file of the store's behind the store's back; SQLite's result code.
func run(_ sql: String, _ path: String) -> Int32 {
    var handle: OpaquePointer?
    let code = unsafe sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil)
    defer { unsafe sqlite3_close_v2(handle) }
    guard code == SQLITE_OK else { return code }
    return unsafe sqlite3_exec(handle, sql, nil, nil, nil)
}

/// The last column of each row that a query gives, as text; nothing where it fails.
func rows(_ sql: String, _ path: String) -> [String] {
    var handle: OpaquePointer?
    let code = unsafe sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY, nil)
    defer { unsafe sqlite3_close_v2(handle) }
    var statement: OpaquePointer?
    guard code == SQLITE_OK, unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { return [] }
    defer { unsafe sqlite3_finalize(statement) }
    var texts: [String] = []
    while unsafe sqlite3_step(statement) == SQLITE_ROW {
        let column = unsafe sqlite3_column_text(statement, sqlite3_column_count(statement) - 1)
        texts.append(unsafe column.map { unsafe String(cString: $0) } ?? "")
    }
    return texts
}
