import Crypto
import HTTP
import JSON
import OAuth
import Telemetry
import Time

/// Our pages as a client of the company's own provider: a code with PKCE (RFC 6749 §4.1, RFC 7636), for the user's own
/// access token.
struct ExternalSignIn: Sendable {
    static let answerPath = "/account/signed-in"
    private static let answerLimitBytes = 64 * 1024

    /// Why nobody was signed in; nothing in it is secret.
    enum Failure: Error, Hashable {
        /// The provider sent the user back with an error, or with what is no answer.
        case returned
        /// The answer is of another provider (RFC 9207).
        case issuer
        /// The provider gave no token for the code.
        case exchange(String)
        /// The provider's token is not good here.
        case token(TokenRejection)
    }

    let login: Configuration.External.Login
    let issuer: String?
    let scopes: [String]
    let publicURL: String
    let http: any HTTPClient
    let validator: TokenValidator

    private var redirectURI: String { publicURL + Self.answerPath }

    /// The provider's page; `anew` has it ask who signs in, whoever is signed in there (OpenID Connect Core §3.1.2.1).
    func address(state: String, verifier: Secret, anew: Bool) -> String {
        var form = Form()
        form.append("response_type", "code")
        form.append("client_id", login.clientID)
        form.append("redirect_uri", redirectURI)
        if !scopes.isEmpty { form.append("scope", scopes.joined(separator: " ")) }
        form.append("state", state)
        form.append("code_challenge", Base64URL.encode(SHA256.digest(verifier.exposed)))
        form.append("code_challenge_method", "S256")
        if anew { form.append("prompt", "login") }
        return login.authorizationURL + (login.authorizationURL.contains("?") ? "&" : "?") + form.encodedText
    }

    /// The code of an answer for that state.
    func code(in query: Form, state: String) throws(Failure) -> Secret {
        for name in ["code", "state", "error", "iss"] where query.values(name).count > 1 { throw .returned }
        guard let given = query["state"], constantTimeEquals(Array(given.utf8), Array(state.utf8)) else {
            throw .returned
        }
        if let iss = query["iss"], let issuer, iss != issuer { throw .issuer }
        guard query["error"] == nil, let code = query["code"], (1...4096).contains(code.utf8.count) else {
            throw .returned
        }
        return Secret(code)
    }

    /// The user whom the provider's token names; the token and for how long it is good besides.
    func principal(
        code: Secret, verifier: Secret, by deadline: Deadline
    ) async throws(Failure) -> (principal: Principal, seconds: Int64) {
        var form = Form()
        form.append("grant_type", "authorization_code")
        form.append("code", code.exposed)
        form.append("redirect_uri", redirectURI)
        form.append("code_verifier", verifier.exposed)
        let request = OutgoingRequest(
            method: .post, url: login.tokenURL,
            fields: [
                "Authorization": basicAuthorization(id: login.clientID, secret: login.clientSecret),
                "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json",
            ], body: Array(form.encodedText.utf8), answerLimitBytes: Self.answerLimitBytes)
        let response: HTTPResponse
        do throws(HTTPClientError) { response = try await http.send(request, by: deadline) } catch {
            throw .exchange("\(error)")
        }
        guard response.status == 200 else { throw .exchange("status \(response.status)") }
        guard let root = (try? JSONDocument(parsing: response.body))?.root,
            let token = root.string("access_token"), !token.isEmpty,
            root.string("token_type")?.lowercased() == "bearer"
        else { throw .exchange("the answer holds no Bearer token") }
        do throws(TokenRejection) {
            let principal = try await validator.principal(
                for: Secret(token), clients: .any, scopes: [], by: deadline)
            return (principal, root.member("expires_in")?.integer ?? 3600)
        } catch { throw .token(error) }
    }
}
