import HTTP
import JSON

/// What OpenAPI tells of one method at one path (OpenAPI 3.1.0 §4.8.10).
struct OpenAPIOperation: Sendable {
    /// Whose route it is.
    enum Tag: String, CaseIterable {
        case apps, alexa, oauth, resources, events, pages, administration, files

        var text: String {
            switch self {
            case .apps: "What the company's app calls for its user"
            case .alexa: "What Alexa calls, itself or by a Lambda function"
            case .oauth: "The OAuth 2.0 provider"
            case .resources: "The embedded resource server"
            case .events: "What the company's back end tells of devices"
            case .pages: "Pages for browsers"
            case .administration: "What the operator reads"
            case .files: "Files that systems read"
            }
        }
    }

    /// How a caller proves itself.
    enum Caller {
        case anybody
        /// A user's access token, of an app where apps are named.
        case user
        /// A client's Basic credentials or `client_credentials` token.
        case client
        /// Alexa's signature.
        case alexa
        /// The forwarder's signature.
        case forwarder

        static let schemes: JSONValue = [
            "user": ["type": "http", "scheme": "bearer", "description": "The user's access token"],
            "client": ["type": "http", "scheme": "basic", "description": "A client of provider.clients"],
            "clientToken": [
                "type": "http", "scheme": "bearer", "description": "A client_credentials token of such a client",
            ],
            "alexa": [
                "type": "apiKey", "in": "header", "name": "Signature-256",
                "description": "Alexa's signature of the body, with SignatureCertChainUrl",
            ],
            "forwarder": [
                "type": "apiKey", "in": "header", "name": "X-Skillgate-Forwarder",
                "description": "t=EPOCH,v1=HEX(HMAC-SHA256(secret, t + \".\" + path with query + \".\" + body))",
            ],
        ]

        var json: JSONValue {
            switch self {
            case .anybody: []
            case .user: [["user": []]]
            case .client: [["client": []], ["clientToken": []]]
            case .alexa: [["alexa": []]]
            case .forwarder: [["forwarder": []]]
            }
        }
    }

    /// A member of the query or of the path.
    struct Parameter {
        let name: String
        var isPath = false
        var isRequired = false
        let text: String

        var json: JSONValue {
            [
                "name": .string(name), "in": isPath ? "path" : "query", "required": .bool(isPath || isRequired),
                "description": .string(text), "schema": ["type": "string"],
            ]
        }
    }

    /// A body: its media type, and the name of its schema.
    struct Body {
        var mediaType = "application/json"
        let schema: String

        var json: JSONValue {
            [mediaType: ["schema": ["$ref": .string("#/components/schemas/\(schema)")]]]
        }
    }

    let method: HTTPMethod
    let path: String
    /// `operationId`, by which generators name functions.
    let id: String
    let tag: Tag
    let summary: String
    var caller = Caller.anybody
    var parameters: [Parameter] = []
    var body: Body?
    var status = 200
    /// What is answered where all is well; nil has no body, or one that is not JSON.
    var answer: Body?
    /// The statuses of faults.
    var faults: [Int] = []
    /// What faults are told in; nil where they have no body.
    var fault: Body?

    var json: JSONValue {
        var object: JSONObject = [
            "operationId": .string(id), "tags": [.string(tag.rawValue)], "summary": .string(summary),
            "security": caller.json,
        ]
        if !parameters.isEmpty { object["parameters"] = .array(parameters.map(\.json)) }
        if let body { object["requestBody"] = ["required": true, "content": body.json] }
        var responses: JSONObject = [:]
        responses["\(status)"] = Self.response("as asked", answer)
        for status in faults { responses["\(status)"] = Self.response(phrase(of: status), fault) }
        object["responses"] = .object(responses)
        return .object(object)
    }

    private static func response(_ text: String, _ body: Body?) -> JSONValue {
        var object: JSONObject = ["description": .string(text)]
        object["content"] = body?.json
        return .object(object)
    }

    /// A page or a picture: its path may depend on the configuration.
    static func page(_ method: HTTPMethod, _ path: String) -> OpenAPIOperation {
        let name = path.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()
        let isForm = method == .post
        return OpenAPIOperation(
            method: method, path: path, id: (isForm ? "send" : "show") + name, tag: .pages,
            summary: isForm ? "A form of that page" : "For a browser",
            parameters: path.contains("{id}") ? [Parameter(name: "id", isPath: true, text: "Which one")] : [],
            body: isForm ? Body(mediaType: Body.form, schema: "PageForm") : nil, status: isForm ? 303 : 200,
            faults: [400], fault: .page)
    }
}

extension OpenAPIOperation.Body {
    static let problem = Self(mediaType: "application/problem+json", schema: "Problem")
    static let form = "application/x-www-form-urlencoded"
    static let page = Self(mediaType: "text/html", schema: "Page")
    static let oauth = Self(schema: "OAuthFault")
    static let device = Self(schema: "DeviceFault")
}
