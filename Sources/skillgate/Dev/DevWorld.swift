import Alexa
import Crypto
import FoundationEssentials
import Glibc
import HTTP
import OAuth
import Service
import Simulator
import Storage
import Telemetry
import Time
import Transport

/// Everything that `skillgate dev` starts: the service over a store of its own, and Amazon beside it on loopback.
///
/// All of it lies in a temporary folder, which goes at the end.
struct DevWorld: Sendable {
    /// What the service was made of, at the address that it has.
    let configuration: Configuration
    /// The service's origin.
    let address: String
    /// Where the samples are.
    let samples: String
    /// The service's log.
    var logPath: String { folder + "/service.log" }
    /// Amazon, as the service reaches it by TLS.
    let hosts: AmazonHosts
    /// Amazon's pages, as a browser reaches them.
    let consent: BrowserListener
    /// Alexa, the app and the user's browser call the service by it.
    let http: CurlClient
    /// The user who is linked.
    let user: Users.User
    /// What came to the service, for the developer.
    let inspector: Inspector
    private let program: Program
    private let listener: AmazonListener
    private let group: EventLoopGroup
    private let folder: String

    /// The user who is linked, by username.
    static let username = "alice"
    private static let configurationFile = "config/development.json5"

    /// Starts all of it; the service listens at `port`.
    ///
    /// - Throws: ``ProgramFault``, which says what to do.
    static func start(port: Int) async throws -> DevWorld {
        let root = try root()
        let folder = FileManager.default.temporaryDirectory.path + "/skillgate-dev-\(SecureRandom.token(bytes: 9))"
        do { return try await start(port: port, root: root, folder: folder) } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
    }

    private static func start(port: Int, root: String, folder: String) async throws -> DevWorld {
        // Makes the folder too.
        let authority = try Authority.load(folder: folder, now: SystemClock.now)
        var configuration = try configuration(root: root, folder: folder)
        let clock = SystemClock.clock(offsetSeconds: configuration.clockOffsetSeconds)
        let group = try EventLoopGroup(threads: 1)
        let hosts = AmazonHosts(
            authority: authority, clients: ReplayTarget.amazonClients(configuration), clock: clock)
        let listener = try AmazonListener(hosts, folder: folder, group: group, port: 0)
        let consent = try BrowserListener(hosts, group: group)
        configuration.amazon.lwaAuthorizeURL = consent.loginURL
        configuration.amazon.alexaAppURL = consent.alexaAppURL
        register(consent, &configuration)
        configuration.http.resolve = Authority.serverNames.map { "\($0):443:127.0.0.1:\(listener.port)" }
        let inspector = Inspector(skillIDs: Set(configuration.skills.map(\.id)), clock: clock)
        let program: Program
        do throws(ProgramFault) {
            program = try await Program(
                configuration, port: port, sink: try log(in: folder), inspector: inspector)
        } catch {
            await listener.stop()
            await consent.stop()
            group.shutdown()
            throw error
        }
        guard case .embedded(let embedded) = configuration.provider.kind,
            let user = embedded.users?.all.first(where: { $0.username == username })
        else { throw ProgramFault("\(configurationFile) has no user \(username)") }
        return DevWorld(
            configuration: ReplayTarget.moved(configuration, to: program.address), address: program.address,
            samples: root + "/samples", hosts: hosts, consent: consent, http: CurlClient(group: group), user: user,
            inspector: inspector, program: program, listener: listener, group: group, folder: folder)
    }

    /// Lets the provider send codes to the simulated Alexa app and Google's too.
    private static func register(_ consent: BrowserListener, _ configuration: inout Configuration) {
        let linking = Set(configuration.skills.compactMap(\.linking?.providerClient))
        for (index, client) in configuration.provider.clients.enumerated() {
            var paths: [String] = []
            if linking.contains(client.id) { paths.append(AssistantPages.alexaReturnPath) }
            if client.id == configuration.google?.clientID { paths.append(AssistantPages.googleReturnPath) }
            configuration.provider.clients[index].redirectURIs += paths.map { consent.origin + $0 }
        }
    }

    /// Google with its pair at the provider; nil where the configuration has no Google.
    var google: (app: GoogleApp, scopes: [String])? {
        guard let id = configuration.google?.clientID, let client = configuration.provider.client(id),
            let secret = client.secret
        else { return nil }
        let app = GoogleApp(
            clientID: id, clientSecret: secret, tokenURL: address + "/oauth/token",
            revocationURL: address + "/oauth/revoke", http: http)
        return (app, client.scopes)
    }

    /// Alexa as the caller of the service.
    var alexa: AlexaCaller {
        AlexaCaller(
            signer: AlexaSigner(hosts.authority), endpoint: address + "/alexa/custom", http: http,
            clock: SystemClock.clock(offsetSeconds: configuration.clockOffsetSeconds))
    }

    /// Shows the customers' apps in the browser, with one more customer of each other region; gives the address.
    func showAssistants() -> String {
        let others = [
            AmazonAccount(name: "customer-eu", home: .europe), AmazonAccount(name: "customer-fe", home: .farEast),
        ]
        hosts.linking.know([], accounts: others, http: http)
        let scopes = configuration.provider.customScopes + configuration.provider.smartHomeScopes
        consent.show(
            AssistantPages(
                linking: hosts.linking, alexa: alexa, google: google?.app,
                provider: AssistantPages.Provider(
                    authorizationURL: address + "/oauth/authorize",
                    alexaScopes: scopes.reduce(into: []) { if !$0.contains($1) { $0.append($1) } },
                    googleScopes: google?.scopes ?? []), origin: consent.origin))
        return consent.origin + AssistantPages.path
    }

    /// Ends everything, and removes what was written.
    func stop() async {
        await program.stop()
        await http.shutdown()
        await consent.stop()
        await listener.stop()
        group.shutdown()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The service as a target of samples.
    func target() async throws -> ReplayTarget {
        let clock = SystemClock.clock(offsetSeconds: configuration.clockOffsetSeconds)
        return ReplayTarget(
            configuration, at: address, http: http, hosts: hosts,
            tokens: try await ReplayTokens(configuration, user, runningAt: address, clock: clock), clock: clock)
    }

    /// The development configuration, with everything that it keeps in the temporary folder.
    private static func configuration(root: String, folder: String) throws -> Configuration {
        let path = root + "/" + configurationFile
        let file = try ConfigurationSource(path: path)
        // What the configuration names below .skillgate is made for each run, so that nothing of an earlier one is there.
        let key = Array(SealingKeys.newLine().exposed.utf8)
        let environment = ProcessInfo.processInfo.environment
        let source = ConfigurationSource(
            bytes: file.bytes, folder: file.folder, environment: { environment[$0] },
            readFile: { path in
                if path.contains("/.skillgate/"), !path.hasSuffix(".pem") { return key }
                let place = path.contains("/.skillgate/") ? folder + "/" + Authority.rootFile : path
                return FileManager.default.contents(atPath: place).map { [UInt8]($0) }
            })
        var configuration: Configuration
        do throws(FileFaults) { configuration = try Configuration(source) } catch {
            let faults = error.faults.map { "\n  \($0.path): \($0.problem)" }.joined()
            throw ProgramFault("\(path) is at fault:\(faults)")
        }
        configuration.store.sqlitePath = folder + "/store.sqlite"
        configuration.store.encryptionKeys = nil
        configuration.store.encryptionKeyPath = nil
        configuration.amazon.trustAnchorsPath = folder + "/" + Authority.rootFile
        configuration.http.caFilePath = folder + "/" + Authority.rootFile
        configuration.listen.operations = nil
        configuration.log.level = .info
        configuration.log.format = .text
        return configuration
    }

    /// The log goes to a file, so that it does not run through the table.
    private static func log(in folder: String) throws(ProgramFault) -> DescriptorSink {
        let descriptor = unsafe open(folder + "/service.log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ProgramFault("\(folder)/service.log cannot be written") }
        return DescriptorSink(descriptor: descriptor)
    }

    /// The folder with `config/development.json5`: this one, or one in which the program was built.
    private static func root() throws(ProgramFault) -> String {
        let here = FileManager.default.currentDirectoryPath
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        for start in [here, program] {
            var folder = start[...]
            while !folder.isEmpty {
                if FileManager.default.fileExists(atPath: folder + "/" + configurationFile) { return String(folder) }
                folder = folder.lastIndex(of: "/").map { folder[..<$0] } ?? ""
            }
        }
        throw ProgramFault("\(configurationFile) is not there: run it in a checkout of the repository")
    }
}
