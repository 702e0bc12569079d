import Glibc

/// The program: one command of the table below, and its exit code.
@main enum Skillgate {
    /// Every command, in the order of `skillgate --help`.
    static let commands: [any Command.Type] = [
        DevCommand.self,
        ServeCommand.self,
        MigrateCommand.self,
        KeysGenerateCommand.self,
        KeysRotateCommand.self,
        DoctorCommand.self,
        UsersAddCommand.self,
        UsersListCommand.self,
        UsersDisableCommand.self,
        UsersEnableCommand.self,
        UsersPasswordCommand.self,
        LinksListCommand.self,
        LinksRevokeCommand.self,
        EventsFlushCommand.self,
        TraceCommand.self,
        AccountLinkingShowCommand.self,
        AccountLinkingPushCommand.self,
        ManifestShowCommand.self,
        TokenCheckCommand.self,
        VerifyCommand.self,
        ReplayCommand.self,
    ]

    static func main() async {
        // A reader that went away is an error of that write, not the end of the program.
        signal(SIGPIPE, SIG_IGN)
        exit(await Dispatch(commands: commands).run(Array(CommandLine.arguments.dropFirst())))
    }
}
