/// Decides whether a server that fails is asked at all.
///
/// It opens after five failures within ten seconds without a success between them; then one call every five seconds
/// is let through, and the first success closes it. A failure is a connection that does not come about or breaks, a
/// time limit, or a 5xx; any other answer is a success, since the server is there.
public struct CircuitBreaker: Sendable, Hashable {
    /// How many failures open it.
    public static let failureLimit = 5
    /// Within which time.
    public static let window = Duration.seconds(10)
    /// How long lies between two trials.
    public static let trialPause = Duration.seconds(5)

    private var failures: [ContinuousClock.Instant] = []
    private var nextTrial: ContinuousClock.Instant?

    /// A closed one.
    public init() {}

    /// Whether calls are refused, but for trials.
    public var isOpen: Bool { nextTrial != nil }

    /// Whether a call may go ahead; where it is a trial, the next one is due a pause later.
    public mutating func allows(at now: ContinuousClock.Instant) -> Bool {
        guard let trial = nextTrial else { return true }
        guard now >= trial else { return false }
        nextTrial = now.advanced(by: Self.trialPause)
        return true
    }

    /// A call was answered.
    public mutating func succeeded() {
        failures = []
        nextTrial = nil
    }

    /// A call failed.
    public mutating func failed(at now: ContinuousClock.Instant) {
        guard nextTrial == nil else { return }
        failures.removeAll { $0.duration(to: now) > Self.window }
        failures.append(now)
        guard failures.count >= Self.failureLimit else { return }
        failures = []
        nextTrial = now.advanced(by: Self.trialPause)
    }
}
