import Crypto
import OAuth
import Time

/// The sessions that their users signed out of: a cookie that was copied before is good no more either.
struct EndedSessions: Sendable {
    let store: any UserStore
    let clock: WallClock

    /// Ends the session of that id, whose cookie lasts `seconds` at most.
    func end(_ id: String, seconds: Int64, by deadline: Deadline) async throws(ProviderStoreError) {
        let now = clock()
        try await store.endSession(hash: Self.hash(id), until: now.adding(seconds: seconds), at: now, by: deadline)
    }

    /// Whether it was ended.
    func hold(_ id: String, by deadline: Deadline) async throws(ProviderStoreError) -> Bool {
        try await store.isSessionEnded(hash: Self.hash(id), by: deadline)
    }

    private static func hash(_ id: String) -> String { Hex.encode(SHA256.digest("session." + id)) }
}
