public import OAuth

extension TokenValidation {
    /// How the tokens of the company's provider are judged; nil where it says neither where its keys are nor where
    /// tokens are introspected.
    public init?(_ external: Configuration.External) {
        guard external.jwksURL != nil || external.introspection != nil else { return nil }
        self.init(
            issuer: external.issuer, audience: external.audience,
            keys: external.jwksURL.map { .fetched(url: $0) } ?? .none,
            introspection: external.introspection.map {
                .init(url: $0.url, clientID: $0.clientID, clientSecret: $0.clientSecret)
            }, strictType: external.strictType)
    }
}
