import Alexa
import JSON
import Storage
import Testing
import Time

func property(_ interface: String, _ name: String, _ value: JSONValue, instance: String? = nil) -> JSONValue {
    var object: JSONObject = ["interface": .string(interface), "name": .string(name), "value": value]
    if let instance { object["instance"] = .string(instance) }
    return .object(object)
}

func brightness(_ value: Int64) -> JSONValue { property("BrightnessController", "brightness", .integer(value)) }
func power(_ value: String) -> JSONValue { property("PowerController", "powerState", .string(value)) }

func changed(
    _ deviceID: String, _ properties: [JSONValue], state: [JSONValue]? = nil, subject: String = "u1",
    cause: String = "PHYSICAL_INTERACTION"
) -> PostedEvent {
    var body: JSONObject = ["cause": .string(cause), "properties": .array(properties)]
    if let state { body["state"] = .array(state) }
    return PostedEvent(subject: subject, deviceID: deviceID, kind: .changed, body: body)
}

func changed(
    _ properties: [JSONValue], state: [JSONValue]? = nil, subject: String = "u1", cause: String = "PHYSICAL_INTERACTION"
) -> PostedEvent {
    changed("d1", properties, state: state, subject: subject, cause: cause)
}

func event(_ kind: PostedEvent.Kind, _ deviceID: String = "d1", subject: String = "u1") -> PostedEvent {
    PostedEvent(subject: subject, deviceID: deviceID, kind: kind, body: ["mark": .string(kind.rawValue)])
}

extension Outbox where Self: GrantStore {
    /// Stores a grant of each key, so that its lane is there.
    func open(_ keys: GrantKey...) async throws {
        for key in keys { try await put(credentials(key.skill), for: key, sequence: 1, by: soon) }
    }

    func lease(_ owner: String = "w1", for duration: Duration = .seconds(30)) async throws -> LeasedLane? {
        try await leaseLane(owner: owner, for: duration, by: soon)
    }

    /// Leases every lane that has something due, and sends and finishes it all.
    func drain() async throws -> [OutboxRow] {
        var sent: [OutboxRow] = []
        while let lane = try await lease() {
            for row in lane.rows {
                #expect(try await finish(row, lane.lease, by: soon))
                sent.append(row)
            }
            try await releaseLane(lane.lease, by: soon)
        }
        return sent
    }
}

extension OutboxRow {
    var properties: [JSONValue]? { body["properties"]?.array }
    var state: [JSONValue]? { body["state"]?.array }
}
