extension DoctorCheck {
    private static func one(
        _ key: String, _ isWrong: Bool, _ message: String, _ mend: String, level: DoctorFinding.Level = .warning
    ) -> [Found] {
        isWrong ? [Found(key: key, level: level, message: message, mend: mend)] : []
    }

    static let apps = [
        DoctorCheck("apps.clients", "the routes for apps take the apps' tokens alone", applies: hasLinking) {
            configuration in
            guard let clients = configuration.apps.clients else {
                return one(
                    "apps.clients", true,
                    "tokens of every client but Alexa's and Google's are an app's: /alexa/link takes them",
                    "name the clients that are apps")
            }
            guard case .embedded = configuration.provider.kind else { return [] }
            return clients.sorted().flatMap { id in
                one(
                    "apps.clients", configuration.provider.client(id) == nil,
                    "\(id) is none of provider.clients: no such token exists", "add the client, or correct the id",
                    level: .fault)
            }
        },
        DoctorCheck("apps.ios", "the redirect URLs open the iOS apps", applies: { !$0.apps.ios.isEmpty }) {
            $0.redirectURLsOutsideApps.map {
                Found(
                    key: $0.key, message: "no pattern of apps.ios[].paths covers \($0.url): it opens no app",
                    mend: "add its path to paths")
            }
        },
        DoctorCheck("apps.association", "links open an app of the company's", applies: hasLinking) {
            one(
                "apps", $0.apps.ios.isEmpty && $0.apps.android.isEmpty && !$0.isDevelopment,
                "there are no association files: what comes back from Amazon opens in the browser",
                "enter apps.ios and apps.android, unless the files are served elsewhere")
        },
    ]

    static let host = [
        DoctorCheck("company.name", "the pages have the company's name") {
            one("company.name", $0.company.name == nil, "the pages say Skillgate", "enter the name that users know")
        },
        DoctorCheck("listen.proxies", "each caller is told from the others", applies: { !$0.isDevelopment }) {
            let host = $0.listen.service.host
            let isBehindProxy = $0.listen.tls == nil
            return one(
                "listen.trustedProxies", isBehindProxy && $0.listen.trustedProxies.isEmpty,
                "without TLS of its own the service on \(host) stands behind a proxy, whose address all callers then have: "
                    + "limits that are meant for one hit all", "name the proxy's addresses")
        },
        DoctorCheck("listen.operations", "the operator's addresses are apart", applies: { !$0.isDevelopment }) {
            one(
                "listen.operations", $0.listen.operations == nil,
                "/healthz and /openapi.json are public with the service", "give them a listener of their own")
        },
        DoctorCheck("store.key", "the encryption key lies apart from the database") {
            one(
                "store.encryptionKey", $0.store.encryptionKeys == nil && $0.store.encryptionKeyPath == nil,
                "whoever copies the database's folder has the key to Amazon's tokens too",
                "skillgate keys generate, and name the file")
        },
        DoctorCheck(
            "trust.settings", "nothing changes whom the service trusts or calls", applies: { !$0.isDevelopment }
        ) {
            one(
                "amazon.trustAnchors", $0.amazon.trustAnchorsPath != nil,
                "whoever has a certificate of those roots can sign as Alexa does",
                "leave it out: the system's roots are right")
                + one(
                    "http.resolve", !$0.http.resolve.isEmpty, "calls to these names go to this machine", "leave it out")
                + one(
                    "http.proxy", $0.http.proxy != nil, "every outbound call goes through it", "leave it out if you can"
                )
                + $0.amazon.changedEndpoints.flatMap {
                    one(
                        "amazon.endpoints.\($0)", true, "tokens and codes are sent there in place of Amazon",
                        "leave it out")
                }
        },
        DoctorCheck("forwarder.required", "directives come from the forwarder alone", applies: hasSmartHome) {
            one(
                "forwarder.required", !$0.forwarder.isRequired, "anybody who reaches the address can send directives",
                "set it to true before the address is public")
        },
        DoctorCheck("clock.offset", "the service has the machine's time") {
            one(
                "clockOffsetSeconds", $0.clockOffsetSeconds != 0, "the service lives \($0.clockOffsetSeconds) s off",
                "leave it out but for a test")
        },
        DoctorCheck("linking.skip", "no smart-home skill can be enabled without linking", applies: hasSmartHome) {
            configuration in
            configuration.skills.enumerated().flatMap { index, skill -> [Found] in
                one(
                    "skills[\(index)].linking", skill.linking?.skipOnEnablement == true && skill.isSmartHome,
                    "Alexa lets nobody use a smart-home skill that was enabled without linking",
                    "set skipOnEnablement to false", level: .fault)
            }
        },
    ]
}
