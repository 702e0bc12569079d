public import Crypto
public import Time

/// Where the provider keeps what it gave out; every write is on disk before its call returns.
///
/// Codes and refresh tokens are known by the SHA-256 hash of theirs alone, in hexadecimal.
public protocol ProviderStore: Sendable {
    /// Stores a grant and the code that it is redeemed by.
    func add(_ grant: ProviderGrant, code: CodeRecord, by deadline: Deadline) async throws(ProviderStoreError)

    /// The code of that hash and its grant.
    func code(hash: String, by deadline: Deadline) async throws(ProviderStoreError) -> StoredCode?

    /// Uses the code up, and stores the refresh token of that hash where one is given, in one step.
    ///
    /// Of several calls for one code exactly one is told ``CodeRedemption/redeemed``.
    func redeem(
        codeHash: String, refreshTokenHash: String?, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> CodeRedemption

    /// Uses the code up without giving anything for it.
    func spend(codeHash: String, at now: UnixTime, by deadline: Deadline) async throws(ProviderStoreError)

    /// Deletes a code that nobody has used, and its grant; says whether there was one.
    @discardableResult
    func withdraw(codeHash: String, by deadline: Deadline) async throws(ProviderStoreError) -> Bool

    /// The refresh token of that hash and its grant.
    func refreshToken(hash: String, by deadline: Deadline) async throws(ProviderStoreError) -> StoredRefreshToken?

    /// Replaces the refresh token of that hash by another, in one step, and keeps what is answered.
    ///
    /// Of several calls for one token exactly one is told ``Rotation/rotated``; the others within `graceSeconds` get its
    /// answer.
    func rotate(
        refreshTokenHash: String, to newHash: String, answer: Secret, graceSeconds: Int64, at now: UnixTime,
        by deadline: Deadline
    ) async throws(ProviderStoreError) -> Rotation

    /// Notes that the grant was used.
    func touchProviderGrant(_ id: String, at now: UnixTime, by deadline: Deadline) async throws(ProviderStoreError)

    /// The user's grants that were redeemed and not revoked, newest first.
    func providerGrants(of subject: String, by deadline: Deadline) async throws(ProviderStoreError) -> [ProviderGrant]

    /// Revokes a grant and counts that as a change; false where there is none that was not revoked.
    @discardableResult
    func revokeProviderGrant(
        _ id: String, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> Bool

    /// Revokes the user's grants, those of one client or all; their ids.
    func revokeProviderGrants(
        of subject: String, client: String?, at now: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> [String]

    /// The grants that were revoked at `moment` or later, and when.
    func revokedProviderGrants(
        since moment: UnixTime, by deadline: Deadline
    ) async throws(ProviderStoreError) -> [String: UnixTime]

    /// The secret key of that name; `proposal` where there was none, in one step.
    func secretKey(
        named name: String, else proposal: [UInt8], by deadline: Deadline
    ) async throws(ProviderStoreError) -> [UInt8]

    /// How often something changed that other processes must learn of: a revocation, a signing key.
    func changeCounter(by deadline: Deadline) async throws(ProviderStoreError) -> Int64

    /// Forgets codes, replaced tokens and revoked grants that nothing is gained by remembering; says how many.
    @discardableResult
    func pruneProvider(before moments: ProviderPruning, by deadline: Deadline) async throws(ProviderStoreError) -> Int
}

/// Why the provider's store did not do what was asked.
public enum ProviderStoreError: Error, Hashable, Sendable {
    /// The deadline passed first; a write may have been done or not.
    case timedOut
    /// The store does not answer; nothing of the text is secret.
    case unavailable(String)
}

/// Until when what is of no use any more is kept.
public struct ProviderPruning: Sendable, Hashable {
    /// Codes that ended before go, with their grants where nobody redeemed them.
    public var codes: UnixTime
    /// Replaced refresh tokens go that were replaced before.
    public var replacedTokens: UnixTime
    /// Grants go that were revoked before: the last access token of theirs has ended.
    public var revokedGrants: UnixTime

    /// Moments to prune by.
    public init(codes: UnixTime, replacedTokens: UnixTime, revokedGrants: UnixTime) {
        self.codes = codes
        self.replacedTokens = replacedTokens
        self.revokedGrants = revokedGrants
    }
}
