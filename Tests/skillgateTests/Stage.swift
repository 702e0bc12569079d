import Alexa
import Concurrency
import Crypto
import FoundationEssentials
import Glibc
import HTTP
import JSON
import OAuth
import Simulator
import Storage
import TestSupport
import Testing
import Time
import Transport

/// What stands around a service that runs as a program of its own: Amazon's hosts over TLS, the provider, the users'
/// tokens and the configuration that names them all, each on a free port and in a folder of its own.
final class Stage: Sendable {
    /// What one test has otherwise than the others.
    struct Options: Sendable {
        /// Who knows the users.
        var provider = Provider.external
        var logLevel = "info"
        /// Members of `limits`.
        var limits = ""
        /// Login with Amazon's token endpoint.
        var tokenURL = "https://api.amazon.com/auth/o2/token"
        /// What the file of the embedded provider's users says; nil takes the demo's.
        var users: String?
        /// What the file of the embedded provider's devices says; nil leaves it without devices.
        var devices: String?
        /// Members of `apps`.
        var apps = ""
        /// More of the provider's clients, each followed by a comma.
        var clients = ""
        /// Stands before each of the secrets in the configuration.
        var secretPrefix = ""
    }

    /// Who knows the users.
    enum Provider: Sendable {
        /// The one in the program.
        case embedded
        /// A server on loopback that publishes its keys and knows one user.
        case external
        /// The same, but nobody hears of a resource.
        case silent
    }

    static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
    static let skillID = "amzn1.ask.skill.00000000-0000-4000-8000-000000000002"
    static let issuer = "https://login.example.test"

    let folder: String
    let options: Options
    let hosts: AmazonHosts
    let signer: AlexaSigner
    /// The external provider.
    let provider: RawServer
    private let key: SigningKey
    private let group: EventLoopGroup
    private let listener: AmazonListener
    /// Amazon's pages of consent, for a browser.
    let consent: BrowserListener
    /// How Alexa reaches the service.
    let http: CurlClient

    var configurationPath: String { folder + "/skillgate.json5" }
    var databasePath: String { folder + "/store.sqlite" }
    var forwarderSecret: Secret { Secret(options.secretPrefix + "forwarder-secret") }

    /// What `body` does with a stage, which is taken down after it.
    static func with<Result>(
        _ options: Options = Options(), _ body: (Stage) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryFolder { folder in
            let stage = try Stage(options, folder: folder)
            do {
                let result = try await body(stage)
                await stage.stop()
                return result
            } catch {
                await stage.stop()
                throw error
            }
        }
    }

    private init(_ options: Options, folder: String) throws {
        self.options = options
        self.folder = folder
        let authority = try Authority.load(folder: folder, now: Self.now())
        signer = AlexaSigner(authority)
        let clients = [
            TokenEndpoint.Client(
                id: "events-client", secret: Secret(options.secretPrefix + "events-secret"), use: .events),
            TokenEndpoint.Client(
                id: "linking-client", secret: Secret(options.secretPrefix + "linking-secret"), use: .linking),
        ]
        hosts = AmazonHosts(authority: authority, clients: clients, clock: Self.now)
        group = try EventLoopGroup(threads: 1)
        listener = try AmazonListener(hosts, folder: folder, group: group, port: 0)
        consent = try BrowserListener(hosts, group: group)
        http = CurlClient(group: group)
        key = SigningKey(try PrivateKey.generate(.p256), algorithm: .es256)
        let keys = String(decoding: JSONWebKeySet([key.publicKey]).json.encoded(), as: UTF8.self)
        let isSilent = options.provider == .silent
        provider = try RawServer { connection in
            while let head = connection.head() {
                if head.hasPrefix("GET /keys ") {
                    connection.answer("200 OK", keys, fields: "Content-Type: application/json\r\n")
                } else if isSilent {
                    connection.waitForEnd()
                } else {
                    connection.answer(
                        "200 OK", #"{"name":"Alice Archer","email":"alice@example.com","devices":[]}"#,
                        fields: "Content-Type: application/json\r\n")
                }
            }
        }
        try Data(configuration.utf8).write(to: URL(filePath: configurationPath))
        if let users = options.users { try write(users: users) }
        if let devices = options.devices {
            try Data(devices.utf8).write(to: URL(filePath: folder + "/devices.json5"))
        }
    }

    /// Gives the users file another content, which the next start reads.
    func write(users: String) throws { try Data(users.utf8).write(to: URL(filePath: folder + "/users.json5")) }

    private func stop() async {
        provider.stop()
        await http.shutdown()
        await consent.stop()
        await listener.stop()
        group.shutdown()
    }

    private var configuration: String {
        let origin = "http://127.0.0.1:\(provider.port)"
        let secret = options.secretPrefix
        let users = options.users == nil ? Self.package + "/config/users.json5" : "users.json5"
        let devices = options.devices == nil ? "" : #", devices: "devices.json5""#
        let provider =
            switch options.provider {
            case .embedded:
                #"embedded: { users: "\#(users)"\#(devices) },"#
            case .external, .silent:
                """
                external: { issuer: "\(Self.issuer)", jwksURL: "\(origin)/keys", audience: "\(Self.issuer)",
                    resources: { baseURL: "\(origin)/v1" } },
                """
            }
        let alexa =
            options.provider == .embedded
            ? """
            { id: "alexa", secret: "\(secret)alexa-secret", scopes: ["profile", "devices"],
                redirectURIs: ["https://layla.amazon.com/api/skill/link/M"] },
            """ : ""
        let hosts = ["s3.amazonaws.com", "api.amazon.com"] + EventEndpoint.hosts.keys
        let resolved = hosts.map { "\"\($0):443:127.0.0.1:\(listener.port)\"" }.joined(separator: ", ")
        return """
            { development: true, publicURL: "http://127.0.0.1:0", listen: { port: 0 },
              store: { url: "sqlite:store.sqlite" }, apps: { \(options.apps) },
              skills: [{
                name: "demo", id: "\(Self.skillID)", smartHome: true,
                linking: { clientID: "linking-client", clientSecret: "\(secret)linking-secret", vendorID: "MTEST",
                    benefit: { "en-US": "x" } },
                events: { clientID: "events-client", clientSecret: "\(secret)events-secret" },
                intents: "\(Self.package)/config/demo.intents.json5" }],
              provider: { \(provider)
                scopes: { custom: ["profile"], smartHome: ["devices"] },
                clients: [\(alexa) \(options.clients) { id: "back-end", secret: "\(secret)back-end-secret", grants: ["client_credentials"],
                    role: "events" }] },
              forwarder: { secret: "\(secret)forwarder-secret" },
              amazon: { trustAnchors: "authority.pem", endpoints: { lwaToken: "\(options.tokenURL)",
                  lwaAuthorize: "\(consent.loginURL)", alexaApp: "\(consent.alexaAppURL)" } },
              http: { caFile: "authority.pem", resolve: [\(resolved)] },
              limits: { \(options.limits) },
              log: { level: "\(options.logLevel)", format: "json" } }
            """
    }

    /// Runs the program; at the end of `body` it gets SIGTERM, unless `body` sees to its end itself.
    @discardableResult func run(
        isEndedByBody: Bool = false, options: [String] = [], _ body: (RunningService) async throws -> Void
    ) async throws -> ProgramRun.Outcome {
        let program = try ProgramRun(["serve", "--config", configurationPath] + options)
        let line = await program.line()
        guard let port = line.split(separator: ":").last.flatMap({ Int($0) }) else {
            let error = await program.end().error
            throw NotStarted(error: error)
        }
        do {
            try await body(RunningService(stage: self, program: program, port: port))
        } catch {
            program.send(signal: SIGKILL)
            _ = await program.end()
            throw error
        }
        if !isEndedByBody { program.send(signal: SIGTERM) }
        return await program.end()
    }

    /// Makes the skill of a service that runs known to Amazon, with these customers.
    func knowSkill(of service: RunningService, accounts: [AmazonAccount]) {
        let origin = "http://127.0.0.1:\(service.port)"
        hosts.linking.know(
            [
                LinkingEndpoint.Skill(
                    id: Self.skillID, amazonClientID: "linking-client",
                    redirectURLs: [origin + "/link/alexa/callback"], tokenURL: origin + "/oauth/token",
                    providerClientID: "alexa", providerClientSecret: Secret(options.secretPrefix + "alexa-secret"))
            ], accounts: accounts, http: http)
    }

    /// The service did not start; what it said instead.
    struct NotStarted: Error { let error: String }

    /// A user's token as the provider issues it.
    func token(subject: String = "u1001", issuer: String = Stage.issuer, lifetimeSeconds: Int64 = 3600) throws -> String
    {
        let claims = AccessTokenMinter.Claims(
            subject: subject, clientID: "alexa", scopes: ["profile", "devices"], grantID: SecureRandom.uuid())
        return try AccessTokenMinter(issuer: issuer, audience: issuer, key: key)
            .token(claims, lifetimeSeconds: lifetimeSeconds, now: Self.now()).exposed
    }

    /// A user's token of the embedded provider of a service that runs.
    func embeddedToken(
        of service: RunningService, subject: String = "u1001", client: String = "alexa"
    ) async throws -> String {
        let keys = SigningKeys(store: try openStore(), tokenSeconds: 3600, clock: Self.now)
        try await keys.load()
        let issuer = "http://127.0.0.1:\(service.port)"
        let claims = AccessTokenMinter.Claims(subject: subject, clientID: client, scopes: ["profile", "devices"])
        return try AccessTokenMinter(issuer: issuer, audience: issuer, key: try keys.current())
            .token(claims, lifetimeSeconds: 600, now: Self.now()).exposed
    }

    /// The store, opened beside the program that runs.
    func openStore() throws -> SQLiteStore {
        try SQLiteStore(
            url: "sqlite:" + databasePath, keys: SealingKeys(file: databasePath + ".key"), clock: Self.now)
    }

    /// The grants of a user that the store holds.
    func grants(of subject: String = "u1001") async throws -> [Grant] {
        try await openStore().grants(of: subject, by: .after(.seconds(5), from: .now))
    }

    /// The body of one of the repository's samples.
    func body(_ sample: String, token: String? = nil, grantCode: String = "") throws -> [UInt8] {
        let value = try token ?? self.token()
        let samples = try Sample.load(paths: ["\(Self.package)/samples/\(sample).json"])
        let placeholders = Placeholders(
            skillID: Self.skillID, token: { _ throws(SampleError) in Secret(value) }, grantCode: { grantCode })
        return try placeholders.body(of: try #require(samples.first), now: Self.now())
    }

    /// A request as Alexa signs it.
    func signed(_ body: [UInt8]) throws -> [UInt8] {
        RawClient.request("/alexa/custom", fields: try signer.headers(for: body), body: body)
    }

    /// A request as the forwarder hands it on.
    func forwarded(_ body: [UInt8]) -> [UInt8] {
        let target = "/alexa/smart-home"
        let value = ForwarderVerifier.headerValue(secret: forwarderSecret, at: Self.now(), target: target, body: body)
        return RawClient.request(
            target, fields: ["Content-Type": "application/json", ForwarderVerifier.headerName: value], body: body)
    }

    /// What the company's back end posts.
    func posted(_ body: String) -> [UInt8] {
        let pair = Base64.encode(Array("back-end:\(options.secretPrefix)back-end-secret".utf8))
        return RawClient.request(
            "/v1/events", fields: ["Content-Type": "application/json", "Authorization": "Basic " + pair],
            body: Array(body.utf8))
    }

    @Sendable static func now() -> UnixTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UnixTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}

/// A service that runs as a program of its own.
struct RunningService: Sendable {
    let stage: Stage
    let program: ProgramRun
    let port: Int

    /// The answer to one request on a connection of its own.
    func answer(to bytes: [UInt8]) async throws -> RawClient.Answer {
        let answer = try await onOwnThread { [port] in
            let client = try RawClient(port: port)
            client.send(bytes)
            return client.answer()
        }
        return try #require(answer, "no answer came")
    }

    /// Whether the service still answers a signed request as it should.
    func isWell() async throws -> Bool {
        let answer = try await answer(to: stage.signed(stage.body("custom/customer-number")))
        return answer.status == 200 && answer.text.contains("u1001")
    }
}

extension RawClient.Answer {
    /// What Alexa says.
    var speech: String? {
        let speech = (try? JSONValue(parsing: body))?["response"]?["outputSpeech"]
        return speech?["text"]?.string ?? speech?["ssml"]?.string
    }
}
