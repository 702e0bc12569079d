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

/// A custom-skill endpoint as the service builds it, with Amazon, the provider and the clock played by the test.
final class SkillHarness: Sendable {
    static let skillID = "amzn1.ask.skill.TEST"
    /// A second skill of the same provider, with scopes of its own.
    static let otherSkillID = "amzn1.ask.skill.OTHER"
    static let issuer = "https://provider.example.com"
    static let resourcesURL = "https://api.example.com/v1"
    static let introspectionURL = "https://provider.example.com/introspect"
    static let jwksURL = "https://provider.example.com/jwks.json"

    /// How the provider's servers answer; nil fields answer as a healthy provider does.
    struct Provider: Sendable {
        var resource: RecordingHTTPClient.Answer?
        var introspection: RecordingHTTPClient.Answer?
        var jwks: RecordingHTTPClient.Answer?
    }

    let clock = ManualClock()
    let signer: TestSigner
    let provider: Locked<Provider>
    let http: RecordingHTTPClient
    let lines = LogLines()
    let log: Log
    let metrics = Metrics()
    let drift: ClockDrift
    let store: MemoryStore
    let endpoint: CustomSkillEndpoint
    let tokenKey: SigningKey

    /// An authority costs two RSA keys, so the tests share one.
    private static let shared = Result { () throws -> (TestAuthority, TestSigner, SigningKey) in
        let authority = try TestAuthority()
        let key = SigningKey(try PrivateKey.generate(.p256), algorithm: .es256, id: "k1")
        return (authority, try authority.signer(), key)
    }

    init(
        intents: String = "{requests:{LaunchRequest:{say:{en:'Hello.'}}}}", handlers: [String: any SkillHandler] = [:],
        scopes: Set<String> = [], otherScopes: Set<String> = [], texts: ServiceTexts = ServiceTexts(),
        introspects: Bool = false,
        responseLimitBytes: Int = 24 * 1024, provider: Provider = Provider()
    ) throws {
        let (authority, signer, tokenKey) = try Self.shared.get()
        let shared = Locked(provider)
        let clock = clock
        let http = RecordingHTTPClient { request, deadline throws(HTTPClientError) in
            let provider = shared.withLock { $0 }
            switch request.url {
            case TestSigner.usualURL: return HTTPResponse(status: 200, body: signer.pem)
            case Self.jwksURL:
                if let answer = provider.jwks { return try await answer(request, deadline) }
                let keys = JSONWebKeySet([tokenKey.publicKey])
                return HTTPResponse(
                    status: 200, fields: ["Content-Type": "application/json"], body: keys.json.encoded())
            case Self.introspectionURL:
                guard let answer = provider.introspection else { throw .unreachable("no introspection here") }
                return try await answer(request, deadline)
            default:
                guard let answer = provider.resource else { throw .unreachable("no resources here") }
                return try await answer(request, deadline)
            }
        }
        self.signer = signer
        self.tokenKey = tokenKey
        self.provider = shared
        self.http = http
        log = Log(level: .debug, format: .json, clock: clock.wall, sink: lines, metrics: metrics)
        drift = ClockDrift(log: log, metrics: metrics)
        store = MemoryStore(clock: clock.wall)
        let validation = TokenValidation(
            issuer: Self.issuer, audience: "skill-api", keys: introspects ? .none : .fetched(url: Self.jwksURL),
            introspection: introspects
                ? .init(url: Self.introspectionURL, clientID: "skillgate", clientSecret: Secret("marker-pair-secret"))
                : nil)
        let file = try IntentsFile(json5: Array(intents.utf8))
        endpoint = CustomSkillEndpoint(
            skills: [
                Skill(
                    name: "test", id: Self.skillID, providerClient: "alexa", scopes: scopes, intents: file,
                    handlers: handlers),
                Skill(
                    name: "other", id: Self.otherSkillID, providerClient: "alexa", scopes: otherScopes, intents: file),
            ],
            verifier: RequestVerifier(
                skillIDs: [Self.skillID, Self.otherSkillID],
                chains: CertificateChains(
                    http: http, anchors: try authority.anchors, clock: clock.wall, monotonic: clock.monotonic),
                clock: clock.wall),
            validator: TokenValidator(validation, http: http, clock: clock.wall, monotonic: clock.monotonic),
            resources: ResourceClient(baseURL: Self.resourcesURL, http: http, now: clock.monotonic),
            texts: texts, clock: clock.wall, now: clock.monotonic, log: log, metrics: metrics, drift: drift,
            traces: TraceRecorder(store: store, log: log, metrics: metrics), responseLimitBytes: responseLimitBytes)
    }

    // MARK: - Sending

    /// The answer to `body`, signed.
    func respond(_ body: [UInt8], lateAnswer: LateAnswer = LateAnswer()) async throws -> HTTPResponse {
        var request = try signer.request(body, deadline: clock.deadline())
        request.lateAnswer = lateAnswer
        return await endpoint.respond(to: request)
    }

    /// The answer to intent `name` now, with `token`.
    func answer(
        intent name: String, slots: [(String, String)] = [], token: String? = nil, locale: String? = "en-US"
    ) async throws -> JSONValue {
        try await answer(
            Self.intent(name, slots: slots, token: token, locale: locale, timestamp: "\"\(clock.now.iso8601())\""))
    }

    /// The answer to `body`, as JSON.
    func answer(_ body: String) async throws -> JSONValue {
        try JSONValue(parsing: try await respond(Array(body.utf8)).body)
    }

    /// The log so far, all of it.
    var logText: String {
        log.flush()
        return lines.lines.joined(separator: "\n")
    }

    // MARK: - Requests

    /// An envelope around the members of `request`.
    static func envelope(
        _ request: String, token: String? = nil, session: String? = #""new":false,"attributes":{}"#,
        locale: String? = "en-US", id: String = "r1", timestamp: String = "\"2025-01-15T10:00:00Z\"",
        system: String = "", context: String = ""
    ) -> String {
        let token = token.map { #","accessToken":"\#($0)""# } ?? ""
        let user = #""user":{"userId":"amzn1.ask.account.u1"\#(token)}"#
        let application = #""application":{"applicationId":"\#(skillID)"}"#
        let session = session.map { #""session":{\#($0),"sessionId":"s1",\#(application),\#(user)},"# } ?? ""
        let locale = locale.map { #","locale":"\#($0)""# } ?? ""
        return #"{"version":"1.0",\#(session)"context":{"System":{\#(application),\#(user)\#(system)}\#(context)},"#
            + #""request":{"requestId":"\#(id)","timestamp":\#(timestamp)\#(locale),\#(request)}}"#
    }

    /// An intent request; `slots` are their values by name.
    static func intent(
        _ name: String, slots: [(String, String)] = [], token: String? = nil, locale: String? = "en-US",
        id: String = "r1", timestamp: String = "\"2025-01-15T10:00:00Z\""
    ) -> String {
        let slots = slots.map { name, value -> String in
            let value = String(decoding: JSONValue.string(value).encoded(), as: UTF8.self)
            return #""\#(name)":{"name":"\#(name)","value":\#(value)}"#
        }
        let intent = #"{"name":"\#(name)","confirmationStatus":"NONE","slots":{\#(slots.joined(separator: ","))}}"#
        return envelope(
            #""type":"IntentRequest","intent":\#(intent)"#, token: token, locale: locale, id: id, timestamp: timestamp)
    }

    // MARK: - Tokens

    /// A good token of user u1, unless the test says otherwise.
    func token(
        subject: String = "u1", client: String = "alexa", scopes: Set<String> = ["profile"],
        lifetimeSeconds: Int64 = 3600,
        issuer: String = SkillHarness.issuer, audience: String = "skill-api", key: SigningKey? = nil
    ) throws -> String {
        try AccessTokenMinter(issuer: issuer, audience: audience, key: key ?? tokenKey).token(
            .init(subject: subject, clientID: client, scopes: scopes), lifetimeSeconds: lifetimeSeconds, now: clock.now
        ).exposed
    }

    /// A token with a header and claims of the test's choice, signed by the provider's key or not at all.
    func token(header: JSONValue, claims: JSONValue? = nil, isSigned: Bool = true) throws -> String {
        let claims: JSONValue =
            claims ?? [
                "iss": .string(Self.issuer), "aud": "skill-api", "sub": "u1", "client_id": "alexa",
                "exp": .integer(clock.now.seconds + 3600), "iat": .integer(clock.now.seconds), "scope": "profile",
            ]
        let input = Base64URL.encode(header.encoded()) + "." + Base64URL.encode(claims.encoded())
        guard isSigned else { return input + "." }
        return input + "."
            + Base64URL.encode(try tokenKey.privateKey.signature(of: Array(input.utf8), algorithm: .es256))
    }
}

extension JSONValue {
    /// The words of an answer.
    var speech: String? {
        let speech = self["response"]?["outputSpeech"]
        return speech?["text"]?.string ?? speech?["ssml"]?.string
    }

    /// The type of an answer's card.
    var cardType: String? { self["response"]?["card"]?["type"]?.string }

    /// Whether an answer ends the session; nil where it does not say.
    var endsSession: Bool? { self["response"]?["shouldEndSession"]?.bool }

    /// The answer that says and does nothing.
    static let emptyAnswer: JSONValue = ["version": "1.0", "response": [:]]
}

extension HTTPResponse {
    /// An answer of JSON.
    static func json(_ text: String, status: Int = 200, fields: HTTPFields = [:]) -> HTTPResponse {
        var fields = fields
        if fields["Content-Type"] == nil { fields["Content-Type"] = "application/json" }
        return HTTPResponse(status: status, fields: fields, body: Array(text.utf8))
    }
}
