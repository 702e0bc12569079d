import OAuth

extension PageFrame {
    /// The frame of the company's pages.
    init(_ company: Configuration.Company) {
        self.init(
            company: company.name ?? "Skillgate", logoPath: company.logo?.path, color: company.color,
            privacyURL: company.privacyURL,
            supportURL: company.supportURL)
    }
}

extension AuthorizationPages.Words {
    /// The words that the configuration gives: a skill's client is Alexa to users, and an app's is the company.
    init(_ configuration: Configuration) {
        let company = configuration.company.name ?? "Skillgate"
        let alexa = Set(configuration.skills.map(\.providerClient))
        let apps = configuration.apps.clients ?? []
        let google = configuration.google?.clientID
        let descriptions = configuration.provider.scopeDescriptions
        self.init(
            company: company,
            client: { client in
                if client.id == google { return "Google" }
                if alexa.contains(client.id) { return "Amazon Alexa" }
                return apps.contains(client.id) ? "\(company) App" : client.id
            }, isGoogle: { $0.id == google },
            privacyURL: { client in
                if client.id == google { return "https://policies.google.com/privacy" }
                return alexa.contains(client.id) ? "https://www.amazon.com/privacy" : nil
            },
            scope: { scope, language in
                descriptions[scope]?.text(for: language.rawValue, defaultLocale: "en-US") ?? scope
            })
    }
}
