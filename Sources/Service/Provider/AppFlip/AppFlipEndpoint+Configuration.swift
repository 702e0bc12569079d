import OAuth

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
        let users = embedded.users
        self.init(
            server: server, client: client, redirectURIs: GoogleRedirects.apps(sandbox: google.sandbox),
            validator: TokenValidator(
                validation, http: embedded.client(), clock: parts.clock, monotonic: parts.monotonic),
            revokedGrants: embedded.revokedGrants, apps: .apps(configuration),
            standing: { (subject, deadline) async throws(ProviderStoreError) in
                guard let user = try await users.current(subject: subject, by: deadline) else { return .unknown }
                return user.isDisabled ? .disabled : .good
            },
            jsonDepth: configuration.limits.jsonDepth, log: parts.log)
    }
}
