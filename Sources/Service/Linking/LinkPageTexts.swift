/// What the pages about links with Alexa say.
enum LinkPageText: String, Sendable, CaseIterable {
    case chooseTitle, chooseLead, startLead, startHint, start
    case finishTitle, finishLead, finish
    case doneTitle, doneLead, pendingTitle, pendingLead, lookAgain, backToSite, endedTitle, endedLead
    case failedTitle, startAgain, reference, appTitle, appLead, openApp
    case signInFailedTitle, signInFailedLead
    case alexaSkill, fromApp, fromSite, fromAlexa, unconfirmed, unknownNow, removeAll, addLink

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
        case .chooseTitle, .chooseLead, .startLead, .startHint, .start, .finishTitle, .finishLead, .finish: begun
        case .doneTitle, .doneLead, .pendingTitle, .pendingLead, .lookAgain, .backToSite, .endedTitle, .endedLead: ended
        case .failedTitle, .startAgain, .reference, .appTitle, .appLead, .openApp, .signInFailedTitle,
            .signInFailedLead:
            failed
        case .alexaSkill, .fromApp, .fromSite, .fromAlexa, .unconfirmed, .unknownNow, .removeAll, .addLink: listed
        }
    }

    private var begun: (String, String, String) {
        switch self {
        case .chooseTitle: ("Link {company} with Alexa", "{company} mit Alexa verbinden", "{company}とAlexaをリンク")
        case .chooseLead:
            (
                "Choose what to link. Alexa asks for each one.",
                "Wähle, was du verbinden willst. Alexa fragt jedes Mal.",
                "リンクするスキルを選択してください。スキルごとにAlexaが確認します。"
            )
        case .startLead:
            (
                "Alexa can then use your {company} account.", "Alexa kann dann dein Konto bei {company} nutzen.",
                "Alexaで{company}のアカウントを利用できるようになります。"
            )
        case .startHint:
            (
                "Next, Amazon asks whether you agree. You can remove the link at any time.",
                "Als Nächstes fragt Amazon, ob du zustimmst. Du kannst die Verbindung jederzeit trennen.",
                "次に、Amazonの画面で同意を確認します。リンクはいつでも解除できます。"
            )
        case .start: ("Link with Alexa", "Mit Alexa verbinden", "Alexaとリンク")
        case .finishTitle: ("One last step", "Noch ein Schritt", "あと1ステップです")
        case .finishLead:
            (
                "Amazon agreed. Is this the account that Alexa may use?",
                "Amazon hat zugestimmt. Darf Alexa dieses Konto nutzen?",
                "Amazonでの同意が完了しました。このアカウントをAlexaとリンクしますか?"
            )
        default: ("Finish linking", "Verbindung abschließen", "リンクを完了する")
        }
    }

    private var ended: (String, String, String) {
        switch self {
        case .doneTitle: ("Your account is linked", "Dein Konto ist verbunden", "アカウントをリンクしました")
        case .doneLead:
            (
                "Alexa can now use your {company} account with “{skill}”.",
                "Alexa kann dein Konto bei {company} jetzt mit „{skill}“ nutzen.",
                "Alexaの「{skill}」で{company}のアカウントを利用できます。"
            )
        case .pendingTitle: ("Almost done", "Fast fertig", "もうすぐ完了します")
        case .pendingLead:
            (
                "Alexa has not confirmed the link yet. That may take a few minutes; you need not wait here.",
                "Alexa hat die Verbindung noch nicht bestätigt. Das kann einige Minuten dauern; du musst nicht warten.",
                "Alexaからの確認を待っています。数分かかることがあります。このページを閉じてもかまいません。"
            )
        case .lookAgain: ("Look again", "Noch einmal nachsehen", "もう一度確認する")
        case .backToSite: ("Continue", "Weiter", "続ける")
        case .endedTitle: ("There is no such link", "Diese Verbindung gibt es nicht", "リンクが見つかりません")
        default:
            (
                "It was removed, or Alexa did not confirm it. You can link again.",
                "Sie wurde getrennt, oder Alexa hat sie nicht bestätigt. Du kannst dein Konto neu verbinden.",
                "解除されたか、Alexaで確認できませんでした。もう一度リンクできます。"
            )
        }
    }

    private var failed: (String, String, String) {
        switch self {
        case .failedTitle:
            ("Your account was not linked", "Dein Konto wurde nicht verbunden", "アカウントはリンクされませんでした")
        case .startAgain: ("Start again", "Von vorn beginnen", "最初からやり直す")
        case .reference: ("For support: {id}", "Für den Support: {id}", "お問い合わせ番号: {id}")
        case .appTitle: ("Go back to the app", "Zurück zur App", "アプリに戻ってください")
        case .appLead:
            (
                "Linking with Alexa goes on in the {company} app. Open it and start again there.",
                "Das Verbinden mit Alexa geht in der App von {company} weiter. Öffne sie und beginne dort noch einmal.",
                "Alexaとのリンクは{company}のアプリで行います。アプリを開いて、もう一度お試しください。"
            )
        case .openApp: ("Open the app", "App öffnen", "アプリを開く")
        case .signInFailedTitle: ("You are not signed in", "Du bist nicht angemeldet", "ログインできませんでした")
        default:
            (
                "The sign-in did not come to an end. Nothing was changed.",
                "Die Anmeldung wurde nicht abgeschlossen. Es wurde nichts geändert.",
                "ログインが完了しませんでした。変更はありません。"
            )
        }
    }

    private var listed: (String, String, String) {
        switch self {
        case .alexaSkill: ("Alexa: {skill}", "Alexa: {skill}", "Alexa: {skill}")
        case .fromApp: ("Linked on {date} in the app", "In der App verbunden am {date}", "アプリでリンク: {date}")
        case .fromSite:
            ("Linked on {date} on the website", "Auf der Website verbunden am {date}", "ウェブサイトでリンク: {date}")
        case .fromAlexa:
            ("Linked on {date} in the Alexa app", "In der Alexa-App verbunden am {date}", "Alexaアプリでリンク: {date}")
        case .unconfirmed:
            (
                "Begun on {date}; Alexa has not confirmed it yet", "Begonnen am {date}; Alexa hat noch nicht bestätigt",
                "開始日: {date}(Alexaの確認待ち)"
            )
        case .unknownNow:
            (
                "Alexa cannot be asked now", "Alexa kann gerade nicht gefragt werden", "現在、Alexaで状態を確認できません"
            )
        case .removeAll: ("Remove all links", "Alle Verbindungen trennen", "すべてのリンクを解除")
        default: ("Link with Alexa", "Mit Alexa verbinden", "Alexaとリンク")
        }
    }
}
