public import Crypto
public import Time

/// Where the embedded provider keeps its users, beside those of the users file; every write is on disk before its call
/// returns.
///
/// Names and subjects are compared byte by byte, as the sign-in compares them. Each write counts as a change that other
/// processes learn of, see `ProviderStore.changeCounter(by:)`.
public protocol UserStore: Sendable {
    /// Adds a user unless the username or the subject is taken, in one step.
    func add(_ user: StoredUser, by deadline: Deadline) async throws(ProviderStoreError) -> UserAddition

    /// The user of that subject.
    func user(subject: String, by deadline: Deadline) async throws(ProviderStoreError) -> StoredUser?

    /// The user of that username.
    func user(named username: String, by deadline: Deadline) async throws(ProviderStoreError) -> StoredUser?

    /// At most `limit` users in the order of their usernames, beginning after `username`.
    func users(
        after username: String?, limit: Int, by deadline: Deadline
    ) async throws(ProviderStoreError) -> [StoredUser]

    /// Disables a user and revokes every grant of theirs in the same step, or enables them again.
    ///
    /// False where there is no such user.
    @discardableResult
    func setUser(
        _ subject: String, isDisabled: Bool, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> Bool

    /// Gives a user another password and revokes every grant of theirs in the same step.
    ///
    /// False where there is no such user.
    @discardableResult
    func setPasswordHash(
        _ hash: Secret, of subject: String, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> Bool

    /// Compares the users file with what it was at the last start, in one step: `marks` has a mark by subject, another
    /// one for another password.
    ///
    /// The grants of subjects whose mark is another one now, or who have none any more, are revoked. A subject without
    /// an earlier mark keeps its grants. The marks are kept for the next start.
    ///
    /// - Returns: the subjects whose grants were to be revoked, sorted.
    func compareUsersFile(
        marks: [String: String], at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> [String]

    /// Ends a browser's session, wherever its cookie was copied to; forgets it at `end`, when the cookie ends by itself.
    func endSession(
        hash: String, until end: UnixTime, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError)

    /// Whether the session of that hash was ended.
    func isSessionEnded(hash: String, by deadline: Deadline) async throws(ProviderStoreError) -> Bool
}

/// One user as the store keeps it.
public struct StoredUser: Sendable, Hashable {
    /// The id in tokens, `sub`.
    public let subject: String
    /// What the user types at the sign-in.
    public let username: String
    /// The password's hash, a PHC string.
    public var passwordHash: Secret
    /// The name to show.
    public let name: String
    /// The address, where it is known.
    public let email: String?
    /// The language, `en-US` for example.
    public let locale: String?
    /// Whether the user may do nothing at present.
    public var isDisabled: Bool
    /// When the user was added.
    public let createdAt: UnixTime

    /// A user.
    public init(
        subject: String, username: String, passwordHash: Secret, name: String, email: String? = nil,
        locale: String? = nil, isDisabled: Bool = false, createdAt: UnixTime
    ) {
        self.subject = subject
        self.username = username
        self.passwordHash = passwordHash
        self.name = name
        self.email = email
        self.locale = locale
        self.isDisabled = isDisabled
        self.createdAt = createdAt
    }
}

/// What came of adding a user.
public enum UserAddition: Sendable, Hashable {
    /// The user is stored.
    case added
    /// Another user has that username.
    case usernameTaken
    /// Another user has that subject.
    case subjectTaken
}
