import Concurrency
import Crypto
import HTTP
import JSON
import OAuth
import Time

/// 2025-01-15T10:00:00Z, where the field cases stand.
let t0 = UnixTime(seconds: 1_736_935_200)
let issuerName = "https://id.example.com"
let audienceName = "skill-api"
let keySetURL = "https://id.example.com/jwks"
let introspectionURL = "https://id.example.com/introspect"
let soon = Deadline(at: .now.advanced(by: .seconds(3600)))

/// A clock that the test moves.
final class TestClock: Sendable {
    private let moment = Locked(t0)
    var now: UnixTime {
        get { moment.withLock { $0 } }
        set { moment.withLock { $0 = newValue } }
    }
    func advance(_ seconds: Int64) { moment.withLock { $0 = $0.adding(seconds: seconds) } }
    var read: WallClock { { self.now } }
}

/// A server that the test plays, and what it was asked.
final class StubServer: HTTPClient {
    typealias Handler = @Sendable (OutgoingRequest) async throws(HTTPClientError) -> HTTPResponse
    private let handler: Locked<Handler>
    private let requests = Locked<[OutgoingRequest]>([])

    init(_ handler: @escaping Handler = { _ in HTTPResponse(status: 404) }) { self.handler = Locked(handler) }

    func play(_ handler: @escaping Handler) { self.handler.withLock { $0 = handler } }
    var asked: [OutgoingRequest] { requests.withLock { $0 } }
    var count: Int { asked.count }

    func send(_ request: OutgoingRequest, by deadline: Deadline) async throws(HTTPClientError) -> HTTPResponse {
        requests.withLock { $0.append(request) }
        let handler = handler.withLock { $0 }
        return try await handler(request)
    }
}

func answer(_ value: JSONValue, status: Int = 200, _ fields: HTTPFields = [:]) -> HTTPResponse {
    HTTPResponse(status: status, fields: fields, body: value.encoded())
}

/// Keys that are made once for all tests.
enum Keys {
    static let p256 = Result { try PrivateKey.generate(.p256) }
    static let otherP256 = Result { try PrivateKey.generate(.p256) }
    static let p384 = Result { try PrivateKey.generate(.p384) }
    static let ed25519 = Result { try PrivateKey.generate(.ed25519) }
    static let rsa = Result { try PrivateKey.generate(.rsa2048) }
    static let otherRSA = Result { try PrivateKey.generate(.rsa2048) }

    static func key(for algorithm: SignatureAlgorithm) throws -> PrivateKey {
        switch algorithm {
        case .rs256, .rs384, .rs512, .ps256: try rsa.get()
        case .es256: try p256.get()
        case .es384: try p384.get()
        case .eddsa: try ed25519.get()
        }
    }
}

/// A compact signature over any header and payload, well-formed or not.
func compact(header: String, payload: String, key: PrivateKey, _ algorithm: SignatureAlgorithm) throws -> String {
    let input = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
    return input + "." + Base64URL.encode(try key.signature(of: Array(input.utf8), algorithm: algorithm))
}

/// An external provider with one key, `k1`.
struct Provider {
    let clock = TestClock()
    let server = StubServer()
    let key: PrivateKey
    let events = Locked<[TokenEvent]>([])

    init() throws {
        key = try Keys.p256.get()
        let set = keySet
        server.play { _ in answer(set.json) }
    }

    var keySet: JSONWebKeySet { JSONWebKeySet([JSONWebKey(key.publicKey, id: "k1", algorithm: .es256)]) }

    /// Claims that are good at ``t0`` for an hour; `changes` replace members, `.null` as such, nil takes one away.
    func claims(_ changes: [String: JSONValue?] = [:]) -> JSONValue {
        var object: JSONObject = [
            "iss": .string(issuerName), "aud": .string(audienceName), "sub": "u1", "client_id": "alexa",
            "scope": "read write", "iat": .integer(t0.seconds), "exp": .integer(t0.seconds + 3600),
        ]
        for (name, value) in changes { object[name] = value }
        return .object(object)
    }

    func token(_ changes: [String: JSONValue?] = [:], header: JSONValue? = nil) throws -> Secret {
        let header = header ?? ["alg": "ES256", "kid": "k1", "typ": "at+jwt"]
        let payload = String(decoding: claims(changes).encoded(), as: UTF8.self)
        return Secret(
            try compact(
                header: String(decoding: header.encoded(), as: UTF8.self), payload: payload, key: key, .es256))
    }

    var validation: TokenValidation {
        TokenValidation(issuer: issuerName, audience: audienceName, keys: .fetched(url: keySetURL))
    }

    var introspection: TokenValidation.Introspection {
        TokenValidation.Introspection(url: introspectionURL, clientID: "rs", clientSecret: Secret("pw"))
    }

    func validator(_ validation: TokenValidation? = nil, revoked: RevokedGrants = RevokedGrants()) -> TokenValidator {
        let events = events
        return TokenValidator(
            validation ?? self.validation, http: server, clock: clock.read, monotonic: { .now },
            revokedGrants: revoked, observe: { event in events.withLock { $0.append(event) } })
    }
}

/// The verdict on a token: nil where it is good.
func verdict(
    _ validator: TokenValidator, _ token: Secret?, clients: ClientRule = .any, scopes: Set<String> = []
) async -> TokenRejection? {
    do {
        _ = try await validator.principal(for: token, clients: clients, scopes: scopes, by: soon)
        return nil
    } catch { return error }
}

/// Random numbers that are the same in every run.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
