public import Crypto

extension Configuration {
    /// Who knows the users: the provider in this process, or the company's own.
    public struct Provider: Sendable {
        /// Where the users are known.
        public enum Kind: Sendable {
            /// In this process.
            case embedded(Embedded)
            /// At the company.
            case external(External)
        }

        /// Which of the two.
        public var kind = Kind.embedded(Embedded())
        /// The scopes that a token for a custom skill needs.
        public var customScopes: [String] = []
        /// The scopes that a token for a smart-home skill needs.
        public var smartHomeScopes: [String] = []
        /// What each scope lets its holder do, for the page that asks.
        public var scopeDescriptions: [String: LocalizedText] = [:]
        /// For how long an access token of the embedded provider is good.
        public var accessTokenSeconds: Int64 = 3600
        /// The clients, back ends of the company included.
        public var clients: [Client] = []

        /// The client of that id.
        public func client(_ id: String) -> Client? { clients.first { $0.id == id } }
    }

    /// The provider in this process.
    public struct Embedded: Sendable {
        /// The users of the file that the configuration names.
        public var users: Users?
        /// The devices of the file that the configuration names.
        public var devices: Devices?
    }

    /// The company's provider.
    public struct External: Sendable {
        /// An endpoint, and the pair that we show there.
        public struct Endpoint: Sendable {
            /// The address.
            public var url: String
            /// Our id there.
            public var clientID: String
            /// Our secret there.
            public var clientSecret: Secret
        }
        /// The endpoint that revokes.
        public struct Revocation: Sendable {
            /// What it is told.
            public enum Subject: String, Sendable, CaseIterable {
                /// The token (RFC 7009).
                case token
                /// The user and the client.
                case subject
            }
            /// The address.
            public var url: String
            /// What it is told.
            public var by: Subject
            /// The pair that we show there; without one the endpoint has to know us by other means.
            public var pair: Pair?
        }
        /// An id and a secret of ours.
        public struct Pair: Sendable {
            /// Our id there.
            public var clientID: String
            /// Our secret there.
            public var clientSecret: Secret
        }
        /// The sign-in of our pages at the company.
        public struct Login: Sendable {
            /// Our id there.
            public var clientID: String
            /// Our secret there.
            public var clientSecret: Secret
            /// The page for the user.
            public var authorizationURL: String
            /// The token endpoint.
            public var tokenURL: String
        }

        /// The issuer that its tokens name.
        public var issuer: String?
        /// The address of its key set.
        public var jwksURL: String?
        /// The introspection endpoint (RFC 7662).
        public var introspection: Endpoint?
        /// The audience that its tokens name.
        public var audience: String?
        /// Whether a token must say that it is an access token.
        public var strictType = false
        /// Where a code for Alexa is asked for.
        public var code: Endpoint?
        /// Where a user's tokens are revoked.
        public var revocation: Revocation?
        /// The sign-in of our pages.
        public var login: Login?
        /// Where the users' resources are.
        public var resourcesURL: String?
    }

    /// A client of the provider.
    public struct Client: Sendable {
        /// How a client proves itself at the token endpoint.
        public enum Authentication: String, Sendable, CaseIterable {
            /// By HTTP Basic.
            case basic
            /// By `client_id` and `client_secret` in the body.
            case body
            /// Not at all: a public client.
            case none
        }
        /// What a client can ask tokens by.
        public enum Grant: String, Sendable, CaseIterable {
            /// A code that the user's consent gave.
            case authorizationCode = "authorization_code"
            /// A refresh token.
            case refreshToken = "refresh_token"
            /// The client's own credentials.
            case clientCredentials = "client_credentials"
        }
        /// What a back end may do besides.
        public enum Role: String, Sendable, CaseIterable {
            /// See links and traces.
            case `operator`
            /// Tell of devices that changed.
            case events
        }

        /// The id.
        public var id: String
        /// The secret; none for a public client.
        public var secret: Secret?
        /// The ways in which it may prove itself.
        public var authentication: Set<Authentication>
        /// Where codes may be sent, compared character by character.
        public var redirectURIs: [String]
        /// The scopes that it may ask for.
        public var scopes: [String]
        /// What it can ask tokens by.
        public var grants: Set<Grant>
        /// Whether a refresh token is replaced when it is used.
        public var rotatesRefreshTokens: Bool
        /// Whether a code must be bound to a proof key.
        public var requiresPKCE: Bool
        /// What it may do besides.
        public var role: Role?

        /// Whether the client has no secret.
        public var isPublic: Bool { secret == nil }
    }
}
