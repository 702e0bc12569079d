import Alexa
import Concurrency

/// A lane's lease while its events are sent; nil once it is lost or given back.
final class HeldLane: Sendable {
    private let state: Locked<LaneLease?>

    init(_ lease: LaneLease) { state = Locked(lease) }

    /// The lease as it was last extended.
    var lease: LaneLease? {
        get { state.withLock { $0 } }
        set {
            // What was given back is not taken again by an extension that was under way.
            state.withLock { lease in if lease != nil { lease = newValue } }
        }
    }
}

/// What one pass over the outbox did.
public struct FlushReport: Hashable, Sendable {
    /// How many events the gateway took.
    public var sent = 0
    /// How many were given up: refused for good, too old, or of a user whose grant ended.
    public var dropped = 0
    /// How many tries will be made again.
    public var postponed = 0
    /// How many events still wait.
    public var waiting = 0

    /// A pass that did nothing.
    public init() {}
}

/// Counts while several lanes are sent from.
final class FlushCounts: Sendable {
    private let counts = Locked(FlushReport())

    var report: FlushReport { counts.withLock { $0 } }

    func count(_ verdict: SendVerdict) {
        counts.withLock { counts in
            switch verdict {
            case .sent: counts.sent += 1
            case .dropped: counts.dropped += 1
            case .postponed: counts.postponed += 1
            case .suspended, .ended, .grantGone, .stopped: break
            }
        }
    }

    func count(expired: Int) { counts.withLock { $0.dropped += expired } }
}
