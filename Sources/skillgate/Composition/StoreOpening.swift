import FoundationEssentials
import Service
import Storage
import Time

/// Opens the store that a configuration names.
enum StoreOpening {
    /// The store, its tables up to date.
    ///
    /// - Throws: ``ProgramFault`` where it cannot be opened, or its keys do not fit.
    static func open(_ configuration: Configuration, clock: @escaping WallClock) throws(ProgramFault) -> SQLiteStore {
        do throws(StorageError) {
            return try SQLiteStore(
                url: "sqlite:" + configuration.store.sqlitePath, keys: try keys(configuration.store), clock: clock)
        } catch { throw ProgramFault("\(error)") }
    }

    private static func keys(_ store: Configuration.Store) throws(StorageError) -> SealingKeys {
        // The file is read again by who checks that nobody else may read it.
        if let path = store.encryptionKeyPath { return try SealingKeys(file: path) }
        if let text = store.encryptionKeys { return try SealingKeys(text: text, origin: "store.encryptionKey") }
        let path = store.sqlitePath + ".key"
        if !FileManager.default.fileExists(atPath: path) {
            do throws(KeyFileError) { try KeyFile.make(at: path) } catch { throw .encryptionKeys(error.message) }
        }
        return try SealingKeys(file: path)
    }
}
