import Concurrency
import Dispatch
import FoundationEssentials
import Glibc
import HTTP
import JSON
import Service
import Telemetry
import Time

/// Writes what came in, and what was answered, as samples: `serve --record`.
///
/// No answer waits for it: requests are queued, a thread of its own writes them, and what the queue cannot hold is dropped
/// and counted.
final class Recorder: Sendable {
    /// What it may take.
    struct Limits: Sendable {
        /// Requests that wait to be written.
        var waiting = 256
        /// Bytes of those.
        var waitingBytes = 16 << 20
        /// Bytes of one request and its answer.
        var exchangeBytes = 1 << 20
        /// Requests that are written in all.
        var samples = 100_000
        /// Bytes that are written in all.
        var bytes = 1 << 30
    }

    /// A request and its answer.
    struct Exchange: Sendable {
        let request: HTTPRequest
        let answer: HTTPResponse
        let time: UnixTime

        var bytes: Int { request.body.count + request.target.utf8.count + answer.body.count }
    }

    private struct State {
        var waiting: [Exchange] = []
        var waitingBytes = 0
        var dropped = 0
        var isWriting = false
        var isFull = false
    }

    /// What the writing thread alone uses.
    private struct Writing {
        var maker: RecordedSamples
        var number: Int
        var samples = 0
        var bytes: Int
        var hasFailed = false
    }

    private let folder: String
    private let limits: Limits
    private let clock: WallClock
    private let log: Log
    private let state = Locked(State())
    private let writing: Locked<Writing>
    private let queue = DispatchQueue(label: "recorder")

    /// Records into a folder, which is made where it is missing; its samples are numbered on where it holds some.
    ///
    /// - Throws: ``ProgramFault`` where the folder cannot be used, or others than its owner can read it.
    init(
        folder: String, maker: RecordedSamples, limits: Limits = Limits(), clock: @escaping WallClock, log: Log
    ) throws(ProgramFault) {
        self.folder = folder.hasSuffix("/") ? String(folder.dropLast()) : folder
        self.limits = limits
        self.clock = clock
        self.log = log
        let (number, bytes) = try Self.prepare(self.folder)
        writing = Locked(Writing(maker: maker, number: number, bytes: bytes))
        log.notice(
            "every request is recorded, without its tokens and codes, but with what the user said and was told",
            .file(self.folder))
    }

    /// A recorder where there is a folder to record into.
    static func make(
        folder: String?, maker: RecordedSamples, clock: @escaping WallClock, log: Log
    ) throws(ProgramFault) -> Recorder? {
        guard let folder else { return nil }
        return try Recorder(folder: folder, maker: maker, clock: clock, log: log)
    }

    private static func prepare(_ folder: String) throws(ProgramFault) -> (number: Int, bytes: Int) {
        let files = FileManager.default
        if !files.fileExists(atPath: folder) {
            do {
                try files.createDirectory(
                    atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch { throw ProgramFault("--record: \(folder) cannot be made") }
        }
        guard let names = try? files.contentsOfDirectory(atPath: folder), unsafe access(folder, W_OK) == 0 else {
            throw ProgramFault("--record: \(folder) is no folder that can be written to")
        }
        if let status = status(folder), status.st_mode & 0o077 != 0 {
            guard names.isEmpty, unsafe chmod(folder, 0o700) == 0 else {
                throw ProgramFault("--record: others can read \(folder); it must be its owner's alone (chmod 700)")
            }
        }
        let number = names.compactMap { Int($0.prefix { $0 != "-" }) }.max() ?? 0
        let bytes = names.reduce(0) { $0 + Int(status("\(folder)/\($1)")?.st_size ?? 0) }
        return (number, bytes)
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status : nil
    }

    /// Answers as `next` does, and records.
    func recording(_ next: any HTTPResponder) -> any HTTPResponder { RecordingResponder(next: next, recorder: self) }

    /// Takes a request, unless the queue is full.
    func take(_ request: HTTPRequest, _ answer: HTTPResponse) {
        guard RecordedSamples.records(request) else { return }
        let exchange = Exchange(request: request, answer: answer, time: clock())
        let begins = state.withLock { state -> Bool in
            guard !state.isFull else { return false }
            guard state.waiting.count < limits.waiting, exchange.bytes <= limits.exchangeBytes,
                state.waitingBytes + exchange.bytes <= limits.waitingBytes
            else {
                state.dropped += 1
                return false
            }
            state.waiting.append(exchange)
            state.waitingBytes += exchange.bytes
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { queue.async { self.drain() } }
    }

    /// Writes what waits; after it nothing more is taken.
    func finish() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.drain()
                self.state.withLock { $0.isFull = true }
                continuation.resume()
            }
        }
    }

    private func drain() {
        while true {
            let (exchanges, dropped) = state.withLock { state in
                defer {
                    state.waiting = []
                    state.waitingBytes = 0
                    state.dropped = 0
                    state.isWriting = false
                }
                return (state.waiting, state.dropped)
            }
            if dropped > 0 {
                log.error("requests came faster than they could be recorded, or were too large", .count(dropped))
            }
            guard !exchanges.isEmpty else { return }
            for exchange in exchanges { write(exchange) }
        }
    }

    private func write(_ exchange: Exchange) {
        writing.withLock { writing in
            guard !state.withLock({ $0.isFull }), let sample = writing.maker.sample(of: exchange) else { return }
            writing.number += 1
            let digits = "\(writing.number)"
            let number = String(repeating: "0", count: max(0, 6 - digits.count)) + digits
            let path = "\(folder)/\(number)-\(sample.name)"
            // The answer first, so that no reader finds a request without it.
            let files = [sample.expected.map { (path + ".expected.json", $0) }, (path + ".json", sample.request)]
            for case let (path, value)? in files {
                let bytes = value.encoded(pretty: true) + [UInt8(ascii: "\n")]
                writing.bytes += bytes.count
                guard AtomicFile.write(bytes, to: path, mode: 0o600) else {
                    if !writing.hasFailed { log.error("a request cannot be recorded", .file(path)) }
                    writing.hasFailed = true
                    return
                }
            }
            writing.hasFailed = false
            writing.samples += 1
            if writing.samples >= limits.samples || writing.bytes >= limits.bytes {
                state.withLock { $0.isFull = true }
                log.error("the record is full: nothing more is recorded", .count(writing.samples), .file(folder))
            }
        }
    }
}

/// Answers as another responder does, and hands both on.
private struct RecordingResponder: HTTPResponder {
    let next: any HTTPResponder
    let recorder: Recorder

    func timeLimit(for method: HTTPMethod, target: String) -> Duration { next.timeLimit(for: method, target: target) }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        let answer = await next.respond(to: request)
        // What comes too late was answered otherwise.
        if !Task.isCancelled { recorder.take(request, answer) }
        return answer
    }
}
