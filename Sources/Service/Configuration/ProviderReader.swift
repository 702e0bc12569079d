import Crypto
import JSON

extension ConfigurationReader {
    mutating func provider() -> Configuration.Provider {
        let section = root.sectionOrEmpty("provider")
        var provider = Configuration.Provider()
        switch (section.section("embedded"), section.section("external")) {
        case (let embedded?, nil): provider.kind = .embedded(self.embedded(embedded))
        case (nil, let external?): provider.kind = .external(self.external(external))
        case (nil, nil) where root.has("provider"): note("provider", "write embedded: {…} or external: {…}")
        case (nil, nil): break
        case (.some, .some): note("provider", "embedded and external exclude each other: leave one out")
        }
        let scopes = section.sectionOrEmpty("scopes")
        provider.customScopes = self.scopes(scopes, "custom")
        provider.smartHomeScopes = self.scopes(scopes, "smartHome")
        provider.scopeDescriptions = scopes.localizedByName("descriptions")
        provider.accessTokenSeconds = section.integer("accessTokenSeconds")
        var users: Users?
        if case .embedded(let embedded) = provider.kind { users = embedded.users }
        provider.clients = clients(section.sections("clients"), isEmbedded: section.has("embedded"), users: users)
        return provider
    }

    private mutating func embedded(_ section: Section) -> Configuration.Embedded {
        var embedded = Configuration.Embedded()
        if let bytes = content("users", of: section) {
            do throws(Users.Faults) { embedded.users = try Users(json5: bytes, development: isDevelopment) } catch {
                note(
                    error.faults.map { FileFault(path: $0.path, problem: $0.problem) }, ofFileAt: section.path("users"))
            }
        }
        if let bytes = content("devices", of: section) {
            do throws(Devices.Faults) {
                embedded.devices = try Devices(json5: bytes, users: embedded.users, development: isDevelopment)
            } catch {
                note(
                    error.faults.map { FileFault(path: $0.path, problem: $0.problem) },
                    ofFileAt: section.path("devices"))
            }
        }
        return embedded
    }

    private mutating func external(_ section: Section) -> Configuration.External {
        var external = Configuration.External()
        external.issuer = section.optionalText("issuer")
        external.jwksURL = section.optionalText("jwksURL")
        external.introspection = section.section("introspection").map(Self.endpoint)
        external.audience = section.optionalText("audience")
        external.strictType = section.flag("strictType")
        external.code = section.section("code").map(Self.endpoint)
        external.revocation = section.section("revocation").map { revocation($0) }
        external.login = section.section("login").map {
            .init(
                clientID: $0.text("clientID"), clientSecret: $0.secret("clientSecret"),
                authorizationURL: $0.text("authorizationURL"), tokenURL: $0.text("tokenURL"))
        }
        external.resourcesURL = section.section("resources")?.optionalBase("baseURL")
        if !section.has("jwksURL"), !section.has("introspection") {
            note(section.path, "tokens cannot be judged: add jwksURL, introspection, or both")
        }
        if section.has("jwksURL"), !section.has("issuer") {
            note(section.path("issuer"), "missing: a token of any other issuer with such keys would be taken")
        }
        return external
    }

    /// Google's client, which is one of the provider's: it redeems codes, with a secret.
    mutating func google(_ provider: Configuration.Provider) -> Configuration.Google? {
        guard let section = root.section("google") else { return nil }
        let google = Configuration.Google(
            clientID: section.text("clientID"), projectID: section.text("projectID"), sandbox: section.flag("sandbox"),
            redirectMismatch: section.choice("redirectMismatch", else: .refuse))
        guard case .embedded = provider.kind, !google.clientID.isEmpty else { return google }
        let path = section.path("clientID")
        guard let client = provider.clients.first(where: { $0.id == google.clientID }) else {
            note(path, "none of provider.clients has this id: add the client, with a secret")
            return google
        }
        if client.secret == nil || !client.grants.contains(.authorizationCode) {
            note(path, "Google redeems codes with a secret: give the client one, and authorization_code")
        }
        return google
    }

    private mutating func revocation(_ section: Section) -> Configuration.External.Revocation {
        for (given, missing) in [("clientID", "clientSecret"), ("clientSecret", "clientID")] {
            if section.has(given), !section.has(missing) { note(section.path(missing), "missing beside \(given)") }
        }
        let pair = section.optionalText("clientID").map {
            Configuration.External.Pair(clientID: $0, clientSecret: section.secret("clientSecret"))
        }
        return .init(url: section.text("url"), by: section.choice("by", else: .token), pair: pair)
    }

    private static func endpoint(_ section: Section) -> Configuration.External.Endpoint {
        .init(
            url: section.text("url"), clientID: section.text("clientID"), clientSecret: section.secret("clientSecret"))
    }

    private mutating func scopes(_ section: Section, _ key: String) -> [String] {
        let scopes = section.texts(key)
        for (index, scope) in scopes.enumerated() where !Self.isScope(scope) {
            note("\(section.path(key))[\(index)]", "a scope is one word without spaces, quotes and backslashes")
        }
        return scopes
    }

    /// A scope token of RFC 6749 §3.3.
    private static func isScope(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }

    private mutating func clients(
        _ sections: [Section], isEmbedded: Bool, users: Users?
    ) -> [Configuration.Client] {
        var clients: [Configuration.Client] = []
        for section in sections {
            let client = client(section, isEmbedded)
            if clients.contains(where: { $0.id == client.id }) {
                note(section.path("id"), "another client has this id: give each its own")
            }
            // RFC 9700 §4.15: a back end's token names its client where a user's names the user.
            if users?[client.id] != nil {
                note(section.path("id"), "a user has this sub: give the client another id")
            }
            clients.append(client)
        }
        return clients
    }

    private mutating func client(_ section: Section, _ isEmbedded: Bool) -> Configuration.Client {
        let isPublic = !section.has("secret")
        let standard: Set<Configuration.Client.Authentication> = isPublic ? [.none] : [.basic, .body]
        let client = Configuration.Client(
            id: section.text("id"), secret: isPublic ? nil : section.secret("secret"),
            authentication: section.optionalTexts("authentication") == nil
                ? standard : section.choices("authentication"),
            redirectURIs: section.texts("redirectURIs"), scopes: scopes(section, "scopes"),
            grants: !isEmbedded && !section.has("grants") ? [.clientCredentials] : section.choices("grants"),
            rotatesRefreshTokens: section.optionalFlag("rotateRefreshTokens") ?? isPublic,
            requiresPKCE: section.optionalText("pkce").map { $0 == "required" } ?? isPublic,
            role: section.optionalChoice("role"))
        if isPublic {
            judge(publicClient: client, section)
        } else if client.authentication.contains(.none) {
            note(section.path("authentication"), "none is for a client without a secret: leave none or the secret out")
        } else if client.authentication.isEmpty {
            note(section.path("authentication"), "the list is empty: leave it out, or write basic, body or both")
        }
        if !isEmbedded, client.grants != [.clientCredentials] {
            note(
                section.path("grants"), "with an external provider only back ends are clients: write client_credentials"
            )
        }
        // Google's own addresses are built in.
        let isGoogle = root.section("google")?.optionalText("clientID") == client.id
        if isEmbedded, client.grants.contains(.authorizationCode), client.redirectURIs.isEmpty, !isGoogle {
            note(section.path("redirectURIs"), "missing: authorization_code needs an address to send the code to")
        }
        for (index, uri) in client.redirectURIs.enumerated() {
            if let problem = Self.problem(ofRedirectURI: uri) {
                note("\(section.path("redirectURIs"))[\(index)]", problem)
            }
        }
        return client
    }

    private mutating func judge(publicClient client: Configuration.Client, _ section: Section) {
        if client.authentication != [.none] {
            note(section.path("secret"), "missing: authentication is basic or body; add the secret, or write none")
        }
        if !client.requiresPKCE {
            note(section.path("pkce"), "a client without a secret must use it: write required, or leave it out")
        }
        if client.grants.contains(.clientCredentials) {
            note(section.path("secret"), "missing: client_credentials needs one")
        }
        if client.role != nil { note(section.path("secret"), "missing: a client with a role needs one") }
    }

    /// Why a code must not be sent to `uri`; nil where it may.
    private static func problem(ofRedirectURI uri: String) -> String? {
        guard let colon = uri.firstIndex(of: ":") else { return "write a whole address, with its scheme" }
        let scheme = uri[..<colon].lowercased()
        if uri.contains("#") { return "the address has a fragment: leave out # and what follows (RFC 6749 §3.1.2)" }
        if scheme == "https" || scheme == "http" {
            guard let address = WebAddress(uri) else { return "no address: mend it" }
            let path = uri.prefix { $0 != "?" }
            if path.split(separator: "/").contains(where: { $0 == ".." || $0 == "." }) {
                return "the path leads through . or ..: write where it ends"
            }
            return address.isSecure || address.isLoopback
                ? nil : "http:// is taken for this machine alone: write https://"
        }
        // RFC 8252 §7.1: a private scheme is a domain's name backwards.
        guard scheme.contains("."), uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return "the scheme \(scheme) may be anybody's: write https://, or an app's own as com.example.app:/"
        }
        return nil
    }
}
