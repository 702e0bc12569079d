import FoundationEssentials
import JSON
import Service
import Storage
import Telemetry

/// `skillgate trace ID | --user SUB`: the steps of a link attempt, or of a request that was refused.
enum TraceCommand: Command {
    static let name = "trace"
    static let summary = "shows the steps of a link attempt or of a refused request"
    static let explanation = """
        Shows what the store keeps of a trace: each step with its outcome, reason and milliseconds. The id stands in the
        answer that an app or a user got, and in the log. With --user the latest traces of that user of the provider
        (its sub), newest first. Every link attempt is kept, and every other request that was refused or failed, for
        traces.keepDays. Reasons are explained in ReasonCodes.md of the documentation. An id that the store does not
        hold exits with 1, and so does a user without traces.
        """
    static let operands: String? = "ID"
    static let options: [CommandOption] = [
        CommandOption("--config", value: "FILE", "the configuration; config/development.json5 by default"),
        CommandOption("--user", value: "SUB", "the traces of that user instead of one trace"),
        CommandOption("--limit", value: "N", "with --user: how many, 1 to 1000; 20 by default"),
        .json,
    ]
    static let example = "skillgate trace --user u1001 --config config/development.json5"

    /// What is asked for.
    private enum Wanted {
        case trace(String)
        case latest(user: String, limit: Int)
    }

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        let wanted = try wanted(arguments)
        let isJSON = arguments.has("--json")
        let path = arguments.value("--config") ?? "config/development.json5"
        guard let configuration = ConfigurationFile.read(path, asJSON: isJSON) else { return 2 }
        let file = configuration.store.sqlitePath
        guard FileManager.default.fileExists(atPath: file) else { return fail("\(file) is not there", asJSON: isJSON) }
        let found: [TraceRecord]
        do {
            let store = try StoreOpening.open(configuration, clock: { SystemClock.now })
            switch wanted {
            case .trace(let id): found = try await store.trace(id: id).map { [$0] } ?? []
            case .latest(let user, let limit): found = try await store.traces(subject: user, limit: limit)
            }
        } catch {
            return fail((error as? ProgramFault)?.message ?? "\(error)", asJSON: isJSON)
        }
        if found.isEmpty { return fail(reason(wanted, configuration), asJSON: isJSON) }
        if isJSON { for trace in found { Output.line(trace.json) } }
        if !isJSON { Output.line(found.map { String($0.text.dropLast()) }.joined(separator: "\n\n")) }
        return 0
    }

    private static func wanted(_ arguments: Arguments) throws(UsageError) -> Wanted {
        let limit = try arguments.integer("--limit", in: 1...1000)
        if let user = arguments.value("--user") {
            if let id = arguments.operands.first { throw UsageError("--user and the id \(id) exclude each other") }
            return .latest(user: user, limit: limit ?? 20)
        }
        if limit != nil { throw UsageError("--limit goes with --user") }
        guard let id = arguments.operands.first else { throw UsageError("an ID or --user SUB is missing") }
        guard arguments.operands.count == 1 else {
            throw UsageError("one ID at a time, not also \(arguments.operands[1])")
        }
        return .trace(id)
    }

    private static func reason(_ wanted: Wanted, _ configuration: Configuration) -> String {
        let days = "traces are kept for \(configuration.traceKeepDays) days"
        return switch wanted {
        case .trace(let id): "the store holds no trace \(id): \(days), requests that went well are not kept at all"
        case .latest(let user, _): "the store holds no trace of the user \(user): \(days)"
        }
    }

    private static func fail(_ reason: String, asJSON isJSON: Bool) -> Int32 {
        if isJSON { Output.line(["ok": false, "reason": .string(reason)]) }
        if !isJSON { Output.error("skillgate trace: \(reason)") }
        return 1
    }
}
