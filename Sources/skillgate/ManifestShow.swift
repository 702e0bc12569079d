import JSON
import Service

/// `skillgate manifest show`: the parts of a skill's manifest that lead to the service.
enum ManifestShowCommand: Command {
    static let name = "manifest show"
    static let summary = "shows the events of the skill's manifest, and its endpoints"
    static let explanation = """
        Prints the events that a skill must be subscribed to, so that a link that ends in the Alexa app ends here too, in
        the form of the skill manifest: merge it into what "ask smapi get-skill-manifest" prints, and send that back with
        "ask smapi update-skill-manifest". The other members that matter follow as hints.
        """
    static let options: [CommandOption] = [.config, SkillChoice.option, .json]
    static let example = "skillgate manifest show --config config/development.json5"

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        let path = try arguments.required("--config")
        let isJSON = arguments.has("--json")
        guard let configuration = ConfigurationFile.read(path, asJSON: isJSON) else { return 2 }
        let skills = try SkillChoice.skills(arguments, configuration)
        guard !skills.isEmpty else { throw UsageError("the configuration has no skill") }
        for skill in skills {
            let manifest = SkillManifest(skill, configuration)
            if isJSON {
                Output.line([
                    "skill": .string(skill.name), "skillID": .string(skill.id),
                    "stage": .string(skill.stage.rawValue), "manifest": manifest.json["manifest"] ?? .null,
                    "hints": .object(
                        manifest.hints.reduce(into: JSONObject()) { $0[$1.member] = .string($1.hint) }),
                ])
                continue
            }
            let json = String(decoding: manifest.json.encoded(pretty: true), as: UTF8.self)
            Output.line("\(skill.name), \(skill.id), stage \(skill.stage.rawValue)\n\n\(json)\n")
            for (member, hint) in manifest.hints { Output.line("\(member): \(hint)") }
        }
        return 0
    }
}
