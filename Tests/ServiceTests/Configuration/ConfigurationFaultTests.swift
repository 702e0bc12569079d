import JSON
import OAuth
import Service
import Testing

@Suite("Faults of the configuration") struct ConfigurationFaultTests {
    /// One fault planted into a good configuration: where, what, and what must be said of it.
    struct Plant: Sendable, CustomStringConvertible {
        let path: String
        let value: JSONValue?
        let key: String
        let says: String

        init(_ path: String, _ value: JSONValue?, says: String, at key: String? = nil) {
            self.path = path
            self.value = value
            self.key = key ?? path
            self.says = says
        }

        var description: String {
            "\(path) = \(value.map { String(decoding: $0.encoded(), as: UTF8.self) } ?? "nothing")"
        }
    }

    static let shapes: [Plant] = [
        Plant("publicURL", nil, says: "missing"),
        Plant("store", nil, says: "missing"),
        Plant("store.url", nil, says: "missing"),
        Plant("provider", nil, says: "missing"),
        Plant("skills[0].name", nil, says: "missing"),
        Plant("skills[0].id", nil, says: "missing"),
        Plant("skills[0].linking.clientID", nil, says: "missing"),
        Plant("skills[0].linking.clientSecret", nil, says: "missing"),
        Plant("skills[0].events.clientSecret", nil, says: "missing"),
        Plant("provider.clients[0].id", nil, says: "missing"),
        Plant("publicUrl", "https://skill.example.com", says: "is publicURL meant?"),
        Plant("skills[0].linking.clientSecert", "x", says: "is clientSecret meant?"),
        Plant("nonsense", 1, says: "unknown key: here are known development, publicURL"),
        Plant("listen.tls.certificat", "x", says: "is certificate meant?"),
        Plant("skills", ["name": "x"], says: "a list of objects"),
        Plant("skills[0]", "rides", says: "an object of name, id"),
        Plant("listen", 8080, says: "an object of host, port"),
        Plant("company", .null, says: "null is no value"),
        Plant("company.name", .null, says: "null is no value"),
        Plant("listen.port", "8080", says: "a whole number from 0 to 65535"),
        Plant("listen.port", 65_536, says: "65536 is out of range"),
        Plant("listen.port", 80.5, says: "a whole number"),
        Plant("development", "no", says: "true or false"),
        Plant("company.name", "", says: "the text is empty"),
        Plant("company.name", 7, says: "a text, in quotes"),
        Plant("company.name", .string(String(repeating: "x", count: 101)), says: "longer than 100"),
        Plant("company.name", "a\nb", says: "control characters"),
        Plant("company.color", "red", says: "#0a7"),
        Plant("company.color", "#12345", says: "#0a7"),
        Plant("log.level", "verbose", says: "one of error, notice, info, debug"),
        Plant("skills[0].stage", "beta", says: "one of development, live"),
        Plant("lambda.accept", ["invocation", "sqs"], says: "one of invocation, http", at: "lambda.accept[1]"),
        Plant("provider.scopes.custom", "profile", says: "a list, in brackets"),
        Plant("provider.scopes.custom", ["a", "a"], says: "stands twice", at: "provider.scopes.custom[1]"),
        Plant("texts.apology", "Sorry", says: "by locale"),
        Plant("texts.apology", [:], says: "by locale"),
        Plant("texts.apology", ["english": "Sorry"], says: "no locale", at: "texts.apology.english"),
        Plant("texts.apology", ["en-US": 1], says: "a text", at: "texts.apology.en-US"),
        Plant(
            "texts.linkErrors", ["link.expired": ["en-US": ""]], says: "empty",
            at: "texts.linkErrors.link.expired.en-US"),
    ]

    static let secrets: [Plant] = [
        Plant("skills[0].linking.clientSecret", "open-sesame", says: "in development alone: write {\"env\": \"NAME\"}"),
        Plant("skills[0].linking.clientSecret", ["env": "UNSET"], says: "variable UNSET is not set"),
        Plant("skills[0].linking.clientSecret", ["env": "EMPTY"], says: "variable EMPTY is not set, or empty"),
        Plant("skills[0].events.clientSecret", ["file": "absent"], says: "/etc/skillgate/absent cannot be read"),
        Plant("skills[0].events.clientSecret", ["file": "empty.txt"], says: "is empty"),
        Plant("provider.clients[0].secret", ["env": "SECRET", "file": "secret.txt"], says: "write {\"env\""),
        Plant("provider.clients[0].secret", ["vault": "SECRET"], says: "write {\"env\""),
        Plant("provider.clients[0].secret", ["env": 1], says: "write {\"env\""),
        Plant("forwarder.secret", 12_345, says: "write {\"env\""),
        Plant("smapi.token", "open-sesame", says: "in development alone"),
        Plant("store.encryptionKey", nil, says: "missing"),
        Plant("store.encryptionKey", ["env": "SECRET"], says: "32 bytes in base64"),
        Plant("forwarder.secret", nil, says: "must prove itself"),
    ]

    static let addresses: [Plant] = [
        Plant("publicURL", "http://skill.example.com", says: "for this machine alone"),
        Plant("publicURL", "skill.example.com", says: "begins with https://"),
        Plant("publicURL", "https://user:pw@skill.example.com", says: "begins with https://"),
        Plant("publicURL", "https://skill.example.com/base", says: "has a path"),
        Plant("publicURL", "https://skill.example.com?x=1", says: "a query"),
        Plant("publicURL", "https://skill.example.com#top", says: "fragment"),
        Plant("publicURL", "https://skill.example.com:0", says: "port 0"),
        Plant("publicURL", "https://skill.example.com:70000", says: "begins with https://"),
        Plant("publicURL", "ftp://skill.example.com", says: "begins with https://"),
        Plant("amazon.endpoints.lwaToken", "http://127.0.0.1.evil.test/token", says: "for this machine alone"),
        Plant("amazon.endpoints.api.NA", "http://localhost.evil.test", says: "for this machine alone"),
        Plant("http.proxy", "http://10.0.0.1:3128", says: "for this machine alone"),
        Plant(
            "skills[0].linking.redirectURLs", ["http://skill.example.com/x"], says: "for this machine alone",
            at: "skills[0].linking.redirectURLs[0]"),
        Plant("http.resolve", ["s3.amazonaws.com:443:10.0.0.1:9443"], says: "not this machine", at: "http.resolve[0]"),
        Plant(
            "http.resolve", ["s3.amazonaws.com:443:127.0.0.1"], says: "host:port:address:port", at: "http.resolve[0]"),
        Plant(
            "http.resolve", ["s3.amazonaws.com:x:127.0.0.1:1"], says: "host:port:address:port", at: "http.resolve[0]"),
        Plant("http.resolve", [":443:127.0.0.1:1"], says: "host:port:address:port", at: "http.resolve[0]"),
        Plant("http.resolve", ["a:1:[::2]:1"], says: "not this machine", at: "http.resolve[0]"),
        Plant("listen.trustedProxies", ["10.0.0.0/33"], says: "10.0.0.0/8", at: "listen.trustedProxies[0]"),
        Plant("listen.trustedProxies", ["proxy.example.com"], says: "10.0.0.0/8", at: "listen.trustedProxies[0]"),
        Plant(
            "listen.operations", ["host": "127.0.0.1", "port": 8080], says: "take another port",
            at: "listen.operations.port"),
        Plant(
            "listen.tls", ["certificate": "absent.pem", "privateKey": "some.pem"], says: "cannot be read",
            at: "listen.tls.certificate"),
        Plant("apps.openURL", "javascript:alert(1)", says: "opens no app"),
        Plant("apps.openURL", "DATA:text/html,x", says: "opens no app"),
        Plant("apps.openURL", "http://app.example.com", says: "opens no app"),
        Plant("apps.openURL", "example app://linked", says: "opens no app"),
        Plant("apps.openURL", "/linked", says: "opens no app"),
        Plant("amazon.trustAnchors", "absent.pem", says: "cannot be read"),
        Plant("http.caFile", "absent.pem", says: "cannot be read"),
        Plant("store.url", "postgresql://localhost/skillgate", says: "SQLite only"),
        Plant("store.url", "skillgate.sqlite", says: "sqlite:PATH"),
        Plant("store.url", "sqlite:", says: "sqlite:PATH"),
    ]

    static let skills: [Plant] = [
        Plant("skills[0].id", "rides", says: "amzn1.ask.skill."),
        Plant("skills[0].name", "a/b", says: "stands in addresses"),
        Plant(
            "skills[1]", ["name": "rides", "id": "amzn1.ask.skill.OTHER"], says: "another skill has this name",
            at: "skills[1].name"),
        Plant(
            "skills[1]", ["name": "other", "id": "amzn1.ask.skill.TEST"], says: "another skill has this id",
            at: "skills[1].id"),
        Plant("skills[0].intents", "absent.json5", says: "cannot be read"),
        Plant("skills[0].intents", "bad.json5", says: "in the file: requests.LaunchRequest"),
        Plant("skills[0].linking.domains", many(16), says: "16 are more than the 15"),
        Plant(
            "skills[0].linking.domains", ["https://login.example.com"], says: "a domain's name alone",
            at: "skills[0].linking.domains[0]"),
        Plant("provider.scopes.custom", many(16), says: "16 are more than the 15"),
        Plant("provider.scopes.smartHome", many(16), says: "16 are more than the 15"),
        Plant("provider.scopes.smartHome", [], says: "Amazon demands a scope"),
        Plant("provider.scopes.smartHome", nil, says: "Amazon demands a scope"),
        Plant("provider.scopes.custom", ["two words"], says: "one word", at: "provider.scopes.custom[0]"),
        Plant("skills[0].linking.defaultTokenExpirationSeconds", 359, says: "out of range"),
        Plant("provider.accessTokenSeconds", 359, says: "from 360 to 86400"),
        Plant("provider.accessTokenSeconds", 86_401, says: "from 360 to 86400"),
        Plant("forwarder.required", false, says: "development alone"),
        Plant("clockOffsetSeconds", 1, says: "development alone"),
        Plant("traces.keepDays", 0, says: "out of range"),
        Plant("limits.bodyBytes", 1023, says: "from 1024 to"),
        Plant("limits.jsonDepth", 1000, says: "from 16 to 512"),
        Plant("limits.discoveryEndpoints", 301, says: "from 1 to 300"),
    ]

    static let providers: [Plant] = [
        Plant(
            "provider.external", ["jwksURL": "https://a.example.com", "issuer": "https://a.example.com"],
            says: "exclude each other", at: "provider"),
        Plant("provider.embedded", nil, says: "embedded: {…} or external: {…}", at: "provider"),
        Plant("provider.embedded.users", "plain.json5", says: "in the file: users[0].password: a plain password"),
        Plant("provider.embedded.users", "absent.json5", says: "cannot be read"),
        Plant("provider.clients[1].id", "alexa", says: "another client has this id"),
        Plant("provider.clients[0].authentication", ["none"], says: "for a client without a secret"),
        Plant("provider.clients[0].authentication", [], says: "the list is empty"),
        Plant(
            "provider.clients[0].authentication", ["digest"], says: "one of basic, body, none",
            at: "provider.clients[0].authentication[0]"),
        Plant(
            "provider.clients[1].authentication", ["basic"], says: "authentication is basic or body",
            at: "provider.clients[1].secret"),
        Plant("provider.clients[1].pkce", "optional", says: "must use it"),
        Plant(
            "provider.clients[1].grants", ["client_credentials"], says: "client_credentials needs one",
            at: "provider.clients[1].secret"),
        Plant("provider.clients[1].role", "operator", says: "with a role needs one", at: "provider.clients[1].secret"),
        Plant("provider.clients[0].role", "admin", says: "one of operator, events"),
        Plant(
            "provider.clients[0].grants", ["password"], says: "one of authorization_code",
            at: "provider.clients[0].grants[0]"),
        Plant("provider.clients[0].redirectURIs", nil, says: "needs an address to send the code to"),
        Plant(
            "provider.clients[0].redirectURIs", ["http://example.com/"], says: "write https://",
            at: "provider.clients[0].redirectURIs[0]"),
        Plant(
            "provider.clients[0].redirectURIs", ["/callback"], says: "with its scheme",
            at: "provider.clients[0].redirectURIs[0]"),
        Plant(
            "provider.clients[0].redirectURIs", ["https://a.example.com/#x"], says: "fragment",
            at: "provider.clients[0].redirectURIs[0]"),
        Plant(
            "provider.clients[0].redirectURIs", ["myapp:/callback"], says: "may be anybody's",
            at: "provider.clients[0].redirectURIs[0]"),
        Plant(
            "provider.clients[0].redirectURIs", ["javascript:alert(1)"], says: "may be anybody's",
            at: "provider.clients[0].redirectURIs[0]"),
        Plant(
            "provider.clients[0].redirectURIs", ["data:text/html,x"], says: "may be anybody's",
            at: "provider.clients[0].redirectURIs[0]"),
        Plant(
            "provider.clients[0].redirectURIs", ["https://app.example.test/../cb"], says: "leads through",
            at: "provider.clients[0].redirectURIs[0]"),
        Plant(
            "provider.clients[0].redirectURIs", ["//example.test/cb"], says: "with its scheme",
            at: "provider.clients[0].redirectURIs[0]"),
    ]

    static let external: [Plant] = [
        Plant("provider.external", [:], says: "add jwksURL, introspection"),
        Plant("provider.external.issuer", nil, says: "any other issuer"),
        Plant(
            "provider.external.revocation", ["url": "https://a.example.com", "by": "name"],
            says: "one of token, subject", at: "provider.external.revocation.by"),
        Plant(
            "provider.external.revocation", ["url": "https://a.example.com", "clientID": "skillgate"],
            says: "missing beside clientID", at: "provider.external.revocation.clientSecret"),
        Plant(
            "provider.external.revocation", ["url": "https://a.example.com", "clientSecret": ["env": "SECRET"]],
            says: "missing beside clientSecret", at: "provider.external.revocation.clientID"),
        Plant(
            "provider.external.introspection", ["url": "https://a.example.com"], says: "missing",
            at: "provider.external.introspection.clientID"),
        Plant("provider.external.resources", [:], says: "missing", at: "provider.external.resources.baseURL"),
        Plant(
            "provider.clients", [["id": "b", "secret": ["env": "SECRET"], "grants": ["authorization_code"]]],
            says: "only back ends are clients", at: "provider.clients[0].grants"),
    ]

    static let development: [Plant] = [
        Plant("publicURL", "https://skill.example.com", says: "a publicURL that others reach", at: "development"),
        Plant("listen.host", "0.0.0.0", says: "a listener that others reach", at: "development"),
        Plant("listen.operations", ["host": "10.0.0.1"], says: "a listener that others reach", at: "development"),
        Plant("forwarder.secret", "", says: "empty"),
        Plant("forwarder", ["required": true], says: "must prove itself", at: "forwarder.secret"),
    ]

    private static func many(_ count: Int) -> JSONValue { .array((0..<count).map { "x\($0)" }) }

    @Test("a good configuration has no fault")
    func good() {
        #expect(ConfigurationDraft.production.faults() == [])
        #expect(ConfigurationDraft.external.faults() == [])
        #expect(ConfigurationDraft.development.faults() == [])
    }

    @Test(
        "a planted fault is named with its key, and nothing elsewhere",
        arguments: shapes + secrets + addresses + skills + providers)
    func production(plant: Plant) { expect(plant, in: .production) }

    @Test("a fault of an external provider is named", arguments: external)
    func externalProvider(plant: Plant) { expect(plant, in: .external) }

    @Test("what development does not take is named", arguments: development)
    func inDevelopment(plant: Plant) { expect(plant, in: .development) }

    private func expect(_ plant: Plant, in draft: ConfigurationDraft) {
        var draft = draft
        draft[plant.path] = plant.value
        let faults = draft.faults()
        #expect(faults.contains { $0.path == plant.key && $0.problem.contains(plant.says) }, "\(faults)")
        let area = plant.key.prefix { $0 != "." && $0 != "[" }
        #expect(faults.allSatisfy { $0.path.hasPrefix(area) }, "\(faults)")
        for secret in ["hunter2-value", "open-sesame", "from a file"] {
            #expect(!faults.contains { $0.problem.contains(secret) }, "\(faults)")
        }
    }

    @Test("every fault is listed at once, in the order of the file where that tells")
    func all() {
        var draft = ConfigurationDraft.production
        draft["listen.port"] = 70_000
        draft["skills[0].linking.clientSecret"] = "open-sesame"
        draft["skills[0].id"] = "rides"
        draft["provider.accessTokenSeconds"] = 5
        draft["nonsense"] = true
        draft["forwarder.required"] = false
        draft["store.url"] = "postgresql://x"
        #expect(
            draft.faults().map(\.path).sorted() == [
                "forwarder.required", "listen.port", "nonsense", "provider.accessTokenSeconds", "skills[0].id",
                "skills[0].linking.clientSecret", "store.url",
            ])
    }

    @Test(
        "what is no JSON5 is one fault with its place",
        arguments: ["{ a: 1", "{ publicURL: 'x' publicURL: 'y' }", "[]", "7", ""])
    func syntax(text: String) {
        let source = ConfigurationSource(
            bytes: Array(text.utf8), folder: ".", environment: { _ in nil }, readFile: { _ in nil })
        #expect(throws: FileFaults.self) { try Configuration(source) }
    }
}

@Suite("Clients of the configuration") struct ConfiguredClientTests {
    @Test("N3: a client whose id is a user's sub is a fault, another is none")
    func subject() {
        var draft = ConfigurationDraft.development
        draft["provider.embedded.users"] = "plain.json5"
        #expect(draft.faults() == [])
        draft["provider.clients[0].id"] = "u"
        let faults = draft.faults().filter { $0.path == "provider.clients[0].id" }
        #expect(faults.count == 1 && faults.first?.problem.contains("a user has this sub") == true)
    }

    @Test("FLP-1: Google's client needs no addresses of its own, and has the built-in ones")
    func google() throws {
        var draft = ConfigurationDraft.production
        draft["provider.clients[0].redirectURIs"] = nil
        draft["google"] = ["clientID": "alexa", "projectID": "PROJECT", "sandbox": true]
        let configuration = try draft.configuration()
        let client = ProviderClient(configuration.provider.clients[0], google: configuration.google)
        #expect(client.redirectURIs.count == 14)
        #expect(client.accepts(redirectURI: "https://oauth-redirect.googleusercontent.com/r/PROJECT"))
        #expect(!client.accepts(redirectURI: "https://oauth-redirect.googleusercontent.com/r/OTHER"))
        let other = ProviderClient(configuration.provider.clients[1], google: configuration.google)
        #expect(other.redirectURIs == ["com.example.app:/callback"])
        draft["google"] = nil
        #expect(draft.faults().map(\.path) == ["provider.clients[0].redirectURIs"])
    }

    @Test("Google's client is one of the provider's that has a secret and redeems codes")
    func googleClient() throws {
        var draft = ConfigurationDraft.production
        draft["google"] = ["clientID": "alexa", "projectID": "PROJECT", "redirectMismatch": "log"]
        #expect(try draft.configuration().google?.redirectMismatch == .log)
        for id in ["nobody", "Alexa", "app"] {
            draft["google.clientID"] = .string(id)
            #expect(draft.faults().map(\.path) == ["google.clientID"], "\(id)")
        }
        draft["google.clientID"] = "alexa"
        draft["google.redirectMismatch"] = "ignore"
        #expect(draft.faults().map(\.path) == ["google.redirectMismatch"])
        draft["google.redirectMismatch"] = nil
        #expect(try draft.configuration().google?.redirectMismatch == .refuse)
        draft["provider.clients[0].grants"] = ["refresh_token"]
        #expect(draft.faults().map(\.path).contains("google.clientID"))
        // With an external provider Google's client is known there.
        var external = ConfigurationDraft.external
        external["google"] = ["clientID": "google", "projectID": "PROJECT"]
        #expect(external.faults() == [])
    }

    @Test("PRO-10: a lifetime under six minutes is refused at the start", arguments: [60, 359, 0])
    func lifetime(seconds: Int64) {
        var draft = ConfigurationDraft.production
        draft["provider.accessTokenSeconds"] = .integer(seconds)
        #expect(draft.faults().map(\.path) == ["provider.accessTokenSeconds"])
    }

    @Test(
        "A8, N2, PRO-3: a script, a relative address and an odd scheme cannot be registered",
        arguments: [
            "javascript:alert(1)//", "data:text/html,x", "http://app.example.test/cb", "https://app.example.test/cb#f",
            "https://app.example.test/../cb", "//example.test/cb",
        ])
    func redirectURI(uri: String) {
        var draft = ConfigurationDraft.production
        draft["provider.clients[0].redirectURIs"] = [.string(uri)]
        #expect(draft.faults().map(\.path) == ["provider.clients[0].redirectURIs[0]"])
    }
}
