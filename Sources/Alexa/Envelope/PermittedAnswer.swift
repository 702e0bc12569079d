/// What an answer may hold, by the type of its request.
public enum PermittedAnswer: Hashable, Sendable {
    /// Speech, cards, directives and session attributes.
    case full
    /// Nothing: an answer that speaks is not accepted.
    case empty
    /// Only what is named.
    case limited(Limit)

    /// What a limited answer may hold.
    public enum Limit: Hashable, Sendable {
        /// Only `canFulfillIntent`.
        case canFulfillIntent
        /// Only directives of the family of that prefix, `AudioPlayer.` for example.
        case directives(prefix: String)
    }

    /// What the answer to a request of `type` may hold; to an unknown type nothing.
    public init(requestType type: String) {
        switch type {
        case "LaunchRequest", "IntentRequest", "SessionResumedRequest", "Connections.Response", "Connections.Request",
            "Display.ElementSelected", "Alexa.Presentation.APL.UserEvent", "Alexa.Presentation.APLT.UserEvent",
            "Alexa.Presentation.HTML.Message", "GameEngine.InputHandlerEvent",
            "CustomInterfaceController.EventsReceived", "CustomInterfaceController.Expired", "Dialog.API.Invoked",
            "Dialog.InputRequest":
            self = .full
        case "CanFulfillIntentRequest": self = .limited(.canFulfillIntent)
        case "AudioPlayer.PlaybackStarted", "AudioPlayer.PlaybackFinished", "AudioPlayer.PlaybackNearlyFinished",
            "AudioPlayer.PlaybackFailed", "PlaybackController.PlayCommandIssued",
            "PlaybackController.PauseCommandIssued", "PlaybackController.NextCommandIssued",
            "PlaybackController.PreviousCommandIssued":
            self = .limited(.directives(prefix: "AudioPlayer."))
        case "Alexa.Presentation.APL.LoadIndexListData", "Alexa.Presentation.APL.LoadTokenListData":
            self = .limited(.directives(prefix: "Alexa.Presentation.APL."))
        default: self = .empty
        }
    }
}
