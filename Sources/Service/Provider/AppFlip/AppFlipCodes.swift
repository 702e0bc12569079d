import Alexa
import Crypto
import HTTP
import OAuth
import Telemetry
import Time

/// Where the codes for Google come from.
enum AppFlipCodes: Sendable {
    /// The provider in this process, for its client.
    case embedded(AuthorizationServer, ProviderClient)
    /// The company's own provider, by the contract of `provider.external.code`, for the client of that id; `scopes` are
    /// those that the configuration knows.
    case external(Configuration.External.Endpoint, any HTTPClient, clientID: String, scopes: Set<String>)

    /// The scopes of the code; nil where Google's client may not have one that is asked for.
    func scopes(requested scope: String?) -> [String]? {
        switch self {
        case .embedded(_, let client): return client.scopes(requested: scope)
        case .external(_, _, _, let known):
            // What its client may have is the company's to judge; scopes that nobody knows are no scopes of it.
            let words = (scope ?? "").split(separator: " ").map(String.init)
            guard words.allSatisfy(known.contains) else { return nil }
            return words.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        }
    }

    /// A code for Google, bound to `redirectURI`.
    func code(
        for principal: Principal, scopes: [String], redirectURI: String, log: Log, by deadline: Deadline
    ) async throws(AppFlipRefusal) -> Secret {
        switch self {
        case .embedded(let server, let client):
            do throws(ProviderStoreError) {
                return try await server.mintCode(
                    client: client, redirectURI: redirectURI, scopes: scopes, subject: principal.subject, by: deadline
                ).code
            } catch {
                log.error("a code for Google's app cannot be stored", .detail("\(error)"))
                throw .store
            }
        case .external(let endpoint, let http, let clientID, _):
            let codes = ExternalLinkCodes(endpoint: endpoint, http: http, scopes: scopes, log: log)
            do throws(LinkFault) {
                return try await codes.code(
                    for: LinkUser(subject: principal.subject, token: principal.token), client: clientID,
                    redirectURI: redirectURI, by: deadline
                ).code.secret
            } catch { throw .noCode }
        }
    }
}
