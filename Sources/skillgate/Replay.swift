import Service
import Simulator

/// `skillgate replay`: sends samples and compares the answers.
enum ReplayCommand: Command {
    static let name = "replay"
    static let summary = "sends recorded requests and compares the answers"
    static let explanation = """
        Sends samples (files, or all of a folder) with fresh tokens, times and ids in place of their placeholders, and
        compares each answer with NAME.expected.json beside it. It starts the service in this process and signs as Alexa
        does. With --endpoint it sends to a service that runs; with --sign it plays Amazon's hosts besides,
        on the address that http.resolve of the configuration names, so that the service can fetch the certificates and
        exchange grant codes. Tokens are made with the signing key of the store that the configuration names. Exits with
        1 where an answer differs, with 2 for a missing path or a wrong option.
        """
    static let operands: String? = "PATH…"
    static let options: [CommandOption] = [
        CommandOption(
            "--config", value: "FILE", "the configuration; config/development.json5 by default"),
        CommandOption("--endpoint", value: "URL", "sends to the service at that address"),
        CommandOption("--sign", "with --endpoint: signs, and plays Amazon's hosts"),
        CommandOption(
            "--authority", value: "DIR",
            "with --sign: the simulator's authority; by default where the configuration's roots of trust lie, else .skillgate"
        ),
        CommandOption("--user", value: "NAME", "whose tokens are sent; by default the first user's"),
        CommandOption(
            "--token-state", value: "STATE", "what {{token}} is: linked, unlinked, expired, revoked or foreign"),
        CommandOption("--repeat", value: "N", "sends each sample so often"),
        CommandOption("--concurrency", value: "N", "sends so many at once"),
        .json,
    ]
    static let example = "skillgate replay samples --sign --endpoint http://127.0.0.1:8080 --user alice"

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        guard !arguments.operands.isEmpty else { throw UsageError("a PATH is missing") }
        for name in ["--sign", "--authority"] where arguments.has(name) && !arguments.has("--endpoint") {
            throw UsageError("\(name) goes with --endpoint; in this process every sample is signed")
        }
        let states = TokenState.allCases.map(\.rawValue)
        let state = try arguments.choice("--token-state", of: states).flatMap(TokenState.init) ?? .linked
        let repeats = try arguments.integer("--repeat", in: 1...1_000_000) ?? 1
        let concurrency = try arguments.integer("--concurrency", in: 1...512) ?? 1
        let samples: [Sample]
        do { samples = try Sample.load(paths: arguments.operands) } catch { throw UsageError(error.message) }
        guard let target = try await ReplayTarget.make(arguments) else { return 2 }
        let run = ReplayRun(samples: samples, target: target, tokenState: state, repeats: repeats)
        let report = ReplayReport(inJSON: arguments.has("--json"), repeats: repeats)
        let outcomes = await run.outcomes(concurrency: concurrency, progress: report.progress)
        await target.stop()
        report.show(outcomes)
        return outcomes.allSatisfy(\.isExpected) ? 0 : 1
    }
}
