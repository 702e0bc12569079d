import Crypto
import FoundationEssentials
import Glibc
import Service
import Storage
import Time

/// The checks of what lies on this machine: certificate, store, limits.
struct DoctorMachine {
    private let configuration: Configuration
    private let now: UnixTime

    /// From when on a certificate should be renewed.
    private static let renewalSeconds: Int64 = 14 * 86_400
    /// Files that are open besides connections: the database, logs, outbound calls.
    private static let spareFiles = 256

    init(_ configuration: Configuration) {
        self.configuration = configuration
        now = SystemClock.clock(offsetSeconds: configuration.clockOffsetSeconds)()
    }

    func findings() async -> [DoctorFinding] { certificate() + (await store()) + [openFiles()] }

    // MARK: - The certificate

    private func certificate() -> [DoctorFinding] {
        guard let tls = configuration.listen.tls else { return [] }
        guard let pem = FileManager.default.contents(atPath: tls.certificatePath),
            let chain = try? Certificate.bundle(pem: Array(pem)), let leaf = chain.first
        else {
            return [
                fault(
                    "tls.pair", "listen.tls.certificate", "\(tls.certificatePath) holds no certificate in PEM",
                    "name the file with the whole chain, the server's own certificate first")
            ]
        }
        guard let keyText = FileManager.default.contents(atPath: tls.privateKeyPath),
            let key = try? PrivateKey(pem: Array(keyText))
        else {
            return [
                fault(
                    "tls.pair", "listen.tls.privateKey", "\(tls.privateKeyPath) holds no private key in PEM",
                    "name the key's file")
            ]
        }
        return [
            pair(leaf, key), dates(leaf), names(leaf), completeness(chain),
        ]
    }

    private func pair(_ leaf: Certificate, _ key: PrivateKey) -> DoctorFinding {
        key.publicKey.pem == leaf.publicKey.pem
            ? good("tls.pair", "key and certificate belong together")
            : fault(
                "tls.pair", "listen.tls.privateKey", "the key is not that of the first certificate in the file",
                "name the key that the certificate was made for")
    }

    private func dates(_ leaf: Certificate) -> DoctorFinding {
        if !leaf.isValid(at: now) {
            return fault(
                "tls.dates", "listen.tls.certificate",
                "it is good from \(leaf.notBefore.iso8601()) to \(leaf.notAfter.iso8601()), and not now",
                "renew it, and send SIGHUP to the service")
        }
        if leaf.notAfter < now.adding(seconds: Self.renewalSeconds) {
            return warning(
                "tls.dates", "listen.tls.certificate", "it ends on \(leaf.notAfter.iso8601())",
                "renew it, and send SIGHUP to the service")
        }
        return good("tls.dates", "the certificate is good until \(leaf.notAfter.iso8601())")
    }

    private func names(_ leaf: Certificate) -> DoctorFinding {
        let host = String(
            configuration.publicURL.dropFirst("https://".count).prefix { $0 != ":" && $0 != "/" }.lowercased())
        let isNamed = leaf.dnsNames.contains { name in
            let name = name.lowercased()
            guard name.hasPrefix("*.") else { return name == host }
            // One label, and no more (RFC 6125 §6.4.3).
            return host.firstIndex(of: ".").map { host[$0...] == name.dropFirst() } ?? false
        }
        return isNamed
            ? good("tls.name", "the certificate is for \(host)")
            : fault(
                "tls.name", "listen.tls.certificate",
                "it is for \(leaf.dnsNames.joined(separator: ", ")), and publicURL is \(configuration.publicURL)",
                "have one made for \(host)")
    }

    private func completeness(_ chain: [Certificate]) -> DoctorFinding {
        chain.count > 1
            ? good("tls.chain", "the file holds the authorities between the certificate and the root")
            : warning(
                "tls.chain", "listen.tls.certificate",
                "the file holds one certificate: Alexa and Amazon fetch no missing ones, and refuse the service then",
                "use the full chain that the authority gave you")
    }

    // MARK: - The store

    private func store() async -> [DoctorFinding] {
        let path = configuration.store.sqlitePath
        guard FileManager.default.fileExists(atPath: path) else {
            let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
            guard FileManager.default.isWritableFile(atPath: folder.isEmpty ? "/" : folder) else {
                return [
                    fault(
                        "store.open", "store.url", "\(folder) is not there, or nothing can be written there",
                        "make the folder, for the user that the service runs as")
                ]
            }
            return [good("store.open", "\(path) is not there yet; the service makes it")]
        }
        do {
            let store = try StoreOpening.open(configuration, clock: { SystemClock.now })
            try await store.probeWriting(by: .after(.seconds(5), from: .now))
            return [good("store.open", "the store opens with its key, its tables are up to date, it takes writes")]
        } catch {
            return [
                fault(
                    "store.open", "store.url",
                    (error as? ProgramFault)?.message ?? "the store takes no writes: \(error)",
                    "look at the file's owner, at the disk, and whether store.encryptionKey is the key that it was made with"
                )
            ]
        }
    }

    // MARK: - Limits

    private func openFiles() -> DoctorFinding {
        var limit = rlimit()
        _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let needed = configuration.limits.connections + Self.spareFiles
        return limit.rlim_cur >= UInt(needed)
            ? good("machine.openFiles", "\(limit.rlim_cur) files may be open")
            : warning(
                "machine.openFiles", "limits.connections",
                "\(limit.rlim_cur) files may be open, and \(configuration.limits.connections) connections need \(needed)",
                "ulimit -n \(needed), or LimitNOFILE in the service's unit")
    }

    // MARK: - Lines

    private func good(_ check: String, _ message: String) -> DoctorFinding {
        DoctorFinding(check: check, level: .ok, message: message)
    }

    private func warning(_ check: String, _ key: String, _ message: String, _ mend: String) -> DoctorFinding {
        DoctorFinding(check: check, key: key, level: .warning, message: message, mend: mend)
    }

    private func fault(_ check: String, _ key: String, _ message: String, _ mend: String) -> DoctorFinding {
        DoctorFinding(check: check, key: key, level: .fault, message: message, mend: mend)
    }
}
