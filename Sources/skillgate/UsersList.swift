import JSON
import OAuth
import Service
import Storage
import Time

/// `skillgate users list`: the users of the embedded provider.
enum UsersListCommand: Command {
    static let name = "users list"
    static let summary = "lists the users of the embedded provider"
    static let explanation = """
        The users of the users file in its order, then those of the store by username, each with the sub, the name, the
        address, where the user is kept, and whether the user is disabled. A user of the store whose username or sub the
        file has too is hidden: the file's counts.
        """
    static let options: [CommandOption] = [.config, .json]
    static let example = "skillgate users list --config config/development.json5"

    private static let pageUsers = 500

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        try await UserAdministration.run(self, arguments) { administration in
            let isJSON = arguments.has("--json")
            var count = 0
            func show(_ line: Line) {
                count += 1
                if isJSON { Output.line(.object(line.json)) } else { Output.line(line.text) }
            }
            for user in administration.file.all {
                show(
                    Line(
                        username: user.username, subject: user.subject, name: user.name, email: user.email,
                        locale: user.locale, isDisabled: user.isDisabled))
            }
            var last: String?
            while true {
                let users = try await administration.store.users(
                    after: last, limit: pageUsers, by: administration.deadline)
                for user in users {
                    let isHidden =
                        administration.fileHas(username: user.username) || administration.file[user.subject] != nil
                    show(
                        Line(
                            username: user.username, subject: user.subject, name: user.name, email: user.email,
                            locale: user.locale, isDisabled: user.isDisabled, isHidden: isHidden,
                            createdAt: user.createdAt.iso8601()))
                }
                guard users.count == pageUsers else { break }
                last = users.last?.username
            }
            if count == 0, !isJSON { Output.error("there are no users") }
        }
    }

    private struct Line {
        let username: String
        let subject: String
        let name: String
        let email: String?
        let locale: String?
        let isDisabled: Bool
        var isHidden = false
        /// When the user was added to the store; nil for one of the file.
        var createdAt: String?

        var text: String {
            let place = createdAt == nil ? "file" : isHidden ? "store, hidden by the file" : "store"
            let parts = [username, subject, name, email ?? "-", place] + (isDisabled ? ["disabled"] : [])
            return parts.joined(separator: "\t")
        }

        var json: JSONObject {
            var object: JSONObject = [
                "username": .string(username), "sub": .string(subject), "name": .string(name),
                "place": createdAt == nil ? "file" : "store", "disabled": .bool(isDisabled),
            ]
            if let email { object["email"] = .string(email) }
            if let locale { object["locale"] = .string(locale) }
            if let createdAt {
                object["createdAt"] = .string(createdAt)
                object["hidden"] = .bool(isHidden)
            }
            return object
        }
    }
}
