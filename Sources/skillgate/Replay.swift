import Service
import Simulator

/// `skillgate replay`: sends samples and compares the answers.
enum ReplayCommand: Command {
    static let name = "replay"
    static let summary = "sends recorded requests and compares the answers; --certify sends Amazon's negative cases"
    static let explanation = """
        Sends samples (files, or all of a folder) with fresh tokens, times and ids in place of their placeholders, and
        compares each answer with NAME.expected.json beside it. It starts the service in this process and signs as Alexa
        does. With --endpoint it sends to a service that runs; with --sign it plays Amazon's hosts besides,
        on the address that http.resolve of the configuration names, so that the service can fetch the certificates,
        exchange grant codes and link. Tokens are made with the signing key of the store that the configuration names.

        With --token-state the answer is compared with NAME.expected.STATE.json; where there is none, only the status
        is. Samples that hold no {{token}} are answered as ever. With --update the files are written: kinds such as
        $uuid and $timestamp stay where they still match, and an answer with a status that was not expected is never
        taken.

        With --certify nothing is read from a PATH: the requests are those that Amazon's certification sends, each wrong
        in one way, and some right ones. All are sent to an endpoint that trusts the simulator's authority, as one with
        config/development.json5 does, or one for which --authority names it; to another endpoint go those that need
        no signature that it would trust.

        Exits with 1 where an answer differs, with 2 for a missing path or a wrong option.
        """
    static let operands: String? = "PATH…"
    static let options: [CommandOption] = [
        CommandOption(
            "--config", value: "FILE", "the configuration; config/development.json5 by default"),
        CommandOption("--endpoint", value: "URL", "sends to the service at that address"),
        CommandOption("--sign", "with --endpoint: signs, and plays Amazon's hosts"),
        CommandOption(
            "--authority", value: "DIR",
            "with --sign or --certify: the simulator's authority; by default where the configuration's roots of trust lie, else .skillgate"
        ),
        CommandOption("--certify", "with --endpoint: sends the requests that Amazon's certification sends"),
        CommandOption("--user", value: "NAME", "whose tokens are sent; by default the first user's"),
        CommandOption(
            "--token-state", value: "STATE", "what {{token}} is: linked, unlinked, expired, revoked or foreign"),
        CommandOption("--jsonl", "each PATH is a log: a request a line, as Alexa sent it or with its answer"),
        CommandOption("--repeat", value: "N", "sends each sample so often"),
        CommandOption("--concurrency", value: "N", "sends so many at once"),
        CommandOption("--update", "writes the answers that differ, or that were not there, as the expected ones"),
        CommandOption("--junit", value: "FILE", "writes the results there as JUnit's XML too"),
        .json,
    ]
    static let example = """
        skillgate replay samples
          skillgate replay samples --sign --endpoint http://127.0.0.1:8080 --user alice
          skillgate replay samples/custom --token-state expired --update
          skillgate replay --jsonl alexa.log --junit replay.xml
          skillgate replay --certify --endpoint http://127.0.0.1:8080
        """

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        if arguments.has("--certify") { return try await Certify.run(arguments) }
        guard !arguments.operands.isEmpty else { throw UsageError("a PATH is missing") }
        for name in ["--sign", "--authority"] where arguments.has(name) && !arguments.has("--endpoint") {
            throw UsageError("\(name) goes with --endpoint; in this process every sample is signed")
        }
        if arguments.has("--update"), arguments.has("--jsonl") {
            throw UsageError("--update writes files beside samples, and a log has none")
        }
        let states = TokenState.allCases.map(\.rawValue)
        let state = try arguments.choice("--token-state", of: states).flatMap(TokenState.init) ?? .linked
        let repeats = try arguments.integer("--repeat", in: 1...1_000_000) ?? 1
        let concurrency = try arguments.integer("--concurrency", in: 1...512) ?? 1
        let samples: [Sample]
        if arguments.has("--jsonl") {
            samples = try lines(arguments.operands)
        } else {
            do { samples = try Sample.load(paths: arguments.operands) } catch { throw UsageError(error.message) }
        }
        guard let target = try await ReplayTarget.make(arguments) else { return 2 }
        let run = ReplayRun(samples: samples, target: target, tokenState: state, repeats: repeats)
        let report = ReplayReport(inJSON: arguments.has("--json"), repeats: repeats)
        var outcomes = await run.outcomes(concurrency: concurrency, progress: report.progress)
        await target.stop()
        if arguments.has("--update") {
            outcomes = try ReplayUpdate(tokenState: state, clock: target.clock).apply(outcomes, to: samples)
        }
        report.show(outcomes)
        if let path = arguments.value("--junit") { try report.junit(outcomes).write(to: path) }
        return outcomes.allSatisfy(\.isExpected) ? 0 : 1
    }

    private static func lines(_ paths: [String]) throws(UsageError) -> [Sample] {
        do {
            let (samples, skipped) = try Sample.load(lines: paths, skillIDs: [])
            if skipped > 0 {
                Output.error("\(skipped) \(skipped == 1 ? "line holds" : "lines hold") no request and are left out")
            }
            return samples
        } catch { throw UsageError(error.message) }
    }
}
