import FoundationEssentials
import HTTP
import OAuth
import Service
import Time
import Transport

/// What `token check` judges by: the keys of a file, or the provider of a configuration.
struct TokenJudge {
    var validation: TokenValidation
    let http: any HTTPClient
    let clockOffsetSeconds: Int64
    /// Keys that are not used, and why.
    let faults: [String]

    init(jwks: String?, config: String?) async throws(UsageError) {
        if let config { try await self.init(config: config) } else { try self.init(jwks: jwks ?? "") }
    }

    private init(jwks path: String) throws(UsageError) {
        guard let bytes = FileManager.default.contents(atPath: path) else { throw UsageError("\(path) cannot be read") }
        let keys: JSONWebKeySet
        do {
            // The file was given by hand, so a private half in it is no sign that the key leaked.
            keys = try JSONWebKeySet(parsing: Array(bytes), privateMembers: .ignored)
        } catch { throw UsageError("\(path) is no key set: \(error.reason)") }
        validation = TokenValidation(issuer: nil, audience: nil, keys: .fixed(keys))
        http = NoServer()
        clockOffsetSeconds = 0
        faults = keys.faults.map { "a key is not used: \($0)" }
    }

    private init(config path: String) async throws(UsageError) {
        guard let configuration = ConfigurationFile.read(path) else { throw UsageError("\(path) cannot be used") }
        clockOffsetSeconds = configuration.clockOffsetSeconds
        faults = []
        switch configuration.provider.kind {
        case .external(let external):
            guard let validation = TokenValidation(external) else {
                throw UsageError("provider.external has neither jwksURL nor introspection")
            }
            self.validation = validation
            http = try Self.client(configuration)
        case .embedded:
            let (keys, isFetched) = try await Self.embeddedKeys(configuration)
            validation = TokenValidation(issuer: configuration.publicURL, audience: configuration.publicURL, keys: keys)
            validation.strictType = true
            http = isFetched ? try Self.client(configuration) : NoServer()
        }
    }

    /// Asks for another issuer or audience; one that is its own audience stays so.
    mutating func expect(issuer: String?, audience: String?) {
        if let issuer {
            if let own = validation.audience, own == validation.issuer { validation.audience = issuer }
            validation.issuer = issuer
        }
        if let audience { validation.audience = audience }
    }

    /// The embedded provider's keys, from its store; where that is in the memory of a running service, from there.
    private static func embeddedKeys(
        _ configuration: Configuration
    ) async throws(UsageError) -> (TokenValidation.Keys, isFetched: Bool) {
        let path = configuration.store.sqlitePath
        if path == ":memory:" { return (.fetched(url: configuration.publicURL + "/oauth/jwks.json"), true) }
        guard FileManager.default.fileExists(atPath: path) else {
            throw UsageError("there is no store at \(path) yet, so the provider has made no token")
        }
        let clock = SystemClock.clock(offsetSeconds: configuration.clockOffsetSeconds)
        do {
            let keys = SigningKeys(
                store: try StoreOpening.open(configuration, clock: clock),
                tokenSeconds: configuration.provider.accessTokenSeconds, clock: clock)
            try await keys.reload()
            return (.fixed(keys.published), false)
        } catch {
            throw UsageError((error as? ProgramFault)?.message ?? "the signing keys cannot be read: \(error)")
        }
    }

    private static func client(_ configuration: Configuration) throws(UsageError) -> any HTTPClient {
        do {
            return CurlClient(group: try EventLoopGroup(threads: 1), configuration: Program.client(configuration))
        } catch { throw UsageError("the network cannot be used: \(error)") }
    }
}

/// The client of a check that asks nobody.
private struct NoServer: HTTPClient {
    func send(_ request: OutgoingRequest, by deadline: Deadline) async throws(HTTPClientError) -> HTTPResponse {
        throw .address
    }
}
