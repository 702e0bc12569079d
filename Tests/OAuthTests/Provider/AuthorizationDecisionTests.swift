import Crypto
import HTTP
import OAuth
import Testing

@Suite("Requests for consent") struct AuthorizationDecisionTests {
    static let resource = "https://skill.example.com"
    static let alexa = ["pitangui.amazon.com", "layla.amazon.com", "alexa.amazon.co.jp"].map {
        "https://\($0)/api/skill/link/M123"
    }
    static let queryURI = "https://oauth-redirect.googleusercontent.com/a/com.google.OPA?x=1"

    static func client(
        _ id: String, _ uris: [String], secret: Secret? = Secret("s"), pkce: Bool = false,
        grants: Set<ProviderClient.Grant> = [.authorizationCode, .refreshToken]
    ) -> ProviderClient {
        ProviderClient(
            id: id, secret: secret, authentication: [.basic], redirectURIs: uris, scopes: ["profile", "devices"],
            grants: grants, rotatesRefreshTokens: false, requiresPKCE: pkce)
    }

    static let clients = ProviderClients([
        client("alexa", alexa),
        client("google", GoogleRedirects.addresses(projectID: "PROJECT", sandbox: true) + [queryURI]),
        client("production", GoogleRedirects.addresses(projectID: "PROJECT", sandbox: false)),
        client("app", ["com.example.app:/callback", "http://127.0.0.1/cb"], secret: nil, pkce: true),
        client("back-end", alexa, grants: [.clientCredentials]),
    ])

    static func decide(_ changes: [String: String?] = [:], more: String = "") -> AuthorizationDecision {
        var values: [String: String?] = [
            "response_type": "code", "client_id": "alexa", "redirect_uri": alexa[0], "state": "s+1= &ü",
            "scope": "profile",
        ]
        for (name, value) in changes { values[name] = value }
        var form = Form()
        for (name, value) in values.sorted(by: { $0.key < $1.key }) { form.append(name, value) }
        return AuthorizationDecision(query: form.encodedText + more, clients: clients, resource: resource)
    }

    static func fault(_ decision: AuthorizationDecision) -> AuthorizationFault? {
        if case .page(let fault) = decision { fault } else { nil }
    }
    static func error(_ decision: AuthorizationDecision) -> OAuthErrorCode? {
        if case .refuse(let error, _) = decision { error.code } else { nil }
    }
    static func asked(_ decision: AuthorizationDecision) -> AuthorizationRequest? {
        if case .ask(let request) = decision { request } else { nil }
    }

    @Test("A3: a parameter given twice is invalid_request, and a page where it says who is answered")
    func repeated() {
        for name in ["response_type", "scope", "state", "code_challenge", "ui_locales"] {
            let more = "&\(name)=a&\(name)=b"
            let decision = Self.decide([name: nil], more: more)
            #expect(Self.error(decision) == .invalidRequest, "\(name)")
        }
        for name in ["client_id", "redirect_uri"] {
            #expect(Self.fault(Self.decide(more: "&\(name)=x")) == .repeated(name))
        }
        guard case .refuse(_, let target) = Self.decide(more: "&state=other") else {
            Issue.record("a repeated state is taken")
            return
        }
        #expect(target.state == nil)
    }

    @Test("A4: a parameter without value is as one that is absent, and unknown ones are ignored")
    func empty() {
        #expect(Self.asked(Self.decide(["state": ""]))?.state == .some(nil))
        #expect(Self.asked(Self.decide(["scope": ""]))?.scopes == ["profile", "devices"])
        #expect(Self.error(Self.decide(["response_type": ""])) == .invalidRequest)
        #expect(Self.fault(Self.decide(["client_id": ""])) == .clientMissing)
        #expect(Self.fault(Self.decide(["redirect_uri": ""])) == .redirectMissing)
        #expect(Self.asked(Self.decide(["utm_source": "x", "prompt": "consent"], more: "&y=1&y=2")) != nil)
    }

    @Test("A5: without response_type invalid_request, with another than code unsupported_response_type")
    func responseType() {
        #expect(Self.error(Self.decide(["response_type": nil])) == .invalidRequest)
        for type in ["token", "id_token", "code token", "CODE", "code "] {
            #expect(Self.error(Self.decide(["response_type": type])) == .unsupportedResponseType, "\(type)")
        }
        #expect(Self.asked(Self.decide()) != nil)
    }

    @Test("A6, PRO-1: an unusable client or address ends in a page, never in a redirect")
    func page() {
        #expect(Self.fault(Self.decide(["client_id": nil])) == .clientMissing)
        #expect(Self.fault(Self.decide(["client_id": "nobody"])) == .clientUnknown)
        #expect(Self.fault(Self.decide(["client_id": "Alexa"])) == .clientUnknown)
        #expect(Self.fault(Self.decide(["redirect_uri": nil])) == .redirectMissing)
        #expect(Self.fault(Self.decide(["redirect_uri": "https://evil.example/"])) == .redirectUnknown)
        #expect(Self.fault(Self.decide(["redirect_uri": "https://evil.example/", "scope": "x"])) == .redirectUnknown)
        #expect(Self.fault(Self.decide(more: "&x=%ZZ")) == .malformed)
    }

    @Test("DEC-8: a value that is not UTF-8 is refused, not repaired")
    func encoding() {
        #expect(Self.fault(Self.decide(["state": nil], more: "&state=a%C3%28b")) == .malformed)
        #expect(Self.fault(Self.decide(more: "&y=%C3%28")) == .malformed)
        #expect(Self.fault(Self.decide(more: "&y=%ED%A0%80")) == .malformed)
        #expect(Self.asked(Self.decide(more: "&y=%C3%A4")) != nil)
    }

    @Test("A7: addresses are compared as whole texts; an app's loopback port alone may differ")
    func comparison() {
        for uri in [
            Self.alexa[0] + "/", Self.alexa[0] + "?x=1", Self.alexa[0] + "#f", Self.alexa[0].uppercased(),
            Self.alexa[0].replacing("https:", with: "http:"), Self.alexa[0].replacing(".com/", with: ".com:443/"),
            Self.alexa[0].replacing("/api/", with: "/x/../api/"), Self.alexa[0].replacing("skill", with: "s%6Bill"),
        ] {
            #expect(Self.fault(Self.decide(["redirect_uri": uri])) == .redirectUnknown, "\(uri)")
        }
        let app: [String: String?] = [
            "client_id": "app", "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
            "code_challenge_method": "S256",
        ]
        for (uri, isTaken) in [
            ("http://127.0.0.1/cb", true), ("http://127.0.0.1:51004/cb", true), ("http://127.0.0.1:0/cb", false),
            ("http://127.0.0.1:99999/cb", false), ("http://127.0.0.1:80/other", false), ("http://[::1]:80/cb", false),
            ("http://127.0.0.1:80@evil.example/cb", false), ("http://127.0.0.1.evil.example/cb", false),
            ("http://localhost:80/cb", false), ("com.example.app:/callback", true), ("com.example.app:/other", false),
        ] {
            let decision = Self.decide(app.merging(["redirect_uri": uri]) { $1 })
            #expect((Self.asked(decision) != nil) == isTaken, "\(uri)")
        }
    }

    @Test("PRO-2: the three regions' addresses are taken, others are refused with a page")
    func regions() {
        for uri in Self.alexa { #expect(Self.asked(Self.decide(["redirect_uri": uri]))?.redirectURI == uri) }
        for uri in ["https://layla.amazon.co.uk/api/skill/link/M123", Self.alexa[1].replacing("M123", with: "M999")] {
            #expect(Self.fault(Self.decide(["redirect_uri": uri])) == .redirectUnknown)
        }
    }

    @Test("FLP-1: Google's addresses are taken as they are, and nothing near them")
    func google() {
        let host = "https://oauth-redirect.googleusercontent.com"
        for uri in [
            host + "/a/com.google.Chromecast", host + "/a/com.google.OPA.dev", host + "/r/PROJECT",
            "https://oauth-redirect-sandbox.googleusercontent.com/a/com.google.Chromecast",
            "https://oauth-redirect-sandbox.googleusercontent.com/r/PROJECT",
        ] {
            #expect(Self.asked(Self.decide(["client_id": "google", "redirect_uri": uri])) != nil, "\(uri)")
        }
        for uri in [
            host + "/a/com.example.app", host + "/a/com.google.Chromecast/../x", host + "/r/OTHER",
            host + "/a/com.google.chromecast", host + "/a/com.google.Chromecast/", host + "/a/",
            "https://oauth-redirect.googleusercontent.com.example.test/a/com.google.OPA",
            "http://oauth-redirect.googleusercontent.com/a/com.google.OPA",
        ] {
            let decision = Self.decide(["client_id": "google", "redirect_uri": uri])
            #expect(Self.fault(decision) == .redirectUnknown, "\(uri)")
        }
        let sandbox = "https://oauth-redirect-sandbox.googleusercontent.com/a/com.google.OPA"
        #expect(Self.fault(Self.decide(["client_id": "production", "redirect_uri": sandbox])) == .redirectUnknown)
        #expect(GoogleRedirects.addresses(projectID: "P", sandbox: true).count == 14)
        #expect(GoogleRedirects.addresses(projectID: "P", sandbox: false).count == 7)
    }

    @Test("FLP-3: a relative, empty, missing or repeated address is refused with a page")
    func relative() {
        #expect(Self.fault(Self.decide(["redirect_uri": "/frontend"])) == .redirectUnknown)
        #expect(Self.fault(Self.decide(["redirect_uri": ""])) == .redirectMissing)
        #expect(Self.fault(Self.decide(["redirect_uri": nil])) == .redirectMissing)
        #expect(Self.fault(Self.decide(more: "&redirect_uri=" + percentEncoded(Self.alexa[0]))) != nil)
    }

    @Test("PRO-1: a long state is echoed whole, one that is longer than any known gets a page")
    func longState() {
        for count in [1200, 4096] {
            let state = String(repeating: "x", count: count)
            let target = Self.asked(Self.decide(["state": state]))?.target
            #expect(target?.success(code: Secret("c")).hasSuffix("&state=" + state) == true)
        }
        #expect(Self.fault(Self.decide(["state": String(repeating: "x", count: 4097)])) == .stateTooLong)
        #expect(Self.fault(Self.decide(["state": String(repeating: "x", count: 20_000)])) == .stateTooLong)
    }

    @Test("A9, A10, A13, FLP-2: answers are form-encoded, keep the address's query, and echo state byte for byte")
    func answers() throws {
        let google = try #require(
            Self.asked(Self.decide(["client_id": "google", "redirect_uri": Self.queryURI, "state": "s+1="])))
        #expect(google.target.success(code: Secret("c o")) == Self.queryURI + "&code=c+o&state=s%2B1%3D")
        let failure = google.target.failure(.accessDenied, "no")
        #expect(failure == Self.queryURI + "&error=access_denied&error_description=no&state=s%2B1%3D")
        let flip = google.target.failure(named: "cancelled")
        #expect(flip == Self.queryURI + "&error=cancelled&state=s%2B1%3D")
        let alexa = try #require(Self.asked(Self.decide()))
        let query = try #require(alexa.target.success(code: Secret("c")).split(separator: "?").last)
        #expect(try #require(Form(decoding: query))["state"] == "s+1= &ü")
        let none = try #require(Self.asked(Self.decide(["state": nil])))
        #expect(none.target.success(code: Secret("c")) == Self.alexa[0] + "?code=c")
        #expect(none.target.failure(.serverError) == Self.alexa[0] + "?error=server_error")
    }

    @Test("A12: an error's description holds only the characters that it may")
    func description() throws {
        let target = RedirectTarget(redirectURI: "https://a.example/cb", state: nil)
        let url = target.failure(.invalidScope, "scope \"ü\\\n\u{7f}\" ~ok")
        let query = try #require(url.split(separator: "?").last)
        #expect(try #require(Form(decoding: query))["error_description"] == "scope '?'??' ~ok")
    }

    @Test("A22: no iss is sent to clients, none of which opted in")
    func issuer() throws {
        let target = try #require(Self.asked(Self.decide())).target
        #expect(!target.success(code: Secret("c")).contains("iss="))
        #expect(!target.failure(.accessDenied).contains("iss="))
    }

    @Test("A23: an unknown scope is invalid_scope; none asks for all that the client may have")
    func scopes() {
        #expect(Self.asked(Self.decide(["scope": "devices profile devices"]))?.scopes == ["devices", "profile"])
        #expect(Self.asked(Self.decide(["scope": nil]))?.scopes == ["profile", "devices"])
        for scope in ["nonsense", "profile nonsense", "Profile", "profile,devices", "openid"] {
            #expect(Self.error(Self.decide(["scope": scope])) == .invalidScope, "\(scope)")
        }
    }

    @Test("P1, P3, P4, P5, PRO-13: S256 alone is taken, and public clients must use it")
    func proofKeys() {
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        func with(_ challenge: String?, _ method: String?, client: String = "alexa") -> AuthorizationDecision {
            var changes: [String: String?] = [
                "client_id": client, "code_challenge": challenge, "code_challenge_method": method,
            ]
            if client == "app" { changes["redirect_uri"] = "com.example.app:/callback" }
            return Self.decide(changes)
        }
        #expect(Self.asked(with(challenge, "S256"))?.challenge == challenge)
        #expect(Self.asked(with(challenge, "S256", client: "app")) != nil)
        #expect(Self.asked(with(nil, nil)) != nil)
        for (challenge, method, client) in [
            (challenge, "plain", "alexa"), (challenge, nil, "alexa"), (challenge, "s256", "alexa"),
            (challenge, "S512", "alexa"), (nil, "S256", "alexa"), (nil, nil, "app"), (challenge, "plain", "app"),
            (challenge + "=", "S256", "alexa"), (String(challenge.dropLast()), "S256", "alexa"),
            (challenge.replacing("-", with: "+"), "S256", "alexa"),
        ] as [(String?, String?, String)] {
            let decision = with(challenge, method, client: client)
            #expect(Self.error(decision) == .invalidRequest, "\(challenge ?? "-") \(method ?? "-") \(client)")
        }
    }

    @Test("A11: a client that may not ask for codes is unauthorized_client, another resource is invalid_target")
    func others() {
        #expect(Self.error(Self.decide(["client_id": "back-end"])) == .unauthorizedClient)
        #expect(Self.error(Self.decide(["resource": "https://other.example"])) == .invalidTarget)
        #expect(Self.asked(Self.decide(["resource": Self.resource])) != nil)
        #expect(Self.asked(Self.decide(["user_locale": "de-DE"]))?.uiLocales == ["de-DE"])
        #expect(Self.asked(Self.decide(["ui_locales": "ja en"]))?.uiLocales == ["ja", "en"])
    }

    @Test("PRO-5: the origin of an address is what a content security policy names")
    func origin() {
        for (uri, origin) in [
            (Self.alexa[1], "https://layla.amazon.com"), ("http://127.0.0.1:81/cb?x", "http://127.0.0.1:81"),
            ("com.example.app:/callback", "com.example.app:"),
        ] { #expect(RedirectTarget(redirectURI: uri, state: nil).origin == origin) }
    }
}
