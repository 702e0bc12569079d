import Alexa
import JSON
import Service
import Storage
import Time

/// `skillgate links revoke`: ends links as their users would.
enum LinksRevokeCommand: Command {
    static let name = "links revoke"
    static let summary = "ends links: tokens are revoked, Alexa disables the skill, the account stays"
    static let explanation = """
        Ends the link with that id, or with --user all of a user: our provider's tokens are revoked (running processes
        refuse them within seconds), Alexa is told to disable the skill, and Amazon's tokens are deleted. Where Alexa
        cannot be told, as of links that began in the Alexa app, its tokens are void all the same, and the line says so.
        The ids are those of "links list".
        """
    static let operands: String? = "ID"
    static let options: [CommandOption] = [
        .config, CommandOption("--user", value: "SUB", "every link of that user"), .json,
    ]
    static let example = "skillgate links revoke --user u1001 --config config/development.json5"

    private static let patience = Duration.seconds(20)

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        let user = arguments.value("--user")
        guard arguments.operands.count == (user == nil ? 1 : 0) else {
            throw UsageError("say which: one ID, or --user SUB")
        }
        let path = try arguments.required("--config")
        let isJSON = arguments.has("--json")
        guard let configuration = ConfigurationFile.read(path, asJSON: isJSON) else { return 2 }
        do {
            return try await Program.withService(configuration) { made, store in
                let deadline = Deadline.after(patience, from: .now)
                let links: [Link]
                if let user {
                    links = try await store.links(of: user, by: deadline)
                    if links.isEmpty { throw ProgramFault("the user \(user) has no link") }
                } else {
                    let id = arguments.operands[0]
                    guard let link = try await store.link(id: id, by: deadline) else {
                        throw ProgramFault("there is no link \(id)")
                    }
                    links = [link]
                }
                var code: Int32 = 0
                for link in links {
                    let outcome = await made.linkAdministration.end(link, by: .after(patience, from: .now))
                    if outcome == .failed { code = 1 }
                    show(link, outcome, isJSON)
                }
                return code
            }
        } catch {
            let reason = (error as? ProgramFault)?.message ?? "\(error)"
            if isJSON { Output.line(["ok": false, "reason": .string(reason)]) }
            if !isJSON { Output.error("skillgate \(name): \(reason)") }
            return 1
        }
    }

    private static func show(_ link: Link, _ outcome: LinkAdministration.Outcome, _ isJSON: Bool) {
        if isJSON {
            return Output.line([
                "ok": .bool(outcome != .failed), "id": .string(link.id), "sub": .string(link.subject),
                "skill": .string(link.skill), "alexaTold": .bool(outcome == .ended),
            ])
        }
        let words =
            switch outcome {
            case .ended: "ended, and disabled at Alexa"
            case .endedHere: "ended; Alexa could not be told, its tokens are void"
            case .failed: "not ended: the store does not answer, do it again"
            }
        Output.line("\(link.id)\t\(link.subject)\t\(link.skill)\t\(words)")
    }
}
