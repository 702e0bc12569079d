internal import HTTP
internal import Telemetry
internal import Time
internal import Glibc

/// The part of a server that lives on one loop: its connections, and what they share.
///
/// Used on its loop's thread alone, once it is made.
@safe final class ServerShard: @unchecked Sendable {
    // Unchecked: whatever comes from another thread goes through the loop first.

    let loop: EventLoop
    let limits: ServerLimits
    let trustedProxies: AddressSet
    let responder: any HTTPResponder
    let log: Log
    let requestsRunning: Gauge
    let lateAnswers: Counter
    /// What is read lands here first, and is taken from here before anything else is read.
    let buffer: UnsafeMutableBufferPointer<UInt8>
    private let metrics: Metrics
    private let ledger: ConnectionLedger
    private var encoder = ResponseEncoder()
    private var connections: [ObjectIdentifier: Connection] = [:]
    private(set) var isDraining = false
    private var drainTimer: LoopTimer?
    private var graceTimer: LoopTimer?
    private var whenEmpty: [() -> Void] = []

    init(
        loop: EventLoop, configuration: ServerConfiguration, responder: any HTTPResponder, ledger: ConnectionLedger,
        log: Log, metrics: Metrics
    ) {
        self.loop = loop
        limits = configuration.limits
        trustedProxies = configuration.trustedProxies
        self.responder = responder
        self.ledger = ledger
        self.log = log
        self.metrics = metrics
        requestsRunning = metrics.gauge(.requestsRunning)
        lateAnswers = metrics.counter(.lateAnswers)
        unsafe buffer = .allocate(capacity: 64 * 1024)
    }

    deinit { unsafe buffer.deallocate() }

    /// Takes over an accepted socket; answers 503 on it where `isOver` the limit.
    func adopt(_ descriptor: CInt, peerAddress: String, tls: TLSContext?, isOver: Bool) {
        let wire: any Wire
        if let tls {
            guard let ssl = unsafe tls.connection(),
                let secure = unsafe TLSWire(shard: self, descriptor: descriptor, ssl: ssl)
            else {
                ledger.remove(peerAddress)
                return
            }
            wire = secure
        } else {
            wire = PlainWire(shard: self, descriptor: descriptor)
        }
        let connection = Connection(shard: self, wire: wire, peerAddress: peerAddress, hasHandshake: tls != nil)
        connections[ObjectIdentifier(connection)] = connection
        if isOver { connection.refuse() } else { connection.start() }
    }

    func ended(_ connection: Connection, peerAddress: String) {
        connections[ObjectIdentifier(connection)] = nil
        ledger.remove(peerAddress)
        if connections.isEmpty { tellEmpty() }
    }

    /// The head of an answer; nil where it must not leave.
    func head(of response: HTTPResponse, isHTTP10: Bool, keepsAlive: Bool) -> [UInt8]? {
        let now = UnixTime(seconds: Int64(time(nil)))
        return encoder.head(of: response, isHTTP10: isHTTP10, keepsAlive: keepsAlive, now: now)
    }

    func refused(_ fault: RequestFault, peerAddress: String) {
        metrics.counter(.malformedRequests, fault.rawValue).add(1)
        log.info("request refused before it was read", .rejection("http." + fault.rawValue), .peer(peerAddress))
    }

    func cut(_ reason: String, peerAddress: String) {
        metrics.counter(.connectionsRefused, reason).add(1)
        log.info("connection cut", .rejection("connection." + reason), .peer(peerAddress))
    }

    // MARK: Shutdown

    /// Lets what runs finish within `grace`, then ends what is left; calls `done` when no connection is left.
    func drain(grace: Duration, _ done: @escaping () -> Void) {
        whenEmpty.append(done)
        isDraining = true
        if connections.isEmpty { return tellEmpty() }
        guard drainTimer == nil else { return }
        let drain = LoopTimer(on: loop) { [self] in endThoseAtRest() }
        drain.start(after: min(grace, limits.drainTime))
        drainTimer = drain
        let end = LoopTimer(on: loop) { [self] in for connection in connections.values { connection.endNow() } }
        end.start(after: grace)
        graceTimer = end
    }

    /// Ends the connections on which nothing is under way, after a last look whether a request has come.
    private func endThoseAtRest() {
        for connection in connections.values { connection.endIfAtRest() }
    }

    private func tellEmpty() {
        guard !whenEmpty.isEmpty else { return }
        drainTimer?.stop()
        drainTimer = nil
        graceTimer?.stop()
        graceTimer = nil
        for done in whenEmpty { done() }
        whenEmpty = []
    }
}
