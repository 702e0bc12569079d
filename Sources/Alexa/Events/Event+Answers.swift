public import JSON
public import Time

/// What caused a change, in Alexa's words.
public enum EventCause: String, Hashable, Sendable, CaseIterable {
    /// The user in the company's app.
    case appInteraction = "APP_INTERACTION"
    /// Somebody at the device.
    case physicalInteraction = "PHYSICAL_INTERACTION"
    /// Nobody: the state was looked at.
    case periodicPoll = "PERIODIC_POLL"
    /// A rule or a schedule.
    case ruleTrigger = "RULE_TRIGGER"
    /// The user by voice.
    case voiceInteraction = "VOICE_INTERACTION"
    /// Credentials that are no longer good.
    case invalidCredentials = "INVALID_CREDENTIALS"
    /// A subscription that ended.
    case subscriptionExpired = "SUBSCRIPTION_EXPIRED"
    /// Alexa by herself.
    case alexaInteraction = "ALEXA_INTERACTION"
}

extension Event {
    /// The answer to a directive that succeeded.
    ///
    /// - Parameters:
    ///   - kind: which answer; one whose payload is its own takes none.
    ///   - echo: what to repeat of the directive.
    ///   - properties: the state of the endpoint now, in the form of context; nil leaves the context out.
    ///   - payload: what the provider gave for kinds that take it.
    ///   - now: when a scene started.
    ///   - messageID: the id of the answer.
    /// - Returns: the event.
    public static func answer(
        _ kind: AnswerKind, to echo: DirectiveEcho, properties: [JSONValue]? = [], payload: JSONObject = [:],
        now: UnixTime, messageID: String = newMessageID()
    ) -> Event {
        var event = Event(
            namespace: kind.namespace, name: kind.name, messageID: messageID,
            correlationToken: echo.correlationToken, endpointID: echo.endpointID, contextProperties: properties)
        switch kind {
        case .activationStarted, .deactivationStarted: event.payload = started(.voiceInteraction, now)
        default: if kind.takesPayload { event.payload = payload }
        }
        return event
    }

    /// The answer that the real answer comes later, by the event gateway.
    ///
    /// - Parameters:
    ///   - echo: what to repeat of the directive.
    ///   - seconds: after how long about; nil where nobody knows.
    ///   - messageID: the id of the answer.
    /// - Returns: the event.
    public static func deferredResponse(
        to echo: DirectiveEcho, seconds: Int64?, messageID: String = newMessageID()
    ) -> Event {
        var payload: JSONObject = [:]
        if let seconds { payload["estimatedDeferralInSeconds"] = .integer(seconds) }
        return Event(
            namespace: "Alexa", name: "DeferredResponse", messageID: messageID,
            correlationToken: echo.correlationToken, payload: payload)
    }

    fileprivate static func started(_ cause: EventCause, _ time: UnixTime) -> JSONObject {
        ["cause": ["type": .string(cause.rawValue)], "timestamp": .string(time.iso8601(fraction: true))]
    }
}

/// Reports to the event gateway; their token comes when they are sent: ``Event/encoded(amazonToken:)``.
extension Event {
    /// A report that properties of an endpoint changed.
    ///
    /// - Parameters:
    ///   - endpointID: the endpoint.
    ///   - cause: why they changed.
    ///   - changed: the properties that changed, in the form of context.
    ///   - unchanged: the others; what is among `changed` too is left out.
    ///   - messageID: the id of the report.
    /// - Returns: the event.
    public static func changeReport(
        endpointID: String, cause: EventCause, changed: [JSONValue], unchanged: [JSONValue],
        messageID: String = newMessageID()
    ) -> Event {
        let keys = Set(changed.map(ContextProperty.key))
        return Event(
            namespace: "Alexa", name: "ChangeReport", messageID: messageID, endpointID: endpointID,
            payload: [
                "change": ["cause": ["type": .string(cause.rawValue)], "properties": .array(changed)]
            ], contextProperties: unchanged.filter { !keys.contains(ContextProperty.key($0)) })
    }

    /// A report that endpoints are new or were changed, each as discovery would describe it.
    public static func addOrUpdateReport(
        endpoints: [JSONValue], messageID: String = newMessageID()
    ) -> Event {
        Event(
            namespace: "Alexa.Discovery", name: "AddOrUpdateReport", messageID: messageID,
            payload: ["endpoints": .array(endpoints)])
    }

    /// A report that endpoints are gone.
    public static func deleteReport(endpointIDs: [String], messageID: String = newMessageID()) -> Event {
        Event(
            namespace: "Alexa.Discovery", name: "DeleteReport", messageID: messageID,
            payload: ["endpoints": .array(endpointIDs.map { ["endpointId": .string($0)] })])
    }

    /// A report that somebody rang at `time`.
    public static func doorbellPress(
        endpointID: String, cause: EventCause = .physicalInteraction, at time: UnixTime,
        messageID: String = newMessageID()
    ) -> Event {
        // The one message whose time has no fraction.
        let payload: JSONObject = [
            "cause": ["type": .string(cause.rawValue)], "timestamp": .string(time.iso8601()),
        ]
        return Event(
            namespace: "Alexa.DoorbellEventSource", name: "DoorbellPress", messageID: messageID,
            endpointID: endpointID, payload: payload)
    }

    /// A report that a scene was activated, or deactivated, at `time`.
    public static func scene(
        isActive: Bool, endpointID: String, cause: EventCause, at time: UnixTime, messageID: String = newMessageID()
    ) -> Event {
        Event(
            namespace: "Alexa.SceneController", name: isActive ? "ActivationStarted" : "DeactivationStarted",
            messageID: messageID, endpointID: endpointID, payload: started(cause, time), contextProperties: [])
    }
}
