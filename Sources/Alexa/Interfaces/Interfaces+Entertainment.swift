extension AlexaInterface {
    /// Sound, television, playback.
    static let entertainment: [AlexaInterface] = [
        AlexaInterface(
            "Speaker",
            [
                .taking("SetVolume", [.required("volume", .percent)]),
                .taking("AdjustVolume", [.required("volume", .whole), .optional("volumeDefault", .bool)]),
                .taking("SetMute", [.required("mute", .bool)]),
            ], properties: [PropertyRule("volume", .percent), PropertyRule("muted", .bool)]),
        AlexaInterface(
            "StepSpeaker",
            [
                .taking("AdjustVolume", [.required("volumeSteps", .whole), .optional("volumeStepsDefault", .bool)]),
                .taking("SetMute", [.required("mute", .bool)]),
            ]),
        AlexaInterface(
            "InputController", [.taking("SelectInput", [.required("input", .text(1...Int.max))])],
            properties: [PropertyRule("input", .text())],
            capability: [
                .optional(
                    "inputs",
                    .list(
                        .object(
                            [.required("name", .text(1...Int.max)), .optional("friendlyNames", .list(.text()))],
                            isOpen: true)))
            ]),
        AlexaInterface(
            "PlaybackController", playbackOperations.map { DirectiveRule($0, .anyObject) },
            capability: [
                .optional(
                    "supportedOperations", .list(.oneOf(playbackOperations + ["Resume", "Skip"]), isSet: true))
            ]),
        AlexaInterface(
            "PlaybackStateReporter",
            properties: [
                PropertyRule(
                    "playbackState",
                    .object([.required("state", .oneOf(["PLAYING", "PAUSED", "STOPPED"]))], isOpen: true))
            ]),
        AlexaInterface(
            "ChannelController",
            [
                // What is asked for by name has it in the metadata, and an empty channel.
                .taking(
                    "ChangeChannel",
                    [
                        .optional("channel", .object(channelMembers, isOpen: true)),
                        .optional("channelMetadata", .anyObject),
                    ]),
                .taking("SkipChannels", [.required("channelCount", .whole)]),
            ], properties: [PropertyRule("channel", channel)]),
        AlexaInterface(
            "EqualizerController",
            [
                .taking(
                    "SetBands",
                    [.required("bands", .list(band([.required("level", .whole)]), 1...Int.max))]),
                .taking(
                    "AdjustBands",
                    [
                        .required(
                            "bands",
                            .list(
                                band([
                                    .optional("levelDelta", .whole),
                                    .optional("levelDirection", .oneOf(["UP", "DOWN"])),
                                ]), 1...Int.max))
                    ]),
                .taking("ResetBands", [.optional("bands", .list(band([])))]),
                .taking("SetMode", [.required("mode", .oneOf(equalizerModes))]),
            ],
            properties: [
                PropertyRule(
                    "bands",
                    .list(
                        .either([
                            .object([.required("name", bandName), .required("value", .whole)]),
                            .object([.required("name", bandName), .required("level", .whole)]),
                        ]), isSet: true)),
                PropertyRule("mode", .oneOf(equalizerModes)),
            ],
            capability: [
                .optional(
                    "configurations",
                    .object([
                        .optional(
                            "bands",
                            .object([
                                .required("supported", .list(equalizerName(bandName), isSet: true)),
                                .optional(
                                    "range",
                                    .object([.optional("minimum", .whole), .optional("maximum", .whole)])),
                            ])),
                        .optional(
                            "modes",
                            .object([
                                .required("supported", .list(equalizerName(.oneOf(equalizerModes)), isSet: true))
                            ])),
                    ]))
            ]),
        AlexaInterface("SeekController", DirectiveRule.unconfirmed("AdjustSeekPosition", answer: .seekReport)),
        AlexaInterface(
            "Launcher", DirectiveRule.unconfirmed("LaunchTarget"),
            properties: [
                PropertyRule(
                    "target",
                    .object([
                        .required("name", .text()), .required("identifier", .text()),
                        .optional("experience", .anyObject),
                    ]))
            ]),
        AlexaInterface(
            "RecordController", DirectiveRule.unconfirmed("StartRecording", "StopRecording"),
            properties: [PropertyRule("RecordingState", .oneOf(["RECORDING", "NOT_RECORDING"]))]),
    ]

    private static let playbackOperations = [
        "Play", "Pause", "Stop", "StartOver", "Previous", "Next", "Rewind", "FastForward",
    ]
    private static let equalizerModes = ["MOVIE", "MUSIC", "NIGHT", "SPORT", "TV"]
    private static let bandName = Shape.oneOf(["BASS", "MIDRANGE", "TREBLE"])

    private static func equalizerName(_ name: Shape) -> Shape { .object([.required("name", name)]) }

    private static func band(_ members: [Shape.Member]) -> Shape {
        .object([.required("name", bandName)] + members, isOpen: true)
    }

    private static let channelNames = ["number", "callSign", "affiliateCallSign", "uri"]
    private static let channelMembers = channelNames.map { Shape.Member.optional($0, .text()) }
    /// A channel has at least one of its names.
    private static let channel = Shape.either(
        channelNames.map { required in
            .object(channelNames.map { $0 == required ? .required($0, .text()) : .optional($0, .text()) })
        })
}
