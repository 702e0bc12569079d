extension AlexaInterface {
    /// Locks, panels, cameras, doorbells, detectors.
    static let security: [AlexaInterface] = [
        AlexaInterface(
            "LockController", DirectiveRule.plain("Lock", "Unlock"),
            properties: [PropertyRule("lockState", .oneOf(["LOCKED", "UNLOCKED", "JAMMED"]))]),
        AlexaInterface(
            "SecurityPanelController",
            [
                .taking(
                    "Arm",
                    [
                        .required("armState", .oneOf(["ARMED_AWAY", "ARMED_STAY", "ARMED_NIGHT"])),
                        .optional("bypassType", .text()), .optional("armInstant", .bool),
                    ], answer: .armResponse),
                .taking(
                    "Disarm",
                    [
                        .optional(
                            "authorization",
                            .object([.required("type", .text()), .required("value", .text())], isOpen: true))
                    ]),
            ],
            properties: [PropertyRule("armState", .oneOf(armStates))]
                + ["burglaryAlarm", "carbonMonoxideAlarm", "fireAlarm", "waterAlarm"].map { PropertyRule($0, .alarm) },
            capability: [
                .optional(
                    "configuration",
                    .object([
                        .optional("supportedAuthorizationTypes", .list(pin)),
                        .optional("supportedCredentialTypes", .list(pin)),
                        .optional(
                            "supportedArmStates", .list(.object([.required("value", .oneOf(armStates))]))),
                        .optional("supportsArmInstant", .bool),
                    ]))
            ]),
        AlexaInterface(
            "CameraStreamController",
            [
                .taking(
                    "InitializeCameraStreams",
                    [
                        .required(
                            "cameraStreams",
                            .list(
                                .object(
                                    [
                                        .required("protocol", .text(1...Int.max)),
                                        .optional("resolution", .anyObject), .optional("authorizationType", .text()),
                                        .optional("videoCodec", .text()), .optional("audioCodec", .text()),
                                    ], isOpen: true), 1...Int.max))
                    ], answer: .cameraResponse)
            ],
            capability: [
                .required(
                    "cameraStreamConfigurations",
                    .list(
                        .object(
                            [
                                .required("protocols", .list(.oneOf(streamProtocols), isSet: true)),
                                .required("resolutions", .list(.resolution, isSet: true)),
                                .required("authorizationTypes", .list(.oneOf(streamAuthorizations), isSet: true)),
                                .required("videoCodecs", .list(.oneOf(videoCodecs), isSet: true)),
                                .required("audioCodecs", .list(.oneOf(audioCodecs), isSet: true)),
                            ], isOpen: true), isSet: true))
            ]),
        AlexaInterface(
            "RTCSessionController",
            DirectiveRule.unconfirmed("InitiateSessionWithOffer", answer: .answerGeneratedForSession)
                + DirectiveRule.unconfirmed("SessionConnected", answer: .sessionConnected)
                + DirectiveRule.unconfirmed("SessionDisconnected", answer: .sessionDisconnected),
            capability: [
                .optional(
                    "configuration",
                    .object([.optional("isFullDuplexAudioSupported", .bool)], isOpen: true))
            ]),
        AlexaInterface(
            "MediaMetadata", DirectiveRule.unconfirmed("GetMediaMetadata", answer: .getMediaMetadataResponse)),
        AlexaInterface("DoorbellEventSource", capability: [.optional("proactivelyReported", .bool)]),
        AlexaInterface(
            "EventDetectionSensor",
            properties: detectedEvents.map { PropertyRule($0 + "DetectionState", detectedEvent) } + [
                PropertyRule("enablementMode", .oneOf(["DISABLED", "ENABLED"])),
                PropertyRule("detectionModes", .anyObject),
            ],
            capability: [
                .optional(
                    "configuration",
                    .object(
                        [
                            .optional("detectionMethods", .list(.oneOf(["AUDIO", "VIDEO"]))),
                            .optional("detectionModes", .anyObject),
                        ], isOpen: true))
            ]),
    ]

    static let streamProtocols = ["RTSP", "WEBRTC"]
    static let streamAuthorizations = ["BASIC", "DIGEST", "NONE"]
    static let videoCodecs = ["H264", "MPEG2", "MJPEG", "JPG"]
    static let audioCodecs = ["G711", "AAC", "NONE"]

    private static let armStates = ["ARMED_AWAY", "ARMED_STAY", "ARMED_NIGHT", "DISARMED"]
    private static let pin = Shape.object([.required("type", .oneOf(["FOUR_DIGIT_PIN"]))])
    private static let detectedEvents = [
        "humanPresence", "babyCry", "dogBark", "glassBreak", "smokeSiren", "animalPresence", "vehiclePresence",
    ]
    private static let detectedEvent = Shape.object([
        .required("value", .detection), .optional("detectionMethods", .list(.oneOf(["AUDIO", "VIDEO"]))),
        .optional(
            "media",
            .object([.required("type", .oneOf(["ALEXA.MEDIAMETADATA", "DATAMART"])), .required("id", .text())])),
    ])
}
