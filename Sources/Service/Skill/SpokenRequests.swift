/// Which requests take a spoken answer.
enum SpokenRequests {
    /// The requests, other than intents, that take speech, cards, reprompts and directives.
    static let names: Set = [
        "LaunchRequest", "SessionResumedRequest", "Connections.Response", "Connections.Request",
        "Display.ElementSelected", "Alexa.Presentation.APL.UserEvent", "Alexa.Presentation.APLT.UserEvent",
        "Alexa.Presentation.HTML.Message",
    ]

    /// Whether `type` takes a spoken answer.
    static func takesSpeech(_ type: String) -> Bool { type == "IntentRequest" || names.contains(type) }

    /// Whether `name` belongs to a family of request types, so that it can be no intent.
    static func isSilentFamily(_ name: String) -> Bool {
        silentFamilies.contains { name.hasPrefix($0) }
    }

    private static let silentFamilies = [
        "AlexaSkillEvent.", "Alexa.", "AudioPlayer.", "PlaybackController.", "Messaging.", "System.", "Display.",
        "AlexaHouseholdListEvent.", "Reminders.", "GameEngine.", "CustomInterfaceController.", "Dialog.",
        "Connections.",
    ]
}
