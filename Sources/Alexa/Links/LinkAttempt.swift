public import Crypto
public import Time

/// A state that was given out: whose it is, and for what.
///
/// It is good for one use, by one user, for one skill, within the hour.
public struct LinkAttempt: Hashable, Sendable {
    /// SHA-256 of the state, in hexadecimal; the state itself is never stored.
    public let stateHash: String
    /// The user, as the provider names them (`sub`).
    public let subject: String
    /// The skill's name in the configuration.
    public let skill: String
    /// The redirect URI that goes into both addresses, and into the exchange at Login with Amazon.
    public let redirectURI: String
    /// The verifier of the challenge, where one was sent (RFC 7636).
    public let verifier: Secret?
    /// Where the user began.
    public let flow: Link.Flow
    /// The mark of the browser that began it; nil where an app did.
    public let browser: String?
    /// Where the browser goes in the end, where the company's site asked for that.
    public let returnURL: String?
    /// The trace of the attempt.
    public let traceID: String
    /// When the state was given out.
    public let createdAt: UnixTime
    /// From when on it is no longer good.
    public let expiresAt: UnixTime
    /// When it came back; nil while it has not.
    public let usedAt: UnixTime?

    /// A state that is given out.
    public init(
        stateHash: String, subject: String, skill: String, redirectURI: String, verifier: Secret? = nil,
        flow: Link.Flow, browser: String? = nil, returnURL: String? = nil, traceID: String, createdAt: UnixTime,
        expiresAt: UnixTime, usedAt: UnixTime? = nil
    ) {
        self.stateHash = stateHash
        self.subject = subject
        self.skill = skill
        self.redirectURI = redirectURI
        self.verifier = verifier
        self.flow = flow
        self.browser = browser
        self.returnURL = returnURL
        self.traceID = traceID
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.usedAt = usedAt
    }
}

/// What requests of Alexa's teach: an Alexa user of a skill sends the tokens of this user of ours.
public struct LinkJoin: Hashable, Sendable {
    /// The skill's name in the configuration.
    public let skill: String
    /// The Alexa user, by the id that the skill's requests carry.
    public let alexaUserID: String
    /// The user, as the provider names them (`sub`).
    public let subject: String
    /// The provider's grant that the token named; nil where it names none.
    public let providerGrantID: String?
    /// The region that the request came from, where it says so.
    public let region: AlexaRegion?
    /// When a request first said so, of this user.
    public let firstSeenAt: UnixTime
    /// When a request last said so.
    public let seenAt: UnixTime

    /// What a request of `seenAt` teaches; a store keeps the first one's time.
    public init(
        skill: String, alexaUserID: String, subject: String, providerGrantID: String? = nil,
        region: AlexaRegion? = nil, seenAt: UnixTime, firstSeenAt: UnixTime? = nil
    ) {
        self.skill = skill
        self.alexaUserID = alexaUserID
        self.subject = subject
        self.providerGrantID = providerGrantID
        self.region = region
        self.firstSeenAt = firstSeenAt ?? seenAt
        self.seenAt = seenAt
    }
}
