public import JSON

/// What the user wants, with the words that filled it.
public struct Intent: Sendable {
    /// The whole `intent` member.
    public let element: JSONElement
    /// The intent's name.
    public let name: String

    init(in request: JSONElement) throws(RequestRejection) {
        guard let element = request.object("intent"), let name = element.string("name") else {
            throw .malformed(path: "request.intent.name")
        }
        self.element = element
        self.name = name
    }

    /// Whether the user confirmed it.
    public var confirmationStatus: ConfirmationStatus? { ConfirmationStatus(in: element) }

    /// Every slot by name; nil where the member is missing, empty where it is `{}`.
    public var slots: [String: Slot]? {
        guard let members = element.object("slots")?.members else { return nil }
        var slots: [String: Slot] = [:]
        for (name, value) in members where value.kind == .object && slots[name] == nil {
            slots[name] = Slot(element: value, key: name)
        }
        return slots
    }

    /// The slot of that name.
    public func slot(_ name: String) -> Slot? {
        guard let value = element.object("slots")?.member(named: name), value.kind == .object else { return nil }
        return Slot(element: value, key: name)
    }
}

/// Whether a user confirmed an intent or a slot.
public enum ConfirmationStatus: String, Hashable, Sendable {
    /// Nobody asked.
    case none = "NONE"
    /// The user said yes.
    case confirmed = "CONFIRMED"
    /// The user said no.
    case denied = "DENIED"

    init?(in element: JSONElement) {
        guard let text = element.string("confirmationStatus") else { return nil }
        self.init(rawValue: text)
    }
}

/// How far a dialogue has come.
public enum DialogState: String, Hashable, Sendable {
    /// The first turn.
    case started = "STARTED"
    /// Between the first turn and the last.
    case inProgress = "IN_PROGRESS"
    /// Every required slot is filled and confirmed.
    case completed = "COMPLETED"
}

/// A place in an utterance, and what filled it.
public struct Slot: Sendable {
    /// The slot as Alexa sent it.
    public let element: JSONElement
    private let key: String

    fileprivate init(element: JSONElement, key: String) {
        self.element = element
        self.key = key
    }

    /// The slot's name.
    public var name: String { element.string("name") ?? key }
    /// What the user said; nil where the slot is not filled.
    public var value: String? { element.string("value") ?? slotValue?.values.first }
    /// Whether the user confirmed it.
    public var confirmationStatus: ConfirmationStatus? { ConfirmationStatus(in: element) }
    /// What each authority makes of the value; empty where none was asked.
    public var resolutions: [Resolution] { Resolution.all(in: element) }
    /// The value as a tree, for slots that take several.
    public var slotValue: SlotValue? { element.object("slotValue").flatMap(SlotValue.init) }
    /// Every value that the user said, in order.
    public var values: [String] { slotValue?.values ?? element.string("value").map { [$0] } ?? [] }

    /// The id that the first matching authority gives the value; nil where none knows it.
    public var firstResolvedID: String? {
        let resolutions = self.resolutions
        let all = resolutions.isEmpty ? slotValue?.resolutions ?? [] : resolutions
        return all.first { $0.isMatch }?.values.first?.id
    }
}

/// A slot's value: one, or a list of them.
public indirect enum SlotValue: Sendable {
    /// One value and what the authorities make of it.
    case simple(String?, [Resolution])
    /// Several values.
    case list([SlotValue])

    init?(_ element: JSONElement) {
        switch element.string("type") {
        case "Simple": self = .simple(element.string("value"), Resolution.all(in: element))
        case "List": self = .list((element.member("values")?.elements ?? []).compactMap(SlotValue.init))
        default: return nil
        }
    }

    /// Every value, in order.
    public var values: [String] {
        switch self {
        case .simple(let value, _): value.map { [$0] } ?? []
        case .list(let values): values.flatMap(\.values)
        }
    }

    /// What the authorities make of the values, in order.
    public var resolutions: [Resolution] {
        switch self {
        case .simple(_, let resolutions): resolutions
        case .list(let values): values.flatMap(\.resolutions)
        }
    }
}

/// What one authority makes of a slot's value.
public struct Resolution: Sendable {
    /// The whole entry.
    public let element: JSONElement

    static func all(in element: JSONElement) -> [Resolution] {
        (element.object("resolutions")?.member("resolutionsPerAuthority")?.elements ?? []).map(Resolution.init)
    }

    /// Who was asked: a slot type's name, with the skill's id.
    public var authority: String? { element.string("authority") }
    /// What came of it, `ER_SUCCESS_MATCH` for example.
    public var statusCode: String? { element.member("status")?.string("code") }
    /// Whether the authority knows the value.
    public var isMatch: Bool { statusCode == "ER_SUCCESS_MATCH" && !values.isEmpty }
    /// What the value may mean, the likeliest first.
    public var values: [Value] {
        (element.member("values")?.elements ?? []).compactMap { entry in
            entry.object("value").map { Value(name: $0.string("name"), id: $0.string("id")) }
        }
    }

    /// One meaning of a value.
    public struct Value: Hashable, Sendable {
        /// The canonical word.
        public let name: String?
        /// The id that the interaction model gives it.
        public let id: String?
    }
}
