import HTTP
import Service
import Simulator
import Storage
import Telemetry
import Time
import Transport

/// Why the program does not run, although its configuration is sound.
struct ProgramFault: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

/// The running program: the one place where the parts are put together.
struct Program: Sendable {
    /// The address that the service listens on, with the real port.
    let address: String
    let log: Log
    private let group: EventLoopGroup
    private let client: CurlClient
    private let servers: [HTTPServer]
    private let upkeep: Task<Void, Never>
    private let events: EventWorker
    private let sending: Task<Void, Never>
    private let changes: Task<Void, Never>
    private let linking: Task<Void, Never>
    private let recorder: Recorder?

    /// How long running requests may take when the program stops; a little is left of the 10 seconds for the rest.
    private static let grace = Duration.seconds(9)
    /// How long events that are just being sent may take then; what is not sent stays in the store.
    private static let sendingGrace = Duration.seconds(2)

    /// Opens the store, makes the service and listens.
    ///
    /// `port` stands for `listen.port` where it is given; requests are recorded in the folder `record`; the log goes to
    /// `sink`; an `inspector` stands before the service.
    ///
    /// - Throws: ``ProgramFault`` where one of them fails.
    init(
        _ configuration: Configuration, port: Int? = nil, record: String? = nil,
        sink: any LogSink = DescriptorSink.standardError, inspector: Inspector? = nil
    ) async throws(ProgramFault) {
        let configuration = try Self.withRealPort(configuration, port)
        let clock = SystemClock.clock(offsetSeconds: configuration.clockOffsetSeconds)
        let metrics = Metrics()
        log = Log(
            level: configuration.log.level, format: configuration.log.format, clock: clock,
            sink: sink, metrics: metrics)
        let store = try StoreOpening.open(configuration, clock: clock)
        do { group = try EventLoopGroup(threads: configuration.listen.threads) } catch {
            throw ProgramFault("no event loop: \(error)")
        }
        client = CurlClient(group: group, configuration: Self.client(configuration))
        let http = BreakingClient(
            client, exemptOrigins: Self.exemptOrigins(configuration), log: log, metrics: metrics)
        let made: MadeService
        do {
            var parts = ServiceParts(store: store, http: http, clock: clock, log: log, metrics: metrics)
            parts.observer = inspector
            made = try await makeService(configuration, parts)
        } catch { throw ProgramFault("the service cannot be made: \(error)") }
        tellOfSettings(configuration, log)
        let listen = configuration.listen
        let maker = RecordedSamples(configuration, revokedGrants: made.provider?.revokedGrants, clock: clock)
        let recorder = try Recorder.make(folder: record, maker: maker, clock: clock, log: log)
        self.recorder = recorder
        var responder: any HTTPResponder = recorder?.recording(made.router) ?? made.router
        if let inspector {
            inspector.stand(before: responder)
            responder = inspector
        }
        var servers = [
            try Self.server(listen.service, configuration, responder, group: group, log: log, metrics: metrics)
        ]
        let port = try Self.start(servers[0], at: listen.service)
        if let operations = made.operations, let endpoint = listen.operations {
            let server = try Self.server(endpoint, configuration, operations, group: group, log: log, metrics: metrics)
            log.notice("the operator's addresses are listened on", .port(try Self.start(server, at: endpoint)))
            servers.append(server)
        }
        self.servers = servers
        let host = listen.service.host
        address = "\(listen.tls == nil ? "http" : "https")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        upkeep = Task { [log] in
            await Upkeep(store: store, clock: clock, log: log, keepDays: configuration.traceKeepDays).run()
        }
        let events = made.events
        self.events = events
        sending = Task { await events.run() }
        changes = Task { await made.changes.run() }
        linking = Task { await made.links.run() }
        log.notice("the service is listened on", .address(host), .port(port))
    }

    /// Reads the TLS files again, such that new connections get a new certificate.
    func reloadCertificates() {
        for server in servers {
            do { try server.reloadTLS() } catch {
                log.error("the new certificate cannot be used; the old one stays", .detail("\(error)"))
            }
        }
        log.notice("certificates were read again")
    }

    /// Stops accepting, finishes what runs, and closes everything.
    func stop() async {
        log.notice("stopping: what runs is finished, nothing more is accepted")
        upkeep.cancel()
        changes.cancel()
        linking.cancel()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await events.stop(within: Self.sendingGrace)
                sending.cancel()
                await sending.value
            }
            for server in servers { group.addTask { await server.shutdown(grace: Self.grace) } }
        }
        await recorder?.finish()
        await client.shutdown()
        group.shutdown()
        log.notice("stopped")
        log.flush()
    }

    /// In development a public address whose port is 0, or the one in `listen`, gets the real port.
    private static func withRealPort(
        _ given: Configuration, _ port: Int?
    ) throws(ProgramFault) -> Configuration {
        var configuration = given
        let configured = given.listen.service.port
        configuration.listen.service.port = port ?? configured
        guard given.isDevelopment else { return configuration }
        if configuration.listen.service.port == 0 {
            guard let free = freePort(host: given.listen.service.host) else {
                throw ProgramFault("\(given.listen.service.host) has no free port")
            }
            configuration.listen.service.port = free
        }
        for end in [":0", ":\(configured)"] where given.publicURL.hasSuffix(end) {
            configuration.publicURL = given.publicURL.dropLast(end.count) + ":\(configuration.listen.service.port)"
        }
        for index in configuration.skills.indices {
            configuration.skills[index].moveRedirectURLs(from: given.publicURL, to: configuration.publicURL)
        }
        return configuration
    }

    /// How other servers are reached.
    static func client(_ configuration: Configuration) -> ClientConfiguration {
        var client = ClientConfiguration()
        client.caFile = configuration.http.caFilePath
        client.resolve = configuration.http.resolve
        client.proxy = configuration.http.proxy
        return client
    }

    /// Each call there carries a code that is good once, so none is held back.
    private static func exemptOrigins(_ configuration: Configuration) -> Set<String> {
        let urls = [configuration.amazon.lwaTokenURL] + configuration.amazon.apiURLs.values
        return Set(urls.compactMap { try? UpstreamAddress($0).origin })
    }

    private static func server(
        _ endpoint: Configuration.Listen.Endpoint, _ configuration: Configuration, _ responder: any HTTPResponder,
        group: EventLoopGroup, log: Log, metrics: Metrics
    ) throws(ProgramFault) -> HTTPServer {
        let limits = configuration.limits
        var serverLimits = ServerLimits()
        serverLimits.bodyBytes = limits.bodyBytes
        serverLimits.headBytes = limits.headerBytes
        serverLimits.requestTime = .seconds(limits.requestSeconds)
        serverLimits.idleTime = .seconds(limits.idleSeconds)
        serverLimits.connections = limits.connections
        serverLimits.connectionsPerPeer = limits.connectionsPerPeer == 0 ? nil : limits.connectionsPerPeer
        guard let proxies = AddressSet(configuration.listen.trustedProxies) else {
            throw ProgramFault("listen.trustedProxies: one is neither an address nor a network")
        }
        let isService = endpoint == configuration.listen.service
        let tls = configuration.listen.tls.map {
            TLSFiles(certificate: $0.certificatePath, privateKey: $0.privateKeyPath)
        }
        return HTTPServer(
            group: group,
            configuration: ServerConfiguration(
                host: endpoint.host, port: endpoint.port, tls: isService ? tls : nil, limits: serverLimits,
                trustedProxies: proxies), responder: responder, log: log, metrics: metrics)
    }

    private static func start(
        _ server: HTTPServer, at endpoint: Configuration.Listen.Endpoint
    ) throws(ProgramFault) -> Int {
        do { return try server.start() } catch {
            throw ProgramFault("\(endpoint.host) port \(endpoint.port) cannot be listened on: \(error)")
        }
    }
}

/// Settings that an operator should not overlook.
private func tellOfSettings(_ configuration: Configuration, _ log: Log) {
    if configuration.isDevelopment {
        log.notice("development: secrets and proofs are taken that are none", .key("development"))
    }
    var keys = configuration.amazon.changedEndpoints.map { "amazon.endpoints.\($0)" }
    if configuration.amazon.trustAnchorsPath != nil { keys.append("amazon.trustAnchors") }
    if !configuration.http.resolve.isEmpty { keys.append("http.resolve") }
    if configuration.http.proxy != nil { keys.append("http.proxy") }
    for key in keys { log.notice("a setting changes whom the service trusts or calls", .key(key)) }
    for (key, url) in configuration.redirectURLsOutsideApps {
        log.notice("no pattern of apps.ios[].paths covers a redirect address: it opens no app", .key(key), .detail(url))
    }
}
