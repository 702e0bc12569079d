import HTTP
import JSON
import Testing

/// A browser without a window: it keeps the cookie, and sends the forms that it was shown.
struct FormBrowser {
    /// A page, or where it leads.
    struct Page {
        let answer: RawClient.Answer

        var status: Int { answer.status }
        var text: String { answer.text }
        var location: String? { answer.fields["Location"] }
        var isConsent: Bool { text.contains("value=\"agree\"") }
        var isSignIn: Bool { text.contains("name=\"password\"") }
        var action: String { value(after: "action=\"", in: text[...]) ?? "" }
        var hidden: [(String, String)] {
            text.split(separator: "<input type=\"hidden\" ").dropFirst().compactMap { part in
                guard let name = value(after: "name=\"", in: part), let value = value(after: "value=\"", in: part)
                else { return nil }
                return (name, value)
            }
        }

        private func value(after mark: String, in text: Substring) -> String? {
            text.firstRange(of: mark).map { range in String(text[range.upperBound...].prefix { $0 != "\"" }) }
        }
    }

    static let authorize =
        "/oauth/authorize?response_type=code&client_id=alexa&scope=profile&state=s"
        + "&redirect_uri=" + percentEncoded(ProviderProgramTests.uri)

    let service: RunningService
    var cookie: String?

    init(_ service: RunningService) { self.service = service }

    mutating func get(_ target: String) async throws -> Page {
        try await send(RawClient.request(target, method: "GET", fields: fields))
    }

    mutating func submit(_ page: Page, _ items: [(String, String)]) async throws -> Page {
        var form = Form()
        for (name, value) in page.hidden + items { form.append(name, value) }
        var fields = fields
        fields["Content-Type"] = "application/x-www-form-urlencoded"
        return try await send(RawClient.request(page.action, fields: fields, body: Array(form.encodedText.utf8)))
    }

    /// Asks for consent and signs in; what the sign-in leads to.
    mutating func signIn(_ username: String, _ password: String) async throws -> Page {
        let page = try await get(Self.authorize)
        try #require(page.isSignIn, "\(page.status)")
        return try await submit(page, [("username", username), ("password", password)])
    }

    /// Signs in, agrees, and has the client redeem the code.
    mutating func link(_ username: String, _ password: String) async throws -> Tokens {
        let sent = try await signIn(username, password)
        try #require(sent.status == 303, "\(sent.status)")
        let back = try await submit(try await get(Self.authorize), [("decision", "agree")])
        let query = try #require(back.location?.split(separator: "?").last)
        let code = try #require(Form(decoding: query)?["code"])
        let answer = try await service.answer(
            to: ProviderProgramTests.form(
                "/oauth/token",
                [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", ProviderProgramTests.uri)],
                service.stage))
        let json = try JSONValue(parsing: answer.body)
        return Tokens(
            service: service, access: try #require(json["access_token"]?.string),
            refresh: try #require(json["refresh_token"]?.string))
    }

    /// Whether somebody is signed in.
    mutating func isSignedIn() async throws -> Bool { try await get("/account/links").status == 200 }

    private var fields: HTTPFields {
        var fields: HTTPFields = [:]
        fields["Cookie"] = cookie
        return fields
    }

    private mutating func send(_ bytes: [UInt8]) async throws -> Page {
        let answer = try await service.answer(to: bytes)
        if let set = answer.fields["Set-Cookie"] { cookie = String(set.prefix { $0 != ";" }) }
        return Page(answer: answer)
    }

    /// What a client got.
    struct Tokens {
        let service: RunningService
        let access: String
        let refresh: String

        /// What `/v1/me` answers to the access token.
        func me() async throws -> RawClient.Answer {
            try await service.answer(
                to: RawClient.request("/v1/me", method: "GET", fields: ["Authorization": "Bearer \(access)"]))
        }

        /// What the refresh token brings: 200, or the status and the error.
        func refreshed(at service: RunningService? = nil) async throws -> String {
            let service = service ?? self.service
            let answer = try await service.answer(
                to: ProviderProgramTests.form(
                    "/oauth/token", [("grant_type", "refresh_token"), ("refresh_token", refresh)], service.stage))
            let error = try JSONValue(parsing: answer.body)["error"]?.string
            return "\(answer.status)" + (error.map { " \($0)" } ?? "")
        }

        /// Waits until the access token is refused; a running process learns of it within seconds.
        func untilRefused() async throws -> RawClient.Answer {
            let start = ContinuousClock.now
            while true {
                let answer = try await me()
                if answer.status != 200 { return answer }
                try #require(ContinuousClock.now - start < .seconds(10), "the token is still taken")
            }
        }
    }
}
