import Crypto
import JSON
import OAuth
import Service
import Storage
import Time

/// What the commands about users work with: the store, and the users file, whose users stand before the store's.
struct UserAdministration: Sendable {
    let configuration: Configuration
    let file: Users
    let store: SQLiteStore
    let clock: WallClock

    /// Somebody waits for the answer of a command, but not for long.
    var deadline: Deadline { .after(.seconds(10), from: .now) }

    /// Reads the configuration, has `work` done, and prints what it says or why it was not done.
    ///
    /// - Returns: the exit code.
    static func run(
        _ command: any Command.Type, _ arguments: Arguments,
        _ work: (UserAdministration) async throws -> Void
    ) async throws(UsageError) -> Int32 {
        let path = try arguments.required("--config")
        let isJSON = arguments.has("--json")
        guard let configuration = ConfigurationFile.read(path, asJSON: isJSON) else { return 2 }
        func refused(_ reason: String, _ code: Int32) -> Int32 {
            if isJSON { Output.line(["ok": false, "reason": .string(reason)]) }
            if !isJSON { Output.error("skillgate \(command.name): \(reason)") }
            return code
        }
        guard case .embedded(let embedded) = configuration.provider.kind else {
            return refused("the users are those of provider.external, which alone can add or change them", 2)
        }
        do {
            let clock = SystemClock.clock(offsetSeconds: configuration.clockOffsetSeconds)
            let store = try StoreOpening.open(configuration, clock: clock)
            try await work(
                UserAdministration(
                    configuration: configuration, file: embedded.users ?? .none, store: store, clock: clock))
            return 0
        } catch let error as PasswordInput.Fault {
            return refused(error.message, 2)
        } catch {
            return refused((error as? ProgramFault)?.message ?? "\(error)", 1)
        }
    }

    /// The one username that the command is about.
    static func username(_ arguments: Arguments) throws(UsageError) -> String {
        guard let username = arguments.operands.first else { throw UsageError("say which user: USERNAME") }
        guard arguments.operands.count == 1 else { throw UsageError("unexpected argument \(arguments.operands[1])") }
        guard Users.isPlain(username) else { throw UsageError("USERNAME is \(Users.plainTexts)") }
        return username
    }

    /// Whether the users file has a user of that name.
    func fileHas(username: String) -> Bool { file.all.contains { Array($0.username.utf8) == Array(username.utf8) } }

    /// The user of the store whom a command changes.
    ///
    /// - Throws: `ProgramFault` where there is none, or the users file is the place; `ProviderStoreError`.
    func stored(_ username: String, toChange member: String) async throws -> StoredUser {
        let place = "the users file (provider.embedded.users)"
        if fileHas(username: username) {
            throw ProgramFault("\(username) is a user of \(place): change \(member) there and restart the service")
        }
        guard let user = try await store.user(named: username, by: deadline) else {
            throw ProgramFault("there is no user \(username)")
        }
        guard file[user.subject] == nil else {
            throw ProgramFault("\(place) has a user of \(username)'s sub, who counts: change \(member) there")
        }
        return user
    }
}
