import AppLinking
import Foundation
import JSON
import LinkMessages
import TestSupport
import Testing

@Suite("App Flip in an app", .timeLimit(.minutes(5))) struct AppFlipScreenTests {
    static let google = "https://oauth-redirect.googleusercontent.com/a/com.google.Chromecast"
    static let query =
        "client_id=google&state=S%261&scope=devices+profile&redirect_uri="
        + (google.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")

    static func outcome(_ text: String, sandbox: Bool = false) throws -> AppFlipOutcome {
        let url = try #require(URL(string: text))
        return AppFlipHandler(universalLink: "https://app.example/flip", clientID: "google", sandbox: sandbox).handle(
            url)
    }

    static func request() throws -> AppFlipRequest {
        guard case .ask(let request) = try outcome("https://app.example/flip?" + query) else {
            throw CancellationError()
        }
        return request
    }

    @Test("a request is asked of the user, a faulty one answered, a foreign one left")
    func links() throws {
        let request = try Self.request()
        #expect(request.redirectURI == Self.google && request.state == "S&1")
        #expect(request.scopes == ["devices", "profile"])
        let faulty = Self.query.replacingOccurrences(of: "client_id=google", with: "client_id=other")
        #expect(
            try Self.outcome("https://app.example/flip?" + faulty)
                == .answer(try #require(URL(string: Self.google + "?error=invalid_request&state=S%261"))))
        let evil = Self.query.replacingOccurrences(of: "oauth%2Dredirect", with: "evil")
        #expect(try Self.outcome("https://app.example/flip?" + evil) == .refused(.redirectRefused))
        let sandbox = Self.query.replacingOccurrences(of: "redirect%2E", with: "redirect%2Dsandbox%2E")
        #expect(try Self.outcome("https://app.example/flip?" + sandbox) == .refused(.redirectRefused))
        guard case .ask = try Self.outcome("https://app.example/flip?" + sandbox, sandbox: true) else {
            Issue.record("the sandbox is refused where it is allowed")
            return
        }
        for other in ["https://app.example/flip", "https://app.example/flip/?" + Self.query, "https://app.example/x?"] {
            #expect(try Self.outcome(other) == .other)
        }
    }

    @Test("the screen says what Google demands, in its order and in three languages", arguments: LinkLanguage.allCases)
    func screen(language: LinkLanguage) throws {
        let page = try #require(URL(string: "https://app.example/links"))
        let consent = AppFlipConsent(
            company: "Acme", user: "Jo", data: ["Device names"], unlinkURL: page, language: language)
        let kinds = consent.rows.map { "\($0)".prefix { $0 != "(" } }
        #expect(
            kinds == ["logo", "title", "statement", "data", "account", "privacy", "unlink", "agree", "cancel"])
        let words = "\(consent.rows)" + consent.success
        #expect(words.contains("Google") && !words.contains("Home") && !words.contains("Assistant"))
        guard case .agree(let agree) = consent.rows[7], case .cancel(let cancel) = consent.rows[8],
            case .title(let title) = consent.rows[1], case .statement(let statement) = consent.rows[2],
            case .unlink(_, page) = consent.rows[6]
        else {
            Issue.record("\(consent.rows)")
            return
        }
        let buttons: [LinkLanguage: [String]] = [
            .english: ["Agree and link", "Cancel"], .german: ["Zustimmen und verbinden", "Abbrechen"],
            .japanese: ["同意してリンク", "キャンセル"],
        ]
        #expect(buttons[language] == [agree, cancel])
        #expect(title.contains("Acme") && title.contains("Google") && statement.contains("Google"))
        #expect(consent.success.contains("Acme"))
        // Without data of its own the row goes, and nothing else.
        #expect(AppFlipConsent(company: "Acme", user: "Jo", language: language).rows.count == 8)
    }

    @Test("the service's answer is opened, and success shown where it holds a code")
    func answers() async throws {
        let request = try Self.request()
        let server = try LinkServer { asked in
            let result = asked.body.contains("agree") ? "code=c1" : "error=access_denied"
            return ("200 OK", #"{"openURL":"\#(Self.google)?\#(result)&state=S%261"}"#)
        }
        let client = try server.client()
        let agreed = await client.answer(request, decision: .agree)
        #expect(agreed.openURL?.absoluteString == Self.google + "?code=c1&state=S%261")
        #expect(agreed.isLinked && agreed.failure == nil)
        let denied = await client.answer(request, decision: .deny)
        #expect(denied.openURL?.absoluteString == Self.google + "?error=access_denied&state=S%261")
        #expect(!denied.isLinked && denied.failure == nil)
        let asked = try #require(server.requests.first)
        #expect(asked.line == "POST /app-flip/authorize HTTP/1.1")
        let body: JSONValue = [
            "clientID": "google", "redirectURI": .string(Self.google), "state": "S&1", "scope": "devices profile",
            "decision": "agree",
        ]
        #expect(try JSONValue(parsing: Array(asked.body.utf8)) == body)
    }

    @Test(
        "an answer that does not lead to this request's Google is not opened",
        arguments: [
            "https://evil.example/?code=c&state=S%261", google + ".evil.example/?code=c&state=S%261",
            google + "?code=c&state=S2", google + "?code=c", google + ".dev?code=c&state=S%261", "",
        ])
    func foreign(openURL: String) async throws {
        let server = try LinkServer { _ in ("200 OK", #"{"openURL":"\#(openURL)"}"#) }
        let answer = try await server.client().answer(Self.request(), decision: .agree)
        #expect(answer.openURL?.absoluteString == Self.google + "?error=cancelled&state=S%261")
        #expect(!answer.isLinked && answer.failure?.kind == .unexpectedAnswer)
    }

    @Test("where the service cannot be asked, Google is told all the same")
    func offline() async throws {
        let results: [AppFlipDecision: String] = [.agree: "cancelled", .cancel: "cancelled", .deny: "access_denied"]
        #expect(results.count == AppFlipDecision.allCases.count)
        let server = try LinkServer { _ in ("401 Unauthorized", "") }
        let client = try server.client()
        for (decision, error) in results {
            let answer = await client.answer(try Self.request(), decision: decision)
            #expect(answer.openURL?.absoluteString == Self.google + "?error=\(error)&state=S%261")
            #expect(answer.failure?.kind == .signInNeeded && !answer.isLinked)
        }
    }
}
