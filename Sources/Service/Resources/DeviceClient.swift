import HTTP
public import JSON
public import OAuth
public import Time

/// Speaks of a user's devices with the provider's server.
public struct DeviceClient: Sendable {
    /// After how many pages a list of devices ends, whatever the server says.
    public static let pageLimit = 100
    /// The field by which the server learns what a late answer has to repeat.
    static let correlationTokenField = "Skillgate-Correlation-Token"
    /// How long a page may be: as long as Alexa takes a whole list, for servers that have no pages.
    static let pageLimitBytes = 5 << 20
    /// How long a cursor may be.
    static let cursorLimitBytes = 2048

    private let resources: ResourceClient

    /// A client by `resources`.
    public init(_ resources: ResourceClient) { self.resources = resources }

    /// A page of the user's devices.
    public struct Page: Sendable {
        /// The devices, as the server describes them.
        public let devices: [JSONElement]
        /// Where the next page begins; nil on the last one.
        public let next: String?
    }

    /// What a command is, in the words of the contract.
    public struct Command: Sendable {
        /// The interface, without `Alexa.`.
        public var interface: String
        /// The command's name.
        public var name: String
        /// Which of several like controllers is meant.
        public var instance: String?
        /// The arguments, an object.
        public var arguments: JSONElement
        /// The directive's id, by which the server knows a repetition.
        public var messageID: String
        /// What a late answer has to name.
        public var correlationToken: String?

        /// A command.
        public init(
            interface: String, name: String, instance: String?, arguments: JSONElement, messageID: String,
            correlationToken: String?
        ) {
            self.interface = interface
            self.name = name
            self.instance = instance
            self.arguments = arguments
            self.messageID = messageID
            self.correlationToken = correlationToken
        }
    }

    /// What became of a command.
    public enum Outcome: Sendable {
        /// It is carried out: what the device's properties are now, and what the answer carries besides.
        case done(properties: [JSONElement], payload: JSONElement?)
        /// It will be carried out; the server tells later, in about that many seconds where it knows.
        case deferred(seconds: Int64?)
    }

    /// The page of the user's devices that begins at `cursor`; nil is the first.
    ///
    /// - Throws: ``ResourceFailure`` where there is no page in time.
    public func page(
        from cursor: String?, for principal: Principal, by deadline: Deadline
    ) async throws(ResourceFailure) -> Page {
        let path = cursor.map { "/devices?cursor=" + percentEncoded($0) } ?? "/devices"
        let answer = try await resources.resource(
            path, for: principal, by: deadline, answerBytes: Self.pageLimitBytes
        ).root
        guard let devices = answer.member("devices")?.elements else { throw failure(answer, "devices") }
        guard let member = answer.member("cursor"), !member.isNull, member.string != "" else {
            return Page(devices: devices, next: nil)
        }
        guard let next = member.string, next.utf8.count <= Self.cursorLimitBytes else {
            throw .malformed(path: "cursor")
        }
        return Page(devices: devices, next: next)
    }

    /// The properties of a device as they are now.
    ///
    /// - Throws: ``ResourceFailure`` where they cannot be had in time.
    public func state(
        of deviceID: String, for principal: Principal, by deadline: Deadline
    ) async throws(ResourceFailure) -> [JSONElement] {
        let path = try path(of: deviceID, "/state")
        let answer = try await resources.resource(path, for: principal, by: deadline).root
        guard let properties = answer.member("properties")?.elements else { throw failure(answer, "properties") }
        return properties
    }

    /// Has a device do something: sent once, whatever becomes of it.
    ///
    /// - Throws: ``ResourceFailure`` where no answer came in time; the device may have obeyed then.
    public func command(
        _ command: Command, to deviceID: String, for principal: Principal, by deadline: Deadline
    ) async throws(ResourceFailure) -> Outcome {
        let path = try path(of: deviceID, "/commands")
        let statePath = try self.path(of: deviceID, "/state")
        // Whatever becomes of it, what is known of the device's state is the state before.
        defer { resources.forget(statePath, of: principal) }
        let (status, document) = try await resources.command(
            path, body: command.body, fields: command.fields, for: principal, by: deadline)
        let answer = document.root
        if status == 202 {
            guard answer.kind == .object else { throw .malformed(path: "") }
            return .deferred(seconds: answer.member("deferSeconds")?.integer.flatMap { $0 >= 0 ? $0 : nil })
        }
        guard let properties = answer.member("properties")?.elements else { throw failure(answer, "properties") }
        guard let payload = answer.member("payload"), !payload.isNull else {
            return .done(properties: properties, payload: nil)
        }
        guard payload.kind == .object else { throw .malformed(path: "payload") }
        return .done(properties: properties, payload: payload)
    }

    /// One segment of a path, so that no id reaches another resource.
    private func path(of deviceID: String, _ rest: String) throws(ResourceFailure) -> String {
        guard !["", ".", ".."].contains(deviceID) else { throw .notFound }
        return "/devices/" + percentEncoded(deviceID) + rest
    }

    /// Why an answer of success is none: it says so itself, or lacks a member.
    private func failure(_ answer: JSONElement, _ member: String) -> ResourceFailure {
        DeclaredError(decoding: answer).map(ResourceFailure.declared) ?? .malformed(path: member)
    }
}

extension DeviceClient.Command {
    fileprivate var body: [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.key("interface")
        writer.string(interface)
        writer.key("command")
        writer.string(name)
        if let instance {
            writer.key("instance")
            writer.string(instance)
        }
        writer.key("arguments")
        writer.value(arguments.value)
        writer.endObject()
        return writer.bytes
    }

    /// What the server needs for a late answer, and to know a command that it has had already.
    fileprivate var fields: HTTPFields {
        var fields = HTTPFields()
        for (name, value) in [
            ("Skillgate-Message-ID", messageID), (DeviceClient.correlationTokenField, correlationToken),
        ] {
            guard let value, value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { continue }
            fields.append(name, value)
        }
        return fields
    }
}
