extension DoctorCheck {
    private static func each(
        _ configuration: Configuration, _ judge: (Configuration.Skill, Configuration.Linking, String) -> [Found]
    ) -> [Found] {
        configuration.skills.enumerated().flatMap { index, skill in
            skill.linking.map { judge(skill, $0, "skills[\(index)].linking") } ?? []
        }
    }

    static let linking = [
        DoctorCheck("linking.vendor", "the vendor is known, so that Alexa's redirect URLs are", applies: hasLinking) {
            each($0) { _, linking, key in
                guard linking.vendorID == nil else { return [] }
                return [
                    Found(
                        key: key + ".vendorID",
                        message: "whether Alexa's three redirect URLs are registered cannot be checked without it",
                        mend: "enter what the redirect URLs of the console's page end with")
                ]
            }
        },
        DoctorCheck(
            "linking.client", "Alexa's client is one of the provider's, with a secret", applies: isEmbeddedLinking
        ) {
            configuration in
            each(configuration) { _, linking, key in
                guard let client = configuration.provider.client(linking.providerClient), client.secret != nil else {
                    return [
                        Found(
                            key: key + ".providerClient", level: .fault,
                            message:
                                "provider.clients has no client \(linking.providerClient) with a secret: Alexa gets no tokens",
                            mend: "add the client that the console's Account Linking page names, with its secret")
                    ]
                }
                let needed: Configuration.Client.Authentication =
                    linking.accessTokenScheme == "REQUEST_BODY_CREDENTIALS" ? .body : .basic
                guard !client.authentication.contains(needed) else { return [] }
                return [
                    Found(
                        key: key + ".accessTokenScheme", level: .fault,
                        message: "Alexa proves itself by \(linking.accessTokenScheme), which \(client.id) may not",
                        mend: "add \"\(needed.rawValue)\" to the client's authentication")
                ]
            }
        },
        DoctorCheck(
            "linking.redirects", "Alexa's redirect URLs of all three regions are registered", applies: isEmbeddedLinking
        ) {
            configuration in
            each(configuration) { _, linking, key in
                guard let vendor = linking.vendorID, let client = configuration.provider.client(linking.providerClient)
                else { return [] }
                return AccountLinkingPlan.amazonHosts.compactMap { host, region, isOptional in
                    let url = "https://\(host)/api/skill/link/\(vendor)"
                    guard !isOptional, !client.redirectURIs.contains(where: { Array($0.utf8) == Array(url.utf8) })
                    else {
                        return nil
                    }
                    return Found(
                        key: "provider.clients", level: .fault,
                        message: "\(client.id) lacks \(url): users of \(region) cannot link in the Alexa app",
                        mend: "add it to the client's redirectURIs, to the letter")
                }
            }
        },
        DoctorCheck(
            "linking.scopes", "Alexa's client may have the scopes that its skill needs", applies: isEmbeddedLinking
        ) {
            configuration in
            each(configuration) { skill, linking, _ in
                guard let client = configuration.provider.client(linking.providerClient) else { return [] }
                let missing = AccountLinkingPlan.scopes(of: skill, configuration.provider).filter {
                    !client.scopes.contains($0)
                }
                guard !missing.isEmpty else { return [] }
                return [
                    Found(
                        key: "provider.clients", level: .fault,
                        message:
                            "\(client.id) may not have \(missing.joined(separator: ", ")), without which its tokens are refused",
                        mend: "add the scope to the client's scopes")
                ]
            }
        },
        DoctorCheck("linking.pkce", "attempts are bound by proof keys", applies: hasLinking) {
            each($0) { _, linking, key in
                guard !linking.usesPKCE else { return [] }
                return [
                    Found(
                        key: key + ".pkce",
                        message: "a code of Amazon's that is caught on the way could be used by others",
                        mend: "set it to true")
                ]
            }
        },
        DoctorCheck("linking.benefit", "users read what they gain", applies: hasLinking) {
            each($0) { _, linking, key in
                guard linking.benefit == nil else { return [] }
                return [
                    Found(
                        key: key + ".benefit", message: "the page that asks says nothing of what the skill is good for",
                        mend: "write a line for each of your users' languages")
                ]
            }
        },
        DoctorCheck("linking.landing", "the redirect URLs are at this service", applies: hasLinking) { configuration in
            each(configuration) { _, linking, key in
                linking.redirectURLs.enumerated().compactMap { index, url in
                    guard !url.hasPrefix(configuration.publicURL + "/") else { return nil }
                    return Found(
                        key: "\(key).redirectURLs[\(index)]",
                        message:
                            "\(url) is not under publicURL: whoever comes there without the app needs a page of yours",
                        mend: "let that page finish the link, or use an address under publicURL")
                }
            }
        },
    ]

    private static func isEmbeddedLinking(_ configuration: Configuration) -> Bool {
        if case .embedded = configuration.provider.kind { hasLinking(configuration) } else { false }
    }
}
