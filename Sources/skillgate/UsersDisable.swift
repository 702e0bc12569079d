import JSON
import OAuth
import Service
import Storage

/// `skillgate users disable`: a user of the store may do nothing any more.
enum UsersDisableCommand: Command {
    static let name = "users disable"
    static let summary = "disables a user of the store and ends what the user let clients do"
    static let explanation = """
        The user cannot sign in, sessions end, and every grant of the user is revoked: running processes refuse the
        tokens within seconds. "users enable" lets the user sign in again; links have to be made anew. A user of the
        users file is disabled there.
        """
    static let operands: String? = "USERNAME"
    static let options: [CommandOption] = [.config, .json]
    static let example = "skillgate users disable carol --config config/development.json5"

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        let username = try UserAdministration.username(arguments)
        return try await UserAdministration.run(self, arguments) { administration in
            try await administration.set(username, isDisabled: true, asJSON: arguments.has("--json"))
        }
    }
}

extension UserAdministration {
    /// Disables or enables a user of the store; once more changes nothing but what came since.
    func set(_ username: String, isDisabled: Bool, asJSON isJSON: Bool) async throws {
        let user = try await stored(username, toChange: "disabled")
        guard try await store.setUser(user.subject, isDisabled: isDisabled, at: clock(), by: deadline) else {
            throw ProgramFault("there is no user \(username)")
        }
        if isJSON {
            Output.line([
                "ok": true, "username": .string(username), "sub": .string(user.subject), "disabled": .bool(isDisabled),
            ])
        } else {
            Output.line("\(username) is \(isDisabled ? "disabled, every grant is revoked" : "enabled")")
        }
    }
}
