public import Alexa
public import Crypto
public import OAuth
public import Time

/// Whoever keeps which Alexa user is which user of the provider, so that links are listed and ended.
public protocol AlexaUserJoins: Sendable {
    /// A verified request of that Alexa user came with a good token; called before the answer leaves, so it may not wait.
    func saw(_ alexaUserID: String, of skill: String, as principal: Principal, region: AlexaRegion?)

    /// The Alexa user disabled the skill at that time; `token` is ours where the event brought it.
    ///
    /// - Throws: where it was not done, and the event must come again.
    func disabled(_ alexaUserID: String, of skill: String, at moment: UnixTime, token: Secret?) async throws
}
