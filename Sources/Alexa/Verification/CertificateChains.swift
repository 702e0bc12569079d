import Concurrency
public import Crypto
public import HTTP
public import Time

/// A certificate chain that passed every check.
public struct SigningChain: Sendable {
    /// The certificates, the signing one first.
    public let certificates: [Certificate]
    /// The key that signs requests.
    public let publicKey: PublicKey
    /// When every certificate of the chain has begun to be valid.
    fileprivate let notBefore: UnixTime
    /// When the first certificate of the chain ceases to be valid.
    fileprivate let notAfter: UnixTime

    /// Reads and judges a PEM bundle: trust, dates, name and usage.
    ///
    /// - Throws: the first check that failed.
    public init(pem: [UInt8], anchors: TrustAnchors, at now: UnixTime) throws(RequestRejection) {
        guard !pem.isEmpty else { throw .chainUnavailable(.empty) }
        let bundle: [Certificate]
        do { bundle = try Certificate.bundle(pem: pem) } catch { throw .chainUnavailable(.unreadable) }
        guard let leaf = bundle.first, bundle.count <= 16 else { throw .chainUnavailable(.unreadable) }
        try RequestChecks.dates(leaf, at: now)
        try RequestChecks.name(leaf)
        try RequestChecks.usage(leaf)
        try RequestChecks.chain(bundle, anchors: anchors, at: now)
        certificates = bundle
        publicKey = leaf.publicKey
        notBefore = bundle.map(\.notBefore).max() ?? leaf.notBefore
        notAfter = bundle.map(\.notAfter).min() ?? leaf.notAfter
    }

    /// Whether the chain still holds at `now`.
    ///
    /// The dates are enough where they hold for every certificate. Where one that the path may not need is out of
    /// date, the path is built again.
    fileprivate func holds(at now: UnixTime, anchors: TrustAnchors) -> Bool {
        if now >= notBefore, now <= notAfter { return true }
        guard let leaf = certificates.first, (try? RequestChecks.dates(leaf, at: now)) != nil else { return false }
        return (try? RequestChecks.chain(certificates, anchors: anchors, at: now)) != nil
    }
}

/// Fetches the chains that requests are signed with, judges them, and keeps the good ones.
///
/// Anybody can provoke a fetch, so their number is limited.
public final class CertificateChains: Sendable {
    /// What fetching and keeping may cost.
    public struct Limits: Hashable, Sendable {
        /// How many chains are kept.
        public var chains = 64
        /// How many fetches run at once.
        public var fetchesAtOnce = 4
        /// How many addresses that never gave a good chain are fetched within a minute.
        public var unknownURLsPerMinute = 60
        /// How long an address that failed is left alone.
        public var pauseAfterFailure: Duration = .seconds(30)
        /// How long a fetch may take.
        public var fetchTime: Duration = .seconds(2)
        /// How large a chain may be.
        public var bodyBytes = 64 * 1024

        /// The usual limits.
        public init() {}
    }

    private struct State {
        var chains: BoundedCache<String, SigningChain>
        /// When an address that failed may be tried again.
        var failed = BoundedCache<String, ContinuousClock.Instant>(capacity: 256)
        /// Addresses that gave a good chain once: the limit on unknown ones is not for them.
        var proven: BoundedCache<String, Bool>
        var fetching = 0
        var unknownFetches: [ContinuousClock.Instant] = []
    }

    private let http: any HTTPClient
    private let anchors: TrustAnchors
    private let clock: WallClock
    private let monotonic: @Sendable () -> ContinuousClock.Instant
    private let limits: Limits
    private let state: Locked<State>
    private let flights = SingleFlight<String, SigningChain>()

    /// Keeps nothing yet; `monotonic` tells the time that limits are measured by.
    public init(
        http: any HTTPClient, anchors: TrustAnchors, clock: @escaping WallClock,
        monotonic: @escaping @Sendable () -> ContinuousClock.Instant, limits: Limits = Limits()
    ) {
        self.http = http
        self.anchors = anchors
        self.clock = clock
        self.monotonic = monotonic
        self.limits = limits
        let capacity = max(1, limits.chains)
        state = Locked(State(chains: BoundedCache(capacity: capacity), proven: BoundedCache(capacity: capacity)))
    }

    /// The chain of `url` where it is kept and still holds at `now`; one that no longer holds is dropped.
    public func kept(for url: CertificateURL, at now: UnixTime) -> SigningChain? {
        guard let chain = state.withLock({ state in state.chains.value(for: url.text) }) else { return nil }
        if chain.holds(at: now, anchors: anchors) { return chain }
        state.withLock { state in _ = state.chains.remove(url.text) }
        return nil
    }

    /// The chain of `url`, kept or fetched and judged now; one fetch runs an address, whoever asks.
    ///
    /// - Throws: why the chain cannot be had, or the first check that it failed.
    public func chain(for url: CertificateURL, by deadline: Deadline) async throws(RequestRejection) -> SigningChain {
        if let kept = kept(for: url, at: clock()) { return kept }
        do {
            return try await flights.run(url.text) { try await self.fetched(url, by: deadline) }
        } catch let rejection as RequestRejection {
            throw rejection
        } catch {
            throw .chainUnavailable(.cancelled)
        }
    }

    private func fetched(_ url: CertificateURL, by deadline: Deadline) async throws(RequestRejection) -> SigningChain {
        if let kept = kept(for: url, at: clock()) { return kept }
        try admit(url)
        do {
            let pem = try await fetch(url, by: deadline)
            let chain = try SigningChain(pem: pem, anchors: anchors, at: clock())
            state.withLock { state in
                state.fetching -= 1
                state.chains.insert(chain, for: url.text)
                state.proven.insert(true, for: url.text)
                state.failed.remove(url.text)
            }
            return chain
        } catch {
            let now = monotonic()
            let again = now.advanced(by: limits.pauseAfterFailure)
            // A fetch that the caller's own deadline cut says nothing about the address.
            let isCut = error == .chainUnavailable(.cancelled) || deadline.remaining(at: now) == .zero
            state.withLock { state in
                state.fetching -= 1
                if !isCut { state.failed.insert(again, for: url.text) }
            }
            throw error
        }
    }

    private func admit(_ url: CertificateURL) throws(RequestRejection) {
        let now = monotonic()
        try state.withLock { state throws(RequestRejection) in
            if let again = state.failed.value(for: url.text), now < again { throw .chainUnavailable(.failedRecently) }
            guard state.fetching < limits.fetchesAtOnce else { throw .chainUnavailable(.tooManyFetches) }
            if state.proven.value(for: url.text) == nil {
                state.unknownFetches.removeAll { $0.duration(to: now) >= .seconds(60) }
                guard state.unknownFetches.count < limits.unknownURLsPerMinute else {
                    throw .chainUnavailable(.tooManyFetches)
                }
                state.unknownFetches.append(now)
            }
            state.fetching += 1
        }
    }

    private func fetch(_ url: CertificateURL, by deadline: Deadline) async throws(RequestRejection) -> [UInt8] {
        let limited = deadline.limited(to: limits.fetchTime, from: monotonic())
        let request = OutgoingRequest(url: url.text, answerLimitBytes: limits.bodyBytes)
        let response: HTTPResponse
        do { response = try await http.send(request, by: limited) } catch {
            switch error {
            case .unreachable, .broken, .circuitOpen, .address: throw .chainUnavailable(.unreachable)
            case .tls: throw .chainUnavailable(.tls)
            case .timedOut: throw .chainUnavailable(.timedOut)
            case .answerTooLarge: throw .chainUnavailable(.tooLarge)
            case .cancelled: throw .chainUnavailable(.cancelled)
            }
        }
        guard response.status == 200 else { throw .chainUnavailable(.status(response.status)) }
        guard response.body.count <= limits.bodyBytes else { throw .chainUnavailable(.tooLarge) }
        return response.body
    }
}
