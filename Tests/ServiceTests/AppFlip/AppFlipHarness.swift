import Crypto
import HTTP
import JSON
import OAuth
import Service
import Telemetry
import TestSupport
import Testing
import Time

/// The company's app at the whole service, and Google's servers behind the addresses that it opens.
struct AppFlipHarness: Sendable {
    static let host = "https://oauth-redirect.googleusercontent.com"
    static let home = host + "/a/com.google.Chromecast"
    static let browser = host + "/r/ride-hailer-development"
    /// The twelve, written out.
    static let redirectURIs = [
        home, host + "/a/com.google.Chromecast.dev", host + "/a/com.google.Chromecast.enterprise",
        host + "/a/com.google.OPA", host + "/a/com.google.OPA.dev", host + "/a/com.google.OPA.enterprise",
        "https://oauth-redirect-sandbox.googleusercontent.com/a/com.google.Chromecast",
        "https://oauth-redirect-sandbox.googleusercontent.com/a/com.google.Chromecast.dev",
        "https://oauth-redirect-sandbox.googleusercontent.com/a/com.google.Chromecast.enterprise",
        "https://oauth-redirect-sandbox.googleusercontent.com/a/com.google.OPA",
        "https://oauth-redirect-sandbox.googleusercontent.com/a/com.google.OPA.dev",
        "https://oauth-redirect-sandbox.googleusercontent.com/a/com.google.OPA.enterprise",
    ]
    static let users = """
        { users: [
          { sub: "u1001", username: "alice", password: "pw", name: "Alice", email: "alice@example.com" },
          { sub: "u1003", username: "carol", password: "pw", name: "Carol", email: "carol@example.com", disabled: true },
        ] }
        """

    let running: ServiceTests.Running

    init(_ change: (inout Configuration) -> Void = { _ in }) async throws {
        let users = try Users(json5: Array(Self.users.utf8), development: true)
        running = try await ServiceTests.start { configuration in
            if case .embedded(var embedded) = configuration.provider.kind {
                embedded.users = users
                configuration.provider.kind = .embedded(embedded)
            }
            change(&configuration)
        }
    }

    /// A token of the app; `grantID` lets a test revoke it.
    func token(
        _ subject: String = "u1001", client: String = "app", seconds: Int64 = 3600, grantID: String? = nil
    ) throws -> String {
        let provider = try #require(running.service.provider)
        let claims = AccessTokenMinter.Claims(
            subject: subject, clientID: client, scopes: ["profile"], grantID: grantID)
        return try provider.accessToken(claims, lifetimeSeconds: seconds).exposed
    }

    /// What the app posts where nothing is wrong.
    static func body(_ changes: [String: JSONValue?] = [:]) -> JSONValue {
        var object: JSONObject = [
            "clientID": "google", "redirectURI": .string(home), "state": "s+1= &ü", "scope": "devices",
            "decision": "agree",
        ]
        for (name, value) in changes { object[name] = value }
        return .object(object)
    }

    /// The answer to a body; a nil token sends none.
    func post(_ body: JSONValue, token: String?) async throws -> Answer { try await post(body.encoded(), token: token) }

    func post(_ body: [UInt8], token: String?, type: String = "application/json") async throws -> Answer {
        var fields: HTTPFields = ["Content-Type": type]
        fields["Authorization"] = token.map { "Bearer " + $0 }
        let request = HTTPRequest(
            method: .post, target: "/app-flip/authorize", fields: fields, body: body,
            deadline: running.clock.deadline())
        return try Answer(await running.service.router.respond(to: request), late: request.lateAnswer.response)
    }

    /// What the app of alice gets for a body with these changes.
    func flip(_ changes: [String: JSONValue?] = [:]) async throws -> Answer {
        try await post(Self.body(changes), token: try token())
    }

    /// What the token endpoint answers to Google's servers.
    func redeem(_ code: String, uri: String?, client: String = "google") async throws -> TokenHarness.Answer {
        var form = Form()
        form.append("grant_type", "authorization_code")
        form.append("code", code)
        form.append("redirect_uri", uri)
        form.append("client_id", client)
        form.append("client_secret", client + "-secret")
        return try TokenHarness.Answer(
            await running.service.router.respond(
                to: HTTPRequest(
                    method: .post, target: "/oauth/token",
                    fields: ["Content-Type": "application/x-www-form-urlencoded"], body: Array(form.encodedText.utf8),
                    deadline: running.clock.deadline())))
    }

    /// Every line of the log so far.
    func log() -> String {
        running.log.flush()
        return running.lines.lines.joined(separator: "\n")
    }

    struct Answer {
        let response: HTTPResponse
        let late: HTTPResponse?
        let json: JSONValue

        init(_ response: HTTPResponse, late: HTTPResponse?) throws {
            self.response = response
            self.late = late
            json = try JSONValue(parsing: response.body)
        }

        var status: Int { response.status }
        var openURL: String? { json["openURL"]?.string }
        /// The address that is opened, up to its query.
        var address: String? { openURL.map { String($0.prefix { $0 != "?" }) } }
        var query: Form? { openURL.flatMap { Form(decoding: $0.drop { $0 != "?" }.dropFirst()) } }
        var code: String? { query?["code"] }
        var error: String? { query?["error"] }
        var state: String? { query?["state"] }
        /// The status, and what was told: `200 cancelled`, `400 appFlip.redirectUnknown`.
        var short: String { "\(status) \(error ?? json["code"]?.string ?? (code == nil ? "" : "code"))" }
    }
}
