import Concurrency
public import Time

/// A clock that stands still until the test moves it; both of its hands move together.
public final class ManualClock: Sendable {
    private let state: Locked<(wall: UnixTime, monotonic: ContinuousClock.Instant)>

    /// 2025-01-15T10:00:00Z, where the clock of most tests stands.
    public static let start = UnixTime(seconds: 1_736_935_200)

    /// A clock that stands at `now`.
    public init(_ now: UnixTime = ManualClock.start) { state = Locked((now, ContinuousClock.now)) }

    /// The time of day.
    public var now: UnixTime { state.withLock { $0.wall } }
    /// The time that durations are measured by.
    public var instant: ContinuousClock.Instant { state.withLock { $0.monotonic } }

    /// The time of day, as modules take it.
    public var wall: WallClock { { self.now } }
    /// The time that durations are measured by, as modules take it.
    public var monotonic: @Sendable () -> ContinuousClock.Instant { { self.instant } }

    /// A deadline `duration` from now.
    public func deadline(in duration: Duration = .seconds(7)) -> Deadline { .after(duration, from: instant) }

    /// Moves both hands forward.
    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        state.withLock { state in
            state.wall = state.wall.adding(milliseconds: milliseconds)
            state.monotonic = state.monotonic.advanced(by: duration)
        }
    }

    /// Sets the time of day alone, as a wrong clock that somebody mends.
    public func set(_ now: UnixTime) { state.withLock { $0.wall = now } }
}
