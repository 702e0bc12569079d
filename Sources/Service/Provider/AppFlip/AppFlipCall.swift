import JSON
import OAuth

/// What the company's app asks on behalf of one of Google's apps, as it was sent.
struct AppFlipCall: Sendable {
    /// What the user chose.
    enum Decision: String, Sendable {
        case agree, deny, cancel
    }

    let redirectURI: String
    let state: String?
    let clientID: String?
    let scope: String?
    let decision: Decision?

    /// Reads a body; what is missing or of another kind is nil, and judged once it is known where to tell.
    ///
    /// - Throws: ``AppFlipCallFault`` where there is no address to tell.
    init(_ body: [UInt8], maximumDepth: Int) throws(AppFlipCallFault) {
        let root: JSONElement
        do throws(JSONError) { root = try JSONDocument(parsing: body, maximumDepth: maximumDepth).root } catch {
            throw .notJSON(error.reason)
        }
        guard root.kind == .object else { throw .member("the body is not an object") }
        // Of two addresses, or two states, nobody could say which is meant.
        guard root.repeatedMember == nil else { throw .member("a member is given twice") }
        guard let redirectURI = root.string("redirectURI") else { throw .member("redirectURI is missing, or no text") }
        self.redirectURI = redirectURI
        state = root.string("state")
        clientID = root.string("clientID")
        scope = root.string("scope")
        decision = root.string("decision").flatMap(Decision.init)
    }
}

/// Why there is nothing that the app could open: the address is none of Google's, or is not known.
enum AppFlipCallFault: Error, Hashable, Sendable {
    case notJSON(String)
    case member(String)
    case redirectUnknown
    /// The token is of a client that is no app of the company.
    case wrongClient

    var reasonCode: String {
        switch self {
        case .notJSON: "appFlip.notJSON"
        case .member: "appFlip.member"
        case .redirectUnknown: "appFlip.redirectUnknown"
        case .wrongClient: TokenRejection.wrongClient.reasonCode
        }
    }

    var detail: String {
        switch self {
        case .notJSON(let reason), .member(let reason): reason
        case .redirectUnknown: "redirectURI is not one of Google's apps'"
        case .wrongClient: "The access token is not valid here"
        }
    }
}

/// Why Google's app is told an error instead of a code.
enum AppFlipRefusal: Error, Hashable, Sendable {
    /// It is not Google's client that asks.
    case clientUnknown
    /// A parameter is missing, too long, or none of its words.
    case parameter(String)
    /// A scope that Google's client may not have.
    case scope
    case cancelled
    case denied
    /// The app has no user, or none any more.
    case session(TokenRejection)
    case userDisabled
    case store
    /// The company's provider gives no code.
    case noCode

    /// What Google's app makes of it: after `cancelled` and `invalid_request` it tries the page in the browser, after
    /// the others it gives up.
    var error: String {
        switch self {
        // The page in the browser can tell the user, or Google's developer, what is wrong with a scope.
        case .clientUnknown, .parameter, .scope: "invalid_request"
        case .denied: "access_denied"
        case .userDisabled: "unrecoverable"
        // A store or a provider that does not answer now may answer the browser a moment later.
        case .cancelled, .session, .store, .noCode: "cancelled"
        }
    }

    var reasonCode: String {
        switch self {
        case .clientUnknown: "appFlip.clientUnknown"
        case .parameter: "appFlip.parameter"
        case .scope: "appFlip.scope"
        case .cancelled: "appFlip.cancelled"
        case .denied: "appFlip.denied"
        case .session(let rejection): rejection.reasonCode
        case .userDisabled: "appFlip.userDisabled"
        case .store: "appFlip.store"
        case .noCode: "appFlip.noCode"
        }
    }

    /// For Google's log; nothing of the user.
    var description: String? {
        switch self {
        case .clientUnknown: "client_id is not the one that was issued to Google"
        case .parameter(let problem): problem
        case .scope: "a scope is not among those that may be asked for"
        case .cancelled, .denied, .session, .userDisabled, .store, .noCode: nil
        }
    }
}
