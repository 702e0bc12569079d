import Glibc
import Time

/// The time of day of this machine.
enum SystemClock {
    static var now: UnixTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UnixTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// The time of day, put forward or back.
    static func clock(offsetSeconds: Int64) -> WallClock {
        if offsetSeconds == 0 { return { now } }
        return { now.adding(seconds: offsetSeconds) }
    }
}
