import Alexa
import Concurrency
import HTTP
import JSON
import Service
import TestSupport
import Time

/// Remembers what the endpoint reports of devices.
final class RecordedReports: DeviceReporting {
    struct Commanded: Hashable {
        let subject: String
        let deviceID: String
        let interface: String
        var instance: String?
        let properties: [DeviceProperty]
    }

    private let state = Locked<(discovered: [(String, [DeviceEndpoint])], commanded: [Commanded])>(([], []))

    var discovered: [(subject: String, devices: [DeviceEndpoint])] { state.withLock { $0.discovered } }
    var commanded: [Commanded] { state.withLock { $0.commanded } }

    func discovered(subject: String, devices: [DeviceEndpoint]) {
        state.withLock { $0.discovered.append((subject, devices)) }
    }

    func commanded(
        subject: String, deviceID: String, interface: String, instance: String?, properties: [DeviceProperty]
    ) {
        state.withLock {
            $0.commanded.append(
                Commanded(
                    subject: subject, deviceID: deviceID, interface: interface, instance: instance,
                    properties: properties))
        }
    }
}

extension ManualClock {
    /// An answer that takes its time, as far as the deadline goes; the clock moves meanwhile, and nobody waits.
    func slowly(
        _ duration: Duration, _ answer: @escaping RecordingHTTPClient.Answer
    ) -> RecordingHTTPClient.Answer {
        { request, deadline throws(HTTPClientError) in
            let left = deadline.remaining(at: self.instant)
            guard duration <= left else {
                self.advance(by: left)
                throw .timedOut
            }
            self.advance(by: duration)
            return try await answer(request, deadline)
        }
    }
}

/// A store that keeps no id and finds none.
struct BrokenEndpointIDStore: EndpointIDStore {
    func keep(digest: String, deviceID: String, by deadline: Deadline) async throws(OutboxError) {
        throw .unavailable("disk full")
    }
    func deviceID(digest: String, by deadline: Deadline) async throws(OutboxError) -> String? {
        throw .unavailable("disk full")
    }
}

/// Amazon's schema of what a skill sends, where the fixtures are there.
enum SmartHomeSchema {
    private static let validator = Result {
        let name = "alexa-smart-home/alexa_smart_home_message_schema.json"
        guard Fixtures.exists(name) else { return SchemaValidator?.none }
        return try SchemaValidator(JSONValue(parsing: try Fixtures.bytes(name)))
    }

    /// Where an event does not fit; nil where it does.
    ///
    /// What Alexa's documentation has and the schema lacks is not held against the event.
    static func fault(of event: JSONValue) throws -> String? { try validator.get()?.fault(in: inItsWords(event)) }

    /// The event without what the schema does not know: `Alexa.PlaybackStateReporter`, two modes of thermostats, and
    /// categories, whose list is open.
    private static func inItsWords(_ value: JSONValue) -> JSONValue {
        if let list = value.array { return .array(list.filter { !isUnknown($0) }.map(inItsWords)) }
        guard var object = value.object else { return value }
        for (name, member) in object {
            let isOpenList = name == "displayCategories" && member.array?.allSatisfy { $0.string != nil } == true
            object[name] = isOpenList ? ["OTHER"] : inItsWords(member)
        }
        return .object(object)
    }

    private static func isUnknown(_ value: JSONValue) -> Bool {
        value["interface"] == "Alexa.PlaybackStateReporter" || value["namespace"] == "Alexa.PlaybackStateReporter"
            || value == "CUSTOM" || value == "EM_HEAT"
    }
}
