public import JSON

/// The parts of a skill's manifest that lead to this service.
public struct SkillManifest: Sendable {
    /// The events of a skill that change links and permissions; all are answered at the custom skill's address.
    public static let eventNames = [
        "SKILL_ENABLED", "SKILL_DISABLED", "SKILL_ACCOUNT_LINKED", "SKILL_PERMISSION_ACCEPTED",
        "SKILL_PERMISSION_CHANGED",
    ]

    private let endpoint: String
    private let skill: Configuration.Skill

    /// The manifest of a skill of that configuration.
    public init(_ skill: Configuration.Skill, _ configuration: Configuration) {
        self.skill = skill
        endpoint = configuration.publicURL + CustomSkillEndpoint.path
    }

    /// `events`, in the manifest that it belongs to.
    public var json: JSONValue {
        [
            "manifest": [
                "events": [
                    "endpoint": Self.trusted(endpoint),
                    "subscriptions": .array(Self.eventNames.map { ["eventName": .string($0)] }),
                ]
            ]
        ]
    }

    /// The other members that matter to this service, each with what to write there.
    public var hints: [(member: String, hint: String)] {
        var hints: [(member: String, hint: String)] = []
        if skill.intents != nil || !skill.isSmartHome {
            let custom = String(decoding: Self.trusted(endpoint).encoded(), as: UTF8.self)
            hints.append(("manifest.apis.custom.endpoint", custom))
        }
        if skill.isSmartHome {
            hints.append(
                (
                    "manifest.apis.smartHome.endpoint",
                    "{\"uri\":\"arn:aws:lambda:…\"}: directives reach a Lambda function alone, which hands them on; "
                        + "regions.NA, EU and FE can name one each"
                ))
        }
        if skill.events != nil {
            hints.append(("manifest.permissions", "[{\"name\":\"alexa::async_event:write\"}], since events are sent"))
        }
        hints.append(
            (
                "sslCertificateType",
                "Trusted for a certificate of the host's own name; Wildcard where it is one for *.your.domain"
            ))
        return hints
    }

    private static func trusted(_ uri: String) -> JSONValue {
        ["uri": .string(uri), "sslCertificateType": "Trusted"]
    }
}
