import Glibc
import JSON
import Simulator

/// Tells how samples fared: a line each for people, or an object a line.
struct ReplayReport: Sendable {
    let inJSON: Bool
    let repeats: Int

    /// Two values that are no longer together stand on one line.
    private static let shortCharacters = 70
    /// Runs of fewer answers are over before a bar is worth drawing.
    private static let barAnswers = 200

    /// Draws how far the run is, on a terminal alone.
    func progress(done: Int, of all: Int) {
        guard all >= Self.barAnswers, isatty(STDERR_FILENO) == 1, done % max(1, all / 100) == 0 || done == all
        else { return }
        let filled = done * 40 / all
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 40 - filled)
        let text = Array("\r\(bar) \(done) of \(all)\(done == all ? "\n" : "")".utf8)
        _ = unsafe write(STDERR_FILENO, text, text.count)
    }

    /// Prints every outcome, and for people a sum.
    func show(_ outcomes: [ReplayOutcome]) {
        guard !inJSON else {
            for outcome in outcomes { Output.line(json(outcome)) }
            return
        }
        let width = outcomes.map(\.sample.count).max() ?? 0
        for outcome in outcomes {
            let name = outcome.sample + String(repeating: " ", count: width - outcome.sample.count)
            let mark = outcome.isExpected ? Output.coloured("✓", .green) : Output.coloured("✗", .red)
            let often = repeats > 1 && !outcome.isExpected ? ", \(outcome.failures) of \(repeats) times" : ""
            Output.line("\(mark) \(name)  \(shown(median(outcome.milliseconds))) ms\(often)")
            for difference in outcome.differences { show(difference) }
            if let note = outcome.note { Output.line("    \(note)") }
        }
        let passed = outcomes.filter(\.isExpected).count
        Output.line("\(passed) of \(outcomes.count) samples answered as expected\(speed(outcomes))")
    }

    /// A difference on one line where it is short, else the two values below each other, and what stands around them.
    private func show(_ difference: AnswerDifference) {
        let place = difference.path.isEmpty ? "the answer" : difference.path
        let expected = Output.coloured(difference.expected, .green)
        let found = Output.coloured(difference.found, .red)
        if difference.expected.count + difference.found.count <= Self.shortCharacters {
            Output.line("    \(place): expected \(expected), found \(found)")
        } else {
            let indent = String(repeating: " ", count: place.count + 6)
            Output.line("    \(place): expected \(expected)\n\(indent)found    \(found)")
        }
        if let around = difference.surroundings { Output.line("      in \(around)") }
    }

    private func speed(_ outcomes: [ReplayOutcome]) -> String {
        let all = outcomes.flatMap(\.milliseconds).sorted()
        guard repeats > 1, let slowest = all.last else { return "" }
        let late = all[min(all.count - 1, all.count * 99 / 100)]
        return "; half within \(shown(median(all))) ms, 99 of 100 within \(shown(late)), the slowest \(shown(slowest))"
    }

    /// The same for CI.
    func junit(_ outcomes: [ReplayOutcome]) -> JUnitReport {
        JUnitReport(
            suite: "skillgate replay",
            cases: outcomes.map { outcome in
                JUnitReport.Case(
                    name: outcome.sample, seconds: outcome.milliseconds.reduce(0, +) / 1000,
                    failures: outcome.isExpected ? [] : outcome.differences.map(\.description))
            })
    }

    private func json(_ outcome: ReplayOutcome) -> JSONValue {
        var object: JSONObject = [
            "sample": .string(outcome.sample), "ok": .bool(outcome.isExpected),
            "milliseconds": .number(rounded(median(outcome.milliseconds))),
        ]
        object["differences"] = .array(
            outcome.differences.map {
                ["path": .string($0.path), "expected": .string($0.expected), "found": .string($0.found)]
            })
        if let note = outcome.note { object["note"] = .string(note) }
        if repeats > 1 { object["failures"] = .integer(Int64(outcome.failures)) }
        return .object(object)
    }

    private func median(_ values: [Double]) -> Double {
        values.isEmpty ? 0 : values.sorted()[values.count / 2]
    }

    private func rounded(_ milliseconds: Double) -> Double { (milliseconds * 100).rounded() / 100 }
    private func shown(_ milliseconds: Double) -> String { "\(rounded(milliseconds))" }
}
