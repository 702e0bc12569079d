import Crypto
import HTTP
import JSON
import OAuth
import Storage
import Testing
import Time

extension MutatedRequestTests {
    /// A right request for tokens.
    struct TokenRequest {
        var form: MutableForm
        /// The whole field, where the client proves itself in the head.
        var authorization: String?
        /// What no answer may repeat.
        var secrets: [String]
    }

    private static func plant(_ client: String, _ store: SQLiteStore) async throws -> String {
        let code = SecureRandom.token()
        let isPhone = client == "phone"
        try await store.add(
            ProviderGrant(
                id: SecureRandom.token(bytes: 16), subject: "u1001", clientID: client, scopes: ["profile"],
                createdAt: Stage.now()),
            code: CodeRecord(
                hash: Hex.encode(SHA256.digest(code)), redirectURI: isPhone ? phone : web,
                challenge: isPhone ? challenge : nil, expiresAt: Stage.now().adding(seconds: 300)),
            by: .after(.seconds(60), from: .now))
        return code
    }

    private static func basic(_ id: String, _ secret: String) -> String {
        "Authorization: Basic " + Base64.encode(Array("\(id):\(secret)".utf8))
    }

    private static func redemption(of code: String, by client: String) -> TokenRequest {
        if client == "phone" {
            let items = [
                ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", phone), ("client_id", "phone"),
                ("code_verifier", verifier),
            ]
            return TokenRequest(form: MutableForm(items), authorization: nil, secrets: [code, verifier])
        }
        let items = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", web)]
        return TokenRequest(
            form: MutableForm(items), authorization: basic("web", webSecret), secrets: [code, webSecret])
    }

    private static func refresh(_ token: String, isInBody: Bool) -> TokenRequest {
        var items = [("grant_type", "refresh_token"), ("refresh_token", token), ("scope", "profile")]
        if isInBody { items += [("client_id", "web"), ("client_secret", webSecret)] }
        return TokenRequest(
            form: MutableForm(items), authorization: isInBody ? nil : basic("web", webSecret),
            secrets: [token, webSecret])
    }

    private static func bytes(_ given: TokenRequest, target: String = "/oauth/token") -> [UInt8] {
        request("POST", Array(target.utf8), given.authorization.map { [$0] } ?? [], body: given.form.bytes)
    }

    /// Changes the request, at times also how the client proves itself.
    private static func mutate(_ request: inout TokenRequest, _ random: inout FixedRandom) -> [String] {
        var changes = (0..<[1, 1, 1, 2, 3].picked(&random)).map { _ in request.form.mutate(by: &random) }
        guard let field = request.authorization, Int.random(in: 0..<4, using: &random) == 0 else { return changes }
        let other = [
            basic("alexa", webSecret), basic("phone", ""), basic("web", ""), basic("web", webSecret + "%"),
            basic("%FF", webSecret), "Authorization: Basic", "Authorization: Basic =",
            "Authorization: Bearer \(webSecret)",
            field + "\r\n" + field, field + " ", field.dropLast() + "*",
            "Authorization: Basic " + String(repeating: "QUFB", count: 3000),
        ].picked(&random)
        request.authorization = other
        changes.append("proved by \(other.prefix(60))")
        return changes
    }

    @Test("every answer to a request for tokens is tokens or a registered error in JSON, and repeats no secret")
    func tokens() async throws {
        try await Stage.with(Self.options) { stage in
            _ = try await stage.run { service in
                let store = try stage.openStore()
                var random = FixedRandom(state: 1_749)
                var refreshToken = ""
                var counts: [String: Int] = [:]
                for number in 0..<500 {
                    if number % 50 == 0 {
                        // A code that comes twice ends its grant, so another is needed from time to time.
                        let first = Self.redemption(of: try await Self.plant("web", store), by: "web")
                        let answer = try #require(try await Self.send(Self.bytes(first), to: service))
                        refreshToken = try JSONValue(parsing: answer.body)["refresh_token"]?.string ?? ""
                        try #require(!refreshToken.isEmpty, "\(answer.text)")
                    }
                    var request: TokenRequest
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: request = Self.redemption(of: try await Self.plant("web", store), by: "web")
                    case 1: request = Self.redemption(of: try await Self.plant("phone", store), by: "phone")
                    default: request = Self.refresh(refreshToken, isInBody: Bool.random(using: &random))
                    }
                    let changes = Self.mutate(&request, &random)
                    let isMisplaced = Int.random(in: 0..<20, using: &random) == 0
                    let bytes = Self.bytes(request, target: isMisplaced ? "/oauth/authorize" : "/oauth/token")
                    let mark = "\(number), \(changes): \(request.form.text.prefix(600))"
                    let answer = try #require(try await Self.send(bytes, to: service), "no answer to \(mark)")
                    #expect(answer.status < 500, "\(answer.status) to \(mark)")
                    #expect(answer.fields["Location"] == nil || isMisplaced, "\(mark)")
                    #expect(answer.isKeptByNobody, "may be kept: \(mark)")
                    let isTaken = answer.status == 200
                    for secret in request.secrets where !isTaken || secret == Self.webSecret {
                        #expect(!answer.text.contains(secret), "told in the answer to \(mark): \(answer.text)")
                    }
                    if isMisplaced { continue }
                    let json = try? JSONValue(parsing: answer.body)
                    if isTaken {
                        #expect(json?["access_token"]?.string != nil, "\(mark)")
                        counts["taken", default: 0] += 1
                    } else {
                        let code = json?["error"]?.string ?? ""
                        #expect(Self.tokenErrors.contains(code), "\(answer.status) \(answer.text) to \(mark)")
                        counts[code, default: 0] += 1
                    }
                }
                for (kind, least) in [
                    ("taken", 40), ("invalid_request", 80), ("invalid_grant", 40), ("invalid_client", 20),
                    ("invalid_scope", 5), ("unsupported_grant_type", 5),
                ] { #expect(counts[kind, default: 0] >= least, "\(counts)") }
            }
        }
    }

    /// RFC 6749 §5.2, and RFC 8707 §2 for a resource.
    private static let tokenErrors: Set<String> = [
        "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
        "invalid_scope", "invalid_target",
    ]
}
