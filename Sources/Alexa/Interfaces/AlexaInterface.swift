/// One of Alexa's smart-home interfaces: what it takes, what it reports, what a device says of it.
///
/// The tables of all interfaces are in the files beside this one, a family a file. What Amazon's documentation does not
/// confirm passes unchecked.
public struct AlexaInterface: Sendable {
    /// The name as providers write it: without `Alexa.`, empty for `Alexa` itself.
    public let name: String
    /// Whether a device may have several of it, told apart by `instance`.
    public let needsInstance: Bool
    /// The directives that it takes.
    public let directives: [DirectiveRule]
    /// The properties that it reports.
    public let properties: [PropertyRule]
    /// The members of the capability that it has besides those of all.
    let capability: [Shape.Member]

    init(
        _ name: String, needsInstance: Bool = false, _ directives: [DirectiveRule] = [],
        properties: [PropertyRule] = [], capability: [Shape.Member] = []
    ) {
        self.name = name
        self.needsInstance = needsInstance
        self.directives = directives
        self.properties = properties
        self.capability = capability
    }

    /// The name as Alexa writes it, `Alexa.PowerController` for example.
    public var namespace: String { name.isEmpty ? "Alexa" : "Alexa." + name }

    /// The interface that Alexa calls `namespace`; nil where no table has it.
    public static func named(_ namespace: String) -> AlexaInterface? { byNamespace[namespace] }

    /// The directive of that name.
    public func directive(_ name: String) -> DirectiveRule? { directives.first { $0.name == name } }

    /// The property of that name.
    public func property(_ name: String) -> PropertyRule? { properties.first { $0.name == name } }

    /// Every interface that a table has.
    public static let all = core + lights + levels + climate + entertainment + security + cooking

    private static let byNamespace = Dictionary(all.map { ($0.namespace, $0) }) { first, _ in first }
}

/// A directive of an interface.
public struct DirectiveRule: Sendable {
    /// Its name, `TurnOn` for example.
    public let name: String
    /// What its payload must be; nil where Amazon's documentation does not say.
    public let payload: Shape?
    /// What answers it.
    public let answer: AnswerKind

    init(_ name: String, _ payload: Shape?, answer: AnswerKind = .response) {
        self.name = name
        self.payload = payload
        self.answer = answer
    }

    /// A directive whose payload is open: members that are not named pass.
    static func taking(_ name: String, _ members: [Shape.Member], answer: AnswerKind = .response) -> DirectiveRule {
        DirectiveRule(name, .object(members, isOpen: true), answer: answer)
    }

    /// Directives without arguments.
    static func plain(_ names: String...) -> [DirectiveRule] { names.map { DirectiveRule($0, .anyObject) } }

    /// Directives whose arguments Amazon's documentation does not confirm.
    static func unconfirmed(_ names: String..., answer: AnswerKind = .response) -> [DirectiveRule] {
        names.map { DirectiveRule($0, nil, answer: answer) }
    }
}

/// A property of an interface.
public struct PropertyRule: Sendable {
    /// Its name, `powerState` for example.
    public let name: String
    /// What its value must be.
    public let value: Shape

    init(_ name: String, _ value: Shape) {
        self.name = name
        self.value = value
    }
}

/// What answers a directive that succeeded.
public enum AnswerKind: Sendable, CaseIterable {
    /// `Alexa`/`Response`.
    case response
    /// `Alexa`/`StateReport`.
    case stateReport
    /// `Alexa.SceneController`/`ActivationStarted`.
    case activationStarted
    /// `Alexa.SceneController`/`DeactivationStarted`.
    case deactivationStarted
    /// `Alexa.SecurityPanelController`/`Arm.Response`.
    case armResponse
    /// `Alexa.CameraStreamController`/`Response`.
    case cameraResponse
    /// `Alexa.SeekController`/`StateReport`.
    case seekReport
    /// `Alexa.RTCSessionController`/`AnswerGeneratedForSession`.
    case answerGeneratedForSession
    /// `Alexa.RTCSessionController`/`SessionConnected`.
    case sessionConnected
    /// `Alexa.RTCSessionController`/`SessionDisconnected`.
    case sessionDisconnected
    /// `Alexa.MediaMetadata`/`GetMediaMetadata.Response`.
    case getMediaMetadataResponse
    /// `Alexa.Discovery`/`Discover.Response`.
    case discoverResponse
    /// `Alexa.Authorization`/`AcceptGrant.Response`.
    case acceptGrantResponse

    /// The namespace of the answer.
    public var namespace: String {
        switch self {
        case .response, .stateReport: "Alexa"
        case .activationStarted, .deactivationStarted: "Alexa.SceneController"
        case .armResponse: "Alexa.SecurityPanelController"
        case .cameraResponse: "Alexa.CameraStreamController"
        case .seekReport: "Alexa.SeekController"
        case .answerGeneratedForSession, .sessionConnected, .sessionDisconnected: "Alexa.RTCSessionController"
        case .getMediaMetadataResponse: "Alexa.MediaMetadata"
        case .discoverResponse: "Alexa.Discovery"
        case .acceptGrantResponse: "Alexa.Authorization"
        }
    }

    /// The name of the answer.
    public var name: String {
        switch self {
        case .response, .cameraResponse: "Response"
        case .stateReport, .seekReport: "StateReport"
        case .activationStarted: "ActivationStarted"
        case .deactivationStarted: "DeactivationStarted"
        case .armResponse: "Arm.Response"
        case .answerGeneratedForSession: "AnswerGeneratedForSession"
        case .sessionConnected: "SessionConnected"
        case .sessionDisconnected: "SessionDisconnected"
        case .getMediaMetadataResponse: "GetMediaMetadata.Response"
        case .discoverResponse: "Discover.Response"
        case .acceptGrantResponse: "AcceptGrant.Response"
        }
    }

    /// Whether the payload of the answer is what the provider gave as `payload`; else it is the kind's own.
    public var takesPayload: Bool {
        switch self {
        case .armResponse, .cameraResponse, .seekReport, .answerGeneratedForSession, .sessionConnected,
            .sessionDisconnected, .getMediaMetadataResponse:
            true
        case .response, .stateReport, .activationStarted, .deactivationStarted, .discoverResponse,
            .acceptGrantResponse:
            false
        }
    }
}
