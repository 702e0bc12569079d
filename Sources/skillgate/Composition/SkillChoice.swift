import Service

/// The option of the commands that are about one skill of several.
enum SkillChoice {
    static let option = CommandOption(
        "--skill", value: "NAME", "the skill of that name; by default every skill")

    /// The skill that `--skill` names, or all of the configuration.
    static func skills(
        _ arguments: Arguments, _ configuration: Configuration
    ) throws(UsageError) -> [Configuration.Skill] {
        guard let name = arguments.value("--skill") else { return configuration.skills }
        guard let skill = configuration.skill(named: name) else {
            let names = configuration.skills.map(\.name).joined(separator: ", ")
            throw UsageError("no skill is called \(name); the configuration has \(names.isEmpty ? "none" : names)")
        }
        return [skill]
    }

    /// Those that are linked: of several skills all that have linking, of a named one that one whatever it has.
    static func linked(
        _ arguments: Arguments, _ configuration: Configuration
    ) throws(UsageError) -> [Configuration.Skill] {
        let skills = try skills(arguments, configuration)
        let linked = skills.filter { $0.linking != nil }
        return linked.isEmpty ? Array(skills.prefix(1)) : linked
    }
}
