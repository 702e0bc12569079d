import FoundationEssentials
import Glibc
import HTTP
import OAuth
import Service
import Storage
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
        let configuration: Configuration
        do { configuration = try Configuration(try ConfigurationSource(path: path)) } catch {
            let lines = error.faults.map { $0.path.isEmpty ? $0.problem : "\($0.path): \($0.problem)" }
            throw UsageError("\(path):\n" + lines.joined(separator: "\n"))
        }
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

    /// The embedded provider's keys, from its store; where that is in the memory of a running service, from there.
    private static func embeddedKeys(
        _ configuration: Configuration
    ) async throws(UsageError) -> (TokenValidation.Keys, isFetched: Bool) {
        let path = configuration.store.sqlitePath
        if path == ":memory:" { return (.fetched(url: configuration.publicURL + "/oauth/jwks.json"), true) }
        guard FileManager.default.fileExists(atPath: path), let secret = configuration.store.encryptionKeys else {
            throw UsageError("there is no store at \(path) yet, so the provider has made no token")
        }
        do {
            let sealing = try SealingKeys(text: secret, origin: "store.encryptionKey")
            let store = try SQLiteStore(url: "sqlite:" + path, keys: sealing, clock: systemTime)
            let keys = SigningKeys(
                store: store, tokenSeconds: configuration.provider.accessTokenSeconds, clock: systemTime)
            try await keys.reload()
            return (.fixed(keys.published), false)
        } catch { throw UsageError("the signing keys cannot be read from \(path): \(error)") }
    }

    private static func client(_ configuration: Configuration) throws(UsageError) -> any HTTPClient {
        var client = ClientConfiguration()
        client.caFile = configuration.http.caFilePath
        client.resolve = configuration.http.resolve
        client.proxy = configuration.http.proxy
        do {
            return CurlClient(group: try EventLoopGroup(threads: 1), configuration: client)
        } catch { throw UsageError("the network cannot be used: \(error)") }
    }
}

/// The time of day.
@Sendable func systemTime() -> UnixTime {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return UnixTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
}

/// The client of a check that asks nobody.
private struct NoServer: HTTPClient {
    func send(_ request: OutgoingRequest, by deadline: Deadline) async throws(HTTPClientError) -> HTTPResponse {
        throw .address
    }
}
