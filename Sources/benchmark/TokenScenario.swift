import Crypto
import FoundationEssentials
import Glibc
import HTTP
import OAuth
import Service
import Storage
import Telemetry
import Time

/// A provider over a SQLite file, with codes and refresh tokens that wait to be sent, and forms to sign in with.
final class TokenScenario: Sendable {
    static let redirectURI = "https://pitangui.amazon.com/api/skill/link/MBENCH"
    private static let codeShare = 2

    let service: Router
    private let store: SQLiteStore
    private let folder: String

    init() async throws {
        let clock: WallClock = {
            var time = timespec()
            unsafe clock_gettime(CLOCK_REALTIME, &time)
            return UnixTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
        }
        folder = FileManager.default.temporaryDirectory.path + "/skillgate-benchmark-\(SecureRandom.token(bytes: 9))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let configuration = try SkillScenario.configuration()
        store = try SQLiteStore(
            url: "sqlite:\(folder)/store.sqlite",
            keys: SealingKeys(text: SealingKeys.newLine(), origin: "the benchmark"), clock: clock)
        let made = try await makeService(
            configuration, ServiceParts(store: store, http: NoClient(), clock: clock, log: .silent, metrics: Metrics()))
        service = made.router
    }

    /// Removes the store.
    func end() { try? FileManager.default.removeItem(atPath: folder) }

    /// Whole requests, each ended by a zero byte: every second redeems a code, the others refresh.
    func tokenRequests(_ count: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for number in 0..<count {
            let (code, token) = (SecureRandom.token(), SecureRandom.token())
            let now = UnixTime(seconds: Int64(time(nil)))
            let deadline = Deadline.after(.seconds(10), from: .now)
            let hash = Hex.encode(SHA256.digest(code))
            try await store.add(
                ProviderGrant(
                    id: SecureRandom.token(bytes: 16), subject: "alice", clientID: "alexa", scopes: ["profile"],
                    createdAt: now),
                code: CodeRecord(
                    hash: hash, redirectURI: Self.redirectURI, challenge: nil, expiresAt: now.adding(seconds: 300)),
                by: deadline)
            var form = Form()
            if number % Self.codeShare == 0 {
                form.append("grant_type", "authorization_code")
                form.append("code", code)
                form.append("redirect_uri", Self.redirectURI)
            } else {
                _ = try await store.redeem(
                    codeHash: hash, refreshTokenHash: Hex.encode(SHA256.digest(token)), at: now, by: deadline)
                form.append("grant_type", "refresh_token")
                form.append("refresh_token", token)
            }
            let pair = Base64.encode(Array("alexa:alexa-secret".utf8))
            bytes += request("/oauth/token", ["Authorization: Basic \(pair)"], form) + [0]
        }
        return bytes
    }

    /// Sign-in forms, each ended by a zero byte, with a wrong password of a user and from an address of its own.
    func signInRequests(_ count: Int) async throws -> [UInt8] {
        var query = Form()
        for (name, value) in [
            ("response_type", "code"), ("client_id", "alexa"), ("redirect_uri", Self.redirectURI), ("scope", "profile"),
        ] { query.append(name, value) }
        let page = await service.respond(
            to: HTTPRequest(
                method: .get, target: "/oauth/authorize?" + query.encodedText,
                deadline: .after(.seconds(10), from: .now)))
        guard let cookie = page.fields["Set-Cookie"]?.prefix(while: { $0 != ";" }) else {
            throw BenchmarkError("no page to sign in: \(page.status)")
        }
        let hidden = String(decoding: page.body, as: UTF8.self).split(separator: "<input type=\"hidden\" ").dropFirst()
        var bytes: [UInt8] = []
        for number in 0..<count {
            var form = Form()
            for part in hidden {
                let words = part.split(separator: "\"", omittingEmptySubsequences: false)
                form.append(String(words[1]), String(words[3]))
            }
            form.append("username", "user\(number)")
            form.append("password", "wrong")
            let address = "203.\(number / 65_536 % 256).\(number / 256 % 256).\(number % 256)"
            bytes += request("/oauth/authorize", ["Cookie: \(cookie)", "X-Forwarded-For: \(address)"], form) + [0]
        }
        return bytes
    }

    private func request(_ target: String, _ fields: [String], _ form: Form) -> [UInt8] {
        let body = Array(form.encodedText.utf8)
        let lines =
            ["POST \(target) HTTP/1.1", "Host: skill.example.com", "Content-Type: application/x-www-form-urlencoded"]
            + fields + ["Content-Length: \(body.count)", "", ""]
        return Array(lines.joined(separator: "\r\n").utf8) + body
    }
}

/// Nobody is asked for anything.
private struct NoClient: HTTPClient {
    func send(_ request: OutgoingRequest, by deadline: Deadline) async throws(HTTPClientError) -> HTTPResponse {
        throw .unreachable(request.url)
    }
}
