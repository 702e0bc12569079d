extension DoctorCheck {
    private static func external(_ configuration: Configuration) -> Configuration.External? {
        if case .external(let external) = configuration.provider.kind { external } else { nil }
    }

    private static func isExternal(_ configuration: Configuration) -> Bool { external(configuration) != nil }

    private static func one(
        _ key: String, _ isWrong: Bool, _ message: String, _ mend: String, level: DoctorFinding.Level = .warning
    ) -> [Found] {
        isWrong ? [Found(key: key, level: level, message: message, mend: mend)] : []
    }

    static let provider = [
        DoctorCheck("provider.users", "no demo user can sign in", applies: { !$0.isDevelopment && !isExternal($0) }) {
            guard case .embedded(let embedded) = $0.provider.kind else { return [] }
            let demo = (embedded.users?.all ?? []).filter { $0.email?.hasSuffix("@example.com") == true }
            return one(
                "provider.embedded.users", !demo.isEmpty,
                "the users file has \(demo.map(\.username).joined(separator: ", ")), with addresses at example.com: demo users",
                "remove them", level: .fault)
        },
        DoctorCheck(
            "provider.descriptions", "users read what each scope lets a client do", applies: { !isExternal($0) }
        ) {
            let known = Set($0.provider.scopeDescriptions.keys)
            let bare = Set($0.provider.customScopes + $0.provider.smartHomeScopes).subtracting(known).sorted()
            return one(
                "provider.scopes.descriptions", !bare.isEmpty,
                "the consent page shows \(bare.joined(separator: ", ")) as bare words",
                "describe each in your users' languages")
        },
        DoctorCheck("provider.operator", "an operator can see failed attempts") {
            one(
                "provider.clients", !$0.provider.clients.contains { $0.role == .operator },
                "no client has the role operator: /admin/links and /metrics answer nobody from elsewhere",
                "add a client with role: \"operator\" and a secret")
        },
        DoctorCheck("external.audience", "tokens are for this service", applies: isExternal) {
            one(
                "provider.external.audience", external($0)?.audience == nil,
                "a token that your provider issued for any other service is taken here too",
                "set it to the audience that the provider writes into tokens for this service")
        },
        DoctorCheck(
            "external.code", "your provider gives codes for Alexa", applies: { isExternal($0) && hasLinking($0) }
        ) {
            one(
                "provider.external.code", external($0)?.code == nil,
                "app-to-app linking ends with link.noCodeSource: nobody gives Alexa a code of yours",
                "serve the endpoint and enter its address and pair", level: .fault)
        },
        DoctorCheck("external.revocation", "your provider hears of links that end", applies: isExternal) {
            configuration in
            guard let revocation = external(configuration)?.revocation else {
                return one(
                    "provider.external.revocation", true, "tokens live on at your provider when a user unlinks",
                    "enter the revocation endpoint")
            }
            return one(
                "provider.external.revocation.clientID", revocation.pair == nil,
                "the endpoint is shown no pair, so it cannot tell us from anybody else",
                "enter clientID and clientSecret, and let the endpoint demand them")
        },
        DoctorCheck("external.login", "users of the website can sign in", applies: { isExternal($0) && hasLinking($0) })
        {
            one(
                "provider.external.login", external($0)?.login == nil,
                "there is no /link, and the landing page only leads back to the app", "enter the provider's pages")
        },
        DoctorCheck("external.address", "the provider's addresses hold no OAuth parameters", applies: isExternal) {
            let url = external($0)?.login?.authorizationURL ?? ""
            let names = ["client_id", "redirect_uri", "response_type", "state", "scope"].filter {
                url.contains("?\($0)=") || url.contains("&\($0)=")
            }
            return one(
                "provider.external.login.authorizationURL", !names.isEmpty,
                "it holds \(names.joined(separator: ", ")) already: sent twice, the provider refuses the request",
                "enter the address without them", level: .fault)
        },
    ]

    static let google = [
        DoctorCheck("google.mismatch", "a code is redeemed with its own address alone", applies: { $0.google != nil }) {
            one(
                "google.redirectMismatch", $0.google?.redirectMismatch == .log && !$0.isDevelopment,
                "codes are taken with another of Google's addresses than they were sent to",
                "set it to refuse after the first live test")
        },
        DoctorCheck(
            "google.sandbox", "Google's sandbox is shut out", applies: { $0.google != nil && !$0.isDevelopment }
        ) {
            one(
                "google.sandbox", $0.google?.sandbox == true, "the sandbox's redirect addresses are taken",
                "set it to false when the integration is live")
        },
        DoctorCheck(
            "google.client", "Google's client may have a scope", applies: { $0.google != nil && !isExternal($0) }
        ) {
            let client = $0.provider.client($0.google?.clientID ?? "")
            return one(
                "provider.clients", client?.scopes.isEmpty != false,
                "the client of Google may have no scope: its tokens are good for nothing",
                "give it the smart-home scopes",
                level: .fault)
        },
        DoctorCheck("google.code", "App Flip has codes", applies: { $0.google != nil && isExternal($0) }) {
            one(
                "provider.external.code", external($0)?.code == nil,
                "there is no /app-flip/authorize: Google links in the browser alone",
                "serve the endpoint that gives codes")
        },
        DoctorCheck(
            "google.company", "Google's users see whose page it is", applies: { $0.google != nil && !isExternal($0) }
        ) {
            one(
                "company.name", $0.company.name == nil || $0.company.logo == nil,
                "Google's review wants the company's name and logo on the pages", "enter company.name and company.logo")
                + one(
                    "company.privacyURL", $0.company.privacyURL == nil && !$0.isDevelopment,
                    "the pages link to no privacy policy of the company's", "enter it")
        },
    ]
}
