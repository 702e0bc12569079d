import Crypto
import HTTP
import OAuth
import Service
import Simulator
import Storage
import Telemetry
import Time

/// Makes the service in this process, with a store that is gone at the end.
enum ReplayService {
    static func make(
        _ configuration: Configuration, http: any HTTPClient, anchors: TrustAnchors, clock: @escaping WallClock
    ) async throws -> MadeService {
        try await makeService(
            configuration,
            ServiceParts(
                store: MemoryStore(clock: clock), http: http, clock: clock, log: .silent, metrics: Metrics(),
                trustAnchors: anchors))
    }
}

/// Makes the tokens that samples carry, by the embedded provider's own signing key.
struct ReplayTokens: Sendable {
    private let configuration: Configuration
    private let user: Users.User?
    private let clock: WallClock
    private let mint: (@Sendable (AccessTokenMinter.Claims, Int64) throws -> Secret)?
    private let revoked: RevokedGrants?

    private static let lifetimeSeconds: Int64 = 3600

    /// Tokens of a service in this process, whose provider is at hand.
    init(
        _ configuration: Configuration, _ user: Users.User?, _ provider: EmbeddedProvider?, clock: @escaping WallClock
    ) {
        self.configuration = configuration
        self.user = user
        self.clock = clock
        if let provider {
            mint = { claims, lifetime in try provider.accessToken(claims, lifetimeSeconds: lifetime) }
        } else {
            mint = nil
        }
        revoked = provider?.revokedGrants
    }

    /// Tokens of a service that runs elsewhere over the store that the configuration names.
    init(
        _ configuration: Configuration, _ user: Users.User?, runningAt origin: String, clock: @escaping WallClock
    ) async throws {
        self.configuration = configuration
        self.user = user
        self.clock = clock
        revoked = nil
        guard case .embedded = configuration.provider.kind else {
            mint = nil
            return
        }
        let store = try StoreOpening.open(configuration, clock: clock)
        let keys = SigningKeys(store: store, tokenSeconds: configuration.provider.accessTokenSeconds, clock: clock)
        try await keys.load()
        let issuer = Self.issuer(configuration, runningAt: origin)
        let minter = AccessTokenMinter(issuer: issuer, audience: issuer, key: try keys.current())
        mint = { try minter.token($0, lifetimeSeconds: $1, now: clock()) }
    }

    /// The issuer that the running service calls itself: in development it puts the port that it really has in the
    /// place of the configured one.
    static func issuer(_ configuration: Configuration, runningAt origin: String) -> String {
        guard configuration.isDevelopment, let port = origin.split(separator: ":").last, Int(port) != nil else {
            return configuration.publicURL
        }
        for end in [":0", ":\(configuration.listen.service.port)"] where configuration.publicURL.hasSuffix(end) {
            return configuration.publicURL.dropLast(end.count) + ":" + port
        }
        return configuration.publicURL
    }

    /// The user of that name or subject; the first one where no name is given.
    static func user(named name: String?, in configuration: Configuration) throws(UsageError) -> Users.User? {
        guard case .embedded(let embedded) = configuration.provider.kind, let users = embedded.users else {
            if name != nil { throw UsageError("--user needs the embedded provider") }
            return nil
        }
        guard let name else { return users.all.first { !$0.isDisabled } }
        guard let user = users.all.first(where: { $0.username == name || $0.subject == name }) else {
            throw UsageError("there is no user \(name)")
        }
        return user
    }

    /// A token of that state for a skill, of the user that was chosen or of another.
    func token(
        _ state: TokenState, _ skill: Configuration.Skill?, subject: String? = nil
    ) throws(SampleError) -> Secret {
        guard let skill else { throw SampleError(message: "{{token}} needs a skill") }
        return try token(state, client: skill.providerClient, subject: subject)
    }

    /// A token of that state as the company's app holds it.
    func appToken(_ state: TokenState, subject: String? = nil) throws(SampleError) -> Secret {
        guard let client = Self.appClients(configuration).first else {
            throw SampleError(message: "{{appToken}} needs one of apps.clients")
        }
        return try token(state, client: client, subject: subject)
    }

    /// The clients whose tokens an app holds.
    static func appClients(_ configuration: Configuration) -> [String] {
        configuration.apps.clients?.sorted() ?? configuration.provider.clients.filter { $0.secret == nil }.map(\.id)
    }

    /// What a client of the provider shows at HTTP Basic.
    func basic(_ client: String) throws(SampleError) -> String {
        guard let secret = configuration.provider.client(client)?.secret else {
            throw SampleError(message: "{{basic:\(client)}} needs a client of the provider that has a secret")
        }
        return Base64.encode(Array("\(client):\(secret.exposed)".utf8))
    }

    private func token(
        _ state: TokenState, client: String, subject: String?
    ) throws(SampleError) -> Secret {
        guard let mint, let subject = subject ?? user?.subject else {
            throw SampleError(message: "{{token}} needs the embedded provider and a user")
        }
        let now = clock()
        let provider = configuration.provider
        var claims = AccessTokenMinter.Claims(
            subject: subject, clientID: client,
            scopes: Set(provider.customScopes).union(provider.smartHomeScopes), grantID: SecureRandom.uuid())
        var lifetime = Self.lifetimeSeconds
        switch state {
        case .linked, .unlinked: break
        case .expired: lifetime = -Self.lifetimeSeconds
        case .foreign: claims.clientID = "somebody-elses-client"
        case .revoked:
            if let revoked, let grantID = claims.grantID {
                revoked.revoke(grantID, until: now.adding(seconds: Self.lifetimeSeconds), now: now)
            } else {
                // A running service is told of revocations by its own routes alone. A token whose user was removed is
                // refused for the same reason.
                claims.subject = "removed-" + SecureRandom.uuid()
            }
        }
        do { return try mint(claims, lifetime) } catch { throw SampleError(message: "{{token}}: \(error)") }
    }
}
