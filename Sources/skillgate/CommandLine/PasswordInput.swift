import Crypto
import Glibc

/// A password from standard input: a line of it, or what somebody types unseen.
enum PasswordInput {
    /// Longer ones are refused at the sign-in too.
    static let limitBytes = 1024

    /// Why there is no password; nothing of it is quoted.
    struct Fault: Error {
        let message: String
    }

    /// Reads a password; on a terminal it asks for it twice, and shows nothing of it.
    static func read() throws(Fault) -> Secret {
        guard isatty(STDIN_FILENO) == 1 else { return try password(line()) }
        let typed = try unseen(["Password: ", "Again: "])
        guard constantTimeEquals(typed[0], typed[1]) else {
            throw Fault(message: "the two passwords are not the same")
        }
        return try password(typed[0])
    }

    private static func password(_ bytes: [UInt8]) throws(Fault) -> Secret {
        guard !bytes.isEmpty else { throw Fault(message: "the password is empty: it is read from standard input") }
        guard bytes.count <= limitBytes else {
            throw Fault(message: "the password is longer than \(limitBytes) bytes")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Fault(message: "the password is not in UTF-8")
        }
        // No form of a browser sends them, so nobody could sign in with one.
        guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw Fault(message: "the password has control characters")
        }
        return Secret(text)
    }

    /// Reads a line for each prompt while the terminal shows nothing of them.
    private static func unseen(_ prompts: [String]) throws(Fault) -> [[UInt8]] {
        var settings = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else {
            throw Fault(message: "the terminal cannot be asked without showing what is typed")
        }
        var hidden = settings
        // Without signals from the keyboard nothing ends the program before the terminal shows again what is typed.
        hidden.c_lflag &= ~tcflag_t(ECHO | ISIG)
        guard unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) == 0 else {
            throw Fault(message: "the terminal cannot be asked without showing what is typed")
        }
        defer { unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings) }
        return prompts.map { prompt in
            Output.prompt(prompt)
            let line = line()
            Output.error("")
            return line
        }
    }

    /// The next line without its end; no more than is needed to see that it is too long.
    private static func line() -> [UInt8] {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while bytes.count <= limitBytes + 1 {
            let count = unsafe Glibc.read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            if count != 1 || byte == UInt8(ascii: "\n") { break }
            bytes.append(byte)
        }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return bytes
    }
}
