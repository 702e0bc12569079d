import Concurrency
import Crypto
import HTTP
import JSON
import Simulator
import TestSupport
import Testing

/// Google's side of App Flip, as strict as Google.
@Suite("Google's app") struct GoogleAppTests {
    private static func google(_ answer: HTTPResponse = HTTPResponse(status: 500)) -> (GoogleApp, Locked<[Form]>) {
        let asked = Locked<[Form]>([])
        let http = RecordingHTTPClient { request, _ throws(HTTPClientError) in
            let form = Form(decoding: String(decoding: request.body ?? [], as: UTF8.self)) ?? Form()
            asked.withLock { $0.append(form) }
            return answer
        }
        let app = GoogleApp(
            clientID: "google", clientSecret: Secret("s"), tokenURL: "https://skill.example.com/oauth/token",
            revocationURL: "https://skill.example.com/oauth/revoke", http: http)
        return (app, asked)
    }

    @Test("its own link with its state and a code is taken") func good() throws {
        let (google, _) = Self.google()
        let request = google.request(scope: "devices")
        let query = try #require(Form(decoding: request.query))
        #expect(query["client_id"] == "google" && query["redirect_uri"] == request.redirectURI)
        let code = try google.code(in: request.redirectURI + "?code=abc&state=\(request.state)", for: request)
        #expect(code == Secret("abc"))
        #expect(google.request(scope: "devices").state != request.state)
    }

    @Test(
        "everything else is refused",
        arguments: [
            "URI/?code=a&state=S", "https://evil.example/?code=a&state=S", "URI?code=a", "URI?code=a&state=x",
            "URI?state=S", "URI?code=&state=S", "URI?code=a&code=b&state=S", "URI?code=a&state=S&state=S",
            "URI?error=user_not_authorized&state=S", "URI?error=cancelled&code=a&state=S",
            "URI?error=access_denied&state=S",
            "URI", "URI?code=%ZZ&state=S",
        ])
    func refused(template: String) {
        let (google, _) = Self.google()
        let request = google.request(scope: "devices")
        let url = template.replacing("URI", with: request.redirectURI).replacing("=S", with: "=" + request.state)
        #expect(throws: LinkingRefusal.self) { try google.code(in: url, for: request) }
    }

    @Test("a code is redeemed with the same address and the secret in the body; what is no token answer is refused")
    func redeemed() async throws {
        let tokens = #"{"access_token":"t","refresh_token":"r","token_type":"Bearer","expires_in":3600}"#
        let (google, asked) = Self.google(HTTPResponse(status: 200, body: Array(tokens.utf8)))
        let request = google.request(scope: "devices")
        let got = try await google.redeem(Secret("abc"), for: request)
        #expect(got.access == Secret("t") && got.refresh == Secret("r"))
        let form = try #require(asked.withLock { $0.first })
        #expect(form["code"] == "abc" && form["redirect_uri"] == request.redirectURI && form["client_secret"] == "s")
        for (status, body) in [
            (400, #"{"error":"invalid_grant"}"#), (200, "{}"), (200, "<html>"), (302, ""),
            (200, #"{"access_token":"t","token_type":"Bearer"}"#),
            (200, #"{"access_token":"t","refresh_token":"r","token_type":"mac"}"#),
        ] {
            let (other, _) = Self.google(HTTPResponse(status: status, body: Array(body.utf8)))
            await #expect(throws: LinkingRefusal.self) { try await other.redeem(Secret("abc"), for: request) }
        }
    }

    @Test("a token is revoked by its refresh token, with the secret; another answer than 200 is told")
    func revoked() async throws {
        let body = #"{"access_token":"t","refresh_token":"r","token_type":"Bearer","expires_in":3600}"#
        let (giver, _) = Self.google(HTTPResponse(status: 200, body: Array(body.utf8)))
        let tokens = try await giver.redeem(Secret("abc"), for: giver.request(scope: "devices"))
        let (google, asked) = Self.google(HTTPResponse(status: 200))
        try await google.revoke(tokens)
        let form = try #require(asked.withLock { $0.first })
        #expect(form["token"] == "r" && form["client_id"] == "google" && form["client_secret"] == "s")
        for status in [401, 404, 503] {
            let (other, _) = Self.google(HTTPResponse(status: status))
            await #expect(throws: LinkingRefusal.self) { try await other.revoke(tokens) }
        }
    }
}
