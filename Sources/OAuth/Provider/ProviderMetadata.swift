public import JSON

/// What the provider says of itself (RFC 8414).
public struct ProviderMetadata: Sendable {
    /// Where it is found, below an issuer that has no path.
    public static let path = "/.well-known/oauth-authorization-server"

    private let issuer: String
    private let clients: ProviderClients
    private let hasPages: Bool

    /// The metadata of the provider at `issuer`; without pages nobody can be asked, so no address is given for that.
    public init(issuer: String, clients: ProviderClients, hasPages: Bool) {
        self.issuer = issuer
        self.clients = clients
        self.hasPages = hasPages
    }

    /// The object; a list without entries is left out (§3.2).
    public var json: JSONValue {
        var object: JSONObject = ["issuer": .string(issuer)]
        if hasPages { object["authorization_endpoint"] = .string(issuer + "/oauth/authorize") }
        for (name, path) in [
            ("token_endpoint", "/oauth/token"), ("jwks_uri", "/oauth/jwks.json"),
            ("revocation_endpoint", "/oauth/revoke"), ("introspection_endpoint", "/oauth/introspect"),
            ("userinfo_endpoint", "/oauth/userinfo"),
        ] {
            object[name] = .string(issuer + path)
        }
        let grants = ProviderClient.Grant.allCases.filter { grant in
            clients.all.contains { $0.grants.contains(grant) }
        }
        var scopes: [String] = []
        for scope in clients.all.flatMap(\.scopes) where !scopes.contains(scope) { scopes.append(scope) }
        let proofs = ["client_secret_basic", "client_secret_post"]
        let lists: [(String, [String])] = [
            ("response_types_supported", hasPages ? ["code"] : []),
            ("response_modes_supported", hasPages ? ["query"] : []),
            ("grant_types_supported", grants.map(\.rawValue)), ("scopes_supported", scopes),
            ("token_endpoint_auth_methods_supported", proofs + ["none"]),
            ("revocation_endpoint_auth_methods_supported", proofs + ["none"]),
            ("introspection_endpoint_auth_methods_supported", proofs),
            ("code_challenge_methods_supported", ["S256"]),
        ]
        for (name, values) in lists where !values.isEmpty { object[name] = .array(values.map { .string($0) }) }
        return .object(object)
    }
}
