public import Crypto

/// A client of the embedded provider, as its rules see it.
public struct ProviderClient: Sendable {
    /// How a client may prove itself.
    public enum Authentication: Sendable, Hashable {
        /// By HTTP Basic.
        case basic
        /// By its secret in the body.
        case body
        /// Not at all: a public client.
        case none
    }
    /// What a client may ask tokens by.
    public enum Grant: String, Sendable, Hashable, CaseIterable {
        /// A code.
        case authorizationCode = "authorization_code"
        /// A refresh token.
        case refreshToken = "refresh_token"
        /// Its own credentials.
        case clientCredentials = "client_credentials"
    }
    /// What a back end may do.
    public enum Role: Sendable, Hashable {
        /// See links, traces and every token's state.
        case `operator`
        /// Tell of devices that changed.
        case events
    }

    /// The id.
    public let id: String
    /// The secret; nil for a public client.
    public let secret: Secret?
    /// The ways in which it may prove itself.
    public let authentication: Set<Authentication>
    /// Where codes may be sent, compared as whole texts.
    public let redirectURIs: [String]
    /// The scopes that it may ask for, in the order of the configuration.
    public let scopes: [String]
    /// What it may ask tokens by.
    public let grants: Set<Grant>
    /// Whether a refresh token is replaced when it is used.
    public let rotatesRefreshTokens: Bool
    /// Whether a code must be bound to a proof key.
    public let requiresPKCE: Bool
    /// What it may do besides.
    public let role: Role?
    /// Addresses among which it may redeem a code of one with another, or with none: the difference is only logged.
    public var interchangeableRedirectURIs: Set<String> = []

    /// A client.
    public init(
        id: String, secret: Secret?, authentication: Set<Authentication>, redirectURIs: [String], scopes: [String],
        grants: Set<Grant>, rotatesRefreshTokens: Bool, requiresPKCE: Bool, role: Role? = nil
    ) {
        self.id = id
        self.secret = secret
        self.authentication = authentication
        self.redirectURIs = redirectURIs
        self.scopes = scopes
        self.grants = grants
        self.rotatesRefreshTokens = rotatesRefreshTokens
        self.requiresPKCE = requiresPKCE
        self.role = role
    }

    /// Whether the client has no secret.
    public var isPublic: Bool { secret == nil }

    /// Whether a code may be sent to `uri`: whole texts are compared, byte by byte.
    ///
    /// The one exception is the port of an app's loopback address (RFC 8252 §7.3), which the system chooses.
    public func accepts(redirectURI uri: String) -> Bool {
        redirectURIs.contains { Array($0.utf8) == Array(uri.utf8) } || isPublic && acceptsLoopback(uri)
    }

    /// The scopes of a list, all of them the client's; all of those where the list is absent or empty, nil where one is
    /// not.
    public func scopes(requested list: String?) -> [String]? { try? requestedScopes(list, among: scopes) }

    /// Whether a code that was sent to `bound` may be redeemed with `sent` although they differ.
    func takes(redirectURI sent: String?, insteadOf bound: String) -> Bool {
        interchangeableRedirectURIs.contains(bound) && (sent.map(interchangeableRedirectURIs.contains) ?? true)
    }

    private func acceptsLoopback(_ uri: String) -> Bool {
        guard let asked = Self.withoutPort(uri) else { return false }
        return redirectURIs.contains { Self.withoutPort($0) == asked }
    }

    /// A loopback address without its port; nil for any other address.
    private static func withoutPort(_ uri: String) -> [UInt8]? {
        for host in ["http://127.0.0.1", "http://[::1]"] where uri.hasPrefix(host) {
            var rest = uri.utf8.dropFirst(host.utf8.count)
            if rest.first == UInt8(ascii: ":") {
                let digits = rest.dropFirst().prefix { (48...57).contains($0) }
                guard !digits.isEmpty, let port = Int(String(decoding: digits, as: UTF8.self)), (1...65_535) ~= port
                else { return nil }
                rest = rest.dropFirst(1 + digits.count)
            }
            guard rest.first == UInt8(ascii: "/") else { return nil }
            return Array(host.utf8) + rest
        }
        return nil
    }
}

/// The provider's clients, by id.
public struct ProviderClients: Sendable {
    /// Every client, in the order of the configuration.
    public let all: [ProviderClient]
    private let byID: [[UInt8]: ProviderClient]

    /// The clients; of two with one id the first counts.
    public init(_ clients: [ProviderClient]) {
        all = clients
        byID = Dictionary(clients.map { (Array($0.id.utf8), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The client of exactly that id.
    public subscript(id: String) -> ProviderClient? { byID[Array(id.utf8)] }
}
