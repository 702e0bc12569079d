import Alexa
import Crypto
import JSON
import Service
import Testing

@Suite("The set-up at Amazon, from the configuration") struct AccountLinkingPlanTests {
    private func plan(_ change: (inout ConfigurationDraft) -> Void = { _ in }) throws -> AccountLinkingPlan {
        var draft = ConfigurationDraft.production
        draft["skills[0].linking.vendorID"] = "M"
        change(&draft)
        let configuration = try draft.configuration()
        return try AccountLinkingPlan(try #require(configuration.skill(named: "rides")), configuration)
    }

    private func faults(_ change: (inout ConfigurationDraft) -> Void) throws -> [FileFault] {
        do {
            _ = try plan(change)
            return []
        } catch { return (error as? FileFaults)?.faults ?? [] }
    }

    @Test("every member that Amazon takes comes from the configuration, wrapped as Amazon wants it")
    func request() throws {
        let plan = try plan { draft in
            draft["skills[0].linking.reciprocal"] = true
            draft["skills[0].linking.domains"] = ["login.example.com"]
            draft["skills[0].linking.skipOnEnablement"] = true
            draft["provider.scopes.custom"] = ["profile", "devices"]
        }
        let expected: JSONValue = [
            "accountLinkingRequest": [
                "type": "AUTH_CODE", "authorizationUrl": "https://skill.example.com/oauth/authorize",
                "accessTokenUrl": "https://skill.example.com/oauth/token", "clientId": "alexa",
                "clientSecret": "<redacted>", "accessTokenScheme": "HTTP_BASIC", "scopes": ["profile", "devices"],
                "domains": ["login.example.com"], "defaultTokenExpirationInSeconds": 3600,
                "redirectUrls": ["https://skill.example.com/link/alexa/callback"], "skipOnEnablement": true,
                "reciprocalAccessTokenUrl": "https://skill.example.com/oauth/reciprocal",
            ]
        ]
        #expect(plan.request.shown == expected)
        #expect(plan.request.clientSecret == Secret("hunter2-value"))
        #expect(try self.plan().request.reciprocalAccessTokenURL == nil)
    }

    @Test("a skill asks for the scopes of what it is, each once")
    func scopes() throws {
        #expect(try plan().request.scopes == ["profile", "devices"])
        #expect(try plan { $0["skills[0].smartHome"] = false }.request.scopes == ["profile"])
        #expect(try plan { $0["skills[0].intents"] = nil }.request.scopes == ["devices"])
        let neither = try plan { draft in
            draft["skills[0].intents"] = nil
            draft["skills[0].smartHome"] = false
        }
        #expect(neither.request.scopes == ["profile"])
        let many = try faults { draft in
            draft["provider.scopes.custom"] = .array((0..<10).map { .string("c\($0)") })
            draft["provider.scopes.smartHome"] = .array((0..<6).map { .string("s\($0)") })
        }
        #expect(many.map(\.path) == ["provider.scopes"])
    }

    @Test("Amazon's redirect addresses are listed for the vendor, with whether the client has them to the letter")
    func redirects() throws {
        let plan = try plan()
        #expect(
            plan.redirects.map(\.url) == [
                "https://pitangui.amazon.com/api/skill/link/M", "https://layla.amazon.com/api/skill/link/M",
                "https://alexa.amazon.co.jp/api/skill/link/M", "https://skills-store.amazon.com/api/skill/link/M",
            ])
        #expect(plan.redirects.map(\.isRegistered) == [false, true, false, false])
        #expect(plan.redirects.map(\.isOptional) == [false, false, false, true])
        let near = try self.plan {
            $0["provider.clients[0].redirectURIs"] = [
                "https://layla.amazon.com/api/skill/link/M/", "https://layla.amazon.com/api/skill/link/m",
                "http://127.0.0.1/api/skill/link/M",
            ]
        }
        #expect(near.redirects.allSatisfy { $0.isRegistered == false })
        let without = try self.plan { $0["skills[0].linking.vendorID"] = nil }
        #expect(without.redirects.isEmpty && without.remarks.contains { $0.contains("vendorID") })
    }

    @Test("with the company's provider the addresses are its own, and what it has registered is not known")
    func external() throws {
        func change(_ draft: inout ConfigurationDraft) {
            draft = .external
            draft["skills[0].linking.vendorID"] = "M"
        }
        #expect(try faults(change).map(\.path) == ["provider.external.login"])
        let plan = try plan { draft in
            change(&draft)
            draft["provider.external.login"] = [
                "clientID": "pages", "clientSecret": ["env": "SECRET"],
                "authorizationURL": "https://login.example.com/authorize",
                "tokenURL": "https://login.example.com/token",
            ]
        }
        #expect(plan.request.authorizationURL == "https://login.example.com/authorize")
        #expect(plan.request.accessTokenURL == "https://login.example.com/token")
        #expect(plan.request.clientSecret == nil && plan.request.scopes == ["devices"])
        #expect(plan.redirects.count == 5 && plan.redirects.allSatisfy { $0.isRegistered == nil })
        #expect(plan.redirects.last?.url == "https://skill.example.com/link/alexa/callback")
    }

    @Test("what Amazon or our provider would refuse is told before")
    func remarks() throws {
        func remarks(_ key: String, _ value: JSONValue?) throws -> String {
            try plan {
                $0["provider.clients[0].scopes"] = ["profile", "devices"]
                $0[key] = value
            }.remarks.joined(separator: "\n")
        }
        #expect(try remarks("development", false) == "")
        #expect(try remarks("provider.clients[0].scopes", ["profile"]).contains("scope devices"))
        #expect(try remarks("provider.clients[0].authentication", ["body"]).contains("basic"))
        #expect(try remarks("skills[0].linking.accessTokenScheme", "REQUEST_BODY_CREDENTIALS") == "")
        #expect(try remarks("provider.clients[0].grants", ["authorization_code"]).contains("refresh_token"))
        #expect(try remarks("publicURL", "https://skill.example.com:8443").contains("port 443"))
        #expect(try remarks("publicURL", "https://skill.example.com:443") == "")
        #expect(try remarks("publicURL", "http://127.0.0.1:8080").contains("https"))
    }

    @Test("a skill that cannot be set up says which key is missing")
    func missing() throws {
        #expect(try faults { $0["skills[0].linking"] = nil }.map(\.path) == ["skills[0].linking"])
        #expect(
            try faults { $0["skills[0].linking.providerClient"] = "other" }.map(\.path)
                == ["skills[0].linking.providerClient"])
        #expect(
            try faults { $0["skills[0].linking.providerClient"] = "app" }.map(\.path)
                == ["skills[0].linking.providerClient"])
    }

    @Test("the manifest subscribes to the five events at the address of custom requests")
    func manifest() throws {
        let configuration = try ConfigurationDraft.production.configuration()
        let manifest = SkillManifest(configuration.skills[0], configuration)
        let expected: JSONValue = [
            "manifest": [
                "events": [
                    "endpoint": ["uri": "https://skill.example.com/alexa/custom", "sslCertificateType": "Trusted"],
                    "subscriptions": [
                        ["eventName": "SKILL_ENABLED"], ["eventName": "SKILL_DISABLED"],
                        ["eventName": "SKILL_ACCOUNT_LINKED"], ["eventName": "SKILL_PERMISSION_ACCEPTED"],
                        ["eventName": "SKILL_PERMISSION_CHANGED"],
                    ],
                ]
            ]
        ]
        #expect(manifest.json == expected)
        #expect(
            manifest.hints.map(\.member) == [
                "manifest.apis.custom.endpoint", "manifest.apis.smartHome.endpoint", "manifest.permissions",
                "sslCertificateType",
            ])
        var bare = ConfigurationDraft.production
        bare["skills[0].smartHome"] = false
        bare["skills[0].events"] = nil
        let plain = try bare.configuration()
        #expect(
            SkillManifest(plain.skills[0], plain).hints.map(\.member)
                == ["manifest.apis.custom.endpoint", "sslCertificateType"])
    }
}
