import Alexa
import JSON
import Service
import Storage
import Time

/// `skillgate links list`: which users are linked with Alexa.
enum LinksListCommand: Command {
    static let name = "links list"
    static let summary = "lists the links between users and Alexa"
    static let explanation = """
        Each link with its id, the user (sub), the skill and its stage, the region of the Alexa account, where it began
        (app, web, or alexa for the Alexa app), whether Alexa has confirmed it (LINKED) or not yet (PENDING), and when it
        was made. As the store holds them: Alexa is not asked. --user shows one user's alone.
        """
    static let options: [CommandOption] = [
        .config, CommandOption("--user", value: "SUB", "the links of that user alone"), .json,
    ]
    static let example = "skillgate links list --config config/development.json5"

    private static let pageLinks = 500
    private static let patience = Duration.seconds(10)

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        let path = try arguments.required("--config")
        let isJSON = arguments.has("--json")
        guard let configuration = ConfigurationFile.read(path, asJSON: isJSON) else { return 2 }
        var count = 0
        do {
            let store = try StoreOpening.open(configuration, clock: { SystemClock.now })
            var last: Link?
            repeat {
                let deadline = Deadline.after(patience, from: .now)
                let links: [Link]
                if let user = arguments.value("--user") {
                    links = try await store.links(of: user, by: deadline)
                } else {
                    links = try await store.links(after: last, limit: pageLinks, by: deadline)
                }
                for link in links { Output.line(isJSON ? json(link) : text(link)) }
                count += links.count
                last = links.count == pageLinks && !arguments.has("--user") ? links.last : nil
            } while last != nil
        } catch {
            let reason = (error as? ProgramFault)?.message ?? "\(error)"
            if isJSON { Output.line(["ok": false, "reason": .string(reason)]) }
            if !isJSON { Output.error("skillgate \(name): \(reason)") }
            return 1
        }
        if count == 0, !isJSON { Output.error("there are no links") }
        return 0
    }

    private static func text(_ link: Link) -> String {
        [
            link.id, link.subject, link.skill, link.stage, link.region?.rawValue ?? "-", link.flow.rawValue,
            link.status.rawValue, link.linkedAt.iso8601(),
        ].joined(separator: "\t")
    }

    private static func json(_ link: Link) -> String {
        let object: JSONObject = [
            "id": .string(link.id), "sub": .string(link.subject), "skill": .string(link.skill),
            "stage": .string(link.stage), "region": link.region.map { .string($0.rawValue) } ?? .null,
            "flow": .string(link.flow.rawValue), "status": .string(link.status.rawValue),
            "linkedAt": .string(link.linkedAt.iso8601()),
        ]
        return String(decoding: JSONValue.object(object).encoded(), as: UTF8.self)
    }
}
