import Crypto
import Glibc
import HTTP
import OAuth
import Service
import Simulator
import Storage
import Telemetry
import Time

/// A service with one skill, and a signed request to it whose token is valid.
struct SkillScenario: Sendable {
    let service: Router
    /// The whole request as it is sent.
    let request: [UInt8]
    private let body: [UInt8]
    private let signature: [UInt8]
    private let key: PublicKey

    init() async throws {
        let clock: WallClock = { UnixTime(seconds: Int64(time(nil))) }
        let authority = try Authority(now: clock())
        let configuration = try Self.configuration()
        let made = try await makeService(
            configuration,
            ServiceParts(
                store: MemoryStore(clock: clock), http: ChainClient(chain: authority.signing.pem), clock: clock,
                log: .silent, metrics: Metrics(), trustAnchors: try authority.anchors()))
        guard let provider = made.provider else { throw BenchmarkError("no provider") }
        let token = try provider.accessToken(
            .init(subject: "alice", clientID: "alexa", scopes: ["profile"]), lifetimeSeconds: 3600)
        service = made.router
        body = Array(Self.envelope(token: token.exposed, now: clock()).utf8)
        let fields = try AlexaSigner(authority).headers(for: body)
        guard let signature = fields["Signature-256"].flatMap({ Base64.decode($0) }) else {
            throw BenchmarkError("the signer gives no signature")
        }
        self.signature = signature
        key = authority.signing.key.publicKey
        var head = "POST /alexa/custom HTTP/1.1\r\nHost: skill.example.com\r\nContent-Type: application/json\r\n"
        head += "User-Agent: Apache-HttpClient/UNAVAILABLE (Java/1.8.0)\r\nAccept: application/json\r\n"
        for field in fields.lines where !equalsIgnoringCase(field.name, "Content-Type") {
            head += "\(field.name): \(field.value)\r\n"
        }
        head += "Content-Length: \(body.count)\r\n\r\n"
        request = Array(head.utf8) + body
    }

    /// A configuration with a skill, a user and a client.
    static func configuration() throws -> Configuration {
        try Configuration(
            ConfigurationSource(
                bytes: Array(configurationText.utf8), folder: "/", environment: { _ in nil },
                readFile: { files[$0].map { Array($0.utf8) } }))
    }

    /// CPU of one SHA-256 and RSA-2048 verification of the body, nothing else around it.
    func bareMicroseconds() -> Double {
        let rounds = 5000
        for _ in 0..<200 { _ = key.isValid(signature: signature, of: body, algorithm: .rs256) }
        let before = Usage.now
        for _ in 0..<rounds {
            guard key.isValid(signature: signature, of: body, algorithm: .rs256) else { return .nan }
        }
        let after = Usage.now
        let used =
            after.userMicroseconds + after.systemMicroseconds - before.userMicroseconds - before.systemMicroseconds
        return Double(used) / Double(rounds)
    }

    /// An intent request of 2800 bytes, most of it what a device with a screen tells of itself.
    private static func envelope(token: String, now: UnixTime) -> String {
        func text(apiToken: String) -> String {
            """
            {"version":"1.0","session":{"new":false,"sessionId":"amzn1.echo-api.session.\(SecureRandom.uuid())",\
            "application":{"applicationId":"\(skillID)"},"attributes":{},"user":{"userId":"amzn1.ask.account.ALICE",\
            "accessToken":"\(token)"}},"context":{"Viewports":[{"type":"APL","id":"main","shape":"RECTANGLE","dpi":213,\
            "presentationType":"STANDARD","canRotate":false,"configuration":{"current":{"mode":"HUB",\
            "video":{"codecs":["H_264_42","H_264_41"]},"size":{"type":"DISCRETE","pixelWidth":1280,"pixelHeight":800}}}}],\
            "AudioPlayer":{"playerActivity":"IDLE"},"System":{"application":{"applicationId":"\(skillID)"},\
            "user":{"userId":"amzn1.ask.account.ALICE","accessToken":"\(token)"},"device":{"deviceId":\
            "amzn1.ask.device.KITCHEN","supportedInterfaces":{"AudioPlayer":{},"Alexa.Presentation.APL":\
            {"runtime":{"maxVersion":"2024.3"}}}},"apiEndpoint":"https://api.amazonalexa.com","apiAccessToken":\
            "\(apiToken)"}},"request":{"type":"IntentRequest","requestId":"amzn1.echo-api.request.\(SecureRandom.uuid())",\
            "locale":"en-US","timestamp":"\(now.iso8601())","intent":{"name":"NumberIntent","confirmationStatus":"NONE"},\
            "dialogState":"STARTED"}}
            """
        }
        let missing = max(16, 2800 - text(apiToken: "").utf8.count)
        return text(apiToken: String(repeating: "a", count: missing))
    }

    private static let files = [
        "/users.json5":
            "{users:[{sub:'alice',username:'alice',password:'secret',name:'Alice',email:'alice@example.com'}]}",
        "/intents.json5": """
        {requests:{NumberIntent:{account:'required',say:{'en-US':'Your number is {principal.subject}.'}}}}
        """,
        "/key": Base64.encode(SecureRandom.bytes(32)) + "\n",
    ]
}

private let skillID = "amzn1.ask.skill.00000000-0000-4000-8000-000000000001"

private let configurationText = """
    { development: true, publicURL: "http://127.0.0.1:8080", store: { url: "sqlite:/unused", encryptionKey: { file: "/key" } },
      skills: [{ name: "bench", id: "\(skillID)", intents: "intents.json5", linking: {
        clientID: "amzn1.application-oa2-client.linking", clientSecret: "linking-secret", vendorID: "MBENCH" } }],
      provider: { embedded: { users: "users.json5" }, scopes: { custom: ["profile"] },
        clients: [{ id: "alexa", secret: "alexa-secret", scopes: ["profile"],
          redirectURIs: ["https://pitangui.amazon.com/api/skill/link/MBENCH"] }] } }
    """

/// Knows one address: that of the signer's certificate chain.
private struct ChainClient: HTTPClient {
    let chain: [UInt8]

    func send(_ request: OutgoingRequest, by deadline: Deadline) async throws(HTTPClientError) -> HTTPResponse {
        guard request.url.hasPrefix(AlexaSigner.chainFolder) else { throw .unreachable(request.url) }
        return HTTPResponse(status: 200, body: chain)
    }
}
