/// A command of the program: what `--help` says of it, which options it takes, and what it does.
protocol Command: SendableMetatype {
    /// One word or two, as typed: `serve`, `keys generate`.
    static var name: String { get }
    /// What it does, in half a line.
    static var summary: String { get }
    /// What it does, in a few sentences.
    static var explanation: String { get }
    /// What follows the name besides options, as in `PATH…`; nil where nothing may.
    static var operands: String? { get }
    /// The options; `--help` is understood without being named here.
    static var options: [CommandOption] { get }
    /// A whole command line that works.
    static var example: String { get }

    /// Does it.
    ///
    /// - Returns: the exit code: 0 done, 1 the check or the request failed, 2 wrong usage or configuration.
    /// - Throws: ``UsageError`` where the arguments are wrong; the dispatcher prints it and exits with 2.
    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32
}

extension Command {
    static var operands: String? { nil }

    /// What `skillgate NAME --help` prints.
    static var help: String {
        var usage = "skillgate \(name)"
        for option in options { usage += option.isRequired ? " \(option.form)" : " [\(option.form)]" }
        if let operands { usage += " \(operands)" }
        let options = options + [CommandOption("--help", "prints this")]
        let width = options.map(\.form.count).max() ?? 0
        let lines = options.map { option in
            "  " + option.form + String(repeating: " ", count: width - option.form.count + 2) + option.explanation
        }
        return """
            \(summary)

            usage: \(usage)

            \(explanation)

            options:
            \(lines.joined(separator: "\n"))

            example:
              \(example)
            """
    }
}

/// An option of a command.
struct CommandOption: Sendable {
    /// With its dashes.
    let name: String
    /// What its value is called, as in `FILE`; nil for an option that takes none.
    let value: String?
    let explanation: String
    let isRequired: Bool

    init(_ name: String, value: String? = nil, required: Bool = false, _ explanation: String) {
        self.name = name
        self.value = value
        self.explanation = explanation
        isRequired = required
    }

    /// The option as typed.
    var form: String { value.map { "\(name) \($0)" } ?? name }

    /// The configuration file, for a command that cannot do without.
    static let config = CommandOption("--config", value: "FILE", required: true, "the configuration, a JSON5 file")
    /// Lines for programs instead of text for people.
    static let json = CommandOption("--json", "prints one JSON object a line")
}

/// A command line that makes no sense, with the word that is wrong.
struct UsageError: Error {
    let message: String

    init(_ message: String) { self.message = message }
}
