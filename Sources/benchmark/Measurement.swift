import Glibc
import Transport

/// People who sign in with wrong passwords while something else is measured.
private struct SignIns {
    private let generator: LoadGenerator
    private let run: Task<[Duration], any Error>

    init?(_ options: Options, port: Int, loop: EventLoop, _ control: LoadClient) throws {
        guard options.signIns > 0 else { return nil }
        let generator = try LoadGenerator(
            loop: loop, port: port, connections: options.signIns,
            requests: Measurement.parts(try control.ask("/_sign-ins")), rate: 0, statusDigit: UInt8(ascii: "4"))
        self.generator = generator
        run = Task { try await generator.run(.max) }
    }

    /// How many were answered.
    func end() async throws -> Int {
        generator.stop()
        return try await run.value.count
    }
}

/// Starts a server, loads it, and prints what it took.
enum Measurement {
    static func run(_ options: Options) async throws {
        var limit = rlimit()
        _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let command = "'\(try ownPath())' --serve --scenario \(options.scenario.rawValue) --threads \(options.threads)"
        guard let server = unsafe popen(command, "r") else { throw BenchmarkError("no server process") }
        defer { unsafe pclose(server) }
        var line = [CChar](repeating: 0, count: 64)
        guard unsafe fgets(&line, CInt(line.count), server) != nil else {
            throw BenchmarkError("the server says nothing")
        }
        let text = String(decoding: line.prefix { $0 > 32 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let port = Int(text) else { throw BenchmarkError("the server says: \(text)") }
        let control = try LoadClient(port: port)
        defer { _ = try? control.ask("/_quit") }
        try await measure(options, port: port, control: control)
    }

    private static func measure(_ options: Options, port: Int, control: LoadClient) async throws {
        let requests = try requests(options, control)
        print(
            "scenario \(options.scenario.rawValue), \(requests[0].count) bytes a request, \(options.connections) connections,",
            "\(options.threads) loop(s)\(options.rate > 0 ? ", \(options.rate) requests/s" : "")")
        try memory("memory at the start", control)
        if options.idle > 0 {
            var idle: [LoadClient] = []
            for _ in 0..<options.idle {
                let client = try LoadClient(port: port)
                _ = try client.ask("/_usage")
                idle.append(client)
            }
            try memory("memory with \(idle.count) idle connections", control)
            for client in idle { _ = try client.ask("/_usage") }
            try memory("memory after each was used once more", control)
        }
        let bareBefore = try number(control.ask("/_cryptography"))
        let group = try EventLoopGroup(threads: 2)
        defer { group.shutdown() }
        let generator = try LoadGenerator(
            loop: group.next(), port: port, connections: options.connections, requests: requests, rate: options.rate)
        _ = try await generator.run(warmUp(options))
        let signIns = try SignIns(options, port: port, loop: group.next(), control)
        try memory("memory after \(options.requests / 10) requests", control)
        let before = try usage(control)
        let start = ContinuousClock.now
        let outcome: Result<[Duration], any Error>
        do { outcome = .success(try await generator.run(options.requests)) } catch { outcome = .failure(error) }
        let elapsed = start.duration(to: .now) / .seconds(1)
        // Before anything is thrown: the loops outlive whatever is watched on them.
        let signInCount = try await signIns?.end()
        let latencies = try outcome.get().sorted()
        let after = try usage(control)
        if let signIns = signInCount {
            print("sign-ins with a wrong password meanwhile: \(rounded(Double(signIns) / elapsed))/s")
        }
        try memory("memory after \(options.requests + options.requests / 10) requests", control)
        let bareAfter = try number(control.ask("/_cryptography"))
        let user = Double(after.userMicroseconds - before.userMicroseconds) / Double(options.requests)
        let system = Double(after.systemMicroseconds - before.systemMicroseconds) / Double(options.requests)
        print("requests/s: \(Int(Double(options.requests) / elapsed))")
        print("server CPU: \(rounded(user + system)) µs a request (user \(rounded(user)), system \(rounded(system)))")
        for (name, share) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
            let latency = latencies[min(latencies.count - 1, Int(Double(latencies.count) * share))]
            print("latency \(name): \(rounded(latency / .milliseconds(1))) ms")
        }
        guard bareBefore > 0 else { return }
        let bare = (bareBefore + bareAfter) / 2
        print("bare body verification: \(rounded(bareBefore)) µs before, \(rounded(bareAfter)) µs after")
        print("ratio: \(rounded((user + system) / bare)) (goal with the token kept: at most 2.0)")
    }

    private static func warmUp(_ options: Options) -> Int { max(options.connections, options.requests / 10) }

    /// What is sent: the same over and over, or what is good only once.
    private static func requests(_ options: Options, _ control: LoadClient) throws -> [[UInt8]] {
        guard options.scenario == .token else { return [try control.ask("/_request")] }
        var requests: [[UInt8]] = []
        while requests.count < options.requests + warmUp(options) { requests += try parts(control.ask("/_tokens")) }
        return requests
    }

    static func parts(_ bytes: [UInt8]) -> [[UInt8]] { bytes.split(separator: 0).map(Array.init) }

    private static func usage(_ control: LoadClient) throws -> Usage {
        guard let usage = Usage(text: String(decoding: try control.ask("/_usage"), as: UTF8.self)) else {
            throw BenchmarkError("the server tells no usage")
        }
        return usage
    }

    private static func memory(_ what: String, _ control: LoadClient) throws {
        let usage = try usage(control)
        print("\(what): \(usage.residentKiB) KiB (peak \(usage.peakKiB))")
    }

    private static func number(_ bytes: [UInt8]) -> Double { Double(String(decoding: bytes, as: UTF8.self)) ?? 0 }

    private static func rounded(_ number: Double) -> Double { (number * 100).rounded() / 100 }

    private static func ownPath() throws -> String {
        var path = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &path, path.count - 1)
        guard count > 0 else { throw BenchmarkError("no path to this program") }
        return String(decoding: path.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
