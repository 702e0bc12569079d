/// What a user is told when linking fails; the company's own wording, by reason code, comes first.
enum LinkText: String, Hashable, Sendable, CaseIterable {
    /// Alexa cannot be connected to at present.
    case problem
    /// Alexa failed.
    case unexpected
    /// Alexa is unavailable for a while.
    case momentary
    /// The attempt is void.
    case startAgain
    /// Somebody else began the attempt.
    case otherUser
    /// The link that is to be ended is not there.
    case gone

    func text(_ language: PageLanguage) -> String {
        let words = words
        return switch language {
        case .english: words.0
        case .german: words.1
        case .japanese: words.2
        }
    }

    private var words: (String, String, String) {
        switch self {
        case .problem:
            (
                "We can't connect to Alexa to link your account right now. Please try later.",
                "Wir können dein Konto gerade nicht mit Alexa verbinden. Bitte versuche es später.",
                "現在、Alexaに接続してアカウントをリンクすることができません。後でもう一度お試しください。"
            )
        case .unexpected:
            (
                "Alexa had an unexpected problem while linking your account. Please try again.",
                "Alexa hatte beim Verbinden deines Kontos ein unerwartetes Problem. Bitte versuche es noch einmal.",
                "アカウントのリンク中にAlexaで予期しない問題が発生しました。もう一度お試しください。"
            )
        case .momentary:
            (
                "Alexa is briefly unavailable, so your account was not linked. Please try again later.",
                "Alexa ist kurz nicht erreichbar, dein Konto wurde nicht verbunden. Bitte versuche es später noch einmal.",
                "Alexaが一時的に利用できないため、アカウントはリンクされませんでした。後でもう一度お試しください。"
            )
        case .startAgain:
            (
                "This attempt to link your account is no longer valid. Please start again.",
                "Dieser Versuch, dein Konto zu verbinden, gilt nicht mehr. Bitte beginne noch einmal.",
                "このリンク操作は無効になりました。最初からやり直してください。"
            )
        case .otherUser:
            (
                "Someone else started linking here. Sign in with your own account and start again.",
                "Hier hat jemand anderes mit dem Verbinden begonnen. Melde dich mit deinem Konto an und beginne noch einmal.",
                "別のユーザーがリンクを開始しました。ご自身のアカウントでログインし、最初からやり直してください。"
            )
        case .gone: ("There is no such link any more.", "Diese Verbindung gibt es nicht mehr.", "このリンクはすでに解除されています。")
        }
    }
}

/// The words for users: the company's where it has some for the reason, else ours.
struct LinkTexts: Sendable {
    let ofCompany: [String: LocalizedText]

    /// What the user is told; nil where the user decided.
    func message(for fault: LinkFault, acceptLanguage: String?) -> String? {
        guard let text = fault.message else { return nil }
        let language = PageLanguage(wished: [], acceptLanguage: acceptLanguage)
        // A language that we do not speak ourselves is taken too where the company's wording has it.
        let first = acceptLanguage?.prefix { $0 != "," && $0 != ";" }.filter { $0 != " " }
        let locale = first.map { String($0) } ?? language.rawValue
        return ofCompany[fault.code]?.text(for: locale, defaultLocale: language.rawValue) ?? text.text(language)
    }
}
