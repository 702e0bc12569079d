import Alexa
import Service

/// What to enter in Amazon's and Google's consoles, made from the configuration; no secret.
enum DoctorConsoles {
    static func text(_ configuration: Configuration) -> String {
        (configuration.skills.map { alexa($0, configuration) } + [google(configuration)].compactMap(\.self))
            .joined(separator: "\n")
    }

    private static func alexa(_ skill: Configuration.Skill, _ configuration: Configuration) -> String {
        var lines = ["Alexa developer console, skill \(skill.name) (\(skill.id))"]
        if skill.intents != nil || !skill.isSmartHome {
            lines.append(line("Endpoint", "\(configuration.publicURL)/alexa/custom"))
        }
        if skill.isSmartHome {
            lines.append(
                line("Smart home", "the Lambda function that forwards to \(configuration.publicURL)/alexa/smart-home"))
            lines.append(line("Permissions", "Send Alexa Events on; its pair is skills[].events"))
        }
        do throws(FileFaults) {
            let plan = try AccountLinkingPlan(skill, configuration)
            let request = plan.request
            lines += [
                "  Account Linking",
                line("Authorization URI", request.authorizationURL, 4),
                line("Access Token URI", request.accessTokenURL, 4),
                line("Your Client ID", request.clientID, 4),
                line("Your Secret", "the one of provider.clients, or your provider's; not printed", 4),
                line("Authentication Scheme", request.accessTokenScheme, 4),
                line("Scope", request.scopes.joined(separator: " "), 4),
            ]
            if !request.domains.isEmpty { lines.append(line("Domains", request.domains.joined(separator: " "), 4)) }
            for url in request.redirectURLs { lines.append(line("App redirect URL", url, 4)) }
            for redirect in plan.redirects where redirect.isRegistered != true && !redirect.isOptional {
                lines.append(line("To be registered", "\(redirect.url) (\(redirect.purpose)) at the provider", 4))
            }
            for remark in plan.remarks { lines.append("    ! \(remark)") }
        } catch {
            for fault in error.faults { lines.append("  Account Linking: \(fault.path): \(fault.problem)") }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func google(_ configuration: Configuration) -> String? {
        guard let google = configuration.google else { return nil }
        var lines = ["Google's console, project \(google.projectID), Account linking"]
        switch configuration.provider.kind {
        case .embedded:
            lines += [
                line("Authorization URL", "\(configuration.publicURL)/oauth/authorize"),
                line("Token URL", "\(configuration.publicURL)/oauth/token"),
            ]
        case .external(let external):
            lines += [
                line("Authorization URL", external.login?.authorizationURL ?? "your provider's"),
                line("Token URL", external.login?.tokenURL ?? "your provider's"),
            ]
        }
        lines += [
            line("Client ID", google.clientID), line("Client secret", "that of the client; not printed"),
            line("Scopes", (configuration.provider.client(google.clientID)?.scopes ?? []).joined(separator: " ")),
        ]
        for app in configuration.apps.ios {
            lines.append(line("App Flip, iOS", "\(app.appID), a universal link of \(configuration.publicURL)"))
        }
        for app in configuration.apps.android {
            lines.append(line("App Flip, Android", "\(app.package), with its signature"))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func line(_ name: String, _ value: String, _ indent: Int = 2) -> String {
        String(repeating: " ", count: indent) + DevTable.padded(name, 26 - indent) + value
    }
}
