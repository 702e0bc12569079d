public import Alexa
public import JSON
public import OAuth
public import Time

/// Answers one kind of request in Swift, where the intents file does not say enough.
///
/// A handler is registered by the name of an intent, or by the type of any other request, and comes before the intents
/// file. It may throw: the user then hears an apology, and nothing of the error leaves; a skill event is not
/// acknowledged then, so that Alexa delivers it again. Whoever can read the traffic can
/// send a request again within Alexa's time window, so a handler that changes something must do it once for each
/// ``SkillCall/requestID``.
///
///     struct RideHandler: SkillHandler {
///         let account = AccountRule.required
///
///         func respond(to call: SkillCall) async throws -> SkillResponse {
///             let ride = try await call.resource("/rides/current")
///             let minutes = ride.root.member("minutes")?.integer ?? 0
///             return SkillResponse(
///                 outputSpeech: .plainText("Your car comes in \(minutes) minutes."), shouldEndSession: true)
///         }
///     }
///
///     let skill = Skill(name: "rides", id: "amzn1.ask.skill.…", handlers: ["RideStatusIntent": RideHandler()])
public protocol SkillHandler: Sendable {
    /// Whether the request needs the user's linked account; without it the service asks to link.
    var account: AccountRule { get }

    /// The answer.
    ///
    /// - Throws: anything; a ``ResourceFailure`` is answered as one of the intents file is.
    func respond(to call: SkillCall) async throws -> SkillResponse
}

extension SkillHandler {
    /// A good token is used where there is one.
    public var account: AccountRule { .optional }
}

/// What a handler is given.
public struct SkillCall: Sendable {
    /// The request, decoded.
    public let envelope: RequestEnvelope
    /// Whom the account's token stands for; nil where there is none, or it is not good.
    public let principal: Principal?
    /// When the answer must have left.
    public let deadline: Deadline
    private let resources: ResourceClient

    init(envelope: RequestEnvelope, principal: Principal?, deadline: Deadline, resources: ResourceClient) {
        self.envelope = envelope
        self.principal = principal
        self.deadline = deadline
        self.resources = resources
    }

    /// The request's id: one that is delivered again keeps it.
    public var requestID: String { envelope.header.requestID }

    /// The language of the request.
    public var locale: String? { envelope.locale }

    /// The intent, in requests that have one.
    public var intent: Intent? {
        switch envelope.request {
        case .intent(let request), .canFulfillIntent(let request): request.intent
        default: nil
        }
    }

    /// What the user said for a slot.
    public func slot(_ name: String) -> String? { intent?.slot(name)?.value }

    /// What the provider's server holds for the user at `path`.
    ///
    /// - Throws: ``ResourceFailure``; without a linked account ``ResourceFailure/tokenRefused(isExpired:)``.
    public func resource(_ path: String) async throws(ResourceFailure) -> JSONDocument {
        guard let principal else { throw .tokenRefused(isExpired: false) }
        return try await resources.resource(path, for: principal, by: deadline)
    }

    func resources(_ paths: [(name: String, path: String)]) async throws(ResourceFailure) -> [String: JSONDocument] {
        guard let principal, !paths.isEmpty else { return [:] }
        return try await resources.resources(paths, for: principal, by: deadline)
    }
}

/// One skill: its name and id, and what answers its requests.
public struct Skill: Sendable {
    /// The name in the configuration, for log lines.
    public let name: String
    /// The skill's id at Amazon.
    public let id: String
    /// The provider's client that the skill's tokens are issued to; nil takes those of any client.
    public let providerClient: String?
    /// What a token must be good for.
    public let scopes: Set<String>
    /// What the skill answers by its file.
    public let intents: IntentsFile?
    /// What it answers in Swift, by intent or request type.
    public let handlers: [String: any SkillHandler]

    /// A skill.
    public init(
        name: String, id: String, providerClient: String? = nil, scopes: Set<String> = [],
        intents: IntentsFile? = nil, handlers: [String: any SkillHandler] = [:]
    ) {
        self.name = name
        self.id = id
        self.providerClient = providerClient
        self.scopes = scopes
        self.intents = intents
        self.handlers = handlers
    }
}
