public import OAuth

extension ProviderClient {
    /// A client as the configuration lists it.
    ///
    /// Google's client may send codes to Google's addresses besides, which are built in.
    public init(_ client: Configuration.Client, google: Configuration.Google? = nil) {
        let isGoogle = google.map { $0.clientID == client.id } ?? false
        let addresses = google.map { GoogleRedirects.addresses(projectID: $0.projectID, sandbox: $0.sandbox) } ?? []
        self.init(
            id: client.id, secret: client.secret,
            authentication: Set(
                client.authentication.map { method in
                    switch method {
                    case .basic: .basic
                    case .body: .body
                    case .none: .none
                    }
                }),
            redirectURIs: client.redirectURIs + (isGoogle ? addresses : []), scopes: client.scopes,
            grants: Set(
                client.grants.map { grant in
                    switch grant {
                    case .authorizationCode: .authorizationCode
                    case .refreshToken: .refreshToken
                    case .clientCredentials: .clientCredentials
                    }
                }),
            rotatesRefreshTokens: client.rotatesRefreshTokens, requiresPKCE: client.requiresPKCE,
            role: client.role.map { role in
                switch role {
                case .operator: .operator
                case .events: .events
                }
            })
        if isGoogle, google?.redirectMismatch == .log { interchangeableRedirectURIs = Set(addresses) }
    }
}
