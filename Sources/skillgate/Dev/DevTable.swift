/// What `dev` did, a row a step: what, how it went, and how long it took.
final class DevTable: Sendable {
    private let start = ContinuousClock.now
    private static let width = 58

    /// The line above the rows.
    func head() { Output.line("\n  " + Self.padded("step", Self.width) + Self.padded("time", 11) + "result") }

    /// A row whose time is that since the start.
    func row(_ step: String, _ result: String, isGood: Bool = true) {
        row(step, start.duration(to: .now), result, isGood)
    }

    /// The row of a sample, by its path below `folder`, with its differences below.
    func row(_ outcome: ReplayOutcome, below folder: String) {
        let name =
            outcome.sample.hasPrefix(folder + "/") ? String(outcome.sample.dropFirst(folder.count + 1)) : outcome.sample
        let result = outcome.isExpected ? "as expected" : "not as expected"
        row(name, .microseconds(Int64((outcome.milliseconds.first ?? 0) * 1000)), result, outcome.isExpected)
        for difference in outcome.differences { Output.line("      \(difference)") }
    }

    /// Runs a step and adds its row.
    ///
    /// - Throws: what the step throws, after its row.
    @discardableResult func step<Value>(
        _ name: String, _ work: () async throws -> (String, Value)
    ) async throws -> Value {
        let begin = ContinuousClock.now
        do {
            let (result, value) = try await work()
            row(name, begin.duration(to: .now), result, true)
            return value
        } catch {
            row(name, begin.duration(to: .now), "failed: \(DevCommand.message(error))", false)
            throw error
        }
    }

    /// Says when the first answer was there.
    func firstAnswer() { Output.line("  first answer to Alexa after \(Self.text(start.duration(to: .now)))\n") }

    /// Says how long all of it took.
    func end() { Output.line("  everything after \(Self.text(start.duration(to: .now)))") }

    private func row(_ step: String, _ time: Duration, _ result: String, _ isGood: Bool) {
        let mark = isGood ? Output.coloured("✓", .green) : Output.coloured("✗", .red)
        Output.line("\(mark) " + Self.padded(step, Self.width) + Self.padded(Self.text(time), 11) + result)
    }

    private static func text(_ time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        if microseconds >= 1_000_000 {
            let hundredths = microseconds / 10_000
            return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) s"
        }
        return "\(microseconds / 1000).\(microseconds % 1000 / 100) ms"
    }

    static func padded(_ text: String, _ width: Int) -> String {
        text.count < width ? text + String(repeating: " ", count: width - text.count) : text + "  "
    }
}
