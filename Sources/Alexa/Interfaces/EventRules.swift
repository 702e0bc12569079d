public import JSON

/// What Amazon's schema says of each message that a skill sends, and what the documentation adds.
struct EventRule: Sendable {
    /// Whether a message has a member.
    enum Presence: Sendable { case required, optional, forbidden }

    let payload: Shape
    var context = Presence.optional
    var endpoint = Presence.optional

    /// The rule of a message; nil where no message has that name.
    static func named(_ namespace: String, _ name: String) -> EventRule? { byName[namespace]?[name] }

    private static let byName: [String: [String: EventRule]] = [
        "Alexa": [
            "Response": EventRule(payload: .nothing),
            "StateReport": EventRule(payload: .nothing),
            "DeferredResponse": EventRule(
                payload: .object([.optional("estimatedDeferralInSeconds", .integer(0...Int64.max))], isOpen: true),
                context: .forbidden, endpoint: .forbidden),
            "ChangeReport": EventRule(
                payload: .object([
                    .required(
                        "change",
                        .object([
                            .required("cause", cause), .required("properties", .list(contextProperty, isSet: true)),
                        ]))
                ]), endpoint: .required),
        ],
        "Alexa.Discovery": [
            "Discover.Response": EventRule(
                payload: .object([.required("endpoints", .list(.anyObject, 0...300))]),
                context: .forbidden, endpoint: .forbidden),
            "AddOrUpdateReport": EventRule(
                payload: .object([.required("endpoints", .list(.anyObject, 1...300))]),
                context: .forbidden, endpoint: .forbidden),
            "DeleteReport": EventRule(
                payload: .object([
                    .required(
                        "endpoints",
                        .list(.object([.required("endpointId", DiscoveryEndpoint.id)]), 1...300, isSet: true))
                ]), context: .forbidden, endpoint: .forbidden),
        ],
        "Alexa.Authorization": [
            "AcceptGrant.Response": EventRule(payload: .nothing, context: .forbidden, endpoint: .forbidden)
        ],
        "Alexa.SceneController": [
            "ActivationStarted": EventRule(payload: started), "DeactivationStarted": EventRule(payload: started),
        ],
        "Alexa.SecurityPanelController": [
            "Arm.Response": EventRule(
                payload: .object([
                    .optional("exitDelayInSeconds", .integer(0...255)),
                    .optional("bypassedEndpoints", .list(namedEndpoint)),
                ]))
        ],
        "Alexa.CameraStreamController": [
            "Response": EventRule(
                payload: .object([
                    .required("cameraStreams", .list(cameraStream, 1...Int.max)),
                    .required("imageUri", .text(1...Int.max)),
                ]))
        ],
        "Alexa.SeekController": [
            "StateReport": EventRule(
                payload: .object([
                    .required(
                        "properties",
                        .list(
                            .object([
                                .required("name", .oneOf(["positionMilliseconds"])),
                                .required("value", .integer(0...86_400_000)),
                            ]), 1...Int.max))
                ]))
        ],
        "Alexa.RTCSessionController": [
            "AnswerGeneratedForSession": EventRule(
                payload: .object([
                    .required("answer", .object([.required("value", .text())], isOpen: true))
                ])),
            "SessionConnected": EventRule(payload: .object([.required("sessionId", .text())])),
            "SessionDisconnected": EventRule(payload: .object([.required("sessionId", .text())])),
        ],
        "Alexa.MediaMetadata": ["GetMediaMetadata.Response": EventRule(payload: .anyObject)],
        "Alexa.WakeOnLANController": ["WakeUp": EventRule(payload: .nothing)],
        "Alexa.DoorbellEventSource": [
            "DoorbellPress": EventRule(
                payload: .object([
                    .required(
                        "cause", .object([.required("type", .oneOf(EventCause.allCases.prefix(5).map(\.rawValue)))])),
                    .required("timestamp", .instant(fraction: false)),
                ]), endpoint: .required)
        ],
    ]

    static let namedEndpoint = Shape.object([
        .required("friendlyName", .text()), .optional("endpointId", .text()),
    ])

    private static let cause = Shape.object([
        .required("type", .oneOf(EventCause.allCases.map(\.rawValue)))
    ])
    private static let started = Shape.object([.required("cause", cause), .required("timestamp", .instant())])
    private static let cameraStream = Shape.object([
        .required("uri", .text(1...Int.max)), .required("protocol", .oneOf(AlexaInterface.streamProtocols)),
        .required("resolution", .resolution),
        .required("authorizationType", .oneOf(AlexaInterface.streamAuthorizations)),
        .required("videoCodec", .oneOf(AlexaInterface.videoCodecs)),
        .required("audioCodec", .oneOf(AlexaInterface.audioCodecs)), .optional("expirationTime", .text()),
        .optional("idleTimeoutSeconds", .integer(1...Int64.max)),
    ])

    /// What every property has, whatever its interface.
    static let contextProperty = Shape.object([
        .required("namespace", .text(1...256, .namespace)), .required("name", .text(1...Int.max)),
        .required("value", .any), .required("timeOfSample", .instant()),
        .required("uncertaintyInMilliseconds", .number(0...Double.greatestFiniteMagnitude)),
        .optional("instance", .text(1...Int.max)),
    ])
}

/// A property in the form that context and change reports have.
public enum ContextProperty {
    /// What tells two properties of one endpoint apart: interface, name and instance.
    static func key(_ property: JSONValue) -> [String?] {
        [property["namespace"]?.string, property["name"]?.string, property["instance"]?.string]
    }

    /// What is wrong with a property; nil where Alexa takes it.
    ///
    /// The value is judged by the table of its interface; an interface that no table has is judged by the general rules.
    public static func violation(of property: JSONValue) -> ShapeFault? {
        if let fault = EventRule.contextProperty.fault(in: property) { return fault }
        guard let interface = AlexaInterface.named(property["namespace"]?.string ?? "") else { return nil }
        guard let rule = interface.property(property["name"]?.string ?? "") else {
            return ShapeFault(.notOneOf, path: "name")
        }
        if interface.needsInstance, property["instance"]?.string == nil {
            return ShapeFault(.missing, path: "instance")
        }
        return property["value"].flatMap { rule.value.fault(in: $0) }?.below("value")
    }
}
