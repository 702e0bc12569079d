public import Foundation
internal import LinkMessages

/// Makes the state of a link, and judges the one that comes back.
///
/// The encoding is that of Amazon's sample for apps. What differs is that each state is good once, and that the state
/// of the redirect is the one to post: the sample's status screen makes a new one there, which no server can know.
public struct StateHelper: Sendable {
    /// How long a state is good.
    public static let lifetimeSeconds = 3600
    /// How many bytes of a state nobody can guess.
    public static let randomBytes = 30

    private let store: any StateStore
    private let prefix: String
    private let now: @Sendable () -> Date

    /// A helper that keeps its states in `store`.
    ///
    /// - Parameters:
    ///   - store: Where states wait.
    ///   - prefix: The first part of the states made here: letters and digits.
    ///   - now: The clock; tests bring their own.
    public init(store: any StateStore, prefix: String = "iOS", now: @escaping @Sendable () -> Date = { Date() }) {
        self.store = store
        self.prefix = prefix
        self.now = now
    }

    /// Makes a state and keeps it.
    ///
    /// - Returns: The state.
    /// - Throws: What the store throws.
    public func generateState() async throws -> String {
        // The system's generator is a secure one on every platform.
        var generator = SystemRandomNumberGenerator()
        let random = (0..<Self.randomBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let time = now()
        let state = LinkState.make(prefix: prefix, at: Int64(time.timeIntervalSince1970), random: random)
        try await store.keep(state, since: time)
        return state
    }

    /// Keeps a state that the service made.
    ///
    /// - Throws: What the store throws.
    public func keep(_ state: String) async throws {
        try await store.keep(state, since: now())
    }

    /// Judges a state that came back, and spends it whatever comes out.
    ///
    /// - Returns: Whether the redirect belongs to a link that this app began.
    /// - Throws: What the store throws.
    public func spend(_ state: String) async throws -> StateVerdict {
        guard let since = try await store.take(state) else { return .unknown }
        var age = now().timeIntervalSince(since)
        if let parts = LinkState.parts(of: state) {
            // The sample judges by the time inside.
            age = max(age, now().timeIntervalSince1970.rounded(.down) - Double(parts.seconds))
        }
        return age <= Double(Self.lifetimeSeconds) ? .valid : .expired
    }
}

/// What a state that came back is worth.
public enum StateVerdict: Hashable, Sendable {
    /// A link that this app began, within the hour.
    case valid
    /// A state that this app did not make, or that came back before.
    case unknown
    /// A link that was begun more than an hour ago.
    case expired
}
