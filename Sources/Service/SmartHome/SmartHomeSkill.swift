public import Alexa

/// A skill that takes smart-home directives.
public struct SmartHomeSkill: Sendable {
    /// The pair and region of "Send Alexa Events".
    public struct Events: Sendable {
        /// The pair.
        public var client: AmazonClient
        /// The region of directives that name none.
        public var region: AlexaRegion

        /// A pair for `region`.
        public init(client: AmazonClient, region: AlexaRegion) {
            self.client = client
            self.region = region
        }
    }

    /// The skill's name in the configuration.
    public var name: String
    /// The client at the provider whose tokens the skill takes; nil takes those of any.
    public var providerClient: String?
    /// What a token must allow.
    public var scopes: Set<String>
    /// The right to send events; without it no AcceptGrant succeeds.
    public var events: Events?

    /// A skill.
    public init(name: String, providerClient: String?, scopes: Set<String>, events: Events?) {
        self.name = name
        self.providerClient = providerClient
        self.scopes = scopes
        self.events = events
    }

    /// The smart-home side of a configured skill; nil where it has none.
    public init?(_ skill: Configuration.Skill, scopes: Set<String>) {
        guard skill.isSmartHome else { return nil }
        let events = skill.events.flatMap { events in
            AlexaRegion(rawValue: events.region.rawValue).map { region in
                Events(client: AmazonClient(id: events.clientID, secret: events.clientSecret), region: region)
            }
        }
        self.init(name: skill.name, providerClient: skill.providerClient, scopes: scopes, events: events)
    }
}
