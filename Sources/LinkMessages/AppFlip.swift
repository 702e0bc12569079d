/// Google's App Flip: the Google app opens ours with a request, and ours opens Google's with the result.
public enum AppFlip {
    private static let host = "oauth-redirect.googleusercontent.com"
    private static let sandboxHost = "oauth-redirect-sandbox.googleusercontent.com"
    private static let bundles = [
        "com.google.Chromecast", "com.google.Chromecast.dev", "com.google.Chromecast.enterprise",
        "com.google.OPA", "com.google.OPA.dev", "com.google.OPA.enterprise",
    ]

    /// The links of Google's apps that a result may be sent to, compared as whole texts: twelve, or six without the
    /// sandbox.
    public static func appAddresses(sandbox: Bool) -> [String] {
        hosts(sandbox).flatMap { host in bundles.map { "https://\(host)/a/\($0)" } }
    }

    /// Where the browser flow of a project comes back, which Google falls back to.
    public static func browserAddresses(projectID: String, sandbox: Bool) -> [String] {
        hosts(sandbox).map { "https://\($0)/r/\(projectID)" }
    }

    private static func hosts(_ sandbox: Bool) -> [String] { sandbox ? [host, sandboxHost] : [host] }
}

/// What Google's app asks for.
public struct AppFlipRequest: Hashable, Sendable {
    /// The id that we gave Google.
    public let clientID: String
    /// Google's link, on the list of ``AppFlip/appAddresses(sandbox:)``.
    public let redirectURI: String
    /// What must go back unchanged.
    public let state: String
    /// What is asked for; empty where Google names nothing.
    public let scopes: [String]

    /// Reads and judges the link that opened the app, or its query alone.
    ///
    /// - Parameters:
    ///   - text: The whole link, or its query.
    ///   - clientID: The id that we gave Google.
    ///   - sandbox: Whether Google's sandbox may be answered too.
    /// - Throws: ``AppFlipFault``, which says whether Google's app may be opened with it.
    public init(parsing text: String, clientID: String, sandbox: Bool = true) throws(AppFlipFault) {
        guard text.utf8.count <= LinkRedirect.maximumLength, let parameters = queryParameters(of: text) else {
            throw .malformed
        }
        func values(_ name: String) -> [String] { parameters.filter { $0.name == name }.map(\.value) }
        // First of all the place that the answer goes to: to a foreign one goes nothing, not even an error.
        let places = values("redirect_uri")
        guard let redirectURI = places.first else { throw .redirectMissing }
        guard places.count == 1, AppFlip.appAddresses(sandbox: sandbox).contains(redirectURI) else {
            throw .redirectRefused
        }
        let states = values("state")
        let state = states.count == 1 && isPrintable(states[0]) ? states[0] : nil
        func invalid(_ problem: AppFlipFault.Problem) -> AppFlipFault {
            .invalid(problem, redirectURI: redirectURI, state: state)
        }
        let clients = values("client_id")
        let scopes = values("scope")
        guard states.count < 2, clients.count < 2, scopes.count < 2 else { throw invalid(.repeated) }
        guard let state else { throw invalid(.noState) }
        guard clients == [clientID] else { throw invalid(clients.isEmpty ? .noClient : .wrongClient) }
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.state = state
        self.scopes = (scopes.first ?? "").split(separator: " ").map(String.init)
    }

    /// What opens Google's app with `result`.
    public func url(for result: AppFlipResult) -> String { result.url(redirectURI: redirectURI, state: state) }
}

/// Why the link is no request that can be met.
public enum AppFlipFault: Error, Hashable, Sendable {
    /// What is wrong with a request whose sender may hear of it.
    public enum Problem: Hashable, Sendable {
        /// There is no `client_id`.
        case noClient
        /// Another client's id.
        case wrongClient
        /// There is no `state`, or an empty one.
        case noState
        /// A parameter comes more than once.
        case repeated
    }

    /// Too long, a broken escape, or bytes that are no text. Nothing may be opened.
    case malformed
    /// There is no `redirect_uri`: this may be another link of the app. Nothing may be opened.
    case redirectMissing
    /// A `redirect_uri` that is not Google's. Nothing may be opened.
    case redirectRefused
    /// The redirect is Google's, so that its app is told; see ``resultURL``.
    case invalid(Problem, redirectURI: String, state: String?)

    /// What tells Google's app, which then tries its browser flow; nil where nothing may be opened.
    public var resultURL: String? {
        guard case .invalid(_, let redirectURI, let state) = self else { return nil }
        return AppFlipResult.error(.invalidRequest, description: nil).url(redirectURI: redirectURI, state: state)
    }
}

/// How App Flip can fail, by Google's names.
public enum AppFlipError: String, Hashable, Sendable, CaseIterable {
    /// No sign-in, another account wanted, no network: Google goes on in the browser.
    case cancelled
    /// A wrong request: Google goes on in the browser.
    case invalidRequest = "invalid_request"
    /// Trying again is of no use, as with a disabled account: Google gives up.
    case unrecoverable
    /// The user said no: Google gives up.
    case accessDenied = "access_denied"

    /// Whether Google goes on in the browser.
    public var isRecoverable: Bool { self == .cancelled || self == .invalidRequest }
}

/// What Google's app is told.
public enum AppFlipResult: Hashable, Sendable {
    /// A code that our server made for this user, for Google's client and this redirect.
    case code(String)
    /// That it failed.
    case error(AppFlipError, description: String?)

    /// The address to open, as a universal link only so that no browser gets the code.
    ///
    /// - Parameters:
    ///   - redirectURI: An address of ``AppFlip/appAddresses(sandbox:)``.
    ///   - state: Google's state; nil only where none came.
    /// - Returns: The address.
    public func url(redirectURI: String, state: String?) -> String {
        var parameters: [(name: String, value: String)]
        switch self {
        case .code(let code): parameters = [("code", code)]
        case .error(let error, let description):
            parameters = [("error", error.rawValue)]
            if let description { parameters.append(("error_description", description)) }
        }
        if let state { parameters.append(("state", state)) }
        return address(redirectURI, adding: parameters)
    }
}
