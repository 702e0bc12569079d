/// Why the store did not do what was asked; no case holds a stored value or a key.
public enum StorageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The store's URL is not one that this program knows.
    case unknownURL
    /// The file cannot be opened or made.
    case cannotOpen(path: String, reason: String)
    /// The file can be read but not written.
    case notWritable(path: String, reason: String)
    /// The file holds tables that this program did not make.
    case foreignFile(path: String)
    /// A newer program has migrated the store further than this one knows.
    case newerSchema(found: Int64, known: Int64)
    /// The encryption keys cannot be used; the text says why and where.
    case encryptionKeys(String)
    /// The store holds secrets sealed under a key that was not given, or another key was given under that id.
    case wrongEncryptionKey(id: String)
    /// A sealed value does not open: it was changed, or moved from another row.
    case damaged(table: String, column: String)
    /// The deadline passed first; a write may have been done or not.
    case timedOut
    /// SQLite refused, with its extended result code and what that means.
    case failed(code: Int32, reason: String)

    /// What happened, and how to mend it where the operator can.
    public var description: String {
        switch self {
        case .unknownURL: "the store's URL must be sqlite: followed by the path of a file"
        case .cannotOpen(let path, let reason): "the store \(path) cannot be opened: \(reason)"
        case .notWritable(let path, let reason): "the store \(path) cannot be written: \(reason)"
        case .foreignFile(let path): "\(path) is a database of another program"
        case .newerSchema(let found, let known):
            "the store has schema \(found), made by a newer program; this one knows schemas up to \(known)"
        case .encryptionKeys(let reason): "the encryption keys cannot be used: \(reason)"
        case .wrongEncryptionKey(let id):
            "the store holds secrets sealed under the key with the id \(id), which is not among the encryption keys"
        case .damaged(let table, let column): "a sealed value in \(table).\(column) does not open"
        case .timedOut: "the store did not answer in time"
        case .failed(let code, let reason): "the store failed: \(reason) (SQLite \(code))"
        }
    }
}
