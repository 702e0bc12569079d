import JSON
import OAuth
import Service
import Storage
import Time

/// `skillgate keys rotate signing|encryption`: other keys for the provider's tokens, or for what the store keeps.
enum KeysRotateCommand: Command {
    static let name = "keys rotate"
    static let summary = "gives the provider another signing key, or seals the store with another encryption key"
    static let explanation = """
        "keys rotate signing" makes a new key in the store. Running processes publish it within seconds; it signs once
        every verifier must have read it, and the old one stays published until its last token has ended. Nobody's link
        is affected.

        "keys rotate encryption" seals with the first key of store.encryptionKey whatever another of them sealed. First
        add the new key as the second line everywhere and restart, then make it the first line everywhere and restart,
        then call this; drop the old line afterwards. The service goes on meanwhile. Stopped halfway, it is called again.
        """
    static let operands: String? = "signing|encryption"
    static let options: [CommandOption] = [.config, .json]
    static let example = "skillgate keys rotate signing --config config/development.json5"

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        guard let what = arguments.operands.first else { throw UsageError("say which keys: signing or encryption") }
        guard arguments.operands == ["signing"] || arguments.operands == ["encryption"] else {
            throw UsageError(
                "\(arguments.operands.joined(separator: " ")) are no keys that this rotates: name signing or encryption"
            )
        }
        let path = try arguments.required("--config")
        let isJSON = arguments.has("--json")
        guard let configuration = ConfigurationFile.read(path, asJSON: isJSON) else { return 2 }
        do {
            let clock = SystemClock.clock(offsetSeconds: configuration.clockOffsetSeconds)
            let store = try StoreOpening.open(configuration, clock: clock)
            if what == "encryption" {
                try await rotateEncryption(of: store, asJSON: isJSON)
            } else {
                try await rotateSigning(in: store, configuration, clock, asJSON: isJSON)
            }
            return 0
        } catch {
            let reason = (error as? ProgramFault)?.message ?? "\(error)"
            if isJSON { Output.line(["ok": false, "reason": .string(reason)]) }
            if !isJSON { Output.error("skillgate keys rotate: \(reason)") }
            return 1
        }
    }

    private static func rotateSigning(
        in store: SQLiteStore, _ configuration: Configuration, _ clock: @escaping WallClock, asJSON isJSON: Bool
    ) async throws {
        let keys = SigningKeys(store: store, tokenSeconds: configuration.provider.accessTokenSeconds, clock: clock)
        try await keys.load()
        try await keys.rotate()
        let count = keys.published.keys.count
        if isJSON { Output.line(["ok": true, "published": .integer(Int64(count))]) }
        if !isJSON { Output.line("a new signing key is published, \(count) in all") }
    }

    private static func rotateEncryption(of store: SQLiteStore, asJSON isJSON: Bool) async throws {
        let ids = store.encryptionKeyIDs
        let done = try await store.rotateEncryption { count in
            if isJSON { Output.line(["records": .integer(Int64(count))]) }
        }
        if isJSON {
            Output.line([
                "ok": true, "records": .integer(Int64(done.records)), "key": .string(ids[0]),
                "retired": .array(done.retired.map(JSONValue.string)), "journalEmpty": .bool(done.isJournalEmpty),
            ])
            return
        }
        if done.records == 0, done.retired.isEmpty {
            let others = ids.count == 1 ? "; store.encryptionKey has no other" : ""
            Output.line("nothing to do: everything is sealed with the first key, \(ids[0])\(others)")
        } else {
            Output.line("\(done.records) records are now sealed with the first key, \(ids[0])")
        }
        for id in ids.dropFirst() { Output.line("the key \(id) opens nothing any more: drop its line everywhere") }
        if !done.isJournalEmpty {
            Output.line(
                "the journal beside the database is in use; old records stay in it until SQLite writes over them")
        }
    }
}
