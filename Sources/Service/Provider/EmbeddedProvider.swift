public import Alexa
public import Crypto
public import HTTP
import JSON
public import OAuth
public import Telemetry
public import Time

/// The provider that lives in this process: its signing keys, its users, what its resource server says of them, and
/// their devices.
///
/// The rest of the service speaks to it as to an external one, through ``client(otherwise:)``.
public final class EmbeddedProvider: Sendable {
    /// Where the provider is reached within the process; the name can exist nowhere else (RFC 6761 §6.4).
    public static let origin = "http://provider.invalid"
    /// What `provider.external.resources.baseURL` would be.
    public static let resourcesURL = origin + "/v1"
    /// What `provider.external.jwksURL` would be.
    public static let jwksURL = origin + "/oauth/jwks.json"
    /// How long one of its answers may take.
    static let timeLimit: Duration = .seconds(5)

    /// Judges the provider's own tokens, as any others are: by the key set that it publishes.
    public let validator: TokenValidator
    /// The grants that were revoked while tokens of theirs live.
    public let revokedGrants: RevokedGrants
    /// The users.
    public let users: UserDirectory
    /// The routes, for the service's router.
    public let routes: [Route]
    private let router: Router
    private let issuer: String
    private let audience: String
    private let keys: SigningKeys
    private let clock: WallClock

    /// Takes what a slow device will say, and after how many seconds.
    public typealias LateAnswer = @Sendable (PostedEvent, Int64) -> Void

    /// A provider called `issuer`; a token has to have `accountScopes` for `/v1/me`, and `deviceScopes` for devices.
    ///
    /// `keys` are loaded before the first request.
    public init(
        issuer: String, audience: String? = nil, users: UserDirectory, devices: Devices? = nil, keys: SigningKeys,
        accountScopes: Set<String>, deviceScopes: Set<String> = [],
        lateAnswer: LateAnswer? = nil, revokedGrants: RevokedGrants = RevokedGrants(), clock: @escaping WallClock,
        monotonic: @escaping @Sendable () -> ContinuousClock.Instant, keptTokenLimit: Int = 100_000,
        log: Log = .silent,
        observe: @escaping @Sendable (TokenEvent) -> Void = { _ in }
    ) {
        let audience = audience ?? issuer
        let jwks = Self.jwksRoute(keys, log)
        var validation = TokenValidation(issuer: issuer, audience: audience, keys: .fetched(url: Self.jwksURL))
        validation.strictType = true
        validation.keptTokenLimit = keptTokenLimit
        let validator = TokenValidator(
            validation, http: RouterClient(origin: Self.origin, responder: Router([jwks])), clock: clock,
            monotonic: monotonic, revokedGrants: revokedGrants,
            // A user who was removed or disabled has no good token, however long it would live.
            subjects: users.check, observe: observe)
        let bearer = BearerGuard(validator: validator, realm: "skillgate", log: log)
        self.issuer = issuer
        self.audience = audience
        self.users = users
        self.keys = keys
        self.clock = clock
        self.revokedGrants = revokedGrants
        self.validator = validator
        let deviceRoutes = EmbeddedDevices(devices, clock: clock).routes(
            bearer: bearer, scopes: deviceScopes, timeLimit: Self.timeLimit, later: lateAnswer)
        routes =
            [jwks, Self.accountRoute(users, bearer, accountScopes)]
            + [HTTPMethod.get, .post].map { Self.userInfoRoute($0, users, bearer, accountScopes) } + deviceRoutes
        router = Router(routes)
    }

    /// A client that reaches the provider, and by `otherwise` everything else.
    public func client(otherwise: (any HTTPClient)? = nil) -> RouterClient {
        RouterClient(origin: Self.origin, responder: router, otherwise: otherwise)
    }

    /// An access token of this provider.
    ///
    /// - Throws: `SigningKeyError` where no key signs, `CryptoError` where signing fails.
    public func accessToken(_ claims: AccessTokenMinter.Claims, lifetimeSeconds: Int64) throws -> Secret {
        let minter = AccessTokenMinter(issuer: issuer, audience: audience, key: try keys.current())
        return try minter.token(claims, lifetimeSeconds: lifetimeSeconds, now: clock())
    }

    /// `GET /oauth/jwks.json`: the public halves of the keys.
    static func jwksRoute(_ keys: SigningKeys, _ log: Log) -> Route {
        Route(.get, "/oauth/jwks.json", timeLimit: timeLimit) { _, _ in
            let set = keys.published
            guard !set.keys.isEmpty else {
                let traceID = TraceID.random()
                log.error("the provider has no signing key", .traceID(traceID))
                var response = Problem(
                    status: 503, code: "provider.noKeys", detail: "No key is loaded", traceID: traceID
                ).response
                response.fields["Retry-After"] = "5"
                return response
            }
            return HTTPResponse(
                status: 200,
                fields: [
                    "Content-Type": "application/json",
                    "Cache-Control": "public, max-age=\(SigningKeys.maxAgeSeconds)",
                ], body: set.json.encoded())
        }
    }

    /// `GET /v1/me`: who the token's user is.
    private static func accountRoute(
        _ users: UserDirectory, _ bearer: BearerGuard, _ scopes: Set<String>
    ) -> Route {
        Route(.get, "/v1/me", timeLimit: timeLimit) { request, _ in
            switch await bearer.outcome(for: request, scopes: scopes) {
            case .refusal(let response): return response
            case .principal(let principal):
                return await answer(of: principal, users, bearer, scopes, by: request.deadline) { user in user.json }
            }
        }
    }

    /// `GET` and `POST /oauth/userinfo`: `sub` for every good token, the rest where the token reaches that far.
    private static func userInfoRoute(
        _ method: HTTPMethod, _ users: UserDirectory, _ bearer: BearerGuard, _ scopes: Set<String>
    ) -> Route {
        Route(method, "/oauth/userinfo", timeLimit: timeLimit) { request, _ in
            switch await bearer.outcome(for: request, scopes: []) {
            case .refusal(let response): return response
            case .principal(let principal):
                return await answer(of: principal, users, bearer, [], by: request.deadline) { user in
                    principal.scopes.isSuperset(of: scopes) ? user.json : ["sub": .string(user.subject)]
                }
            }
        }
    }

    /// What is said of the token's user.
    private static func answer(
        of principal: Principal, _ users: UserDirectory, _ bearer: BearerGuard, _ scopes: Set<String>,
        by deadline: Deadline, _ json: (Users.User) -> JSONValue
    ) async -> HTTPResponse {
        do throws(ProviderStoreError) {
            let user = try await users.user(subject: principal.subject, by: deadline)
            // A user who was removed or disabled has no good token, however long it would live.
            guard let user, !user.isDisabled else { return bearer.refusal(for: .revoked, scopes: scopes) }
            return HTTPResponse(json: json(user))
        } catch {
            return bearer.refusal(for: .providerUnreachable, scopes: scopes)
        }
    }
}

extension Users.User {
    /// What the resource server says of the user.
    fileprivate var json: JSONValue {
        var object: JSONObject = ["sub": .string(subject), "name": .string(name)]
        if let email { object["email"] = .string(email) }
        if let locale { object["locale"] = .string(locale) }
        return .object(object)
    }
}
