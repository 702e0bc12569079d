import JSON
import OAuth
import Service
import Storage

/// `skillgate users password`: another password for a user of the store.
enum UsersPasswordCommand: Command {
    static let name = "users password"
    static let summary = "gives a user of the store another password and ends what the user let clients do"
    static let explanation = """
        Reads the new password from standard input, one line of at most 1024 bytes; on a terminal it asks, and shows
        nothing of what is typed. Sessions end, and every grant of the user is revoked: whoever knew the old password
        keeps nothing. The user links again. A user of the users file gets another password there.
        """
    static let operands: String? = "USERNAME"
    static let options: [CommandOption] = [.config, .json]
    static let example = "skillgate users password carol --config config/development.json5 < password.txt"

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        let username = try UserAdministration.username(arguments)
        return try await UserAdministration.run(self, arguments) { administration in
            let user = try await administration.stored(username, toChange: "passwordHash")
            let hash = try PasswordHash(of: PasswordInput.read())
            let isChanged = try await administration.store.setPasswordHash(
                hash.phc, of: user.subject, at: administration.clock(), by: administration.deadline)
            guard isChanged else { throw ProgramFault("there is no user \(username)") }
            if arguments.has("--json") {
                Output.line(["ok": true, "username": .string(username), "sub": .string(user.subject)])
            } else {
                Output.line("\(username) has another password, every grant is revoked")
            }
        }
    }
}
