public import Crypto
public import HTTP
import JSON
import LinkMessages
import Time

/// Plays Google: in App Flip one of its apps, which opens the company's and is opened again, or the browser that it falls
/// back to, and its servers, which redeem the code and revoke the token when the user unlinks.
///
/// It takes what Google takes: its own link to the letter, its state unchanged, a code or one of four errors.
public struct GoogleApp: Sendable {
    /// What the company's app is opened with.
    public struct Request: Hashable, Sendable {
        /// The id that the company gave Google.
        public let clientID: String
        /// The link of Google's app that has to be opened with the result.
        public let redirectURI: String
        /// Comes back unchanged.
        public let state: String
        /// What is asked for.
        public let scope: String

        /// The query of the universal link.
        public var query: String {
            var form = Form()
            form.append("client_id", clientID)
            form.append("redirect_uri", redirectURI)
            form.append("state", state)
            form.append("scope", scope)
            return form.encodedText
        }
    }

    /// What Google's servers got for a code.
    public struct Tokens: Sendable, Hashable {
        /// The token that requests come with.
        public let access: Secret
        /// The token that Google refreshes that one by, and revokes.
        public let refresh: Secret
    }

    private let clientID: String
    private let clientSecret: Secret
    private let tokenURL: String
    private let revocationURL: String
    private let http: any HTTPClient

    private static let patience = Duration.seconds(10)

    /// Google with its pair at the company's provider, whose endpoints are at these addresses.
    public init(
        clientID: String, clientSecret: Secret, tokenURL: String, revocationURL: String, http: any HTTPClient
    ) {
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.tokenURL = tokenURL
        self.revocationURL = revocationURL
        self.http = http
    }

    /// A new request of Google's Home app.
    public func request(scope: String) -> Request {
        Request(
            clientID: clientID, redirectURI: AppFlip.appAddresses(sandbox: false)[0],
            state: SecureRandom.token(bytes: 16), scope: scope)
    }

    /// A new request of the browser flow, which comes back to `redirectURI`.
    public func browserRequest(scope: String, redirectURI: String) -> Request {
        Request(clientID: clientID, redirectURI: redirectURI, state: SecureRandom.token(bytes: 16), scope: scope)
    }

    /// The code in the address that the company's app opens.
    ///
    /// - Throws: ``LinkingRefusal`` where it is not the answer to that request, or an error.
    public func code(in openURL: String, for request: Request) throws(LinkingRefusal) -> Secret {
        let address = openURL.prefix { $0 != "?" }
        guard Array(address.utf8) == Array(request.redirectURI.utf8) else {
            throw LinkingRefusal("the address is not redirect_uri, to the letter")
        }
        guard let form = Form(decoding: openURL.dropFirst(address.count + 1)) else {
            throw LinkingRefusal("the query cannot be decoded")
        }
        for name in ["code", "state", "error"] where form.values(name).count > 1 {
            throw LinkingRefusal("\(name) is given twice")
        }
        guard form["state"] == request.state else { throw LinkingRefusal("state did not come back unchanged") }
        if let error = form["error"] {
            guard AppFlipError(rawValue: error) != nil, form["code"] == nil else {
                throw LinkingRefusal("error is none that Google knows")
            }
            throw LinkingRefusal("the company's app says \(error)")
        }
        guard let code = form["code"], !code.isEmpty else { throw LinkingRefusal("there is neither code nor error") }
        return Secret(code)
    }

    /// Redeems a code as Google's servers do, with their secret in the body.
    ///
    /// - Throws: ``LinkingRefusal`` where no tokens come that Google can use.
    public func redeem(_ code: Secret, for request: Request) async throws(LinkingRefusal) -> Tokens {
        var form = Form()
        form.append("grant_type", "authorization_code")
        form.append("code", code.exposed)
        form.append("redirect_uri", request.redirectURI)
        let response = try await post(form, to: tokenURL)
        let json = try? JSONValue(parsing: response.body)
        guard response.status == 200, json?["token_type"]?.string?.lowercased() == "bearer",
            let refresh = json?["refresh_token"]?.string, !refresh.isEmpty,
            let access = json?["access_token"]?.string, !access.isEmpty
        else { throw LinkingRefusal("the token endpoint gives no tokens: status \(response.status)") }
        return Tokens(access: Secret(access), refresh: Secret(refresh))
    }

    /// The user unlinks: Google revokes the token (RFC 7009).
    ///
    /// - Throws: ``LinkingRefusal`` where it is not taken.
    public func revoke(_ tokens: Tokens) async throws(LinkingRefusal) {
        var form = Form()
        form.append("token", tokens.refresh.exposed)
        form.append("token_type_hint", "refresh_token")
        let response = try await post(form, to: revocationURL)
        guard response.status == 200 else {
            throw LinkingRefusal("the token is not revoked: status \(response.status)")
        }
    }

    private func post(_ asked: Form, to url: String) async throws(LinkingRefusal) -> HTTPResponse {
        var form = asked
        form.append("client_id", clientID)
        form.append("client_secret", clientSecret.exposed)
        do throws(HTTPClientError) {
            return try await http.send(
                OutgoingRequest(
                    method: .post, url: url, fields: ["Content-Type": "application/x-www-form-urlencoded"],
                    body: Array(form.encodedText.utf8)), by: .after(Self.patience, from: .now))
        } catch { throw LinkingRefusal("\(url) does not answer: \(error)") }
    }
}
