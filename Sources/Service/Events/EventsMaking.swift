import Alexa
import HTTP

/// What tells Alexa of changes, built as `serve` and `events flush` run it.
///
/// - Parameters:
///   - configuration: what the file says.
///   - parts: the store, the network, the clocks and the telemetry.
/// - Returns: the worker; nothing is sent before it runs.
public func makeEventWorker(_ configuration: Configuration, _ parts: ServiceParts) -> EventWorker {
    var clients: [String: AmazonClient] = [:]
    for skill in configuration.skills {
        guard let events = skill.events else { continue }
        clients[skill.name] = AmazonClient(id: events.clientID, secret: events.clientSecret)
    }
    let amazon = LoginWithAmazon(
        http: parts.http, tokenURL: configuration.amazon.lwaTokenURL,
        timeLimit: .seconds(configuration.limits.lwaSeconds), monotonic: parts.monotonic)
    let refreshing = GrantRefreshing(
        store: parts.store, clients: clients, loginWithAmazon: amazon, clock: parts.clock, now: parts.monotonic,
        log: parts.log, metrics: parts.metrics)
    var addresses: [AlexaRegion: String] = [:]
    for (region, url) in configuration.amazon.apiURLs {
        if let region = AlexaRegion(rawValue: region.rawValue) { addresses[region] = url }
    }
    return EventWorker(
        store: parts.store, refreshing: refreshing,
        gateway: EventGateway(http: parts.http, addresses: addresses, monotonic: parts.monotonic),
        clock: parts.clock, now: parts.monotonic, log: parts.log, metrics: parts.metrics)
}

extension EventsEndpoint {
    /// The endpoint of a configured service; what it takes is sent by `worker`.
    init(
        _ configuration: Configuration, _ parts: ServiceParts, authentication: ClientAuthentication,
        worker: EventWorker
    ) {
        self.init(
            authentication: authentication, outbox: parts.store, clock: parts.clock, now: parts.monotonic,
            log: parts.log, metrics: parts.metrics, jsonDepth: configuration.limits.jsonDepth,
            posted: { [weak worker] in worker?.wake() })
    }
}
