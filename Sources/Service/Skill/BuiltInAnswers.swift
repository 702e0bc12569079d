import Alexa

/// What the service answers where a skill says nothing itself.
struct BuiltInAnswers: Sendable {
    let texts: ServiceTexts
    let defaultLocale: String

    func speech(_ name: ServiceTexts.Name, _ locale: String?) -> OutputSpeech {
        let text = texts.text(name, locale: locale, defaultLocale: defaultLocale)
        return text.hasPrefix("<speak>") ? .ssml(text) : .plainText(text)
    }

    /// Tells the user how to go on, and listens.
    func help(_ locale: String?) -> SkillResponse {
        let help = speech(.help, locale)
        return SkillResponse(outputSpeech: help, reprompt: Reprompt(outputSpeech: help), shouldEndSession: false)
    }

    /// Says something and ends the session.
    func closing(_ name: ServiceTexts.Name, _ locale: String?, card: Card? = nil) -> SkillResponse {
        SkillResponse(outputSpeech: speech(name, locale), card: card, shouldEndSession: true)
    }

    /// The answer to a request that neither a handler nor the intents file answers.
    func answer(to request: SkillRequest, locale: String?) -> SkillResponse {
        switch request {
        case .launch: help(locale)
        case .intent(let request):
            switch request.intent.name {
            case "AMAZON.StopIntent", "AMAZON.CancelIntent": closing(.goodbye, locale)
            // Who goes to the home screen needs no farewell.
            case "AMAZON.NavigateHomeIntent": SkillResponse(shouldEndSession: true)
            default: help(locale)
            }
        default: .empty
        }
    }

    /// Whether an intent is answered without the skill's doing.
    static func knows(intent name: String) -> Bool {
        [
            "AMAZON.HelpIntent", "AMAZON.StopIntent", "AMAZON.CancelIntent", "AMAZON.FallbackIntent",
            "AMAZON.NavigateHomeIntent",
        ].contains(name)
    }
}

extension Skill {
    /// What the skill answers an intent, or a request of another type, with.
    enum Answerer {
        case handler(any SkillHandler)
        case rule(RequestRule)
        case builtIn

        var account: AccountRule {
            switch self {
            case .handler(let handler): handler.account
            case .rule(let rule): rule.account
            case .builtIn: .ignored
            }
        }
    }

    /// Who answers: a handler, the intents file, the service itself; for an unknown intent the skill's fallback.
    func answerer(for envelope: RequestEnvelope) -> Answerer {
        guard case .intent(let request) = envelope.request else { return own(envelope.header.type) ?? .builtIn }
        let name = request.intent.name
        if let answerer = own(name) { return answerer }
        return BuiltInAnswers.knows(intent: name) ? .builtIn : own("AMAZON.FallbackIntent") ?? .builtIn
    }

    func own(_ name: String) -> Answerer? {
        if let handler = handlers[name] { return .handler(handler) }
        if let rule = intents?.rules[name] { return .rule(rule) }
        return nil
    }

    /// Whether the skill could do what `request` wants; nothing is fetched and no handler runs.
    func canFulfill(_ request: IntentRequest, hasToken: Bool) -> CanFulfillIntent {
        let slots = (request.intent.slots ?? [:]).values.sorted { $0.name < $1.name }
        switch own(request.intent.name) {
        case .rule(let rule):
            let used = rule.slots
            let answers = slots.map { slot -> CanFulfillIntent.SlotAnswer in
                guard used.contains(slot.name) else {
                    return .init(name: slot.name, canUnderstand: .no, canFulfill: .no)
                }
                let isUnknown = !slot.resolutions.isEmpty && slot.firstResolvedID == nil
                return .init(
                    name: slot.name, canUnderstand: isUnknown || slot.value == nil ? .maybe : .yes, canFulfill: .yes)
            }
            let filled = Set(slots.filter { $0.value != nil }.map(\.name))
            let isSure =
                answers.allSatisfy { $0.canUnderstand == .yes } && used.isSubset(of: filled)
                && (rule.account != .required || hasToken)
            return CanFulfillIntent(canFulfill: isSure ? .yes : .maybe, slots: answers)
        case .handler, .builtIn:
            // What a handler can do it alone knows, and it must not run.
            return CanFulfillIntent(
                canFulfill: .maybe, slots: slots.map { .init(name: $0.name, canUnderstand: .maybe, canFulfill: .yes) })
        case nil:
            let isKnown = BuiltInAnswers.knows(intent: request.intent.name)
            return CanFulfillIntent(
                canFulfill: isKnown ? .yes : .no,
                slots: slots.map { .init(name: $0.name, canUnderstand: .no, canFulfill: .no) })
        }
    }
}
