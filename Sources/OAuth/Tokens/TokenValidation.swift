public import Crypto

/// How the access tokens of one provider are judged.
public struct TokenValidation: Sendable {
    /// Where the keys come from.
    public enum Keys: Sendable {
        /// The tokens are not judged as JWTs: introspection alone decides.
        case none
        /// The key set at this address, from the configuration and never from a token.
        case fetched(url: String)
        /// These keys.
        case fixed(JSONWebKeySet)
    }

    /// An introspection endpoint (RFC 7662) and the pair that we show there by HTTP Basic.
    public struct Introspection: Sendable {
        /// The address.
        public var url: String
        /// Our client id there.
        public var clientID: String
        /// Our secret there.
        public var clientSecret: Secret

        /// An introspection endpoint.
        public init(url: String, clientID: String, clientSecret: Secret) {
            self.url = url
            self.clientID = clientID
            self.clientSecret = clientSecret
        }
    }

    /// The issuer that a JWT must name; nil takes any.
    ///
    /// An introspection answer may leave it out.
    public var issuer: String?
    /// The audience that a JWT must name; nil takes any.
    ///
    /// An introspection answer may leave it out.
    public var audience: String?
    /// The keys for JWTs.
    public var keys: Keys
    /// The introspection endpoint; with keys too, a token has to pass both.
    public var introspection: Introspection?
    /// Whether a JWT must say that it is an access token: `typ` `at+jwt` (RFC 9068 §2.1).
    public var strictType: Bool
    /// Whether a JWT must have an end; where introspection is asked too it need not.
    public var requiresExpiry: Bool
    /// What clocks may differ, on `exp`, `nbf` and `iat`.
    public var leewaySeconds: Int64 = 60
    /// How many tokens are kept.
    public var keptTokenLimit = 100_000
    /// Of how many addresses key sets are kept.
    public var keptKeySetLimit = 16
    /// How long an active introspection answer is believed.
    public var activeSeconds: Int64 = 30
    /// How long an inactive introspection answer is believed.
    public var inactiveSeconds: Int64 = 10

    /// A way to judge tokens.
    public init(
        issuer: String?, audience: String?, keys: Keys, introspection: Introspection? = nil, strictType: Bool = false
    ) {
        self.issuer = issuer
        self.audience = audience
        self.keys = keys
        self.introspection = introspection
        self.strictType = strictType
        requiresExpiry = introspection == nil
    }
}

/// Which clients' tokens are taken.
public enum ClientRule: Hashable, Sendable {
    /// Those of every client.
    case any
    /// Those of one client, and those that name none.
    case issuedTo(String)
    /// Those that name one of these clients.
    case oneOf(Set<String>)
    /// Those of every client but these.
    case noneOf(Set<String>)

    func admits(_ clientID: String?) -> Bool {
        switch self {
        case .any: true
        case .issuedTo(let client): clientID.map { isSame($0, client) } ?? true
        case .oneOf(let clients): clientID.map { clients.contains($0) } ?? false
        case .noneOf(let clients): clientID.map { !clients.contains($0) } ?? true
        }
    }
}

/// What a validator has to tell an operator; nothing of it is secret.
public enum TokenEvent: Hashable, Sendable {
    /// A key set was fetched; so many of its keys are usable, and these are the faults of the others.
    case keysFetched(usable: Int, faults: [String])
    /// The key set could not be fetched; the last good one goes on serving, where there is one.
    case keysUnavailable(String)
    /// The introspection endpoint did not answer as it must.
    case introspectionUnavailable(String)
    /// The store of the users did not answer, so that nothing is known of a token's user.
    case usersUnavailable(String)
    /// A token names a key that the issuer does not publish: at most 64 characters of the id, escaped.
    case unknownKey(id: String)
}
