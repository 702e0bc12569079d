import HTTP
import OAuth
import Telemetry
import Time

extension ClientRule {
    /// The clients whose tokens the routes for the company's apps take.
    static func apps(_ configuration: Configuration) -> ClientRule {
        if let clients = configuration.apps.clients { return .oneOf(clients) }
        return .noneOf(
            Set(configuration.skills.map(\.providerClient) + [configuration.google?.clientID].compactMap(\.self)))
    }
}

extension AppFlipEndpoint {
    /// The endpoint over the embedded provider; nil where the configuration has no Google.
    init?(
        _ configuration: Configuration, _ parts: ServiceParts, server: AuthorizationServer, embedded: EmbeddedProvider
    ) {
        guard let google = configuration.google, let client = server.clients[google.clientID] else { return nil }
        var validation = TokenValidation(
            issuer: configuration.publicURL, audience: configuration.publicURL,
            keys: .fetched(url: EmbeddedProvider.jwksURL))
        validation.strictType = true
        validation.keptTokenLimit = 1000
        let (users, revokedGrants) = (embedded.users, embedded.revokedGrants)
        self.init(
            configuration, google, codes: .embedded(server, client),
            validator: TokenValidator(
                validation, http: embedded.client(), clock: parts.clock, monotonic: parts.monotonic),
            log: parts.log
        ) { (principal, deadline) async throws(ProviderStoreError) in
            guard let user = try await users.current(subject: principal.subject, by: deadline) else { return .unknown }
            if user.isDisabled { return .disabled }
            // Asked last: disabling a user revokes the grants too.
            return principal.grantID.map(revokedGrants.contains) == true ? .unknown : .good
        }
    }

    /// The endpoint over the company's own provider, whose tokens `validator` judges; nil where the configuration has
    /// no Google, or no address that gives codes.
    init?(_ configuration: Configuration, _ parts: ServiceParts, validator: TokenValidator) {
        guard let google = configuration.google, case .external(let external) = configuration.provider.kind,
            let endpoint = external.code
        else { return nil }
        let provider = configuration.provider
        self.init(
            configuration, google,
            codes: .external(
                endpoint, parts.http, clientID: google.clientID,
                scopes: Set(provider.customScopes + provider.smartHomeScopes)),
            validator: validator, log: parts.log
        ) { _, _ in .good }
    }

    private init(
        _ configuration: Configuration, _ google: Configuration.Google, codes: AppFlipCodes, validator: TokenValidator,
        log: Log, standing: @escaping @Sendable (Principal, Deadline) async throws(ProviderStoreError) -> Standing
    ) {
        self.init(
            clientID: google.clientID, codes: codes, redirectURIs: GoogleRedirects.apps(sandbox: google.sandbox),
            validator: validator, apps: .apps(configuration), standing: standing,
            jsonDepth: configuration.limits.jsonDepth, log: log)
    }
}
