import Concurrency
import Crypto
import HTTP
import JSON
import Service
import TestSupport
import Testing
import Time

/// `GET /openapi.json` is held against the service that gives it.
@Suite("The description of the routes", .timeLimit(.minutes(5))) struct OpenAPITests {
    /// The operations that callers from elsewhere rely on, with the schema of what they get.
    private static let promised: [(method: String, path: String, schema: String?)] = [
        ("get", "/alexaurl", "LinkStart"), ("post", "/alexa/link", "LinkAnswer"), ("get", "/alexa/link", "Links"),
        ("delete", "/alexa/link", "Links"), ("post", "/alexa/custom", "AlexaMessage"),
        ("post", "/alexa/smart-home", "AlexaMessage"), ("get", "/oauth/authorize", nil),
        ("post", "/oauth/authorize", nil), ("post", "/oauth/token", "Tokens"), ("post", "/oauth/revoke", nil),
        ("post", "/oauth/introspect", "Introspection"), ("get", "/oauth/userinfo", "User"),
        ("post", "/oauth/userinfo", "User"), ("get", "/oauth/jwks.json", "Keys"),
        ("get", "/.well-known/oauth-authorization-server", "Metadata"), ("get", "/v1/me", "User"),
        ("get", "/v1/devices", "Devices"), ("get", "/v1/devices/{id}/state", "DeviceState"),
        ("post", "/v1/devices/{id}/commands", "DeviceState"), ("post", "/v1/events", "Accepted"),
        ("get", "/admin/links", "Attempts"), ("get", "/admin/traces/{id}", "Trace"), ("get", "/healthz", "Health"),
        ("get", "/readyz", "Status"), ("get", "/metrics", nil), ("get", "/account/links", nil),
        ("post", "/account/sign-in", nil),
    ]

    private func document(_ harness: LinkHarness) async throws -> JSONValue {
        let answer = try await harness.call(.get, "/openapi.json")
        #expect(answer.status == 200 && answer.response.fields["Content-Type"] == "application/json")
        return answer.json
    }

    /// Every operation, with its method and path.
    private func operations(_ document: JSONValue) -> [(method: String, path: String, operation: JSONValue)] {
        (document["paths"]?.object ?? [:]).flatMap { path, item in
            (item.object ?? [:]).map { (method: $0, path: path, operation: $1) }
        }
    }

    /// The schema of that name, its references replaced by what they name.
    private func schema(_ name: String, _ document: JSONValue) throws -> JSONValue {
        func whole(_ value: JSONValue) throws -> JSONValue {
            if let reference = value["$ref"]?.string {
                let named = try #require(document["components"]?["schemas"]?[String(reference.dropFirst(21))])
                return try whole(named)
            }
            if let object = value.object {
                var copy: JSONObject = [:]
                for (name, member) in object { copy[name] = try whole(member) }
                return .object(copy)
            }
            return try value.array.map { .array(try $0.map(whole)) } ?? value
        }
        return try whole(try #require(document["components"]?["schemas"]?[name], "no schema \(name)"))
    }

    private func answered(_ operation: JSONValue) -> String? {
        let responses = operation["responses"]?.object ?? [:]
        let good = responses.first { $0.name.hasPrefix("2") }?.value
        return good?["content"]?["application/json"]?["schema"]?["$ref"]?.string.map { String($0.dropFirst(21)) }
    }

    @Test("every route that callers rely on is described, with what it answers", arguments: promised)
    func promises(method: String, path: String, schema: String?) async throws {
        let document = try await document(LinkHarness())
        let operation = try #require(document["paths"]?[path]?[method], "\(method) \(path) is not described")
        #expect(answered(operation) == schema)
    }

    @Test("whatever is described answers, and nothing else does") func mounted() async throws {
        let harness = try await LinkHarness()
        let described = operations(try await document(harness))
        #expect(described.count >= 30)
        // Callers from elsewhere are not to learn that there are figures.
        for (name, path, _) in described where path != "/metrics" {
            let method = HTTPMethod(rawValue: name.uppercased())
            let answer = try await harness.call(method, path.replacing("{id}", with: "x"), method == .post ? [:] : nil)
            #expect(answer.status != 405 && answer.code != "http.notFound", "\(name) \(path): \(answer.status)")
        }
        for path in ["/openapi", "/v2/me", "/oauth/tokens"] {
            #expect(!described.contains { $0.path == path })
            #expect(try await harness.call(.get, path).code == "http.notFound")
        }
    }

    @Test("names are used once, references and path members lead somewhere, callers are known") func sound()
        async throws
    {
        let document = try await document(LinkHarness())
        let described = operations(document)
        let ids = described.compactMap { $0.operation["operationId"]?.string }
        #expect(ids.count == described.count && Set(ids).count == ids.count)
        let tags = (document["tags"]?.array ?? []).compactMap { $0["name"]?.string }
        for (method, path, operation) in described {
            let parameters = operation["parameters"]?.array ?? []
            #expect(
                path.contains("{id}") == parameters.contains { $0["in"] == "path" && $0["name"] == "id" }, "\(path)")
            #expect(operation["responses"]?.object?.isEmpty == false, "\(method) \(path)")
            for tag in operation["tags"]?.array ?? [] { #expect(tags.contains(tag.string ?? "")) }
            for scheme in operation["security"]?.array ?? [] {
                for (name, _) in scheme.object ?? [:] {
                    #expect(document["components"]?["securitySchemes"]?[name] != nil, "\(name)")
                }
            }
        }
        let text = String(decoding: document.encoded(), as: UTF8.self)
        for part in text.split(separator: "#/components/schemas/").dropFirst() {
            let name = String(part.prefix { $0 != "\"" })
            #expect(document["components"]?["schemas"]?[name] != nil, "\(name) is not there")
        }
    }

    @Test(
        "what the service answers fits what is described",
        arguments: [
            "/alexaurl", "/alexa/link", "/v1/me", "/oauth/userinfo", "/healthz", "/readyz", "/oauth/jwks.json",
            "/.well-known/oauth-authorization-server",
        ])
    func answers(path: String) async throws {
        let harness = try await LinkHarness()
        let document = try await document(harness)
        #expect(try await harness.link().status == 200)
        let operation = try #require(document["paths"]?[path]?["get"])
        let name = try #require(answered(operation))
        let answer = try await harness.call(.get, path)
        #expect(answer.status == 200)
        let validator = try SchemaValidator(schema(name, document))
        #expect(validator.fault(in: answer.json) == nil)
        #expect(validator.fault(in: [:]) != nil && validator.fault(in: []) != nil)
    }

    @Test("a link, and each refusal of the app's routes, fit what is described") func linking() async throws {
        let harness = try await LinkHarness()
        let document = try await document(harness)
        let linked = try await harness.link()
        #expect(try SchemaValidator(schema("LinkAnswer", document)).fault(in: linked.json) == nil)
        let problem = try SchemaValidator(schema("Problem", document))
        for answer in [
            try await harness.call(.post, "/alexa/link", ["amazonAuthCode": "x", "state": "unknown.state"]),
            try await harness.call(.get, "/alexaurl?skill=none"),
            try await harness.call(.delete, "/alexa/link?id=none"),
            try await harness.call(.get, "/nowhere"),
        ] {
            #expect(answer.status >= 400 && problem.fault(in: answer.json) == nil, "\(answer.text)")
        }
    }

    @Test("where the operator has a listener of their own, the description is there alone") func apart() async throws {
        let harness = try await LinkHarness { $0.listen.operations = .init(host: "127.0.0.1", port: 0) }
        #expect(try await harness.call(.get, "/openapi.json").status == 404)
        let operations = try #require(harness.running.service.operations)
        let answer = await operations.respond(
            to: HTTPRequest(method: .get, target: "/openapi.json", deadline: harness.running.clock.deadline()))
        #expect(answer.status == 200)
    }
}
