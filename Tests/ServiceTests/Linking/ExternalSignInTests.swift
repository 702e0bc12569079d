import Alexa
import Concurrency
import Crypto
import HTTP
import JSON
import LinkMessages
import OAuth
import Service
import Storage
import Telemetry
import TestSupport
import Testing
import Time

/// The website's side of linking where the company has an OAuth provider of its own, at which users sign in.
@Suite("Signing in at the company's provider", .timeLimit(.minutes(5))) struct ExternalSignInTests {
    private static let publicURL = "https://skill.example.com"
    private static let provider = "https://login.example.com"

    /// The company's provider: codes that are good once, tokens that are introspected, codes for Alexa.
    private struct World: Sendable {
        var codes: [String: Form] = [:]
        var tokenAnswer: HTTPResponse?
        var alexaCodes: [Form] = []
        var isReached = true
        /// What a user's token is followed by.
        var padding = ""
    }

    private struct Site: Sendable {
        let service: MadeService
        let clock: ManualClock
        let world: Locked<World>
        let store: MemoryStore
        let lines: LogLines
        let log: Log

        /// The provider's page: the user agrees, and the browser is sent back.
        func agree(_ address: String, as user: String) throws -> String {
            let query = try #require(Form(decoding: address.drop { $0 != "?" }.dropFirst()))
            let code = user + "-" + SecureRandom.token(bytes: 6)
            world.withLock { $0.codes[code] = query }
            var back = Form()
            back.append("code", code)
            back.append("state", query["state"])
            back.append("iss", ExternalSignInTests.provider)
            let redirectURI = try #require(query["redirect_uri"])
            return redirectURI.dropFirst(ExternalSignInTests.publicURL.count) + "?" + back.encodedText
        }
    }

    /// A browser that keeps cookies.
    private final class Visit {
        let site: Site
        var cookies: [String: String] = [:]

        init(_ site: Site) { self.site = site }

        func get(_ target: String) async -> Browser.Page { await send(.get, target, "") }

        func post(_ target: String, _ items: [(String, String)]) async -> Browser.Page {
            var form = Form()
            for (name, value) in items { form.append(name, value) }
            return await send(.post, target, form.encodedText)
        }

        private func send(_ method: HTTPMethod, _ target: String, _ body: String) async -> Browser.Page {
            var fields: HTTPFields = [:]
            if !cookies.isEmpty { fields["Cookie"] = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") }
            if method == .post { fields["Content-Type"] = "application/x-www-form-urlencoded" }
            let response = await site.service.router.respond(
                to: HTTPRequest(
                    method: method, target: target, fields: fields, body: Array(body.utf8),
                    deadline: site.clock.deadline()))
            for line in response.fields.values("Set-Cookie") {
                let pair = line.prefix { $0 != ";" }
                let name = String(pair.prefix { $0 != "=" })
                #expect(name.hasPrefix("__Host-") && line.contains("; Secure") && line.contains("HttpOnly"))
                cookies[name] = line.contains("Max-Age=0") ? nil : String(pair.dropFirst(name.count + 1))
            }
            return Browser.Page(response)
        }

        /// Goes to the provider and comes back signed in; gives where the browser is led then.
        func signIn(_ target: String, as user: String = "alice") async throws -> String {
            let asked = await get(target)
            let address = try #require(asked.location)
            #expect(asked.status == 303 && address.hasPrefix(ExternalSignInTests.provider + "/authorize?"))
            let back = await get(try site.agree(address, as: user))
            #expect(back.status == 303, "\(back.text)")
            return try #require(back.location)
        }
    }

    private static func configuration(hasLogin: Bool) throws -> Configuration {
        var draft = ConfigurationDraft.external
        let pair: JSONValue = ["env": "SECRET"]
        func endpoint(_ path: String) -> JSONValue {
            ["url": .string(provider + path), "clientID": "skillgate", "clientSecret": pair]
        }
        draft["provider.external"] = [
            "issuer": .string(provider), "introspection": endpoint("/introspect"), "code": endpoint("/code"),
            "resources": ["baseURL": "https://api.example.com/v1"],
        ]
        if hasLogin {
            draft["provider.external.login"] = [
                "clientID": "pages", "clientSecret": pair, "authorizationURL": .string(provider + "/authorize"),
                "tokenURL": .string(provider + "/token"),
            ]
        }
        draft["apps"] = ["openURL": "example-app://linked"]
        draft["provider.scopes"] = ["custom": ["profile"], "smartHome": ["devices"]]
        draft["skills[0].linking.redirectURLs"] = [.string(publicURL + "/link/alexa/callback")]
        return try draft.configuration()
    }

    private static func site(hasLogin: Bool = true, _ change: (inout World) -> Void = { _ in }) async throws -> Site {
        var first = World()
        change(&first)
        let (world, clock, lines) = (Locked(first), ManualClock(), LogLines())
        let http = RecordingHTTPClient { request, _ throws(HTTPClientError) in
            try answer(to: request, world)
        }
        let store = MemoryStore(clock: clock.wall)
        let log = Log(level: .debug, format: .json, clock: clock.wall, sink: lines)
        let service = try await makeService(
            configuration(hasLogin: hasLogin),
            ServiceParts(
                store: store, http: http, clock: clock.wall, monotonic: clock.monotonic, log: log, metrics: Metrics(),
                trustAnchors: try TestAuthority().anchors))
        return Site(service: service, clock: clock, world: world, store: store, lines: lines, log: log)
    }

    private static func json(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, fields: ["Content-Type": "application/json"], body: Array(text.utf8))
    }

    private static func answer(
        to request: OutgoingRequest, _ world: Locked<World>
    ) throws(HTTPClientError) -> HTTPResponse {
        let form = Form(decoding: String(decoding: request.body ?? [], as: UTF8.self)) ?? Form()
        let basic = request.fields["Authorization"]
        guard world.withLock({ $0.isReached }) else { throw .timedOut }
        switch request.url {
        case provider + "/token":
            return world.withLock { world in
                if let answer = world.tokenAnswer { return answer }
                guard basic == TokenHarness.basic("pages", "hunter2-value"), form["grant_type"] == "authorization_code",
                    let code = form["code"], let asked = world.codes.removeValue(forKey: code),
                    asked["redirect_uri"] == form["redirect_uri"], asked["client_id"] == "pages",
                    asked["code_challenge"] == Base64URL.encode(SHA256.digest(form["code_verifier"] ?? ""))
                else { return json(#"{"error":"invalid_grant"}"#, status: 400) }
                let user = code.prefix { $0 != "-" }
                return json(
                    #"{"access_token":"token-\#(user)-\#(world.padding)","token_type":"Bearer","expires_in":1800}"#)
            }
        case provider + "/introspect":
            let parts = (form["token"] ?? "").split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[0] == "token", parts[1] != "nobody" else { return json(#"{"active":false}"#) }
            return json(#"{"active":true,"sub":"\#(parts[1])","client_id":"pages","exp":4102444800}"#)
        case provider + "/code":
            world.withLock { $0.alexaCodes.append(form) }
            return json(#"{"code":"code-for-alexa"}"#)
        case "https://api.example.com/v1/me":
            let user = request.fields["Authorization"]?.split(separator: "-").dropFirst().first ?? ""
            return json(#"{"sub":"\#(user)","name":"Name of \#(user)"}"#)
        case LoginWithAmazon.usualTokenURL:
            return json(
                #"{"access_token":"Atza|1","refresh_token":"Atzr|1","token_type":"bearer","expires_in":3600}"#)
        default:
            if request.url.hasSuffix("/v1/alexaApiEndpoint") {
                return json(#"{"endpoints":["api.amazonalexa.com"]}"#)
            }
            return json(
                #"{"skill":{"stage":"live","id":"s"},"user":{"id":"amzn1.ask.account.A"},"accountLink":{"status":"LINKED"},"status":"ENABLED"}"#,
                status: 201)
        }
    }

    @Test("the user signs in at the provider with PKCE, comes back to where it began, and links with a code of theirs")
    func whole() async throws {
        let site = try await Self.site()
        let visit = Visit(site)
        let asked = await visit.get("/link?skill=rides")
        let query = try #require(asked.answer)
        #expect(
            query["client_id"] == "pages" && query["scope"] == "profile devices" && query["response_type"] == "code")
        #expect(
            query["code_challenge_method"] == "S256" && query["redirect_uri"] == Self.publicURL + "/account/signed-in")
        #expect(try await visit.signIn("/link?skill=rides") == "/link?skill=rides")
        let page = await visit.get("/link?skill=rides")
        #expect(page.status == 200 && page.text.contains("Name of alice"))
        #expect(page.policy.contains("form-action 'self' https://www.amazon.com https://login.example.com"))
        let sent = await visit.post("/link", page.hidden + [("decision", "link")])
        let state = try #require(sent.answer?["state"])
        let landed = await visit.get("/link/alexa/callback?code=amz&state=\(state)")
        let address = try #require(landed.location)
        let last = await visit.get(address)
        #expect(last.text.contains("One last step") && last.text.contains("Name of alice"))
        #expect(await visit.post(address, last.hidden + [("decision", "agree")]).location == address)
        #expect(await visit.get(address).text.contains("Your account is linked"))
        let code = try #require(site.world.withLock { $0.alexaCodes.first })
        #expect(code["token"] == "token-alice-" && code["client_id"] == "alexa" && code["scope"] == "profile devices")
        let links = await visit.get("/account/links")
        #expect(links.text.contains("Alexa") && links.text.contains("name=\"link\""))
        site.log.flush()
        #expect(!site.lines.lines.joined().contains("token-alice"))
    }

    @Test("what is no answer for this browser signs nobody in, and says how to go on")
    func refused() async throws {
        let site = try await Self.site()
        let visit = Visit(site)
        let address = try #require(await visit.get("/account/links").location)
        #expect(address == "/account/sign-in")
        let login = try #require(await visit.get(address).location)
        let back = try site.agree(login, as: "alice")
        let other = Visit(site)
        #expect(await other.get(back).status == 400, "another browser")
        #expect(await other.get("/account/links").status == 303)
        let state = try #require(Form(decoding: login.drop { $0 != "?" }.dropFirst())?["state"])
        for query in [
            "", "?code=a", "?state=\(state)", "?code=a&state=\(state)x", "?code=a&code=b&state=\(state)",
            "?code=a&state=\(state)&state=\(state)", "?error=access_denied&state=\(state)", "?code=&state=\(state)",
            "?code=a&state=\(state)&iss=https%3A%2F%2Fevil.example", "?code=unknown&state=\(state)", "?%ZZ",
        ] {
            let copy = Visit(site)
            copy.cookies = visit.cookies
            let page = await copy.get("/account/signed-in" + query)
            let isExchange = query.hasPrefix("?code=unknown")
            #expect(page.status == (isExchange ? 502 : 400) && page.text.contains("You are not signed in"), "\(query)")
            #expect(page.reference?.count == 32 && page.link == "/account/links")
            let isOthers = query.contains("iss=")
            #expect(page.reason == (isExchange ? "signIn.exchange" : isOthers ? "signIn.issuer" : "signIn.returned"))
            #expect(await copy.get("/account/links").status == 303)
        }
        #expect(await visit.get(back).location == "/account/links")
        #expect(await visit.get("/account/links").status == 200)
        #expect(await visit.get(back).status == 400, "an answer is good once")
    }

    @Test("where nobody can sign in, the landing page leads to the app, keeps nothing, and the attempt stays the app's")
    func appAlone() async throws {
        let site = try await Self.site(hasLogin: false)
        let visit = Visit(site)
        for path in ["/link", "/account/links", "/account/sign-in"] { #expect(await visit.get(path).status == 404) }
        for query in ["?code=amz-secret&state=s", "?error=access_denied&state=s"] {
            let page = await visit.get("/link/alexa/callback" + query)
            #expect(page.status == 200 && page.heading == "Go back to the app")
            #expect(page.link == "example-app://linked" && page.text.contains("Open the app"))
            #expect(!page.text.contains("amz-secret"))
        }
        let faulty = await visit.get("/link/alexa/callback?code=amz")
        #expect(faulty.status == 400 && faulty.reason == "link.redirectIncomplete" && faulty.link == nil)
        #expect(visit.cookies.isEmpty)
    }

    @Test("a provider that gives no good token signs nobody in")
    func provider() async throws {
        let answers = [
            Self.json("<html>", status: 200), Self.json("{}", status: 200), Self.json("{}", status: 500),
            Self.json(#"{"access_token":"","token_type":"Bearer"}"#),
            Self.json(#"{"access_token":"token-alice-","token_type":"mac"}"#),
            Self.json(#"{"access_token":"token-nobody-","token_type":"Bearer"}"#),
            HTTPResponse(status: 302, fields: ["Location": "https://evil.example"]),
        ]
        for answer in answers {
            let site = try await Self.site { $0.tokenAnswer = answer }
            let visit = Visit(site)
            let login = try #require(await visit.get("/link").location)
            let page = await visit.get(try site.agree(login, as: "alice"))
            #expect(page.status == 502 && page.link == "/link" && page.text.contains("You are not signed in"))
            #expect(await visit.get("/link").status == 303)
        }
        // Longer than a browser keeps: a page says so, instead of a sign-in without end.
        let site = try await Self.site { $0.padding = String(repeating: "x", count: 4000) }
        let visit = Visit(site)
        let login = try #require(await visit.get("/link").location)
        #expect(await visit.get(try site.agree(login, as: "alice")).status == 502)
    }

    @Test("another account, sign-out, and the end of the session lead to the provider again")
    func switching() async throws {
        let site = try await Self.site()
        let visit = Visit(site)
        _ = try await visit.signIn("/link")
        let page = await visit.get("/link")
        let token = try #require(page.hidden.first { $0.0 == "token" })
        #expect(await visit.post("/link", [("token", "x"), ("decision", "switch")]).status == 403)
        let early = Visit(site)
        early.cookies = visit.cookies
        let switched = await visit.post("/link", [token, ("decision", "switch")])
        #expect(await early.get("/link").status == 303, "a copy of the cookie ends too")
        #expect(switched.answer?["prompt"] == "login")
        _ = await visit.get(try site.agree(try #require(switched.location), as: "bob"))
        #expect(await visit.get("/link").text.contains("Name of bob"))
        #expect(
            await visit.post("/link", [token, ("skill", "rides"), ("decision", "link")]).status == 403, "alice's form")
        let own = try #require(await visit.get("/account/links").hidden.first { $0.0 == "token" })
        let copy = Visit(site)
        copy.cookies = visit.cookies
        #expect(await copy.get("/link").status == 200)
        #expect(await visit.post("/account/sign-out", [own]).status == 303)
        #expect(await visit.get("/link").status == 303)
        #expect(await copy.get("/link").status == 303, "a copy of the cookie ends too")
        _ = try await visit.signIn("/link")
        site.clock.advance(by: .seconds(1801))
        #expect(await visit.get("/link").status == 303)
    }

    @Test("no account swap: whoever signs in as somebody else does not finish, and two tabs have two ways back")
    func swap() async throws {
        let site = try await Self.site()
        let visit = Visit(site)
        let first = try #require(await visit.get("/link?skill=rides").location)
        let second = try #require(await visit.get("/account/sign-in").location)
        #expect(await visit.get(try site.agree(second, as: "alice")).location == "/account/links")
        #expect(await visit.get(try site.agree(first, as: "alice")).location == "/link?skill=rides")
        let page = await visit.get("/link?skill=rides")
        let sent = await visit.post("/link", page.hidden + [("decision", "link")])
        let state = try #require(sent.answer?["state"])
        let mallory = Visit(site)
        _ = try await mallory.signIn("/link", as: "mallory")
        let landed = try #require(await mallory.get("/link/alexa/callback?code=amz&state=\(state)").location)
        let refused = await mallory.get(landed)
        #expect(refused.status == 403 && refused.text.contains("Someone else"))
        #expect(site.world.withLock { $0.alexaCodes.isEmpty })
        site.world.withLock { $0.isReached = false }
        let stranger = Visit(site)
        let login = try #require(await stranger.get("/link").location)
        #expect(await stranger.get(try site.agree(login, as: "alice")).status == 502)
    }
}
