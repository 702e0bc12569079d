public import Foundation

/// The consent screen of App Flip: what Google's rules have on it, in the order to show it.
public struct AppFlipConsent: Hashable, Sendable {
    /// One row of the screen.
    public enum Row: Hashable, Sendable {
        /// The company's logo.
        case logo
        /// What this is about.
        case title(String)
        /// What Google may do afterwards; it may not be left out.
        case statement(String)
        /// What Google gets, a line each.
        case data(title: String, lines: [String])
        /// Who is signed in, and the words of the button to change that. Its press is ``AppFlipDecision/cancel`` where
        /// the screen must close for it.
        case account(String, change: String)
        /// A link to Google's privacy policy.
        case privacy(String, URL)
        /// How to end this again.
        case unlink(String, URL?)
        /// The button that links; its press is ``AppFlipDecision/agree``.
        case agree(String)
        /// The button that does not; its press is ``AppFlipDecision/deny``.
        case cancel(String)
    }

    /// The rows from top to bottom.
    public let rows: [Row]
    /// What to show once the service has agreed, before Google's app is opened by itself.
    public let success: String

    /// The screen for one user.
    ///
    /// The words say "Google", never one of its products.
    ///
    /// - Parameters:
    ///   - company: The company's or the integration's name.
    ///   - user: The name of who is signed in.
    ///   - data: What Google gets, in the company's words and the screen's language.
    ///   - unlinkURL: The company's page to end links.
    ///   - language: The language.
    public init(
        company: String, user: String, data: [String] = [], unlinkURL: URL? = nil,
        language: LinkLanguage = LinkLanguage()
    ) {
        var rows: [Row] = [
            .logo,
            .title(
                language.choose(
                    "Link \(company) with Google", "\(company) mit Google verbinden", "\(company)とGoogleをリンク")),
            .statement(
                language.choose(
                    "By linking, you allow Google to control your devices.",
                    "Mit der Verbindung erlaubst du Google, deine Geräte zu steuern.",
                    "リンクすると、Googleがお使いのデバイスを操作できるようになります。")),
        ]
        if !data.isEmpty {
            let title = language.choose("Google receives:", "Google erhält:", "Googleと共有される情報:")
            rows.append(.data(title: title, lines: data))
        }
        rows.append(
            .account(
                language.choose("Signed in as \(user)", "Angemeldet als \(user)", "\(user)としてログイン中"),
                change: language.choose("Use another account", "Anderes Konto verwenden", "別のアカウントを使う")))
        if let policy = URL(string: "https://policies.google.com/privacy") {
            let words = language.choose(
                "Google privacy policy", "Datenschutzerklärung von Google", "Googleのプライバシーポリシー")
            rows.append(.privacy(words, policy))
        }
        let unlink = language.choose(
            "You can unlink at any time in your account here, or in your Google account.",
            "Du kannst die Verbindung jederzeit hier in deinem Konto oder in deinem Google-Konto trennen.",
            "リンクは、こちらのアカウントまたはGoogleアカウントからいつでも解除できます。")
        rows.append(.unlink(unlink, unlinkURL))
        rows.append(.agree(language.choose("Agree and link", "Zustimmen und verbinden", "同意してリンク")))
        rows.append(.cancel(language.choose("Cancel", "Abbrechen", "キャンセル")))
        self.rows = rows
        success = language.choose(
            "\(company) is linked with Google", "\(company) ist mit Google verbunden", "\(company)とGoogleをリンクしました")
    }
}
