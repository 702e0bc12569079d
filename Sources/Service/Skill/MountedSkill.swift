import Alexa
import HTTP

/// A skill with the answers that are made once and given often.
///
/// A class, since every request passes it along, and a copy of all its parts would cost more than it says.
final class MountedSkill: Sendable {
    let skill: Skill
    let builtIn: BuiltInAnswers
    private let apologies: [String: HTTPResponse]

    /// The languages that Alexa speaks.
    private static let locales = [
        "ar-SA", "de-DE", "en-AU", "en-CA", "en-GB", "en-IN", "en-US", "es-ES", "es-MX", "es-US", "fr-CA", "fr-FR",
        "hi-IN", "it-IT", "ja-JP", "nl-NL", "pt-BR",
    ]

    private static let emptyAnswer = HTTPResponse.skill(Array(#"{"version":"1.0","response":{}}"#.utf8))

    init(_ skill: Skill, texts: ServiceTexts) {
        self.skill = skill
        let builtIn = BuiltInAnswers(texts: texts, defaultLocale: skill.intents?.defaultLocale ?? Locales.fallback)
        self.builtIn = builtIn
        apologies = Dictionary(
            Self.locales.map { ($0, Self.encoded(builtIn.closing(.apology, $0))) },
            uniquingKeysWith: { first, _ in first })
    }

    /// What leaves if the time is up before the answer is there.
    func lateAnswer(to envelope: RequestEnvelope) -> HTTPResponse {
        if case .skillEvent = envelope.request { return .eventNotTaken }
        return switch envelope.permittedAnswer {
        case .full:
            envelope.locale.flatMap { apologies[$0] } ?? Self.encoded(builtIn.closing(.apology, envelope.locale))
        case .limited(.canFulfillIntent):
            Self.encoded(SkillResponse(canFulfillIntent: CanFulfillIntent(canFulfill: .no)))
        case .limited(.directives), .empty: Self.emptyAnswer
        }
    }

    /// An answer of the service's own; if the company's words break a rule of Alexa's, an empty one.
    func answer(_ response: SkillResponse) -> HTTPResponse { Self.encoded(response) }

    private static func encoded(_ response: SkillResponse) -> HTTPResponse {
        guard
            let body = try? response.encoded(
                permitted: response.canFulfillIntent == nil ? .full : .limited(.canFulfillIntent))
        else { return emptyAnswer }
        return .skill(body)
    }
}
