/// What was typed after a command's name, judged by the options that the command takes.
struct Arguments: Sendable {
    /// What is no option.
    let operands: [String]
    private let values: [String: String]

    /// Sorts `words` into options and operands.
    ///
    /// `--name value` and `--name=value` mean the same; after `--` nothing is an option.
    init(_ words: some Sequence<String>, options: [CommandOption], takesOperands: Bool) throws(UsageError) {
        var operands: [String] = []
        var values: [String: String] = [:]
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                break
            }
            guard word.hasPrefix("-"), word != "-" else {
                operands.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let option = options.first(where: { $0.name == parts[0] }) else {
                throw UsageError("unknown option \(parts[0])")
            }
            guard values[option.name] == nil else { throw UsageError("\(option.name) is given twice") }
            values[option.name] = try Self.value(of: option, given: parts.count > 1 ? parts[1] : nil, &rest)
        }
        if !takesOperands, let operand = operands.first { throw UsageError("unexpected argument \(operand)") }
        for option in options where option.isRequired && values[option.name] == nil {
            throw UsageError("\(option.form) is missing")
        }
        self.operands = operands
        self.values = values
    }

    private static func value(
        of option: CommandOption, given: String?, _ rest: inout ArraySlice<String>
    ) throws(UsageError) -> String {
        guard let kind = option.value else {
            if given != nil { throw UsageError("\(option.name) takes no value") }
            return ""
        }
        if let given { return given }
        guard let next = rest.first, !next.hasPrefix("--") else { throw UsageError("\(option.name) needs \(kind)") }
        rest.removeFirst()
        return next
    }

    /// Whether an option was given.
    func has(_ name: String) -> Bool { values[name] != nil }

    /// The value of an option, where it was given.
    func value(_ name: String) -> String? { values[name] }

    /// The value of an option that the command declares as required.
    func required(_ name: String) throws(UsageError) -> String {
        guard let value = values[name] else { throw UsageError("\(name) is missing") }
        return value
    }

    /// The value of an option that is a whole number.
    func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = values[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw UsageError("\(name) takes a number from \(range.lowerBound) to \(range.upperBound), not \(text)")
        }
        return number
    }

    /// The value of an option that is one of some words.
    func choice(_ name: String, of words: [String]) throws(UsageError) -> String? {
        guard let text = values[name] else { return nil }
        guard words.contains(text) else {
            throw UsageError("\(name) is one of \(words.joined(separator: ", ")), not \(text)")
        }
        return text
    }
}
