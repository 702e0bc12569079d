import Alexa
import JSON

extension EventReader {
    /// The cause, which changes and scenes must have.
    func cause(of event: JSONObject, _ kind: PostedEvent.Kind) throws(Fault) -> EventCause? {
        guard let text = try event.text("cause") else {
            switch kind {
            case .changed, .sceneActivated, .sceneDeactivated: throw Fault(path: "cause", problem: "missing")
            case .added, .removed, .doorbellPress, .deferred: return nil
            }
        }
        guard let cause = EventCause(rawValue: text) else {
            throw Fault(
                path: "cause", problem: "none of \(EventCause.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return cause
    }

    /// A list of properties, each judged by its interface and with the time at which it was read off the device.
    func properties(_ name: String, of event: JSONObject) throws(Fault) -> JSONValue? {
        guard let given = event.given(name) else { return nil }
        guard let list = given.array else { throw Fault(path: name, problem: "not a list") }
        var properties: [JSONValue] = []
        var keys: Set<PropertyKey> = []
        for (index, value) in list.enumerated() {
            let path = "\(name)[\(index)]"
            let property: DeviceProperty
            do throws(Fault) { property = try self.property(value) } catch { throw error.below(path) }
            guard keys.insert(property.key).inserted else {
                throw Fault(path: path, problem: "the property is in the list twice")
            }
            properties.append(property.json)
        }
        return .array(properties)
    }

    private func property(_ value: JSONValue) throws(Fault) -> DeviceProperty {
        let given = try DeviceProperty(decoding: value)
        let property = DeviceProperty(
            given.key, given.value, sampledAt: given.sampledAt ?? now,
            uncertaintyMilliseconds: given.uncertaintyMilliseconds)
        if let fault = ContextProperty.violation(of: property.contextProperty(now: now)) {
            throw Fault(path: Self.providersPath(fault.path), problem: fault.words)
        }
        return property
    }

    /// Alexa's name of a property's member as providers write it.
    private static func providersPath(_ path: String) -> String {
        switch path {
        case "namespace": "interface"
        case "timeOfSample": "sampledAt"
        case "uncertaintyInMilliseconds": "uncertaintyMilliseconds"
        default: path
        }
    }

    /// The device that is new or was changed.
    func endpoint(of event: JSONObject, _ deviceID: String) throws(Fault) -> DeviceEndpoint {
        guard let device = event.given("device") else { throw Fault(path: "device", problem: "missing") }
        let endpoint: DeviceEndpoint
        do throws(Fault) { endpoint = try DeviceEndpoint(device: device) } catch { throw error.below("device") }
        guard endpoint.deviceID == deviceID else {
            throw Fault(path: "device.id", problem: "another id than deviceID")
        }
        if let fault = DiscoveryEndpoint.violation(of: endpoint.object) {
            throw Fault(path: "device." + fault.path, problem: fault.words)
        }
        return endpoint
    }

    /// What a deferred directive came to: `properties` and perhaps a payload, or an error with its members.
    func readOutcome(of event: JSONObject, into body: inout JSONObject) throws(Fault) {
        guard let token = event["correlationToken"]?.string else {
            throw event.fault("correlationToken", "not a text")
        }
        guard (1...Self.tokenLimit).contains(token.utf8.count) else {
            throw Fault(path: "correlationToken", problem: "empty, or longer than \(Self.tokenLimit) bytes")
        }
        body["correlationToken"] = .string(token)
        guard let text = try event.text("error") else {
            guard body["properties"] != nil else { throw Fault(path: "properties", problem: "missing, and no error") }
            return try readAnswer(of: event, into: &body)
        }
        guard body["properties"] == nil else { throw Fault(path: "properties", problem: "beside an error") }
        guard let type = SmartHomeErrorType(rawValue: text), type != .acceptGrantFailed else {
            throw Fault(path: "error", problem: "not an error type of Alexa's")
        }
        guard let details = type.checkedDetails(event) else {
            throw Fault(path: "error", problem: "a member that this type demands is missing or of another kind")
        }
        body["error"] = .string(text)
        body["message"] = .string(String((try event.text("message") ?? "").prefix(Self.messageLimit)))
        body["details"] = .object(details)
    }

    /// The payload of an answer, which needs the command that it answers.
    private func readAnswer(of event: JSONObject, into body: inout JSONObject) throws(Fault) {
        guard let payload = event.given("payload") else { return }
        guard payload.object != nil else { throw Fault(path: "payload", problem: "not an object") }
        guard let command = try event.text("command") else {
            throw Fault(path: "command", problem: "missing beside a payload")
        }
        let interface = PropertyKey(interface: try event.interface(), name: "")
        guard let rule = AlexaInterface.named(interface.namespace)?.directive(command) else {
            throw Fault(path: "command", problem: "not a command of the interface")
        }
        guard rule.answer.takesPayload else { throw Fault(path: "payload", problem: "the command's answer has none") }
        body["interface"] = .string(interface.interface)
        body["command"] = .string(command)
        body["payload"] = payload
    }
}

extension ShapeFault {
    /// How the value does not fit, without the way to it.
    var words: String { path.isEmpty ? description : String(description.dropFirst(path.count + 1)) }
}
