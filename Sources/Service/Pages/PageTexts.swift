/// The languages that the pages speak.
enum PageLanguage: String, Sendable, CaseIterable {
    case english = "en"
    case german = "de"
    case japanese = "ja"

    /// The best of what the client named (`ui_locales`, `user_locale`), then of `Accept-Language` (RFC 9110 §12.5.4).
    init(wished: [String], acceptLanguage: String?) {
        for locale in wished {
            if let language = Self.spoken(locale[...]) {
                self = language
                return
            }
        }
        var best: (language: PageLanguage, quality: Int)?
        for part in (acceptLanguage ?? "").split(separator: ",").prefix(20) {
            let pieces = part.split(separator: ";")
            guard let name = pieces.first, let language = Self.spoken(name.drop { $0 == " " }) else { continue }
            let quality = pieces.dropFirst().first.map(Self.thousandths) ?? 1000
            if quality > best?.quality ?? 0 { best = (language, quality) }
        }
        self = best?.language ?? .english
    }

    private static func spoken(_ locale: Substring) -> PageLanguage? {
        let language = locale.prefix { $0 != "-" && $0 != "_" && $0 != " " }
        return PageLanguage(rawValue: language.lowercased())
    }

    /// `q=0.8` as 800; 0 where it is no quality.
    private static func thousandths(_ parameter: Substring) -> Int {
        let text = parameter.filter { $0 != " " }.lowercased()
        guard text.hasPrefix("q="), let value = Double(text.dropFirst(2)), (0...1).contains(value) else { return 0 }
        return Int(value * 1000)
    }
}

/// What the pages say.
enum PageText: String, Sendable, CaseIterable {
    case signInTitle, signInLead, username, password, signIn, problem, usernameMissing, passwordMissing
    case wrongCredentials, tooManyAttempts, accountLocked
    case consentTitle, consentLead, googleControls, signedInAs, otherAccount, agree, agreeAndLink, cancel, unlinkHint
    case clientPrivacy, privacy, support
    case linksTitle, linksLead, linksEmpty, linkedOn, removeLink, signOut, signedOutTitle, signedOutLead
    case expiredTitle, expiredLead, cookieTitle, cookieLead, goOn, busyTitle, busyLead, faultTitle, faultLead
    case repeatedLead

    /// The text, with `{name}` replaced by the values.
    func text(_ language: PageLanguage, _ values: [String: String] = [:]) -> String {
        let words = words
        var text =
            switch language {
            case .english: words.0
            case .german: words.1
            case .japanese: words.2
            }
        for (name, value) in values {
            text = text.split(separator: "{\(name)}", omittingEmptySubsequences: false).joined(separator: value)
        }
        return text
    }

    private var words: (String, String, String) {
        switch self {
        case .signInTitle: ("Sign in", "Anmelden", "ログイン")
        case .signInLead:
            ("With your {company} account.", "Mit deinem Konto bei {company}.", "{company}のアカウントでログインしてください。")
        case .username: ("User name", "Benutzername", "ユーザー名")
        case .password: ("Password", "Passwort", "パスワード")
        case .signIn: ("Sign in", "Anmelden", "ログイン")
        case .problem: ("That did not work", "Das hat nicht geklappt", "ログインできませんでした")
        case .usernameMissing: ("Enter your user name", "Gib deinen Benutzernamen ein", "ユーザー名を入力してください")
        case .passwordMissing: ("Enter your password", "Gib dein Passwort ein", "パスワードを入力してください")
        case .wrongCredentials:
            (
                "User name or password is not right", "Benutzername oder Passwort stimmt nicht",
                "ユーザー名またはパスワードが正しくありません"
            )
        case .tooManyAttempts:
            (
                "Too many attempts. Wait a few minutes, then try again.",
                "Zu viele Versuche. Warte einige Minuten und versuche es dann noch einmal.",
                "試行回数が多すぎます。数分待ってから、もう一度お試しください。"
            )
        case .accountLocked:
            (
                "This account is locked. Please contact support.",
                "Dieses Konto ist gesperrt. Bitte wende dich an den Support.",
                "このアカウントはロックされています。サポートにお問い合わせください。"
            )
        case .consentTitle:
            ("Link {company} with {client}", "{company} mit {client} verbinden", "{company}と{client}をリンク")
        case .consentLead: ("{client} will be able to:", "{client} darf dann:", "{client}に次の操作を許可します。")
        case .googleControls:
            (
                "By linking, you allow Google to control your devices.",
                "Mit der Verbindung erlaubst du Google, deine Geräte zu steuern.",
                "リンクすると、Googleがお使いのデバイスを操作できるようになります。"
            )
        case .signedInAs: ("Signed in as", "Angemeldet als", "ログイン中")
        case .otherAccount: ("Use another account", "Anderes Konto verwenden", "別のアカウントを使う")
        case .agree: ("Allow", "Erlauben", "許可する")
        case .agreeAndLink: ("Agree and link", "Zustimmen und verbinden", "同意してリンク")
        case .cancel: ("Cancel", "Abbrechen", "キャンセル")
        case .unlinkHint:
            (
                "You can remove the link at any time under “My links”.",
                "Unter „Meine Verbindungen“ kannst du die Verbindung jederzeit trennen.",
                "リンクは「マイリンク」からいつでも解除できます。"
            )
        case .clientPrivacy: ("{client} privacy policy", "Datenschutz bei {client}", "{client}のプライバシーポリシー")
        case .privacy: ("Privacy", "Datenschutz", "プライバシー")
        case .support: ("Support", "Hilfe", "サポート")
        case .linksTitle: ("My links", "Meine Verbindungen", "マイリンク")
        case .linksLead:
            (
                "These services may use your account.", "Diese Dienste dürfen dein Konto nutzen.",
                "次のサービスがアカウントを利用できます。"
            )
        case .linksEmpty:
            ("No service uses your account.", "Kein Dienst nutzt dein Konto.", "アカウントを利用しているサービスはありません。")
        case .linkedOn: ("Linked on {date}", "Verbunden am {date}", "リンク日: {date}")
        case .removeLink: ("Remove link", "Verbindung trennen", "リンクを解除")
        case .signOut: ("Sign out", "Abmelden", "ログアウト")
        case .signedOutTitle: ("You are signed out", "Du bist abgemeldet", "ログアウトしました")
        case .signedOutLead:
            (
                "Services that you linked go on working.", "Verbundene Dienste funktionieren weiter.",
                "リンク済みのサービスは引き続き利用できます。"
            )
        case .expiredTitle: ("This page is too old", "Diese Seite ist zu alt", "ページの有効期限が切れました")
        case .expiredLead:
            (
                "Nothing is lost: go on from where you were.", "Nichts ist verloren: Mach da weiter, wo du warst.",
                "入力前の画面から続けられます。"
            )
        case .cookieTitle: ("Cookies are needed", "Cookies werden gebraucht", "Cookieが必要です")
        case .cookieLead:
            (
                "Your browser did not send our cookie. Allow cookies for this site, then go on.",
                "Dein Browser hat unser Cookie nicht gesendet. Erlaube Cookies für diese Seite und mach dann weiter.",
                "Cookieが送信されませんでした。このサイトのCookieを許可してから、続けてください。"
            )
        case .goOn: ("Continue", "Weiter", "続ける")
        case .busyTitle: ("Just a moment", "Einen Moment bitte", "混み合っています")
        case .busyLead:
            (
                "Many people are signing in. Please try again in a few seconds.",
                "Gerade melden sich viele an. Bitte versuche es in ein paar Sekunden noch einmal.",
                "数秒待ってから、もう一度お試しください。"
            )
        case .faultTitle: ("This link does not work", "Dieser Link funktioniert nicht", "このリンクは利用できません")
        case .faultLead:
            (
                "The app or website that sent you here made a mistake. Nothing was shared. Go back there and try again.",
                "Die App oder Website, von der du kommst, hat einen Fehler gemacht. "
                    + "Es wurde nichts weitergegeben. Geh dorthin zurück und versuche es noch einmal.",
                "呼び出し元のアプリまたはサイトに問題があります。情報は共有されていません。元の画面に戻って、もう一度お試しください。"
            )
        case .repeatedLead:
            (
                "For its developers: {name} is in the address more than once. The authorization address in the console "
                    + "has to be entered without parameters.",
                "Für die Entwickler: {name} steht mehrmals in der Adresse. Die Adresse der Autorisierung wird in der "
                    + "Konsole ohne Parameter eingetragen.",
                "開発者の方へ: アドレスに{name}が複数回含まれています。コンソールの認証画面のURIはパラメーターなしで入力してください。"
            )
        }
    }
}
