/// How much a log line matters.
public enum LogLevel: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Something is wrong and somebody should look.
    case error
    /// Something that an operator wants to know: a refusal, a start, a stop.
    case notice
    /// What normally happens: one line a request.
    case info
    /// Detail for a developer.
    case debug

    /// The name in configuration and output.
    public var name: String {
        switch self {
        case .error: "error"
        case .notice: "notice"
        case .info: "info"
        case .debug: "debug"
        }
    }

    /// The level of that name; nil where there is none.
    public init?(name: String) {
        guard let level = LogLevel.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }

    /// Whether `left` matters more than `right`.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// A fact of a log line.
///
/// There is a case for everything that may be logged, and none takes a secret or a whole message. Texts are cut after
/// ``LogField/textLimit`` characters and escaped on output, so whoever chose them cannot forge a line.
public enum LogField: Sendable, Hashable {
    // Of a request.
    /// The id by which Alexa or another caller names its request.
    case requestID(String)
    /// The trace that belongs to the line.
    case traceID(TraceID)
    /// The request method.
    case method(String)
    /// The route's pattern, never the path that was sent.
    case route(String)
    /// The status answered.
    case status(Int)
    /// How long it took.
    case durationMilliseconds(Int)
    /// The reason code of a refusal, `verification.stale` for example.
    case rejection(String)
    /// The reason code of a refused token, `token.expired` for example.
    case tokenReason(String)
    /// The skill's name in the configuration.
    case skill(String)
    /// The type of an Alexa request, or the name of a directive.
    case requestType(String)
    /// The intent's name.
    case intent(String)
    /// The provider's id of a device, or the name of one of its properties.
    case device(String)
    /// The locale of a request.
    case locale(String)
    /// The address of the peer.
    case peer(String)
    /// The first digits of the hash of a code, by which the lines about it can be found.
    case codeHash(String)

    // Of calls to other servers.
    /// Scheme, host and port of the server called.
    case upstream(String)
    /// What became of it, `timedOut` for example.
    case outcome(String)
    /// How often it was tried.
    case attempts(Int)
    /// Scope of an Amazon region, `NA`, `EU` or `FE`.
    case region(String)

    // Of the clock.
    /// Timestamp of the request minus our clock.
    case clockDifferenceSeconds(Int)

    // Of the program.
    /// A key path of the configuration, never its value.
    case key(String)
    /// The name of a file or folder that the configuration gave.
    case file(String)
    /// An address that is listened on.
    case address(String)
    /// The port that is listened on.
    case port(Int)
    /// How many there are or were.
    case count(Int)
    /// The limit that was reached.
    case limit(Int)
    /// A size.
    case bytes(Int)
    /// An error number of the operating system.
    case errorNumber(Int)
    /// The version of the program.
    case version(String)
    /// What was wrong, in words of this program.
    case problem(StaticText)
    /// A short text that may stem from elsewhere: cut and escaped like every other.
    case detail(String)

    /// How many characters of a text are written.
    public static let textLimit = 64

    /// What a field holds.
    enum Value: Hashable {
        case text(String)
        case number(Int)
    }

    /// Name and value of the field.
    var content: (name: StaticString, value: Value) {
        switch self {
        case .requestID(let text): ("requestID", .text(text))
        case .traceID(let id): ("traceID", .text(id.text))
        case .method(let text): ("method", .text(text))
        case .route(let text): ("route", .text(text))
        case .status(let number): ("status", .number(number))
        case .durationMilliseconds(let number): ("durationMilliseconds", .number(number))
        case .rejection(let text): ("rejection", .text(text))
        case .tokenReason(let text): ("tokenReason", .text(text))
        case .skill(let text): ("skill", .text(text))
        case .requestType(let text): ("requestType", .text(text))
        case .intent(let text): ("intent", .text(text))
        case .device(let text): ("device", .text(text))
        case .locale(let text): ("locale", .text(text))
        case .peer(let text): ("peer", .text(text))
        case .codeHash(let text): ("codeHash", .text(text))
        case .upstream(let text): ("upstream", .text(text))
        case .outcome(let text): ("outcome", .text(text))
        case .attempts(let number): ("attempts", .number(number))
        case .region(let text): ("region", .text(text))
        case .clockDifferenceSeconds(let number): ("clockDifferenceSeconds", .number(number))
        case .key(let text): ("key", .text(text))
        case .file(let text): ("file", .text(text))
        case .address(let text): ("address", .text(text))
        case .port(let number): ("port", .number(number))
        case .count(let number): ("count", .number(number))
        case .limit(let number): ("limit", .number(number))
        case .bytes(let number): ("bytes", .number(number))
        case .errorNumber(let number): ("errorNumber", .number(number))
        case .version(let text): ("version", .text(text))
        case .problem(let text): ("problem", .text(text.description))
        case .detail(let text): ("detail", .text(text))
        }
    }
}

/// A text that stands in the program, so that it can hold nothing from outside.
public struct StaticText: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The text.
    public let description: String
    /// The text of a literal.
    public init(stringLiteral text: StaticString) { description = text.description }
}

extension LogField {
    /// The field with a text that is not much longer than what will be written, so that waiting lines stay small.
    var shortened: LogField {
        switch self {
        case .requestID(let text) where isLong(text): .requestID(bounded(text))
        case .method(let text) where isLong(text): .method(bounded(text))
        case .route(let text) where isLong(text): .route(bounded(text))
        case .requestType(let text) where isLong(text): .requestType(bounded(text))
        case .intent(let text) where isLong(text): .intent(bounded(text))
        case .device(let text) where isLong(text): .device(bounded(text))
        case .locale(let text) where isLong(text): .locale(bounded(text))
        case .upstream(let text) where isLong(text): .upstream(bounded(text))
        case .outcome(let text) where isLong(text): .outcome(bounded(text))
        case .detail(let text) where isLong(text): .detail(bounded(text))
        default: self
        }
    }
}

private func isLong(_ text: String) -> Bool { text.utf8.count > LogField.textLimit }
