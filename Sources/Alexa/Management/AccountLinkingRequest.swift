public import Crypto
public import JSON

/// What a skill's account linking is made of, as the skill management API takes it.
public struct AccountLinkingRequest: Hashable, Sendable {
    /// How many scopes, and how many domains, Amazon takes.
    public static let listLimit = 15

    /// The page where the user signs in and consents.
    public var authorizationURL: String
    /// Our token endpoint, or the company's.
    public var accessTokenURL: String
    /// The provider's client that Alexa is.
    public var clientID: String
    /// Its secret; nil where only the company's provider knows it.
    public var clientSecret: Secret?
    /// What Alexa asks for.
    public var scopes: [String]
    /// Domains that Alexa's sign-in window may load.
    public var domains: [String]
    /// How Alexa sends its credentials: `HTTP_BASIC` or `REQUEST_BODY_CREDENTIALS`.
    public var accessTokenScheme: String
    /// The life that Alexa assumes of a token whose life it is not told.
    public var defaultTokenExpirationSeconds: Int
    /// Where reciprocal authorization is answered; nil where it is not.
    public var reciprocalAccessTokenURL: String?
    /// The redirect addresses of the company's own apps and pages.
    public var redirectURLs: [String]
    /// Whether the skill can be enabled without linking.
    public var skipOnEnablement: Bool

    /// A request; every part is the configuration's.
    public init(
        authorizationURL: String, accessTokenURL: String, clientID: String, clientSecret: Secret?, scopes: [String],
        domains: [String], accessTokenScheme: String, defaultTokenExpirationSeconds: Int,
        reciprocalAccessTokenURL: String?, redirectURLs: [String], skipOnEnablement: Bool
    ) {
        self.authorizationURL = authorizationURL
        self.accessTokenURL = accessTokenURL
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.scopes = scopes
        self.domains = domains
        self.accessTokenScheme = accessTokenScheme
        self.defaultTokenExpirationSeconds = defaultTokenExpirationSeconds
        self.reciprocalAccessTokenURL = reciprocalAccessTokenURL
        self.redirectURLs = redirectURLs
        self.skipOnEnablement = skipOnEnablement
    }

    /// The request for somebody's eyes: the secret is redacted.
    public var shown: JSONValue { json(secret: clientSecret.map { "\($0)" } ?? "<known to the provider alone>") }

    /// The body that is sent; Amazon refuses it where `accountLinkingRequest` is not around it.
    func sent(_ secret: Secret) -> [UInt8] { json(secret: secret.exposed).encoded() }

    private func json(secret: String) -> JSONValue {
        // Only the code grant: app-to-app linking and smart home need it.
        var request: JSONObject = [
            "type": "AUTH_CODE", "authorizationUrl": .string(authorizationURL),
            "accessTokenUrl": .string(accessTokenURL), "clientId": .string(clientID), "clientSecret": .string(secret),
            "accessTokenScheme": .string(accessTokenScheme), "scopes": .array(scopes.map(JSONValue.string)),
            "domains": .array(domains.map(JSONValue.string)),
            "defaultTokenExpirationInSeconds": .integer(Int64(defaultTokenExpirationSeconds)),
            "redirectUrls": .array(redirectURLs.map(JSONValue.string)), "skipOnEnablement": .bool(skipOnEnablement),
        ]
        request["reciprocalAccessTokenUrl"] = reciprocalAccessTokenURL.map(JSONValue.string)
        return ["accountLinkingRequest": .object(request)]
    }
}
