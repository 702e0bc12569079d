public import Time

/// The program's log: fixed event texts and typed facts, written by a thread of its own.
///
///     log.notice("request rejected", .requestID(id), .rejection("verification.stale"), .durationMilliseconds(3))
///
/// No call waits for the output. Lines that find the list full are dropped, counted, and the count is logged.
public final class Log: Sendable {
    /// Nothing less important than this is written; nil writes nothing at all.
    public let level: LogLevel?
    private let threshold: Int
    private let clock: WallClock
    private let writer: LogWriter?

    /// A log that writes lines of `level` and above to `sink`.
    ///
    /// At most `capacity` lines wait; lines dropped are counted in `metrics` too.
    public init(
        level: LogLevel, format: LogFormat, clock: @escaping WallClock, sink: any LogSink, metrics: Metrics? = nil,
        capacity: Int = 4096
    ) {
        self.level = level
        threshold = level.rawValue
        self.clock = clock
        let writer = LogWriter(
            capacity: capacity, format: format, clock: clock, sink: sink,
            droppedLines: metrics?.counter(.logLinesDropped))
        self.writer = writer
        writer.start()
    }

    private init() {
        level = nil
        threshold = -1
        clock = { UnixTime(seconds: 0) }
        writer = nil
    }

    /// Writes nothing.
    public static let silent = Log()

    deinit { writer?.close() }

    /// Whether lines of `level` are written.
    public func isOn(_ level: LogLevel) -> Bool { level.rawValue <= threshold }

    /// Logs that something is wrong and somebody should look.
    public func error(_ event: StaticString, _ fields: LogField...) { write(.error, event, fields) }

    /// Logs what an operator wants to know.
    public func notice(_ event: StaticString, _ fields: LogField...) { write(.notice, event, fields) }

    /// Logs what normally happens; the fields are made only where this level is on.
    public func info(
        _ event: StaticString, _ first: @autoclosure () -> LogField? = nil,
        _ second: @autoclosure () -> LogField? = nil, _ third: @autoclosure () -> LogField? = nil,
        _ fourth: @autoclosure () -> LogField? = nil, _ fifth: @autoclosure () -> LogField? = nil,
        _ sixth: @autoclosure () -> LogField? = nil, _ seventh: @autoclosure () -> LogField? = nil,
        _ eighth: @autoclosure () -> LogField? = nil
    ) {
        guard isOn(.info) else { return }
        write(
            .info, event,
            [first(), second(), third(), fourth(), fifth(), sixth(), seventh(), eighth()].compactMap { $0 })
    }

    /// Logs detail for a developer; the fields are made only where this level is on.
    public func debug(
        _ event: StaticString, _ first: @autoclosure () -> LogField? = nil,
        _ second: @autoclosure () -> LogField? = nil, _ third: @autoclosure () -> LogField? = nil,
        _ fourth: @autoclosure () -> LogField? = nil, _ fifth: @autoclosure () -> LogField? = nil,
        _ sixth: @autoclosure () -> LogField? = nil, _ seventh: @autoclosure () -> LogField? = nil,
        _ eighth: @autoclosure () -> LogField? = nil
    ) {
        guard isOn(.debug) else { return }
        write(
            .debug, event,
            [first(), second(), third(), fourth(), fifth(), sixth(), seventh(), eighth()].compactMap { $0 })
    }

    /// Logs `event` with a list of fields.
    public func write(_ level: LogLevel, _ event: StaticString, _ fields: [LogField]) {
        guard isOn(level), let writer else { return }
        writer.add(LogEntry(time: clock(), level: level, event: event, fields: fields.map(\.shortened)))
    }

    /// Writes all that waits before it returns; may block, so for tests and the program's end.
    public func flush() { writer?.drain() }
}
