import JSON

extension JSONValue {
    /// Sets the member at a path of names and list places, or takes it away where `value` is nil.
    mutating func set(_ path: String, to value: JSONValue?) {
        let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
        let rest = parts.count > 1 ? parts[1] : nil
        if let index = Int(parts[0]), var list = array {
            if let rest { list[index].set(rest, to: value) } else if let value { list[index] = value }
            self = .array(list)
        } else if var members = object {
            if let rest {
                var member = members[parts[0]] ?? .object([:])
                member.set(rest, to: value)
                members[parts[0]] = member
            } else {
                members[parts[0]] = value
            }
            self = .object(members)
        }
    }
}

/// Messages as the documentation of the event gateway shows them.
enum Messages {
    static let all: [(String, @Sendable (String) -> JSONValue)] = [
        ("ChangeReport", changeReport), ("AddOrUpdateReport", addOrUpdateReport), ("DeleteReport", deleteReport),
        ("DoorbellPress", doorbellPress), ("ActivationStarted", { scene($0, "ActivationStarted") }),
        ("DeactivationStarted", { scene($0, "DeactivationStarted") }), ("Response", { late($0, "Alexa", "Response") }),
        ("ErrorResponse", { late($0, "Alexa", "ErrorResponse") }),
        ("Arm.Response", { late($0, "Alexa.SecurityPanelController", "Arm.Response") }),
    ]

    static func property(_ namespace: String, _ name: String, _ value: JSONValue) -> JSONValue {
        [
            "namespace": .string(namespace), "name": .string(name), "value": value,
            "timeOfSample": "2026-11-30T12:00:00.52Z", "uncertaintyInMilliseconds": 500,
        ]
    }

    static func header(_ namespace: String, _ name: String) -> JSONValue {
        [
            "namespace": .string(namespace), "name": .string(name), "payloadVersion": "3",
            "messageId": "5f8a426e-01e4-4cc9-8b79-65f8bd0fd8a4",
        ]
    }

    static func scope(_ token: String) -> JSONValue { ["type": "BearerToken", "token": .string(token)] }
    static func endpoint(_ token: String) -> JSONValue { ["scope": scope(token), "endpointId": "light-1"] }

    static func changeReport(_ token: String) -> JSONValue {
        [
            "event": [
                "header": header("Alexa", "ChangeReport"), "endpoint": endpoint(token),
                "payload": [
                    "change": [
                        "cause": ["type": "PHYSICAL_INTERACTION"],
                        "properties": [property("Alexa.PowerController", "powerState", "ON")],
                    ]
                ],
            ],
            "context": ["properties": [property("Alexa.BrightnessController", "brightness", 75)]],
        ]
    }

    static func addOrUpdateReport(_ token: String) -> JSONValue {
        [
            "event": [
                "header": header("Alexa.Discovery", "AddOrUpdateReport"),
                "payload": [
                    "scope": scope(token),
                    "endpoints": [
                        [
                            "endpointId": "light-1", "friendlyName": "Lamp", "description": "A lamp",
                            "manufacturerName": "Maker", "displayCategories": ["LIGHT"],
                            "capabilities": [["type": "AlexaInterface", "interface": "Alexa", "version": "3"]],
                        ]
                    ],
                ],
            ]
        ]
    }

    static func deleteReport(_ token: String) -> JSONValue {
        [
            "event": [
                "header": header("Alexa.Discovery", "DeleteReport"),
                "payload": ["scope": scope(token), "endpoints": [["endpointId": "a"], ["endpointId": "b"]]],
            ]
        ]
    }

    static func doorbellPress(_ token: String) -> JSONValue {
        timed(token, "Alexa.DoorbellEventSource", "DoorbellPress")
    }

    static func scene(_ token: String, _ name: String) -> JSONValue { timed(token, "Alexa.SceneController", name) }

    private static func timed(_ token: String, _ namespace: String, _ name: String) -> JSONValue {
        [
            "context": [:],
            "event": [
                "header": header(namespace, name), "endpoint": endpoint(token),
                "payload": ["cause": ["type": "PHYSICAL_INTERACTION"], "timestamp": "2026-11-30T12:00:00Z"],
            ],
        ]
    }

    static func late(_ token: String, _ namespace: String, _ name: String) -> JSONValue {
        var message: JSONValue = [
            "event": ["header": header(namespace, name), "endpoint": endpoint(token), "payload": [:]]
        ]
        message.set("event.header.correlationToken", to: "abc==")
        return message
    }
}

/// A rule of the gateway, with values at one place of a message that break it.
struct EventRule: Sendable {
    let name: String
    let message: @Sendable (String) -> JSONValue
    let path: String
    let wrong: [JSONValue?]
    var status = 400
    var code = "INVALID_REQUEST_EXCEPTION"

    static let all: [EventRule] = [
        EventRule(name: "top level", message: Messages.changeReport, path: "event", wrong: [nil, [], "x"]),
        EventRule(name: "other members", message: Messages.changeReport, path: "directive", wrong: [[:], 1, "x"]),
        EventRule(
            name: "EVG-4: the event one level too deep", message: Messages.addOrUpdateReport, path: "event.event",
            wrong: [[:], 1, Messages.header("Alexa.Discovery", "AddOrUpdateReport")]),
        EventRule(
            name: "namespace", message: Messages.changeReport, path: "event.header.namespace",
            wrong: [nil, "", "Amazon", "alexa", 1]),
        EventRule(
            name: "name", message: Messages.changeReport, path: "event.header.name",
            wrong: [nil, "StateReport", "DeferredResponse", "changeReport", 1]),
        EventRule(
            name: "version", message: Messages.changeReport, path: "event.header.payloadVersion",
            wrong: [nil, 3, "2", "3.0"]),
        EventRule(
            name: "message id", message: Messages.changeReport, path: "event.header.messageId",
            wrong: [nil, "", "a b", "ä", .string(String(repeating: "a", count: 128)), 7]),
        EventRule(
            name: "correlation token", message: { Messages.late($0, "Alexa", "Response") },
            path: "event.header.correlationToken", wrong: [nil, "", 5]),
        EventRule(
            name: "endpoint", message: Messages.changeReport, path: "event.endpoint",
            wrong: [nil, [], Messages.scope("x")]),
        EventRule(
            name: "endpoint id", message: Messages.doorbellPress, path: "event.endpoint.endpointId",
            wrong: [nil, "", "a b", "a/b", .string(String(repeating: "a", count: 257)), 1]),
        EventRule(
            name: "scope of a report of changes", message: Messages.changeReport, path: "event.endpoint.scope",
            wrong: [nil, [:], ["type": "Bearer", "token": "x"], "x"]),
        EventRule(
            name: "type of the scope", message: Messages.changeReport, path: "event.endpoint.scope.type",
            wrong: [nil, "bearer", "BearerTokenWithPartition"]),
        EventRule(
            name: "token of the scope", message: Messages.changeReport, path: "event.endpoint.scope.token",
            wrong: [nil, "", "Atza|other"], status: 401, code: "INVALID_ACCESS_TOKEN_EXCEPTION"),
        EventRule(
            name: "scope in the wrong place", message: Messages.changeReport, path: "event.payload.scope",
            wrong: [[:], Messages.scope("x"), "x"]),
        EventRule(
            name: "scope of discovery", message: Messages.addOrUpdateReport, path: "event.payload.scope",
            wrong: [nil, [], ["type": "Bearer", "token": "x"]]),
        EventRule(
            name: "token of discovery's scope", message: Messages.deleteReport, path: "event.payload.scope.token",
            wrong: [nil, "", "Atza|other"], status: 401, code: "INVALID_ACCESS_TOKEN_EXCEPTION"),
        EventRule(
            name: "endpoint of discovery", message: Messages.deleteReport, path: "event.endpoint",
            wrong: [[:], Messages.endpoint("x"), "x"]),
        EventRule(
            name: "cause", message: Messages.changeReport, path: "event.payload.change.cause",
            wrong: [nil, [:], ["type": "MAGIC"], "PHYSICAL_INTERACTION"]),
        EventRule(
            name: "cause of a ring", message: Messages.doorbellPress, path: "event.payload.cause.type",
            wrong: [nil, "RING", 1]),
        EventRule(
            name: "time of a ring", message: Messages.doorbellPress, path: "event.payload.timestamp",
            wrong: [nil, "2026-11-30T12:00:00+01:00", "2026-11-30T12:00:00.1234Z", "now", 1]),
        EventRule(
            name: "changed properties", message: Messages.changeReport, path: "event.payload.change.properties",
            wrong: [nil, [], [:], ["x"]]),
        EventRule(
            name: "changed and unchanged are apart", message: Messages.changeReport,
            path: "context.properties.0",
            wrong: [
                Messages.property("Alexa.PowerController", "powerState", "ON"),
                Messages.property("Alexa.PowerController", "powerState", "OFF"),
                [
                    "namespace": "Alexa.PowerController", "name": "powerState", "value": 1,
                    "timeOfSample": "2026-11-30T12:00:00Z", "uncertaintyInMilliseconds": 0,
                ],
            ]),
        EventRule(
            name: "context", message: Messages.changeReport, path: "context",
            wrong: [[], "x", ["other": []], ["properties": [:]]]),
        EventRule(
            name: "member of a property", message: Messages.changeReport,
            path: "event.payload.change.properties.0.uncertaintyInMilliseconds", wrong: [nil, -1, "0"]),
        EventRule(
            name: "time of a property", message: Messages.changeReport, path: "context.properties.0.timeOfSample",
            wrong: [nil, "2026-11-30 12:00:00Z", "2026-11-30T12:00:00"]),
        EventRule(
            name: "unknown member of a property", message: Messages.changeReport,
            path: "context.properties.0.interface", wrong: ["x", 1, []]),
        EventRule(
            name: "added endpoints", message: Messages.addOrUpdateReport, path: "event.payload.endpoints",
            wrong: [nil, [], [["endpointId": "a"]], ["x"]]),
        EventRule(
            name: "name of an endpoint", message: Messages.addOrUpdateReport,
            path: "event.payload.endpoints.0.friendlyName",
            wrong: [nil, "", .string(String(repeating: "a", count: 129))]),
        EventRule(
            name: "capabilities", message: Messages.addOrUpdateReport, path: "event.payload.endpoints.0.capabilities",
            wrong: [nil, [], [:]]),
        EventRule(
            name: "removed endpoints", message: Messages.deleteReport, path: "event.payload.endpoints",
            wrong: [
                nil, [["endpointId": "a", "friendlyName": "b"]], [["endpointId": "a"], ["endpointId": "a"]],
                [["endpointId": "a b"]],
            ]),
    ]
}
