public import Foundation
public import LinkMessages

/// Reads the universal link by which Google's app opens this one (App Flip).
public struct AppFlipHandler: Sendable {
    private let universalLink: String
    private let clientID: String
    private let allowsSandbox: Bool

    /// A handler for the link that the Google Home Developer Console knows.
    ///
    /// - Parameters:
    ///   - universalLink: The address without a query, such as `https://app.example/app-flip`.
    ///   - clientID: The id that we gave Google.
    ///   - sandbox: Whether Google's sandbox is answered too.
    public init(universalLink: String, clientID: String, sandbox: Bool = false) {
        self.universalLink = universalLink
        self.clientID = clientID
        self.allowsSandbox = sandbox
    }

    /// Judges a link that opened the app.
    public func handle(_ url: URL) -> AppFlipOutcome {
        let text = url.absoluteString
        guard LinkRedirect.isReturn(text, to: universalLink) else { return .other }
        do {
            return .ask(try AppFlipRequest(parsing: text, clientID: clientID, sandbox: allowsSandbox))
        } catch {
            guard let result = error.resultURL.flatMap({ URL(string: $0) }) else { return .refused(error) }
            return .answer(result)
        }
    }
}

/// What to do with a link that opened the app.
public enum AppFlipOutcome: Hashable, Sendable {
    /// Another link of the app.
    case other
    /// Show the consent screen, after a sign-in where nobody is signed in.
    case ask(AppFlipRequest)
    /// Open this address, as a universal link only: the request is faulty, and Google's app is told so.
    case answer(URL)
    /// Open nothing: the request names no address of Google's.
    case refused(AppFlipFault)
}

/// What the user did on the consent screen.
public enum AppFlipDecision: String, Hashable, Sendable, CaseIterable {
    /// Pressed "Agree and link".
    case agree
    /// Pressed "Cancel", the button that refuses: Google gives up.
    case deny
    /// Did not decide: no sign-in, another account wanted, the screen was left. Google goes on in the browser.
    case cancel

    /// What Google's app is told where our service could not be asked.
    public var resultWithoutService: AppFlipResult {
        .error(self == .deny ? .accessDenied : .cancelled, description: nil)
    }
}
