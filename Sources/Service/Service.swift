public import Alexa
public import Crypto
import FoundationEssentials
public import HTTP
public import OAuth
public import Telemetry
public import Time

/// What outlives a request: SQLite in the program, memory in tests and replays.
public typealias ServiceStore = GrantStore & Outbox & EndpointIDStore & SigningKeyStore & ProviderStore & UserStore
    & TraceStore & LinkStore

/// What a service is made of besides its configuration.
public struct ServiceParts: Sendable {
    /// What outlives a request.
    public var store: any ServiceStore
    /// Reaches other servers.
    public var http: any HTTPClient
    /// The time of day, with the configuration's offset already in it.
    public var clock: WallClock
    /// The monotonic clock.
    public var monotonic: @Sendable () -> ContinuousClock.Instant
    /// Gets the log lines.
    public var log: Log
    /// Counts and measures.
    public var metrics: Metrics
    /// The roots of Alexa's certificate chain; nil takes those that the configuration names.
    public var trustAnchors: TrustAnchors?
    /// Handlers in Swift, by skill and by intent or request type.
    public var handlers: [String: [String: any SkillHandler]]
    /// Hears of every trace; nil but in development.
    public var observer: (any TraceObserver)?

    /// The parts of a service.
    public init(
        store: any ServiceStore, http: any HTTPClient, clock: @escaping WallClock,
        monotonic: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }, log: Log,
        metrics: Metrics, trustAnchors: TrustAnchors? = nil, handlers: [String: [String: any SkillHandler]] = [:]
    ) {
        self.store = store
        self.http = http
        self.clock = clock
        self.monotonic = monotonic
        self.log = log
        self.metrics = metrics
        self.trustAnchors = trustAnchors
        self.handlers = handlers
    }
}

/// A service that is ready to answer.
public struct MadeService: Sendable {
    /// Answers everything, the operator's addresses too unless they have a listener of their own.
    public let router: Router
    /// The operator's addresses, where `listen.operations` gives them a listener of their own.
    public let operations: Router?
    /// The embedded provider, where there is one: replays have it make tokens.
    public let provider: EmbeddedProvider?
    /// Watches the requests' timestamps.
    public let clockDrift: ClockDrift
    /// Tells Alexa of changes while its `run()` runs.
    public let events: EventWorker
    /// Settles links whose outcome is open, while its `run()` runs.
    public let links: LinkWorker
    /// Ends links for an operator.
    public let linkAdministration: LinkAdministration
    /// Codes, refresh tokens and grants.
    public let authorization: AuthorizationServer
    /// Learns of other processes' revocations and keys while its `run()` runs.
    public let changes: ChangeWatch
}

/// Why a service cannot be made although its configuration is sound.
public enum ServiceFault: Error, Hashable, Sendable {
    /// The file of trust anchors cannot be read, or holds no certificate.
    case trustAnchors(path: String)
    /// The external provider says neither where its keys are nor where tokens are introspected.
    case noTokenJudge
    /// The external provider does not say where its resources are.
    case noResources
}

/// Builds the service that `serve`, `replay` and the tests run.
///
/// - Parameters:
///   - configuration: what the file says; its public address is the real one.
///   - parts: the store, the network, the clocks and the telemetry.
/// - Returns: the routes, and what replays need.
/// - Throws: ``ServiceFault``, or what the store throws where the signing keys cannot be had.
public func makeService(_ configuration: Configuration, _ parts: ServiceParts) async throws -> MadeService {
    let drift = ClockDrift(log: parts.log, metrics: parts.metrics)
    let worker = makeEventWorker(configuration, parts)
    let traces = TraceRecorder(
        store: parts.store, log: parts.log, metrics: parts.metrics, observer: parts.observer)
    let provider = try await makeProvider(configuration, parts, worker, traces)
    let skills = configuration.skills.map { skill in
        Skill(
            name: skill.name, id: skill.id, providerClient: skill.providerClient,
            scopes: Set(configuration.provider.customScopes), intents: skill.intents,
            handlers: parts.handlers[skill.name] ?? [:])
    }
    let linking = makeLinking(configuration, parts, provider, traces)
    let custom = CustomSkillEndpoint(
        skills: skills, verifier: try makeVerifier(configuration, parts), validator: provider.validator,
        resources: provider.resources, texts: configuration.texts.service, clock: parts.clock, now: parts.monotonic,
        log: parts.log, metrics: parts.metrics, drift: drift, traces: traces, joins: linking.joining,
        responseLimitBytes: configuration.limits.customResponseBytes)
    let store = parts.store
    let operations = Operations(
        metrics: parts.metrics, clockDrift: drift, log: parts.log, authentication: provider.core.authentication,
        storeIsWritable: { deadline in (try? await store.probeWriting(by: deadline)) != nil })
    let events = EventsEndpoint(
        configuration, parts, authentication: provider.core.authentication, worker: worker)
    let smartHome = makeSmartHome(configuration, parts, provider, worker.reporting, drift, traces)
    let reciprocal = ReciprocalEndpoint(
        configuration, parts, validator: provider.validator, server: provider.core.server, traces: traces)
    let bearer = BearerGuard(validator: provider.validator, realm: "skillgate", log: parts.log)
    let apps =
        linking.appRoutes(bearer: bearer, clients: .apps(configuration), log: parts.log)
        + (try await linkPageRoutes(
            configuration, parts, provider.core, provider.validator, provider.resources, linking))
    let appFlip =
        provider.embedded == nil
        ? AppFlipEndpoint(configuration, parts, validator: provider.validator) : nil
    let endpoints = [custom.route, events.route, smartHome?.route, reciprocal?.route, appFlip?.route]
        .compactMap(\.self)
    let logo = configuration.company.logo.map { [$0.route] } ?? []
    let routes =
        endpoints + (provider.embedded?.routes ?? []) + provider.core.routes + logo + apps
        + AssociationFiles(configuration.apps).routes
        + OperatorEndpoint(
            authentication: provider.core.authentication, traces: parts.store, links: parts.store,
            answers: PageAnswers(frame: PageFrame(configuration.company)), log: parts.log
        ).routes
    let refuse: @Sendable (Router.Refusal) -> HTTPResponse = { [log = parts.log] in
        HTTPResponse(problemOf: $0, log: log)
    }
    let isApart = configuration.listen.operations != nil
    let description = OpenAPIDocument(
        publicURL: configuration.publicURL, company: configuration.company.name ?? "a company",
        routes: routes + operations.routes)
    let operatorRoutes = operations.routes + [description.route]
    return MadeService(
        router: Router(routes + (isApart ? [] : operatorRoutes), refuse: refuse),
        operations: isApart ? Router(operatorRoutes, refuse: refuse) : nil, provider: provider.embedded,
        clockDrift: drift, events: worker, links: linking.worker,
        linkAdministration: LinkAdministration(ending: linking.ending), authorization: provider.core.server,
        changes: provider.core.changes)
}

/// What answers the forwarder; nil where no skill has a smart-home side.
private func makeSmartHome(
    _ configuration: Configuration, _ parts: ServiceParts, _ provider: ProviderSide,
    _ reporting: any DeviceReporting, _ drift: ClockDrift, _ traces: TraceRecorder
) -> SmartHomeEndpoint? {
    let skills = configuration.skills.compactMap {
        SmartHomeSkill($0, scopes: Set(configuration.provider.smartHomeScopes))
    }
    guard !skills.isEmpty else { return nil }
    let proof: SmartHomeEndpoint.Proof
    if configuration.forwarder.isRequired {
        // The configuration's judge demands the secret; without one nobody could prove anything, so nobody is answered.
        guard let secret = configuration.forwarder.secret else { return nil }
        proof = .forwarder(
            ForwarderVerifier(
                secret: secret, clock: parts.clock, maximumDepth: configuration.limits.jsonDepth))
    } else {
        proof = .none(maximumDepth: configuration.limits.jsonDepth)
    }
    let amazon = LoginWithAmazon(
        http: parts.http, tokenURL: configuration.amazon.lwaTokenURL,
        timeLimit: .seconds(configuration.limits.lwaSeconds), monotonic: parts.monotonic)
    return SmartHomeEndpoint(
        skills: skills, proof: proof, validator: provider.validator, loginWithAmazon: amazon, grants: parts.store,
        endpointIDs: parts.store, devices: DeviceClient(provider.resources), reporting: reporting,
        clock: parts.clock, now: parts.monotonic,
        log: parts.log, metrics: parts.metrics, drift: drift, traces: traces,
        endpointLimit: configuration.limits.discoveryEndpoints,
        responseLimitBytes: configuration.limits.smartHomeResponseBytes)
}

/// Account linking over the provider that there is.
private func makeLinking(
    _ configuration: Configuration, _ parts: ServiceParts, _ provider: ProviderSide, _ traces: TraceRecorder
) -> LinkService {
    let codes: any LinkCodes
    let revoking: any LinkRevoking
    switch configuration.provider.kind {
    case .embedded:
        codes = EmbeddedLinkCodes(server: provider.core.server, log: parts.log)
        revoking = EmbeddedLinkRevoking(server: provider.core.server, log: parts.log)
    case .external(let external):
        let scopes = configuration.provider.customScopes + configuration.provider.smartHomeScopes
        codes = ExternalLinkCodes(
            endpoint: external.code, http: parts.http,
            scopes: scopes.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }, log: parts.log)
        revoking = ExternalLinkRevoking(endpoint: external.revocation, http: parts.http, log: parts.log)
    }
    let (validator, resources) = (provider.validator, provider.resources)
    return LinkService(configuration, parts, codes: codes, revoking: revoking, traces: traces) { subject in
        validator.forget(subject: subject)
        resources.forget(subject: subject)
    }
}

/// Whoever knows the users, as the rest of the service sees them.
private struct ProviderSide {
    let embedded: EmbeddedProvider?
    let core: ProviderCore
    let validator: TokenValidator
    let resources: ResourceClient
}

private func makeProvider(
    _ configuration: Configuration, _ parts: ServiceParts, _ worker: EventWorker, _ traces: TraceRecorder
) async throws -> ProviderSide {
    let provider = configuration.provider
    let limits = ResourceClient.Limits(
        call: .seconds(configuration.limits.resourceSeconds), answerDepth: configuration.limits.jsonDepth)
    let observe: @Sendable (TokenEvent) -> Void = { [log = parts.log] event in tell(event, log) }
    let keys = SigningKeys(store: parts.store, tokenSeconds: provider.accessTokenSeconds, clock: parts.clock)
    switch provider.kind {
    case .embedded(let embedded):
        let users = UserDirectory(file: embedded.users ?? .none, store: parts.store, clock: parts.clock)
        try await keys.load()
        let later = DeferredAnswers(
            outbox: parts.store, now: parts.monotonic, log: parts.log, posted: { [weak worker] in worker?.wake() })
        let made = EmbeddedProvider(
            issuer: configuration.publicURL, users: users, devices: embedded.devices, keys: keys,
            accountScopes: Set(provider.customScopes), deviceScopes: Set(provider.smartHomeScopes),
            lateAnswer: later.post, clock: parts.clock, monotonic: parts.monotonic,
            keptTokenLimit: configuration.limits.keptTokens, log: parts.log, observe: observe)
        let resources = ResourceClient(
            baseURL: EmbeddedProvider.resourcesURL, http: made.client(otherwise: parts.http), limits: limits,
            observer: parts.observer, now: parts.monotonic)
        return ProviderSide(
            embedded: made,
            core: try await ProviderCore(configuration, parts, keys: keys, embedded: made, traces: traces),
            validator: made.validator, resources: resources)
    case .external(let external):
        guard let baseURL = external.resourcesURL else { throw ServiceFault.noResources }
        guard var validation = TokenValidation(external) else { throw ServiceFault.noTokenJudge }
        validation.keptTokenLimit = configuration.limits.keptTokens
        validation.keptKeySetLimit = configuration.limits.keptKeySets
        let validator = TokenValidator(
            validation, http: parts.http, clock: parts.clock, monotonic: parts.monotonic, observe: observe)
        let resources = ResourceClient(
            baseURL: baseURL, http: parts.http, limits: limits, observer: parts.observer, now: parts.monotonic)
        if provider.clients.contains(where: { $0.grants.contains(.clientCredentials) }) { try await keys.load() }
        return ProviderSide(
            embedded: nil,
            core: try await ProviderCore(configuration, parts, keys: keys, embedded: nil, traces: traces),
            validator: validator, resources: resources)
    }
}

private func makeVerifier(
    _ configuration: Configuration, _ parts: ServiceParts
) throws(ServiceFault) -> RequestVerifier {
    var limits = CertificateChains.Limits()
    limits.chains = configuration.limits.keptChains
    limits.fetchTime = .seconds(configuration.limits.certificateSeconds)
    let anchors: TrustAnchors
    if let given = parts.trustAnchors { anchors = given } else { anchors = try trustAnchors(configuration) }
    let chains = CertificateChains(
        http: parts.http, anchors: anchors, clock: parts.clock,
        monotonic: parts.monotonic, limits: limits)
    return RequestVerifier(
        skillIDs: Set(configuration.skills.map(\.id)), chains: chains, clock: parts.clock,
        maximumDepth: configuration.limits.jsonDepth)
}

private func trustAnchors(_ configuration: Configuration) throws(ServiceFault) -> TrustAnchors {
    guard let path = configuration.amazon.trustAnchorsPath else {
        guard let anchors = try? TrustAnchors.system() else { throw .trustAnchors(path: "of the system") }
        return anchors
    }
    guard let pem = FileManager.default.contents(atPath: path), let anchors = try? TrustAnchors(pem: Array(pem)) else {
        throw .trustAnchors(path: path)
    }
    return anchors
}

/// What a validator has to tell, as log lines.
private func tell(_ event: TokenEvent, _ log: Log) {
    switch event {
    case .keysFetched(let usable, let faults):
        log.info("the provider's keys were fetched", .count(usable))
        for fault in faults { log.notice("a key of the provider's cannot be used", .detail(fault)) }
    case .keysUnavailable(let reason): log.error("the provider's keys cannot be fetched", .detail(reason))
    case .introspectionUnavailable(let reason): log.error("the provider cannot be asked of a token", .detail(reason))
    case .usersUnavailable(let reason): log.error("the users cannot be read", .detail(reason))
    case .unknownKey(let id): log.notice("a token names a key that the provider does not publish", .detail(id))
    }
}
