public import Alexa
import Concurrency
import Crypto
public import HTTP
public import JSON
import Time

/// `POST /v3/events` of the three regions, strict in all that it is told.
public final class EventEndpoint: Sendable {
    /// An event that a region took.
    public struct Accepted: Sendable {
        /// Whose gateway took it.
        public let region: AlexaRegion
        /// The whole message.
        public let message: JSONValue

        /// A member of the message's header.
        public func header(_ name: String) -> String? { message["event"]?["header"]?[name]?.string }
        /// The header's name.
        public var name: String? { header("name") }
        /// The header's message id.
        public var messageID: String? { header("messageId") }
        /// The endpoint that it is about.
        public var endpointID: String? { message["event"]?["endpoint"]?["endpointId"]?.string }
        /// The changed properties of a ChangeReport.
        public var changed: [JSONValue]? { message["event"]?["payload"]?["change"]?["properties"]?.array }
        /// The properties of the context.
        public var context: [JSONValue]? { message["context"]?["properties"]?.array }
    }

    /// How large a message may be.
    public static let bodyLimitBytes = 1024 * 1024

    /// The hosts of the regions.
    public static let hosts: [String: AlexaRegion] = [
        "api.amazonalexa.com": .northAmerica, "api.eu.amazonalexa.com": .europe, "api.fe.amazonalexa.com": .farEast,
    ]

    private let tokens: TokenEndpoint
    private let recordLimit: Int
    private let state = Locked([Accepted]())

    /// Gateways that take the tokens of `tokens`, and remember so many events; beyond that the oldest go.
    public init(tokens: TokenEndpoint, recordLimit: Int = 10_000) {
        self.tokens = tokens
        self.recordLimit = recordLimit
    }

    /// What was taken so far, oldest first.
    public var accepted: [Accepted] { state.withLock { $0 } }

    /// Forgets what was taken so far.
    public func forget() { state.withLock { $0 = [] } }

    /// Answers a request to a region's gateway.
    public func answer(_ request: HTTPRequest, region: AlexaRegion) -> HTTPResponse {
        guard request.method == .post else { return HTTPResponse(status: 405, fields: ["Allow": "POST"]) }
        do throws(EventRefusal) {
            let message = try judge(request)
            state.withLock { accepted in
                if accepted.count == recordLimit { accepted.removeFirst(recordLimit / 10) }
                accepted.append(Accepted(region: region, message: message))
            }
            return HTTPResponse(status: 202)
        } catch { return Self.answer(to: error) }
    }

    /// The answer that says why a message is refused.
    static func answer(to refusal: EventRefusal) -> HTTPResponse {
        let body: JSONValue = [
            "header": ["namespace": "System", "name": "Exception", "messageId": .string(SecureRandom.uuid())],
            "payload": ["code": .string(refusal.code), "description": .string(refusal.description)],
        ]
        return HTTPResponse(
            status: refusal.status, fields: ["Content-Type": "application/json"], body: body.encoded())
    }

    private func judge(_ request: HTTPRequest) throws(EventRefusal) -> JSONValue {
        guard request.query == nil else { throw .invalid("the address has a query") }
        let type = (request.fields["Content-Type"] ?? "").prefix { $0 != ";" && $0 != " " }
        guard equalsIgnoringCase(String(type), "application/json") else {
            throw .invalid("the content type is not application/json")
        }
        let credentials = request.fields.values("Authorization")
        guard credentials.count == 1, credentials[0].hasPrefix("Bearer ") else {
            throw .token("there is not exactly one Authorization header with a bearer token")
        }
        let token = String(credentials[0].dropFirst("Bearer ".count))
        guard tokens.isLive(token) else { throw .token("the token is unknown, expired or revoked") }
        guard request.body.count <= Self.bodyLimitBytes else { throw .tooLarge("the message is too large") }
        guard let document = try? JSONDocument(parsing: request.body) else { throw .invalid("the body is no JSON") }
        try EventRules.judge(document.root.value, token: token)
        return document.root.value
    }
}

/// Why a message is refused.
struct EventRefusal: Error {
    let status: Int
    let code: String
    let description: String

    static func invalid(_ description: String) -> EventRefusal {
        EventRefusal(status: 400, code: "INVALID_REQUEST_EXCEPTION", description: description)
    }

    static func token(_ description: String) -> EventRefusal {
        EventRefusal(status: 401, code: "INVALID_ACCESS_TOKEN_EXCEPTION", description: description)
    }

    static func tooLarge(_ description: String) -> EventRefusal {
        EventRefusal(status: 413, code: "REQUEST_ENTITY_TOO_LARGE_EXCEPTION", description: description)
    }
}
