/// `skillgate serve`: the service.
enum ServeCommand: Command {
    static let name = "serve"
    static let summary = "runs the service"
    static let explanation = """
        Reads the configuration, opens the store and answers HTTP. The first line on standard output is
        "listening on http://HOST:PORT", with the real port also where 0 was asked for. On SIGTERM and SIGINT it stops
        accepting, finishes what runs (10 seconds at most) and exits with 0.
        """
    static let options: [CommandOption] = [
        .config,
        CommandOption("--port", value: "N", "listens there instead of at listen.port; 0 takes a free port"),
    ]
    static let example = "skillgate serve --config config/development.json5"

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        _ = try arguments.required("--config")
        _ = try arguments.integer("--port", in: 0...65_535)
        return 1
    }
}
