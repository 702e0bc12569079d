import Service

/// `skillgate users enable`: a disabled user of the store may sign in again.
enum UsersEnableCommand: Command {
    static let name = "users enable"
    static let summary = "lets a disabled user of the store sign in again"
    static let explanation = """
        The user can sign in with the password of before. What "users disable" ended stays ended: the user links again.
        A user of the users file is enabled there.
        """
    static let operands: String? = "USERNAME"
    static let options: [CommandOption] = [.config, .json]
    static let example = "skillgate users enable carol --config config/development.json5"

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        let username = try UserAdministration.username(arguments)
        return try await UserAdministration.run(self, arguments) { administration in
            try await administration.set(username, isDisabled: false, asJSON: arguments.has("--json"))
        }
    }
}
