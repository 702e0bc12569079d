public import Crypto
public import HTTP
import JSON
public import Time

/// A client's name and secret at Login with Amazon.
public struct AmazonClient: Hashable, Sendable {
    /// The client id, `amzn1.application-oa2-client.…`.
    public let id: String
    /// The client secret.
    public let secret: Secret

    /// A client.
    public init(id: String, secret: Secret) {
        self.id = id
        self.secret = secret
    }
}

/// Tokens of Amazon's for one user.
public struct AmazonTokens: Hashable, Sendable {
    /// The token for Alexa's services.
    public let accessToken: Secret
    /// The token for the next access token; nil where the answer to a refresh holds none, so that the old one stays.
    public let refreshToken: Secret?
    /// How long the access token lives.
    public let lifetimeSeconds: Int64

    /// Tokens.
    public init(accessToken: Secret, refreshToken: Secret?, lifetimeSeconds: Int64) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.lifetimeSeconds = lifetimeSeconds
    }
}

/// Amazon's token endpoint.
///
/// A code is spent as soon as it is presented, so nothing that may have been sent is sent again; only where no
/// connection came about is there one more try.
public struct LoginWithAmazon: Sendable {
    /// The endpoint's usual address.
    public static let usualTokenURL = "https://api.amazon.com/auth/o2/token"

    private let http: any HTTPClient
    private let tokenURL: String
    private let timeLimit: Duration
    private let monotonic: @Sendable () -> ContinuousClock.Instant

    /// The endpoint at `tokenURL`; `timeLimit` is that of one call, which the deadline may cut further.
    public init(
        http: any HTTPClient, tokenURL: String = usualTokenURL, timeLimit: Duration = .seconds(3),
        monotonic: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.http = http
        self.tokenURL = tokenURL
        self.timeLimit = timeLimit
        self.monotonic = monotonic
    }

    /// Exchanges a code for tokens.
    ///
    /// - Parameters:
    ///   - code: the code, of AcceptGrant where `redirectURI` is nil.
    ///   - client: whom the code was issued to.
    ///   - redirectURI: the one of the authorization request; AcceptGrant has none.
    ///   - codeVerifier: the verifier where a challenge was sent (RFC 7636).
    ///   - deadline: when the answer must be there.
    /// - Returns: the tokens.
    /// - Throws: why there are no tokens.
    public func exchange(
        code: AmazonCode, client: AmazonClient, redirectURI: String? = nil, codeVerifier: Secret? = nil,
        by deadline: Deadline
    ) async throws(LoginWithAmazonError) -> AmazonTokens {
        var form = Form()
        form.append("grant_type", "authorization_code")
        form.append("code", code.secret.exposed)
        form.append("redirect_uri", redirectURI)
        form.append("code_verifier", codeVerifier?.exposed)
        return try await tokens(form, client, by: deadline)
    }

    /// Exchanges a refresh token for a new access token.
    ///
    /// - Throws: why there are no tokens.
    public func refresh(
        _ refreshToken: Secret, client: AmazonClient, by deadline: Deadline
    ) async throws(LoginWithAmazonError) -> AmazonTokens {
        var form = Form()
        form.append("grant_type", "refresh_token")
        form.append("refresh_token", refreshToken.exposed)
        return try await tokens(form, client, by: deadline)
    }

    private func tokens(
        _ grant: Form, _ client: AmazonClient, by deadline: Deadline
    ) async throws(LoginWithAmazonError) -> AmazonTokens {
        var form = grant
        form.append("client_id", client.id)
        form.append("client_secret", client.secret.exposed)
        let request = OutgoingRequest(
            method: .post, url: tokenURL,
            fields: [
                "Content-Type": "application/x-www-form-urlencoded;charset=UTF-8", "Accept": "application/json",
            ], body: Array(form.encodedText.utf8), answerLimitBytes: 64 * 1024)
        return try Self.tokens(from: try await answer(to: request, by: deadline))
    }

    private func answer(
        to request: OutgoingRequest, by deadline: Deadline
    ) async throws(LoginWithAmazonError) -> HTTPResponse {
        do {
            return try await http.send(request, by: deadline.limited(to: timeLimit, from: monotonic()))
        } catch .unreachable where deadline.remaining(at: monotonic()) > .zero {
            // Nothing was sent, so the code is not spent: once more.
        } catch {
            throw LoginWithAmazonError(error)
        }
        do {
            return try await http.send(request, by: deadline.limited(to: timeLimit, from: monotonic()))
        } catch {
            throw LoginWithAmazonError(error)
        }
    }

    /// Reads an answer: the status class decides, whatever the body is.
    private static func tokens(from response: HTTPResponse) throws(LoginWithAmazonError) -> AmazonTokens {
        let status = response.status
        guard status != 429, !(500...599).contains(status) else { throw .unavailable(status: status) }
        let root = (try? JSONDocument(parsing: response.body))?.root
        guard (200...299).contains(status) else {
            let code = root?.string("error").flatMap(LoginWithAmazonError.Code.init(rawValue:))
            throw .refused(code ?? .other, status: status)
        }
        guard let root, let accessToken = root.secret("access_token"), isBearer(root.member("token_type")),
            let lifetime = lifetimeSeconds(root.member("expires_in"))
        else { throw .noTokens(status: status) }
        return AmazonTokens(
            accessToken: accessToken, refreshToken: root.secret("refresh_token"), lifetimeSeconds: lifetime)
    }

    private static func isBearer(_ element: JSONElement?) -> Bool {
        guard let element, !element.isNull else { return true }
        return element.string.map { equalsIgnoringCase($0, "bearer") } ?? false
    }

    /// The lifetime, sent as a number or as text; an hour, as Amazon documents it, where it is missing.
    private static func lifetimeSeconds(_ element: JSONElement?) -> Int64? {
        guard let element, !element.isNull else { return 3600 }
        let seconds =
            element.integer ?? element.string.flatMap { Int64($0) } ?? element.double.flatMap(Int64.init(exactly:))
        return seconds.flatMap { $0 > 0 ? $0 : nil }
    }
}

extension LoginWithAmazonError: AmazonCallError {}
