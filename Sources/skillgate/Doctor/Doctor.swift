import JSON
import Service

/// `skillgate doctor`: what is wrong with a configuration, before a user finds out.
enum DoctorCommand: Command {
    static let name = "doctor"
    static let summary =
        "finds what is wrong with a configuration, and prints what to enter in Amazon's and Google's consoles"
    static let explanation = """
        Looks at the configuration, at the files and the store that it names, and at this machine; with --online at every
        server that it names too, without a user and without changing anything there. Each line says what was looked at:
        ✓ all is well, ! it works, but not for everybody or not as safely as it could, ✗ something will not work; then
        why, and how to mend it. At the end stands what to enter in the consoles; secrets are never printed. Exits with 1
        where there is a ✗, with 2 where the file cannot be read. The checks are listed in
        WhatDoctorChecks.md of the documentation.
        """
    static let options: [CommandOption] = [
        .config, CommandOption("--online", "calls the servers that the configuration names, too"), .json,
    ]
    static let example = "skillgate doctor --config config/development.json5"

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        let path = try arguments.required("--config")
        let report = DoctorReport(isJSON: arguments.has("--json"))
        let source: ConfigurationSource
        do throws(FileFaults) { source = try ConfigurationSource(path: path) } catch {
            ConfigurationFile.tell(error.faults, of: path, asJSON: arguments.has("--json"))
            return 2
        }
        let configuration: Configuration
        do throws(FileFaults) {
            try ConfigurationFile.prepare(source)
            configuration = try Configuration(source)
        } catch {
            for fault in error.faults { report.add(DoctorFinding(fault)) }
            report.end()
            // A file that is no JSON cannot be read; what is wrong in one that is, are findings.
            return error.faults.contains { $0.path.isEmpty } ? 2 : 1
        }
        report.add(DoctorFinding(check: "configuration", level: .ok, message: "the file is sound, every key is known"))
        for check in DoctorCheck.all { for finding in check.findings(configuration) { report.add(finding) } }
        for finding in await DoctorMachine(configuration).findings() { report.add(finding) }
        if arguments.has("--online") {
            for finding in await DoctorOnline.findings(configuration) { report.add(finding) }
        }
        report.end()
        if !arguments.has("--json") { Output.line("\n" + DoctorConsoles.text(configuration)) }
        return report.hasFault ? 1 : 0
    }
}

extension DoctorFinding {
    /// A fault of the file.
    fileprivate init(_ fault: FileFault) {
        self.init(check: "configuration", key: fault.path, level: .fault, message: fault.problem)
    }
}

/// Prints findings as they come, and counts them.
final class DoctorReport {
    private let isJSON: Bool
    private var counts: [DoctorFinding.Level: Int] = [:]

    init(isJSON: Bool) { self.isJSON = isJSON }

    var hasFault: Bool { counts[.fault] != nil }

    func add(_ finding: DoctorFinding) {
        counts[finding.level, default: 0] += 1
        if isJSON { return Output.line(finding.json) }
        let mark =
            switch finding.level {
            case .ok: Output.coloured("✓", .green)
            case .warning: Output.coloured("!", .yellow)
            case .fault: Output.coloured("✗", .red)
            }
        let place = finding.key.isEmpty ? finding.check : "\(finding.check), \(finding.key)"
        Output.line("\(mark) \(place): \(finding.message)")
        if !finding.mend.isEmpty { Output.line("    → \(finding.mend)") }
    }

    func end() {
        guard !isJSON else { return }
        let (good, warnings, faults) = (counts[.ok] ?? 0, counts[.warning] ?? 0, counts[.fault] ?? 0)
        Output.line("\n\(good) in order, \(warnings) to look at, \(faults) to mend")
    }
}
