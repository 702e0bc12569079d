public import Crypto
public import Time

/// What the authorization server has to tell an operator; nothing of it is secret.
public enum ProviderEvent: Sendable, Hashable {
    /// Tokens were given out.
    case issued(ProviderClient.Grant, client: String)
    /// A request was refused; the client that sent it, or says to be it, where that is one of ours.
    case refused(OAuthRefusal, client: String?)
    /// A code came twice, and everything that it brought was revoked.
    case codeReplayed(client: String, grantID: String)
    /// A refresh token came long after it was replaced, and its family was revoked.
    case refreshReplayed(client: String, grantID: String)
    /// A code for one address was redeemed with another, and taken all the same where the client may do that.
    case redirectMismatch(client: String, bound: String, sent: String, isTaken: Bool)
    /// A refresh token is not in the store.
    case unknownRefreshToken(client: String)
    /// The store did not answer.
    case storeUnavailable(String)
}

/// The one owner of codes, refresh tokens and grants.
///
/// It reads no clock and logs nothing itself; what it answers is in the store before the answer leaves.
public final class AuthorizationServer: Sendable {
    /// How long a code is good (RFC 6749 §4.1.2 allows 10 minutes).
    public static let codeSeconds: Int64 = 300
    /// How long a replaced refresh token is answered as before: two refreshes at one moment are no theft.
    public static let graceSeconds: Int64 = 30
    /// How long a refresh token that is replaced on each use may lie idle; those of linking clients do not end.
    public static let idleSeconds: Int64 = 90 * 86_400
    /// What verifiers' clocks may differ.
    static let leewaySeconds: Int64 = 60

    /// What a server is made of.
    public struct Parts: Sendable {
        /// Our own address, which tokens name.
        public var issuer: String
        /// The clients.
        public var clients: ProviderClients
        /// Keeps what is given out.
        public var store: any ProviderStore
        /// Sign the tokens.
        public var keys: SigningKeys
        /// How long an access token is good.
        public var accessTokenSeconds: Int64
        /// Judges users' access tokens; nil where users are known elsewhere.
        public var validator: TokenValidator?
        /// Judges back ends' access tokens.
        public var backEndValidator: TokenValidator?
        /// What the validator refuses.
        public var revokedGrants: RevokedGrants
        /// Whether a user may still use tokens.
        public var isSubject: @Sendable (String, Deadline) async throws(ProviderStoreError) -> Bool
        /// What a user is called at sign-in.
        public var username: @Sendable (String, Deadline) async throws(ProviderStoreError) -> String?
        /// The time of day.
        public var clock: WallClock
        /// The monotonic clock.
        public var monotonic: @Sendable () -> ContinuousClock.Instant
        /// Is told what happens.
        public var observe: @Sendable (ProviderEvent) -> Void

        /// The parts of a server without users: it answers back ends alone.
        public init(
            issuer: String, clients: ProviderClients, store: any ProviderStore, keys: SigningKeys,
            accessTokenSeconds: Int64, clock: @escaping WallClock,
            monotonic: @escaping @Sendable () -> ContinuousClock.Instant
        ) {
            self.issuer = issuer
            self.clients = clients
            self.store = store
            self.keys = keys
            self.accessTokenSeconds = accessTokenSeconds
            self.clock = clock
            self.monotonic = monotonic
            revokedGrants = RevokedGrants()
            isSubject = { (_, _) async throws(ProviderStoreError) in false }
            username = { (_, _) async throws(ProviderStoreError) in nil }
            observe = { _ in }
        }
    }

    let parts: Parts
    /// Proves which client calls; shared with the routes of back ends, so that wrong secrets are counted once.
    public let authenticator: ClientAuthenticator

    /// A server.
    public init(_ parts: Parts) {
        self.parts = parts
        authenticator = ClientAuthenticator(clients: parts.clients, now: parts.monotonic)
    }

    /// The clients.
    public var clients: ProviderClients { parts.clients }
    /// The resource that users' tokens are for.
    public var resource: String { parts.issuer }
    /// The audience of back ends' tokens: no user's route takes one of them, and theirs take no user's token.
    public static func backEndAudience(issuer: String) -> String { issuer + "/back-ends" }

    /// A code for what the user has consented to; the consent is a new grant.
    ///
    /// - Throws: ``ProviderStoreError`` where it cannot be stored.
    public func code(
        for request: AuthorizationRequest, subject: String, by deadline: Deadline
    ) async throws(ProviderStoreError) -> Secret {
        try await mint(
            client: request.client, redirectURI: request.redirectURI, scopes: request.scopes,
            challenge: request.challenge, subject: subject, by: deadline
        ).code
    }

    /// A code that no browser asked for, and the grant that its tokens will be of.
    public struct MintedCode: Sendable, Hashable {
        /// The code.
        public let code: Secret
        /// The grant's id, by which everything that comes of the code can be revoked.
        public let grantID: String
    }

    /// A code that is not asked for by a browser and so has no proof key: for App Flip and the enablement call.
    ///
    /// - Throws: ``ProviderStoreError`` where it cannot be stored.
    public func mintCode(
        client: ProviderClient, redirectURI: String, scopes: [String], subject: String, by deadline: Deadline
    ) async throws(ProviderStoreError) -> MintedCode {
        try await mint(
            client: client, redirectURI: redirectURI, scopes: scopes, challenge: nil, subject: subject, by: deadline)
    }

    /// Takes back a code that nobody has used; says whether there was one.
    ///
    /// - Throws: ``ProviderStoreError`` where the store does not answer.
    @discardableResult
    public func withdraw(code: Secret, by deadline: Deadline) async throws(ProviderStoreError) -> Bool {
        try await parts.store.withdraw(codeHash: tokenHash(code), by: deadline)
    }

    private func mint(
        client: ProviderClient, redirectURI: String, scopes: [String], challenge: String?, subject: String,
        by deadline: Deadline
    ) async throws(ProviderStoreError) -> MintedCode {
        let now = parts.clock()
        let code = Secret(SecureRandom.token())
        let grant = ProviderGrant(
            id: SecureRandom.token(bytes: 16), subject: subject, clientID: client.id, scopes: scopes, createdAt: now)
        let record = CodeRecord(
            hash: tokenHash(code), redirectURI: redirectURI, challenge: challenge,
            expiresAt: now.adding(seconds: Self.codeSeconds))
        try await parts.store.add(grant, code: record, by: deadline)
        return MintedCode(code: code, grantID: grant.id)
    }
}
