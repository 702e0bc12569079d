import Glibc
import Service

/// `skillgate serve`: the service.
enum ServeCommand: Command {
    static let name = "serve"
    static let summary = "runs the service"
    static let explanation = """
        Reads the configuration, opens the store and answers HTTP. The first line on standard output is
        "listening on http://HOST:PORT", with the real port also where 0 was asked for; the log goes to standard error.
        On SIGTERM and SIGINT it stops accepting, finishes what runs (10 seconds at most) and exits with 0; a second one
        ends it at once. On SIGHUP it reads its certificate again.

        With --record every request of Alexa, a forwarder, an app or a back end is written to DIR as a sample for
        skillgate replay, with what was answered: tokens, codes and secrets are replaced by placeholders, what the user
        said is not. The folder is its owner's alone; it grows to a gigabyte at most, and no answer waits for it.

        With development: true it makes the encryption key and the simulator's authority where they are missing.
        """
    static let options: [CommandOption] = [
        .config,
        CommandOption("--port", value: "N", "listens there instead of at listen.port; 0 takes a free port"),
        CommandOption("--record", value: "DIR", "writes what comes in, and what is answered, as samples"),
    ]
    static let example = """
        skillgate serve --config config/development.json5
          skillgate serve --config config/development.json5 --record recorded
          skillgate replay recorded --config config/development.json5
        """

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        let path = try arguments.required("--config")
        let port = try arguments.integer("--port", in: 0...65_535)
        guard let configuration = ConfigurationFile.read(path) else { return 2 }
        let signals = Signals([SIGTERM, SIGINT, SIGHUP])
        let program: Program
        do throws(ProgramFault) {
            program = try await Program(configuration, port: port, record: arguments.value("--record"))
        } catch {
            Output.error("skillgate serve: \(error.message)")
            return 1
        }
        Output.line("listening on \(program.address)")
        for await number in signals.stream {
            if number == SIGHUP {
                program.reloadCertificates()
                continue
            }
            for ending in [SIGTERM, SIGINT] { signal(ending, SIG_DFL) }
            break
        }
        await program.stop()
        return 0
    }
}
