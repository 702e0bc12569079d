import Glibc
import JSON

/// What a command prints.
enum Output {
    /// A colour on a terminal.
    enum Colour: String {
        case green = "32"
        case yellow = "33"
        case red = "31"
    }

    /// A line on standard output.
    static func line(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

    /// A line on standard output that is one JSON object.
    static func line(_ value: JSONValue) {
        write(String(decoding: value.encoded(), as: UTF8.self) + "\n", to: STDOUT_FILENO)
    }

    /// A line on standard error.
    static func error(_ text: String) { write(text + "\n", to: STDERR_FILENO) }

    /// A question on standard error, on whose line the answer is typed.
    static func prompt(_ text: String) { write(text, to: STDERR_FILENO) }

    /// `text` in that colour where standard output is a terminal and `NO_COLOR` is not set.
    static func coloured(_ text: String, _ colour: Colour) -> String {
        hasColour ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Whether standard output is a terminal.
    static let isTerminal = isatty(STDOUT_FILENO) == 1

    /// Whether colours are wanted: no-color.org says that any value but an empty one declines them.
    private static let hasColour: Bool = {
        guard isTerminal else { return false }
        guard let value = unsafe getenv("NO_COLOR") else { return true }
        return unsafe value.pointee == 0
    }()

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 {
                if errno == EINTR { continue }
                return
            }
            rest = rest.dropFirst(written)
        }
    }
}
