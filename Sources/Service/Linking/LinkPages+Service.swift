import Crypto
import HTTP
import OAuth
import Time

/// The pages on which users link, see their links and end them, over whichever provider knows the users.
func linkPageRoutes(
    _ configuration: Configuration, _ parts: ServiceParts, _ core: ProviderCore, _ validator: TokenValidator,
    _ resources: ResourceClient, _ linking: LinkService
) async throws(ProviderStoreError) -> [Route] {
    let key = try await parts.store.secretKey(
        named: "pages.sealed", else: SecureRandom.bytes(32), by: .after(.seconds(10), from: parts.monotonic()))
    let cookies = SealedCookies(key: key, publicURL: configuration.publicURL, clock: parts.clock)
    var answers = PageAnswers(frame: PageFrame(configuration.company))
    var visitors: (any Visitors)?
    var clients: AccountPages.Clients?
    if let pages = core.pages {
        visitors = EmbeddedVisitors(pages: pages)
        clients = AccountPages.Clients(server: core.server, name: pages.words.client)
    } else if case .external(let external) = configuration.provider.kind, let login = external.login {
        let scopes = configuration.provider.customScopes + configuration.provider.smartHomeScopes
        answers.signInURL = login.authorizationURL
        visitors = ExternalVisitors(
            provider: ExternalSignIn(
                login: login, issuer: external.issuer,
                scopes: scopes.reduce(into: []) { if !$0.contains($1) { $0.append($1) } },
                publicURL: configuration.publicURL, http: parts.http, validator: validator),
            resources: resources, cookies: cookies, ended: EndedSessions(store: parts.store, clock: parts.clock),
            values: try await ProviderCore.signedValues(parts),
            answers: answers, clock: parts.clock, log: parts.log)
    }
    let link = LinkPages(
        linking: linking, visitors: visitors, cookies: cookies, answers: answers, publicURL: configuration.publicURL,
        appURL: configuration.apps.openURL, amazonURL: configuration.amazon.lwaAuthorizeURL, log: parts.log)
    guard let visitors else { return link.routes }
    return link.routes
        + AccountPages(
            visitors: visitors, answers: answers, clients: clients, linking: linking, clock: parts.clock, log: parts.log
        ).routes
}
