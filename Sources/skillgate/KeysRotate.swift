import JSON
import OAuth
import Service
import Storage
import Time

/// `skillgate keys rotate signing`: another key for the tokens of the embedded provider.
enum KeysRotateCommand: Command {
    static let name = "keys rotate"
    static let summary = "gives the provider another signing key"
    static let explanation = """
        "keys rotate signing" makes a new key in the store. Running processes publish it within seconds; it signs once
        every verifier must have read it, and the old one stays published until its last token has ended. Nobody's link
        is affected.
        """
    static let operands: String? = "signing"
    static let options: [CommandOption] = [.config, .json]
    static let example = "skillgate keys rotate signing --config config/development.json5"

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        guard let what = arguments.operands.first else { throw UsageError("say which keys: signing") }
        guard arguments.operands == ["signing"] else { throw UsageError("\(what) are no keys that this rotates") }
        let path = try arguments.required("--config")
        let isJSON = arguments.has("--json")
        guard let configuration = ConfigurationFile.read(path, asJSON: isJSON) else { return 2 }
        do {
            let clock = SystemClock.clock(offsetSeconds: configuration.clockOffsetSeconds)
            let keys = SigningKeys(
                store: try StoreOpening.open(configuration, clock: clock),
                tokenSeconds: configuration.provider.accessTokenSeconds, clock: clock)
            try await keys.load()
            try await keys.rotate()
            let count = keys.published.keys.count
            if isJSON { Output.line(["ok": true, "published": .integer(Int64(count))]) }
            if !isJSON { Output.line("a new signing key is published, \(count) in all") }
            return 0
        } catch {
            let reason = (error as? ProgramFault)?.message ?? "\(error)"
            if isJSON { Output.line(["ok": false, "reason": .string(reason)]) }
            if !isJSON { Output.error("skillgate keys rotate: \(reason)") }
            return 1
        }
    }
}
