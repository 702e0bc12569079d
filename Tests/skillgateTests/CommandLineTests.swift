import Crypto
import FoundationEssentials
import JSON
import Testing

@Suite("Command line", .timeLimit(.minutes(5))) struct CommandLineTests {
    static let commands = [
        "serve", "replay", "verify", "migrate", "keys generate", "token check", "trace", "account-linking show",
        "account-linking push", "manifest show",
    ]

    @Test("--help names every command, and no command is an error that does the same")
    func overview() async throws {
        let help = try await ProgramRun.run(["--help"])
        #expect(help.code == 0 && help.error.isEmpty)
        for command in Self.commands { #expect(help.output.contains("\n  \(command) "), "\(command)") }
        let nothing = try await ProgramRun.run([])
        #expect(nothing.code == 2 && nothing.output.isEmpty)
        #expect(nothing.error == help.output)
    }

    @Test("each command's --help has its usage, its options and an example", arguments: commands)
    func help(command: String) async throws {
        let words = command.split(separator: " ").map(String.init)
        let help = try await ProgramRun.run(words + ["--help"])
        #expect(help.code == 0 && help.error.isEmpty)
        for part in ["usage: skillgate \(command)", "options:", "  --help", "example:\n  skillgate \(command)"] {
            #expect(help.output.contains(part), "\(part)")
        }
        #expect(try await ProgramRun.run(["help"] + words).output == help.output)
        #expect(try await ProgramRun.run(words + ["--config", "absent", "--help"]).output == help.output)
    }

    @Test(
        "wrong usage exits with 2 and names the word at fault",
        arguments: [
            (["nonsense"], "nonsense"), (["keys"], "keys generate"), (["keys", "nonsense"], "nonsense"),
            (["serve"], "--config"), (["serve", "--config"], "--config needs FILE"),
            (["serve", "--config", "--port"], "--config needs FILE"),
            (["serve", "--config", "x", "--port", "http"], "not http"),
            (["serve", "--config", "x", "--port", "65536"], "--port takes a number from 0 to 65535, not 65536"),
            (["serve", "--config", "x", "--port=-1"], "--port"),
            (["serve", "--config", "x", "--config", "y"], "--config is given twice"),
            (["serve", "--config", "x", "--nonsense"], "unknown option --nonsense"),
            (["serve", "--config", "x", "extra"], "unexpected argument extra"),
            (["migrate", "--config", "x", "--json=yes"], "--json takes no value"),
            (["keys", "generate", "extra"], "unexpected argument extra"),
        ] as [([String], String)])
    func wrongUsage(arguments: [String], says: String) async throws {
        let run = try await ProgramRun.run(arguments)
        #expect(run.code == 2)
        #expect(run.output.isEmpty)
        #expect(run.error.contains(says), "\(run.error)")
    }

    @Test(
        "a configuration that is not there, or has faults, exits with 2 and lists them all",
        arguments: ["serve", "migrate"])
    func faults(command: String) async throws {
        let absent = try await ProgramRun.run([command, "--config", "/nonexistent/x.json5"])
        #expect(absent.code == 2 && absent.error.contains("/nonexistent/x.json5"))
        try await withTemporaryFolder { folder in
            let path = folder + "/bad.json5"
            try Data("{ publicURL: 'ftp://x', store: { url: 'sqlite:x' }, nonsense: 1 }".utf8).write(
                to: URL(filePath: path))
            let run = try await ProgramRun.run([command, "--config", path])
            #expect(run.code == 2 && run.output.isEmpty)
            for part in [path, "publicURL:", "nonsense:", "provider: missing"] {
                #expect(run.error.contains(part), "\(run.error)")
            }
            #expect(!FileManager.default.fileExists(atPath: folder + "/x"))
        }
    }

    @Test("keys generate makes a new key each time, for its owner alone, and touches no file that exists")
    func keys() async throws {
        let first = try await ProgramRun.run(["keys", "generate"])
        let second = try await ProgramRun.run(["keys", "generate"])
        #expect(first.code == 0 && first.output != second.output)
        #expect(Base64.decode(first.output.dropLast())?.count == 32)
        try await withTemporaryFolder { folder in
            let path = folder + "/made/key"
            let made = try await ProgramRun.run(["keys", "generate", "--out", path])
            #expect(made.code == 0 && made.output.isEmpty && made.error.isEmpty)
            let content = try Data(contentsOf: URL(filePath: path))
            #expect(Base64.decode(String(decoding: content, as: UTF8.self).dropLast())?.count == 32)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
            #expect(mode as? Int == 0o600 || mode as? UInt == 0o600)
            let again = try await ProgramRun.run(["keys", "generate", "--out", path])
            #expect(again.code == 1 && again.error.contains("is there already"))
            #expect(try Data(contentsOf: URL(filePath: path)) == content)
        }
    }

    @Test("colour is for terminals alone, and NO_COLOR declines it")
    func colour() async throws {
        try await withTemporaryFolder { folder in
            let keys = folder + "/keys.json"
            try Data(#"{"keys":[]}"#.utf8).write(to: URL(filePath: keys))
            let words = ["token", "check", "--jwks", keys]
            let terminal = try await ProgramRun.run(words, input: "no token", terminal: true)
            let declined = try await ProgramRun.run(
                words, input: "no token", environment: ["NO_COLOR": "1"], terminal: true)
            let piped = try await ProgramRun.run(words, input: "no token")
            #expect(terminal.output.contains("\u{1B}[31m"))
            #expect(declined.output.contains("token.malformed") && !declined.output.contains("\u{1B}"))
            #expect(piped.output.contains("token.malformed") && !piped.output.contains("\u{1B}"))
        }
    }
}
