import Alexa
import Crypto
import FoundationEssentials
import HTTP
import JSON
import Service
import Time
import Transport

/// `skillgate account-linking push`: sets up a skill's account linking at Amazon.
enum AccountLinkingPushCommand: Command {
    static let name = "account-linking push"
    static let summary = "sets up account linking at Amazon, from the configuration"
    static let explanation = """
        Sends what "account-linking show" prints to Amazon's skill management API, with the secret, in place of what the
        skill's stage has there. smapi.token is a token of a developer of the skill, good for an hour: make one with
        "ask util generate-lwa-tokens", scope alexa::ask:skills:readwrite. Neither the token nor the secret is printed.
        Where Amazon refuses, it says what to do and exits with 1.
        """
    static let options: [CommandOption] = [
        .config,
        CommandOption("--skill", value: "NAME", "the skill of that name; needed where several have linking"),
        CommandOption(
            "--client-secret", value: "FILE",
            "holds the secret of the provider's client, where the configuration does not: with an external provider"),
        .json,
    ]
    static let example = "skillgate account-linking push --config config/development.json5"

    private static let timeLimit = Duration.seconds(30)

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        let path = try arguments.required("--config")
        let isJSON = arguments.has("--json")
        guard let configuration = ConfigurationFile.read(path, asJSON: isJSON) else { return 2 }
        let skills = try SkillChoice.linked(arguments, configuration)
        guard skills.count <= 1 else {
            let names = skills.map(\.name).joined(separator: ", ")
            throw UsageError("several skills have linking: name one with --skill, of \(names)")
        }
        guard let skill = skills.first else { throw UsageError("the configuration has no skill") }
        let plan: AccountLinkingPlan
        let token: Secret
        let secret: Secret
        do throws(FileFaults) {
            plan = try AccountLinkingPlan(skill, configuration)
            token = try configuration.skillManagementToken()
            secret = try self.secret(plan, arguments)
        } catch {
            ConfigurationFile.tell(error.faults, of: path, asJSON: isJSON)
            return 2
        }
        do {
            try await Program.call(configuration) { http in
                try await SkillManagement(http: http, apiURL: apiURL(configuration)).putAccountLinking(
                    plan.request, secret: secret, skillID: skill.id, stage: skill.stage.rawValue, token: token,
                    by: .after(timeLimit, from: .now))
            }
        } catch {
            return tell(error, skill, asJSON: isJSON)
        }
        if isJSON {
            Output.line(["ok": true, "skill": .string(skill.name), "stage": .string(skill.stage.rawValue)])
        } else {
            Output.line("Amazon has the account linking of \(skill.name), stage \(skill.stage.rawValue)")
            for remark in plan.remarks { Output.line("\(Output.coloured("!", .yellow)) \(remark)") }
        }
        return 0
    }

    private static func apiURL(_ configuration: Configuration) -> String {
        configuration.amazon.apiURLs[.northAmerica] ?? "https://api.amazonalexa.com"
    }

    private static func secret(_ plan: AccountLinkingPlan, _ arguments: Arguments) throws(FileFaults) -> Secret {
        if let file = arguments.value("--client-secret") {
            let text = FileManager.default.contents(atPath: file).map { String(decoding: $0, as: UTF8.self) }
            let trimmed = text.map { String($0.reversed().drop { $0.isWhitespace }.reversed()) }
            guard let trimmed, !trimmed.isEmpty else {
                throw FileFaults([FileFault(path: "--client-secret", problem: "\(file) cannot be read, or is empty")])
            }
            return Secret(trimmed)
        }
        guard let secret = plan.request.clientSecret else {
            throw FileFaults([
                FileFault(
                    path: "--client-secret",
                    problem: "missing: the secret of the client \(plan.request.clientID) is known to your provider "
                        + "alone; write it into a file and name that")
            ])
        }
        return secret
    }

    private static func tell(_ error: any Error, _ skill: Configuration.Skill, asJSON isJSON: Bool) -> Int32 {
        let refusal = error as? SkillManagementError
        let advice = refusal?.advice ?? (error as? ProgramFault)?.message ?? "\(error)"
        if isJSON {
            Output.line([
                "ok": false, "skill": .string(skill.name), "reason": refusal.map { .string($0.reasonCode) } ?? .null,
                "message": .string(advice), "details": .array((refusal?.details ?? []).map(JSONValue.string)),
            ])
            return 1
        }
        Output.error("skillgate account-linking push: \(advice)")
        for detail in refusal?.details ?? [] { Output.error("  Amazon: \(detail)") }
        if let code = refusal?.reasonCode { Output.error("  (\(code))") }
        return 1
    }
}
