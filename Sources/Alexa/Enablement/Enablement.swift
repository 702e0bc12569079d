/// What Alexa says of one user's use of a skill.
public struct Enablement: Hashable, Sendable {
    /// Whether the accounts are linked.
    public enum AccountLink: Hashable, Sendable {
        /// `LINKED`
        case linked
        /// `NOT_LINKED`
        case notLinked
        /// Anything else, as it was sent, cut to 64 characters.
        case other(String)
    }

    /// Whether the accounts are linked; nil where the answer does not say.
    public var accountLink: AccountLink?
    /// Whether the skill is enabled: `ENABLED`, `ENABLING` and so on, cut to 64 characters.
    public var status: String?
    /// The Alexa user, by the id that the skill's requests and events carry.
    public var alexaUserID: String?
    /// The skill's stage.
    public var stage: String?

    /// What an answer says.
    public init(
        accountLink: AccountLink? = nil, status: String? = nil, alexaUserID: String? = nil, stage: String? = nil
    ) {
        self.accountLink = accountLink
        self.status = status
        self.alexaUserID = alexaUserID
        self.stage = stage
    }
}
