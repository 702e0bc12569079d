import Crypto
import JSON
import OAuth
import Service
import Storage

/// `skillgate users add`: another user of the embedded provider, in the store.
enum UsersAddCommand: Command {
    static let name = "users add"
    static let summary = "adds a user of the embedded provider to the store"
    static let explanation = """
        Reads the password from standard input, one line of at most 1024 bytes; on a terminal it asks, and shows nothing
        of what is typed. Says the user's id, sub, which is random unless --sub gives it. Without --name the username is
        shown. A username or sub that another user has is refused. The service may run meanwhile, and needs no restart.
        """
    static let operands: String? = "USERNAME"
    static let options: [CommandOption] = [
        .config, .json, CommandOption("--sub", value: "S", "the user's id in tokens, for good"),
        CommandOption("--name", value: "N", "the name to show"),
        CommandOption("--email", value: "E", "the e-mail address"),
        CommandOption("--locale", value: "L", "the language, as en-US is"),
    ]
    static let example = "skillgate users add carol --name Carol --config config/development.json5 < password.txt"

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        let username = try UserAdministration.username(arguments)
        for option in ["--sub", "--name"] {
            if let text = arguments.value(option), !Users.isPlain(text) {
                throw UsageError("\(option) is \(Users.plainTexts)")
            }
        }
        if let email = arguments.value("--email"), !Users.isPlain(email) || !Users.isAddress(email) {
            throw UsageError("--email is not an address")
        }
        if let locale = arguments.value("--locale"), !Users.isLocale(locale) {
            throw UsageError("--locale is not a locale, as en-US is")
        }
        let subject = arguments.value("--sub") ?? SecureRandom.uuid()
        return try await UserAdministration.run(self, arguments) { administration in
            try await administration.refuseTaken(username, subject)
            let hash = try PasswordHash(of: PasswordInput.read())
            let user = StoredUser(
                subject: subject, username: username, passwordHash: hash.phc,
                name: arguments.value("--name") ?? username, email: arguments.value("--email"),
                locale: arguments.value("--locale"), createdAt: administration.clock())
            switch try await administration.store.add(user, by: administration.deadline) {
            case .added: break
            case .usernameTaken: throw ProgramFault("a user of the store has the username \(username)")
            case .subjectTaken: throw ProgramFault("a user of the store has the sub \(subject)")
            }
            if arguments.has("--json") {
                Output.line(["ok": true, "username": .string(username), "sub": .string(subject)])
            } else {
                Output.line("\(username) is added with the sub \(subject)")
            }
        }
    }
}

extension UserAdministration {
    /// Looks before anybody has to type a password; adding looks again, in one step.
    fileprivate func refuseTaken(_ username: String, _ subject: String) async throws {
        if fileHas(username: username) {
            throw ProgramFault("a user of the users file has the username \(username)")
        }
        if file[subject] != nil { throw ProgramFault("a user of the users file has the sub \(subject)") }
        // RFC 9700 §4.15: a back end's token names its client where a user's names the user.
        if configuration.provider.clients.contains(where: { $0.id == subject }) {
            throw ProgramFault("a client has the id \(subject): give the user another sub")
        }
        if try await store.user(named: username, by: deadline) != nil {
            throw ProgramFault("a user of the store has the username \(username)")
        }
        if try await store.user(subject: subject, by: deadline) != nil {
            throw ProgramFault("a user of the store has the sub \(subject)")
        }
    }
}
