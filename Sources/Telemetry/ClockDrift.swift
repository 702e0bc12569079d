import Concurrency

/// Watches how far the timestamps of genuine requests lie from our clock.
///
/// A clock that drifts beyond Alexa's window makes every request look stale, and the skill goes down with a reason
/// that blames the caller. So refusals for the timestamp are measured with their signed difference, and when the
/// median of the latest requests is beyond a threshold one log line says to check the clock. Only requests whose
/// signature held should be told here: anybody can send an old timestamp.
public final class ClockDrift: Sendable {
    /// From which median on the clock is suspected.
    public static let alarmSeconds = 60
    /// How many requests there must be before the clock is suspected.
    public static let leastSamples = 5
    /// For how long the alarm is not repeated.
    public static let alarmPause = Duration.seconds(300)

    private struct State: Sendable {
        var samples = ClockSamples()
        var seen = 0
        var lastAlarm: ContinuousClock.Instant?
    }

    private let state = Locked(State())
    private let log: Log
    private let metrics: Metrics
    private let median: Gauge

    /// Nothing seen.
    public init(log: Log, metrics: Metrics) {
        self.log = log
        self.metrics = metrics
        median = metrics.gauge(.clockDifferenceMedianSeconds)
    }

    /// A request was taken whose timestamp lies `differenceSeconds` after our clock (negative: before).
    public func accepted(differenceSeconds: Int) {
        // One in sixteen is enough for a median, and the gauge costs sorting.
        let current = state.withLock { state -> Int? in
            state.seen &+= 1
            guard state.seen % 16 == 1 else { return nil }
            state.samples.add(differenceSeconds)
            return state.samples.median
        }
        if let current { median.set(current) }
    }

    /// A request was refused because its timestamp lies `differenceSeconds` after our clock (negative: before).
    public func refused(differenceSeconds: Int, at now: ContinuousClock.Instant) {
        metrics.counter(.timestampRejections, differenceSeconds > 0 ? "ahead" : "behind").add()
        metrics.histogram(.timestampRejectionDifferenceSeconds).observe(Double(differenceSeconds))
        let (current, mustAlarm) = state.withLock { state -> (Int, Bool) in
            state.samples.add(differenceSeconds)
            let current = state.samples.median ?? 0
            guard state.samples.count >= Self.leastSamples, abs(current) >= Self.alarmSeconds else {
                return (current, false)
            }
            if let last = state.lastAlarm, last.duration(to: now) < Self.alarmPause { return (current, false) }
            state.lastAlarm = now
            return (current, true)
        }
        median.set(current)
        if mustAlarm {
            log.error("check the clock: requests are refused for their timestamps", .clockDifferenceSeconds(current))
        }
    }

    /// The median of the latest differences; nil before the first request.
    public var medianSeconds: Int? { state.withLock { $0.samples.median } }
}

/// The latest differences, at most 64.
struct ClockSamples: Sendable {
    private var samples: [Int] = []
    private var next = 0

    var count: Int { samples.count }

    mutating func add(_ sample: Int) {
        // A year is as wrong as a century; the bound keeps sums and negations from overflowing.
        let sample = max(-31_536_000, min(31_536_000, sample))
        if samples.count < 64 { samples.append(sample) } else { samples[next] = sample }
        next = (next + 1) % 64
    }

    /// The middle one; of two, the one nearer to zero, so that one odd request alone never raises it.
    var median: Int? {
        guard !samples.isEmpty else { return nil }
        let sorted = samples.sorted()
        let upper = sorted[sorted.count / 2]
        guard sorted.count % 2 == 0 else { return upper }
        let lower = sorted[sorted.count / 2 - 1]
        return abs(lower) < abs(upper) ? lower : upper
    }
}
