import Time

/// How log lines are written.
public enum LogFormat: String, Sendable, Hashable, CaseIterable {
    /// One JSON object a line.
    case json
    /// Words for a reader: time, level, event, `name=value`.
    case text
}

/// What a line says, before it is written.
struct LogEntry: Sendable {
    let time: UnixTime
    let level: LogLevel
    let event: StaticString
    var fields: [LogField]

    /// The line, without its line feed.
    func line(_ format: LogFormat) -> String {
        var line = ""
        switch format {
        case .json:
            line += "{\"time\":\"" + time.iso8601(fraction: true) + "\",\"level\":\"" + level.name + "\",\"event\":"
            line.appendQuoted(event.description)
            for field in fields {
                let (name, value) = field.content
                line += ",\"" + name.description + "\":"
                switch value {
                case .number(let number): line += String(number)
                case .text(let text): line.appendQuoted(bounded(text))
                }
            }
            line += "}"
        case .text:
            line += time.iso8601(fraction: true) + " " + level.name + " " + event.description
            for field in fields {
                let (name, value) = field.content
                line += " " + name.description + "="
                switch value {
                case .number(let number): line += String(number)
                case .text(let text): line.appendWord(bounded(text))
                }
            }
        }
        return line
    }
}
