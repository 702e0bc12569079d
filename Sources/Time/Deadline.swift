/// The moment by which an answer must have left; it travels with the request into every call behind it.
public struct Deadline: Hashable, Comparable, Sendable {
    /// The moment, by the monotonic clock.
    public let instant: ContinuousClock.Instant

    /// A deadline at `instant`.
    public init(at instant: ContinuousClock.Instant) { self.instant = instant }

    /// The deadline `duration` after `now`.
    public static func after(_ duration: Duration, from now: ContinuousClock.Instant) -> Deadline {
        Deadline(at: now.advanced(by: duration))
    }

    /// What is left at `now`; zero where it has passed.
    public func remaining(at now: ContinuousClock.Instant) -> Duration { max(.zero, now.duration(to: instant)) }

    /// The earlier of this deadline and the moment `duration` after `now`.
    public func limited(to duration: Duration, from now: ContinuousClock.Instant) -> Deadline {
        min(self, .after(duration, from: now))
    }

    /// Whether `left` comes before `right`.
    public static func < (left: Deadline, right: Deadline) -> Bool { left.instant < right.instant }
}
