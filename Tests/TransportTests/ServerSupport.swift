import Concurrency
import Glibc
import HTTP
import Telemetry
import Testing
import Transport

/// Answers by a closure.
struct Responder: HTTPResponder {
    var timeLimit = Duration.seconds(240)
    let answer: @Sendable (HTTPRequest) async -> HTTPResponse

    func timeLimit(for method: HTTPMethod, target: String) -> Duration { timeLimit }
    func respond(to request: HTTPRequest) async -> HTTPResponse { await answer(request) }

    /// Says what was asked: method, target and body.
    static let echo = Responder { request in
        HTTPResponse(
            status: 200, fields: ["Content-Type": "text/plain"],
            body: Array("\(request.method.rawValue) \(request.target) ".utf8) + request.body)
    }
}

/// Runs `body` with a server on its port, and shuts it down.
func withServer<Result>(
    _ responder: Responder = .echo, threads: Int = 2, metrics: Metrics = Metrics(),
    configure: (inout ServerConfiguration) -> Void = { _ in }, _ body: (Int) async throws -> Result
) async throws -> Result {
    var configuration = ServerConfiguration()
    configuration.limits.drainTime = .zero
    configure(&configuration)
    let group = try EventLoopGroup(threads: threads)
    let server = HTTPServer(group: group, configuration: configuration, responder: responder, metrics: metrics)
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await body(try server.start())) } catch { result = .failure(error) }
    await server.shutdown(grace: .zero)
    group.shutdown()
    return try result.get()
}

/// Runs what blocks on a thread of its own, since tests share few.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Result, any Error>) in
        let work = unsafe Unmanaged.passRetained(Work { done.resume(with: Swift.Result(catching: body)) })
        var thread = pthread_t()
        let made = unsafe pthread_create(&thread, nil, runWork, work.toOpaque())
        pthread_detach(thread)
        precondition(made == 0, "no thread")
    }
}

private final class Work {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
}

private func runWork(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context = unsafe context { unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
    return nil
}

/// Something that ended a test's conversation.
struct ClientError: Error { let reason: String }

/// A client that sends and reads raw bytes; it blocks, ten seconds at most.
final class RawClient {
    private let descriptor: CInt
    private var received: [UInt8] = []

    init(port: Int, receiveBufferBytes: CInt? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw ClientError(reason: "no socket: \(errno)") }
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        if var bytes = receiveBufferBytes {
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<CInt>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = unsafe inet_addr("127.0.0.1")
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw ClientError(reason: "not connected: \(errno)") }
    }

    deinit { close(descriptor) }

    /// Sends all; false where the other side is gone.
    @discardableResult func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(
                    descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    @discardableResult func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Says that nothing more is sent.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Reads once more; false at the end, or where the connection broke.
    private func readMore() throws -> Bool {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
        if count < 0, errno == EAGAIN { throw ClientError(reason: "nothing came for ten seconds") }
        guard count > 0 else { return false }
        received += bytes[..<count]
        return true
    }

    /// Everything until the server ends the connection.
    func readToEnd() throws -> String {
        while try readMore() {}
        defer { received = [] }
        return String(decoding: received, as: UTF8.self)
    }

    /// The next answer; nil where the connection ended before one came.
    func answer(toHead: Bool = false) throws -> Answer? {
        while true {
            if let end = received.firstRange(of: Array("\r\n\r\n".utf8)) {
                let head = String(decoding: received[..<end.lowerBound], as: UTF8.self)
                var answer = Answer(head: head)
                let length = toHead ? 0 : answer.contentLength ?? 0
                guard received.count >= end.upperBound + length else {
                    guard try readMore() else { throw ClientError(reason: "an answer was cut") }
                    continue
                }
                answer.body = Array(received[end.upperBound..<end.upperBound + length])
                received.removeFirst(end.upperBound + length)
                return answer
            }
            guard try readMore() else {
                if received.isEmpty { return nil }
                throw ClientError(reason: "a head was cut")
            }
        }
    }
}

/// An answer as it came.
struct Answer: Sendable {
    let head: String
    var body: [UInt8] = []

    var status: Int { Int(head.split(separator: " ")[1]) ?? 0 }
    var text: String { String(decoding: body, as: UTF8.self) }
    var contentLength: Int? { field("Content-Length").flatMap { Int($0) } }

    func field(_ name: String) -> String? {
        for line in head.split(separator: "\r\n").dropFirst() where line.hasPrefix(name + ": ") {
            return String(line.dropFirst(name.count + 2))
        }
        return nil
    }
}

/// A value that a task waits for and another gives once.
final class Signal: Sendable {
    private enum State { case open, given, waiting(CheckedContinuation<Void, Never>) }
    private let state = Locked(State.open)

    func give() {
        let waiting: CheckedContinuation<Void, Never>? = state.withLock { state in
            defer { state = .given }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        waiting?.resume()
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isGiven = state.withLock { state in
                if case .given = state { return true }
                state = .waiting(continuation)
                return false
            }
            if isGiven { continuation.resume() }
        }
    }
}

/// Waits until the task is cancelled, and tells whether that is why it goes on.
func untilCancelled() async -> Bool {
    let signal = Signal()
    await withTaskCancellationHandler {
        await signal.wait()
    } onCancel: {
        signal.give()
    }
    return Task.isCancelled
}
