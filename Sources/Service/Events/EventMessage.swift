import Alexa
import JSON
import Time

/// A provider's event as Alexa's gateway wants it.
///
/// It is made when it is sent, so that its context is what is known of the device by then.
struct EventMessage {
    private let deviceID: String
    private let kind: PostedEvent.Kind
    private let body: JSONObject
    private let moment: UnixTime
    private let messageID: String
    private let properties: [DeviceProperty]
    private let state: [DeviceProperty]
    /// The endpoint of an added device.
    private let endpoint: DeviceEndpoint?

    /// A message of what was told at `moment`.
    ///
    /// - Throws: ``DeviceFault`` where the body is none that was accepted.
    init(
        deviceID: String, kind: PostedEvent.Kind, body: JSONObject, at moment: UnixTime, messageID: String
    ) throws(DeviceFault) {
        self.deviceID = deviceID
        self.kind = kind
        self.body = body
        self.moment = moment
        self.messageID = messageID
        properties = try Self.properties(body["properties"])
        state = try Self.properties(body["state"])
        endpoint = kind == .added ? try DeviceEndpoint(device: body["device"] ?? .null) : nil
    }

    /// The message of a row of the outbox.
    init(_ row: OutboxRow) throws(DeviceFault) {
        try self.init(
            deviceID: row.deviceID, kind: row.kind, body: row.body, at: row.createdAt, messageID: row.messageID)
    }

    private static func properties(_ list: JSONValue?) throws(DeviceFault) -> [DeviceProperty] {
        var properties: [DeviceProperty] = []
        for value in list?.array ?? [] { properties.append(try DeviceProperty(decoding: value)) }
        return properties
    }

    private var endpointID: String { EndpointID.encode(deviceID) }

    private func cause(_ standard: EventCause) -> EventCause {
        body["cause"]?.string.flatMap(EventCause.init) ?? standard
    }

    /// The event, with what is `known` of the device as the context of a change.
    func event(known: KnownState?) -> Event {
        switch kind {
        case .changed:
            return .changeReport(
                endpointID: endpointID, cause: cause(.periodicPoll), changed: context(properties),
                unchanged: context(unchanged(known)), messageID: messageID)
        case .added:
            return .addOrUpdateReport(endpoints: endpoint.map { [.object($0.object)] } ?? [], messageID: messageID)
        case .removed: return .deleteReport(endpointIDs: [endpointID], messageID: messageID)
        case .doorbellPress:
            return .doorbellPress(
                endpointID: endpointID, cause: cause(.physicalInteraction), at: moment, messageID: messageID)
        case .sceneActivated, .sceneDeactivated:
            return .scene(
                isActive: kind == .sceneActivated, endpointID: endpointID, cause: cause(.appInteraction), at: moment,
                messageID: messageID)
        case .deferred: return outcome
        }
    }

    /// The other properties: what the event says of them, else what was last reported.
    private func unchanged(_ known: KnownState?) -> [DeviceProperty] {
        var keys = Set(properties.map(\.key))
        let reported = (known?.properties ?? []).compactMap { value in try? DeviceProperty(decoding: value) }
        return (state + reported).filter { keys.insert($0.key).inserted }
    }

    private func context(_ properties: [DeviceProperty]) -> [JSONValue] {
        properties.map { $0.contextProperty(now: moment) }
    }

    /// The answer to a directive that was deferred.
    private var outcome: Event {
        let echo = DirectiveEcho(correlationToken: body["correlationToken"]?.string, endpointID: endpointID)
        if let type = body["error"]?.string.flatMap(SmartHomeErrorType.init) {
            return .errorResponse(
                to: echo, type, message: body["message"]?.string ?? "", details: body["details"]?.object ?? [:],
                messageID: messageID)
        }
        var kind = AnswerKind.response
        if let interface = body["interface"]?.string, let command = body["command"]?.string {
            let namespace = PropertyKey(interface: interface, name: "").namespace
            kind = AlexaInterface.named(namespace)?.directive(command)?.answer ?? .response
        }
        return .answer(
            kind, to: echo, properties: context(properties + unchanged(nil)), payload: body["payload"]?.object ?? [:],
            now: moment,
            messageID: messageID)
    }
}
