import Dispatch
import FoundationEssentials
import Glibc
import Testing

/// The built program, or another one, run from outside.
final class ProgramRun: Sendable {
    /// What a run that ended left behind.
    struct Outcome: Sendable {
        let code: Int32
        let output: String
        let error: String
    }

    private let process: pid_t
    private let output: Int32
    private let errorFile: String

    /// The folder of the built program: where this test's own program is.
    static let folder =
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")).map { path in
            String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
        } ?? "."

    /// Starts the program.
    ///
    /// With `terminal` its standard output is a terminal; otherwise a pipe. Its standard input is what stands at
    /// `inputPath`, where that is given, in place of `input`.
    init(
        _ arguments: [String], of program: String = ProgramRun.folder + "/skillgate", input: String = "",
        inputPath: String? = nil, environment: [String: String] = [:], terminal: Bool = false
    ) throws {
        let inputFile = temporaryPath("input")
        errorFile = temporaryPath("error")
        try Data(input.utf8).write(to: URL(filePath: inputFile))
        // The program opens its own end, so that no other run that starts meanwhile can hold it open.
        let outputPath: String
        var keptOpen: Int32 = -1
        if terminal {
            var ends: (Int32, Int32) = (-1, -1)
            unsafe openpty(&ends.0, &ends.1, nil, nil, nil)
            output = ends.0
            let name = unsafe try #require(ttyname(ends.1), "the machine has no pseudo-terminals (/dev/pts)")
            outputPath = unsafe String(cString: name)
            keptOpen = ends.1
        } else {
            outputPath = temporaryPath("output")
            unsafe mkfifo(outputPath, 0o600)
            output = unsafe open(outputPath, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, inputPath ?? inputFile, O_RDONLY | O_NOCTTY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, outputPath, O_WRONLY | O_NOCTTY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, errorFile, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        var variables = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        if environment["NO_COLOR"] == nil { variables["NO_COLOR"] = nil }
        var words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        var settings = unsafe variables.map { unsafe strdup("\($0)=\($1)") } + [nil]
        defer { unsafe (words + settings).forEach { unsafe free($0) } }
        var process = pid_t()
        let failure = unsafe posix_spawn(&process, program, &actions, nil, &words, &settings)
        unsafe unlink(inputFile)
        if terminal { close(keptOpen) } else { unsafe unlink(outputPath) }
        _ = fcntl(output, F_SETFL, 0)
        try #require(failure == 0, "\(program) does not start: error \(failure)")
        self.process = process
    }

    deinit {
        close(output)
        unsafe unlink(errorFile)
    }

    /// Runs the program to its end.
    static func run(
        _ arguments: [String], of program: String = ProgramRun.folder + "/skillgate", input: String = "",
        environment: [String: String] = [:], terminal: Bool = false
    ) async throws -> Outcome {
        try await ProgramRun(arguments, of: program, input: input, environment: environment, terminal: terminal).end()
    }

    /// The next line of standard output; empty at its end.
    func line() async -> String {
        await onThread { [output] in
            var bytes: [UInt8] = []
            var byte: UInt8 = 0
            while unsafe read(output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { bytes.append(byte) }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    func send(signal number: Int32) { kill(process, number) }

    /// Waits for the end.
    func end() async -> Outcome {
        await onThread { [process, output, errorFile] in
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = unsafe read(output, &chunk, chunk.count)
                if count <= 0 { break }
                bytes += chunk.prefix(count)
            }
            var status: Int32 = 0
            while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
            // What waitpid(2) calls WEXITSTATUS, or minus the signal that ended it.
            let code = status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
            let error = (try? Data(contentsOf: URL(filePath: errorFile))) ?? Data()
            return Outcome(
                code: code, output: String(decoding: bytes, as: UTF8.self),
                error: String(decoding: error, as: UTF8.self))
        }
    }

    /// Waiting for a process blocks, so it is done on a thread that Swift's tasks do not need.
    private func onThread<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: work()) }
        }
    }
}

/// A path in the folder of temporary files that nobody else has.
func temporaryPath(_ name: String) -> String {
    FileManager.default.temporaryDirectory.path() + "skillgate-\(UUID().uuidString)-\(name)"
}

/// A folder that is removed at the end of `body`.
func withTemporaryFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let folder = temporaryPath("folder")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}
