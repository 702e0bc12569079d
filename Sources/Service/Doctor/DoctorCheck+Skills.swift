extension DoctorCheck {
    private static func each(
        _ configuration: Configuration, _ judge: (Configuration.Skill, String) -> Found?
    ) -> [Found] {
        configuration.skills.enumerated().compactMap { judge($1, "skills[\($0)]") }
    }

    static let skills = [
        DoctorCheck("skill.id", "each skill's id has the form of Amazon's") { configuration in
            each(configuration) { skill, key in
                guard !isSkillID(skill.id) else { return nil }
                return Found(
                    key: key + ".id",
                    message: "\(skill.id) is not amzn1.ask.skill. and a UUID: no request will be this skill's",
                    mend: "copy the Skill ID from the developer console")
            }
        },
        DoctorCheck("skill.stage", "the skills' stages fit a service that is in use", applies: { !$0.isDevelopment }) {
            each($0) { skill, key in
                guard skill.stage == .development, skill.linking != nil else { return nil }
                return Found(
                    key: key + ".stage",
                    message:
                        "app-to-app linking enables the development stage, which only developers and beta testers may",
                    mend: "set it to live once the skill is published")
            }
        },
        DoctorCheck("skill.intents", "each skill has something to say, or devices") {
            each($0) { skill, key in
                guard skill.intents == nil, !skill.isSmartHome else { return nil }
                return Found(
                    key: key,
                    message: "\(skill.name) has neither intents nor smartHome: it answers the built-in requests alone",
                    mend: "name an intents file, or set smartHome: true")
            }
        },
        DoctorCheck("skill.events", "each smart-home skill can take AcceptGrant", applies: hasSmartHome) {
            each($0) { skill, key in
                guard skill.isSmartHome, skill.events == nil else { return nil }
                return Found(
                    key: key + ".events", level: .fault,
                    message: "AcceptGrant is answered with ACCEPT_GRANT_FAILED: users cannot link the smart-home skill",
                    mend: "switch on Send Alexa Events in the console and enter its pair here")
            }
        },
        DoctorCheck("skill.linking", "each skill can be linked from app and website") {
            each($0) { skill, key in
                guard skill.linking == nil else { return nil }
                return Found(
                    key: key + ".linking", message: "\(skill.name) can be linked in the Alexa app alone",
                    mend: "switch on app-to-app account linking in the console and enter its pair here")
            }
        },
    ]

    static let pairs = [
        DoctorCheck("pairs.shape", "the pairs of Amazon's have the form of Login with Amazon's") { configuration in
            configuration.skills.enumerated().flatMap { index, skill in
                [("linking", skill.linking?.clientID), ("events", skill.events?.clientID)].compactMap { name, id in
                    guard let id, !id.hasPrefix("amzn1.application-oa2-client.") else { return nil }
                    return Found(
                        key: "skills[\(index)].\(name).clientID",
                        message: "\(id) does not begin with amzn1.application-oa2-client.",
                        mend: "copy the Alexa client id from the console")
                }
            }
        },
        DoctorCheck("pairs.distinct", "the two pairs of each skill are not the same one") {
            each($0) { skill, key in
                guard let linking = skill.linking, let events = skill.events else { return nil }
                let isOneID = linking.clientID == events.clientID
                guard isOneID || linking.clientSecret == events.clientSecret else { return nil }
                return Found(
                    key: key + ".events", level: .fault,
                    message:
                        "linking and events have the same \(isOneID ? "client id" : "secret"): the console gives two pairs, and "
                        + "Login with Amazon refuses one where the other is meant",
                    mend: "linking: the pair of the Account Linking page; events: that of Send Alexa Events")
            }
        },
    ]

    static func hasSmartHome(_ configuration: Configuration) -> Bool {
        configuration.skills.contains { $0.isSmartHome }
    }

    static func hasLinking(_ configuration: Configuration) -> Bool {
        configuration.skills.contains { $0.linking != nil }
    }

    /// `amzn1.ask.skill.` and a UUID.
    private static func isSkillID(_ id: String) -> Bool {
        let prefix = "amzn1.ask.skill."
        guard id.hasPrefix(prefix) else { return false }
        let groups = id.dropFirst(prefix.count).split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12] && groups.joined().allSatisfy { $0.isHexDigit }
    }
}
