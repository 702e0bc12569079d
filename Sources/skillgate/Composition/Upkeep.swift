import Storage
import Telemetry
import Time

/// What is done from time to time while the service runs.
struct Upkeep: Sendable {
    let store: SQLiteStore
    let clock: WallClock
    let log: Log
    let keepDays: Int

    private static let pause = Duration.seconds(3600)

    /// Drops old traces at once and every hour, until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            do {
                let dropped = try await store.prune(before: clock().adding(seconds: -Int64(keepDays) * 86_400))
                if dropped > 0 { log.info("old traces were dropped", .count(dropped)) }
            } catch { log.error("old traces cannot be dropped", .detail("\(error)")) }
            try? await Task.sleep(for: Self.pause)
        }
    }
}
