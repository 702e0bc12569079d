import JSON

/// Every key of the configuration.
///
/// `config/example.json5` explains each.
enum KeyTable {
    static let root = KeyNode(rules)

    static let rules: [KeyRule] = general + skills + provider + outside + limits

    private static let general: [KeyRule] = [
        KeyRule("development", .flag, standard: false),
        KeyRule("publicURL", .url, required: true),
        KeyRule("company.name", .text(100)),
        KeyRule("company.logo", .text(4096)),
        KeyRule("company.color", .text(7)),
        KeyRule("company.privacyURL", .url),
        KeyRule("company.supportURL", .url),
        KeyRule("apps.openURL", .text(2048)),
        KeyRule("apps.clients", .list(.text(255), atMost: 100)),
        KeyRule("apps.ios[].appID", .text(255), required: true),
        KeyRule("apps.ios[].paths", .list(.text(1024), atMost: 100), standard: ["/link/alexa/*"]),
        KeyRule("apps.android[].package", .text(255), required: true),
        KeyRule("apps.android[].fingerprints", .list(.text(95), atMost: 100), required: true),
        KeyRule("listen.host", .text(255), standard: "127.0.0.1"),
        KeyRule("listen.port", .integer(0...65_535), standard: 8080),
        KeyRule("listen.threads", .integer(0...256), standard: 0),
        KeyRule("listen.trustedProxies", .list(.text(64), atMost: 100), standard: []),
        KeyRule("listen.operations.host", .text(255), standard: "127.0.0.1"),
        KeyRule("listen.operations.port", .integer(0...65_535), standard: 9090),
        KeyRule("listen.tls.certificate", .file, required: true),
        KeyRule("listen.tls.privateKey", .file, required: true),
        KeyRule("store", .section, required: true),
        KeyRule("store.url", .text(2048), required: true),
        KeyRule("store.encryptionKey", .secret),
        KeyRule("forwarder.required", .flag, standard: true),
        KeyRule("forwarder.secret", .secret),
        KeyRule("lambda.accept", .list(.choice(["invocation", "http"]), atMost: 2), standard: ["invocation"]),
        KeyRule("smapi.token", .secret),
        KeyRule("texts.linkNeeded", .localized),
        KeyRule("texts.tokenExpired", .localized),
        KeyRule("texts.scopeNeeded", .localized),
        KeyRule("texts.permissionNeeded", .localized),
        KeyRule("texts.apology", .localized),
        KeyRule("texts.help", .localized),
        KeyRule("texts.goodbye", .localized),
        KeyRule("texts.linkErrors", .localizedByName),
        KeyRule("traces.keepDays", .integer(1...3650), standard: 30),
        // A century to either side reaches every certificate that a test may hold.
        KeyRule("clockOffsetSeconds", .integer(-3_155_760_000...3_155_760_000), standard: 0),
        KeyRule("log.level", .choice(["error", "notice", "info", "debug"]), standard: "info"),
        KeyRule("log.format", .choice(["json", "text"]), standard: "json"),
    ]

    private static let skills: [KeyRule] = [
        KeyRule("skills[].name", .text(64), required: true),
        KeyRule("skills[].id", .text(255), required: true),
        KeyRule("skills[].stage", .choice(["development", "live"]), standard: "development"),
        KeyRule("skills[].linking.clientID", .text(255), required: true),
        KeyRule("skills[].linking.clientSecret", .secret, required: true),
        KeyRule("skills[].linking.redirectURLs", .list(.url, atMost: 10)),
        KeyRule("skills[].linking.vendorID", .text(64)),
        KeyRule("skills[].linking.pkce", .flag, standard: true),
        KeyRule("skills[].linking.providerClient", .text(255), standard: "alexa"),
        KeyRule("skills[].linking.benefit", .localized),
        KeyRule("skills[].linking.returnURLs", .list(.url, atMost: 100), standard: []),
        KeyRule("skills[].linking.domains", .list(.text(255), atMost: 15), standard: []),
        KeyRule("skills[].linking.skipOnEnablement", .flag, standard: false),
        KeyRule(
            "skills[].linking.accessTokenScheme", .choice(["HTTP_BASIC", "REQUEST_BODY_CREDENTIALS"]),
            standard: "HTTP_BASIC"),
        KeyRule("skills[].linking.defaultTokenExpirationSeconds", .integer(360...31_536_000), standard: 3600),
        KeyRule("skills[].linking.reciprocal", .flag, standard: false),
        KeyRule("skills[].linking.reciprocalPair", .choice(["linking", "events"]), standard: "linking"),
        KeyRule("skills[].events.clientID", .text(255), required: true),
        KeyRule("skills[].events.clientSecret", .secret, required: true),
        KeyRule("skills[].events.region", .choice(["NA", "EU", "FE"]), standard: "NA"),
        KeyRule("skills[].intents", .file),
        KeyRule("skills[].smartHome", .flag, standard: false),
    ]

    private static let provider: [KeyRule] = [
        KeyRule("provider", .section, required: true),
        KeyRule("provider.embedded.users", .file),
        KeyRule("provider.embedded.devices", .file),
        KeyRule("provider.external.issuer", .url),
        KeyRule("provider.external.jwksURL", .url),
        KeyRule("provider.external.introspection.url", .url, required: true),
        KeyRule("provider.external.introspection.clientID", .text(255), required: true),
        KeyRule("provider.external.introspection.clientSecret", .secret, required: true),
        KeyRule("provider.external.audience", .text(2048)),
        KeyRule("provider.external.strictType", .flag, standard: false),
        KeyRule("provider.external.code.url", .url, required: true),
        KeyRule("provider.external.code.clientID", .text(255), required: true),
        KeyRule("provider.external.code.clientSecret", .secret, required: true),
        KeyRule("provider.external.revocation.url", .url, required: true),
        KeyRule("provider.external.revocation.by", .choice(["token", "subject"]), standard: "token"),
        KeyRule("provider.external.revocation.clientID", .text(255)),
        KeyRule("provider.external.revocation.clientSecret", .secret),
        KeyRule("provider.external.login.clientID", .text(255), required: true),
        KeyRule("provider.external.login.clientSecret", .secret, required: true),
        KeyRule("provider.external.login.authorizationURL", .url, required: true),
        KeyRule("provider.external.login.tokenURL", .url, required: true),
        KeyRule("provider.external.resources.baseURL", .url, required: true),
        KeyRule("provider.scopes.custom", .list(.text(255), atMost: 15), standard: []),
        KeyRule("provider.scopes.smartHome", .list(.text(255), atMost: 15), standard: []),
        KeyRule("provider.scopes.descriptions", .localizedByName),
        KeyRule("provider.accessTokenSeconds", .integer(360...86_400), standard: 3600),
        KeyRule("provider.clients[].id", .text(255), required: true),
        KeyRule("provider.clients[].secret", .secret),
        KeyRule("provider.clients[].authentication", .list(.choice(["basic", "body", "none"]), atMost: 2)),
        KeyRule("provider.clients[].redirectURIs", .list(.text(2048), atMost: 100), standard: []),
        KeyRule("provider.clients[].scopes", .list(.text(255), atMost: 100), standard: []),
        KeyRule(
            "provider.clients[].grants",
            .list(.choice(["authorization_code", "refresh_token", "client_credentials"]), atMost: 3),
            standard: ["authorization_code", "refresh_token"]),
        KeyRule("provider.clients[].rotateRefreshTokens", .flag),
        KeyRule("provider.clients[].pkce", .choice(["required", "optional"])),
        KeyRule("provider.clients[].role", .choice(["operator", "events"])),
    ]

    private static let outside: [KeyRule] = [
        KeyRule("google.clientID", .text(255), required: true),
        KeyRule("google.projectID", .text(255), required: true),
        KeyRule("google.sandbox", .flag, standard: false),
        KeyRule("google.redirectMismatch", .choice(["refuse", "log"]), standard: "refuse"),
        KeyRule("amazon.trustAnchors", .file),
        KeyRule("amazon.endpoints.lwaAuthorize", .url),
        KeyRule("amazon.endpoints.lwaToken", .url),
        KeyRule("amazon.endpoints.alexaApp", .url),
        KeyRule("amazon.endpoints.api.NA", .url),
        KeyRule("amazon.endpoints.api.EU", .url),
        KeyRule("amazon.endpoints.api.FE", .url),
        KeyRule("http.caFile", .file),
        KeyRule("http.resolve", .list(.text(600), atMost: 100), standard: []),
        KeyRule("http.proxy", .url),
    ]

    private static let limits: [KeyRule] = [
        limit("bodyBytes", 1024...16_777_216, \.bodyBytes),
        limit("headerBytes", 4096...262_144, \.headerBytes),
        limit("requestSeconds", 1...300, \.requestSeconds),
        limit("idleSeconds", 1...3600, \.idleSeconds),
        limit("connections", 1...1_000_000, \.connections),
        limit("connectionsPerPeer", 0...1_000_000, \.connectionsPerPeer),
        limit("customResponseBytes", 1024...122_880, \.customResponseBytes),
        limit("smartHomeResponseBytes", 1024...6_291_456, \.smartHomeResponseBytes),
        limit("lwaSeconds", 1...6, \.lwaSeconds),
        limit("resourceSeconds", 1...6, \.resourceSeconds),
        limit("certificateSeconds", 1...6, \.certificateSeconds),
        limit("keptChains", 1...10_000, \.keptChains),
        limit("keptTokens", 0...10_000_000, \.keptTokens),
        limit("keptKeySets", 1...1000, \.keptKeySets),
        limit("jsonDepth", 16...512, \.jsonDepth),
        limit("stateCharacters", 256...16_384, \.stateCharacters),
        limit("discoveryEndpoints", 1...300, \.discoveryEndpoints),
    ]

    private static func limit(_ name: String, _ range: ClosedRange<Int64>, _ value: KeyPath<Limits, Int>) -> KeyRule {
        KeyRule("limits.\(name)", .integer(range), standard: .integer(Int64(Limits()[keyPath: value])))
    }
}
