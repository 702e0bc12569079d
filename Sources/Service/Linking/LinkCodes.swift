import Alexa
import Crypto
import HTTP
import JSON
import OAuth
import Telemetry
import Time

/// The user for whom a code is made.
struct LinkUser: Sendable {
    let subject: String
    /// The user's own access token, which a company's server wants to see.
    let token: Secret?
}

/// A code that Alexa will redeem, and the grant that it opens where we know it.
struct LinkCode: Sendable {
    let code: ProviderCode
    let grantID: String?
}

/// Makes our codes for Alexa; always a new one, for whoever is signed in (LNK-2).
protocol LinkCodes: Sendable {
    /// A code for Alexa's client, bound to `redirectURI`.
    func code(
        for user: LinkUser, client: String, redirectURI: String, by deadline: Deadline
    ) async throws(LinkFault) -> LinkCode

    /// Takes back a code that is of no use any more; where it was redeemed, what came of it is revoked.
    func withdraw(_ code: LinkCode, by deadline: Deadline) async
}

/// Codes of the provider in this process.
struct EmbeddedLinkCodes: LinkCodes {
    let server: AuthorizationServer
    let log: Log

    func code(
        for user: LinkUser, client: String, redirectURI: String, by deadline: Deadline
    ) async throws(LinkFault) -> LinkCode {
        guard let client = server.clients[client] else { throw .codeRefused }
        do throws(ProviderStoreError) {
            let minted = try await server.mintCode(
                client: client, redirectURI: redirectURI, scopes: client.scopes, subject: user.subject, by: deadline)
            return LinkCode(code: ProviderCode(minted.code), grantID: minted.grantID)
        } catch {
            log.error("a code for Alexa cannot be stored", .detail("\(error)"))
            throw .noCode
        }
    }

    func withdraw(_ code: LinkCode, by deadline: Deadline) async {
        do throws(ProviderStoreError) {
            let wasUnused = try await server.withdraw(code: code.code.secret, by: deadline)
            if !wasUnused, let grantID = code.grantID { try await server.revoke(grantID: grantID, by: deadline) }
        } catch {
            log.error("a code for Alexa cannot be taken back; it ends by itself", .detail("\(error)"))
        }
    }
}

/// Codes of the company's own provider, by the small contract of `provider.external.code`.
struct ExternalLinkCodes: LinkCodes {
    /// Nil where the configuration has none.
    let endpoint: Configuration.External.Endpoint?
    let http: any HTTPClient
    let scopes: [String]
    let log: Log

    private static let answerLimitBytes = 64 * 1024
    private static let codeLimit = 2048

    func code(
        for user: LinkUser, client: String, redirectURI: String, by deadline: Deadline
    ) async throws(LinkFault) -> LinkCode {
        guard let endpoint, let token = user.token else { throw .noCodeSource }
        var form = Form()
        form.append("token", token.exposed)
        form.append("client_id", client)
        form.append("redirect_uri", redirectURI)
        form.append("scope", scopes.joined(separator: " "))
        let request = OutgoingRequest(
            method: .post, url: endpoint.url,
            fields: [
                "Authorization": basicAuthorization(id: endpoint.clientID, secret: endpoint.clientSecret),
                "Accept": "application/json",
                "Content-Type": "application/x-www-form-urlencoded",
            ], body: Array(form.encodedText.utf8), answerLimitBytes: Self.answerLimitBytes)
        let response: HTTPResponse
        do throws(HTTPClientError) { response = try await http.send(request, by: deadline) } catch {
            log.error("the provider was not asked for a code", .detail("\(error)"))
            throw .noCode
        }
        guard (200...299).contains(response.status) else {
            log.error("the provider gives no code", .status(response.status))
            throw response.status == 429 || response.status >= 500 ? .noCode : .codeRefused
        }
        guard let code = (try? JSONDocument(parsing: response.body))?.root.string("code"), !code.isEmpty,
            code.utf8.count <= Self.codeLimit, code.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            log.error("the provider's answer holds no code that Alexa could be given", .status(response.status))
            throw .noCode
        }
        return LinkCode(code: ProviderCode(Secret(code)), grantID: nil)
    }

    /// An unused code there is left to expire.
    func withdraw(_ code: LinkCode, by deadline: Deadline) async {}
}
