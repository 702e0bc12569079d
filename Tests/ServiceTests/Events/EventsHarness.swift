import Alexa
import Concurrency
import Crypto
import FoundationEssentials
import HTTP
import JSON
import Service
import Storage
import Telemetry
import TestSupport
import Time

/// What sends events as the service builds it, with Amazon's token endpoint, its three gateways and the clock played by
/// the test.
final class EventsHarness: Sendable {
    static let lwaURL = "https://lwa.example.com/auth/o2/token"
    static let pair = AmazonClient(id: "amzn1.application-oa2-client.events", secret: Secret("marker-pair-secret"))
    static let key = GrantKey(source: .events, subject: "u1", skill: "home", region: .europe)

    /// An event as a gateway got it.
    struct Sent: Sendable {
        let region: AlexaRegion
        let token: String
        let event: JSONValue
        let request: HTTPRequest
        var name: String? { event.header("name") }
        var messageID: String? { event.header("messageId") }
        var endpointID: String? { event["event"]?["endpoint"]?["endpointId"]?.string }
    }

    typealias GatewayAnswer =
        @Sendable (Sent, Int) async throws(HTTPClientError) -> HTTPResponse
    typealias TokenAnswer = @Sendable (Form, Int) async throws(HTTPClientError) -> HTTPResponse

    private struct State {
        var sent: [Sent] = []
        var refreshes: [Form] = []
        var gateway: GatewayAnswer = { _, _ in HTTPResponse(status: 202) }
        var lwa: TokenAnswer = { _, count in EventsHarness.tokens("new-\(count)") }
    }

    let clock = ManualClock()
    let lines = LogLines()
    let metrics = Metrics()
    let log: Log
    let http: RecordingHTTPClient
    let store: MemoryStore
    private let state: Locked<State>

    init() {
        log = Log(level: .debug, format: .json, clock: clock.wall, sink: lines, metrics: metrics)
        store = MemoryStore(clock: clock.wall)
        let state = Locked(State())
        self.state = state
        http = RecordingHTTPClient { request, deadline throws(HTTPClientError) in
            if request.url == Self.lwaURL {
                guard let form = Form(decoding: String(decoding: request.body ?? [], as: UTF8.self)) else {
                    throw .unreachable("")
                }
                let (answer, count) = state.withLock { state in
                    state.refreshes.append(form)
                    return (state.lwa, state.refreshes.count)
                }
                return try await answer(form, count)
            }
            guard let region = EventGateway.usualAddresses.first(where: { request.url == $1 + EventGateway.path })?.key,
                let event = try? JSONValue(parsing: request.body ?? [])
            else { throw .unreachable("") }
            let token = request.fields["Authorization"]?.dropFirst("Bearer ".count) ?? ""
            let sent = Sent(
                region: region, token: String(token), event: event,
                request: HTTPRequest(
                    method: request.method, target: EventGateway.path, fields: request.fields,
                    body: request.body ?? [], deadline: deadline))
            let (answer, count) = state.withLock { state in
                state.sent.append(sent)
                return (state.gateway, state.sent.count)
            }
            return try await answer(sent, count)
        }
    }

    /// What the gateways got so far, refused or not.
    var sent: [Sent] { state.withLock { $0.sent } }
    /// What Login with Amazon was asked so far.
    var refreshes: [Form] { state.withLock { $0.refreshes } }

    /// The gateways answer so from now on; the number counts what they got.
    func gateway(_ answer: @escaping GatewayAnswer) { state.withLock { $0.gateway = answer } }
    /// The gateways answer so in turn, the last answer again and again.
    func gateway(inTurn answers: HTTPResponse...) {
        let first = sent.count
        gateway { _, count in answers[min(count - first, answers.count) - 1] }
    }
    /// Login with Amazon answers so from now on; the number counts what it was asked.
    func lwa(_ answer: @escaping TokenAnswer) { state.withLock { $0.lwa = answer } }

    static func tokens(_ name: String, rotated: String? = nil, seconds: Int = 3600) -> HTTPResponse {
        var body: JSONObject = [
            "access_token": .string("Atza|\(name)"), "token_type": "bearer", "expires_in": .integer(Int64(seconds)),
        ]
        body["refresh_token"] = rotated.map { .string("Atzr|\($0)") }
        return HTTPResponse(status: 200, body: JSONValue.object(body).encoded(pretty: false))
    }

    static func refused(_ error: String, status: Int = 400) -> HTTPResponse {
        HTTPResponse(status: status, body: JSONValue.object(["error": .string(error)]).encoded())
    }

    static func exception(_ status: Int, _ code: String, retryAfter: String? = nil) -> HTTPResponse {
        var response = HTTPResponse(
            status: status,
            body: JSONValue.object([
                "header": ["namespace": "System", "name": "Exception", "messageId": "m"],
                "payload": ["code": .string(code), "description": "words"],
            ]).encoded())
        response.fields["Retry-After"] = retryAfter
        return response
    }
}

extension EventsHarness {
    /// Tokens that end `seconds` from now.
    func credentials(_ name: String, seconds: Int64 = 3600) -> AmazonCredentials {
        AmazonCredentials(
            accessToken: Secret("Atza|\(name)"), refreshToken: Secret("Atzr|\(name)"),
            expiresAt: clock.now.adding(seconds: seconds))
    }

    /// Stores a grant as an AcceptGrant does.
    @discardableResult func grant(
        _ name: String = "first", _ key: GrantKey = key, seconds: Int64 = 3600
    ) async throws -> GrantKey {
        let sequence = try await store.nextGrantSequence(by: clock.deadline())
        try await store.put(credentials(name, seconds: seconds), for: key, sequence: sequence, by: clock.deadline())
        return key
    }

    func stored(_ key: GrantKey = key) async throws -> Grant? { try await store.grant(key, by: clock.deadline()) }

    /// Refreshes by the test's clock; a store that has a clock of its own wants deadlines by `now`.
    func refreshing(
        _ store: (any GrantStore)? = nil, now: (@Sendable () -> ContinuousClock.Instant)? = nil
    ) -> GrantRefreshing {
        let now = now ?? clock.monotonic
        return GrantRefreshing(
            store: store ?? self.store, clients: ["home": Self.pair],
            loginWithAmazon: LoginWithAmazon(http: http, tokenURL: Self.lwaURL, monotonic: now),
            clock: clock.wall, now: now, log: log, metrics: metrics)
    }

    /// The log so far, all of it.
    var logText: String {
        log.flush()
        return lines.lines.joined(separator: "\n")
    }
}

extension EventsHarness {
    static let secret = "right secret+%/é"

    /// The back ends that the configuration names.
    static var clients: [Configuration.Client] {
        get throws {
            var draft = ConfigurationDraft.development
            let grants: JSONValue = ["client_credentials"]
            draft["provider.clients"] = [
                ["id": "back-end", "secret": .string(secret), "grants": grants, "role": "events"],
                ["id": "operator", "secret": "operator-secret", "grants": grants, "role": "operator"],
                ["id": "no-role", "secret": "other", "grants": grants],
                [
                    "id": "in-body", "secret": "body-secret", "authentication": ["body"], "grants": grants,
                    "role": "events",
                ],
                ["id": "public", "redirectURIs": ["com.example.app:/callback"]],
                ["id": "alexa", "secret": "s", "redirectURIs": ["https://layla.amazon.com/api/skill/link/M"]],
            ]
            return try draft.configuration().provider.clients
        }
    }

    func endpoint(posted: @escaping @Sendable () -> Void = {}) throws -> EventsEndpoint {
        EventsEndpoint(
            authentication: ClientAuthentication(
                clients: try Self.clients, realm: "skillgate", now: clock.monotonic, log: log), outbox: store,
            clock: clock.wall, now: clock.monotonic, log: log, metrics: metrics, posted: posted)
    }

    /// The answer to `body` as the company's back end posts it.
    func post(
        _ body: String, authorization: String? = EventsEndpointTests.basic("back-end:" + secret),
        peer: String = "192.0.2.1", to endpoint: EventsEndpoint? = nil
    ) async throws -> HTTPResponse {
        var fields: HTTPFields = ["Content-Type": "application/json"]
        fields["Authorization"] = authorization
        let endpoint = try endpoint ?? self.endpoint()
        return await endpoint.respond(
            to: HTTPRequest(
                method: .post, target: EventsEndpoint.path, fields: fields, body: Array(body.utf8),
                peerAddress: peer, deadline: clock.deadline()))
    }

    /// A worker whose tries come again at the earliest moment.
    func worker(
        _ store: (any Outbox & GrantStore)? = nil, beat: Duration = .milliseconds(1500)
    ) -> EventWorker {
        EventWorker(
            store: store ?? self.store, refreshing: refreshing(),
            gateway: EventGateway(http: http, monotonic: clock.monotonic), clock: clock.wall, now: clock.monotonic,
            log: log, metrics: metrics, jitter: { 0 }, beat: beat)
    }
}
