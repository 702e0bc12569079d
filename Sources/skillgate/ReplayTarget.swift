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
    private let configuration: Configuration
    private let endpoint: String
    private let http: any HTTPClient
    private let signer: AlexaSigner?
    private let hosts: AmazonHosts?
    private let tokens: ReplayTokens
    private let stopping: @Sendable () async -> Void

    private static let answerTime = Duration.seconds(10)
    private static let developmentConfiguration = "config/development.json5"

    /// A target as the command line asks for it; nil where the configuration is at fault, which was printed then.
    static func make(_ arguments: Arguments) async throws(UsageError) -> ReplayTarget? {
        let path = arguments.value("--config") ?? developmentConfiguration
        guard let configuration = ConfigurationFile.read(path, asJSON: false) else { return nil }
        do {
            let user = try ReplayTokens.user(named: arguments.value("--user"), in: configuration)
            guard let endpoint = arguments.value("--endpoint") else {
                return try await inProcess(configuration, user)
            }
            let folder = arguments.value("--authority") ?? authorityFolder(configuration)
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
            clock: clock, configuration: configuration, endpoint: origin,
            http: RouterClient(origin: origin, responder: made.router), signer: AlexaSigner(hosts.authority),
            hosts: hosts, tokens: ReplayTokens(configuration, user, made.provider, clock: clock),
            stopping: {
                await client.shutdown()
                group.shutdown()
            })
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
            clock: clock, configuration: configuration, endpoint: origin, http: client,
            signer: hosts.map { AlexaSigner($0.authority) }, hosts: hosts,
            tokens: try await ReplayTokens(configuration, user, runningAt: origin, clock: clock),
            stopping: { [listener] in
                await listener?.stop()
                await client.shutdown()
                group.shutdown()
            })
    }

    /// Ends what was started.
    func stop() async { await stopping() }

    /// The values of a sample's placeholders.
    func placeholders(_ state: TokenState, _ kind: Sample.Kind) -> Placeholders {
        let skill = configuration.skills.first { kind == .custom || $0.isSmartHome } ?? configuration.skills.first
        return Placeholders(
            skillID: skill?.id ?? "", tokenState: state,
            token: { state throws(SampleError) in try tokens.token(state, skill) },
            grantCode: { () throws(SampleError) in try grantCode(of: skill, isSpent: false) },
            spentGrantCode: { () throws(SampleError) in try grantCode(of: skill, isSpent: true) })
    }

    private func grantCode(of skill: Configuration.Skill?, isSpent: Bool) throws(SampleError) -> String {
        guard let hosts else { throw SampleError(message: "{{grantCode}} needs --sign") }
        guard let events = skill?.events else { throw SampleError(message: "{{grantCode}} needs a skill with events") }
        return hosts.tokens.issueCode(clientID: events.clientID, isSpent: isSpent)
    }

    /// The request as its sender makes it: Alexa signs, a forwarder adds its code.
    func request(_ kind: Sample.Kind, _ body: [UInt8]) throws(CryptoError) -> OutgoingRequest {
        var fields: HTTPFields = ["Content-Type": "application/json"]
        let target = kind == .custom ? "/alexa/custom" : "/alexa/smart-home"
        switch kind {
        case .custom:
            if let signer { fields = try signer.headers(for: body) }
        case .smartHome:
            if let secret = configuration.forwarder.secret {
                let value = ForwarderVerifier.headerValue(secret: secret, at: clock(), target: target, body: body)
                fields.append(ForwarderVerifier.headerName, value)
            }
        }
        return OutgoingRequest(
            method: .post, url: endpoint + target, fields: fields, body: body, answerLimitBytes: 8 << 20)
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

    private static func clientConfiguration(_ configuration: Configuration) -> ClientConfiguration {
        var client = ClientConfiguration()
        client.caFile = configuration.http.caFilePath.flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }
        client.proxy = configuration.http.proxy
        return client
    }

    /// The pairs that the configuration holds, as Login with Amazon knows them.
    private static func amazonClients(_ configuration: Configuration) -> [TokenEndpoint.Client] {
        configuration.skills.flatMap { skill in
            [
                skill.events.map { TokenEndpoint.Client(id: $0.clientID, secret: $0.clientSecret, use: .events) },
                skill.linking.map { TokenEndpoint.Client(id: $0.clientID, secret: $0.clientSecret, use: .linking) },
            ].compactMap { $0 }
        }
    }

    /// Where the roots that the service trusts lie, if they are a simulator's.
    private static func authorityFolder(_ configuration: Configuration) -> String {
        let suffix = "/" + Authority.rootFile
        guard let path = configuration.amazon.trustAnchorsPath, path.hasSuffix(suffix) else { return ".skillgate" }
        return String(path.dropLast(suffix.count))
    }

    /// The port at which the service looks for `s3.amazonaws.com`.
    private static func port(_ configuration: Configuration) throws(UsageError) -> Int {
        for entry in configuration.http.resolve where entry.hasPrefix("s3.amazonaws.com:443:") {
            if let port = entry.split(separator: ":").last.flatMap({ Int($0) }) { return port }
        }
        throw UsageError("--sign needs s3.amazonaws.com:443:127.0.0.1:PORT in the configuration's http.resolve")
    }
}
