public import Alexa
import Concurrency
import Crypto
public import Telemetry
public import Time

/// Sends what waits in the outbox: one lane after the other is leased, several at a time.
///
/// ``run()`` is the loop of `serve`; a posting in this process wakes it at once, what other processes post is seen
/// within a second. ``flush()`` is one pass, for the command and for places where no timer runs.
public final class EventWorker: Sendable {
    /// How many lanes are sent from at once.
    public static let laneLimit = 32
    /// How often the store is asked at least.
    private static let pollInterval = Duration.seconds(1)
    /// How often it is asked at most where something is due but cannot be had.
    private static let shortestPause = Duration.milliseconds(50)
    /// How long a lane is leased; what a process that died had leased is sent again after that.
    static let lease = Duration.seconds(4)
    /// How long the store may take.
    static let storeTime = Duration.seconds(5)
    /// How often old events are looked for, and the waiting ones counted.
    private static let tidyInterval = Duration.seconds(10)

    private struct State {
        var running = 0
        var isStopping = false
        var tidiedAt: ContinuousClock.Instant?
        var idle: [CheckedContinuation<Void, Never>] = []
    }

    let outbox: any Outbox
    let sending: EventSending
    let clock: WallClock
    let now: @Sendable () -> ContinuousClock.Instant
    let log: Log
    let quiet: QuietLog
    let metrics: Metrics
    let jitter: @Sendable () -> Double
    let beat: Duration
    let reports: DeviceReports
    private let owner = SecureRandom.uuid()
    private let wakeup = Wakeup()
    private let state = Locked(State())

    /// A worker over a store.
    ///
    /// - Parameters:
    ///   - store: the outbox and the grants.
    ///   - refreshing: keeps the tokens good.
    ///   - gateway: takes the events.
    ///   - clock: the time of day.
    ///   - now: the monotonic clock.
    ///   - log: gets a line a minute for each lane and trouble.
    ///   - metrics: counts what is sent, postponed and dropped.
    ///   - jitter: from 0 to 1, how much later than at least something is tried again.
    ///   - beat: how often a lane's lease, which is of 4 seconds, is extended while its events are sent.
    public init(
        store: any Outbox & GrantStore, refreshing: GrantRefreshing, gateway: EventGateway,
        clock: @escaping WallClock, now: @escaping @Sendable () -> ContinuousClock.Instant, log: Log,
        metrics: Metrics, jitter: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
        beat: Duration = .milliseconds(1500)
    ) {
        outbox = store
        sending = EventSending(store: store, refreshing: refreshing, gateway: gateway, now: now)
        self.clock = clock
        self.now = now
        self.log = log
        quiet = QuietLog(log: log, clock: clock)
        self.metrics = metrics
        self.jitter = jitter
        self.beat = beat
        reports = DeviceReports(
            outbox: store, clock: clock, now: now, log: log, metrics: metrics, posted: wakeup.wake)
    }

    /// Told what directives bring to light; events come of it while ``run()`` runs.
    public var reporting: any DeviceReporting { reports }

    /// Looks at once whether something is to be sent; does not wait.
    public func wake() { wakeup.wake() }

    /// Whether it was told to stop.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    var deadline: Deadline { .after(Self.storeTime, from: now()) }

    /// Sends until the task is cancelled or ``stop(within:)`` is called.
    public func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.reports.run() }
            while !Task.isCancelled, !isStopping {
                do throws(OutboxError) {
                    if let lane = try await leasedLane() {
                        group.addTask { await self.work(on: lane, counts: nil) }
                        continue
                    }
                } catch { tell(error) }
                await tidy()
                await wakeup.wait(await pause())
            }
            reports.finish()
        }
    }
}

extension EventWorker {
    /// Sends what is due until nothing is due.
    ///
    /// - Returns: What it did.
    /// - Throws: `OutboxError` where the store does not answer.
    public func flush() async throws(OutboxError) -> FlushReport {
        let counts = FlushCounts()
        counts.count(expired: try await dropExpired())
        let failure = await withDiscardingTaskGroup(returning: OutboxError?.self) { group in
            while !Task.isCancelled {
                // Who leaves a lane may leave something that is due.
                let wasIdle = isIdle
                do throws(OutboxError) {
                    if let lane = try await leasedLane() {
                        group.addTask { await self.work(on: lane, counts: counts) }
                    } else if wasIdle {
                        break
                    } else {
                        await wakeup.wait(Self.pollInterval)
                    }
                } catch { return error }
            }
            return nil
        }
        if let failure { throw failure }
        var report = counts.report
        report.waiting = try await outbox.waitingRows(by: deadline)
        return report
    }

    /// Leases nothing more and waits until what is under way has ended, at most for `duration`.
    ///
    /// What is not sent by then stays in the store.
    public func stop(within duration: Duration) async {
        state.withLock { $0.isStopping = true }
        wakeup.wake()
        reports.finish()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.becomeIdle() }
            group.addTask { try? await Task.sleep(for: duration) }
            _ = await group.next()
            group.cancelAll()
        }
    }

    private func becomeIdle() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Asked once: between two answers the task may be cancelled, and who waits be told twice.
                let isWaiting = state.withLock { state in
                    let isWaiting = state.running > 0 && !Task.isCancelled
                    if isWaiting { state.idle.append(continuation) }
                    return isWaiting
                }
                if !isWaiting { continuation.resume() }
            }
        } onCancel: {
            wakeIdle()
        }
    }

    private func wakeIdle() {
        let idle = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
        for continuation in idle { continuation.resume() }
    }

    private var isIdle: Bool { state.withLock { $0.running == 0 } }

    func laneIsDone() {
        leavePlace()
        wakeup.wake()
    }
}

extension EventWorker {
    /// The next lane, unless enough of them are under way or the worker stops.
    private func leasedLane() async throws(OutboxError) -> LeasedLane? {
        let isTaken = state.withLock { state in
            guard !state.isStopping, state.running < Self.laneLimit else { return false }
            state.running += 1
            return true
        }
        guard isTaken else { return nil }
        do throws(OutboxError) {
            if let lane = try await outbox.leaseLane(owner: owner, for: Self.lease, by: deadline) { return lane }
        } catch {
            leavePlace()
            throw error
        }
        leavePlace()
        return nil
    }

    private func leavePlace() {
        let isIdle = state.withLock { state in
            state.running -= 1
            return state.running == 0
        }
        if isIdle { wakeIdle() }
    }

    /// How long nothing is due, as far as this process can know.
    private func pause() async -> Duration {
        guard let next = try? await outbox.nextDue(by: deadline) else { return Self.pollInterval }
        let milliseconds = next.milliseconds(since: clock())
        return min(max(.milliseconds(milliseconds), Self.shortestPause), Self.pollInterval)
    }

    /// Drops what is too old and counts what waits, from time to time.
    private func tidy() async {
        let now = now()
        let isDue = state.withLock { state in
            if let last = state.tidiedAt, last.duration(to: now) < Self.tidyInterval { return false }
            state.tidiedAt = now
            return true
        }
        guard isDue else { return }
        do throws(OutboxError) {
            try await dropExpired()
            metrics.gauge(.eventsWaiting).set(try await outbox.waitingRows(by: deadline))
        } catch { tell(error) }
    }

    @discardableResult
    private func dropExpired() async throws(OutboxError) -> Int {
        let dropped = try await outbox.dropExpired(by: deadline)
        for (kind, count) in dropped {
            metrics.counter(.eventsDropped, "events.expired").add(count)
            log.notice(
                "events were given up since they are too old", .rejection("events.expired"),
                .requestType(kind.rawValue), .count(count))
        }
        return dropped.values.reduce(0, +)
    }

    private func tell(_ error: OutboxError) {
        switch error {
        case .unavailable(let reason): quiet.line(.error, "the outbox does not answer", "events.store", detail: reason)
        case .timedOut, .tooLarge: quiet.line(.error, "the outbox does not answer", "events.store")
        }
    }
}
