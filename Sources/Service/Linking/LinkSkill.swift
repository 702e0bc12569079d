import Alexa
import Crypto

/// What linking knows of a skill: one that the configuration gives a `linking` section.
struct LinkSkill: Sendable {
    let name: String
    /// The application id.
    let id: String
    let stage: String
    /// The pair of the console's account-linking page.
    let amazonClient: AmazonClient
    let redirectURLs: [String]
    let usesPKCE: Bool
    /// The provider's client that Alexa is.
    let providerClient: String
    /// What the user gains, for the page that asks.
    let benefit: LocalizedText?
    /// Where the website's page may send the user afterwards.
    let returnURLs: [String]
}

/// The skills that can be linked.
struct LinkSkills: Sendable {
    let all: [LinkSkill]

    init(_ configuration: Configuration) {
        all = configuration.skills.compactMap { skill in
            skill.linking.map { linking in
                LinkSkill(
                    name: skill.name, id: skill.id, stage: skill.stage.rawValue,
                    amazonClient: AmazonClient(id: linking.clientID, secret: linking.clientSecret),
                    redirectURLs: linking.redirectURLs, usesPKCE: linking.usesPKCE,
                    providerClient: linking.providerClient, benefit: linking.benefit,
                    returnURLs: linking.returnURLs)
            }
        }
    }

    subscript(name: String) -> LinkSkill? { all.first { $0.name == name } }

    /// The skill of that name; the only one where no name is given.
    func skill(named name: String?) throws(LinkFault) -> LinkSkill {
        if let name, !name.isEmpty {
            guard let skill = self[name] else { throw .noSuchSkill }
            return skill
        }
        guard all.count == 1, let skill = all.first else { throw .skillNeeded }
        return skill
    }

    /// Whether tokens of that client are Alexa's for another skill too.
    func others(withClientOf skill: LinkSkill) -> [LinkSkill] {
        all.filter { $0.providerClient == skill.providerClient && $0.name != skill.name }
    }
}
