import Telemetry

extension ConfigurationReader {
    mutating func skills(_ configuration: Configuration) -> [Configuration.Skill] {
        var skills: [Configuration.Skill] = []
        for section in root.sections("skills") {
            let skill = skill(section, configuration)
            if skills.contains(where: { $0.name == skill.name }) {
                note(section.path("name"), "another skill has this name: names are told apart by routes and commands")
            }
            if skills.contains(where: { $0.id == skill.id }) {
                note(section.path("id"), "another skill has this id: one entry a skill")
            }
            if skill.isSmartHome, configuration.provider.smartHomeScopes.isEmpty {
                note(
                    "provider.scopes.smartHome", "missing: a skill has smartHome, and Amazon demands a scope for those")
            }
            skills.append(skill)
        }
        return skills
    }

    private mutating func skill(_ section: Section, _ configuration: Configuration) -> Configuration.Skill {
        let name = section.text("name")
        if !name.utf8.allSatisfy(Self.isNameByte) {
            note(section.path("name"), "write it in letters, digits, - and _ : it stands in addresses")
        }
        let id = section.text("id")
        if !id.hasPrefix("amzn1.ask.skill.") || id == "amzn1.ask.skill." || id.contains(" ") {
            note(section.path("id"), "no skill id: copy it from the developer console, amzn1.ask.skill.…")
        }
        return Configuration.Skill(
            name: name, id: id, stage: section.choice("stage", else: .development),
            linking: section.section("linking").map { linking($0, configuration.publicURL) },
            events: section.section("events").map { events in
                Configuration.Events(
                    clientID: events.text("clientID"), clientSecret: events.secret("clientSecret"),
                    region: events.choice("region", else: .northAmerica))
            }, intents: intents(section), isSmartHome: section.flag("smartHome"))
    }

    private mutating func linking(_ section: Section, _ publicURL: String) -> Configuration.Linking {
        let domains = section.texts("domains")
        for (index, domain) in domains.enumerated() where !domain.utf8.allSatisfy(WebAddress.isHostByte) {
            note("\(section.path("domains"))[\(index)]", "write a domain's name alone, as login.example.com")
        }
        return Configuration.Linking(
            clientID: section.text("clientID"), clientSecret: section.secret("clientSecret"),
            redirectURLs: section.optionalTexts("redirectURLs") ?? ["\(publicURL)/link/alexa/callback"],
            vendorID: section.optionalText("vendorID"), usesPKCE: section.flag("pkce"),
            providerClient: section.text("providerClient"), benefit: section.localized("benefit"),
            returnURLs: section.texts("returnURLs"), domains: domains,
            skipOnEnablement: section.flag("skipOnEnablement"), accessTokenScheme: section.text("accessTokenScheme"),
            defaultTokenExpirationSeconds: Int(section.integer("defaultTokenExpirationSeconds")),
            reciprocal: section.flag("reciprocal"),
            reciprocalPair: section.choice("reciprocalPair", else: .linking))
    }

    private mutating func intents(_ section: Section) -> IntentsFile? {
        guard let bytes = content("intents", of: section) else { return nil }
        do throws(FileFaults) { return try IntentsFile(json5: bytes) } catch {
            note(error.faults, ofFileAt: section.path("intents"))
            return nil
        }
    }

    /// The content of a file that a key names.
    func content(_ key: String, of section: Section) -> [UInt8]? {
        section.optionalPath(key).flatMap { section.judge.source.readFile($0) }
    }

    /// Notes the faults of a file under the key that names it.
    mutating func note(_ faults: [FileFault], ofFileAt key: String) {
        for fault in faults {
            let place = fault.path.isEmpty ? "" : "\(fault.path): "
            self.faults.append(FileFault(path: key, problem: "in the file: \(place)\(fault.problem)"))
        }
    }

    static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    /// Whether a text is an IP address, or one with the length of a network's prefix.
    static func isNetwork(_ text: String) -> Bool {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let isVersion6 = parts[0].contains(":")
        if parts.count == 2 {
            guard let bits = UInt8(parts[1]), bits <= (isVersion6 ? 128 : 32) else { return false }
        }
        if isVersion6 {
            return parts[0].allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." } && parts[0].count >= 2
        }
        let numbers = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers.allSatisfy { UInt8($0) != nil }
    }

    func level(_ name: String) -> LogLevel {
        switch name {
        case "error": .error
        case "notice": .notice
        case "debug": .debug
        default: .info
        }
    }
}
