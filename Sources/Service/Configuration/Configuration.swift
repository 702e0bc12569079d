public import Crypto
public import Telemetry

/// What the configuration file says, judged as a whole and with every default filled in.
///
/// Addresses have no slash at their end; paths of files are absolute or relative to the working directory.
public struct Configuration: Sendable {
    /// Whether literal secrets, plain passwords and a forwarder without proof are taken; loopback alone then.
    public var isDevelopment = false
    /// The address at which the world reaches the service; in development its port may be 0 until the real one is known.
    public var publicURL = ""
    /// What pages show of the company.
    public var company = Company()
    /// The company's apps.
    public var apps = Apps()
    /// Where the service listens.
    public var listen = Listen()
    /// Where it keeps what outlives a request.
    public var store = Store()
    /// The Alexa skills, each with a name and an id of its own.
    public var skills: [Skill] = []
    /// Who knows the users.
    public var provider = Provider()
    /// Google's client, for App Flip.
    public var google: Google?
    /// How a forwarder of smart-home directives proves itself.
    public var forwarder = Forwarder()
    /// What the Lambda runtime loop takes.
    public var lambdaAccepts: Set<LambdaEvent> = [.invocation]
    /// Amazon's addresses and roots of trust.
    public var amazon = Amazon()
    /// The token for Amazon's skill management API.
    public var smapiToken: Secret?
    /// The company's wording of the service's own texts.
    public var texts = Texts()
    /// How outbound calls are made.
    public var http = Outbound()
    /// For how many days traces are kept.
    public var traceKeepDays = 30
    /// What is added to the clock; other than 0 in development alone.
    public var clockOffsetSeconds: Int64 = 0
    /// What is logged, and how.
    public var log = Logging()
    /// Every limit that can be set.
    public var limits = Limits()

    /// The defaults; reading a file fills in the rest.
    init() {}

    /// Every key that a file can hold; `[]` follows the name of a list, as in `skills[].name`.
    public static var keys: [String] { KeyTable.rules.map(\.path) }

    /// The skill of that application id.
    public func skill(id: String) -> Skill? { skills.first { $0.id == id } }

    /// The skill of that name.
    public func skill(named name: String) -> Skill? { skills.first { $0.name == name } }
}

extension Configuration {
    /// What pages show of the company.
    public struct Company: Sendable {
        /// Its name.
        public var name: String?
        /// Its logo, served by us: a page that loads something from elsewhere tells who is there.
        public var logo: Logo?
        /// Its colour, as `#0a7` or `#00aa77`.
        public var color: String?
        /// Where its privacy policy is.
        public var privacyURL: String?
        /// Where its users find help.
        public var supportURL: String?
    }

    /// The company's apps.
    public struct Apps: Sendable {
        /// An app of Apple's systems.
        public struct IOS: Sendable {
            /// Team and bundle id, `TEAM.com.example.app`.
            public var appID: String
            /// The paths that open it.
            public var paths: [String]
        }
        /// An app of Android.
        public struct Android: Sendable {
            /// The package's name.
            public var package: String
            /// SHA-256 fingerprints of its certificates.
            public var fingerprints: [String]
        }
        /// The address that opens the app, of any scheme; nil where no page leads to it.
        public var openURL: String?
        /// The provider's clients that are the apps; nil takes tokens of any but skills' and Google's.
        public var clients: Set<String>?
        /// Those of Apple's systems.
        public var ios: [IOS] = []
        /// Those of Android.
        public var android: [Android] = []
    }

    /// Where the service listens.
    public struct Listen: Sendable {
        /// An address and a port.
        public struct Endpoint: Sendable, Hashable {
            /// The address, or a name of this machine.
            public var host: String
            /// The port; 0 takes a free one.
            public var port: Int

            /// That port of that host.
            public init(host: String, port: Int) {
                self.host = host
                self.port = port
            }
        }
        /// The service's certificate chain and key.
        public struct TLS: Sendable, Hashable {
            /// The PEM file of the chain, own certificate first.
            public var certificatePath: String
            /// The PEM file of the key.
            public var privateKeyPath: String
        }
        /// Where everything is answered.
        public var service = Endpoint(host: "127.0.0.1", port: 8080)
        /// How many event loops run; 0 means one a core.
        public var threads = 0
        /// The addresses or networks whose `X-Forwarded-*` is believed.
        public var trustedProxies: [String] = []
        /// Where `/healthz`, `/readyz` and `/metrics` are answered, apart from the rest.
        public var operations: Endpoint?
        /// The certificate; without it the service speaks plain HTTP.
        public var tls: TLS?
    }

    /// Where the service keeps what outlives a request.
    public struct Store: Sendable {
        /// The file of the SQLite database; `:memory:` for one that is gone at the end.
        public var sqlitePath = ""
        /// The keys that encrypt what must not be read in the file: base64, one a line, the current one first.
        ///
        /// Without them, in development or where nothing secret is stored, a key file beside the database will do.
        public var encryptionKeys: Secret?
        /// The file that holds the keys, where it is a file.
        public var encryptionKeyPath: String?
    }

    /// A stage of a skill.
    public enum Stage: String, Sendable, CaseIterable {
        /// In development, and during beta tests.
        case development
        /// Certified and published.
        case live
    }

    /// A part of the world with gateways of its own.
    public enum Region: String, Sendable, CaseIterable {
        /// North America.
        case northAmerica = "NA"
        /// Europe and India.
        case europe = "EU"
        /// The Far East.
        case farEast = "FE"
    }

    /// An Alexa skill.
    public struct Skill: Sendable {
        /// The name that routes and commands use.
        public var name: String
        /// The application id.
        public var id: String
        /// The stage that enablement asks for.
        public var stage: Stage
        /// App-to-app account linking.
        public var linking: Linking?
        /// The pair for AcceptGrant and events.
        public var events: Events?
        /// What the skill answers.
        public var intents: IntentsFile?
        /// Whether directives of the smart-home API are answered.
        public var isSmartHome: Bool

        /// The provider's client whose tokens the skill takes.
        public var providerClient: String { linking?.providerClient ?? Linking.standardProviderClient }

        /// Lets redirect URLs at the service's own address follow it, where development takes another port.
        public mutating func moveRedirectURLs(from old: String, to new: String) {
            let moved = linking?.redirectURLs.map { $0.hasPrefix(old + "/") ? new + $0.dropFirst(old.count) : $0 }
            if let moved { linking?.redirectURLs = moved }
        }
    }

    /// A skill's app-to-app account linking.
    public struct Linking: Sendable {
        static let standardProviderClient = "alexa"

        /// The id of the pair that the account-linking page of Amazon's console shows.
        public var clientID: String
        /// The secret of that pair.
        public var clientSecret: Secret
        /// Where Alexa sends the user back to.
        public var redirectURLs: [String]
        /// The vendor's id.
        public var vendorID: String?
        /// Whether the code is bound to a proof key.
        public var usesPKCE: Bool
        /// The provider's client that is Alexa.
        public var providerClient: String
        /// What the user gains, for the page that asks.
        public var benefit: LocalizedText?
        /// Where the page may send the user afterwards.
        public var returnURLs: [String]
        /// Domains that Alexa's sign-in window may load.
        public var domains: [String]
        /// Whether the skill can be enabled without linking.
        public var skipOnEnablement: Bool
        /// How Alexa sends its credentials to the token endpoint.
        public var accessTokenScheme: String
        /// The life that Alexa assumes of a token whose life it is not told.
        public var defaultTokenExpirationSeconds: Int
        /// Whether `/oauth/reciprocal` is answered.
        public var reciprocal: Bool
        /// The pair that the codes which come there are exchanged by; Amazon does not document which.
        public var reciprocalPair: ReciprocalPair

        /// One of the skill's two pairs at Login with Amazon.
        public enum ReciprocalPair: String, Sendable, CaseIterable {
            /// That of app-to-app linking.
            case linking
            /// That of "Send Alexa Events".
            case events
        }
    }

    /// The pair of the console's "Send Alexa Events".
    public struct Events: Sendable {
        /// The id of the pair.
        public var clientID: String
        /// Its secret.
        public var clientSecret: Secret
        /// The region whose gateway is tried first.
        public var region: Region
    }

    /// Google's client, for App Flip.
    public struct Google: Sendable {
        /// The provider's client that is Google.
        public var clientID: String
        /// The project's id at Google.
        public var projectID: String
        /// Whether the sandbox's redirect addresses are taken too.
        public var sandbox: Bool
        /// What becomes of a code that is redeemed with another address of Google's than it was sent to.
        public var redirectMismatch = RedirectMismatch.refuse
    }

    /// What becomes of a code that is redeemed with another address than it was sent to.
    public enum RedirectMismatch: String, Sendable, CaseIterable {
        /// It is refused.
        case refuse
        /// It is taken, and a line in the log has both addresses.
        case log
    }

    /// How a forwarder of smart-home directives proves itself.
    public struct Forwarder: Sendable {
        /// Whether it must; false in development alone.
        public var isRequired = true
        /// The secret that both sides know.
        public var secret: Secret?
    }

    /// What the Lambda runtime loop can be handed.
    public enum LambdaEvent: String, Sendable, CaseIterable {
        /// A request of Alexa's, by invocation of the function.
        case invocation
        /// A gateway's HTTP request, which is always verified.
        case http
    }

    /// Amazon's addresses and roots of trust.
    public struct Amazon: Sendable {
        /// Amazon's own.
        public init() {}

        /// The PEM file of the roots that Alexa's certificate chain must end at; nil takes the system's.
        public var trustAnchorsPath: String?
        /// Login with Amazon's page for the user.
        public var lwaAuthorizeURL = "https://www.amazon.com/ap/oa"
        /// Login with Amazon's token endpoint.
        public var lwaTokenURL = "https://api.amazon.com/auth/o2/token"
        /// The universal link of the Alexa app.
        public var alexaAppURL = "https://alexa.amazon.com/spa/skill-account-linking-consent"
        /// The API of each region, for enablement.
        public var apiURLs: [Region: String] = [
            .northAmerica: "https://api.amazonalexa.com", .europe: "https://api.eu.amazonalexa.com",
            .farEast: "https://api.fe.amazonalexa.com",
        ]
        /// The keys of `amazon.endpoints` that the file sets, for a line in the log.
        public var changedEndpoints: [String] = []
    }

    /// The company's wording of the service's own texts.
    public struct Texts: Sendable {
        /// What the service says by itself.
        public var service = ServiceTexts()
        /// What a user is told when linking fails, by reason code.
        public var linkErrors: [String: LocalizedText] = [:]
    }

    /// How outbound calls are made.
    public struct Outbound: Sendable {
        /// The PEM file of authorities that are trusted besides the system's; never for Alexa's chain.
        public var caFilePath: String?
        /// Where to connect instead, as `host:port:address:port`; the address is this machine's.
        public var resolve: [String] = []
        /// The proxy's address.
        public var proxy: String?
    }

    /// What is logged, and how.
    public struct Logging: Sendable {
        /// The least important level that is written.
        public var level = LogLevel.info
        /// How a line is written.
        public var format = LogFormat.json
    }
}
