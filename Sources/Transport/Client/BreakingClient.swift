internal import Concurrency
public import HTTP
public import Telemetry
public import Time

/// Measures the calls of another client, and stops calling servers that fail (``CircuitBreaker``), one by one.
public final class BreakingClient: HTTPClient {
    /// Of how many servers it keeps count; the least lately used is forgotten.
    public static let originLimit = 256

    /// What is known of one server.
    private final class Upstream: Sendable {
        let origin: String
        let breaker: Locked<CircuitBreaker>?
        let durations: Histogram
        let openGauge: Gauge

        init(origin: String, isExempt: Bool, metrics: Metrics) {
            self.origin = origin
            breaker = isExempt ? nil : Locked(CircuitBreaker())
            durations = metrics.histogram(.upstreamDurationSeconds, origin)
            openGauge = metrics.gauge(.circuitOpen, origin)
        }
    }

    private let client: any HTTPClient
    private let exemptOrigins: Set<String>
    private let log: Log
    private let metrics: Metrics
    private let running: Gauge
    private let now: @Sendable () -> ContinuousClock.Instant
    private let upstreams = Locked(BoundedCache<String, Upstream>(capacity: BreakingClient.originLimit))

    /// A client that calls through `client`.
    ///
    /// Calls to `exemptOrigins` (``UpstreamAddress/origin``) are measured and never held back: Login with Amazon and
    /// the skill enablement service, where each call carries a code that is good once.
    public init(
        _ client: any HTTPClient, exemptOrigins: Set<String>, log: Log, metrics: Metrics,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.client = client
        self.exemptOrigins = exemptOrigins
        self.log = log
        self.metrics = metrics
        self.now = now
        running = metrics.gauge(.upstreamCallsRunning)
    }

    /// The answer of the server, unless it is held back.
    ///
    /// - Throws: `HTTPClientError`, also `HTTPClientError.circuitOpen`.
    public func send(
        _ request: OutgoingRequest, by deadline: Deadline
    ) async throws(HTTPClientError) -> HTTPResponse {
        let upstream = upstream(of: try UpstreamAddress(request.url).origin)
        let start = now()
        // A caller that comes too late says nothing about the server.
        guard deadline.instant > start else { throw .timedOut }
        guard upstream.breaker?.withLock({ $0.allows(at: start) }) != false else {
            metrics.counter(.upstreamCalls, upstream.origin, "circuitOpen").add()
            throw .circuitOpen
        }
        running.add(1)
        defer { running.add(-1) }
        do {
            let response = try await client.send(request, by: deadline)
            finish(upstream, start: start, outcome: "\(response.status / 100)xx", isFailure: response.status >= 500)
            return response
        } catch {
            finish(upstream, start: start, outcome: error.outcome, isFailure: error.countsAgainstServer)
            throw error
        }
    }

    private func upstream(of origin: String) -> Upstream {
        upstreams.withLock { upstreams in
            if let known = upstreams.value(for: origin) { return known }
            let new = Upstream(origin: origin, isExempt: exemptOrigins.contains(origin), metrics: metrics)
            upstreams.insert(new, for: origin)
            return new
        }
    }

    /// `isFailure` nil says nothing of the server.
    private func finish(_ upstream: Upstream, start: ContinuousClock.Instant, outcome: String, isFailure: Bool?) {
        let end = now()
        metrics.counter(.upstreamCalls, upstream.origin, outcome).add()
        upstream.durations.observe(start.duration(to: end))
        guard let breaker = upstream.breaker, let isFailure else { return }
        let (wasOpen, isOpen) = breaker.withLock { breaker in
            let wasOpen = breaker.isOpen
            if isFailure { breaker.failed(at: end) } else { breaker.succeeded() }
            return (wasOpen, breaker.isOpen)
        }
        guard wasOpen != isOpen else { return }
        upstream.openGauge.set(isOpen ? 1 : 0)
        if isOpen {
            metrics.counter(.circuitsOpened, upstream.origin).add()
            log.error("server fails, calls to it are held back", .upstream(upstream.origin), .outcome(outcome))
        } else {
            log.notice("server answers again", .upstream(upstream.origin))
        }
    }
}

extension HTTPClientError {
    /// The name of the case, for metrics and logs.
    public var outcome: String {
        switch self {
        case .address: "address"
        case .unreachable: "unreachable"
        case .tls: "tls"
        case .timedOut: "timedOut"
        case .broken: "broken"
        case .answerTooLarge: "answerTooLarge"
        case .cancelled: "cancelled"
        case .circuitOpen: "circuitOpen"
        }
    }

    /// Whether the server failed (true), answered (false), or nothing is known of it (nil).
    var countsAgainstServer: Bool? {
        switch self {
        case .unreachable, .tls, .timedOut, .broken: true
        case .answerTooLarge: false
        case .address, .cancelled, .circuitOpen: nil
        }
    }
}
