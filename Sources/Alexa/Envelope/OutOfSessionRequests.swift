public import Crypto
public import JSON
public import Time

/// Something happened to the skill's enablement, its linking or its permissions.
public struct SkillEvent: Sendable {
    /// What happened.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The user enabled the skill.
        case enabled = "SkillEnabled"
        /// The user disabled the skill; the Alexa user id ends here.
        case disabled = "SkillDisabled"
        /// The user linked an account; the event carries our token.
        case accountLinked = "SkillAccountLinked"
        /// The user granted permissions for the first time.
        case permissionAccepted = "SkillPermissionAccepted"
        /// The user changed permissions.
        case permissionChanged = "SkillPermissionChanged"
        /// The user changed which events the skill may send.
        case proactiveSubscriptionChanged = "ProactiveSubscriptionChanged"
        /// The user changed which notifications the skill may send.
        case notificationSubscriptionChanged = "NotificationSubscriptionChanged"
    }

    /// The whole `request` member.
    public let element: JSONElement
    /// What happened.
    public let kind: Kind

    init?(_ header: RequestHeader) {
        let prefix = "AlexaSkillEvent."
        guard header.type.hasPrefix(prefix), let kind = Kind(rawValue: String(header.type.dropFirst(prefix.count)))
        else { return nil }
        element = header.element
        self.kind = kind
    }

    private var body: JSONElement? { element.object("body") }

    /// When it happened; events may come out of order.
    public var createdAt: UnixTime? { element.time("eventCreationTime") }
    /// When Alexa published it.
    public var publishedAt: UnixTime? { element.time("eventPublishingTime") }
    /// Our token, in an account-linked event.
    public var accessToken: Secret? { body?.secret("accessToken") }
    /// The scopes that hold now; an empty or missing list means that none does.
    public var acceptedScopes: [String] { texts("acceptedPermissions", "scope") }
    /// The scopes that a recognised person granted.
    public var acceptedPersonScopes: [String] { texts("acceptedPersonPermissions", "scope") }
    /// The events, or the topics, that are subscribed to now.
    public var subscriptions: [String] {
        texts("subscriptions", kind == .notificationSubscriptionChanged ? "topicId" : "eventName")
    }

    private func texts(_ list: StaticString, _ name: StaticString) -> [String] {
        (body?.member(list)?.elements ?? []).compactMap { $0.string(name) }
    }
}

/// A code for sending events, given to custom skills without account linking.
public struct AuthorizationGrant: Sendable {
    /// The whole `request` member.
    public let element: JSONElement
    /// The kind of grant, `OAuth2.AuthorizationCode`.
    public var type: String? { element.object("body")?.object("grant")?.string("type") }
    /// The code, to be exchanged at Login with Amazon.
    public var code: Secret? { element.object("body")?.object("grant")?.secret("code") }
}

/// A message that a server of the skill sent through Alexa.
public struct MessageReceived: Sendable {
    /// The whole `request` member.
    public let element: JSONElement
    /// The message.
    public var message: JSONElement? { element.member("message") }
}

/// An earlier answer of ours was not accepted.
public struct ExceptionEncountered: Sendable {
    /// The whole `request` member.
    public let element: JSONElement
    /// What was wrong with it.
    public var error: RequestError? { element.object("error").map(RequestError.init) }
    /// The request that it answered.
    public var causeRequestID: String? { element.object("cause")?.string("requestId") }
}

/// Playback of a stream began, ended, or failed.
public struct AudioPlayerRequest: Sendable {
    /// What happened.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A stream began.
        case playbackStarted = "PlaybackStarted"
        /// A stream came to its end.
        case playbackFinished = "PlaybackFinished"
        /// A stream was stopped.
        case playbackStopped = "PlaybackStopped"
        /// A stream is about to end, so that the next can be queued.
        case playbackNearlyFinished = "PlaybackNearlyFinished"
        /// A stream could not be played.
        case playbackFailed = "PlaybackFailed"
    }

    /// The whole `request` member.
    public let element: JSONElement
    /// What happened.
    public let kind: Kind

    init?(_ header: RequestHeader) {
        let prefix = "AudioPlayer."
        guard header.type.hasPrefix(prefix), let kind = Kind(rawValue: String(header.type.dropFirst(prefix.count)))
        else { return nil }
        element = header.element
        self.kind = kind
    }

    /// The stream's token.
    public var token: String? { element.string("token") }
    /// How far the stream had come.
    public var offsetInMilliseconds: Int64? { element.member("offsetInMilliseconds")?.integer }
    /// What went wrong.
    public var error: RequestError? { element.object("error").map(RequestError.init) }
    /// What the device was playing when it went wrong.
    public var currentPlaybackState: JSONElement? { element.object("currentPlaybackState") }
}

/// A button of the device or of a remote control was pressed.
public struct PlaybackControllerRequest: Sendable {
    /// Which one.
    public enum Command: String, Hashable, Sendable, CaseIterable {
        /// Play.
        case play = "PlayCommandIssued"
        /// Pause.
        case pause = "PauseCommandIssued"
        /// Next.
        case next = "NextCommandIssued"
        /// Previous.
        case previous = "PreviousCommandIssued"
    }

    /// The whole `request` member.
    public let element: JSONElement
    /// Which button.
    public let command: Command

    init?(_ header: RequestHeader) {
        let prefix = "PlaybackController."
        guard header.type.hasPrefix(prefix),
            let command = Command(rawValue: String(header.type.dropFirst(prefix.count)))
        else { return nil }
        element = header.element
        self.command = command
    }
}

/// Something was touched on a screen, or a web page of the skill sent a message.
public struct UserEvent: Sendable {
    /// The whole `request` member.
    public let element: JSONElement
    /// The token of what was shown.
    public var token: String? { element.string("token") }
    /// What the document sends along.
    public var arguments: [JSONElement] { element.member("arguments")?.elements ?? [] }
    /// What was touched.
    public var source: JSONElement? { element.member("source") }
    /// What a web page sent.
    public var message: JSONElement? { element.member("message") }
}

/// Something happened to the user's lists or reminders.
public struct ResourceEvent: Sendable {
    /// What the event is about.
    public enum Family: String, Hashable, Sendable, CaseIterable {
        /// A shopping list or a to-do list.
        case householdList = "AlexaHouseholdListEvent."
        /// A reminder.
        case reminder = "Reminders."
    }

    /// The whole `request` member.
    public let element: JSONElement
    /// What it is about.
    public let family: Family
    /// What happened, `ItemsCreated` for example.
    public let name: String

    init?(_ header: RequestHeader) {
        guard let family = Family.allCases.first(where: { header.type.hasPrefix($0.rawValue) }) else { return nil }
        element = header.element
        self.family = family
        name = String(header.type.dropFirst(family.rawValue.count))
    }

    /// The fields of the event.
    public var body: JSONElement? { element.object("body") }
    /// When it happened.
    public var createdAt: UnixTime? { element.time("eventCreationTime") }
    /// When Alexa published it.
    public var publishedAt: UnixTime? { element.time("eventPublishingTime") }
}
