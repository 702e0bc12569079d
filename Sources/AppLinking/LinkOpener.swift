public import Foundation

/// Decides which way the user goes to Amazon: into the Alexa app, or else to Login with Amazon.
///
/// It opens nothing itself. Feed it what happened, do what it returns.
public struct LinkOpener: Hashable, Sendable {
    /// What the app does next.
    public enum Step: Hashable, Sendable {
        /// Open the address with the universal-links-only option, and report whether that worked.
        case openAlexaApp(URL)
        /// Show the address in an authentication session that ends at this redirect URL.
        case openLoginWithAmazon(URL, redirect: URL)
        /// Wait: the user comes back by a universal link.
        case waitForReturn
        /// Hand this address to ``AlexaLinkHandler``.
        case handle(URL)
        /// The user gave up: back to the start, without an error.
        case stop
        /// Show that linking does not work now.
        case fail
    }

    private enum Phase: Hashable { case idle, openingAlexaApp, away, inSession, ended }

    private let start: LinkStart
    private let redirect: URL
    private var phase = Phase.idle

    /// An opener for one link.
    ///
    /// - Parameters:
    ///   - start: The addresses from the service.
    ///   - redirect: The redirect URL that the user comes back to.
    public init(start: LinkStart, redirect: URL) {
        self.start = start
        self.redirect = redirect
    }

    /// The user pressed the button.
    public mutating func begin() -> Step {
        phase = .openingAlexaApp
        return .openAlexaApp(start.alexaAppURL)
    }

    /// The system opened the Alexa app, or found none that takes the link.
    public mutating func alexaApp(opened: Bool) -> Step {
        guard phase == .openingAlexaApp else { return .waitForReturn }
        phase = opened ? .away : .inSession
        return opened ? .waitForReturn : .openLoginWithAmazon(start.loginWithAmazonURL, redirect: redirect)
    }

    /// The authentication session ended: at the redirect URL, by the user, or because it could not start.
    public mutating func session(ended end: SessionEnd) -> Step {
        // A universal link may have come first; then the session is closed by the app, and that is no end of its own.
        guard phase == .inSession else { return .waitForReturn }
        phase = .ended
        switch end {
        case .redirected(let url): return .handle(url)
        case .closedByUser: return .stop
        case .failed: return .fail
        }
    }

    /// The user came back by a universal link, whichever way the opener had chosen.
    public mutating func returned(to url: URL) -> Step {
        phase = .ended
        return .handle(url)
    }

    /// How an authentication session ended.
    public enum SessionEnd: Hashable, Sendable {
        /// At the redirect URL.
        case redirected(URL)
        /// The user closed it.
        case closedByUser
        /// It could not start, or broke.
        case failed
    }
}
