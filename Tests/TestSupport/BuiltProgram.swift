import FoundationEssentials
import Glibc

/// The program `skillgate` as it was built beside the tests, run as a user runs it.
public struct BuiltProgram: Sendable {
    /// What a run left behind.
    public struct Outcome: Sendable {
        /// The exit code; -1 where a signal ended it.
        public let code: Int32
        /// Standard output.
        public let output: String
        /// Standard error.
        public let errors: String

        /// The lines of standard output.
        public var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    /// Why the program does not run.
    public struct Failure: Error {
        /// What is wrong.
        public let message: String
    }

    private let path: String

    /// The program in the folder of the test bundle.
    public init() throws {
        let candidates = CommandLine.arguments
        let folders = candidates.filter { $0.contains("/") }.map {
            String($0[..<($0.lastIndex(of: "/") ?? $0.endIndex)])
        }
        let found = folders.map { $0 + "/skillgate" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let found else { throw Failure(message: "no skillgate beside \(candidates)") }
        path = found
    }

    /// Runs it to its end, with standard input empty.
    public func run(_ arguments: [String]) throws -> Outcome {
        let folder = FileManager.default.temporaryDirectory.path + "/run-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (output, errors) = (folder + "/output", folder + "/errors")
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, O_WRONLY | O_CREAT, 0o600)
        var words = unsafe ([path] + arguments).map { unsafe strdup($0) }
        unsafe words.append(nil)
        defer { unsafe words.forEach { unsafe free($0) } }
        var process = pid_t()
        guard unsafe posix_spawn(&process, path, &actions, nil, words, environ) == 0 else {
            throw Failure(message: "\(path) cannot be started")
        }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        return Outcome(
            code: status & 0x7F == 0 ? status >> 8 & 0xFF : -1,
            output: try String(contentsOfFile: output, encoding: .utf8),
            errors: try String(contentsOfFile: errors, encoding: .utf8))
    }
}
