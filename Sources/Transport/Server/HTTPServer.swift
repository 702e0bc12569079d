internal import Concurrency
internal import Glibc
public import HTTP
public import Telemetry

/// Answers HTTP/1.1 on the loops of a group.
public final class HTTPServer: Sendable {
    private enum State: Sendable {
        case new, running(Acceptor), stopped
    }

    private let configuration: ServerConfiguration
    private let shards: [ServerShard]
    private let ledger: ConnectionLedger
    private let log: Log
    private let metrics: Metrics
    private let tls = Locked<TLSContext?>(nil)
    private let state = Locked(State.new)

    /// A server that listens once it is started; `responder` answers on the loops, so it must not block.
    public init(
        group: EventLoopGroup, configuration: ServerConfiguration, responder: any HTTPResponder, log: Log = .silent,
        metrics: Metrics = Metrics()
    ) {
        self.configuration = configuration
        self.log = log
        self.metrics = metrics
        let ledger = ConnectionLedger(limits: configuration.limits, metrics: metrics)
        self.ledger = ledger
        shards = group.loops.map { loop in
            ServerShard(
                loop: loop, configuration: configuration, responder: responder, ledger: ledger, log: log,
                metrics: metrics)
        }
    }

    /// Listens, and returns the port: the system's choice where the configuration says zero.
    ///
    /// - Throws: ``ServerError`` where the address is taken or cannot be used, or a TLS file does not serve.
    public func start() throws(ServerError) -> Int {
        raiseFileLimit()
        if configuration.tls != nil { try reloadTLS() }
        let turn = Turn(shards)
        let connections = metrics.counter(.connections)
        let acceptor = try Acceptor(
            loop: shards[0].loop, host: configuration.host, port: configuration.port, log: log
        ) { [self] descriptor, peerAddress in
            connections.add(1)
            admit(descriptor, peerAddress, to: turn.next())
        }
        let isNew = state.withLock { state in
            guard case .new = state else { return false }
            state = .running(acceptor)
            return true
        }
        guard isNew else { throw ServerError("a server starts once") }
        shards[0].loop.execute { acceptor.start() }
        return acceptor.port
    }

    /// Reads certificate and key again; connections that are open keep what they have.
    ///
    /// - Throws: ``ServerError`` where a file does not serve; the certificate of before then stays.
    public func reloadTLS() throws(ServerError) {
        guard let files = configuration.tls else { return }
        let context = try TLSContext(files)
        tls.withLock { $0 = context }
    }

    /// Accepts no more connections, finishes what runs, and ends every connection.
    ///
    /// Answers that leave meanwhile say `Connection: close`. What still runs after `grace` is cancelled, and answered as
    /// if its deadline had passed.
    public func shutdown(grace: Duration = .seconds(10)) async {
        let acceptor: Acceptor? = state.withLock { state in
            defer { state = .stopped }
            if case .running(let acceptor) = state { return acceptor }
            return nil
        }
        if let acceptor {
            await run(on: shards[0].loop) { done in
                acceptor.stop()
                done()
            }
        }
        for shard in shards { await run(on: shard.loop) { shard.drain(grace: grace, $0) } }
    }

    private func admit(_ descriptor: CInt, _ peerAddress: String, to shard: ServerShard) {
        let verdict = ledger.add(peerAddress)
        if verdict != .welcome { metrics.counter(.connectionsRefused, "limit").add(1) }
        guard verdict != .dropped else {
            close(descriptor)
            return
        }
        let context = tls.withLock { $0 }
        let isOver = verdict == .answered503
        let isTaken = shard.loop.execute {
            shard.adopt(descriptor, peerAddress: peerAddress, tls: context, isOver: isOver)
        }
        if !isTaken { close(descriptor) }
    }

    /// Does `work` on a loop, and waits until it says that it is done; at once where the loop has ended.
    private func run(on loop: EventLoop, _ work: @escaping @Sendable (@escaping () -> Void) -> Void) async {
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            if !loop.execute({ work { done.resume() } }) { done.resume() }
        }
    }
}

/// Deals connections out; used on the acceptor's loop alone.
private final class Turn {
    private let shards: [ServerShard]
    private var index = 0

    init(_ shards: [ServerShard]) { self.shards = shards }

    func next() -> ServerShard {
        index = (index + 1) % shards.count
        return shards[index]
    }
}

/// Lets the process open as many files as its hard limit allows; the soft one is often 1024.
private func raiseFileLimit() {
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard unsafe getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = limit.rlim_max
    unsafe setrlimit(resource, &limit)
}
