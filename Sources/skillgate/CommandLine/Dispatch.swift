/// Finds the command that was typed, and runs it or explains it.
struct Dispatch {
    let commands: [any Command.Type]

    /// Runs what `words` ask for.
    ///
    /// - Returns: the exit code.
    func run(_ words: [String]) async -> Int32 {
        guard let first = words.first else {
            Output.error(overview)
            return 2
        }
        if ["--help", "-h", "help"].contains(first) { return await explain(Array(words.dropFirst())) }
        guard let (command, rest) = command(for: words) else { return unknown(words) }
        if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
            Output.line(command.help)
            return 0
        }
        do {
            let arguments = try Arguments(rest, options: command.options, takesOperands: command.operands != nil)
            return try await command.run(arguments)
        } catch {
            Output.error("skillgate \(command.name): \(error.message)\nsee: skillgate \(command.name) --help")
            return 2
        }
    }

    private func explain(_ words: [String]) async -> Int32 {
        if words.isEmpty {
            Output.line(overview)
            return 0
        }
        guard let (command, _) = command(for: words) else { return unknown(words) }
        Output.line(command.help)
        return 0
    }

    /// The command of one word or two at the front of `words`, and what follows it.
    private func command(for words: [String]) -> (any Command.Type, ArraySlice<String>)? {
        for length in [2, 1] where words.count >= length {
            let name = words.prefix(length).joined(separator: " ")
            if let command = commands.first(where: { $0.name == name }) { return (command, words.dropFirst(length)) }
        }
        return nil
    }

    private func unknown(_ words: [String]) -> Int32 {
        let related = commands.filter { $0.name.hasPrefix(words[0] + " ") }
        if related.isEmpty {
            Output.error("skillgate: unknown command \(words[0])\nsee: skillgate --help")
            return 2
        }
        if words.count > 1, words[1] == "--help" || words[1] == "-h" {
            Output.line(Self.table(related))
            return 0
        }
        let what = words.count > 1 ? "unknown command \(words[0]) \(words[1])" : "\(words[0]) needs a second word"
        Output.error("skillgate: \(what)\n\(Self.table(related))")
        return 2
    }

    private var overview: String {
        """
        Skillgate answers Alexa for a company that has accounts of its own, and links the two.

        usage: skillgate COMMAND [options]

        \(Self.table(commands))

        skillgate COMMAND --help explains each. Exit codes: 0 done, 1 the check or the request failed,
        2 wrong usage or configuration.
        """
    }

    private static func table(_ commands: [any Command.Type]) -> String {
        let width = commands.map { $0.name.count }.max() ?? 0
        return commands.map { command in
            "  " + command.name + String(repeating: " ", count: width - command.name.count + 2) + command.summary
        }.joined(separator: "\n")
    }
}
