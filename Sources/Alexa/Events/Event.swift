public import Crypto
public import JSON

/// What a smart-home skill sends: the answer to a directive, or a report to the event gateway.
public struct Event: Hashable, Sendable {
    /// The interface.
    public var namespace: String
    /// The event's name.
    public var name: String
    /// The message's id, new for each message.
    public var messageID: String
    /// The correlation token of the directive that it answers.
    public var correlationToken: String?
    /// The endpoint that it is about.
    public var endpointID: String?
    /// What it says.
    public var payload: JSONObject
    /// The state of the endpoint, one object a property; nil leaves the member out.
    public var contextProperties: [JSONValue]?

    /// An event.
    public init(
        namespace: String, name: String, messageID: String, correlationToken: String? = nil,
        endpointID: String? = nil, payload: JSONObject = [:], contextProperties: [JSONValue]? = nil
    ) {
        self.namespace = namespace
        self.name = name
        self.messageID = messageID
        self.correlationToken = correlationToken
        self.endpointID = endpointID
        self.payload = payload
        self.contextProperties = contextProperties
    }

    /// The answer to AcceptGrant where the grant is stored.
    public static func acceptGrantResponse(messageID: String = newMessageID()) -> Event {
        Event(namespace: "Alexa.Authorization", name: "AcceptGrant.Response", messageID: messageID)
    }

    /// The answer to Discover.
    public static func discoverResponse(endpoints: [JSONValue], messageID: String = newMessageID()) -> Event {
        Event(
            namespace: "Alexa.Discovery", name: "Discover.Response", messageID: messageID,
            payload: ["endpoints": .array(endpoints)])
    }

    /// The answer that something failed; Alexa does not speak `message`.
    ///
    /// A type that needs a member which `details` lacks would break Alexa's schema: it leaves as
    /// ``SmartHomeErrorType/internalError``. What the type cannot carry is left out.
    ///
    /// - Parameters:
    ///   - echo: what to repeat of the directive.
    ///   - type: what failed.
    ///   - message: the words for developers, without secrets.
    ///   - details: further members of the payload, `validRange` for example.
    ///   - messageID: the id of the answer.
    /// - Returns: the event.
    public static func errorResponse(
        to echo: DirectiveEcho, _ type: SmartHomeErrorType, message: String, details: JSONObject = [:],
        messageID: String = newMessageID()
    ) -> Event {
        let checked = type.checkedDetails(details)
        let type = checked == nil ? .internalError : type
        var payload: JSONObject = ["type": .string(type.rawValue), "message": .string(message)]
        for (name, value) in checked ?? [:] { payload[name] = value }
        return Event(
            namespace: type.namespace, name: "ErrorResponse", messageID: messageID,
            correlationToken: echo.correlationToken, endpointID: echo.endpointID, payload: payload)
    }

    /// The answer to a directive that cannot be read; within `Alexa.Authorization` in that interface's own words.
    public static func errorResponse(to rejection: DirectiveRejection, messageID: String = newMessageID()) -> Event {
        let isGrant = rejection.echo.namespace == SmartHomeErrorType.acceptGrantFailed.namespace
        let message = [rejection.reasonCode, rejection.detail].compactMap(\.self).joined(separator: ": ")
        return errorResponse(
            to: rejection.echo, isGrant ? .acceptGrantFailed : rejection.errorType, message: message,
            details: rejection.errorDetails, messageID: messageID)
    }

    /// A new id: a random UUID, as Alexa advises.
    public static func newMessageID() -> String { SecureRandom.uuid() }

    /// The event as it leaves.
    ///
    /// - Parameter amazonToken: Amazon's token for the user, which reports to the event gateway carry: in the scope of
    ///   the endpoint, or of the payload where a report is of several endpoints.
    /// - Returns: the JSON.
    public func encoded(amazonToken: Secret? = nil) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        if let contextProperties {
            writer.key("context")
            writer.value(["properties": .array(contextProperties)])
        }
        writer.key("event")
        writer.beginObject()
        writer.key("header")
        writer.beginObject()
        writer.member("namespace", namespace)
        writer.member("name", name)
        writer.member("messageId", messageID)
        writer.member("correlationToken", correlationToken)
        writer.member("payloadVersion", "3")
        writer.endObject()
        let scope: JSONValue? = amazonToken.map { ["type": "BearerToken", "token": .string($0.exposed)] }
        if endpointID != nil || (scope != nil && !hasScopeInPayload) {
            writer.key("endpoint")
            writer.beginObject()
            if let scope, !hasScopeInPayload {
                writer.key("scope")
                writer.value(scope)
            }
            writer.member("endpointId", endpointID)
            writer.endObject()
        }
        var payload = payload
        if let scope, hasScopeInPayload { payload["scope"] = scope }
        writer.key("payload")
        writer.value(.object(payload))
        writer.endObject()
        writer.endObject()
        return writer.bytes
    }

    /// Whether the report is of several endpoints, so that its token stands in the payload.
    private var hasScopeInPayload: Bool { namespace == "Alexa.Discovery" }
}
