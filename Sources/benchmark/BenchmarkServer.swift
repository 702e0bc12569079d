import Concurrency
import Crypto
import Glibc
import HTTP
import Telemetry
import Transport

/// The measured side: a server whose own figures can be asked for.
enum BenchmarkServer {
    static func run(_ options: Options) async throws {
        let group = try EventLoopGroup(threads: options.threads)
        let skill = options.scenario == .skill ? try await SkillScenario() : nil
        let token = options.scenario == .token ? try await TokenScenario() : nil
        defer { token?.end() }
        var configuration = ServerConfiguration()
        configuration.limits.connections = 20_000
        let (quits, quit) = AsyncStream<Void>.makeStream()
        // The generator plays the proxy, so that each sign-in comes from an address of its own.
        if let loopback = AddressSet(["127.0.0.1"]) { configuration.trustedProxies = loopback }
        let responder = MeasuredResponder(scenario: options.scenario, skill: skill, token: token) { quit.yield() }
        let server = HTTPServer(group: group, configuration: configuration, responder: responder)
        print(try server.start())
        fflush(nil)
        for await _ in quits { break }
        await server.shutdown(grace: .seconds(1))
        group.shutdown()
    }
}

private struct MeasuredResponder: HTTPResponder {
    let scenario: Options.Scenario
    let skill: SkillScenario?
    let token: TokenScenario?
    let quit: @Sendable () -> Void

    func timeLimit(for method: HTTPMethod, target: String) -> Duration {
        (skill?.service ?? token?.service)?.timeLimit(for: method, target: target) ?? .seconds(10)
    }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        if request.target.utf8.starts(with: "/_".utf8) { return await figures(request) }
        switch scenario {
        case .echo: return HTTPResponse(status: 200, fields: ["Content-Type": "text/plain"], body: request.body)
        case .hop:
            await Task.yield()
            return HTTPResponse(status: 200, fields: ["Content-Type": "text/plain"], body: request.body)
        case .skill: return await skill?.service.respond(to: request) ?? HTTPResponse(status: 500)
        case .token: return await token?.service.respond(to: request) ?? HTTPResponse(status: 500)
        }
    }

    /// The server's own figures: what it used, what to send to it, what the bare cryptography costs.
    private func figures(_ request: HTTPRequest) async -> HTTPResponse {
        switch request.target {
        case "/_usage": return HTTPResponse(status: 200, body: Array(Usage.now.text.utf8))
        case "/_request":
            let body = [UInt8](repeating: 120, count: 900)
            let plain = Array("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n".utf8) + body
            return HTTPResponse(status: 200, body: skill?.request ?? plain)
        case "/_cryptography":
            return HTTPResponse(status: 200, body: Array("\(skill?.bareMicroseconds() ?? 0)".utf8))
        case "/_tokens": return await answer { try await $0.tokenRequests(200) }
        case "/_sign-ins": return await answer { try await $0.signInRequests(2000) }
        case "/_quit":
            quit()
            return HTTPResponse(status: 204)
        default: return HTTPResponse(status: 404)
        }
    }

    private func answer(_ requests: (TokenScenario) async throws -> [UInt8]) async -> HTTPResponse {
        guard let token, let body = try? await requests(token) else { return HTTPResponse(status: 500) }
        return HTTPResponse(status: 200, body: body)
    }
}

/// What a process has used.
struct Usage {
    var userMicroseconds = 0
    var systemMicroseconds = 0
    var residentKiB = 0
    var peakKiB = 0

    var text: String { "\(userMicroseconds) \(systemMicroseconds) \(residentKiB) \(peakKiB)" }

    init?(text: String) {
        let numbers = text.split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 4 else { return nil }
        (userMicroseconds, systemMicroseconds, residentKiB, peakKiB) = (numbers[0], numbers[1], numbers[2], numbers[3])
    }

    private init() {}

    /// This process's usage.
    static var now: Usage {
        var usage = Usage()
        var counted = rusage()
        _ = unsafe getrusage(RUSAGE_SELF.rawValue, &counted)
        usage.userMicroseconds = counted.ru_utime.tv_sec * 1_000_000 + Int(counted.ru_utime.tv_usec)
        usage.systemMicroseconds = counted.ru_stime.tv_sec * 1_000_000 + Int(counted.ru_stime.tv_usec)
        usage.peakKiB = counted.ru_maxrss
        guard let file = unsafe fopen("/proc/self/statm", "r") else { return usage }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard unsafe fgets(&line, CInt(line.count), file) != nil else { return usage }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        usage.residentKiB = pages * sysconf(Int32(_SC_PAGESIZE)) / 1024
        return usage
    }
}
