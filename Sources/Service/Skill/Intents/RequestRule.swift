import JSON

/// Whether a request needs the user's linked account.
public enum AccountRule: String, Sendable, CaseIterable {
    /// Without a good token the answer asks to link.
    case required
    /// A good token is used; without one the request goes on.
    case optional
    /// The token is not looked at.
    case ignored
}

/// What the intents file says of one request.
struct RequestRule: Sendable {
    var account = AccountRule.ignored
    /// What is fetched before the answer, by the name that texts use.
    var resources: [(name: String, path: ResourcePath)] = []
    /// Permissions of the Alexa app without which the answer asks for them.
    var permissions: [String] = []
    var answer = AnswerTemplate()
    /// The first whose conditions hold replaces parts of the answer.
    var cases: [AnswerCase] = []

    /// The slots that the answer or its resources name.
    var slots: Set<String> {
        var references = resources.flatMap(\.path.references) + answer.references
        for answerCase in cases {
            references += answerCase.when.map(\.reference) + answerCase.replacing(answer).references
        }
        return Set(references.compactMap { if case .slot(let name) = $0 { name } else { nil } })
    }
}

/// The parts of an answer, before its values are known.
struct AnswerTemplate: Sendable {
    var say: [String: TextTemplate] = [:]
    var reprompt: [String: TextTemplate]?
    var card: CardTemplate?

    var references: [Reference] {
        let texts = Array(say.values) + Array((reprompt ?? [:]).values) + (card?.texts ?? [])
        return texts.flatMap(\.references)
    }
}

/// A card, before its values are known.
enum CardTemplate: Sendable {
    case simple(title: [String: TextTemplate], content: [String: TextTemplate])
    case standard(
        title: [String: TextTemplate], text: [String: TextTemplate], smallImage: String?, largeImage: String?)
    case linkAccount
    case permissions([String])

    fileprivate var texts: [TextTemplate] {
        switch self {
        case .simple(let title, let content): Array(title.values) + Array(content.values)
        case .standard(let title, let text, _, _): Array(title.values) + Array(text.values)
        case .linkAccount, .permissions: []
        }
    }
}

/// Parts of an answer that stand in for others where conditions hold.
struct AnswerCase: Sendable {
    /// What a case does to a part that may be absent.
    enum Change<Part: Sendable>: Sendable {
        case keep
        case replace(Part?)
    }

    var when: [Condition] = []
    var say: [String: TextTemplate]?
    var reprompt = Change<[String: TextTemplate]>.keep
    var card = Change<CardTemplate>.keep

    func replacing(_ answer: AnswerTemplate) -> AnswerTemplate {
        var answer = answer
        if let say { answer.say = say }
        if case .replace(let reprompt) = reprompt { answer.reprompt = reprompt }
        if case .replace(let card) = card { answer.card = card }
        return answer
    }
}

/// A value that must be there for a case to hold; null stands for one that is not there.
struct Condition: Sendable {
    let reference: Reference
    let value: JSONValue

    func holds(_ actual: JSONValue?) -> Bool {
        guard let actual, actual != .null else { return value == .null }
        if let left = number(actual), let right = number(value) { return left == right }
        return actual == value
    }

    private func number(_ value: JSONValue) -> Double? {
        switch value {
        case .integer(let integer): Double(exactly: integer)
        case .unsigned(let integer): Double(exactly: integer)
        case .number(let number): number
        default: nil
        }
    }
}
