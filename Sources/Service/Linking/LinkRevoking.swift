import Alexa
import Crypto
import HTTP
import OAuth
import Telemetry
import Time

/// Ends what Alexa may do at the provider with a link's tokens.
protocol LinkRevoking: Sendable {
    /// Revokes the tokens of a link.
    ///
    /// - Parameters:
    ///   - link: whose tokens.
    ///   - client: the provider's client that Alexa is.
    ///   - isLast: whether the user has no other link through that client, so that all of its tokens may end.
    ///   - token: Alexa's token where it is at hand.
    ///   - deadline: when the caller gives up.
    func revoke(_ link: Link, client: String, isLast: Bool, token: Secret?, by deadline: Deadline) async
}

/// Revocation at the provider in this process.
struct EmbeddedLinkRevoking: LinkRevoking {
    let server: AuthorizationServer
    let log: Log

    func revoke(_ link: Link, client: String, isLast: Bool, token: Secret?, by deadline: Deadline) async {
        do throws(ProviderStoreError) {
            if let grantID = link.providerGrantID { try await server.revoke(grantID: grantID, by: deadline) }
            for candidate in link.candidates {
                if let grantID = candidate.providerGrantID { try await server.revoke(grantID: grantID, by: deadline) }
            }
            if isLast { try await server.revoke(subject: link.subject, client: client, by: deadline) }
        } catch {
            log.error("a link's tokens are not revoked", .skill(link.skill), .detail("\(error)"))
        }
    }
}

/// Revocation at the company's own provider, as `provider.external.revocation` describes it.
struct ExternalLinkRevoking: LinkRevoking {
    /// Nil where the configuration has none.
    let endpoint: Configuration.External.Revocation?
    let http: any HTTPClient
    let log: Log

    func revoke(_ link: Link, client: String, isLast: Bool, token: Secret?, by deadline: Deadline) async {
        guard let endpoint else { return }
        var form = Form()
        switch endpoint.by {
        case .token:
            guard let token else {
                log.notice("no token is known to be revoked; Alexa's next event may bring it", .skill(link.skill))
                return
            }
            form.append("token", token.exposed)
        case .subject:
            // The user's other links live by the same client, so nothing is said until the last one ends.
            guard isLast else { return }
            form.append("sub", link.subject)
            form.append("client_id", client)
        }
        var fields: HTTPFields = ["Content-Type": "application/x-www-form-urlencoded"]
        fields["Authorization"] = endpoint.pair.map { basicAuthorization(id: $0.clientID, secret: $0.clientSecret) }
        let request = OutgoingRequest(
            method: .post, url: endpoint.url, fields: fields, body: Array(form.encodedText.utf8),
            answerLimitBytes: 64 * 1024)
        do throws(HTTPClientError) {
            let response = try await http.send(request, by: deadline)
            guard !(200...299).contains(response.status) else { return }
            log.error("the provider does not revoke a link's tokens", .skill(link.skill), .status(response.status))
        } catch {
            log.error("the provider was not told to revoke", .skill(link.skill), .detail("\(error)"))
        }
    }
}
