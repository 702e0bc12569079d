import HTTP
import JSON

/// `GET /openapi.json`: what this service answers, for the programs of those who call it (OpenAPI 3.1.0).
///
/// It tells of the routes that the configuration mounts, and of no others.
struct OpenAPIDocument: Sendable {
    static let path = "/openapi.json"

    /// The document.
    let json: JSONValue

    /// Describes `routes`, which are reached under `publicURL`.
    init(publicURL: String, company: String, routes: [Route]) {
        var paths: JSONObject = [:]
        for route in routes {
            let operation = OpenAPIOperation.table.first { $0.method == route.method && $0.path == route.path }
            var item = paths[route.path]?.object ?? [:]
            item[route.method.rawValue.lowercased()] = (operation ?? .page(route.method, route.path)).json
            paths[route.path] = .object(item)
        }
        let tags = OpenAPIOperation.Tag.allCases.map { tag in
            JSONValue.object(["name": .string(tag.rawValue), "description": .string(tag.text)])
        }
        json = [
            "openapi": "3.1.0",
            "info": [
                "title": .string("Skillgate of \(company)"), "version": "1",
                "description": .string(
                    "Links accounts to voice assistants and answers Alexa's requests. Faults outside Alexa's and "
                        + "OAuth's own formats are problem JSON (RFC 9457); `code` is stable, and `traceID` finds the log line."
                ),
            ],
            "servers": [["url": .string(publicURL)]],
            "tags": .array(tags),
            "paths": .object(paths),
            "components": ["securitySchemes": OpenAPIOperation.Caller.schemes, "schemas": OpenAPISchemas.all],
        ]
    }

    var route: Route {
        let body = json.encoded()
        return Route(.get, Self.path, timeLimit: .seconds(5)) { _, _ in
            HTTPResponse(
                status: 200, fields: ["Content-Type": "application/json", "Cache-Control": "public, max-age=300"],
                body: body)
        }
    }
}
