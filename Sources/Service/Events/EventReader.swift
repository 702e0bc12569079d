import Alexa
import JSON
import Time

/// Reads what the provider posts about a device, and judges it by Alexa's tables.
struct EventReader {
    /// How many events one call may bring.
    static let limit = 100
    /// How long an id of a user or a device may be, in bytes.
    static let idLimit = 2048
    static let tokenLimit = 4096
    static let messageLimit = 500

    /// What is wrong, with the way to the member.
    typealias Fault = DeviceFault

    let now: UnixTime

    /// The events of a body: one object, or an array of them.
    func events(_ json: JSONValue) throws(Fault) -> [PostedEvent] {
        guard let list = json.array else { return [try event(json)] }
        guard list.count <= Self.limit else {
            throw Fault(path: "", problem: "more than \(Self.limit) events at once")
        }
        var events: [PostedEvent] = []
        for (index, value) in list.enumerated() {
            do throws(Fault) { events.append(try event(value)) } catch { throw error.below("[\(index)]") }
        }
        return events
    }

    private func event(_ json: JSONValue) throws(Fault) -> PostedEvent {
        guard let given = json.object else { throw Fault(path: "", problem: "not an object") }
        let subject = try id("sub", of: given)
        let deviceID = try id("deviceID", of: given)
        var kind = PostedEvent.Kind.changed
        if let text = try given.text("kind") {
            guard let known = PostedEvent.Kind(rawValue: text) else {
                let kinds = PostedEvent.Kind.allCases.map(\.rawValue).joined(separator: ", ")
                throw Fault(path: "kind", problem: "none of \(kinds)")
            }
            kind = known
        }
        var body = JSONObject()
        body["cause"] = try cause(of: given, kind).map { .string($0.rawValue) }
        body["properties"] = try properties("properties", of: given)
        body["state"] = try properties("state", of: given)
        var event = PostedEvent(subject: subject, deviceID: deviceID, kind: kind, body: body)
        switch kind {
        case .changed:
            guard let properties = body["properties"]?.array else {
                throw Fault(path: "properties", problem: "missing")
            }
            guard !properties.isEmpty else { throw Fault(path: "properties", problem: "empty") }
        case .added:
            let endpoint = try endpoint(of: given, deviceID)
            event.body["device"] = given["device"]
            event.reported = endpoint.reportedProperties
        case .deferred: try readOutcome(of: given, into: &event.body)
        case .removed, .doorbellPress, .sceneActivated, .sceneDeactivated: break
        }
        // The tables have judged the members; this holds the message as a whole against them.
        let message = try EventMessage(deviceID: deviceID, kind: kind, body: event.body, at: now, messageID: "check")
        if let violation = message.event(known: nil).violation() {
            throw Fault(path: "", problem: "no message of Alexa's comes of it: \(violation.detail)")
        }
        return event
    }

    private func id(_ name: String, of event: JSONObject) throws(Fault) -> String {
        guard let text = event[name]?.string else { throw event.fault(name, "not a text") }
        guard !text.isEmpty else { throw Fault(path: name, problem: "empty") }
        guard text.utf8.count <= Self.idLimit else {
            throw Fault(path: name, problem: "longer than \(Self.idLimit) bytes")
        }
        return text
    }
}
