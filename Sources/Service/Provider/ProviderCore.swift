import Crypto
import HTTP
import OAuth
import Telemetry
import Time

/// The authorization server of a configured service and what hangs on it.
///
/// With an external provider it knows no users and answers back ends alone.
struct ProviderCore: Sendable {
    let server: AuthorizationServer
    let changes: ChangeWatch
    /// Proves back ends, for the routes that are theirs.
    let authentication: ClientAuthentication
    let routes: [Route]

    /// The server over `keys`, which are loaded where anything is to be signed.
    init(
        _ configuration: Configuration, _ parts: ServiceParts, keys: SigningKeys, embedded: EmbeddedProvider?
    ) async throws {
        let issuer = configuration.publicURL
        let clients = ProviderClients(
            configuration.provider.clients.map { ProviderClient($0, google: configuration.google) })
        let backEnds = Self.backEndValidator(issuer: issuer, clients: clients, keys: keys, parts)
        let telemetry = ProviderTelemetry(log: parts.log, metrics: parts.metrics, clock: parts.clock)
        var serverParts = AuthorizationServer.Parts(
            issuer: issuer, clients: clients, store: parts.store, keys: keys,
            accessTokenSeconds: configuration.provider.accessTokenSeconds, clock: parts.clock,
            monotonic: parts.monotonic)
        serverParts.backEndValidator = backEnds
        serverParts.observe = { telemetry.tell($0) }
        if let embedded {
            let users = embedded.users
            serverParts.validator = embedded.validator
            serverParts.revokedGrants = embedded.revokedGrants
            serverParts.isSubject = { users[$0]?.isDisabled == false }
            serverParts.username = { users[$0]?.username }
        }
        let server = AuthorizationServer(serverParts)
        self.server = server
        changes = ChangeWatch(server: server, store: parts.store, keys: keys, now: parts.monotonic, log: parts.log)
        authentication = ClientAuthentication(
            server: server, backEndValidator: backEnds, realm: "skillgate", log: parts.log)
        let metadata = ProviderMetadata(issuer: issuer, clients: clients, hasPages: embedded != nil)
        if let embedded {
            let pages = try await Self.pages(configuration, parts, server: server, users: embedded.users)
            routes =
                [TokenRoutes.token(server)] + TokenRoutes.inspection(server) + [TokenRoutes.metadata(metadata)]
                + pages.routes + AccountPages(pages: pages).routes
        } else if clients.all.contains(where: { $0.grants.contains(.clientCredentials) }) {
            routes = [TokenRoutes.token(server)]
        } else {
            routes = []
        }
        // What was revoked before this start is refused from the first request on.
        try await changes.check()
    }

    /// The pages; their key comes from the store, so that sessions survive a restart and every process takes them.
    private static func pages(
        _ configuration: Configuration, _ parts: ServiceParts, server: AuthorizationServer, users: Users
    ) async throws(ProviderStoreError) -> AuthorizationPages {
        let key = try await parts.store.secretKey(
            named: "pages", else: SecureRandom.bytes(32), by: .after(.seconds(10), from: parts.monotonic()))
        return AuthorizationPages(
            server: server,
            sessions: Sessions(
                values: SignedValues(key: key), users: users, issuer: configuration.publicURL, clock: parts.clock),
            answers: PageAnswers(frame: PageFrame(configuration.company)), words: .init(configuration),
            monotonic: parts.monotonic, log: parts.log)
    }

    /// Judges the tokens of back ends, which are for an audience of their own: no user's route takes one.
    private static func backEndValidator(
        issuer: String, clients: ProviderClients, keys: SigningKeys, _ parts: ServiceParts
    ) -> TokenValidator {
        var validation = TokenValidation(
            issuer: issuer, audience: AuthorizationServer.backEndAudience(issuer: issuer),
            keys: .fetched(url: EmbeddedProvider.jwksURL))
        validation.strictType = true
        validation.keptTokenLimit = 1000
        return TokenValidator(
            validation,
            http: RouterClient(
                origin: EmbeddedProvider.origin, responder: Router([EmbeddedProvider.jwksRoute(keys, parts.log)])),
            clock: parts.clock, monotonic: parts.monotonic,
            isSubject: { clients[$0]?.grants.contains(.clientCredentials) ?? false })
    }
}
