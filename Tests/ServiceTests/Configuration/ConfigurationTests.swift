import Crypto
import FoundationEssentials
import JSON
import Service
import Telemetry
import Testing

@Suite("Configuration") struct ConfigurationTests {
    @Test("values, secrets and defaults come out typed")
    func values() throws {
        let configuration = try ConfigurationDraft.production.configuration()
        #expect(!configuration.isDevelopment)
        #expect(configuration.publicURL == "https://skill.example.com")
        #expect(configuration.listen.service == .init(host: "127.0.0.1", port: 8080))
        #expect(configuration.listen.operations == nil && configuration.listen.tls == nil)
        #expect(configuration.store.sqlitePath == "/etc/skillgate/skillgate.sqlite")
        let skill = try #require(configuration.skill(id: "amzn1.ask.skill.TEST"))
        #expect(skill.stage == .development && skill.isSmartHome && skill.providerClient == "alexa")
        #expect(skill.linking?.clientSecret == Secret("hunter2-value"))
        #expect(skill.linking?.redirectURLs == ["https://skill.example.com/link/alexa/callback"])
        #expect(skill.linking?.usesPKCE == true && skill.linking?.reciprocal == false)
        #expect(skill.events?.clientSecret == Secret("from a file"))
        #expect(skill.events?.region == .northAmerica)
        #expect(skill.intents?.requestNames == ["LaunchRequest"])
        #expect(configuration.provider.accessTokenSeconds == 3600)
        #expect(configuration.provider.customScopes == ["profile"])
        #expect(configuration.forwarder.isRequired && configuration.forwarder.secret == Secret("hunter2-value"))
        #expect(configuration.lambdaAccepts == [.invocation])
        #expect(configuration.log.level == .info && configuration.log.format == .json)
        #expect(configuration.limits == Limits())
        #expect(configuration.amazon.apiURLs[.europe] == "https://api.eu.amazonalexa.com")
        #expect(configuration.amazon.changedEndpoints.isEmpty)
    }

    @Test("a client's defaults follow from whether it has a secret")
    func clients() throws {
        let configuration = try ConfigurationDraft.production.configuration()
        let alexa = try #require(configuration.provider.client("alexa"))
        #expect(alexa.authentication == [.basic, .body] && !alexa.isPublic)
        #expect(!alexa.rotatesRefreshTokens && !alexa.requiresPKCE && alexa.role == nil)
        #expect(alexa.grants == [.authorizationCode, .refreshToken])
        let app = try #require(configuration.provider.client("app"))
        #expect(app.authentication == [.none] && app.isPublic && app.rotatesRefreshTokens && app.requiresPKCE)
        #expect(configuration.provider.client("other") == nil)

        var external = ConfigurationDraft.external
        external["provider.clients"] = [["id": "back-end", "secret": ["env": "SECRET"], "role": "events"]]
        let backEnd = try external.configuration().provider.client("back-end")
        #expect(backEnd?.grants == [.clientCredentials] && backEnd?.role == .events)
    }

    @Test("what is set is taken")
    func settings() throws {
        var draft = ConfigurationDraft.external
        draft["publicURL"] = "https://skill.example.com/"
        draft["listen"] = [
            "host": "::", "port": 0, "threads": 4, "trustedProxies": ["10.0.0.0/8", "fd00::/8", "192.168.1.1"],
            "operations": [:],
        ]
        draft["limits.bodyBytes"] = 1024
        draft["limits.keptTokens"] = 0
        draft["amazon"] = [
            "trustAnchors": "some.pem",
            "endpoints": ["api": ["EU": "http://127.0.0.1:9000/"], "lwaToken": "https://lwa.example.com/t/"],
        ]
        draft["http"] = [
            "caFile": "/etc/skillgate/some.pem", "resolve": ["s3.amazonaws.com:443:127.0.0.1:9443", "a:1:[::1]:2"],
        ]
        draft["provider.external.resources"] = ["baseURL": "https://api.example.com/v1/"]
        draft["provider.external.issuer"] = "https://login.example.com/"
        draft["texts.apology"] = ["de": "Tut mir leid."]
        draft["store.url"] = "sqlite:/var/lib/skillgate.sqlite"
        draft["log"] = ["level": "debug", "format": "text"]
        let configuration = try draft.configuration()
        #expect(configuration.publicURL == "https://skill.example.com")
        #expect(configuration.listen.service == .init(host: "::", port: 0) && configuration.listen.threads == 4)
        #expect(configuration.listen.operations == .init(host: "127.0.0.1", port: 9090))
        #expect(configuration.limits.bodyBytes == 1024 && configuration.limits.keptTokens == 0)
        #expect(configuration.amazon.trustAnchorsPath == "/etc/skillgate/some.pem")
        #expect(configuration.amazon.apiURLs[.europe] == "http://127.0.0.1:9000")
        #expect(configuration.amazon.lwaTokenURL == "https://lwa.example.com/t/")
        #expect(configuration.amazon.changedEndpoints == ["lwaToken", "api.EU"])
        #expect(configuration.http.resolve.count == 2 && configuration.http.caFilePath == "/etc/skillgate/some.pem")
        #expect(configuration.texts.service.text(.apology, locale: "de-AT") == "Tut mir leid.")
        #expect(configuration.store.sqlitePath == "/var/lib/skillgate.sqlite")
        #expect(configuration.log.level == .debug && configuration.log.format == .text)
        guard case .external(let external) = configuration.provider.kind else { Issue.record("embedded"); return }
        #expect(external.resourcesURL == "https://api.example.com/v1")
        #expect(external.issuer == "https://login.example.com/", "an issuer is compared as it stands")
    }

    @Test("development takes literal secrets, plain passwords, another clock and a forwarder without proof")
    func development() throws {
        var draft = ConfigurationDraft.development
        draft["skills[0].linking.clientSecret"] = "literal"
        draft["provider.embedded.users"] = "plain.json5"
        draft["clockOffsetSeconds"] = -3600
        draft["forwarder"] = ["required": false]
        draft["listen.host"] = "localhost"
        draft["publicURL"] = "http://[::1]:0"
        let configuration = try draft.configuration()
        #expect(configuration.isDevelopment && configuration.clockOffsetSeconds == -3600)
        #expect(configuration.skills.first?.linking?.clientSecret == Secret("literal"))
        #expect(!configuration.forwarder.isRequired)
        guard case .embedded(let embedded) = configuration.provider.kind else { Issue.record("external"); return }
        #expect(embedded.users?.all.count == 1)
    }

    @Test("a configuration that stores nothing secret needs no encryption key")
    func withoutKey() throws {
        var draft = ConfigurationDraft.external
        draft["skills"] = []
        draft["store.encryptionKey"] = nil
        #expect(draft.faults() == [])
    }

    @Test("no secret shows when a configuration is printed")
    func printing() throws {
        let configuration = try ConfigurationDraft.production.configuration()
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), dumped] {
            #expect(!text.contains("hunter2-value") && !text.contains("from a file"))
            #expect(text.contains("redacted") || text == dumped)
        }
    }
}

@Suite("Configurations that come along") struct ShippedConfigurationTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "config").path()

    static func source(_ name: String) throws -> ConfigurationSource {
        let bytes = try Data(contentsOf: URL(filePath: folder + "/" + name))
        return ConfigurationSource(
            bytes: Array(bytes), folder: folder,
            environment: { $0 == "SKILLGATE_ENCRYPTION_KEY" ? key : "from the environment" },
            readFile: { path in
                if let bytes = try? Data(contentsOf: URL(filePath: path)) { return Array(bytes) }
                // What is made at the first start, or stands for a file of the operator's.
                let isNamed = [
                    "encryption.key", "authority.pem", "chain.pem", "key.pem", "amazon-roots.pem", "company-ca.pem",
                ]
                .contains { path.hasSuffix("/" + $0) }
                return isNamed ? Array(key.utf8) : nil
            })
    }

    static let key = Base64.encode([UInt8](repeating: 1, count: 32))

    @Test("development.json5 is good, and in reach of this machine alone")
    func development() throws {
        let configuration = try Configuration(Self.source("development.json5"))
        #expect(configuration.isDevelopment)
        #expect(configuration.listen.service == .init(host: "127.0.0.1", port: 8080))
        #expect(configuration.skills.first?.intents != nil && configuration.skills.first?.events != nil)
        guard case .embedded(let embedded) = configuration.provider.kind else { Issue.record("external"); return }
        #expect(embedded.users?.all.map(\.username) == ["alice", "bob"])
        #expect(embedded.devices?.all.count ?? 0 >= 25)
    }

    @Test("example.json5 is good, and each default in it is the real one")
    func example() throws {
        let configuration = try Configuration(Self.source("example.json5"))
        #expect(!configuration.isDevelopment)
        #expect(configuration.limits == Limits())
        #expect(configuration.amazon.apiURLs == Configuration.Amazon().apiURLs)
        #expect(configuration.amazon.lwaTokenURL == Configuration.Amazon().lwaTokenURL)
        #expect(configuration.amazon.alexaAppURL == Configuration.Amazon().alexaAppURL)
    }

    @Test("example.json5 names every key that there is")
    func keys() throws {
        let text = String(decoding: try Self.source("example.json5").bytes, as: UTF8.self)
        #expect(Configuration.keys.count > 100)
        for key in Configuration.keys {
            let name = String(key.split(separator: ".").last ?? "")
            #expect(text.contains("\(name):"), "\(key)")
        }
    }
}
