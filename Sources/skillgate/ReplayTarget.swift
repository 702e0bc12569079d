import Alexa
import Crypto
import FoundationEssentials
import HTTP
import Service
import Simulator
import Telemetry
import Time
import Transport

/// The service that samples are sent to, and everything that stands around it.
struct ReplayTarget: Sendable {
    /// The service's time of day.
    let clock: WallClock
    /// What the service was made of, at the address that it has.
    let configuration: Configuration
    /// Who plays Amazon; nil where nothing is signed.
    let hosts: AmazonHosts?
    private let endpoint: String
    private let http: any HTTPClient
    private let signer: AlexaSigner?
    private let tokens: ReplayTokens
    private let stopping: @Sendable () async -> Void

    private static let answerTime = Duration.seconds(10)
    private static let developmentConfiguration = "config/development.json5"

    /// The configuration that the command line names.
    static func configurationPath(_ arguments: Arguments) -> String {
        arguments.value("--config") ?? developmentConfiguration
    }

    /// A target as the command line asks for it; nil where the configuration is at fault, which was printed then.
    static func make(_ arguments: Arguments) async throws(UsageError) -> ReplayTarget? {
        guard let configuration = ConfigurationFile.read(configurationPath(arguments)) else { return nil }
        do {
            let user = try ReplayTokens.user(named: arguments.value("--user"), in: configuration)
            guard let endpoint = arguments.value("--endpoint") else {
                return try await inProcess(configuration, user)
            }
            let folder = arguments.value("--authority") ?? simulatorFolder(configuration) ?? ".skillgate"
            return try await over(
                socket: endpoint, configuration, user, authorityFolder: arguments.has("--sign") ? folder : nil)
        } catch let error as UsageError {
            throw error
        } catch let error as AuthorityError {
            throw UsageError(error.message)
        } catch let fault as ProgramFault {
            throw UsageError(fault.message)
        } catch {
            throw UsageError("\(error)")
        }
    }

    /// Starts the service here, with a store in memory and Amazon's hosts without a socket.
    private static func inProcess(_ configuration: Configuration, _ user: Users.User?) async throws -> ReplayTarget {
        let clock = SystemClock.clock(offsetSeconds: configuration.clockOffsetSeconds)
        let group = try EventLoopGroup(threads: 1)
        let client = CurlClient(group: group, configuration: clientConfiguration(configuration))
        let hosts = AmazonHosts(
            authority: try Authority(now: clock()), clients: amazonClients(configuration), clock: clock)
        let made = try await ReplayService.make(
            configuration, http: SimulatedNetwork(hosts: hosts, otherwise: client),
            anchors: hosts.authority.anchors(), clock: clock)
        let origin = "http://service.invalid"
        return ReplayTarget(
            configuration, at: origin, http: RouterClient(origin: origin, responder: made.router), hosts: hosts,
            tokens: ReplayTokens(configuration, user, made.provider, clock: clock), clock: clock
        ) {
            await client.shutdown()
            group.shutdown()
        }
    }

    /// A service that is at hand already: samples are sent by `http`, and signed where `hosts` play Amazon for it.
    ///
    /// The hosts get to know the configuration's skills and one customer, so that samples can link.
    ///
    /// - Parameters:
    ///   - configuration: what the service was made of, with the addresses that it really has.
    ///   - endpoint: its origin, without a path.
    ///   - http: reaches it.
    ///   - hosts: who plays Amazon for it.
    ///   - tokens: makes the users' tokens.
    ///   - clock: the service's time of day.
    ///   - stopping: ends what was started for this target alone.
    init(
        _ configuration: Configuration, at endpoint: String, http: any HTTPClient, hosts: AmazonHosts?,
        tokens: ReplayTokens, clock: @escaping WallClock,
        stopping: @escaping @Sendable () async -> Void = {}
    ) {
        self.clock = clock
        self.configuration = configuration
        self.hosts = hosts
        self.endpoint = endpoint
        self.http = http
        signer = hosts.map { AlexaSigner($0.authority) }
        self.tokens = tokens
        self.stopping = stopping
        hosts?.linking.know(
            Self.linkingSkills(configuration, tokenURL: endpoint + "/oauth/token"),
            accounts: [Self.customer, Self.replaying],
            http: http)
    }

    /// Reaches a service that runs; with an authority, plays Amazon's hosts for it.
    private static func over(
        socket endpoint: String, _ configuration: Configuration, _ user: Users.User?, authorityFolder: String?
    ) async throws -> ReplayTarget {
        let clock = SystemClock.clock(offsetSeconds: configuration.clockOffsetSeconds)
        let group = try EventLoopGroup(threads: 1)
        let client = CurlClient(group: group, configuration: clientConfiguration(configuration))
        var hosts: AmazonHosts?
        var listener: AmazonListener?
        if let authorityFolder {
            let authority = try Authority.load(folder: authorityFolder, now: SystemClock.now)
            let made = AmazonHosts(authority: authority, clients: amazonClients(configuration), clock: clock)
            hosts = made
            listener = try AmazonListener(
                made, folder: authorityFolder, group: group, port: port(configuration))
        }
        let origin = endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint
        return ReplayTarget(
            moved(configuration, to: origin), at: origin, http: client, hosts: hosts,
            tokens: try await ReplayTokens(configuration, user, runningAt: origin, clock: clock), clock: clock
        ) { [listener] in
            await listener?.stop()
            await client.shutdown()
            group.shutdown()
        }
    }

    /// In development a service that runs has its redirect addresses where it listens.
    static func moved(_ given: Configuration, to origin: String) -> Configuration {
        var configuration = given
        configuration.publicURL = ReplayTokens.issuer(given, runningAt: origin)
        for index in configuration.skills.indices {
            configuration.skills[index].moveRedirectURLs(from: given.publicURL, to: configuration.publicURL)
        }
        return configuration
    }

    /// Ends what was started.
    func stop() async { await stopping() }

    // MARK: - Requests

    /// The values of a sample's placeholders.
    func placeholders(_ state: TokenState, _ kind: Sample.Kind) -> Placeholders {
        let skill = configuration.skills.first { kind != .smartHome || $0.isSmartHome } ?? configuration.skills.first
        return Placeholders(
            skillID: skill?.id ?? "", tokenState: state,
            token: { state throws(SampleError) in try tokens.token(state, skill) },
            tokenOf: { state, subject throws(SampleError) in try tokens.token(state, skill, subject: subject) },
            grantCode: { () throws(SampleError) in try grantCode(of: skill, isSpent: false) },
            spentGrantCode: { () throws(SampleError) in try grantCode(of: skill, isSpent: true) },
            basic: { client throws(SampleError) in try tokens.basic(client) },
            linking: Placeholders.Linking(
                appToken: { state, subject throws(SampleError) in try tokens.appToken(state, subject: subject) },
                consent: { url, error throws(SampleError) in try consent(at: url, error) }))
    }

    private func grantCode(of skill: Configuration.Skill?, isSpent: Bool) throws(SampleError) -> String {
        guard let hosts else { throw SampleError(message: "{{grantCode}} needs --sign") }
        guard let events = skill?.events else { throw SampleError(message: "{{grantCode}} needs a skill with events") }
        return hosts.tokens.issueCode(clientID: events.clientID, isSpent: isSpent)
    }

    private func consent(at url: String, _ error: String?) throws(SampleError) -> String {
        guard let hosts else { throw SampleError(message: "{{consent}} needs --sign") }
        do throws(LinkingRefusal) {
            return try hosts.linking.consent(to: url, account: Self.replaying, error: error)
        } catch { throw SampleError(message: "Amazon shows an error in place of its consent: \(error.rule)") }
    }

    /// The request as its sender makes it: Alexa signs, a forwarder adds its code.
    ///
    /// - Parameters:
    ///   - step: what is sent, for its method, sender and headers.
    ///   - target: path and query, without placeholders.
    ///   - headers: those of the step, without placeholders.
    ///   - body: the body, without placeholders.
    /// - Returns: what is sent.
    /// - Throws: `CryptoError` where it cannot be signed.
    func request(
        _ step: SampleStep, target: String, headers: [(name: String, value: String)], body: [UInt8]?
    ) throws(CryptoError) -> OutgoingRequest {
        var fields = HTTPFields()
        switch step.sender {
        case .anyone: break
        case .alexa: if let signer { fields = try signer.headers(for: body ?? []) }
        case .forwarder:
            if let secret = configuration.forwarder.secret {
                let value = ForwarderVerifier.headerValue(
                    secret: secret, at: clock(), target: target, body: body ?? [])
                fields.append(ForwarderVerifier.headerName, value)
            }
        }
        for (name, value) in headers where fields[name] == nil { fields.append(name, value) }
        return OutgoingRequest(
            method: step.method, url: endpoint + target, fields: fields, body: body, answerLimitBytes: 8 << 20)
    }

    /// The answer.
    func send(_ request: OutgoingRequest) async throws(HTTPClientError) -> HTTPResponse {
        try await http.send(request, by: .after(Self.answerTime, from: .now))
    }

    /// What went wrong, in words.
    static func text(of error: HTTPClientError) -> String {
        switch error {
        case .address: "the address of the endpoint cannot be used"
        case .unreachable(let reason): "no connection: \(reason)"
        case .tls(let reason): "TLS failed: \(reason)"
        case .timedOut: "none within 10 s"
        case .broken(let reason): "the connection broke: \(reason)"
        case .answerTooLarge: "one of more than 8 MiB"
        case .cancelled, .circuitOpen: "nothing was sent"
        }
    }

    static func clientConfiguration(_ configuration: Configuration) -> ClientConfiguration {
        var client = ClientConfiguration()
        client.caFile = configuration.http.caFilePath.flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }
        client.proxy = configuration.http.proxy
        return client
    }

    /// The pairs that the configuration holds, as Login with Amazon knows them.
    static func amazonClients(_ configuration: Configuration) -> [TokenEndpoint.Client] {
        configuration.skills.flatMap { skill in
            [
                skill.events.map { TokenEndpoint.Client(id: $0.clientID, secret: $0.clientSecret, use: .events) },
                skill.linking.map { TokenEndpoint.Client(id: $0.clientID, secret: $0.clientSecret, use: .linking) },
            ].compactMap { $0 }
        }
    }

    /// The customer of Amazon's whom everybody else may use.
    private static let customer = AmazonAccount(name: "customer")
    /// The one who consents in samples, so that what they link and unlink touches nobody else's link.
    private static let replaying = AmazonAccount(name: "replaying")

    /// The skills as Amazon's console knows them, those that link.
    private static func linkingSkills(_ configuration: Configuration, tokenURL: String) -> [LinkingEndpoint.Skill] {
        configuration.skills.compactMap { skill in
            guard let linking = skill.linking,
                let secret = configuration.provider.client(linking.providerClient)?.secret
            else { return nil }
            return LinkingEndpoint.Skill(
                id: skill.id, stages: [skill.stage.rawValue], amazonClientID: linking.clientID,
                redirectURLs: linking.redirectURLs, tokenURL: tokenURL, providerClientID: linking.providerClient,
                providerClientSecret: secret, usesBasic: linking.accessTokenScheme == "HTTP_BASIC")
        }
    }

    /// Where the roots that the service trusts lie, if they are a simulator's.
    static func simulatorFolder(_ configuration: Configuration) -> String? {
        let suffix = "/" + Authority.rootFile
        guard let path = configuration.amazon.trustAnchorsPath, path.hasSuffix(suffix) else { return nil }
        return String(path.dropLast(suffix.count))
    }

    /// The port at which the service looks for `s3.amazonaws.com`.
    static func port(_ configuration: Configuration) throws(UsageError) -> Int {
        for entry in configuration.http.resolve where entry.hasPrefix("s3.amazonaws.com:443:") {
            if let port = entry.split(separator: ":").last.flatMap({ Int($0) }) { return port }
        }
        throw UsageError(
            "--sign and --certify need s3.amazonaws.com:443:127.0.0.1:PORT in the configuration's http.resolve")
    }
}
