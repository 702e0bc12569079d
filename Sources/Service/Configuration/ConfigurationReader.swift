import Crypto
import JSON
import Telemetry

extension Configuration {
    /// Reads a configuration and everything that it names.
    ///
    /// - Parameter source: the file and its surroundings.
    /// - Throws: ``FileFaults`` with everything that is wrong, each with its key.
    public init(_ source: ConfigurationSource) throws(FileFaults) {
        let value: JSONValue
        do { value = try JSONValue(json5: source.bytes) } catch {
            throw FileFaults([FileFault(path: "", problem: "not JSON5: \(error.reason)")])
        }
        var reader = ConfigurationReader(value, source)
        let configuration = reader.configuration()
        guard reader.faults.isEmpty else { throw FileFaults(reader.faults) }
        self = configuration
    }
}

/// Fills a configuration from the file, and judges what one key's value means for another's.
struct ConfigurationReader {
    let root: Section
    var faults: [FileFault]
    let isDevelopment: Bool

    init(_ value: JSONValue, _ source: ConfigurationSource) {
        isDevelopment = value["development"]?.bool ?? false
        let judge = ValueJudge(source: source, isDevelopment: isDevelopment)
        root = Section(object: value.object ?? JSONObject(), node: KeyTable.root, path: "", judge: judge)
        var keys = KeyJudge(judge)
        keys.judge(value, by: KeyTable.root, at: "")
        faults = keys.faults
    }

    mutating func note(_ path: String, _ problem: String) {
        // Where a value, or what it stands in, has a fault of its own, what would follow from it says nothing new.
        if !faults.contains(where: { $0.path == path || path.hasPrefix($0.path + ".") }) {
            faults.append(FileFault(path: path, problem: problem))
        }
    }

    mutating func configuration() -> Configuration {
        var configuration = Configuration()
        configuration.isDevelopment = isDevelopment
        configuration.publicURL = publicURL()
        configuration.company = company()
        configuration.apps = apps()
        configuration.listen = listen()
        configuration.provider = provider()
        configuration.skills = skills(configuration)
        configuration.store = store(configuration)
        configuration.google = google(configuration.provider)
        configuration.forwarder = forwarder(configuration)
        configuration.lambdaAccepts = root.sectionOrEmpty("lambda").choices("accept")
        configuration.amazon = amazon()
        configuration.smapiToken = root.section("smapi")?.optionalSecret("token")
        configuration.texts = texts()
        configuration.http = outbound()
        configuration.traceKeepDays = Int(root.sectionOrEmpty("traces").integer("keepDays"))
        configuration.clockOffsetSeconds = root.integer("clockOffsetSeconds")
        if configuration.clockOffsetSeconds != 0, !isDevelopment {
            note("clockOffsetSeconds", "a clock that is put forward or back is for development alone: leave it out")
        }
        let log = root.sectionOrEmpty("log")
        configuration.log = Configuration.Logging(
            level: level(log.text("level")), format: log.choice("format", else: .json))
        configuration.limits = limits()
        return configuration
    }

    private mutating func publicURL() -> String {
        let url = root.optionalBase("publicURL") ?? ""
        guard let address = WebAddress(url) else { return url }
        if !address.path.isEmpty || address.hasQuery {
            note("publicURL", "the address has a path or a query: the routes are at the root, so leave both out")
        }
        if !isDevelopment, address.port == 0 {
            note("publicURL", "port 0 is for development alone: name the real port")
        }
        if isDevelopment, !address.isLoopback {
            note("development", "true is refused with a publicURL that others reach: set it to false, or use 127.0.0.1")
        }
        return url
    }

    private mutating func company() -> Configuration.Company {
        let company = root.sectionOrEmpty("company")
        if let color = company.optionalText("color") {
            let digits = color.dropFirst()
            if !color.hasPrefix("#") || ![3, 6].contains(digits.count) || !digits.allSatisfy(\.isHexDigit) {
                note("company.color", "no colour: write it as #0a7 or #00aa77")
            }
        }
        return Configuration.Company(
            name: company.optionalText("name"), logo: logo(company),
            color: company.optionalText("color"),
            privacyURL: company.optionalText("privacyURL"), supportURL: company.optionalText("supportURL"))
    }

    private mutating func logo(_ company: Section) -> Logo? {
        guard let place = company.optionalText("logo") else { return nil }
        let path = company.path("logo")
        guard !place.lowercased().hasPrefix("https:"), !place.lowercased().hasPrefix("http:") else {
            note(path, "our pages show nothing from other servers: save the picture, and give its file")
            return nil
        }
        let file = root.judge.source.resolved(place)
        guard let bytes = root.judge.source.readFile(file) else {
            note(path, "the file \(file) cannot be read: create it, or mend the path")
            return nil
        }
        do throws(Logo.Fault) { return try Logo(bytes) } catch {
            note(path, error.problem)
            return nil
        }
    }

    private mutating func listen() -> Configuration.Listen {
        let section = root.sectionOrEmpty("listen")
        var listen = Configuration.Listen()
        listen.service = .init(host: section.text("host"), port: Int(section.integer("port")))
        listen.threads = Int(section.integer("threads"))
        listen.trustedProxies = section.texts("trustedProxies")
        for (index, proxy) in listen.trustedProxies.enumerated() where !Self.isNetwork(proxy) {
            note("listen.trustedProxies[\(index)]", "write an IP address or a network, as 10.0.0.0/8")
        }
        if let operations = section.section("operations") {
            let endpoint = Configuration.Listen.Endpoint(
                host: operations.text("host"), port: Int(operations.integer("port")))
            if endpoint == listen.service, endpoint.port != 0 {
                note("listen.operations.port", "the service listens there already: take another port")
            }
            listen.operations = endpoint
        }
        if let tls = section.section("tls") {
            listen.tls = .init(certificatePath: tls.file("certificate"), privateKeyPath: tls.file("privateKey"))
        }
        for host in [listen.service.host, listen.operations?.host].compactMap({ $0 })
        where isDevelopment && !WebAddress.isLoopback(host: host) {
            note("development", "true is refused with a listener that others reach: set it to false, or use 127.0.0.1")
        }
        return listen
    }

    private mutating func store(_ configuration: Configuration) -> Configuration.Store {
        let section = root.sectionOrEmpty("store")
        let url = section.text("url")
        var store = Configuration.Store()
        store.encryptionKeys = section.optionalSecret("encryptionKey")
        store.encryptionKeyPath = section.object["encryptionKey"]?["file"]?.string.map(root.judge.source.resolved)
        if url.hasPrefix("sqlite:"), url != "sqlite:" {
            let path = String(url.dropFirst(7))
            store.sqlitePath = path == ":memory:" ? path : root.judge.source.resolved(path)
        } else if url.hasPrefix("postgresql://") || url.hasPrefix("postgres://") {
            note("store.url", "this build holds SQLite only: write sqlite:PATH")
        } else if !url.isEmpty {
            note("store.url", "write sqlite:PATH")
        }
        if let keys = store.encryptionKeys {
            let lines = keys.exposed.split(whereSeparator: \.isNewline)
            if !lines.allSatisfy({ Base64.decode($0)?.count == 32 }) {
                note(
                    "store.encryptionKey",
                    "each line is a key of 32 bytes in base64: make one with `skillgate keys generate`")
            }
        } else if !isDevelopment, Self.keepsSecrets(configuration) {
            note(
                "store.encryptionKey",
                "missing: what the store keeps is encrypted; name a key, made with `skillgate keys generate`")
        }
        return store
    }

    /// Whether anything is stored that must be encrypted: signing keys, grants.
    private static func keepsSecrets(_ configuration: Configuration) -> Bool {
        if case .embedded = configuration.provider.kind { return true }
        return configuration.skills.contains { $0.linking != nil || $0.events != nil }
    }

    private mutating func forwarder(_ configuration: Configuration) -> Configuration.Forwarder {
        let section = root.sectionOrEmpty("forwarder")
        let forwarder = Configuration.Forwarder(
            isRequired: section.flag("required"), secret: section.optionalSecret("secret"))
        if !forwarder.isRequired, !isDevelopment {
            note("forwarder.required", "false is for development alone: anybody could send directives")
        }
        if forwarder.isRequired, forwarder.secret == nil, configuration.skills.contains(where: \.isSmartHome) {
            note("forwarder.secret", "missing: a skill has smartHome, and its forwarder must prove itself")
        }
        return forwarder
    }

    private mutating func amazon() -> Configuration.Amazon {
        let section = root.sectionOrEmpty("amazon")
        let endpoints = section.sectionOrEmpty("endpoints")
        let api = endpoints.sectionOrEmpty("api")
        var amazon = Configuration.Amazon()
        amazon.trustAnchorsPath = section.optionalPath("trustAnchors")
        if let url = endpoints.optionalText("lwaAuthorize") { amazon.lwaAuthorizeURL = url }
        if let url = endpoints.optionalText("lwaToken") { amazon.lwaTokenURL = url }
        if let url = endpoints.optionalText("alexaApp") { amazon.alexaAppURL = url }
        for region in Configuration.Region.allCases {
            if let url = api.optionalBase(region.rawValue) { amazon.apiURLs[region] = url }
        }
        amazon.changedEndpoints =
            ["lwaAuthorize", "lwaToken", "alexaApp"].filter(endpoints.has)
            + Configuration.Region.allCases.map(\.rawValue).filter(api.has).map { "api.\($0)" }
        return amazon
    }

    private func texts() -> Configuration.Texts {
        let section = root.sectionOrEmpty("texts")
        var company: [ServiceTexts.Name: LocalizedText] = [:]
        for name in ServiceTexts.Name.allCases { company[name] = section.localized(name.rawValue) }
        return Configuration.Texts(
            service: ServiceTexts(company: company), linkErrors: section.localizedByName("linkErrors"))
    }

    private mutating func outbound() -> Configuration.Outbound {
        let section = root.sectionOrEmpty("http")
        let resolve = section.texts("resolve")
        for (index, line) in resolve.enumerated() {
            let path = "http.resolve[\(index)]"
            guard let rule = ResolveRule(line) else {
                note(path, "write host:port:address:port, as s3.amazonaws.com:443:127.0.0.1:9443")
                continue
            }
            if !WebAddress.isLoopback(host: rule.address) {
                note(path, "\(rule.address) is not this machine: the address must be 127.0.0.1 or [::1]")
            }
        }
        return Configuration.Outbound(
            caFilePath: section.optionalPath("caFile"), resolve: resolve, proxy: section.optionalBase("proxy"))
    }

    private func limits() -> Limits {
        let section = root.sectionOrEmpty("limits")
        var limits = Limits()
        for (name, key) in Limits.keys { limits[keyPath: key] = Int(section.integer(name)) }
        return limits
    }
}
