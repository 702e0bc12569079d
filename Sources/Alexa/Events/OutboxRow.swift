public import JSON
public import Time

/// A property of a device, as the provider names it.
public struct PropertyKey: Hashable, Sendable {
    /// The interface without `Alexa.`; empty for `Alexa` itself.
    public let interface: String
    /// The instance, where the interface has instances.
    public let instance: String?
    /// The property's name.
    public let name: String

    /// A key; `Alexa` as the interface is Alexa itself, whose name is empty.
    public init(interface: String, instance: String? = nil, name: String) {
        self.interface = interface == "Alexa" ? "" : interface
        self.instance = instance
        self.name = name
    }

    /// The interface as Alexa calls it, `Alexa.PowerController` for example.
    public var namespace: String { interface.isEmpty ? "Alexa" : "Alexa." + interface }

    /// The key of a property object, `{"interface","name","value","instance"?}`; nil where it is none.
    public init?(of property: JSONValue) {
        guard let interface = property["interface"]?.string, let name = property["name"]?.string else { return nil }
        self.init(interface: interface, instance: property["instance"]?.string, name: name)
    }
}

/// What happened to a device, as the provider told it, judged already.
public struct PostedEvent: Hashable, Sendable {
    /// How large a body is at most as JSON, what has been merged into it included.
    public static let bodyLimitBytes = 256 * 1024

    /// What kind of thing happened.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Properties have new values.
        case changed
        /// The user has the device now, or it is another than before.
        case added
        /// The user no longer has the device.
        case removed
        /// Somebody rang.
        case doorbellPress
        /// The answer to a directive that was deferred.
        case deferred
        /// A scene was activated.
        case sceneActivated
        /// A scene was deactivated.
        case sceneDeactivated

        /// How long it is worth sending.
        public var lifeSeconds: Int64 {
            switch self {
            case .changed, .added, .removed: 86_400
            case .doorbellPress, .sceneActivated, .sceneDeactivated: 60
            case .deferred: 300
            }
        }
    }

    /// The user, as the provider names them (`sub`).
    public var subject: String
    /// The device, as the provider names it.
    public var deviceID: String
    /// What kind of thing happened.
    public var kind: Kind
    /// The provider's event: `cause`, `properties`, `state`, `device` and what else it holds.
    public var body: JSONObject
    /// Which properties the device reports by itself, where the event says so; an `added` one does.
    public var reported: Set<PropertyKey>?

    /// An event.
    public init(
        subject: String, deviceID: String, kind: Kind, body: JSONObject, reported: Set<PropertyKey>? = nil
    ) {
        self.subject = subject
        self.deviceID = deviceID
        self.kind = kind
        self.body = body
        self.reported = reported
    }
}

/// What became of a posting.
public struct PostOutcome: Hashable, Sendable {
    /// How many rows were written, those that events joined included.
    public var rows: Int
    /// How many waiting rows were dropped since their lanes were full.
    public var dropped: Int

    /// An outcome; stores make them.
    public init(rows: Int = 0, dropped: Int = 0) {
        self.rows = rows
        self.dropped = dropped
    }
}

/// An event that waits to be sent in one lane.
public struct OutboxRow: Hashable, Sendable {
    /// Its place: rows of a device are sent in this order.
    public let sequence: Int64
    /// The device, as the provider names it.
    public let deviceID: String
    /// What kind of thing happened.
    public let kind: PostedEvent.Kind
    /// The provider's event.
    public let body: JSONObject
    /// The id of the message; a resend has the same, and a row that another event joined has a new one.
    public let messageID: String
    /// When it was written, or another event last joined it.
    public let createdAt: UnixTime
    /// From when on it is not worth sending.
    public let expiresAt: UnixTime
    /// Not sent before.
    public let dueAt: UnixTime
    /// How often it was postponed.
    public let attempts: Int

    /// A row as it was read; stores make them.
    public init(
        sequence: Int64, deviceID: String, kind: PostedEvent.Kind, body: JSONObject, messageID: String,
        createdAt: UnixTime, expiresAt: UnixTime, dueAt: UnixTime, attempts: Int
    ) {
        self.sequence = sequence
        self.deviceID = deviceID
        self.kind = kind
        self.body = body
        self.messageID = messageID
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.dueAt = dueAt
        self.attempts = attempts
    }
}

/// The right to send a lane's rows.
public struct LaneLease: Hashable, Sendable {
    /// The grant whose lane it is.
    public let key: GrantKey
    /// Tells this lease from every other.
    public let id: String
    /// When it ends, by the store's clock.
    public let until: UnixTime

    /// A lease; stores make them.
    public init(key: GrantKey, id: String, until: UnixTime) {
        self.key = key
        self.id = id
        self.until = until
    }
}

/// A lane that the caller may send from.
public struct LeasedLane: Hashable, Sendable {
    /// How many rows are given out at most.
    public static let rowLimit = 50
    /// How many rows wait in a lane at most.
    public static let waitingLimit = 10_000

    /// The lease.
    public let lease: LaneLease
    /// The heads, in the order of their places; each of another device.
    public let rows: [OutboxRow]

    /// A leased lane; stores make them.
    public init(lease: LaneLease, rows: [OutboxRow]) {
        self.lease = lease
        self.rows = rows
    }
}

/// What is known of a device from its events and from discoveries.
public struct KnownState: Hashable, Sendable {
    /// How many devices of a user are remembered; beyond that the least lately heard of go.
    public static let deviceLimit = 1000
    /// How many properties of a device are remembered.
    public static let propertyLimit = 500

    /// The last value of each property, as the provider's property objects.
    public var properties: [JSONValue]
    /// The properties that the device reports by itself.
    public var reported: Set<PropertyKey>

    /// A state.
    public init(properties: [JSONValue] = [], reported: Set<PropertyKey> = []) {
        self.properties = properties
        self.reported = reported
    }
}

/// A device of a discovery, with the properties that it reports by itself.
public struct NotedDevice: Hashable, Sendable {
    /// The device, as the provider names it.
    public let deviceID: String
    /// The properties.
    public let reported: Set<PropertyKey>

    /// A device.
    public init(deviceID: String, reported: Set<PropertyKey>) {
        self.deviceID = deviceID
        self.reported = reported
    }
}
