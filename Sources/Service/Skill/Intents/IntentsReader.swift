import Alexa
import JSON

/// Reads an intents file and notes each fault where it finds it.
struct IntentsReader {
    private(set) var faults: [FileFault] = []
    private var defaultLocale = Locales.fallback

    mutating func file(_ value: JSONValue) -> (defaultLocale: String, rules: [String: RequestRule]) {
        guard let members = object(value, at: "", known: ["defaultLocale", "requests"]) else { return ("", [:]) }
        switch members["defaultLocale"] {
        case nil: break
        case .string(let name) where Locales.isWellFormed(name): defaultLocale = name
        default: fault("defaultLocale", "must be a locale such as \"en-US\"")
        }
        guard let requests = members["requests"] else {
            fault("requests", "is missing")
            return (defaultLocale, [:])
        }
        guard let requests = object(requests, at: "requests") else { return (defaultLocale, [:]) }
        if requests.names.isEmpty { fault("requests", "names no request") }
        var rules: [String: RequestRule] = [:]
        for (name, value) in requests {
            let path = "requests." + name
            if let problem = Self.problem(ofRequestName: name) {
                fault(path, problem)
                continue
            }
            if let rule = rule(value, at: path, request: name) { rules[name] = rule }
        }
        return (defaultLocale, rules)
    }

    private static func problem(ofRequestName name: String) -> String? {
        if isSpokenType(name) { return nil }
        if name.hasSuffix("Request") || silentFamilies.contains(where: { name.hasPrefix($0) }) {
            return "is a request that takes no spoken answer"
        }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ isName($0) && !$0.contains("-") }), parts.count == 1 || parts[0] == "AMAZON" else {
            return "is no request type and no intent name"
        }
        return nil
    }

    /// Whether `name` is a request type, other than that of intents, which takes speech.
    private static func isSpokenType(_ name: String) -> Bool {
        name != "IntentRequest" && PermittedAnswer(requestType: name) == .full
    }

    /// What the types of requests without speech begin with; no intent is called so.
    private static let silentFamilies = [
        "AlexaSkillEvent.", "Alexa.", "AudioPlayer.", "PlaybackController.", "Messaging.", "System.", "Display.",
        "AlexaHouseholdListEvent.", "Reminders.", "GameEngine.", "CustomInterfaceController.", "Dialog.",
        "Connections.",
    ]

    private static let ruleMembers: Set = ["account", "resources", "permissions", "cases", "say", "reprompt", "card"]
    private static let caseMembers: Set = ["when", "say", "reprompt", "card"]

    private mutating func rule(_ value: JSONValue, at path: String, request: String) -> RequestRule? {
        guard let members = object(value, at: path, known: Self.ruleMembers) else { return nil }
        var rule = RequestRule()
        if let resources = members["resources"] { rule.resources = self.resources(resources, at: path + ".resources") }
        if let permissions = members["permissions"] {
            rule.permissions = self.permissions(permissions, at: path + ".permissions")
        }
        let scope = Scope(resources: Set(rule.resources.map(\.name)), hasSlots: !Self.isSpokenType(request))
        check(rule.resources.flatMap(\.path.references), scope, at: path + ".resources")
        if let say = members["say"] {
            rule.answer.say = texts(say, at: path + ".say", scope) ?? [:]
        } else {
            fault(path + ".say", "is missing")
        }
        if let reprompt = members["reprompt"] {
            rule.answer.reprompt = texts(reprompt, at: path + ".reprompt", scope)
        }
        if let card = members["card"] { rule.answer.card = self.card(card, at: path + ".card", scope) }
        if let cases = members["cases"] { rule.cases = self.cases(cases, at: path + ".cases", scope) }
        rule.account = account(members["account"], of: rule, at: path + ".account")
        return rule
    }

    /// Without the member a request needs the account where it uses it.
    private mutating func account(_ value: JSONValue?, of rule: RequestRule, at path: String) -> AccountRule {
        let references =
            rule.answer.references + rule.resources.flatMap(\.path.references)
            + rule.cases.flatMap { $0.when.map(\.reference) + $0.replacing(rule.answer).references }
        let usesAccount = !rule.resources.isEmpty || references.contains(.subject)
        guard let value else { return usesAccount ? .required : .ignored }
        guard let account = value.string.flatMap(AccountRule.init) else {
            fault(path, "must be \"required\", \"optional\" or \"ignored\"")
            return .required
        }
        if account == .ignored, usesAccount {
            fault(path, "is \"ignored\", but resources or {principal.subject} need the account")
        }
        return account
    }

    private mutating func resources(_ value: JSONValue, at path: String) -> [(name: String, path: ResourcePath)] {
        guard let members = object(value, at: path) else { return [] }
        var resources: [(name: String, path: ResourcePath)] = []
        for (name, value) in members {
            let place = path + "." + name
            guard isName(name), name != "principal" else {
                fault(place, "is no name for a resource")
                continue
            }
            guard let text = value.string else {
                fault(place, "must be a path such as \"/me\"")
                continue
            }
            do { resources.append((name, try ResourcePath(text))) } catch { fault(place, error.problem) }
        }
        return resources
    }

    private mutating func permissions(_ value: JSONValue, at path: String) -> [String] {
        guard let scopes = value.array, !scopes.isEmpty else {
            fault(path, "must be a list of permission scopes")
            return []
        }
        return scopes.enumerated().compactMap { index, value in
            guard let scope = value.string, Self.isPermissionScope(scope) else {
                fault("\(path)[\(index)]", "is no permission scope such as \"alexa::profile:given_name:read\"")
                return nil
            }
            return scope
        }
    }

    /// `alexa::…` and, for the postal code, `alexa:devices:…`: lower-case words between colons, an access at the end.
    private static func isPermissionScope(_ text: String) -> Bool {
        var words = text.split(separator: ":", omittingEmptySubsequences: false)[...]
        guard words.popFirst() == "alexa" else { return false }
        if words.first?.isEmpty == true { words.removeFirst() }
        return words.count >= 2
            && words.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (97...122).contains($0) || $0 == 95 } }
    }

    private mutating func cases(_ value: JSONValue, at path: String, _ scope: Scope) -> [AnswerCase] {
        guard let cases = value.array else {
            fault(path, "must be a list")
            return []
        }
        return cases.enumerated().compactMap { index, value in
            let place = "\(path)[\(index)]"
            guard let members = object(value, at: place, known: Self.caseMembers) else { return nil }
            var answerCase = AnswerCase()
            answerCase.when = conditions(members["when"], at: place + ".when", scope)
            if members.names.allSatisfy({ $0 == "when" }) { fault(place, "replaces nothing") }
            if let say = members["say"] { answerCase.say = texts(say, at: place + ".say", scope) }
            if let reprompt = members["reprompt"] {
                answerCase.reprompt = .replace(
                    reprompt == .null ? nil : texts(reprompt, at: place + ".reprompt", scope))
            }
            if let card = members["card"] {
                answerCase.card = .replace(card == .null ? nil : self.card(card, at: place + ".card", scope))
            }
            return answerCase
        }
    }

    private mutating func conditions(_ value: JSONValue?, at path: String, _ scope: Scope) -> [Condition] {
        guard let value else {
            fault(path, "is missing")
            return []
        }
        guard let members = object(value, at: path) else { return [] }
        if members.names.isEmpty { fault(path, "names no value to compare") }
        return members.compactMap { name, value -> Condition? in
            switch value {
            case .array, .object:
                fault(path + "." + name, "must be compared with a text, a number, true, false or null")
                return nil
            default: break
            }
            do throws(TemplateFault) {
                let reference = try Reference(name, resources: scope.resources)
                check([reference], scope, at: path + "." + name)
                return Condition(reference: reference, value: value)
            } catch {
                fault(path + "." + name, error.problem)
                return nil
            }
        }
    }

    private mutating func card(_ value: JSONValue, at path: String, _ scope: Scope) -> CardTemplate? {
        guard let members = object(value, at: path) else { return nil }
        switch members["type"]?.string {
        case "Simple":
            only(["type", "title", "content"], in: members, at: path)
            let title = part("title", of: members, at: path, scope)
            let content = part("content", of: members, at: path, scope)
            return .simple(title: title, content: content)
        case "Standard":
            only(["type", "title", "text", "image"], in: members, at: path)
            let title = part("title", of: members, at: path, scope)
            let text = part("text", of: members, at: path, scope)
            let images = members["image"].map { image($0, at: path + ".image") }
            return .standard(title: title, text: text, smallImage: images?.small, largeImage: images?.large)
        case "LinkAccount":
            only(["type"], in: members, at: path)
            return .linkAccount
        case "AskForPermissionsConsent":
            only(["type", "permissions"], in: members, at: path)
            return .permissions(permissions(members["permissions"] ?? .null, at: path + ".permissions"))
        default:
            fault(path + ".type", "must be \"Simple\", \"Standard\", \"LinkAccount\" or \"AskForPermissionsConsent\"")
            return nil
        }
    }

    private mutating func part(
        _ name: String, of members: JSONObject, at path: String, _ scope: Scope
    ) -> [String: TextTemplate] {
        guard let value = members[name] else {
            fault(path + "." + name, "is missing")
            return [:]
        }
        return texts(value, at: path + "." + name, scope, allowsMarkup: false) ?? [:]
    }

    private mutating func image(_ value: JSONValue, at path: String) -> (small: String?, large: String?) {
        guard let members = object(value, at: path, known: ["smallImageUrl", "largeImageUrl"]) else {
            return (nil, nil)
        }
        for (name, value) in members where value.string.map(Self.isImageAddress) != true {
            fault(path + "." + name, "must be an https address of at most 2000 characters")
        }
        if members.names.isEmpty { fault(path, "names no address") }
        return (members["smallImageUrl"]?.string, members["largeImageUrl"]?.string)
    }

    private static func isImageAddress(_ text: String) -> Bool {
        text.hasPrefix("https://") && text.utf8.count > 8 && text.utf8.count <= 2000
            && text.utf8.allSatisfy { $0 > 32 && $0 < 127 }
    }

    private mutating func texts(
        _ value: JSONValue, at path: String, _ scope: Scope, allowsMarkup: Bool = true
    ) -> [String: TextTemplate]? {
        guard let members = object(value, at: path) else { return nil }
        var texts: [String: TextTemplate] = [:]
        for (locale, value) in members {
            let place = path + "." + locale
            guard Locales.isWellFormed(locale) else {
                fault(place, "is no locale such as \"en-US\" or \"de\"")
                continue
            }
            guard let text = value.string else {
                fault(place, "must be a text")
                continue
            }
            do {
                let template = try TextTemplate(text, resources: scope.resources)
                if template.isSSML, !allowsMarkup { fault(place, "is SSML, which a card cannot show") }
                check(template.references, scope, at: place)
                texts[locale] = template
            } catch {
                fault(place, error.problem)
            }
        }
        // Where a text of the chain has a fault of its own, saying that it is missing too would mislead.
        if !Locales.chain(for: defaultLocale).contains(where: { members[$0] != nil }) {
            fault(path, "has no text for the default locale \(defaultLocale)")
        }
        return texts
    }

    /// What the texts of one request may ask for.
    private struct Scope {
        let resources: Set<String>
        let hasSlots: Bool
    }

    private mutating func check(_ references: [Reference], _ scope: Scope, at path: String) {
        guard !scope.hasSlots else { return }
        for reference in references {
            if case .slot(let name) = reference { fault(path, "{\(bounded(name))}: this request has no slots") }
        }
    }

    private mutating func object(_ value: JSONValue, at path: String, known: Set<String>? = nil) -> JSONObject? {
        guard case .object(let members) = value else {
            fault(path, "must be an object")
            return nil
        }
        if let known { only(known, in: members, at: path) }
        return members
    }

    private mutating func only(_ known: Set<String>, in members: JSONObject, at path: String) {
        for name in members.names where !known.contains(name) {
            fault(path.isEmpty ? name : path + "." + name, "is not known here")
        }
    }

    private mutating func fault(_ path: String, _ problem: String) {
        faults.append(FileFault(path: path, problem: problem))
    }
}
