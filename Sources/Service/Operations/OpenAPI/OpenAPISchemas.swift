import JSON

/// The schemas that operations refer to, by name (JSON Schema 2020-12, as OpenAPI 3.1 has it).
enum OpenAPISchemas {
    static let all: JSONValue = {
        var schemas: JSONObject = [:]
        for (name, schema) in linking + oauth + resources + administration { schemas[name] = schema }
        return .object(schemas)
    }()

    private static let text: JSONValue = ["type": "string"]
    private static let flag: JSONValue = ["type": "boolean"]
    private static let integer: JSONValue = ["type": "integer"]
    private static let anything: JSONValue = ["type": "object"]

    /// An object that must have the members in `required`, and may have more than are named.
    private static func object(_ members: JSONObject, required: [String] = []) -> JSONValue {
        var schema: JSONObject = ["type": "object", "properties": .object(members)]
        if !required.isEmpty { schema["required"] = .array(required.map { .string($0) }) }
        return .object(schema)
    }

    private static func list(of item: JSONValue) -> JSONValue { ["type": "array", "items": item] }

    private static func choice(_ values: String...) -> JSONValue {
        ["type": "string", "enum": .array(values.map { .string($0) })]
    }

    private static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/components/schemas/\(name)")] }

    private static let linkStatus = choice("LINKED", "NOT_LINKED", "PENDING", "UNKNOWN")

    private static let linking: [(String, JSONValue)] = [
        (
            "LinkStart",
            object(
                [
                    "companionAppURL": text, "LWAFallBackURL": text, "alexaAppUrl": text, "lwaFallBackUrl": text,
                    "state": text,
                ], required: ["companionAppURL", "LWAFallBackURL", "alexaAppUrl", "lwaFallBackUrl", "state"])
        ),
        (
            "LinkFinish",
            [
                "oneOf": [
                    object(["redirect": text], required: ["redirect"]),
                    object(["amazonAuthCode": text, "state": text], required: ["amazonAuthCode", "state"]),
                    object(
                        ["error": text, "errorDescription": text, "state": text], required: ["error", "state"]),
                ]
            ]
        ),
        (
            "LinkAnswer",
            object(
                [
                    "status": choice("LINKED", "PENDING"), "traceID": text, "id": text, "skill": text, "stage": text,
                    "region": choice("NA", "EU", "FE"),
                ], required: ["status", "traceID", "id", "skill", "stage"])
        ),
        (
            "Links",
            object(
                [
                    "status": linkStatus,
                    "links": list(
                        of: object(
                            [
                                "id": text, "status": linkStatus, "skill": text, "stage": text,
                                "region": ["type": ["string", "null"]], "flow": choice("app", "web", "alexa"),
                                "linkedAt": text,
                            ], required: ["id", "status", "skill", "stage", "flow", "linkedAt"])),
                ], required: ["status", "links"])
        ),
        (
            "AppFlip",
            object(
                [
                    "clientID": text, "redirectURI": text, "state": text, "scope": text,
                    "decision": choice("agree", "deny", "cancel"),
                ], required: ["clientID", "redirectURI", "state", "decision"])
        ),
        ("AppFlipAnswer", object(["openURL": text], required: ["openURL"])),
        (
            "Problem",
            object(
                [
                    "type": text, "title": text, "status": integer, "code": text, "detail": text, "traceID": text,
                    "userMessage": text, "retry": choice("never", "later", "now"),
                ], required: ["type", "title", "status", "code", "traceID"])
        ),
        ("AlexaMessage", anything),
        ("Reciprocal", object(["grant_type": text, "code": text, "client_id": text], required: ["code"])),
    ]

    private static let oauth: [(String, JSONValue)] = [
        (
            "TokenRequest",
            object(
                [
                    "grant_type": choice("authorization_code", "refresh_token", "client_credentials"), "code": text,
                    "redirect_uri": text, "code_verifier": text, "refresh_token": text, "scope": text,
                    "client_id": text, "client_secret": text,
                ], required: ["grant_type"])
        ),
        (
            "Tokens",
            object(
                [
                    "access_token": text, "token_type": text, "expires_in": integer, "refresh_token": text,
                    "scope": text,
                ], required: ["access_token", "token_type", "expires_in"])
        ),
        (
            "TokenForm",
            object(
                ["token": text, "token_type_hint": text, "client_id": text, "client_secret": text],
                required: ["token"])
        ),
        (
            "Introspection",
            object(
                [
                    "active": flag, "sub": text, "client_id": text, "scope": text, "exp": integer, "iat": integer,
                    "iss": text, "aud": ["type": ["string", "array"]],
                ], required: ["active"])
        ),
        ("OAuthFault", object(["error": text, "error_description": text], required: ["error"])),
        (
            "Keys",
            object(["keys": list(of: object(["kty": text, "kid": text], required: ["kty"]))], required: ["keys"])
        ),
        (
            "Metadata",
            object(
                ["issuer": text, "authorization_endpoint": text, "token_endpoint": text, "jwks_uri": text],
                required: ["issuer"])
        ),
        ("User", object(["sub": text, "name": text, "email": text], required: ["sub"])),
        ("Page", text),
        ("PageForm", anything),
    ]

    private static let resources: [(String, JSONValue)] = [
        (
            "Devices",
            object(
                [
                    "devices": list(
                        of: object(["id": text, "name": text, "capabilities": list(of: anything)], required: ["id"])),
                    "cursor": text,
                ], required: ["devices"])
        ),
        (
            "DeviceState",
            object([
                "properties": list(
                    of: object(
                        ["interface": text, "name": text, "value": [:], "sampledAt": text],
                        required: ["interface", "name", "value"])), "payload": anything,
            ])
        ),
        (
            "DeviceCommand",
            object(
                ["interface": text, "command": text, "instance": text, "arguments": anything],
                required: ["interface", "command"])
        ),
        ("DeviceFault", object(["error": text, "message": text], required: ["error"])),
        (
            "Event",
            object(
                [
                    "sub": text, "deviceID": text,
                    "kind": choice(
                        "changed", "added", "removed", "doorbellPress", "deferred", "sceneActivated",
                        "sceneDeactivated"), "cause": text, "properties": list(of: anything),
                    "state": list(of: anything), "device": anything, "correlationToken": text,
                ], required: ["sub", "deviceID"])
        ),
        ("Events", ["oneOf": [reference("Event"), list(of: reference("Event"))]]),
        ("Accepted", object(["accepted": integer], required: ["accepted"])),
    ]

    private static let administration: [(String, JSONValue)] = [
        (
            "Attempts",
            object(["attempts": list(of: reference("Trace")), "links": list(of: anything)], required: ["attempts"])
        ),
        (
            "Trace",
            object(
                [
                    "id": text, "kind": text, "outcome": choice("ok", "refused", "failed", "skipped"),
                    "steps": list(of: anything),
                ], required: ["id", "outcome", "steps"])
        ),
        ("Health", object(["status": text, "clock": text], required: ["status", "clock"])),
        ("Status", object(["status": text], required: ["status"])),
        ("File", anything),
        ("Files", list(of: anything)),
    ]
}
