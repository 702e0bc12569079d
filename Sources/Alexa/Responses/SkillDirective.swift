public import JSON

/// What a device, or Alexa, is told to do with an answer.
public enum SkillDirective: Hashable, Sendable {
    /// Alexa goes on with the dialogue as the interaction model says.
    case dialogDelegate(updatedIntent: IntentUpdate? = nil)
    /// Alexa asks for a slot, in the answer's words.
    case dialogElicitSlot(String, updatedIntent: IntentUpdate? = nil)
    /// Alexa asks whether a slot's value is right, in the answer's words.
    case dialogConfirmSlot(String, updatedIntent: IntentUpdate? = nil)
    /// Alexa asks whether the intent is right, in the answer's words.
    case dialogConfirmIntent(updatedIntent: IntentUpdate? = nil)
    /// Slot values for this session, `types` as the interaction model writes them.
    case dialogReplaceDynamicEntities(types: [JSONValue])
    /// Forgets the slot values given before.
    case dialogClearDynamicEntities
    /// Hands the dialogue to `target`, `AMAZON.Conversations` or `skill`, until it is handed back.
    case dialogDelegateRequest(target: String, updatedRequest: JSONValue? = nil)
    /// Plays a stream.
    case audioPlayerPlay(AudioStream, behavior: AudioPlayBehavior, metadata: JSONValue? = nil)
    /// Stops playing.
    case audioPlayerStop
    /// Forgets the streams that wait, and with `stopsCurrent` the one that plays.
    case audioPlayerClearQueue(stopsCurrent: Bool)
    /// Starts a task of another skill or of Alexa, at `uri`.
    case connectionsStart(uri: String, input: JSONValue, token: String? = nil, resumesSession: Bool = true)
    /// Asks Alexa for something, `Buy` for example.
    case connectionsSendRequest(name: String, payload: JSONValue, token: String)
    /// Answers another skill's question.
    case connectionsSendResponse(code: String, message: String, payload: JSONValue? = nil)
    /// Says that the task that this skill was started for is done.
    case completeTask(code: String, message: String, result: JSONValue? = nil)
    /// Shows a document.
    case presentationRenderDocument(token: String, document: JSONValue, datasources: JSONValue? = nil)
    /// Any other directive, as it stands.
    case other(JSONObject)

    /// The directive's type.
    public var type: String? { json["type"]?.string }
}

/// Changes to an intent that go with a dialogue directive.
public struct IntentUpdate: Hashable, Sendable {
    /// A slot's new value.
    public struct SlotUpdate: Hashable, Sendable {
        /// The slot's name.
        public var name: String
        /// The value; nil empties the slot.
        public var value: String?
        /// Whether it counts as confirmed.
        public var confirmationStatus: ConfirmationStatus

        /// A slot's new value.
        public init(name: String, value: String?, confirmationStatus: ConfirmationStatus = .none) {
            self.name = name
            self.value = value
            self.confirmationStatus = confirmationStatus
        }
    }

    /// The intent's name.
    public var name: String
    /// Whether it counts as confirmed.
    public var confirmationStatus: ConfirmationStatus
    /// The slots, all of them: one that is left out is emptied.
    public var slots: [SlotUpdate]

    /// Changes to an intent.
    public init(name: String, confirmationStatus: ConfirmationStatus = .none, slots: [SlotUpdate] = []) {
        self.name = name
        self.confirmationStatus = confirmationStatus
        self.slots = slots
    }

    fileprivate var json: JSONValue {
        var slots = JSONObject()
        for slot in self.slots {
            var json: JSONObject = ["name": .string(slot.name)]
            if let value = slot.value { json["value"] = .string(value) }
            json["confirmationStatus"] = .string(slot.confirmationStatus.rawValue)
            slots[slot.name] = .object(json)
        }
        return [
            "name": .string(name), "confirmationStatus": .string(confirmationStatus.rawValue), "slots": .object(slots),
        ]
    }
}

/// A stream of audio.
public struct AudioStream: Hashable, Sendable {
    /// Where it is, by HTTPS.
    public var url: String
    /// What the skill calls it, at most 1024 characters.
    public var token: String
    /// Where to begin.
    public var offsetInMilliseconds: Int

    /// A stream.
    public init(url: String, token: String, offsetInMilliseconds: Int = 0) {
        self.url = url
        self.token = token
        self.offsetInMilliseconds = offsetInMilliseconds
    }
}

/// What happens to the streams that play or wait.
public enum AudioPlayBehavior: Hashable, Sendable {
    /// The new stream plays at once, alone.
    case replaceAll
    /// The new stream comes after the one of that token, if that is the last.
    case enqueue(expectedPreviousToken: String)
    /// The new stream comes after the one that plays, in place of those that wait.
    case replaceEnqueued
}

extension SkillDirective {
    /// The directive as it leaves.
    public var json: JSONObject {
        switch self {
        case .dialogDelegate(let update): dialog("Delegate", [:], update)
        case .dialogElicitSlot(let slot, let update): dialog("ElicitSlot", ["slotToElicit": .string(slot)], update)
        case .dialogConfirmSlot(let slot, let update): dialog("ConfirmSlot", ["slotToConfirm": .string(slot)], update)
        case .dialogConfirmIntent(let update): dialog("ConfirmIntent", [:], update)
        case .dialogReplaceDynamicEntities(let types):
            dialog("UpdateDynamicEntities", ["updateBehavior": "REPLACE", "types": .array(types)], nil)
        case .dialogClearDynamicEntities: dialog("UpdateDynamicEntities", ["updateBehavior": "CLEAR"], nil)
        case .dialogDelegateRequest(let target, let request):
            object("Dialog.DelegateRequest") {
                ("target", .string(target))
                ("period", ["until": "EXPLICIT_RETURN"])
                ("updatedRequest", request)
            }
        case .audioPlayerPlay(let stream, let behavior, let metadata): play(stream, behavior, metadata)
        case .audioPlayerStop: ["type": "AudioPlayer.Stop"]
        case .audioPlayerClearQueue(let stopsCurrent):
            ["type": "AudioPlayer.ClearQueue", "clearBehavior": stopsCurrent ? "CLEAR_ALL" : "CLEAR_ENQUEUED"]
        case .connectionsStart(let uri, let input, let token, let resumesSession):
            object("Connections.StartConnection") {
                ("uri", .string(uri))
                ("input", input)
                ("token", token.map(JSONValue.string))
                ("onCompletion", resumesSession ? "RESUME_SESSION" : "SEND_ERRORS_ONLY")
            }
        case .connectionsSendRequest(let name, let payload, let token):
            ["type": "Connections.SendRequest", "name": .string(name), "payload": payload, "token": .string(token)]
        case .connectionsSendResponse(let code, let message, let payload):
            object("Connections.SendResponse") {
                ("status", ["code": .string(code), "message": .string(message)])
                ("payload", payload)
            }
        case .completeTask(let code, let message, let result):
            object("Tasks.CompleteTask") {
                ("status", ["code": .string(code), "message": .string(message)])
                ("result", result)
            }
        case .presentationRenderDocument(let token, let document, let datasources):
            object("Alexa.Presentation.APL.RenderDocument") {
                ("token", .string(token))
                ("document", document)
                ("datasources", datasources)
            }
        case .other(let json): json
        }
    }
}

private func dialog(_ name: String, _ members: JSONObject, _ update: IntentUpdate?) -> JSONObject {
    var json: JSONObject = ["type": .string("Dialog." + name)]
    for (name, value) in members { json[name] = value }
    if let update { json["updatedIntent"] = update.json }
    return json
}

private func play(_ stream: AudioStream, _ behavior: AudioPlayBehavior, _ metadata: JSONValue?) -> JSONObject {
    var members: JSONObject = ["url": .string(stream.url), "token": .string(stream.token)]
    let name: JSONValue
    switch behavior {
    case .replaceAll: name = "REPLACE_ALL"
    case .replaceEnqueued: name = "REPLACE_ENQUEUED"
    case .enqueue(let previous):
        name = "ENQUEUE"
        members["expectedPreviousToken"] = .string(previous)
    }
    members["offsetInMilliseconds"] = .integer(Int64(stream.offsetInMilliseconds))
    var item: JSONObject = ["stream": .object(members)]
    if let metadata { item["metadata"] = metadata }
    return ["type": "AudioPlayer.Play", "playBehavior": name, "audioItem": .object(item)]
}

@resultBuilder
private enum MemberList {
    static func buildExpression(_ member: (String, JSONValue?)) -> (String, JSONValue?) { member }
    static func buildBlock(_ members: (String, JSONValue?)...) -> [(String, JSONValue?)] { members }
}

/// A directive of `type` with the members that have a value.
private func object(_ type: String, @MemberList _ members: () -> [(String, JSONValue?)]) -> JSONObject {
    var json: JSONObject = ["type": .string(type)]
    for case (let name, let value?) in members() { json[name] = value }
    return json
}
