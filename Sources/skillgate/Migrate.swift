import JSON
import Service

/// `skillgate migrate`: the store's tables.
enum MigrateCommand: Command {
    static let name = "migrate"
    static let summary = "brings the store's tables up to date"
    static let explanation = """
        Creates the store where there is none and applies what this version adds. serve does the same at its start;
        this command does it apart from that, for instance before a new version is put to work.
        """
    static let options: [CommandOption] = [.config, .json]
    static let example = "skillgate migrate --config config/development.json5"

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        let path = try arguments.required("--config")
        let isJSON = arguments.has("--json")
        guard let configuration = ConfigurationFile.read(path, asJSON: isJSON) else { return 2 }
        let store = configuration.store.sqlitePath
        do throws(ProgramFault) { _ = try StoreOpening.open(configuration, clock: { SystemClock.now }) } catch {
            if isJSON { Output.line(["ok": false, "store": .string(store), "reason": .string(error.message)]) }
            if !isJSON { Output.error("skillgate migrate: \(error.message)") }
            return 1
        }
        if isJSON { Output.line(["ok": true, "store": .string(store)]) }
        if !isJSON { Output.line("\(store) is up to date") }
        return 0
    }
}
