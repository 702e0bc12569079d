import Glibc
import Testing

@Suite("A password that is typed", .timeLimit(.minutes(5))) struct PasswordTerminalTests {
    @Test(
        "a terminal is asked twice and shows nothing of what is typed",
        arguments: [("typed-secret", "typed-secret", 0), ("typed-secret", "typed-secreT", 2), ("", "", 2)])
    func unseen(first: String, second: String, code: Int32) async throws {
        try await Stage.with(UserCommandTests.embedded) { stage in
            var ends: (Int32, Int32) = (-1, -1)
            unsafe openpty(&ends.0, &ends.1, nil, nil, nil)
            let name = unsafe try #require(ttyname(ends.1), "the machine has no pseudo-terminals (/dev/pts)")
            let (terminal, path) = unsafe (ends.0, String(cString: name))
            defer {
                close(ends.0)
                close(ends.1)
            }
            let program = try ProgramRun(
                ["users", "add", "carol", "--config", stage.configurationPath], inputPath: path)
            try await onOwnThread {
                var settings = termios()
                repeat { unsafe tcgetattr(terminal, &settings) } while settings.c_lflag & tcflag_t(ECHO) != 0
                let lines = Array("\(first)\n\(second)\n".utf8)
                unsafe write(terminal, lines, lines.count)
            }
            let outcome = await program.end()
            #expect(outcome.code == code, "\(outcome.error)")
            #expect(outcome.error.hasPrefix("Password: ") && outcome.error.contains("Again: "))
            #expect(!(outcome.error + outcome.output).contains("typed-"))
            var shown = [UInt8](repeating: 0, count: 4096)
            _ = fcntl(terminal, F_SETFL, O_NONBLOCK)
            let count = unsafe read(terminal, &shown, shown.count)
            #expect(!String(decoding: shown.prefix(max(0, count)), as: UTF8.self).contains("typed-"))
            var settings = termios()
            unsafe tcgetattr(terminal, &settings)
            #expect(settings.c_lflag & tcflag_t(ECHO) != 0, "the terminal shows again what is typed")
        }
    }
}
