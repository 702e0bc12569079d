extension ConfigurationReader {
    mutating func apps() -> Configuration.Apps {
        let apps = root.sectionOrEmpty("apps")
        let openURL = apps.optionalText("openURL")
        if let openURL, !Self.opensApps(openURL) {
            note(apps.path("openURL"), "opens no app: write a scheme of its own or https, as app://linked")
        }
        return Configuration.Apps(
            openURL: openURL, clients: apps.optionalTexts("clients").map(Set.init),
            ios: apps.sections("ios").map { ios($0) }, android: apps.sections("android").map { android($0) })
    }

    /// Whether a page may lead there: a scheme (RFC 3986 §3.1) that neither runs nor shows what follows it.
    private static func opensApps(_ address: String) -> Bool {
        guard let colon = address.firstIndex(of: ":") else { return false }
        let scheme = address[..<colon].lowercased()
        let isScheme =
            scheme.utf8.first.map { 0x61...0x7A ~= $0 } ?? false
            && scheme.utf8.allSatisfy { 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 || [0x2B, 0x2D, 0x2E].contains($0) }
        return isScheme && !["http", "javascript", "data", "vbscript", "file", "blob", "about"].contains(scheme)
            && address.utf8.allSatisfy { 0x21...0x7E ~= $0 && $0 != 0x22 }
    }

    private mutating func ios(_ section: Section) -> Configuration.Apps.IOS {
        let app = Configuration.Apps.IOS(appID: section.text("appID"), paths: section.texts("paths"))
        // Ten characters of team, a dot, the bundle id; letters are not counted, since old ids have a prefix of their own.
        let parts = app.appID.split(separator: ".", omittingEmptySubsequences: false)
        let isWellFormed = parts.count >= 2 && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(Self.isNameByte) }
        if !isWellFormed {
            note(section.path("appID"), "no app id: write team and bundle id, as TEAM123456.com.example.app")
        }
        for (index, path) in app.paths.enumerated() {
            let pattern = PathPattern(path).pattern
            if !pattern.hasPrefix("/") && !pattern.hasPrefix("*") || !pattern.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) {
                note(
                    "\(section.path("paths"))[\(index)]",
                    "no path: write it from the first slash on, as /alexa/*, or with NOT and a blank before it")
            }
        }
        return app
    }

    private mutating func android(_ section: Section) -> Configuration.Apps.Android {
        let app = Configuration.Apps.Android(
            package: section.text("package"), fingerprints: section.texts("fingerprints"))
        for (index, fingerprint) in app.fingerprints.enumerated() {
            let pairs = fingerprint.split(separator: ":", omittingEmptySubsequences: false)
            if pairs.count != 32 || !pairs.allSatisfy({ $0.utf8.count == 2 && $0.allSatisfy(\.isHexDigit) }) {
                note(
                    "\(section.path("fingerprints"))[\(index)]",
                    "no SHA-256 fingerprint: write 32 pairs of hexadecimal digits with colons, as keytool prints them")
            }
        }
        return app
    }
}
