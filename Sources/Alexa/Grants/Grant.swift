public import Crypto
public import Time

/// The three regions of Alexa's services; a customer's tokens and events stay with one of them.
public enum AlexaRegion: String, Hashable, Sendable, CaseIterable {
    /// North America.
    case northAmerica = "NA"
    /// Europe and India.
    case europe = "EU"
    /// Far East and Australia.
    case farEast = "FE"
}

/// What a grant belongs to; no two grants have the same key.
public struct GrantKey: Hashable, Sendable {
    /// The way a grant came.
    public enum Source: String, Hashable, Sendable, CaseIterable {
        /// An AcceptGrant directive: the right to send events.
        case events
        /// App-to-app linking: the right to enable the skill for the user.
        case linking
        /// Reciprocal authorization: what the skill's Amazon client may ask of the user's Amazon account.
        case reciprocal
    }

    /// The way it came.
    public var source: Source
    /// The user, as the provider names them (`sub`).
    public var subject: String
    /// The skill's name in the configuration.
    public var skill: String
    /// The region whose services gave it.
    public var region: AlexaRegion
    /// The Alexa user: part of the key of `linking` grants, absent from that of `events` grants.
    public var amazonUserID: String?
    /// The provider's grant that the user's own token carried, where it names one.
    ///
    /// One user may have linked two Amazon accounts; this keeps their `events` grants apart.
    public var providerGrantID: String?

    /// A key.
    public init(
        source: Source, subject: String, skill: String, region: AlexaRegion, amazonUserID: String? = nil,
        providerGrantID: String? = nil
    ) {
        self.source = source
        self.subject = subject
        self.skill = skill
        self.region = region
        self.amazonUserID = amazonUserID
        self.providerGrantID = providerGrantID
    }
}

/// The tokens that Amazon gave for one user.
public struct AmazonCredentials: Hashable, Sendable {
    /// Goes with each call, for about an hour.
    public var accessToken: Secret
    /// Buys the next access token.
    public var refreshToken: Secret
    /// When the access token ends.
    public var expiresAt: UnixTime

    /// Tokens as Login with Amazon gave them.
    public init(accessToken: Secret, refreshToken: Secret, expiresAt: UnixTime) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
    }
}

/// Amazon's tokens as the store keeps them.
public struct Grant: Hashable, Sendable {
    /// What it belongs to.
    public let key: GrantKey
    /// The tokens.
    public let credentials: AmazonCredentials
    /// Its place among the directives that brought grants: the newest wins, whichever exchange ended first.
    public let sequence: Int64
    /// Whether no event is sent with it until the next AcceptGrant, since every region refused it.
    public let isSuspended: Bool
    /// Counts the changes of this row; a refresh writes only over the version that it read.
    public let version: Int64
    /// The region whose event gateway last took an event of this grant; nil until one did.
    public let gatewayRegion: AlexaRegion?

    /// A grant as it was read; stores make them.
    public init(
        key: GrantKey, credentials: AmazonCredentials, sequence: Int64, isSuspended: Bool = false, version: Int64,
        gatewayRegion: AlexaRegion? = nil
    ) {
        self.key = key
        self.credentials = credentials
        self.sequence = sequence
        self.isSuspended = isSuspended
        self.version = version
        self.gatewayRegion = gatewayRegion
    }
}
