import Glibc
import Telemetry
import Testing
import Time

private let noon = UnixTime(milliseconds: 1_796_040_000_123)

private func lines(_ level: LogLevel, _ format: LogFormat, _ write: (Log) -> Void) -> [String] {
    let sink = LogLines()
    let log = Log(level: level, format: format, clock: { noon }, sink: sink)
    write(log)
    log.flush()
    return sink.lines
}

@Suite("The log")
struct LogTests {
    @Test("a JSON line has time, level, event and the fields in their order")
    func json() {
        let written = lines(.info, .json) { log in
            log.notice("request rejected", .rejection("verification.stale"), .status(400), .durationMilliseconds(3))
            log.info("request", .route("/alexa/custom"), .requestID("r-1"))
        }
        let time = noon.iso8601(fraction: true)
        #expect(
            written == [
                #"{"time":"\#(time)","level":"notice","event":"request rejected","rejection":"verification.stale","#
                    + #""status":400,"durationMilliseconds":3}"#,
                #"{"time":"\#(time)","level":"info","event":"request","route":"/alexa/custom","requestID":"r-1"}"#,
            ])
    }

    @Test("a text line quotes what is not one plain word")
    func text() {
        let written = lines(.info, .text) { log in
            log.error("it failed", .skill("ride hailer"), .upstream("https://a.example:443"), .detail(""), .count(-2))
        }
        #expect(
            written == [
                noon.iso8601(fraction: true)
                    + #" error it failed skill="ride hailer" upstream=https://a.example:443 detail="" count=-2"#
            ])
    }

    static let hostile = [
        "a\nb", "a\r\nb", "\u{1B}[2J", "\u{9B}31m", "x\u{202E}y", "x\u{2028}y", "a\u{0}b", "\u{7F}", "\u{FEFF}",
        "\u{200B}",
    ]

    @Test("whoever chose a value cannot forge a line or steer a terminal", arguments: hostile, LogFormat.allCases)
    func injection(value: String, format: LogFormat) {
        let written = lines(.info, format) { log in
            log.notice("event", .requestID(value), .detail(value), .route(value))
        }
        #expect(written.count == 1)
        for scalar in written.joined().unicodeScalars {
            #expect(scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value))
            #expect(!(0x200B...0x202E).contains(scalar.value) && scalar.value != 0xFEFF)
        }
    }

    @Test("quotes and backslashes are escaped")
    func quotes() {
        let written = lines(.info, .json) { log in log.notice("event", .detail(#"a","level":"x\"#)) }
        #expect(written.first?.hasSuffix(#""detail":"a\",\"level\":\"x\\"}"#) == true)
    }

    @Test("OPS-1: every text is cut after 64 characters, whichever field carries it", arguments: LogFormat.allCases)
    func bounds(format: LogFormat) {
        let long = String(repeating: "ß", count: 5000)
        let fields: [LogField] = [
            .requestID(long), .method(long), .route(long), .rejection(long), .tokenReason(long), .skill(long),
            .requestType(long), .intent(long), .locale(long), .peer(long), .upstream(long), .outcome(long),
            .region(long), .key(long), .file(long), .address(long), .version(long), .detail(long),
        ]
        for field in fields {
            let line = lines(.info, format) { log in log.write(.error, "event", [field]) }.joined()
            #expect(line.unicodeScalars.count { $0 == "ß" } == 63)
            #expect(line.contains("…"))
        }
        let whole = String(repeating: "ß", count: 64)
        #expect(lines(.info, format) { log in log.notice("event", .detail(whole)) }.joined().contains(whole))
    }

    @Test("OPS-1: no field takes a secret, nor anything that could carry one unseen")
    func fieldTypes() throws {
        let folder = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let source = try #require(contents(of: "/" + folder + "/Sources/Telemetry/LogField.swift"))
        let cases = source.split(separator: "\n").compactMap { line -> Substring? in
            let words = line.drop { $0 == " " }
            guard words.hasPrefix("case "), !words.contains("."), let open = words.firstIndex(of: "(") else {
                return nil
            }
            return words[open...]
        }
        #expect(cases.count > 20)
        for payload in cases {
            #expect(["(String)", "(Int)", "(TraceID)", "(StaticText)"].contains(payload), "\(payload)")
        }
    }

    @Test("lines below the level are not written, and their fields are not made")
    func levels() {
        var made = 0
        func field() -> LogField {
            made += 1
            return .count(1)
        }
        let written = lines(.notice, .text) { log in
            log.error("e")
            log.notice("n")
            log.info("i", field())
            log.debug("d", field())
        }
        #expect(written.map { $0.split(separator: " ")[1] } == ["error", "notice"])
        #expect(made == 0)
        #expect(lines(.debug, .text) { log in log.debug("d", field()) }.count == 1)
        #expect(made == 1)
        Log.silent.error("nothing is written")
        #expect(!Log.silent.isOn(.error))
    }

    @Test("level and format names are those of the configuration")
    func names() {
        #expect(LogLevel.allCases.map(\.name) == ["error", "notice", "info", "debug"])
        #expect(LogLevel.allCases.allSatisfy { LogLevel(name: $0.name) == $0 })
        for name in ["", "Error", "warning", "trace"] { #expect(LogLevel(name: name) == nil) }
    }

    @Test("lines of many threads all arrive, each thread's in its order", .timeLimit(.minutes(5)))
    func threads() async {
        let sink = LogLines()
        let log = Log(level: .info, format: .text, clock: { noon }, sink: sink, capacity: 10_000)
        await withTaskGroup { group in
            for thread in 0..<8 {
                group.addTask { for count in 0..<500 { log.notice("line", .port(thread), .count(count)) } }
            }
        }
        log.flush()
        #expect(sink.lines.count == 4000)
        for thread in 0..<8 {
            let counts = sink.lines.filter { $0.contains(" port=\(thread) ") }
                .compactMap { $0.split(separator: "=").last.flatMap { Int($0) } }
            #expect(counts == Array(0..<500))
        }
    }

    @Test("an output that is not read holds nobody up; what was lost is counted and said", .timeLimit(.minutes(5)))
    func full() {
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        let metrics = Metrics()
        let total = 30_000
        do {
            let log = Log(
                level: .info, format: .text, clock: { noon }, sink: DescriptorSink(descriptor: ends[1]),
                metrics: metrics, capacity: 100)
            for count in 0..<total { log.notice("line", .count(count)) }
            let reader = Reader(descriptor: ends[0])
            reader.start()
            log.flush()
            withExtendedLifetime(log) {}
            close(ends[1])
            let written = reader.lines()
            let kept = written.count { $0.contains(" line ") }
            let lost = written.filter { $0.contains(" log lines dropped ") }
                .compactMap { $0.split(separator: "=").last.flatMap { Int($0) } }.reduce(0, +)
            #expect(kept < total)
            #expect(kept + lost == total)
            #expect(metrics.counter(.logLinesDropped).value == lost)
        }
    }

    @Test("lines that wait are written before the log goes away")
    func closing() {
        let sink = LogLines()
        do {
            let log = Log(level: .info, format: .text, clock: { noon }, sink: sink)
            log.notice("last words")
        }
        #expect(sink.lines.count == 1)
    }
}

/// Reads a pipe to its end on a thread of its own.
private final class Reader: @unchecked Sendable {
    // Unchecked: `bytes` is written by the thread and read after it has ended.
    private let descriptor: Int32
    private var bytes: [UInt8] = []
    private var thread = pthread_t()

    init(descriptor: Int32) { self.descriptor = descriptor }

    func start() {
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        _ = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<Reader>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context)
    }

    private func run() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            if count <= 0 { return }
            bytes += buffer[..<count]
        }
    }

    func lines() -> [Substring] {
        pthread_join(thread, nil)
        close(descriptor)
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }
}

private func contents(of path: String) -> String? {
    guard let file = unsafe fopen(path, "r") else { return nil }
    defer { unsafe fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    let count = unsafe fread(&buffer, 1, buffer.count, file)
    return String(decoding: buffer[..<count], as: UTF8.self)
}
