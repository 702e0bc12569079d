import JSON
import Service
import Telemetry
import Transport

/// `skillgate events flush`: one pass over the events that wait.
enum EventsFlushCommand: Command {
    static let name = "events flush"
    static let summary = "sends the events that are due"
    static let explanation = """
        Sends to Alexa what waits in the store and is due, until nothing is due, and says how many events were sent,
        dropped (refused for good, or too old), put off (they will be tried again) and how many still wait. Asks Alexa
        how links stand whose outcome is open, too. serve does the same all the time; both may run at once. The log goes
        to standard error.
        """
    static let options: [CommandOption] = [.config, .json]
    static let example = "skillgate events flush --config config/development.json5"

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        let path = try arguments.required("--config")
        let isJSON = arguments.has("--json")
        guard let configuration = ConfigurationFile.read(path, asJSON: isJSON) else { return 2 }
        do {
            let pass = try await Program.flushEvents(configuration)
            let report = pass.events
            if isJSON {
                Output.line([
                    "ok": true, "sent": .integer(Int64(report.sent)), "dropped": .integer(Int64(report.dropped)),
                    "postponed": .integer(Int64(report.postponed)), "waiting": .integer(Int64(report.waiting)),
                    "links": .integer(Int64(pass.links)),
                ])
            } else {
                Output.line(
                    "\(report.sent) sent, \(report.dropped) dropped, \(report.postponed) put off, "
                        + "\(report.waiting) waiting"
                        + (pass.links == 0 ? "" : "; \(pass.links) pending links looked at"))
            }
            return 0
        } catch {
            let reason = (error as? ProgramFault)?.message ?? "\(error)"
            if isJSON { Output.line(["ok": false, "reason": .string(reason)]) }
            if !isJSON { Output.error("skillgate events flush: \(reason)") }
            return 1
        }
    }
}
