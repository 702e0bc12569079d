public import JSON

/// A request by its type, with the fields of that type.
///
/// A type that is not listed, today's or tomorrow's, is ``other(_:)``: its fields are in the header's element.
public enum SkillRequest: Sendable {
    /// The user opened the skill without saying what for.
    case launch(LaunchRequest)
    /// The user wants something.
    case intent(IntentRequest)
    /// Alexa asks whether the skill could do something; answering must change nothing.
    case canFulfillIntent(IntentRequest)
    /// The session is over.
    case sessionEnded(SessionEndedRequest)
    /// A task of another skill is done.
    case sessionResumed(SessionResumedRequest)
    /// A connection that the skill asked for is done.
    case connectionsResponse(ConnectionsResponse)
    /// Another skill asks for something.
    case connectionsRequest(ConnectionsRequest)
    /// Something happened to the skill's enablement, linking or permissions.
    case skillEvent(SkillEvent)
    /// A code for sending events, for skills without account linking.
    case authorizationGrant(AuthorizationGrant)
    /// A message that a server of the skill sent.
    case messageReceived(MessageReceived)
    /// An earlier answer of ours was not accepted.
    case exceptionEncountered(ExceptionEncountered)
    /// Playback began, ended, or failed.
    case audioPlayer(AudioPlayerRequest)
    /// A button was pressed.
    case playbackController(PlaybackControllerRequest)
    /// Something was touched on a screen.
    case userEvent(UserEvent)
    /// Something happened to the user's lists or reminders.
    case resourceEvent(ResourceEvent)
    /// Any other type.
    case other(RequestHeader)

    init(_ header: RequestHeader) throws(RequestRejection) {
        let element = header.element
        switch header.type {
        case "LaunchRequest": self = .launch(LaunchRequest(element: element))
        case "IntentRequest": self = .intent(try IntentRequest(element))
        case "CanFulfillIntentRequest": self = .canFulfillIntent(try IntentRequest(element))
        case "SessionEndedRequest": self = .sessionEnded(SessionEndedRequest(element: element))
        case "SessionResumedRequest": self = .sessionResumed(SessionResumedRequest(element: element))
        case "Connections.Response": self = .connectionsResponse(ConnectionsResponse(element: element))
        case "Connections.Request": self = .connectionsRequest(ConnectionsRequest(element: element))
        case "Alexa.Authorization.Grant": self = .authorizationGrant(AuthorizationGrant(element: element))
        case "Messaging.MessageReceived": self = .messageReceived(MessageReceived(element: element))
        case "System.ExceptionEncountered": self = .exceptionEncountered(ExceptionEncountered(element: element))
        case "Display.ElementSelected", "Alexa.Presentation.APL.UserEvent", "Alexa.Presentation.APLT.UserEvent",
            "Alexa.Presentation.HTML.Message":
            self = .userEvent(UserEvent(element: element))
        default:
            if let event = SkillEvent(header) {
                self = .skillEvent(event)
            } else if let request = AudioPlayerRequest(header) {
                self = .audioPlayer(request)
            } else if let request = PlaybackControllerRequest(header) {
                self = .playbackController(request)
            } else if let event = ResourceEvent(header) {
                self = .resourceEvent(event)
            } else {
                self = .other(header)
            }
        }
    }
}

/// The user opened the skill.
public struct LaunchRequest: Sendable {
    /// The whole `request` member.
    public let element: JSONElement
    /// The task that another skill or a shortcut started; nil for a plain launch.
    public var task: LaunchTask? { element.object("task").map(LaunchTask.init) }

    /// A task to do at once.
    public struct LaunchTask: Sendable {
        /// The whole `task` member.
        public let element: JSONElement
        /// The task's name.
        public var name: String? { element.string("name") }
        /// The task's version.
        public var version: String? { element.string("version") }
        /// What the task is to work on.
        public var input: JSONElement? { element.member("input") }
    }
}

/// The user wants something, or Alexa asks whether the skill could do it.
public struct IntentRequest: Sendable {
    /// The whole `request` member.
    public let element: JSONElement
    /// What is wanted.
    public let intent: Intent

    init(_ element: JSONElement) throws(RequestRejection) {
        self.element = element
        intent = try Intent(in: element)
    }

    /// How far the dialogue has come; nil for intents without one.
    public var dialogState: DialogState? { element.string("dialogState").flatMap(DialogState.init(rawValue:)) }
}

/// The session is over; no answer is spoken.
public struct SessionEndedRequest: Sendable {
    /// The whole `request` member.
    public let element: JSONElement
    /// Why, `USER_INITIATED`, `ERROR` or `EXCEEDED_MAX_REPROMPTS`.
    public var reason: String? { element.string("reason") }
    /// What went wrong; nil where nothing did.
    public var error: RequestError? { element.object("error").map(RequestError.init) }
}

/// What went wrong, as Alexa tells it.
public struct RequestError: Sendable {
    /// The whole `error` member.
    public let element: JSONElement
    /// The kind, `INVALID_RESPONSE` for example.
    public var type: String? { element.string("type") }
    /// The words for developers.
    public var message: String? { element.string("message") }
}

/// A code and words about how something ended.
public struct ConnectionStatus: Sendable {
    /// The whole `status` member.
    public let element: JSONElement
    /// The code, `200` for example.
    public var code: String? { element.string("code") ?? element.member("code")?.integer.map { String($0) } }
    /// The words for developers.
    public var message: String? { element.string("message") }
}

/// The session goes on after a task of another skill.
public struct SessionResumedRequest: Sendable {
    /// The whole `request` member.
    public let element: JSONElement
    private var cause: JSONElement? { element.object("cause") }
    /// Why it goes on, `ConnectionCompleted` so far.
    public var causeType: String? { cause?.string("type") }
    /// The token that the skill gave when it started the task.
    public var token: String? { cause?.string("token") }
    /// How the task ended.
    public var status: ConnectionStatus? { cause?.object("status").map(ConnectionStatus.init) }
    /// What the task gave.
    public var result: JSONElement? { cause?.member("result") }
}

/// A connection that the skill asked for is done.
public struct ConnectionsResponse: Sendable {
    /// The whole `request` member.
    public let element: JSONElement
    /// The connection's name, `Buy` for example.
    public var name: String? { element.string("name") }
    /// How it ended.
    public var status: ConnectionStatus? { element.object("status").map(ConnectionStatus.init) }
    /// What came of it.
    public var payload: JSONElement? { element.member("payload") }
    /// The token that the skill gave.
    public var token: String? { element.string("token") }
}

/// Another skill asks for something.
public struct ConnectionsRequest: Sendable {
    /// The whole `request` member.
    public let element: JSONElement
    /// What is asked for.
    public var name: String? { element.string("name") }
    /// With what.
    public var payload: JSONElement? { element.member("payload") }
}
