import Concurrency
import Crypto
public import OAuth
public import Time

/// The users of the embedded provider: those of the users file, and those of the store.
///
/// A user of the file is found in memory without waiting, and hides one of the store with the same subject or username.
/// What the store says of a subject is kept for tokens, which are judged many times a second; sign-ins, sessions and
/// what gives out codes and tokens ask the store itself.
public final class UserDirectory: Sendable {
    /// How many answers of the store are kept.
    public static let keptLimit = 10_000
    /// How old an answer may be that nothing has confirmed since.
    ///
    /// Where a ``ChangeWatch`` runs it confirms them each second, and empties the directory when something changed. A
    /// replay runs none, nor does a function that is frozen between two requests, and a store that is out of reach
    /// confirms nothing: there an answer ends by itself, so that a disabled user is refused after this time everywhere.
    /// It is measured by the wall clock, since the other one may stand still while a function is frozen.
    static let trustedMilliseconds: Int64 = 5000

    private struct Kept: Sendable {
        /// Nil for nobody.
        let user: Users.User?
        let readAt: UnixTime
    }

    private struct State: Sendable {
        var kept = BoundedCache<String, Kept>(capacity: UserDirectory.keptLimit)
        /// What is kept was still right then.
        var confirmedAt = UnixTime(milliseconds: .min)
        /// Rises when everything is forgotten: what was asked before is not kept afterwards.
        var generation = 0
    }

    /// The users of the file.
    public let file: Users
    private let byUsername: [[UInt8]: Users.User]
    private let store: any UserStore
    private let clock: WallClock
    private let state = Locked(State())

    /// The users of `file` and of `store`.
    public init(file: Users, store: any UserStore, clock: @escaping WallClock) {
        self.file = file
        self.store = store
        self.clock = clock
        byUsername = Dictionary(file.all.map { (Array($0.username.utf8), $0) }) { first, _ in first }
    }

    // MARK: For tokens

    /// The user of that subject, by what is kept for some seconds.
    ///
    /// - Throws: `ProviderStoreError` where nothing is kept and the store does not answer.
    public func user(subject: String, by deadline: Deadline) async throws(ProviderStoreError) -> Users.User? {
        if let known = known(subject) { return known.user }
        return try await stored(subject, by: deadline)
    }

    /// Whether tokens of a user are taken: of those who exist and are not disabled.
    public var check: SubjectCheck {
        SubjectCheck(
            known: { self.known($0).map { $0.user?.isDisabled == false } },
            ask: { (subject, deadline) async throws(ProviderStoreError) in
                try await self.user(subject: subject, by: deadline)?.isDisabled == false
            })
    }

    /// What is known without asking; nil where the store has to be asked.
    private func known(_ subject: String) -> Known? {
        if let user = file[subject] { return Known(user: user) }
        let now = clock()
        return state.withLock { state in
            guard let kept = state.kept.value(for: subject) else { return nil }
            let age = now.milliseconds - max(kept.readAt, state.confirmedAt).milliseconds
            // A clock that was put back makes an age that says nothing.
            guard (0..<Self.trustedMilliseconds).contains(age) else { return nil }
            return Known(user: kept.user)
        }
    }

    private struct Known {
        let user: Users.User?
    }

    // MARK: For sign-ins, sessions and what gives out codes and tokens

    /// The user of that subject, as the store has it now, which tokens that follow are judged by too.
    ///
    /// - Throws: `ProviderStoreError` where the store does not answer.
    public func current(subject: String, by deadline: Deadline) async throws(ProviderStoreError) -> Users.User? {
        if let user = file[subject] { return user }
        return try await stored(subject, by: deadline)
    }

    /// The user who signs in by that name, as the store has it now.
    ///
    /// - Throws: `ProviderStoreError` where the store does not answer.
    public func user(named username: String, by deadline: Deadline) async throws(ProviderStoreError) -> Users.User? {
        if let user = byUsername[Array(username.utf8)] { return user }
        // Strangers choose the name, so the answer is not kept: they could fill the memory with nobodies.
        guard let user = try await store.user(named: username, by: deadline), file[user.subject] == nil else {
            return nil
        }
        return try Users.User(user)
    }

    private func stored(_ subject: String, by deadline: Deadline) async throws(ProviderStoreError) -> Users.User? {
        let generation = state.withLock { $0.generation }
        let readAt = clock()
        let stored = try await store.user(subject: subject, by: deadline)
        let user = try stored.map { (stored) throws(ProviderStoreError) in try Users.User(stored) }
        state.withLock { state in
            guard state.generation == generation else { return }
            state.kept.insert(Kept(user: user, readAt: readAt), for: subject)
        }
        return user
    }

    // MARK: Changes

    /// Forgets what the store said: something changed.
    func forget() {
        state.withLock { state in
            state.kept = BoundedCache(capacity: Self.keptLimit)
            state.generation += 1
        }
    }

    /// Notes that nothing had changed at `moment`.
    func confirm(at moment: UnixTime) { state.withLock { $0.confirmedAt = moment } }
}

extension Users.User {
    /// A user of the store.
    fileprivate init(_ stored: StoredUser) throws(ProviderStoreError) {
        guard let hash = PasswordHash(phc: stored.passwordHash.exposed) else {
            throw .unavailable("the password hash of a stored user cannot be read")
        }
        self.init(
            subject: stored.subject, username: stored.username, credential: .hash(hash), name: stored.name,
            email: stored.email, locale: stored.locale, isDisabled: stored.isDisabled)
    }
}
