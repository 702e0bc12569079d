import Glibc
import Transport

/// Connections that send requests, one over and over or each of several in turn, and time the answers; on one loop.
final class LoadGenerator: @unchecked Sendable {
    // Unchecked: touched on the loop's thread alone, once it runs.
    private let loop: EventLoop
    private let requests: [[UInt8]]
    private var next = 0
    private let rate: Int
    private var clients: [LoadClient] = []
    private var free: [LoadClient] = []
    private var left = 0
    private var answered = 0
    private var total = 0
    private var start = ContinuousClock.now
    private var latencies: [Duration] = []
    private var timer: LoopTimer?
    private var done: ((Result<[Duration], any Error>) -> Void)?

    /// Answers whose status begins with another digit than `statusDigit` end the run.
    init(
        loop: EventLoop, port: Int, connections: Int, requests: [[UInt8]], rate: Int,
        statusDigit: UInt8 = UInt8(ascii: "2")
    ) throws {
        self.loop = loop
        self.requests = requests
        self.rate = rate
        for _ in 0..<connections { clients.append(try LoadClient(port: port, statusDigit: statusDigit)) }
    }

    /// Ends a run before all is sent; what was timed by then is its result.
    func stop() { loop.execute { [self] in finish(.success(latencies)) } }

    /// Sends `count` requests; the latencies of all.
    func run(_ count: Int) async throws -> [Duration] {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<[Duration], any Error>) in
            loop.execute { [self] in
                left = count
                total = count
                answered = 0
                latencies = []
                latencies.reserveCapacity(min(count, 1_000_000))
                done = { continuation.resume(with: $0) }
                start = .now
                for client in clients {
                    client.watch(on: loop) { [self] in answer(client, $0) }
                }
                free = clients
                if rate > 0 {
                    timer = LoopTimer(on: loop) { [self] in sendDue() }
                    sendDue()
                } else {
                    for client in clients where left > 0 { send(client, due: .now) }
                }
            }
        }
    }

    private func send(_ client: LoadClient, due: ContinuousClock.Instant) {
        left -= 1
        client.due = due
        let request = requests[next]
        next = (next + 1) % requests.count
        if !client.send(request) { finish(.failure(BenchmarkError("the server ended a connection"))) }
    }

    /// Sends what is due by now, as far as connections are free.
    private func sendDue() {
        let now = ContinuousClock.now
        while left > 0, let client = free.last {
            let due = start.advanced(by: .seconds(1) * (total - left) / rate)
            guard due <= now else { break }
            free.removeLast()
            send(client, due: due)
        }
        if left > 0 { timer?.start(after: .milliseconds(1)) }
    }

    private func answer(_ client: LoadClient, _ result: Result<Void, any Error>) {
        if case .failure(let error) = result { return finish(.failure(error)) }
        latencies.append(client.due.duration(to: .now))
        answered += 1
        if answered == total { return finish(.success(latencies)) }
        if rate > 0 {
            free.append(client)
            sendDue()
        } else if left > 0 {
            send(client, due: .now)
        }
    }

    private func finish(_ result: Result<[Duration], any Error>) {
        timer?.stop()
        timer = nil
        for client in clients { client.stop() }
        done?(result)
        done = nil
    }
}

/// One connection of the generator.
final class LoadClient {
    let descriptor: CInt
    var due = ContinuousClock.now
    private var watcher: SocketWatcher?
    private var received: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 32_768)

    private let statusDigit: UInt8

    init(port: Int, statusDigit: UInt8 = UInt8(ascii: "2")) throws {
        self.statusDigit = statusDigit
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw BenchmarkError("no socket: \(errno)") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = unsafe inet_addr("127.0.0.1")
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw BenchmarkError("not connected: \(errno)") }
        var on: CInt = 1
        unsafe setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
    }

    deinit { close(descriptor) }

    func watch(on loop: EventLoop, _ answered: @escaping (Result<Void, any Error>) -> Void) {
        watcher = SocketWatcher(on: loop, descriptor: descriptor) { [unowned self] _ in
            do { if try receive() { answered(.success(())) } } catch { answered(.failure(error)) }
        }
        watcher?.watch(.read)
    }

    func stop() {
        watcher?.stop()
        watcher = nil
    }

    /// Sends all of it, which fits the socket's buffer; false where the connection has ended.
    func send(_ bytes: [UInt8]) -> Bool {
        unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Reads once; true where an answer is whole, which must be of the status that is expected.
    private func receive() throws -> Bool {
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { throw BenchmarkError("a connection ended without an answer") }
        received += buffer[..<count]
        guard let answer = Answer(received) else { return false }
        guard answer.statusDigit == statusDigit else {
            throw BenchmarkError(
                "an answer was not as expected: " + String(decoding: received.prefix(200), as: UTF8.self))
        }
        received.removeAll(keepingCapacity: true)
        return true
    }

    /// Sends a request and waits for its answer's body.
    func ask(_ target: String) throws -> [UInt8] {
        guard send(Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)) else {
            throw BenchmarkError("the server is gone")
        }
        received = []
        while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { throw BenchmarkError("the server is gone") }
            received += buffer[..<count]
            if let answer = Answer(received) { return Array(received[answer.body]) }
        }
    }
}

/// An answer that has come whole.
private struct Answer {
    let statusDigit: UInt8
    let body: Range<Int>

    init?(_ bytes: [UInt8]) {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else { return nil }
        statusDigit = bytes.count > 9 ? bytes[9] : 0
        var length = 0
        if let field = bytes[..<end].firstRange(of: Array("Content-Length: ".utf8)) {
            for byte in bytes[field.upperBound...].prefix(while: { $0 != 0x0d }) {
                length = length * 10 + Int(byte - 48)
            }
        }
        guard bytes.count >= end + length else { return nil }
        body = end..<end + length
    }
}
