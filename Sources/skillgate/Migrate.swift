/// `skillgate migrate`: the store's tables.
enum MigrateCommand: Command {
    static let name = "migrate"
    static let summary = "brings the store's tables up to date"
    static let explanation = """
        Creates the store where there is none and applies what this version adds. serve does the same at its start;
        this command does it apart from that, for instance before a new version is put to work.
        """
    static let options: [CommandOption] = [.config, .json]
    static let example = "skillgate migrate --config skillgate.json5"

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        _ = try arguments.required("--config")
        return 1
    }
}
