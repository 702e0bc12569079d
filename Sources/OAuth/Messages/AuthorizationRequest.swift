public import HTTP

/// A request for a user's consent that may be asked of the user.
public struct AuthorizationRequest: Sendable {
    /// Who asks.
    public let client: ProviderClient
    /// Where the answer goes, one of the client's addresses.
    public let redirectURI: String
    /// What the client wants back unchanged.
    public let state: String?
    /// What it asks for: what it named, else all that it may have.
    public let scopes: [String]
    /// The proof key's challenge, `S256`.
    public let challenge: String?
    /// The languages that the page should speak, best first.
    public let uiLocales: [String]

    /// Where the answer goes.
    public var target: RedirectTarget { RedirectTarget(redirectURI: redirectURI, state: state) }
}

/// Why a request for consent ends in a page and goes nowhere.
public enum AuthorizationFault: Sendable, Hashable {
    /// The query cannot be decoded, or is not UTF-8.
    case malformed
    /// That parameter came twice.
    case repeated(String)
    /// No `client_id`.
    case clientMissing
    /// No client has that id.
    case clientUnknown
    /// No `redirect_uri`: one is needed even where the client has only one.
    case redirectMissing
    /// The address is not one of the client's.
    case redirectUnknown
    /// The `state` is longer than is kept.
    case stateTooLong
}

/// Why a request for consent is sent back to the client, once the user is known.
public struct AuthorizationError: Error, Sendable, Hashable {
    /// The error code.
    public let code: OAuthErrorCode
    /// What is wrong, for the client's developer.
    public let description: String
}

/// What becomes of a request to the authorization endpoint; deciding it asks nobody and changes nothing.
public enum AuthorizationDecision: Sendable {
    /// A page says what is wrong; never a redirect (RFC 6749 §4.1.2.1).
    case page(AuthorizationFault)
    /// The client learns what is wrong; the user is signed in first, else any link here would be an open redirector.
    case refuse(AuthorizationError, at: RedirectTarget)
    /// The user is asked.
    case ask(AuthorizationRequest)

    /// How long a `state` may be.
    public static let stateLimit = 4096

    /// Decides on a query, or on a form that carries the same parameters.
    ///
    /// `resource` is the one resource that tokens here are for.
    public init(query: some StringProtocol, clients: ProviderClients, resource: String) {
        guard let form = Form(decoding: query) else {
            self = .page(.malformed)
            return
        }
        self.init(form: form, clients: clients, resource: resource)
    }

    /// Decides on decoded parameters.
    public init(form: Form, clients: ProviderClients, resource: String) {
        let parameters = Parameters(form)
        for name in ["client_id", "redirect_uri"] where parameters.isRepeated(name) {
            self = .page(.repeated(name))
            return
        }
        guard let id = parameters["client_id"] else {
            self = .page(.clientMissing)
            return
        }
        guard let client = clients[id] else {
            self = .page(.clientUnknown)
            return
        }
        guard let redirectURI = parameters["redirect_uri"] else {
            self = .page(.redirectMissing)
            return
        }
        guard client.accepts(redirectURI: redirectURI) else {
            self = .page(.redirectUnknown)
            return
        }
        let state = parameters.isRepeated("state") ? nil : parameters["state"]
        guard state?.count ?? 0 <= Self.stateLimit else {
            self = .page(.stateTooLong)
            return
        }
        do throws(AuthorizationError) {
            self = .ask(
                try Self.request(
                    parameters, client: client, redirectURI: redirectURI, state: state, resource: resource))
        } catch {
            self = .refuse(error, at: RedirectTarget(redirectURI: redirectURI, state: state))
        }
    }

    private static func request(
        _ parameters: Parameters, client: ProviderClient, redirectURI: String, state: String?, resource: String
    ) throws(AuthorizationError) -> AuthorizationRequest {
        if let name = parameters.repeated(but: "resource") {
            throw AuthorizationError(code: .invalidRequest, description: "\(name) is given twice")
        }
        guard let responseType = parameters["response_type"] else {
            throw AuthorizationError(code: .invalidRequest, description: "response_type is missing: write code")
        }
        guard responseType == "code" else {
            throw AuthorizationError(code: .unsupportedResponseType, description: "response_type must be code")
        }
        guard client.grants.contains(.authorizationCode) else {
            throw AuthorizationError(code: .unauthorizedClient, description: "this client may not ask for codes")
        }
        let scopes: [String]
        do throws(ScopeFault) { scopes = try requestedScopes(parameters["scope"], among: client.scopes) } catch {
            throw AuthorizationError(code: .invalidScope, description: error.description)
        }
        guard parameters.values("resource").allSatisfy({ $0 == resource }) else {
            throw AuthorizationError(code: .invalidTarget, description: "tokens here are for \(resource) alone")
        }
        let locales = parameters["ui_locales"] ?? parameters["user_locale"] ?? ""
        return AuthorizationRequest(
            client: client, redirectURI: redirectURI, state: state, scopes: scopes,
            challenge: try challenge(parameters, client), uiLocales: locales.split(separator: " ").map(String.init))
    }

    /// The challenge by `S256`, the one method taken: `plain`, also where it is the default, proves nothing to whoever
    /// saw the request (RFC 7636 §4.3).
    private static func challenge(
        _ parameters: Parameters, _ client: ProviderClient
    ) throws(AuthorizationError) -> String? {
        guard let challenge = parameters["code_challenge"] else {
            if client.requiresPKCE {
                throw AuthorizationError(code: .invalidRequest, description: "code_challenge is missing")
            }
            guard parameters["code_challenge_method"] == nil else {
                throw AuthorizationError(
                    code: .invalidRequest, description: "code_challenge_method without code_challenge")
            }
            return nil
        }
        guard parameters["code_challenge_method"] == "S256" else {
            throw AuthorizationError(code: .invalidRequest, description: "code_challenge_method must be S256")
        }
        guard ProofKey.isChallenge(challenge) else {
            throw AuthorizationError(
                code: .invalidRequest, description: "code_challenge is not 43 characters of base64url")
        }
        return challenge
    }
}
