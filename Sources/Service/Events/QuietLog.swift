import Alexa
import Concurrency
import Telemetry
import Time

/// Lines about lanes that say the same again and again: one a minute for each lane and reason, with a count.
final class QuietLog: Sendable {
    private static let pauseSeconds: Int64 = 60
    private static let limit = 1000

    private struct Subject: Hashable {
        let key: GrantKey?
        let reason: String
    }

    private struct Spoken {
        var at: UnixTime
        var since: Int
    }

    private let log: Log
    private let clock: WallClock
    private let spoken = Locked(BoundedCache<Subject, Spoken>(capacity: limit))

    init(log: Log, clock: @escaping WallClock) {
        self.log = log
        self.clock = clock
    }

    /// Writes the line, or counts it for the next one.
    func line(
        _ level: LogLevel, _ event: StaticString, of key: GrantKey? = nil, _ reason: String, attempts: Int? = nil,
        detail: String? = nil
    ) {
        let now = clock()
        let subject = Subject(key: key, reason: reason)
        let count: Int? = spoken.withLock { spoken in
            var entry = spoken.value(for: subject) ?? Spoken(at: UnixTime(seconds: 0), since: 0)
            entry.since += 1
            let isDue = now.milliseconds(since: entry.at) >= Self.pauseSeconds * 1000
            defer { spoken.insert(isDue ? Spoken(at: now, since: 0) : entry, for: subject) }
            return isDue ? entry.since : nil
        }
        guard let count else { return }
        var fields: [LogField] = [.rejection(reason), .count(count)]
        if let key { fields += [.skill(key.skill), .region(key.region.rawValue)] }
        if let attempts { fields.append(.attempts(attempts)) }
        if let detail { fields.append(.detail(detail)) }
        log.write(level, event, fields)
    }
}
