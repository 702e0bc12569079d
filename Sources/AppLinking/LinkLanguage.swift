public import LinkMessages
internal import Foundation

/// The languages of this library's own texts.
public enum LinkLanguage: String, Hashable, Sendable, CaseIterable {
    /// English.
    case english = "en"
    /// German.
    case german = "de"
    /// Japanese.
    case japanese = "ja"

    /// The first of the user's languages that is spoken here, else English.
    ///
    /// - Parameter preferred: Tags such as `de-AT`, the best first; by default those of the device.
    public init(preferred: [String]? = nil) {
        for tag in preferred ?? Locale.preferredLanguages {
            let name = tag.prefix { $0 != "-" && $0 != "_" }.lowercased()
            if let language = Self(rawValue: name) {
                self = language
                return
            }
        }
        self = .english
    }

    func choose(_ english: String, _ german: String, _ japanese: String) -> String {
        switch self {
        case .english: english
        case .german: german
        case .japanese: japanese
        }
    }
}

extension LinkErrorKind {
    /// What to tell the user; nil where the user decided and knows.
    public func userMessage(_ language: LinkLanguage) -> String? {
        switch self {
        case .declined: nil
        case .problem:
            language.choose(
                "We can't connect to Alexa to link your account right now. Please try later.",
                "Wir können Alexa gerade nicht erreichen, um dein Konto zu verbinden. Bitte versuche es später noch einmal.",
                "現在Alexaに接続できないため、アカウントをリンクできません。しばらくしてからもう一度お試しください。")
        case .unexpected:
            language.choose(
                "Alexa had an unexpected problem while linking your account. Please try again.",
                "Bei Alexa ist beim Verbinden deines Kontos ein unerwarteter Fehler aufgetreten. Bitte versuche es noch einmal.",
                "アカウントのリンク中にAlexaで予期しない問題が発生しました。もう一度お試しください。")
        case .momentary:
            language.choose(
                "Alexa is briefly unavailable, so your account was not linked. Please try again later.",
                "Alexa ist kurzzeitig nicht verfügbar, dein Konto wurde nicht verbunden. Bitte versuche es später noch einmal.",
                "Alexaが一時的に利用できないため、アカウントはリンクされませんでした。しばらくしてからもう一度お試しください。")
        }
    }

    /// Whether trying again helps, and when.
    public var retry: LinkRetry {
        switch self {
        // Nothing is wrong: who said no may say yes the next time. The service says so too.
        case .declined, .unexpected: .now
        case .problem, .momentary: .later
        }
    }
}

/// Whether trying again helps, and when.
public enum LinkRetry: String, Hashable, Sendable, CaseIterable {
    /// It does not.
    case never
    /// After some minutes.
    case later
    /// At once.
    case now
}
