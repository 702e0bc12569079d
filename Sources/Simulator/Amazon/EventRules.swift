import JSON
import Time

/// The rules for messages to the event gateway.
///
/// They are written after Alexa's documentation and not after the encoder of `Alexa`, so that each finds the other's
/// mistakes.
enum EventRules {
    private static let endpointLimit = 300

    static func judge(_ message: JSONValue, token: String) throws(EventRefusal) {
        let root = try object(message, "the message", ["event", "context"])
        let event = try object(root["event"], "event", ["header", "endpoint", "payload"])
        let payload = try object(event["payload"], "event.payload", nil)
        let header = try object(
            event["header"], "event.header",
            [
                "namespace", "name", "messageId", "payloadVersion", "correlationToken", "eventCorrelationToken",
                "instance",
            ])
        guard let namespace = header["namespace"]?.string, let name = header["name"]?.string else {
            throw .invalid("event.header has no namespace or name")
        }
        try judge(header, namespace)
        let discovery = namespace == "Alexa.Discovery"
        if discovery {
            guard event["endpoint"] == nil else { throw .invalid("an event of Alexa.Discovery has no endpoint") }
            try scope(payload["scope"], "event.payload.scope", token)
        } else {
            guard payload["scope"] == nil else { throw .invalid("the scope belongs into event.endpoint") }
            let endpoint = try object(event["endpoint"], "event.endpoint", ["scope", "endpointId", "cookie"])
            try scope(endpoint["scope"], "event.endpoint.scope", token)
            guard isEndpointID(endpoint["endpointId"]) else { throw .invalid("event.endpoint.endpointId is none") }
        }
        let context = try context(root["context"])
        switch (namespace, name) {
        case ("Alexa", "ChangeReport"): try changeReport(payload, context: context)
        case ("Alexa.Discovery", "AddOrUpdateReport"): try addOrUpdateReport(payload)
        case ("Alexa.Discovery", "DeleteReport"): try deleteReport(payload)
        case ("Alexa.DoorbellEventSource", "DoorbellPress"),
            ("Alexa.SceneController", "ActivationStarted"), ("Alexa.SceneController", "DeactivationStarted"):
            try cause(payload["cause"], "event.payload.cause")
            guard isTimestamp(payload["timestamp"]) else { throw .invalid("event.payload.timestamp is none") }
        default:
            // Whatever else comes here is the late answer to a directive.
            guard !discovery, !["DeferredResponse", "StateReport"].contains(name),
                header["correlationToken"]?.string?.isEmpty == false
            else { throw .invalid("\(namespace) \(name) is no event of the gateway") }
        }
    }

    private static func judge(_ header: JSONObject, _ namespace: String) throws(EventRefusal) {
        guard namespace == "Alexa" || namespace.hasPrefix("Alexa.") else { throw .invalid("unknown namespace") }
        guard header["payloadVersion"]?.string == "3" else { throw .invalid("payloadVersion is not \"3\"") }
        let messageID = header["messageId"]?.string ?? ""
        let isPlain = messageID.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45
        }
        guard (1...127).contains(messageID.utf8.count), isPlain else { throw .invalid("messageId is none") }
        if let correlationToken = header["correlationToken"], correlationToken.string == nil {
            throw .invalid("correlationToken is no text")
        }
    }

    private static func changeReport(_ payload: JSONObject, context: Set<String>) throws(EventRefusal) {
        let change = try object(payload["change"], "event.payload.change", ["cause", "properties"])
        try cause(change["cause"], "event.payload.change.cause")
        let changed = try properties(change["properties"], "event.payload.change.properties")
        guard !changed.isEmpty else { throw .invalid("nothing changed") }
        guard changed.isDisjoint(with: context) else { throw .invalid("a property is changed and in the context too") }
    }

    private static func addOrUpdateReport(_ payload: JSONObject) throws(EventRefusal) {
        for endpoint in try endpoints(payload) {
            let endpoint = try object(endpoint, "an endpoint", nil)
            for member in ["friendlyName", "description", "manufacturerName"] {
                guard let text = endpoint[member]?.string, (1...128).contains(text.count) else {
                    throw .invalid("an endpoint's \(member) is missing or too long")
                }
            }
            for member in ["displayCategories", "capabilities"] {
                guard let list = endpoint[member]?.array, !list.isEmpty else {
                    throw .invalid("an endpoint's \(member) is missing or empty")
                }
            }
        }
    }

    private static func deleteReport(_ payload: JSONObject) throws(EventRefusal) {
        for endpoint in try endpoints(payload) {
            _ = try object(endpoint, "an endpoint of a DeleteReport", ["endpointId"])
        }
    }

    private static func endpoints(_ payload: JSONObject) throws(EventRefusal) -> [JSONValue] {
        _ = try object(.object(payload), "event.payload", ["endpoints", "scope"])
        guard let endpoints = payload["endpoints"]?.array, !endpoints.isEmpty else {
            throw .invalid("event.payload.endpoints is missing or empty")
        }
        guard endpoints.count <= endpointLimit else { throw .tooLarge("more than \(endpointLimit) endpoints") }
        guard endpoints.allSatisfy({ isEndpointID($0["endpointId"]) }) else {
            throw .invalid("an endpointId is none")
        }
        guard Set(endpoints.compactMap { $0["endpointId"]?.string }).count == endpoints.count else {
            throw .invalid("an endpointId is there twice")
        }
        return endpoints
    }

    /// The keys of the context's properties.
    private static func context(_ context: JSONValue?) throws(EventRefusal) -> Set<String> {
        guard let context else { return [] }
        let object = try object(context, "context", ["properties"])
        guard let list = object["properties"] else { return [] }
        return try properties(list, "context.properties")
    }

    private static func properties(_ list: JSONValue?, _ path: String) throws(EventRefusal) -> Set<String> {
        guard let list = list?.array else { throw .invalid("\(path) is no list") }
        var keys: Set<String> = []
        for property in list {
            let property = try object(
                property, "a property of \(path)",
                ["namespace", "instance", "name", "value", "timeOfSample", "uncertaintyInMilliseconds"])
            guard let namespace = property["namespace"]?.string, let name = property["name"]?.string,
                property["value"] != nil, isTimestamp(property["timeOfSample"]),
                let uncertainty = property["uncertaintyInMilliseconds"]?.double, uncertainty >= 0
            else { throw .invalid("a property of \(path) lacks a member") }
            let key = "\(namespace)/\(property["instance"]?.string ?? "")/\(name)"
            guard keys.insert(key).inserted else { throw .invalid("\(path) holds a property twice") }
        }
        return keys
    }

    private static func scope(_ scope: JSONValue?, _ path: String, _ token: String) throws(EventRefusal) {
        let scope = try object(scope, path, ["type", "token"])
        guard scope["type"]?.string == "BearerToken" else { throw .invalid("\(path).type is not BearerToken") }
        guard scope["token"]?.string == token else { throw .token("\(path) holds another token than the header") }
    }

    private static func cause(_ cause: JSONValue?, _ path: String) throws(EventRefusal) {
        let known: Set = [
            "APP_INTERACTION", "PHYSICAL_INTERACTION", "PERIODIC_POLL", "RULE_TRIGGER", "VOICE_INTERACTION",
            "INVALID_CREDENTIALS", "SUBSCRIPTION_EXPIRED", "ALEXA_INTERACTION",
        ]
        let cause = try object(cause, path, ["type"])
        guard let type = cause["type"]?.string, known.contains(type) else { throw .invalid("\(path).type is unknown") }
    }

    /// The object, provided that it has no members but those named.
    private static func object(
        _ value: JSONValue?, _ path: String, _ members: Set<String>?
    ) throws(EventRefusal) -> JSONObject {
        guard let object = value?.object else { throw .invalid("\(path) is no object") }
        if let members, let unknown = object.names.first(where: { !members.contains($0) }) {
            throw .invalid("\(path) has a member \(unknown)")
        }
        return object
    }

    private static func isEndpointID(_ value: JSONValue?) -> Bool {
        guard let id = value?.string, (1...256).contains(id.utf8.count) else { return false }
        return id.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || "_-=#;:?@&".utf8.contains(byte)
        }
    }

    private static func isTimestamp(_ value: JSONValue?) -> Bool {
        guard let text = value?.string, text.hasSuffix("Z"), UnixTime(iso8601: text) != nil else { return false }
        return text.split(separator: ".").count < 2 || text.split(separator: ".")[1].utf8.count <= 4
    }
}
