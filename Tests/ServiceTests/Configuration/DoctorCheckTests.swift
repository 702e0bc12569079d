import JSON
import Service
import Testing

/// The doctor's checks of the configuration: each finds the fault that is planted for it, and nothing else.
@Suite("Checks of the doctor") struct DoctorCheckTests {
    /// A fault, and the one finding that it leads to.
    struct Plant: Sendable, CustomTestStringConvertible {
        let check: String
        let key: String
        var level = DoctorFinding.Level.warning
        var base = "embedded"
        let change: @Sendable (inout ConfigurationDraft) -> Void

        var testDescription: String { "\(check) at \(key)" }

        init(
            _ check: String, _ key: String, _ level: DoctorFinding.Level = .warning, base: String = "embedded",
            _ change: @escaping @Sendable (inout ConfigurationDraft) -> Void
        ) {
            (self.check, self.key, self.level, self.base, self.change) = (check, key, level, base, change)
        }
    }

    private static let secret: JSONValue = ["env": "SECRET"]

    /// A configuration in which everything is as it should be.
    static var sound: ConfigurationDraft {
        var draft = ConfigurationDraft.production
        draft.environment["EVENTS"] = "another-value"
        draft["company"] = ["name": "Ride Hailer", "logo": "logo.svg", "privacyURL": "https://www.example.com/privacy"]
        draft.files["/etc/skillgate/logo.svg"] = "<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>"
        draft["apps"] = ["clients": ["app"], "ios": [["appID": "TEAM.com.example.app", "paths": ["/link/alexa/*"]]]]
        draft["listen"] = [
            "trustedProxies": ["10.0.0.1"], "operations": ["host": "127.0.0.1", "port": 9090],
        ]
        draft["skills[0]"] = [
            "name": "rides", "id": "amzn1.ask.skill.00000000-0000-4000-8000-000000000001", "stage": "live",
            "smartHome": true, "intents": "intents.json5",
            "linking": [
                "clientID": "amzn1.application-oa2-client.linking", "clientSecret": secret, "vendorID": "M1",
                "pkce": true,
                "benefit": ["en-US": "Order a ride by voice"],
            ],
            "events": ["clientID": "amzn1.application-oa2-client.events", "clientSecret": ["env": "EVENTS"]],
        ]
        draft["provider"] = [
            "embedded": ["users": "users.json5"],
            "scopes": [
                "custom": ["profile"], "smartHome": ["devices"],
                "descriptions": ["profile": ["en-US": "see your name"], "devices": ["en-US": "see your devices"]],
            ],
            "clients": [
                [
                    "id": "alexa", "secret": secret, "scopes": ["profile", "devices"],
                    "redirectURIs": [
                        "https://pitangui.amazon.com/api/skill/link/M1", "https://layla.amazon.com/api/skill/link/M1",
                        "https://alexa.amazon.co.jp/api/skill/link/M1",
                    ],
                ],
                ["id": "app", "redirectURIs": ["com.example.app:/callback"], "scopes": ["profile"]],
                ["id": "google", "secret": secret, "scopes": ["devices"]],
                ["id": "operator", "secret": secret, "grants": ["client_credentials"], "role": "operator"],
            ],
        ]
        draft["google"] = ["clientID": "google", "projectID": "ride-hailer"]
        return draft
    }

    /// The same with the company's own provider.
    static var external: ConfigurationDraft {
        var draft = sound
        func endpoint(_ path: String) -> JSONValue {
            ["url": .string("https://login.example.com" + path), "clientID": "skillgate", "clientSecret": secret]
        }
        draft["provider"] = [
            "external": [
                "issuer": "https://login.example.com", "jwksURL": "https://login.example.com/jwks.json",
                "audience": "https://skill.example.com", "code": endpoint("/code"), "revocation": endpoint("/revoke"),
                "login": [
                    "clientID": "pages", "clientSecret": secret,
                    "authorizationURL": "https://login.example.com/authorize",
                    "tokenURL": "https://login.example.com/token",
                ], "resources": ["baseURL": "https://api.example.com/v1"],
            ], "scopes": ["custom": ["profile"], "smartHome": ["devices"]],
            "clients": [["id": "operator", "secret": secret, "grants": ["client_credentials"], "role": "operator"]],
        ]
        return draft
    }

    static let skill: [Plant] = [
        Plant("skill.id", "skills[0].id") { $0["skills[0].id"] = "amzn1.ask.skill.TEST" },
        Plant("skill.stage", "skills[0].stage") { $0["skills[0].stage"] = "development" },
        Plant("skill.events", "skills[0].events", .fault) { $0["skills[0].events"] = nil },
        Plant("pairs.shape", "skills[0].events.clientID") { $0["skills[0].events.clientID"] = "events" },
        Plant("pairs.distinct", "skills[0].events", .fault) { $0["skills[0].events.clientSecret"] = secret },
        Plant("pairs.distinct", "skills[0].events", .fault) {
            $0["skills[0].events.clientID"] = "amzn1.application-oa2-client.linking"
        },
        Plant("linking.vendor", "skills[0].linking.vendorID") { $0["skills[0].linking.vendorID"] = nil },
        Plant("linking.client", "skills[0].linking.accessTokenScheme", .fault) {
            $0["skills[0].linking.accessTokenScheme"] = "REQUEST_BODY_CREDENTIALS"
            $0["provider.clients[0].authentication"] = ["basic"]
        },
        Plant("linking.redirects", "provider.clients", .fault) {
            $0["provider.clients[0].redirectURIs"] = [
                "https://pitangui.amazon.com/api/skill/link/M1", "https://layla.amazon.com/api/skill/link/M1",
                "https://alexa.amazon.co.jp/api/skill/link/m1",
            ]
        },
        Plant("linking.scopes", "provider.clients", .fault) { $0["provider.clients[0].scopes"] = ["profile"] },
        Plant("linking.pkce", "skills[0].linking.pkce") { $0["skills[0].linking.pkce"] = false },
        Plant("linking.benefit", "skills[0].linking.benefit") { $0["skills[0].linking.benefit"] = nil },
        Plant("linking.landing", "skills[0].linking.redirectURLs[0]") {
            $0["skills[0].linking.redirectURLs"] = ["https://www.example.com/back"]
        },
        Plant("linking.skip", "skills[0].linking", .fault) { $0["skills[0].linking.skipOnEnablement"] = true },
    ]

    static let provider: [Plant] = [
        Plant("provider.users", "provider.embedded.users", .fault) {
            $0.files["/etc/skillgate/users.json5"] =
                "{ users: [{ sub: 'u', username: 'alice', name: 'A', email: 'a@example.com', passwordHash: "
                + "'$scrypt$ln=16,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY' }] }"
        },
        Plant("provider.descriptions", "provider.scopes.descriptions") {
            $0["provider.scopes.descriptions.devices"] = nil
        },
        Plant("provider.operator", "provider.clients") { $0["provider.clients[3].role"] = "events" },
        Plant("external.audience", "provider.external.audience", base: "external") {
            $0["provider.external.audience"] = nil
        },
        Plant("external.revocation", "provider.external.revocation", base: "external") {
            $0["provider.external.revocation"] = nil
        },
        Plant("external.revocation", "provider.external.revocation.clientID", base: "external") {
            $0["provider.external.revocation"] = ["url": "https://login.example.com/revoke"]
        },
        Plant("external.login", "provider.external.login", base: "external") { $0["provider.external.login"] = nil },
        Plant("external.address", "provider.external.login.authorizationURL", .fault, base: "external") {
            $0["provider.external.login.authorizationURL"] = "https://login.example.com/authorize?client_id=alexa"
        },
        Plant("google.mismatch", "google.redirectMismatch") { $0["google.redirectMismatch"] = "log" },
        Plant("google.sandbox", "google.sandbox") { $0["google.sandbox"] = true },
        Plant("google.client", "provider.clients", .fault) { $0["provider.clients[2].scopes"] = [] },
        Plant("google.company", "company.privacyURL") { $0["company.privacyURL"] = nil },
        Plant("google.company", "company.name") { $0["company.logo"] = nil },
    ]

    static let host: [Plant] = [
        Plant("apps.clients", "apps.clients") { $0["apps.clients"] = nil },
        Plant("apps.clients", "apps.clients", .fault) { $0["apps.clients"] = ["app", "application"] },
        Plant("apps.ios", "skills[0].linking.redirectURLs[0]") { $0["apps.ios[0].paths"] = ["/other/*"] },
        Plant("apps.association", "apps") { $0["apps.ios"] = nil },
        Plant("listen.proxies", "listen.trustedProxies") { $0["listen.trustedProxies"] = nil },
        Plant("listen.operations", "listen.operations") { $0["listen.operations"] = nil },
        Plant("trust.settings", "http.resolve") { $0["http.resolve"] = ["api.amazon.com:443:127.0.0.1:9443"] },
        Plant("trust.settings", "http.proxy") { $0["http.proxy"] = "http://127.0.0.1:3128" },
        Plant("trust.settings", "amazon.endpoints.lwaToken") {
            $0["amazon.endpoints.lwaToken"] = "https://api.example.com/token"
        },
        Plant("trust.settings", "amazon.trustAnchors") { $0["amazon.trustAnchors"] = "some.pem" },
    ]

    private static func findings(_ draft: ConfigurationDraft) throws -> [DoctorFinding] {
        let configuration = try draft.configuration()
        return DoctorCheck.all.flatMap { $0.findings(configuration) }
    }

    @Test("a configuration in order has good lines alone, with either provider")
    func silent() throws {
        for draft in [Self.sound, Self.external] {
            let findings = try Self.findings(draft)
            #expect(findings.count > 20)
            for finding in findings { #expect(finding.level == .ok && finding.mend.isEmpty, "\(finding)") }
        }
    }

    @Test(
        "each planted fault is found at its key, with a mend, and nothing else is", arguments: skill + provider + host)
    func planted(plant: Plant) throws {
        var draft = plant.base == "embedded" ? Self.sound : Self.external
        plant.change(&draft)
        let found = try Self.findings(draft).filter { $0.level != .ok }
        #expect(found.map(\.check) == [plant.check], "\(found)")
        #expect(found.first?.key == plant.key && found.first?.level == plant.level, "\(found)")
        #expect(found.first?.message.isEmpty == false && found.first?.mend.isEmpty == false)
        #expect(!found.contains { $0.message.contains("hunter2") || $0.message.contains("another-value") })
    }

    @Test("faults that touch several checks are found by each of them")
    func several() throws {
        var unlinked = Self.sound
        unlinked["skills[0].linking"] = nil
        #expect(try Self.findings(unlinked).contains { $0.check == "skill.linking" && $0.level == .warning })
        var bare = Self.sound
        bare["skills[0].intents"] = nil
        bare["skills[0].smartHome"] = false
        #expect(try Self.findings(bare).contains { $0.check == "skill.intents" && $0.level == .warning })
        var unknown = Self.sound
        unknown["skills[0].linking.providerClient"] = "amazon"
        #expect(try Self.findings(unknown).contains { $0.check == "linking.client" && $0.level == .fault })
        var codeless = Self.external
        codeless["provider.external.code"] = nil
        let found = try Self.findings(codeless).filter { $0.level != .ok }
        #expect(found.map(\.check) == ["external.code", "google.code"])
        var nameless = Self.sound
        nameless["company"] = nil
        #expect(try Self.findings(nameless).contains { $0.check == "company.name" && $0.level == .warning })
        var open = ConfigurationDraft.development
        open["forwarder"] = ["required": false]
        open["clockOffsetSeconds"] = 60
        open["store.encryptionKey"] = nil
        let loose = try Self.findings(open)
        #expect(loose.contains { $0.check == "forwarder.required" && $0.level == .warning })
        #expect(loose.contains { $0.check == "clock.offset" && $0.level == .warning })
        #expect(loose.contains { $0.check == "store.key" && $0.level == .warning })
    }

    @Test(
        "LNK-7: an authorisation URL that holds parameters of OAuth's already is named, with them",
        arguments: [
            ("?client_id=c1&response_type=code&state=%3Cstate%3E", "client_id, response_type, state"),
            ("?tenant=a&scope=devices", "scope"), ("?redirect_uri=https%3A%2F%2Fx.example", "redirect_uri"),
            ("", nil), ("?tenant=a", nil), ("?mystate=a&client_identity=b", nil),
        ])
    func addressWithParameters(query: String, names: String?) throws {
        var draft = Self.external
        draft["provider.external.login.authorizationURL"] = .string("https://login.example.com/authorize" + query)
        let found = try Self.findings(draft).filter { $0.level != .ok }
        #expect(found.map(\.check) == (names == nil ? [] : ["external.address"]))
        if let names { #expect(found.first?.message.contains("it holds \(names) already") == true, "\(found)") }
    }

    @Test("every check has a fault that is planted for it")
    func complete() {
        let planted = Set((Self.skill + Self.provider + Self.host).map(\.check))
        let others: Set = [
            "skill.linking", "skill.intents", "external.code", "google.code", "company.name", "forwarder.required",
            "clock.offset", "store.key",
        ]
        #expect(planted.union(others) == Set(DoctorCheck.all.map(\.id)))
        #expect(Set(DoctorCheck.all.map(\.id)).count == DoctorCheck.all.count)
    }
}
