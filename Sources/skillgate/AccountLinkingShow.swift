import Alexa
import JSON
import Service

/// `skillgate account-linking show`: what Amazon has to know of a skill's account linking.
enum AccountLinkingShowCommand: Command {
    static let name = "account-linking show"
    static let summary = "shows what Amazon's console needs for account linking"
    static let explanation = """
        Prints the accountLinkingRequest that "account-linking push" would send, with the secret redacted, and the
        redirect addresses that the provider's client for Alexa must have, each with a mark whether it has it. To enter
        things by hand instead, copy them from here into the account-linking page of the developer console. What will
        not work as it is stands at the end. Nothing is sent anywhere.
        """
    static let options: [CommandOption] = [.config, SkillChoice.option, .json]
    static let example = "skillgate account-linking show --config config/development.json5"

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        let path = try arguments.required("--config")
        let isJSON = arguments.has("--json")
        guard let configuration = ConfigurationFile.read(path, asJSON: isJSON) else { return 2 }
        for skill in try SkillChoice.linked(arguments, configuration) {
            let plan: AccountLinkingPlan
            do throws(FileFaults) { plan = try AccountLinkingPlan(skill, configuration) } catch {
                ConfigurationFile.tell(error.faults, of: path, asJSON: isJSON)
                return 2
            }
            if isJSON { Output.line(json(plan)) } else { Output.line(text(plan)) }
        }
        return 0
    }

    private static func json(_ plan: AccountLinkingPlan) -> JSONValue {
        [
            "skill": .string(plan.skill.name), "skillID": .string(plan.skill.id),
            "stage": .string(plan.skill.stage.rawValue),
            "accountLinkingRequest": plan.request.shown["accountLinkingRequest"] ?? .null,
            "redirectURIs": .array(
                plan.redirects.map { redirect in
                    [
                        "url": .string(redirect.url), "purpose": .string(redirect.purpose),
                        "registered": redirect.isRegistered.map { .bool($0) } ?? .null,
                        "optional": .bool(redirect.isOptional),
                    ]
                }), "remarks": .array(plan.remarks.map(JSONValue.string)),
        ]
    }

    private static func text(_ plan: AccountLinkingPlan) -> String {
        let request = String(decoding: plan.request.shown.encoded(pretty: true), as: UTF8.self)
        var text = """
            \(plan.skill.name), \(plan.skill.id), stage \(plan.skill.stage.rawValue)

            \(request)

            redirect URIs of the client \(plan.request.clientID):

            """
        for redirect in plan.redirects {
            text += "  \(mark(redirect)) \(redirect.url)  (\(redirect.purpose))\n"
        }
        if plan.redirects.contains(where: { $0.isRegistered == nil }) {
            text += "  ? The provider is yours: register them there, character by character.\n"
        } else if plan.redirects.contains(where: { $0.isRegistered == false && !$0.isOptional }) {
            text += "  Add those marked ✗ to redirectURIs of provider.clients: codes are sent nowhere else.\n"
        }
        for remark in plan.remarks { text += "\(Output.coloured("!", .yellow)) \(remark)\n" }
        return text
    }

    private static func mark(_ redirect: AccountLinkingPlan.Redirect) -> String {
        switch redirect.isRegistered {
        case nil: "?"
        case true?: Output.coloured("✓", .green)
        case false?: redirect.isOptional ? "-" : Output.coloured("✗", .red)
        }
    }
}
