public import Crypto
import Glibc

/// The keys that seal secrets at rest: the first seals, all of them open.
///
/// A sealed record is one version byte, eight bytes that name the key, and AES-256-GCM's nonce, ciphertext and tag.
/// Table, column and row id are the additional data, so that no record opens in another's place.
public struct SealingKeys: Sendable {
    struct Key: Sendable {
        let id: String
        let bytes: [UInt8]
    }

    private static let recordVersion: UInt8 = 1
    private static let idBytes = 8
    /// How many bytes of a record say which key sealed it.
    static let headBytes = 1 + idBytes

    let keys: [Key]

    /// The key that seals.
    let current: Key

    /// Reads a key file: one key a line, 32 bytes in base64, the current one first.
    ///
    /// - Throws: ``StorageError`` where the file cannot be read, is open to others, or holds anything else.
    public init(file path: String) throws(StorageError) {
        try self.init(text: Secret(readPrivateFile(at: path)), origin: path)
    }

    /// Takes the text of a key file that came another way; `origin` says where from in errors.
    ///
    /// - Throws: ``StorageError`` where a line is no key.
    public init(text: Secret, origin: String) throws(StorageError) {
        var keys: [Key] = []
        for (index, line) in text.exposed.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .enumerated()
        {
            let trimmed = line.filter { $0 != " " && $0 != "\t" }
            if trimmed.isEmpty { continue }
            guard let bytes = Base64.decode(trimmed), bytes.count == 32 else {
                throw .encryptionKeys("line \(index + 1) of \(origin) is not 32 bytes in base64")
            }
            keys.append(Key(id: Hex.encode(Array(SHA256.digest(bytes).prefix(Self.idBytes))), bytes: bytes))
        }
        guard let current = keys.first else { throw .encryptionKeys("\(origin) holds no key") }
        self.keys = keys
        self.current = current
    }

    /// A new key as a line of a key file.
    public static func newLine() -> Secret { Secret(Base64.encode(SecureRandom.bytes(32)) + "\n") }

    /// The ids of the keys, the current one first; they tell nothing about the keys.
    public var ids: [String] { keys.map(\.id) }

    /// How a record of the current key begins.
    var currentHead: [UInt8] { [Self.recordVersion] + (Hex.decode(current.id) ?? []) }

    func key(id: String) -> Key? { keys.first { $0.id == id } }

    func seal(_ plain: [UInt8], in column: SealedColumn, row: String) throws(StorageError) -> [UInt8] {
        do {
            let sealed = try AESGCM.seal(plain, key: current.bytes, additionalData: place(column, row))
            return currentHead + sealed
        } catch {
            throw .encryptionKeys("sealing failed")
        }
    }

    func open(_ record: [UInt8], in column: SealedColumn, row: String) throws(StorageError) -> [UInt8] {
        let head = Self.headBytes
        guard record.count > head, record[0] == Self.recordVersion else {
            throw .damaged(table: column.table, column: column.column)
        }
        let id = Hex.encode(Array(record[1..<head]))
        guard let key = key(id: id) else { throw .wrongEncryptionKey(id: id) }
        do {
            return try AESGCM.open(Array(record[head...]), key: key.bytes, additionalData: place(column, row))
        } catch {
            throw .damaged(table: column.table, column: column.column)
        }
    }

    /// Zero bytes keep the parts apart: no name of ours holds one.
    private func place(_ column: SealedColumn, _ row: String) -> [UInt8] {
        let (table, column) = column.names
        return Array(table.utf8) + [0] + Array(column.utf8) + [0] + Array(row.utf8)
    }
}

private func readPrivateFile(at path: String) throws(StorageError) -> String {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw .encryptionKeys("\(path): \(systemMessage(errno))") }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        throw .encryptionKeys("\(path) is not a file")
    }
    guard status.st_mode & 0o077 == 0 else {
        throw .encryptionKeys("others may read or write \(path); chmod 600 it")
    }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    var length = 0
    while length < bytes.count {
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe read(file, buffer.baseAddress.map { unsafe $0 + length }, buffer.count - length)
        }
        guard count >= 0 else { throw .encryptionKeys("\(path): \(systemMessage(errno))") }
        if count == 0 { break }
        length += count
    }
    guard length < bytes.count, let text = String(validating: bytes[..<length], as: UTF8.self) else {
        throw .encryptionKeys("\(path) is not a key file")
    }
    return text
}
