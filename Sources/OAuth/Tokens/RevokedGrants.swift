import Concurrency
public import Time

/// The grants whose tokens are refused although they are good in themselves.
///
/// An id is held until the last token of its grant has ended, and then forgotten, so the memory follows the number of
/// revocations within one token life.
public final class RevokedGrants: Sendable {
    private struct State: Sendable {
        var ends: [String: UnixTime] = [:]
        var pruneAt = 1024
    }

    private let state = Locked(State())

    /// No grant.
    public init() {}

    /// Refuses the tokens of `grantID`, of which the last one ends at `end`.
    public func revoke(_ grantID: String, until end: UnixTime, now: UnixTime) {
        state.withLock { state in
            state.ends[grantID] = max(end, state.ends[grantID] ?? end)
            guard state.ends.count >= state.pruneAt else { return }
            state.ends = state.ends.filter { $0.value > now }
            state.pruneAt = max(1024, state.ends.count * 2)
        }
    }

    /// Whether the tokens of `grantID` are refused.
    public func contains(_ grantID: String) -> Bool {
        state.withLock { $0.ends[grantID] != nil }
    }
}
