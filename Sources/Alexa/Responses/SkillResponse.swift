public import JSON

/// What the skill answers.
public struct SkillResponse: Hashable, Sendable {
    /// What Alexa says.
    public var outputSpeech: OutputSpeech?
    /// What the Alexa app shows.
    public var card: Card?
    /// What Alexa says if the user stays silent.
    public var reprompt: Reprompt?
    /// What devices and Alexa are told to do, in order.
    public var directives: [SkillDirective]
    /// True closes the session, false leaves the microphone open; nil leaves the member out, which is a third state.
    public var shouldEndSession: Bool?
    /// The answer to a question whether the skill could do something.
    public var canFulfillIntent: CanFulfillIntent?
    /// The answer to a call of Alexa Conversations.
    public var apiResponse: JSONValue?
    /// What Alexa sends back with the next request of the session; nil leaves the member out.
    public var sessionAttributes: JSONObject?

    /// An answer.
    public init(
        outputSpeech: OutputSpeech? = nil, card: Card? = nil, reprompt: Reprompt? = nil,
        directives: [SkillDirective] = [], shouldEndSession: Bool? = nil, canFulfillIntent: CanFulfillIntent? = nil,
        apiResponse: JSONValue? = nil, sessionAttributes: JSONObject? = nil
    ) {
        self.outputSpeech = outputSpeech
        self.card = card
        self.reprompt = reprompt
        self.directives = directives
        self.shouldEndSession = shouldEndSession
        self.canFulfillIntent = canFulfillIntent
        self.apiResponse = apiResponse
        self.sessionAttributes = sessionAttributes
    }

    /// The answer that says and does nothing.
    public static let empty = SkillResponse()

    /// The answer without what the request does not accept.
    public func restricted(to permitted: PermittedAnswer) -> SkillResponse {
        switch permitted {
        case .full:
            var response = self
            response.canFulfillIntent = nil
            return response
        case .empty: return .empty
        case .limited(.canFulfillIntent): return SkillResponse(canFulfillIntent: canFulfillIntent)
        case .limited(.directives(let prefix)):
            return SkillResponse(directives: directives.filter { $0.type?.hasPrefix(prefix) == true })
        }
    }

    /// The answer as it leaves.
    ///
    /// - Parameters:
    ///   - limitBytes: how long it may be.
    ///   - permitted: what the request accepts.
    /// - Returns: the JSON text.
    /// - Throws: ``ResponseViolation`` naming the member that breaks a rule of Alexa's.
    public func encoded(
        limitBytes: Int = 24 * 1024, permitted: PermittedAnswer = .full
    ) throws(ResponseViolation) -> [UInt8] {
        try checkMembers()
        try checkPermission(permitted)
        var writer = JSONWriter(capacity: 1024)
        write(to: &writer)
        guard writer.bytes.count <= limitBytes else {
            throw ResponseViolation(member: "response", problem: .tooManyBytes(writer.bytes.count, limit: limitBytes))
        }
        return writer.bytes
    }
}

/// What Alexa says: plain text or SSML.
public struct OutputSpeech: Hashable, Sendable {
    /// The words.
    public enum Content: Hashable, Sendable {
        /// Text as it stands.
        case plainText(String)
        /// SSML within `<speak>`.
        case ssml(String)
    }

    /// What happens to speech that waits or runs.
    public enum PlayBehavior: String, Hashable, Sendable {
        /// After what waits.
        case enqueue = "ENQUEUE"
        /// In place of everything, at once.
        case replaceAll = "REPLACE_ALL"
        /// In place of what waits.
        case replaceEnqueued = "REPLACE_ENQUEUED"
    }

    /// The words.
    public var content: Content
    /// What happens to other speech; nil leaves it to Alexa.
    public var playBehavior: PlayBehavior?

    /// Speech.
    public init(_ content: Content, playBehavior: PlayBehavior? = nil) {
        self.content = content
        self.playBehavior = playBehavior
    }

    /// Plain text; characters that no voice can say are left out.
    public static func plainText(_ text: String) -> OutputSpeech {
        OutputSpeech(.plainText(SpeechText.withoutControlCharacters(text)))
    }

    /// SSML; `markup` is wrapped in `<speak>` unless it is already.
    public static func ssml(_ markup: String) -> OutputSpeech {
        OutputSpeech(.ssml(markup.hasPrefix("<speak") ? markup : "<speak>\(markup)</speak>"))
    }
}

/// What Alexa says if the user stays silent.
public struct Reprompt: Hashable, Sendable {
    /// The words.
    public var outputSpeech: OutputSpeech?
    /// What devices are told to do then.
    public var directives: [SkillDirective]

    /// A reprompt.
    public init(outputSpeech: OutputSpeech?, directives: [SkillDirective] = []) {
        self.outputSpeech = outputSpeech
        self.directives = directives
    }
}

/// What the Alexa app shows; line breaks are `\n`.
public enum Card: Hashable, Sendable {
    /// Title and text.
    case simple(title: String?, content: String)
    /// Title, text and image.
    case standard(title: String?, text: String, smallImageURL: String?, largeImageURL: String?)
    /// A button that starts account linking.
    case linkAccount
    /// A button that asks for permissions, by scope.
    case askForPermissionsConsent([String])
}

/// Whether the skill could do what a user wants.
public struct CanFulfillIntent: Hashable, Sendable {
    /// Yes, no or perhaps.
    public enum Answer: String, Hashable, Sendable {
        /// Yes.
        case yes = "YES"
        /// No.
        case no = "NO"
        /// Perhaps; for a slot only about understanding.
        case maybe = "MAYBE"
    }

    /// What the skill can do with one slot.
    public struct SlotAnswer: Hashable, Sendable {
        /// The slot's name.
        public var name: String
        /// Whether it understands the value.
        public var canUnderstand: Answer
        /// Whether it can act on the value: yes or no.
        public var canFulfill: Answer

        /// An answer about one slot.
        public init(name: String, canUnderstand: Answer, canFulfill: Answer) {
            self.name = name
            self.canUnderstand = canUnderstand
            self.canFulfill = canFulfill
        }
    }

    /// Whether it can do the whole.
    public var canFulfill: Answer
    /// What it can do with each slot, in order.
    public var slots: [SlotAnswer]

    /// An answer.
    public init(canFulfill: Answer, slots: [SlotAnswer] = []) {
        self.canFulfill = canFulfill
        self.slots = slots
    }
}

/// Helpers for text that becomes speech.
public enum SpeechText {
    /// Text made safe inside SSML: markup characters escaped, what XML 1.0 does not allow left out.
    public static func escapedForSSML(_ text: String) -> String {
        // Most texts hold nothing of the kind; beyond ASCII there is more to look at than bytes.
        let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && !"&<>\"'".utf8.contains($0) }
        guard !isPlain else { return text }
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count + 16)
        for scalar in text.unicodeScalars where isSpeakable(scalar) {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&apos;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Text without control characters other than tab and line breaks.
    public static func withoutControlCharacters(_ text: String) -> String {
        guard !text.unicodeScalars.allSatisfy(isSpeakable) else { return text }
        var kept = ""
        kept.unicodeScalars.append(contentsOf: text.unicodeScalars.filter(isSpeakable))
        return kept
    }

    private static func isSpeakable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D: true
        case 0...0x1F, 0x7F...0x9F, 0xFFFE, 0xFFFF: false
        default: true
        }
    }
}
