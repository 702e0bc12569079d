import Crypto
import FoundationEssentials
import HTTP
import JSON
import OAuth
import Service
import Storage
import TestSupport
import Testing

/// An embedded provider with devices, spoken to as a resource server is.
struct DeviceHarness {
    let clock = ManualClock()
    let provider: EmbeddedProvider

    private static let config = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "config")

    /// A file of the folder `config`.
    static func file(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: config.appending(path: name))) }

    /// The users of the demo: u1001 and u1002.
    static func users() throws -> Users { try Users(json5: file("users.json5"), development: true) }

    /// The demo home, or the devices of a file of the test's own.
    init(_ file: String? = nil) async throws {
        let store = MemoryStore(clock: clock.wall)
        let keys = SigningKeys(store: store, tokenSeconds: 3600, clock: clock.wall)
        try await keys.load()
        let bytes = try file.map { Array($0.utf8) } ?? Self.file("devices.json5")
        let users = try Self.users()
        provider = EmbeddedProvider(
            issuer: "http://127.0.0.1:8080", users: UserDirectory(file: users, store: store, clock: clock.wall),
            devices: try Devices(json5: bytes, users: users), keys: keys,
            accountScopes: ["profile"], deviceScopes: ["devices"], clock: clock.wall, monotonic: clock.monotonic)
    }

    /// One device of u1001 with these capabilities, members in the words of the file.
    static func file(capabilities: String, state: String = "", behaviour: String = "") -> String {
        "{devices:[{id:'d',name:'D',owners:['u1001'],capabilities:[\(capabilities)],state:[\(state)],behaviour:{\(behaviour)}}]}"
    }

    func token(_ subject: String, scopes: Set<String> = ["devices"]) throws -> Secret {
        let claims = AccessTokenMinter.Claims(subject: subject, clientID: "alexa", scopes: scopes, grantID: nil)
        return try provider.accessToken(claims, lifetimeSeconds: 3600)
    }

    func send(
        _ method: HTTPMethod, _ target: String, as subject: String = "u1001", scopes: Set<String> = ["devices"],
        body: [UInt8] = [], token: Secret? = nil
    ) async throws -> (status: Int, json: JSONValue) {
        var fields: HTTPFields = [
            "Authorization": "Bearer \((try token ?? self.token(subject, scopes: scopes)).exposed)"
        ]
        if method == .post { fields["Content-Type"] = "application/json" }
        let response = await Router(provider.routes).respond(
            to: HTTPRequest(method: method, target: target, fields: fields, body: body, deadline: clock.deadline()))
        return (response.status, response.body.isEmpty ? .null : try JSONValue(parsing: response.body))
    }

    func command(
        _ device: String, _ interface: String, _ name: String, instance: String? = nil, _ arguments: JSONValue = [:],
        as subject: String = "u1001", token: Secret? = nil
    ) async throws -> (status: Int, json: JSONValue) {
        var body: JSONObject = ["interface": .string(interface), "command": .string(name), "arguments": arguments]
        body["instance"] = instance.map(JSONValue.string)
        return try await send(
            .post, "/v1/devices/\(percentEncoded(device))/commands", as: subject,
            body: JSONValue.object(body).encoded(), token: token)
    }

    /// The state of a device, its values by `Interface.name` or `Interface.instance.name`.
    func state(_ device: String, as subject: String = "u1001") async throws -> [String: JSONValue] {
        let (status, json) = try await send(.get, "/v1/devices/\(percentEncoded(device))/state", as: subject)
        try #require(status == 200)
        return Self.values(json)
    }

    /// The properties of an answer, by the same names.
    static func values(_ json: JSONValue) -> [String: JSONValue] {
        (json["properties"]?.array ?? []).reduce(into: [:]) { values, property in
            let name = ["interface", "instance", "name"].compactMap { property[$0]?.string }.joined(separator: ".")
            values[name] = property["value"]
        }
    }
}
