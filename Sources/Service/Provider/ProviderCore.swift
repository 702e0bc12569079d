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
    /// The pages of the embedded provider; nil with an external one.
    let pages: AuthorizationPages?

    /// The server over `keys`, which are loaded where anything is to be signed.
    init(
        _ configuration: Configuration, _ parts: ServiceParts, keys: SigningKeys, embedded: EmbeddedProvider?,
        traces: TraceRecorder
    ) async throws {
        let issuer = configuration.publicURL
        let clients = ProviderClients(
            configuration.provider.clients.map { ProviderClient($0, google: configuration.google) })
        let backEnds = Self.backEndValidator(issuer: issuer, clients: clients, keys: keys, parts)
        let telemetry = ProviderTelemetry(
            log: parts.log, metrics: parts.metrics, clock: parts.clock, now: parts.monotonic, traces: traces)
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
            serverParts.isSubject = { (subject, deadline) async throws(ProviderStoreError) in
                try await users.current(subject: subject, by: deadline)?.isDisabled == false
            }
            serverParts.username = { (subject, deadline) async throws(ProviderStoreError) in
                try await users.current(subject: subject, by: deadline)?.username
            }
        }
        let server = AuthorizationServer(serverParts)
        self.server = server
        changes = ChangeWatch(
            server: server, store: parts.store, keys: keys, users: embedded?.users, clock: parts.clock,
            now: parts.monotonic, log: parts.log)
        authentication = ClientAuthentication(
            server: server, backEndValidator: backEnds, realm: "skillgate", log: parts.log)
        let metadata = ProviderMetadata(issuer: issuer, clients: clients, hasPages: embedded != nil)
        if let embedded {
            let values = try await Self.signedValues(parts)
            try await Self.compareUsersFile(embedded.users.file, values, parts)
            let pages = Self.pages(configuration, parts, server: server, users: embedded.users, values, traces)
            self.pages = pages
            let appFlip = AppFlipEndpoint(configuration, parts, server: server, embedded: embedded)
            routes =
                [TokenRoutes.token(server)] + TokenRoutes.inspection(server) + [TokenRoutes.metadata(metadata)]
                + pages.routes + (appFlip.map { [$0.route] } ?? [])
        } else if clients.all.contains(where: { $0.grants.contains(.clientCredentials) }) {
            routes = [TokenRoutes.token(server)]
            pages = nil
        } else {
            routes = []
            pages = nil
        }
        // What was revoked before this start is refused from the first request on.
        try await changes.check()
    }

    /// What browsers keep for us is signed with a key of the store, so that sessions survive a restart and every process
    /// takes them.
    static func signedValues(_ parts: ServiceParts) async throws(ProviderStoreError) -> SignedValues {
        SignedValues(
            key: try await parts.store.secretKey(named: "pages", else: SecureRandom.bytes(32), by: atStart(parts)))
    }

    private static func atStart(_ parts: ServiceParts) -> Deadline { .after(.seconds(10), from: parts.monotonic()) }

    /// Ends the grants of whom the users file gives another password, disables or names no more since the last start.
    private static func compareUsersFile(
        _ users: Users, _ values: SignedValues, _ parts: ServiceParts
    ) async throws(ProviderStoreError) {
        let marks = Dictionary(users.all.map { ($0.subject, values.fileMark(of: $0)) }) { first, _ in first }
        let changed = try await parts.store.compareUsersFile(marks: marks, at: parts.clock(), by: atStart(parts))
        guard !changed.isEmpty else { return }
        parts.log.notice(
            "users of the file were changed, disabled or removed: their grants are revoked", .count(changed.count))
    }

    private static func pages(
        _ configuration: Configuration, _ parts: ServiceParts, server: AuthorizationServer, users: UserDirectory,
        _ values: SignedValues, _ traces: TraceRecorder
    ) -> AuthorizationPages {
        AuthorizationPages(
            server: server,
            sessions: Sessions(
                values: values, users: users, ended: EndedSessions(store: parts.store, clock: parts.clock),
                issuer: configuration.publicURL, clock: parts.clock),
            answers: PageAnswers(frame: PageFrame(configuration.company)), words: .init(configuration),
            monotonic: parts.monotonic, log: parts.log, traces: traces)
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
            subjects: SubjectCheck { clients[$0]?.grants.contains(.clientCredentials) ?? false })
    }
}
