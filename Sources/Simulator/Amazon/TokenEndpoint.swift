public import Alexa
import Concurrency
public import Crypto
public import HTTP
import JSON
public import Time

/// `POST https://api.amazon.com/auth/o2/token` as Login with Amazon answers it, strict in all that it is told.
public final class TokenEndpoint: Sendable {
    /// How long a code can be exchanged.
    public static let codeSeconds: Int64 = 300
    /// How long an access token lasts.
    public static let accessTokenSeconds: Int64 = 3600

    /// From so many codes or access tokens on, those that ended are dropped before another is issued;
    /// then of access tokens the one that ends first.
    static let codeLimit = 1000

    private struct Code {
        let clientID: String
        let redirectURI: String?
        let challenge: String?
        let endsAt: UnixTime
        let account: String?
        var isUsed = false
    }

    /// Whose a token is.
    private struct Owner {
        let clientID: String
        /// The customer, in tokens of account linking.
        let account: String?
    }

    private struct AccessToken {
        let owner: Owner
        let endsAt: UnixTime
    }

    private struct State {
        var codes: [String: Code] = [:]
        var refreshTokens: [String: Owner] = [:]  // by the token's hash
        var accessTokens: [String: AccessToken] = [:]  // by the token's hash
        var expiresInAsText = false
        var rotatesRefreshTokens = false
    }

    private let clients: [String: TokenEndpoint.Client]
    private let clock: WallClock
    private let state = Locked(State())

    /// An endpoint that knows `clients`.
    public init(clients: [TokenEndpoint.Client], clock: @escaping WallClock) {
        self.clients = Dictionary(clients.map { ($0.id, $0) }) { first, _ in first }
        self.clock = clock
    }

    /// A new code of `clientID`, single-use and good for five minutes.
    ///
    /// - Parameters:
    ///   - clientID: the client that may exchange it.
    ///   - redirectURI: the redirect URI of the authorization request; nil for a code of AcceptGrant.
    ///   - challenge: the S256 challenge of the authorization request, where there was one.
    ///   - account: the customer who agreed, in account linking.
    ///   - isSpent: whether it was exchanged already.
    /// - Returns: the code.
    public func issueCode(
        clientID: String, redirectURI: String? = nil, challenge: String? = nil, account: String? = nil,
        isSpent: Bool = false
    ) -> String {
        let code = "AN" + SecureRandom.token(bytes: 15)
        let endsAt = clock().adding(seconds: Self.codeSeconds)
        let now = clock()
        state.withLock { state in
            if state.codes.count >= Self.codeLimit { state.codes = state.codes.filter { now < $0.value.endsAt } }
            state.codes[code] = Code(
                clientID: clientID, redirectURI: redirectURI, challenge: challenge, endsAt: endsAt, account: account,
                isUsed: isSpent)
        }
        return code
    }

    /// A code for whichever client takes AcceptGrant's; one that nobody may exchange where there is none.
    public func issueGrantCode() -> String {
        issueCode(clientID: clients.values.filter { $0.use == .events }.map(\.id).min() ?? "")
    }

    /// Whether `expires_in` is sent as a text, as one of Amazon's examples has it, instead of a number.
    public var expiresInAsText: Bool {
        get { state.withLock { $0.expiresInAsText } }
        set { state.withLock { $0.expiresInAsText = newValue } }
    }

    /// Whether a refresh brings a new refresh token and ends the old one.
    public var rotatesRefreshTokens: Bool {
        get { state.withLock { $0.rotatesRefreshTokens } }
        set { state.withLock { $0.rotatesRefreshTokens = newValue } }
    }

    /// Forgets every token, as if all users had taken back their consent.
    public func revokeAll() {
        state.withLock { state in
            state.refreshTokens = [:]
            state.accessTokens = [:]
        }
    }

    /// Ends every access token before its time; refresh tokens bring new ones.
    public func endAccessTokens() { state.withLock { $0.accessTokens = [:] } }

    /// Whether the event gateways take an access token now.
    public func isLive(_ accessToken: String) -> Bool {
        let now = clock()
        return state.withLock { state in
            state.accessTokens[Hex.encode(SHA256.digest(accessToken))].map {
                now < $0.endsAt && clients[$0.owner.clientID]?.use == .events
            } ?? false
        }
    }

    /// Whose an access token of account linking is; nil where it is none that is good now.
    func owner(of accessToken: String) -> (account: String, clientID: String)? {
        let now = clock()
        return state.withLock { state in
            guard let token = state.accessTokens[Hex.encode(SHA256.digest(accessToken))], now < token.endsAt,
                let account = token.owner.account, clients[token.owner.clientID]?.use == .linking
            else { return nil }
            return (account, token.owner.clientID)
        }
    }

    /// Tokens of whichever client takes AcceptGrant's codes; good for nothing where there is none.
    public func issueEventTokens() -> AmazonTokens {
        guard let client = clients.values.filter({ $0.use == .events }).min(by: { $0.id < $1.id }) else {
            return AmazonTokens(
                accessToken: Secret("Atza|none"), refreshToken: Secret("Atzr|none"),
                lifetimeSeconds: Self.accessTokenSeconds)
        }
        let owner = Owner(clientID: client.id, account: nil)
        return AmazonTokens(
            accessToken: Secret(newAccessToken(for: owner)), refreshToken: Secret(newRefreshToken(for: owner)),
            lifetimeSeconds: Self.accessTokenSeconds)
    }

    /// Answers a request for tokens.
    public func answer(_ request: HTTPRequest) -> HTTPResponse {
        guard request.method == .post else { return HTTPResponse(status: 405, fields: ["Allow": "POST"]) }
        guard request.query == nil else { return refusal("invalid_request", "parameters belong into the body") }
        let type = (request.fields["Content-Type"] ?? "").prefix { $0 != ";" && $0 != " " }
        guard equalsIgnoringCase(String(type), "application/x-www-form-urlencoded") else {
            return refusal("invalid_request", "the content type is not application/x-www-form-urlencoded")
        }
        guard request.fields["Authorization"] == nil else {
            return refusal("invalid_request", "this client sends its pair in the body")
        }
        guard let form = Form(decoding: String(decoding: request.body, as: UTF8.self)) else {
            return refusal("invalid_request", "the body is no form")
        }
        let names = form.items.map(\.name)
        guard Set(names).count == names.count else { return refusal("invalid_request", "a parameter is repeated") }
        guard let grantType = form["grant_type"] else { return refusal("invalid_request", "grant_type is missing") }
        guard let id = form["client_id"], let secret = form["client_secret"] else {
            return refusal("invalid_request", "client_id or client_secret is missing")
        }
        guard let client = clients[id], client.secret == Secret(secret) else {
            return refusal("invalid_client", "unknown client, or wrong secret")
        }
        switch grantType {
        case "authorization_code": return exchange(form, client)
        case "refresh_token": return refresh(form, client)
        default: return refusal("unsupported_grant_type", "grant_type is not supported")
        }
    }

    private func exchange(_ form: Form, _ client: TokenEndpoint.Client) -> HTTPResponse {
        guard let text = form["code"], !text.isEmpty else { return refusal("invalid_request", "code is missing") }
        let known = ["grant_type", "code", "client_id", "client_secret", "redirect_uri", "code_verifier"]
        guard form.items.allSatisfy({ known.contains($0.name) }) else {
            return refusal("invalid_request", "a parameter is unknown")
        }
        if client.use == .events, form["redirect_uri"] != nil {
            return refusal("invalid_request", "a code of AcceptGrant has no redirect_uri")
        }
        let now = clock()
        let code: Code? = state.withLock { state in
            guard let code = state.codes[text], !code.isUsed, code.clientID == client.id, now < code.endsAt else {
                return nil
            }
            // Used up by the first try of its client, also where what follows is wrong.
            state.codes[text]?.isUsed = true
            return code
        }
        guard let code else {
            return refusal("invalid_grant", "the code is unknown, used, expired or another client's")
        }
        guard code.redirectURI == form["redirect_uri"] else {
            return refusal("invalid_grant", "redirect_uri is not that of the authorization request")
        }
        let challenge = form["code_verifier"].map { Base64URL.encode(SHA256.digest($0)) }
        guard challenge == code.challenge else { return refusal("invalid_grant", "code_verifier does not fit") }
        let owner = Owner(clientID: client.id, account: code.account)
        return tokens(for: owner, refreshToken: newRefreshToken(for: owner))
    }

    private func refresh(_ form: Form, _ client: TokenEndpoint.Client) -> HTTPResponse {
        guard let token = form["refresh_token"], !token.isEmpty else {
            return refusal("invalid_request", "refresh_token is missing")
        }
        let key = Hex.encode(SHA256.digest(token))
        let rotates = rotatesRefreshTokens
        let owner: Owner? = state.withLock { state in
            guard let owner = state.refreshTokens[key], owner.clientID == client.id else { return nil }
            if rotates { state.refreshTokens[key] = nil }
            return owner
        }
        guard let owner else { return refusal("invalid_grant", "the refresh token is unknown or another client's") }
        return tokens(for: owner, refreshToken: rotates ? newRefreshToken(for: owner) : token)
    }

    private func newRefreshToken(for owner: Owner) -> String {
        let token = "Atzr|" + SecureRandom.token()
        let key = Hex.encode(SHA256.digest(token))
        state.withLock { $0.refreshTokens[key] = owner }
        return token
    }

    private func newAccessToken(for owner: Owner) -> String {
        let token = "Atza|" + SecureRandom.token()
        let now = clock()
        state.withLock { state in
            if state.accessTokens.count >= Self.codeLimit {
                state.accessTokens = state.accessTokens.filter { now < $0.value.endsAt }
            }
            if state.accessTokens.count >= Self.codeLimit,
                let oldest = state.accessTokens.min(by: { $0.value.endsAt < $1.value.endsAt })
            {
                state.accessTokens[oldest.key] = nil
            }
            state.accessTokens[Hex.encode(SHA256.digest(token))] = AccessToken(
                owner: owner, endsAt: now.adding(seconds: Self.accessTokenSeconds))
        }
        return token
    }

    private func tokens(for owner: Owner, refreshToken: String) -> HTTPResponse {
        let seconds = Self.accessTokenSeconds
        let body: JSONValue = [
            "access_token": .string(newAccessToken(for: owner)), "refresh_token": .string(refreshToken),
            "token_type": "bearer", "expires_in": expiresInAsText ? .string(String(seconds)) : .integer(seconds),
        ]
        return answer(200, body)
    }

    private func refusal(_ error: String, _ description: String) -> HTTPResponse {
        answer(
            400,
            [
                "error": .string(error), "error_description": .string(description),
                "request_id": .string(SecureRandom.uuid()),
            ])
    }

    private func answer(_ status: Int, _ body: JSONValue) -> HTTPResponse {
        HTTPResponse(
            status: status,
            fields: [
                "Content-Type": "application/json;charset=UTF-8", "Cache-Control": "no-store", "Pragma": "no-cache",
            ],
            body: body.encoded())
    }
}

extension TokenEndpoint {
    /// A client pair that the simulated Login with Amazon knows.
    public struct Client: Sendable {
        /// What a code of this client may ask for.
        public enum Use: Hashable, Sendable {
            /// Codes of AcceptGrant: exchanged without a redirect URI.
            case events
            /// Codes of app-to-app linking: exchanged with the redirect URI of their authorization request.
            case linking
        }

        /// The client's id.
        public let id: String
        /// Its secret.
        public let secret: Secret
        /// What its codes are for.
        public let use: Use

        /// A client pair.
        public init(id: String, secret: Secret, use: Use) {
            self.id = id
            self.secret = secret
            self.use = use
        }
    }
}
