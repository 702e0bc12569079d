public import Time

/// A user of the provider joined to an Alexa user of one skill; one user may have several.
public struct Link: Hashable, Sendable {
    /// The way a link was started.
    public enum Flow: String, Hashable, Sendable, CaseIterable {
        /// In the company's app.
        case app
        /// On the company's website.
        case web
        /// In the Alexa app.
        case alexa
    }

    /// How far a link is.
    public enum Status: String, Hashable, Sendable, CaseIterable {
        /// Alexa confirmed it.
        case linked = "LINKED"
        /// Alexa was asked and has not confirmed it yet.
        case pending = "PENDING"
    }

    /// A region that was asked to link, and what its code would redeem to.
    public struct Candidate: Hashable, Sendable {
        /// The region.
        public let region: AlexaRegion
        /// The provider's grant of the code that this region was given; nil with an external provider.
        public let providerGrantID: String?

        /// A region that was asked.
        public init(region: AlexaRegion, providerGrantID: String? = nil) {
            self.region = region
            self.providerGrantID = providerGrantID
        }
    }

    /// Names the link, to the user's app too.
    public let id: String
    /// The user, as the provider names them (`sub`).
    public let subject: String
    /// The skill's name in the configuration.
    public let skill: String
    /// The skill's stage.
    public let stage: String
    /// The way it was started.
    public let flow: Flow
    /// How far it is.
    public var status: Status
    /// The region whose API took it; nil while that is not known.
    public var region: AlexaRegion?
    /// The Alexa user, by the id that the skill's requests carry; nil while that is not known.
    public var alexaUserID: String?
    /// The provider's grant that Alexa's tokens of this link belong to.
    public var providerGrantID: String?
    /// The regions that were asked, while it is not known which of them took it.
    public var candidates: [Candidate]
    /// When it was confirmed; while it is pending, when it was begun.
    public var linkedAt: UnixTime
    /// The trace of the attempt that made it.
    public var traceID: String?
    /// When Alexa is asked next, while it is pending.
    public var dueAt: UnixTime?
    /// How often Alexa was asked while it was pending.
    public var attempts: Int
    /// Counts the changes of this row; an update writes only over the version that it read.
    public let version: Int64

    /// A link; the store counts its versions from 1.
    public init(
        id: String, subject: String, skill: String, stage: String, flow: Flow, status: Status,
        region: AlexaRegion? = nil, alexaUserID: String? = nil, providerGrantID: String? = nil,
        candidates: [Candidate] = [], linkedAt: UnixTime, traceID: String? = nil, dueAt: UnixTime? = nil,
        attempts: Int = 0, version: Int64 = 1
    ) {
        self.id = id
        self.subject = subject
        self.skill = skill
        self.stage = stage
        self.flow = flow
        self.status = status
        self.region = region
        self.alexaUserID = alexaUserID
        self.providerGrantID = providerGrantID
        self.candidates = candidates
        self.linkedAt = linkedAt
        self.traceID = traceID
        self.dueAt = dueAt
        self.attempts = attempts
        self.version = version
    }

    /// The same link at another version; stores make them.
    public func at(version: Int64) -> Link {
        Link(
            id: id, subject: subject, skill: skill, stage: stage, flow: flow, status: status, region: region,
            alexaUserID: alexaUserID, providerGrantID: providerGrantID, candidates: candidates, linkedAt: linkedAt,
            traceID: traceID, dueAt: dueAt, attempts: attempts, version: version)
    }
}
