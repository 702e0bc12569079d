import Alexa
import Concurrency
import Crypto
import HTTP
import JSON
import OAuth
import Service
import Storage
import Telemetry
import TestSupport
import Time

/// A smart-home endpoint as the service builds it, with Amazon, the provider, the forwarder and the clock played by
/// the test.
final class SmartHomeHarness: Sendable {
    static let lwaURL = "https://lwa.example.com/auth/o2/token"
    static let jwksURL = "https://provider.example.com/jwks.json"
    static let introspectionURL = "https://provider.example.com/introspect"
    static let issuer = "https://provider.example.com"
    static let resourcesURL = "https://api.example.com/v1"
    static let forwarderSecret = Secret("marker-forwarder-secret")
    static let pair = AmazonClient(id: "amzn1.application-oa2-client.events", secret: Secret("marker-pair-secret"))
    static let home = SmartHomeSkill(
        name: "home", providerClient: "alexa", scopes: ["devices"], events: .init(client: pair, region: .europe))
    static let tokens = #"""
        {"access_token":"Atza|marker-access","refresh_token":"Atzr|marker-refresh","token_type":"bearer","expires_in":3600}
        """#

    /// How the servers answer.
    struct Servers: Sendable {
        var lwa: RecordingHTTPClient.Answer = { _, _ in .json(SmartHomeHarness.tokens) }
        var introspection: RecordingHTTPClient.Answer?
        /// The server of devices; it sees whole addresses below ``SmartHomeHarness/resourcesURL``.
        var devices: RecordingHTTPClient.Answer = { _, _ in .json(#"{"devices":[]}"#) }
        var jwksFails = false
    }

    private static let key = Result { SigningKey(try PrivateKey.generate(.p256), algorithm: .es256, id: "k1") }

    let clock: ManualClock
    let servers: Locked<Servers>
    let http: RecordingHTTPClient
    let lines = LogLines()
    let log: Log
    let metrics = Metrics()
    let drift: ClockDrift
    let traces: MemoryStore
    let grants: any GrantStore
    let reports = RecordedReports()
    let endpoint: SmartHomeEndpoint
    let tokenKey: SigningKey

    init(
        skills: [SmartHomeSkill] = [home], grants: (any GrantStore)? = nil, isProofRequired: Bool = true,
        endpointIDs: (any EndpointIDStore)? = nil, introspects: Bool = false, servers: Servers = Servers(),
        clock: ManualClock = ManualClock(), now: (@Sendable () -> ContinuousClock.Instant)? = nil,
        endpointLimit: Int = 300, responseLimitBytes: Int = 5 * 1024 * 1024
    ) throws {
        self.clock = clock
        let tokenKey = try Self.key.get()
        let shared = Locked(servers)
        let http = RecordingHTTPClient { request, deadline throws(HTTPClientError) in
            let servers = shared.withLock { $0 }
            switch request.url {
            case Self.lwaURL: return try await servers.lwa(request, deadline)
            case Self.jwksURL where !servers.jwksFails:
                return HTTPResponse(status: 200, body: JSONWebKeySet([tokenKey.publicKey]).json.encoded())
            case Self.introspectionURL:
                guard let answer = servers.introspection else { throw .unreachable("") }
                return try await answer(request, deadline)
            case let url where url.hasPrefix(Self.resourcesURL + "/"):
                return try await servers.devices(request, deadline)
            default: throw .unreachable("")
            }
        }
        let now = now ?? clock.monotonic
        self.tokenKey = tokenKey
        self.servers = shared
        self.http = http
        log = Log(level: .debug, format: .json, clock: clock.wall, sink: lines, metrics: metrics)
        drift = ClockDrift(log: log, metrics: metrics)
        traces = MemoryStore(clock: clock.wall)
        self.grants = grants ?? traces
        let validation = TokenValidation(
            issuer: Self.issuer, audience: "skill-api", keys: introspects ? .none : .fetched(url: Self.jwksURL),
            introspection: introspects
                ? .init(url: Self.introspectionURL, clientID: "skillgate", clientSecret: Secret("marker-pair-secret"))
                : nil)
        endpoint = SmartHomeEndpoint(
            skills: skills,
            proof: isProofRequired
                ? .forwarder(ForwarderVerifier(secret: Self.forwarderSecret, clock: clock.wall)) : .none(),
            validator: TokenValidator(validation, http: http, clock: clock.wall, monotonic: now),
            loginWithAmazon: LoginWithAmazon(http: http, tokenURL: Self.lwaURL, monotonic: now),
            grants: self.grants, endpointIDs: endpointIDs ?? traces,
            devices: DeviceClient(ResourceClient(baseURL: Self.resourcesURL, http: http, now: now)),
            reporting: reports, clock: clock.wall, now: now, log: log, metrics: metrics, drift: drift,
            traces: TraceRecorder(store: traces, log: log, metrics: metrics), endpointLimit: endpointLimit,
            responseLimitBytes: responseLimitBytes)
    }

    /// No trace is stored.
    struct NoTrace: Error {}

    // MARK: - Sending

    /// `body` as the forwarder sends it to `target`.
    func request(_ body: String, target: String = "/alexa/smart-home", deadline: Deadline? = nil) -> HTTPRequest {
        let body = Array(body.utf8)
        let proof = ForwarderVerifier.headerValue(
            secret: Self.forwarderSecret, at: clock.now, target: target, body: body)
        return HTTPRequest(
            method: .post, target: target,
            fields: ["Content-Type": "application/json", ForwarderVerifier.headerName: proof], body: body,
            deadline: deadline ?? clock.deadline())
    }

    /// The event that answers `body`.
    func event(_ body: String, target: String = "/alexa/smart-home", deadline: Deadline? = nil) async throws
        -> JSONValue
    {
        let response = await endpoint.respond(to: request(body, target: target, deadline: deadline))
        return try JSONValue(parsing: response.body)
    }

    /// How often Login with Amazon was asked.
    var exchanges: [OutgoingRequest] { http.requests.filter { $0.url == Self.lwaURL } }

    /// What was asked of the server of devices.
    var deviceCalls: [OutgoingRequest] { http.requests.filter { $0.url.hasPrefix(Self.resourcesURL) } }

    /// The log so far, all of it.
    var logText: String {
        log.flush()
        return lines.lines.joined(separator: "\n")
    }

    /// The latest trace, once it is stored.
    func trace() async throws -> TraceRecord { try await traces(1)[0] }

    /// So many traces, once they are stored, in no order: the clock stands still.
    func traces(_ count: Int) async throws -> [TraceRecord] {
        for _ in 0..<100_000 {
            let stored = try await traces.traces(subject: nil, limit: count + 1)
            if stored.count >= count { return stored }
            await Task.yield()
        }
        throw NoTrace()
    }

    /// The grants of u1.
    func stored() async throws -> [Grant] { try await grants.grants(of: "u1", by: clock.deadline()) }

    // MARK: - Messages

    static func acceptGrant(code: String = "marker-code", token: String?) -> String {
        let grantee = token.map { #"{"type":"BearerToken","token":"\#($0)"}"# } ?? "{}"
        let code = String(decoding: JSONValue.string(code).encoded(), as: UTF8.self)
        return #"{"directive":{"header":{"namespace":"Alexa.Authorization","name":"AcceptGrant","messageId":"m1","#
            + #""payloadVersion":"3"},"payload":{"grant":{"type":"OAuth2.AuthorizationCode","code":\#(code)},"#
            + #""grantee":\#(grantee)}}}"#
    }

    static func discover(token: String?) -> String {
        let scope = token.map { #"{"type":"BearerToken","token":"\#($0)"}"# } ?? "{}"
        return #"{"directive":{"header":{"namespace":"Alexa.Discovery","name":"Discover","messageId":"m1","#
            + #""payloadVersion":"3"},"payload":{"scope":\#(scope)}}}"#
    }

    /// A directive for a device; nil leaves a member out.
    static func directive(
        _ namespace: String, _ name: String, _ payload: JSONValue = [:], instance: String? = nil,
        endpointID: String? = "e1", correlationToken: String? = "ct-1", token: String?
    ) -> String {
        var header: JSONObject = [
            "namespace": .string(namespace), "name": .string(name), "messageId": "m1", "payloadVersion": "3",
        ]
        header["correlationToken"] = correlationToken.map(JSONValue.string)
        header["instance"] = instance.map(JSONValue.string)
        var scope: JSONObject = ["type": "BearerToken"]
        scope["token"] = token.map(JSONValue.string)
        var directive: JSONObject = ["header": .object(header), "payload": payload]
        if let endpointID {
            directive["endpoint"] = [
                "endpointId": .string(endpointID), "scope": .object(scope), "cookie": [:],
            ]
        }
        return String(decoding: JSONValue.object(["directive": .object(directive)]).encoded(), as: UTF8.self)
    }

    /// A good token of user u1, unless the test says otherwise.
    func token(
        subject: String = "u1", client: String = "alexa", scopes: Set<String> = ["devices"], grantID: String? = nil,
        lifetimeSeconds: Int64 = 3600, audience: String = "skill-api", key: SigningKey? = nil
    ) throws -> String {
        try AccessTokenMinter(issuer: Self.issuer, audience: audience, key: key ?? tokenKey).token(
            .init(subject: subject, clientID: client, scopes: scopes, grantID: grantID),
            lifetimeSeconds: lifetimeSeconds, now: clock.now
        ).exposed
    }
}

extension JSONValue {
    /// A member of an event's header.
    func header(_ name: String) -> String? { self["event"]?["header"]?[name]?.string }

    /// Interface and name of an event.
    var eventName: String { (header("namespace") ?? "") + "/" + (header("name") ?? "") }

    /// The type of an error event.
    var errorType: String? { self["event"]?["payload"]?["type"]?.string }

    /// What an error event says.
    var errorMessage: String? { self["event"]?["payload"]?["message"]?.string }
}
