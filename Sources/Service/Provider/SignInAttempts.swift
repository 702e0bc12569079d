import Concurrency

/// Counts wrong passwords: an account is closed for a while, an address is slowed, and on the form only.
///
/// Names that no user has count as the others do, so that nobody learns which exist.
final class SignInAttempts: Sendable {
    /// Wrong passwords for one account within the window.
    static let accountLimit = 10
    static let accountWindow: Duration = .seconds(900)
    /// Wrong passwords from one address within its window, before it is slowed.
    static let addressLimit = 30
    static let addressWindow: Duration = .seconds(60)
    /// How far apart a slowed address's attempts are.
    static let addressPause: Duration = .seconds(2)

    private struct Count {
        var since: ContinuousClock.Instant
        var last: ContinuousClock.Instant
        var wrong = 0
    }

    private struct Counts {
        var accounts = BoundedCache<String, Count>(capacity: 10_000)
        var addresses = BoundedCache<String, Count>(capacity: 10_000)
    }

    private let counts = Locked(Counts())
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant) { self.now = now }

    /// For how long an attempt must wait; nil where it may be judged.
    ///
    /// An attempt counts as wrong before it is judged, so that many at one moment are no more than the limit.
    func begin(username: String, address: String) -> Duration? {
        let now = now()
        return counts.withLock { counts in
            var account = Self.count(counts.accounts.value(for: username), Self.accountWindow, now)
            var peer = Self.count(counts.addresses.value(for: address), Self.addressWindow, now)
            if account.wrong >= Self.accountLimit { return now.duration(to: account.since + Self.accountWindow) }
            if peer.wrong >= Self.addressLimit, now < peer.last + Self.addressPause {
                return now.duration(to: peer.last + Self.addressPause)
            }
            account.wrong += 1
            peer.wrong += 1
            peer.last = now
            counts.accounts.insert(account, for: username)
            counts.addresses.insert(peer, for: address)
            return nil
        }
    }

    /// The attempt was right, or nobody judged it: it does not count.
    func forgive(username: String, address: String, isRight: Bool) {
        counts.withLock { counts in
            if isRight {
                _ = counts.accounts.remove(username)
            } else if var account = counts.accounts.value(for: username), account.wrong > 0 {
                account.wrong -= 1
                counts.accounts.insert(account, for: username)
            }
            if var peer = counts.addresses.value(for: address), peer.wrong > 0 {
                peer.wrong -= 1
                counts.addresses.insert(peer, for: address)
            }
        }
    }

    private static func count(_ known: Count?, _ window: Duration, _ now: ContinuousClock.Instant) -> Count {
        if let known, now < known.since + window { return known }
        return Count(since: now, last: now)
    }
}
