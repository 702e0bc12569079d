public import Foundation
public import LinkMessages

/// Reads the universal links by which the Alexa app and Login with Amazon return to the app.
public struct AlexaLinkHandler: Sendable {
    private let redirectURIs: [String]
    private let states: StateHelper
    private let isStrict: Bool

    /// A handler for the app's redirect URLs.
    ///
    /// - Parameters:
    ///   - redirectURIs: The skill's redirect URLs that this app opens, exactly as they are registered.
    ///   - states: What made the states.
    ///   - strict: Whether to refuse what Amazon's sample refuses: unknown parameters, and an error without description.
    public init(redirectURIs: [String], states: StateHelper, strict: Bool = false) {
        self.redirectURIs = redirectURIs
        self.states = states
        self.isStrict = strict
    }

    /// Judges a link that opened the app.
    ///
    /// Its state is spent: the same link a second time is refused.
    ///
    /// - Returns: What to do with it.
    /// - Throws: What the store of states throws.
    public func handle(_ url: URL) async throws -> AlexaLinkOutcome {
        let text = url.absoluteString
        guard redirectURIs.contains(where: { LinkRedirect.isReturn(text, to: $0) }) else { return .other }
        let redirect: LinkRedirect
        do {
            redirect = try LinkRedirect(parsing: text, strict: isStrict)
        } catch {
            return isStrict ? .other : .refused(.redirect(error))
        }
        switch try await states.spend(redirect.state) {
        case .unknown: return .refused(.stateUnknown)
        case .expired: return .refused(.stateExpired)
        case .valid: break
        }
        let back = LinkReturn(url: text)
        switch redirect {
        case .code: return .complete(back)
        case .error(let error, _, _):
            let kind = LinkErrorKind(redirectError: error)
            return kind == .declined ? .declined(back) : .failed(kind, back)
        }
    }
}

/// What to do with a link that opened the app.
public enum AlexaLinkOutcome: Hashable, Sendable {
    /// Another link of the app.
    case other
    /// Amazon's code came: show progress, and post this.
    case complete(LinkReturn)
    /// The user said no: go back to where the link began, show no error, and post this so that the attempt is closed.
    case declined(LinkReturn)
    /// Amazon failed: show `LinkErrorKind.userMessage(_:)`, and post this for the trace.
    case failed(LinkErrorKind, LinkReturn)
    /// Nothing is posted, since this may be someone else's link: say that linking must be started again.
    case refused(AlexaLinkRefusal)
}

/// Why a link that opened the app is not posted.
public enum AlexaLinkRefusal: Hashable, Sendable {
    /// It is no answer of Amazon's.
    case redirect(LinkRedirectFault)
    /// This app did not begin it, or it came before.
    case stateUnknown
    /// It was begun more than an hour ago.
    case stateExpired

    /// What to tell the user.
    public func userMessage(_ language: LinkLanguage) -> String {
        switch self {
        case .redirect, .stateUnknown:
            language.choose(
                "This link does not belong to a step that you began here. Please start linking again.",
                "Dieser Link gehört zu keinem Schritt, den du hier begonnen hast. Bitte starte das Verbinden noch einmal.",
                "このリンクは、この端末で開始した操作のものではありません。もう一度リンクを開始してください。")
        case .stateExpired:
            language.choose(
                "That took too long. Please start linking again.",
                "Das hat zu lange gedauert. Bitte starte das Verbinden noch einmal.",
                "時間切れになりました。もう一度リンクを開始してください。")
        }
    }
}

/// The address that came back, to be posted as it is; it holds Amazon's code, so it prints as nothing.
public struct LinkReturn: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let url: String

    /// Always the same words.
    public var description: String { "‹address with Amazon's code›" }
    /// Always the same words.
    public var debugDescription: String { description }
    /// Empty.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
