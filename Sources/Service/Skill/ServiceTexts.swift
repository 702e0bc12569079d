/// What the service says by itself, in the company's words where the configuration gives them.
public struct ServiceTexts: Sendable {
    /// The texts that a configuration may word itself, by the key it uses.
    public enum Name: String, Sendable, CaseIterable {
        /// The account is needed and not linked.
        case linkNeeded
        /// The account was linked, and its token is no longer good.
        case tokenExpired
        /// The linked account may not do what is asked.
        case scopeNeeded
        /// A permission of the Alexa app is needed.
        case permissionNeeded
        /// Something behind the skill failed.
        case apology
        /// What to say to somebody who does not know how to go on.
        case help
        /// The end of a conversation.
        case goodbye
    }

    private let companyTexts: [Name: LocalizedText]

    /// The service's texts, `company`'s wording first.
    public init(company: [Name: LocalizedText] = [:]) { companyTexts = company }

    /// The text in the language of `locale`.
    ///
    /// The company's words in that language come first, then ours in that language, then both in the default one.
    public func text(_ name: Name, locale: String?, defaultLocale: String = Locales.fallback) -> String {
        for locale in [locale, defaultLocale].compactMap({ $0 }) {
            let chain = Locales.chain(for: locale)
            if let text = Locales.firstValue(in: companyTexts[name]?.byLocale ?? [:], along: chain) { return text }
            if let text = Locales.firstValue(in: Self.own(name), along: chain) { return text }
        }
        return companyTexts[name]?.byLocale["en"] ?? Self.own(name)["en"] ?? ""
    }

    private static func own(_ name: Name) -> [String: String] {
        switch name {
        case .linkNeeded:
            [
                "en": "To do that, please link your account first. I have sent a card to your Alexa app.",
                "de": "Dafür verbinde bitte zuerst dein Konto. Ich habe eine Karte an deine Alexa-App geschickt.",
                "ja": "ご利用には、まずアカウントのリンクが必要です。Alexaアプリにカードをお送りしました。",
            ]
        case .tokenExpired:
            [
                "en": "The link to your account has expired or was removed. "
                    + "Please link it again with the card in your Alexa app.",
                "de": "Die Verbindung zu deinem Konto ist abgelaufen oder wurde getrennt. "
                    + "Bitte verbinde es über die Karte in deiner Alexa-App neu.",
                "ja": "アカウントのリンクが、期限切れか、または解除されています。Alexaアプリのカードから、もう一度リンクしてください。",
            ]
        case .scopeNeeded:
            [
                "en": "Your account link does not allow that yet. "
                    + "Please link it again with the card in your Alexa app.",
                "de": "Deine Kontoverknüpfung erlaubt das noch nicht. "
                    + "Bitte verbinde dein Konto über die Karte in deiner Alexa-App neu.",
                "ja": "現在のアカウントのリンクでは、その操作は許可されていません。Alexaアプリのカードから、もう一度リンクしてください。",
            ]
        case .permissionNeeded:
            [
                "en": "I need your permission for that. Please grant it with the card in your Alexa app.",
                "de": "Dafür brauche ich deine Erlaubnis. Bitte erteile sie über die Karte in deiner Alexa-App.",
                "ja": "その操作には許可が必要です。Alexaアプリのカードから許可してください。",
            ]
        case .apology:
            [
                "en": "Sorry, that did not work just now. Please try again in a moment.",
                "de": "Das hat gerade leider nicht geklappt. Bitte versuche es gleich noch einmal.",
                "ja": "申し訳ありません。うまくいきませんでした。少し待ってから、もう一度お試しください。",
            ]
        case .help:
            [
                "en": "Just tell me what you would like to do, or say stop. What would you like?",
                "de": "Sag mir einfach, was du tun möchtest, oder sag Stopp. Was möchtest du?",
                "ja": "ご希望をお話しください。終わるときは「ストップ」と言ってください。どうしますか？",
            ]
        case .goodbye: ["en": "Goodbye.", "de": "Tschüss.", "ja": "さようなら。"]
        }
    }
}
