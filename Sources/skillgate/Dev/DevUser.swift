import Crypto
import HTTP
import JSON
import OAuth
import Service
import Time

/// The user at the company's app and in a browser: signs in with a password, and lets the app have tokens.
struct DevUser: Sendable {
    /// The service's origin.
    let address: String
    /// A public client of the provider, as an app is.
    let client: Configuration.Client
    let username: String
    let password: Secret
    let http: any HTTPClient

    /// What went wrong on the way, in words.
    struct Fault: Error { let message: String }

    private static let patience = Duration.seconds(10)

    /// Signs in and agrees, as the pages ask, and redeems the code with its proof key (RFC 7636).
    ///
    /// - Returns: the app's access token.
    func token() async throws -> Secret {
        guard let redirectURI = client.redirectURIs.first else { throw Fault(message: "the app has no redirectURIs") }
        let verifier = SecureRandom.token()
        var query = Form()
        query.append("response_type", "code")
        query.append("client_id", client.id)
        query.append("redirect_uri", redirectURI)
        query.append("scope", client.scopes.joined(separator: " "))
        query.append("state", SecureRandom.token(bytes: 16))
        query.append("code_challenge", Base64URL.encode(SHA256.digest(verifier)))
        query.append("code_challenge_method", "S256")
        let way = "/oauth/authorize?" + query.encodedText
        let signIn = try await send(.get, way, nil, cookie: nil)
        let signedIn = try await send(
            .post, "/oauth/authorize",
            signIn.hidden + [("username", username), ("password", password.exposed)], cookie: signIn.cookie)
        let cookie = signedIn.cookie ?? signIn.cookie
        let consent = try await send(.get, way, nil, cookie: cookie)
        let agreed = try await send(
            .post, "/oauth/authorize", consent.hidden + [("decision", "agree")], cookie: cookie)
        guard let back = agreed.location, back.hasPrefix(redirectURI),
            let code = Form(decoding: back.drop { $0 != "?" }.dropFirst())?["code"]
        else { throw Fault(message: "the provider gives the app no code: status \(agreed.status)") }
        let tokens = try await send(
            .post, "/oauth/token",
            [
                ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirectURI),
                ("client_id", client.id), ("code_verifier", verifier),
            ], cookie: nil)
        guard let token = (try? JSONValue(parsing: tokens.body))?["access_token"]?.string else {
            throw Fault(message: "the token endpoint answers \(tokens.status)")
        }
        return Secret(token)
    }

    /// What came back, as a browser sees it.
    private struct Page {
        let status: Int
        let location: String?
        let cookie: String?
        let body: [UInt8]

        /// The hidden fields of its form.
        var hidden: [(String, String)] {
            String(decoding: body, as: UTF8.self).split(separator: "<input type=\"hidden\" ").dropFirst().compactMap {
                let words = $0.split(separator: "\"", omittingEmptySubsequences: false)
                guard words.count > 3 else { return nil }
                return (String(words[1]), String(words[3]).replacing("&amp;", with: "&"))
            }
        }
    }

    private func send(
        _ method: HTTPMethod, _ target: String, _ items: [(String, String)]?, cookie: String?
    ) async throws -> Page {
        var request = OutgoingRequest(method: method, url: address + target)
        request.fields["Cookie"] = cookie
        if let items {
            var form = Form()
            for (name, value) in items { form.append(name, value) }
            request.body = Array(form.encodedText.utf8)
            request.fields["Content-Type"] = "application/x-www-form-urlencoded"
        }
        let answer = try await http.send(request, by: .after(Self.patience, from: .now))
        return Page(
            status: answer.status, location: answer.fields["Location"],
            cookie: answer.fields["Set-Cookie"].map { String($0.prefix { $0 != ";" }) }, body: answer.body)
    }
}
