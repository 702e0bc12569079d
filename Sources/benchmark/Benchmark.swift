import Glibc

/// Measures the server under load from another process: `benchmark --help` tells how.
@main enum Benchmark {
    static let usage = """
        usage: benchmark [--scenario NAME] [--connections N] [--requests N] [--threads N] [--rate N] [--idle N]
                         [--sign-ins N]

        Starts a server as a process of its own, loads it over loopback, and reports requests a second, the server's CPU
        a request, latencies and memory, beside the bare cryptography measured in the same server.

          --scenario NAME   echo: a route that answers at once; hop: one that waits once; skill: a signed custom-skill
                            request whose token is known; token: codes redeemed and tokens refreshed at the token
                            endpoint, in equal parts, over a SQLite file (default: skill)
          --connections N   connections that send one request after the other (default: 32)
          --requests N      requests to send, after a tenth of that to warm up (default: 100000)
          --threads N       the server's loops (default: 1)
          --rate N          requests a second; latency then counts from when a request was due (default: as fast as
                            possible)
          --idle N          idle connections to open first (default: 0)
          --sign-ins N      connections that meanwhile sign in with wrong passwords, one after the other; more
                            than 32 are turned away, which ends the run (scenario token; default: 0)
        """

    static func main() async {
        guard let options = Options(Array(CommandLine.arguments.dropFirst())) else {
            print(usage)
            exit(CommandLine.arguments.contains("--help") ? 0 : 2)
        }
        do {
            if options.isServer {
                try await BenchmarkServer.run(options)
            } else {
                try await Measurement.run(options)
            }
        } catch {
            print("benchmark: \(error)")
            exit(1)
        }
    }
}

/// What the command line asks for.
struct Options {
    enum Scenario: String { case echo, hop, skill, token }

    var scenario = Scenario.skill
    var connections = 32
    var requests = 100_000
    var threads = 1
    var rate = 0
    var idle = 0
    var signIns = 0
    var isServer = false

    init?(_ arguments: [String]) {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            if name == "--serve" {
                isServer = true
                continue
            }
            guard let value = rest.popFirst() else { return nil }
            switch name {
            case "--scenario":
                guard let scenario = Scenario(rawValue: value) else { return nil }
                self.scenario = scenario
            case "--connections": connections = Int(value) ?? -1
            case "--requests": requests = Int(value) ?? -1
            case "--threads": threads = Int(value) ?? -1
            case "--rate": rate = Int(value) ?? -1
            case "--idle": idle = Int(value) ?? -1
            case "--sign-ins": signIns = Int(value) ?? -1
            default: return nil
            }
        }
        guard connections > 0, requests > 0, threads > 0, rate >= 0, idle >= 0, signIns >= 0 else { return nil }
    }
}

/// Why a measurement cannot be made.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
