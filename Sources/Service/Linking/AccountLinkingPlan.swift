public import Alexa
public import Crypto

/// What Amazon's console has to know of a skill's account linking, made from the configuration.
public struct AccountLinkingPlan: Sendable {
    /// An address that the provider's client must have as redirect URI.
    public struct Redirect: Hashable, Sendable {
        /// The address, character by character.
        public let url: String
        /// Who sends users there.
        public let purpose: String
        /// Whether the provider's client has it; nil where the company's provider is asked and not we.
        public let isRegistered: Bool?
        /// Whether linking works without it.
        public let isOptional: Bool
    }

    /// The skill.
    public let skill: Configuration.Skill
    /// What is sent.
    public let request: AccountLinkingRequest
    /// Amazon's redirect addresses for the vendor; where the provider is the company's, then the skill's own.
    public let redirects: [Redirect]
    /// What will not work as it is, or may not; each with what to do.
    public let remarks: [String]

    /// The hosts that send the user back from the consent page, by region; the path and the vendor's id follow.
    static let amazonHosts: [(host: String, purpose: String, isOptional: Bool)] = [
        ("pitangui.amazon.com", "Alexa, NA", false), ("layla.amazon.com", "Alexa, EU", false),
        ("alexa.amazon.co.jp", "Alexa, FE", false),
        ("skills-store.amazon.com", "Alexa, seen at some vendors", true),
    ]

    /// The plan for a skill of that configuration.
    ///
    /// - Throws: `FileFaults` with the keys that are missing for it.
    public init(_ skill: Configuration.Skill, _ configuration: Configuration) throws(FileFaults) {
        let key = "skills[\(configuration.skills.firstIndex { $0.name == skill.name } ?? 0)]"
        guard let linking = skill.linking else {
            throw FileFaults([
                FileFault(path: "\(key).linking", problem: "missing: \(skill.name) has no account linking to set up")
            ])
        }
        let ends = try Self.endpoints(configuration, client: linking.providerClient, key: "\(key).linking")
        let client = configuration.provider.client(linking.providerClient)
        let scopes = Self.scopes(of: skill, configuration.provider)
        if scopes.count > AccountLinkingRequest.listLimit {
            throw FileFaults([
                FileFault(
                    path: "provider.scopes",
                    problem: "custom and smartHome are \(scopes.count) scopes together, and Amazon takes "
                        + "\(AccountLinkingRequest.listLimit): leave some out")
            ])
        }
        self.skill = skill
        request = AccountLinkingRequest(
            authorizationURL: ends.authorization, accessTokenURL: ends.token, clientID: linking.providerClient,
            clientSecret: client?.secret, scopes: scopes, domains: linking.domains,
            accessTokenScheme: linking.accessTokenScheme,
            defaultTokenExpirationSeconds: linking.defaultTokenExpirationSeconds,
            reciprocalAccessTokenURL: linking.reciprocal ? configuration.publicURL + ReciprocalEndpoint.path : nil,
            redirectURLs: linking.redirectURLs, skipOnEnablement: linking.skipOnEnablement)
        let registered = ends.isEmbedded ? client?.redirectURIs ?? [] : nil
        redirects = Self.redirects(linking, registered)
        remarks = Self.remarks(request, linking, ends.isEmbedded ? client : nil)
    }

    private struct Endpoints {
        let authorization: String
        let token: String
        let isEmbedded: Bool
    }

    private static func endpoints(
        _ configuration: Configuration, client: String, key: String
    ) throws(FileFaults) -> Endpoints {
        switch configuration.provider.kind {
        case .embedded:
            guard let known = configuration.provider.client(client) else {
                throw FileFaults([
                    FileFault(
                        path: "\(key).providerClient",
                        problem: "none of provider.clients has the id \(client): add the client, with a secret")
                ])
            }
            guard known.secret != nil else {
                throw FileFaults([
                    FileFault(
                        path: "\(key).providerClient", problem: "Alexa proves itself by a secret: give \(client) one")
                ])
            }
            return Endpoints(
                authorization: configuration.publicURL + AuthorizationPages.path,
                token: configuration.publicURL + TokenRoutes.tokenPath, isEmbedded: true)
        case .external(let external):
            guard let login = external.login else {
                throw FileFaults([
                    FileFault(
                        path: "provider.external.login",
                        problem: "missing: authorizationURL and tokenURL say where Alexa sends users and redeems codes")
                ])
            }
            return Endpoints(authorization: login.authorizationURL, token: login.tokenURL, isEmbedded: false)
        }
    }

    /// Those of a custom skill, those of a smart-home skill, or both, each once; a skill without intents that answers
    /// directives is no custom skill.
    static func scopes(of skill: Configuration.Skill, _ provider: Configuration.Provider) -> [String] {
        let isCustom = skill.intents != nil || !skill.isSmartHome
        let needed = (isCustom ? provider.customScopes : []) + (skill.isSmartHome ? provider.smartHomeScopes : [])
        return needed.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    private static func redirects(_ linking: Configuration.Linking, _ registered: [String]?) -> [Redirect] {
        let amazon = amazonHosts.compactMap { host, purpose, isOptional in
            linking.vendorID.map { ("https://\(host)/api/skill/link/\($0)", purpose, isOptional) }
        }
        // The embedded provider binds a code to these by itself; the company's may want them registered.
        let own =
            registered == nil ? linking.redirectURLs.map { ($0, "linking from the app and the website", false) } : []
        return (amazon + own).map { url, purpose, isOptional in
            Redirect(
                url: url, purpose: purpose,
                // Character by character: two texts that Swift calls equal can differ in bytes.
                isRegistered: registered.map { $0.contains { Array($0.utf8) == Array(url.utf8) } },
                isOptional: isOptional)
        }
    }

    private static func remarks(
        _ request: AccountLinkingRequest, _ linking: Configuration.Linking, _ client: Configuration.Client?
    ) -> [String] {
        var remarks: [String] = []
        for url in [request.authorizationURL, request.accessTokenURL] {
            guard let address = WebAddress(url), !address.isSecure || (address.port ?? 443) != 443 else { continue }
            remarks.append("Amazon takes https addresses on port 443 alone, and \(url) is none")
        }
        if linking.vendorID == nil {
            remarks.append(
                "linking.vendorID is not set, so Alexa's redirect addresses are not listed: the console shows them, "
                    + "and the id is what they end with")
        }
        guard let client else { return remarks }
        let needed: Configuration.Client.Authentication =
            request.accessTokenScheme == "HTTP_BASIC" ? .basic : .body
        if !client.authentication.contains(needed) {
            remarks.append(
                "the client \(client.id) does not take \(needed.rawValue), by which Alexa would prove itself "
                    + "(accessTokenScheme): add it to its authentication")
        }
        for scope in request.scopes where !client.scopes.contains(scope) {
            remarks.append("the client \(client.id) may not ask for the scope \(scope): add it to its scopes")
        }
        for grant in [Configuration.Client.Grant.authorizationCode, .refreshToken] where !client.grants.contains(grant)
        {
            remarks.append("the client \(client.id) lacks the grant \(grant.rawValue): add it to its grants")
        }
        return remarks
    }
}

extension Configuration {
    /// The token for Amazon's skill management API.
    ///
    /// - Throws: `FileFaults` where the file names none.
    public func skillManagementToken() throws(FileFaults) -> Secret {
        guard let token = smapiToken else {
            throw FileFaults([
                FileFault(
                    path: "smapi.token",
                    problem: "missing: make one with \"ask util generate-lwa-tokens\", scope "
                        + "alexa::ask:skills:readwrite, and name where it is: {\"env\": \"NAME\"}")
            ])
        }
        return token
    }
}
