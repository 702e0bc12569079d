import Concurrency
import HTTP
import Telemetry
import Testing
import Time
import Transport

@Suite("The circuit breaker")
struct CircuitBreakerTests {
    let start = ContinuousClock.now

    /// A breaker after failures at these seconds.
    func failed(_ seconds: [Double]) -> CircuitBreaker {
        var breaker = CircuitBreaker()
        for second in seconds { breaker.failed(at: start + .seconds(second)) }
        return breaker
    }

    @Test(
        "five failures within ten seconds open it, fewer or slower ones do not",
        arguments: [
            ([0, 1, 2, 3, 4], true), ([0, 0, 0, 0, 0], true), ([0, 1, 2, 3, 10], true), ([0, 5, 11, 12, 13, 14], true),
            ([0, 1, 2, 3], false), ([0, 1, 2, 3, 10.1], false), ([0, 4, 8, 12, 16, 20, 24], false), ([], false),
        ])
    func opening(seconds: [Double], isOpen: Bool) {
        #expect(failed(seconds).isOpen == isOpen)
    }

    @Test("a success between starts the count anew")
    func success() {
        var breaker = failed([0, 0, 0, 0])
        breaker.succeeded()
        for _ in 0..<4 { breaker.failed(at: start) }
        #expect(!breaker.isOpen)
        breaker.failed(at: start)
        #expect(breaker.isOpen)
    }

    @Test("an open one lets one call through every five seconds, and closes with the first success")
    func trials() {
        var breaker = failed([0, 0, 0, 0, 0])
        var asked: [Bool] = []
        for second in [0, 1, 4.9, 5, 5.1, 9.9, 10, 10, 15] {
            asked.append(breaker.allows(at: start + .seconds(second)))
        }
        #expect(asked == [false, false, false, true, false, false, true, false, true])
        breaker.failed(at: start + .seconds(16))
        let early = breaker.allows(at: start + .seconds(19))
        let due = breaker.allows(at: start + .seconds(20))
        #expect(!early && due)
        breaker.succeeded()
        let after = [breaker.allows(at: start + .seconds(20)), breaker.allows(at: start + .seconds(20))]
        #expect(!breaker.isOpen && after == [true, true])
    }
}

/// Answers in turn what it was given, and counts.
private final class ScriptedClient: HTTPClient {
    typealias Outcome = Result<HTTPResponse, HTTPClientError>
    private let outcome: Locked<Outcome>
    private let calls = Locked(0)

    init(_ outcome: Outcome) { self.outcome = Locked(outcome) }

    var count: Int { calls.withLock { $0 } }

    func next(_ outcome: Outcome) { self.outcome.withLock { $0 = outcome } }

    func send(_ request: OutgoingRequest, by deadline: Deadline) async throws(HTTPClientError) -> HTTPResponse {
        calls.withLock { $0 += 1 }
        return try outcome.withLock { $0 }.get()
    }
}

@Suite("Calls behind the circuit breaker")
struct BreakingClientTests {
    private let metrics = Metrics()
    private let clock = Locked(ContinuousClock.now)
    private let scripted = ScriptedClient(.success(HTTPResponse(status: 200)))
    private let origin = "https://a.example:443"

    private func client(exempt: Set<String> = [], log: Log = .silent) -> BreakingClient {
        BreakingClient(
            scripted, exemptOrigins: exempt, log: log, metrics: metrics, now: { [clock] in clock.withLock { $0 } })
    }

    private func call(_ client: BreakingClient, _ url: String = "https://a.example/x") async -> HTTPClientError? {
        let deadline = Deadline.after(.seconds(1), from: clock.withLock { $0 })
        do {
            _ = try await client.send(OutgoingRequest(url: url), by: deadline)
            return nil
        } catch { return error }
    }

    static let failures: [Result<HTTPResponse, HTTPClientError>] =
        [.unreachable("x"), .broken("x"), .timedOut, .tls("x")].map { .failure($0) }
        + [500, 502, 503, 504, 599].map { .success(HTTPResponse(status: $0)) }

    @Test("five failures in a row hold further calls back", arguments: failures)
    func opening(outcome: Result<HTTPResponse, HTTPClientError>) async {
        scripted.next(outcome)
        let client = client()
        for _ in 0..<5 { #expect(await call(client) != .circuitOpen) }
        for _ in 0..<3 { #expect(await call(client) == .circuitOpen) }
        #expect(scripted.count == 5)
        #expect(metrics.counter(.upstreamCalls, origin, "circuitOpen").value == 3)
        #expect(metrics.gauge(.circuitOpen, origin).value == 1)
        #expect(metrics.counter(.circuitsOpened, origin).value == 1)
    }

    static let others: [Result<HTTPResponse, HTTPClientError>] =
        [.answerTooLarge, .cancelled, .address].map { .failure($0) }
        + [200, 301, 400, 401, 403, 404, 429].map { .success(HTTPResponse(status: $0)) }

    @Test("answers below 500, and calls that say nothing of the server, never do", arguments: others)
    func harmless(outcome: Result<HTTPResponse, HTTPClientError>) async {
        scripted.next(outcome)
        let client = client()
        for _ in 0..<20 { #expect(await call(client) != .circuitOpen) }
        #expect(scripted.count == 20)
    }

    @Test("a caller whose deadline has passed calls nobody, and is not the server's fault")
    func late() async {
        let client = client()
        for _ in 0..<10 {
            await #expect(throws: HTTPClientError.timedOut) {
                try await client.send(
                    OutgoingRequest(url: "https://a.example/"), by: Deadline(at: clock.withLock { $0 }))
            }
        }
        #expect(scripted.count == 0)
        #expect(await call(client) == nil)
    }

    @Test("one server's failures hold back no other, nor one that is exempt")
    func origins() async {
        scripted.next(.failure(.timedOut))
        let client = client(exempt: ["https://api.amazon.com:443"])
        for _ in 0..<10 {
            _ = await call(client)
            #expect(await call(client, "https://API.amazon.com/auth/o2/token") == .timedOut)
        }
        #expect(await call(client) == .circuitOpen)
        #expect(await call(client, "https://b.example/") == .timedOut)
        #expect(await call(client, "https://a.example:444/") == .timedOut)
        #expect(metrics.counter(.upstreamCalls, "https://api.amazon.com:443", "timedOut").value == 10)
    }

    @Test("a trial that is answered closes it; opening and closing are logged once")
    func closing() async {
        let sink = LogLines()
        let log = Log(level: .info, format: .text, clock: { UnixTime(seconds: 0) }, sink: sink)
        let client = client(log: log)
        scripted.next(.failure(.unreachable("refused")))
        for _ in 0..<9 { _ = await call(client) }
        clock.withLock { $0 += .seconds(5) }
        #expect(await call(client) == .unreachable("refused"))
        #expect(await call(client) == .circuitOpen)
        clock.withLock { $0 += .seconds(5) }
        scripted.next(.success(HTTPResponse(status: 200)))
        for _ in 0..<5 { #expect(await call(client) == nil) }
        #expect(metrics.gauge(.circuitOpen, origin).value == 0)
        log.flush()
        #expect(sink.lines.count == 2)
        #expect(sink.lines.allSatisfy { $0.contains("upstream=" + origin) })
    }

    @Test("every call is counted by outcome and its time measured; none is left running")
    func measures() async {
        let client = client()
        _ = await call(client)
        scripted.next(.success(HTTPResponse(status: 404)))
        _ = await call(client)
        scripted.next(.failure(.broken("x")))
        _ = await call(client)
        #expect(await call(client, "http://a.example/") == .address)
        for outcome in ["2xx", "4xx", "broken"] {
            #expect(metrics.counter(.upstreamCalls, origin, outcome).value == 1)
        }
        #expect(metrics.histogram(.upstreamDurationSeconds, origin).count == 3)
        #expect(metrics.gauge(.upstreamCallsRunning).value == 0)
    }
}
