import Crypto
import FoundationEssentials
import Glibc
public import Time

/// Why a folder gives no authority.
public struct AuthorityError: Error, Hashable, Sendable {
    /// What is wrong, with the file's name.
    public let message: String
}

extension Authority {
    /// The name of the file that holds the root, for `amazon.trustAnchors` and `http.caFile`.
    public static let rootFile = "authority.pem"
    /// The name of the file that holds the TLS chain.
    public static let serverFile = "server.pem"
    /// The name of the file that holds the TLS key.
    public static let serverKeyFile = "server-key.pem"

    private static let rootKeyFile = "authority-key.pem"
    private static let signingFile = "signing.pem"
    private static let signingKeyFile = "signing-key.pem"
    private static let lockFile = "authority.lock"
    /// Certificates with less time left are made anew.
    private static let renewalSeconds: Int64 = 30 * 86_400

    /// The authority of a folder, made where there is none and renewed where its time is nearly over.
    ///
    /// The root is kept as long as it lasts, so that who trusts it need not read it again. Private keys lie in files for
    /// their owner alone. Several processes may call this at once; all get the same.
    ///
    /// - Throws: ``AuthorityError`` where the folder cannot be read or written.
    public static func load(folder: String, now: UnixTime) throws(AuthorityError) -> Authority {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw AuthorityError(message: "\(folder) cannot be made")
        }
        let lock = unsafe open(folder + "/" + lockFile, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw AuthorityError(message: "\(folder)/\(lockFile) cannot be opened") }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 {
            guard errno == EINTR else { throw AuthorityError(message: "\(folder)/\(lockFile) cannot be locked") }
        }
        do throws(CryptoError) {
            guard let (root, key) = root(in: folder, now: now) else {
                let made = try Authority(now: now)
                try save(made, in: folder, withRoot: true)
                return made
            }
            if let kept = leaves(in: folder, root: root, key: key, now: now) { return kept }
            let made = try Authority(root: root, rootKey: key, now: now)
            try save(made, in: folder, withRoot: false)
            return made
        } catch {
            throw AuthorityError(message: "\(folder): \(error.reason)")
        }
    }

    private static func root(in folder: String, now: UnixTime) -> (Certificate, PrivateKey)? {
        guard let root = read(folder, rootFile).flatMap({ try? Certificate(pem: $0) }), lasts(root, now),
            let key = read(folder, rootKeyFile).flatMap({ try? PrivateKey(pem: $0) }),
            key.publicKey.pem == root.publicKey.pem
        else { return nil }
        return (root, key)
    }

    private static func leaves(in folder: String, root: Certificate, key: PrivateKey, now: UnixTime) -> Authority? {
        guard let signing = identity(folder, signingFile, signingKeyFile, root: root, now: now),
            let server = identity(folder, serverFile, serverKeyFile, root: root, now: now),
            // Another version of this program may have made the files for fewer hosts.
            Set(serverNames).isSubset(of: server.chain[0].dnsNames), signing.chain[0].dnsNames == [signerName]
        else { return nil }
        return Authority(root: root, rootKey: key, signing: signing, server: server)
    }

    private static func identity(
        _ folder: String, _ chainFile: String, _ keyFile: String, root: Certificate, now: UnixTime
    ) -> Identity? {
        guard let chain = read(folder, chainFile).flatMap({ try? Certificate.bundle(pem: $0) }), chain.count == 2,
            let key = read(folder, keyFile).flatMap({ try? PrivateKey(pem: $0) }),
            key.publicKey.pem == chain[0].publicKey.pem, chain.allSatisfy({ lasts($0, now) }),
            let anchors = try? TrustAnchors(certificates: [root]),
            anchors.judge(leaf: chain[0], intermediates: [chain[1]], at: now) == .trusted
        else { return nil }
        return Identity(key: key, chain: chain)
    }

    private static func lasts(_ certificate: Certificate, _ now: UnixTime) -> Bool {
        certificate.isValid(at: now) && certificate.isValid(at: now.adding(seconds: renewalSeconds))
    }

    private static func save(_ authority: Authority, in folder: String, withRoot: Bool) throws(CryptoError) {
        // The root last: whoever finds it may rely on the rest.
        var files: [(String, [UInt8], mode_t)] = [
            (signingKeyFile, authority.signing.key.pem, 0o600), (signingFile, authority.signing.pem, 0o644),
            (serverKeyFile, authority.server.key.pem, 0o600), (serverFile, authority.server.pem, 0o644),
        ]
        if withRoot {
            files += [(rootKeyFile, authority.rootKey.pem, 0o600), (rootFile, authority.root.pem, 0o644)]
        }
        for (name, bytes, mode) in files {
            guard replace(folder + "/" + name, with: bytes, mode: mode) else {
                throw CryptoError(reason: "\(name) cannot be written")
            }
        }
    }

    private static func read(_ folder: String, _ name: String) -> [UInt8]? {
        (try? Data(contentsOf: URL(filePath: folder + "/" + name))).map { Array($0) }
    }

    /// Writes beside the file and renames, so that no reader sees half of it; the mode holds from the first byte on.
    private static func replace(_ path: String, with bytes: [UInt8], mode: mode_t) -> Bool {
        let temporary = path + ".new"
        unsafe unlink(temporary)
        let file = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard file >= 0 else { return false }
        let written = unsafe write(file, bytes, bytes.count)
        guard close(file) == 0, written == bytes.count else { return false }
        return unsafe rename(temporary, path) == 0
    }
}
