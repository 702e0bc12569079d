internal import Glibc
internal import HTTP
internal import Telemetry
internal import Time

/// One connection: it takes requests from its wire one at a time, has them answered, and sends the answers in order.
///
/// Used on its loop's thread alone. The shard holds it from accept to ``close()``, the one place where it ends; a task
/// that is still running then holds what is left of it, finds it closed, and does nothing.
final class Connection: @unchecked Sendable {
    // Unchecked: whatever comes from another thread goes through the loop first.

    enum Phase {
        /// Between requests, and before the first.
        case idle
        /// A request, or the TLS handshake, is under way.
        case receiving
        /// The handler runs.
        case answering(Exchange)
        /// The peer has too much of earlier answers left to take.
        case sending
        /// Nothing more is sent; what still comes is dropped, so that the peer can read the answer.
        case lingering
        case closed
    }

    /// A request whose handler waits.
    struct Exchange {
        let number: Int
        let lateAnswer: LateAnswer
        let isHead: Bool
        let isHTTP10: Bool
        let keepsAlive: Bool
        var task: Task<Void, Never>?
    }

    private let shard: ServerShard
    private let wire: any Wire
    private let decoder: RequestDecoder
    private let peerAddress: String
    private(set) var phase = Phase.idle
    private var backlog = Backlog()
    private var isReading = true
    private var isConsuming = false
    private var hasPeerLeft = false
    private var closesAfterAnswers = false
    private var lingeredBytes = 0
    private var exchangeNumber = 0
    private var moment: ContinuousClock.Instant
    /// When the phase has lasted too long; the timer may be set earlier and then sets itself anew.
    private var limit: ContinuousClock.Instant
    private var timerAt: ContinuousClock.Instant?
    private var timer: LoopTimer?

    private var limits: ServerLimits { shard.limits }

    init(shard: ServerShard, wire: any Wire, peerAddress: String, hasHandshake: Bool) {
        self.shard = shard
        self.wire = wire
        self.peerAddress = peerAddress
        decoder = RequestDecoder(
            limits: .init(headBytes: shard.limits.headBytes, bodyBytes: shard.limits.bodyBytes))
        moment = .now
        limit = moment
        if hasHandshake { phase = .receiving }
    }

    func start() {
        timer = LoopTimer(on: shard.loop) { [unowned self] in timeIsUp() }
        wire.connection = self
        wire.start()
        if case .receiving = phase {
            setLimit(limits.requestTime)
        } else {
            setLimit(limits.idleTime)
        }
    }

    /// Answers 503, since there are too many connections, and ends.
    func refuse() {
        start()
        let busy = HTTPResponse(status: 503, fields: ["Retry-After": "1"])
        answer(busy, isHead: false, isHTTP10: false, keepsAlive: false)
    }

    /// Frees everything; the handler, if one runs, is cancelled.
    func close() {
        if case .closed = phase { return }
        let last = phase
        phase = .closed
        timer?.stop()
        timer = nil
        wire.close()
        backlog = Backlog()
        if case .answering(let exchange) = last {
            exchange.task?.cancel()
            shard.requestsRunning.add(-1)
        }
        shard.ended(self, peerAddress: peerAddress)
    }

    // MARK: What the wire tells

    func opened() {
        moment = .now
        phase = .idle
        setLimit(limits.idleTime)
    }

    func received(_ bytes: Span<UInt8>) {
        moment = .now
        switch phase {
        case .idle, .receiving:
            if backlog.isEmpty { consume(bytes) } else { keep(bytes) }
        case .answering, .sending: keep(bytes)
        case .lingering:
            lingeredBytes += bytes.count
            if lingeredBytes > lingerLimitBytes { close() }
        case .closed: break
        }
    }

    func drained() {
        guard wire.unsentBytes == 0 else { return }
        moment = .now
        if closesAfterAnswers, !isAnswering { return linger() }
        switch phase {
        case .idle: setLimit(limits.idleTime)
        case .sending:
            phase = .idle
            setLimit(limits.idleTime)
            consumeBacklog()
        default: break
        }
    }

    /// The peer sends no more, or is gone altogether.
    func ended(isBroken: Bool) {
        hasPeerLeft = true
        setReading(false)
        switch phase {
        case .answering(let exchange) where !isBroken:
            // It may still read, so an answer that comes all the same is sent.
            exchange.task?.cancel()
        case .sending where !isBroken: break
        case .idle where !isBroken && !backlog.isEmpty: break
        case .idle where !isBroken && wire.unsentBytes > 0: closesAfterAnswers = true
        default: close()
        }
    }

    // MARK: Requests

    private var isAnswering: Bool { if case .answering = phase { true } else { false } }

    private func keep(_ bytes: Span<UInt8>) {
        backlog.append(bytes)
        if backlog.count > limits.pipelineBytes { setReading(false) }
    }

    private func setReading(_ reads: Bool) {
        guard reads != isReading, !(reads && hasPeerLeft) else { return }
        isReading = reads
        wire.setReading(reads)
    }

    /// Takes requests out of `bytes` as long as each is answered at once; what is left is kept for later.
    private func consume(_ bytes: Span<UInt8>) {
        isConsuming = true
        let taken = takeRequests(bytes)
        isConsuming = false
        if taken < bytes.count, canGoOn || isAnswering || isSending { keep(bytes.extracting(taken..<bytes.count)) }
        if canGoOn, taken < bytes.count { shard.loop.execute { self.consumeBacklog() } }
    }

    private func consumeBacklog() {
        guard canGoOn, !isConsuming else { return }
        if !backlog.isEmpty {
            // Nothing is added meanwhile; closing or refusing throws the rest away.
            var pending = backlog
            backlog = Backlog()
            isConsuming = true
            pending.take { takeRequests($0) }
            isConsuming = false
            if !pending.isEmpty, !isEnding {
                backlog = pending
                if canGoOn { shard.loop.execute { self.consumeBacklog() } }
            }
        }
        guard canGoOn else { return }
        if hasPeerLeft, backlog.isEmpty { return endQuietly() }
        if backlog.count <= limits.pipelineBytes { setReading(true) }
    }

    private var canGoOn: Bool {
        switch phase {
        case .idle, .receiving: true
        default: false
        }
    }

    private var isSending: Bool { if case .sending = phase { true } else { false } }

    private var isEnding: Bool {
        switch phase {
        case .lingering, .closed: true
        default: closesAfterAnswers
        }
    }

    /// How many bytes were taken; not all where a request waits, or the turn is over.
    private func takeRequests(_ bytes: Span<UInt8>) -> Int {
        var taken = 0
        var turns = turnLimit
        while taken < bytes.count, canGoOn, !closesAfterAnswers, turns > 0 {
            turns -= 1
            let (count, outcome) = decoder.feed(bytes.extracting(taken..<bytes.count))
            taken += count
            switch outcome {
            case .more:
                if decoder.hasBegun, case .idle = phase {
                    phase = .receiving
                    setLimit(limits.requestTime)
                }
                if decoder.takeContinue(), !wire.send(continueHead, []) { close() }
            case .request(let request): begin(request)
            case .refused(let fault): refuse(fault)
            }
        }
        return taken
    }

    private func refuse(_ fault: RequestFault) {
        shard.refused(fault, peerAddress: peerAddress)
        answer(HTTPResponse(status: fault.status), isHead: false, isHTTP10: false, keepsAlive: false)
    }

    private func begin(_ decoded: RequestDecoder.Request) {
        let responder = shard.responder
        let lateAnswer = LateAnswer()
        let deadline = Deadline.after(
            responder.timeLimit(for: decoded.method, target: decoded.target), from: moment)
        var origin = peerAddress
        if !shard.trustedProxies.isEmpty {
            let forwarded = decoded.fields.values("X-Forwarded-For")
            if !forwarded.isEmpty { origin = shard.trustedProxies.origin(peer: origin, forwardedFor: forwarded) }
        }
        let request = HTTPRequest(
            method: decoded.method, target: decoded.target, fields: decoded.fields, body: decoded.body,
            peerAddress: origin, deadline: deadline, lateAnswer: lateAnswer)
        exchangeNumber += 1
        let number = exchangeNumber
        phase = .answering(
            Exchange(
                number: number, lateAnswer: lateAnswer, isHead: decoded.method == .head,
                isHTTP10: decoded.isHTTP10, keepsAlive: decoded.keepsAlive))
        // Runs here until it waits, and goes on on this loop.
        let loop = shard.loop
        let task = Task.immediate(executorPreference: loop) {
            let response = await responder.respond(to: request)
            if loop.isCurrent {
                self.finished(number, response)
            } else {
                loop.execute { self.finished(number, response) }
            }
        }
        guard case .answering(var exchange) = phase, exchange.number == number else { return }
        exchange.task = task
        phase = .answering(exchange)
        shard.requestsRunning.add(1)
        setLimit(at: deadline.instant)
    }

    private func finished(_ number: Int, _ response: HTTPResponse) {
        // Late, or the peer is gone.
        guard case .answering(let exchange) = phase, exchange.number == number else { return }
        if exchange.task != nil {
            shard.requestsRunning.add(-1)
            moment = .now
        }
        answer(
            response, isHead: exchange.isHead, isHTTP10: exchange.isHTTP10, keepsAlive: exchange.keepsAlive)
        if !isConsuming { consumeBacklog() }
    }

    // MARK: Answers

    private func answer(_ response: HTTPResponse, isHead: Bool, isHTTP10: Bool, keepsAlive: Bool) {
        let keepsAlive = keepsAlive && !shard.isDraining
        var response = response
        var head = shard.head(of: response, isHTTP10: isHTTP10, keepsAlive: keepsAlive)
        if head == nil {
            shard.log.error("an answer would have broken its head, and did not leave", .status(response.status))
            response = HTTPResponse(status: 500)
            head = shard.head(of: response, isHTTP10: isHTTP10, keepsAlive: keepsAlive)
        }
        let sendsBody = !isHead && allowsBody(response.status)
        guard let head, wire.send(head, sendsBody ? response.body : []) else { return close() }
        let unsent = wire.unsentBytes
        if !keepsAlive {
            closesAfterAnswers = true
            phase = .sending
            if unsent == 0 { return linger() }
        } else {
            phase = unsent > limits.unsentBytes ? .sending : .idle
        }
        if unsent > 0 {
            setLimit(limits.answerTime + .seconds(unsent / max(1, limits.answerBytesPerSecond)))
        } else {
            setLimit(limits.idleTime)
        }
    }

    /// Ends the connection from this side, and gives the peer time to read what was sent.
    private func linger() {
        if hasPeerLeft { return close() }
        phase = .lingering
        backlog = Backlog()
        wire.finish()
        setReading(true)
        setLimit(limits.lingerTime)
    }

    /// Ends a connection without a request, when what it was sent has left.
    private func endQuietly() {
        if wire.unsentBytes == 0 { close() } else { closesAfterAnswers = true }
    }

    // MARK: Time

    private func setLimit(_ duration: Duration) { setLimit(at: moment.advanced(by: duration)) }

    private func setLimit(at limit: ContinuousClock.Instant) {
        self.limit = limit
        // A timer that fires too early costs less than setting it with every request.
        if let timerAt, timerAt <= limit { return }
        startTimer()
    }

    private func startTimer() {
        timerAt = limit
        timer?.start(after: moment.duration(to: limit))
    }

    private func timeIsUp() {
        timerAt = nil
        moment = .now
        guard moment >= limit else { return startTimer() }
        switch phase {
        case .answering(let exchange):
            shard.lateAnswers.add(1)
            exchange.task?.cancel()
            finished(exchange.number, exchange.lateAnswer.response)
        case .receiving:
            shard.cut("slowRequest", peerAddress: peerAddress)
            close()
        case .sending:
            shard.cut("slowReader", peerAddress: peerAddress)
            close()
        case .idle:
            if wire.unsentBytes > 0 { shard.cut("slowReader", peerAddress: peerAddress) }
            close()
        case .lingering: close()
        case .closed: break
        }
    }

    // MARK: Shutdown

    /// Ends the connection where nothing is under way, after a last look whether a request has come.
    func endIfAtRest() {
        guard isAtRest else { return }
        wire.poll()
        if isAtRest { close() }
    }

    private var isAtRest: Bool {
        if case .idle = phase { backlog.isEmpty && wire.unsentBytes == 0 } else { false }
    }

    /// Ends now: what runs is answered as if its deadline had passed.
    func endNow() {
        if case .answering(let exchange) = phase {
            exchange.task?.cancel()
            finished(exchange.number, exchange.lateAnswer.response)
        }
        close()
    }
}

/// How much of a refused request is read and dropped.
private let lingerLimitBytes = 1 << 20

/// How many pieces of a pipeline are taken before other connections get their turn.
private let turnLimit = 16

private let continueHead = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
