import Concurrency
import OAuth
import Telemetry
import Time

/// Learns of what other processes changed in the store: revoked grants, signing keys and users.
///
/// Nothing but one number is read each second; the rest is read where that number has moved.
public final class ChangeWatch: Sendable {
    private static let pause = Duration.seconds(1)
    private static let patience = Duration.seconds(5)
    private static let pruning = Duration.seconds(3600)

    private let server: AuthorizationServer
    private let store: any ProviderStore
    private let keys: SigningKeys
    private let users: UserDirectory?
    private let clock: WallClock
    private let now: @Sendable () -> ContinuousClock.Instant
    private let log: Log
    private let seen = Locked<Int64?>(nil)

    init(
        server: AuthorizationServer, store: any ProviderStore, keys: SigningKeys, users: UserDirectory?,
        clock: @escaping WallClock, now: @escaping @Sendable () -> ContinuousClock.Instant, log: Log
    ) {
        self.server = server
        self.store = store
        self.keys = keys
        self.users = users
        self.clock = clock
        self.now = now
        self.log = log
    }

    /// Looks once, and takes over what changed since the last look.
    ///
    /// - Returns: whether something had changed.
    /// - Throws: what the store throws; the next look tries again.
    @discardableResult
    public func check() async throws -> Bool {
        let deadline = Deadline.after(Self.patience, from: now())
        let start = clock()
        // The number is read first: what changes while the rest is read is seen at the next look.
        let counter = try await store.changeCounter(by: deadline)
        defer { users?.confirm(at: start) }
        guard seen.withLock({ $0 }) != counter else { return false }
        users?.forget()
        try await server.loadRevocations(by: deadline)
        try await keys.reload()
        seen.withLock { $0 = counter }
        return true
    }

    /// Looks each second, and clears the store up each hour, until the task is cancelled.
    public func run() async {
        var failed = false
        var pruneAt = now()
        while !Task.isCancelled {
            do {
                try await check()
                failed = false
            } catch {
                if !failed { log.error("changes of other processes are not seen", .detail("\(error)")) }
                failed = true
            }
            if now() >= pruneAt {
                pruneAt = now().advanced(by: Self.pruning)
                do throws(ProviderStoreError) {
                    let count = try await server.prune(by: .after(Self.patience, from: now()))
                    if count > 0 { log.info("old codes and tokens were dropped", .count(count)) }
                } catch { log.error("old codes cannot be dropped", .detail("\(error)")) }
            }
            try? await Task.sleep(for: Self.pause)
        }
    }
}
