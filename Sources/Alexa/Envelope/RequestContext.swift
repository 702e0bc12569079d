public import Crypto
public import JSON

/// The session that a request belongs to.
public struct Session: Sendable {
    /// The whole `session` member.
    public let element: JSONElement

    /// Whether it began with this request.
    public var isNew: Bool { element.member("new")?.bool ?? false }
    /// Its id.
    public var sessionID: String? { element.string("sessionId") }
    /// The skill's id.
    public var applicationID: String? { element.member("application")?.string("applicationId") }
    /// What the skill last stored; nil where the member is missing, empty where it is `{}`.
    public var attributes: JSONObject? {
        guard case .object(let object) = element.object("attributes")?.value else { return nil }
        return object
    }
    /// The user.
    public var user: AlexaUser? { element.object("user").map(AlexaUser.init) }
}

/// What surrounds a request: user, device and what the device shows.
public struct RequestContext: Sendable {
    /// The whole `context` member; nil where it is missing or no object.
    public let element: JSONElement?

    private var system: JSONElement? { element?.object("System") }

    /// The skill's id.
    public var applicationID: String? { system?.member("application")?.string("applicationId") }
    /// The user whose Alexa account the device is registered to.
    public var user: AlexaUser? { system?.object("user").map(AlexaUser.init) }
    /// The speaker, where the voice was recognised.
    public var person: Person? { system?.object("person").map(Person.init) }
    /// The device.
    public var device: Device? { system?.object("device").map(Device.init) }
    /// The unit of a hotel or the like.
    public var unit: Unit? { system?.object("unit").map(Unit.init) }
    /// The base address of Alexa's services for this user.
    public var apiEndpoint: String? { system?.string("apiEndpoint") }
    /// The token for Alexa's services; never one of ours.
    public var apiAccessToken: Secret? { system?.secret("apiAccessToken") }

    /// An interface's part of the context, `Viewport` for example; nil where it is missing or no object.
    public func interface(_ name: String) -> JSONElement? {
        guard let member = element?.member(named: name), member.kind == .object else { return nil }
        return member
    }

    /// A person whose voice was recognised.
    public struct Person: Sendable {
        /// The whole `person` member.
        public let element: JSONElement
        /// The person's id.
        public var personID: String? { element.string("personId") }
        /// Our token for the account that the person linked.
        public var accessToken: Secret? { element.secret("accessToken") }
    }

    /// The device that the request came from.
    public struct Device: Sendable {
        /// The whole `device` member.
        public let element: JSONElement
        /// Its id for this skill.
        public var deviceID: String? { element.string("deviceId") }
        /// Its id as a smart-home endpoint.
        public var persistentEndpointID: String? { element.string("persistentEndpointId") }
        /// The interfaces that it supports and their versions; nil where the member is missing, empty where it is `{}`.
        public var supportedInterfaces: [String: JSONElement]? {
            element.object("supportedInterfaces")?.members.map { members in
                Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
            }
        }
    }

    /// A unit of Alexa Smart Properties.
    public struct Unit: Sendable {
        /// The whole `unit` member.
        public let element: JSONElement
        /// Its id for this skill.
        public var unitID: String? { element.string("unitId") }
        /// Its id across skills of one organisation.
        public var persistentUnitID: String? { element.string("persistentUnitId") }
    }
}

/// An Alexa user, as one skill sees them.
public struct AlexaUser: Sendable {
    /// The whole `user` member.
    public let element: JSONElement

    /// The user's id for this skill; a new one after disabling and enabling it.
    public var userID: String? { element.string("userId") }
    /// Our own token; nil where no account is linked.
    public var accessToken: Secret? { element.secret("accessToken") }
    /// Whether `permissions` is there at all.
    public var hasPermissions: Bool { element.object("permissions") != nil }
    /// The outdated token for Alexa's services.
    public var consentToken: Secret? { element.object("permissions")?.secret("consentToken") }

    /// What the user decided about each scope that was asked for.
    public var scopes: [String: PermissionStatus] {
        var scopes: [String: PermissionStatus] = [:]
        for (name, value) in element.object("permissions")?.object("scopes")?.members ?? [] {
            scopes[name] = value.string("status").flatMap(PermissionStatus.init(rawValue:))
        }
        return scopes
    }

    /// Whether the user granted a scope.
    public func hasGranted(_ scope: String) -> Bool { scopes[scope] == .granted }

    /// What a user decided about a scope.
    public enum PermissionStatus: String, Hashable, Sendable {
        /// The skill may.
        case granted = "GRANTED"
        /// The skill may not.
        case denied = "DENIED"
    }
}
