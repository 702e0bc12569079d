public import Crypto
public import Time

/// A key with its certificate and what leads from there towards a root.
public struct Identity: Sendable {
    /// The key of the first certificate.
    public let key: PrivateKey
    /// The certificate and its intermediates, in the order in which they are served.
    public let chain: [Certificate]

    /// A key and its chain.
    public init(key: PrivateKey, chain: [Certificate]) {
        self.key = key
        self.chain = chain
    }

    /// The chain as the file that is served.
    public var pem: [UInt8] { chain.flatMap(\.pem) }
}

/// A certificate authority that plays those behind Amazon's hosts: a root that a test configuration trusts, the
/// certificate of Alexa's request signer, and the TLS certificate of the hosts that the simulator plays.
public struct Authority: Sendable {
    /// The names that the TLS certificate is for.
    public static let serverNames = [
        "s3.amazonaws.com", "api.amazon.com", "www.amazon.com", "alexa.amazon.com", "api.amazonalexa.com",
        "api.eu.amazonalexa.com", "api.fe.amazonalexa.com", "localhost",
    ]
    /// The name that Alexa's signing certificate holds.
    public static let signerName = "echo-api.amazon.com"

    static let rootSeconds: Int64 = 10 * 365 * 86_400
    static let leafSeconds: Int64 = 365 * 86_400
    /// Clocks differ, and a test may look back a little.
    static let earlierSeconds: Int64 = 86_400

    /// The root, which signed itself.
    public let root: Certificate
    let rootKey: PrivateKey
    /// Signs requests as Alexa.
    public let signing: Identity
    /// Serves TLS as Amazon's hosts.
    public let server: Identity

    /// A new authority with certificates that are valid for a year from `now` on, and since the day before.
    ///
    /// - Throws: `CryptoError` where OpenSSL makes no key or certificate.
    public init(now: UnixTime) throws(CryptoError) {
        let key = try PrivateKey.generate(.p256)
        let root = try Certificate.issue(
            .authority(
                "Skillgate Simulator Root", from: now.adding(seconds: -Self.earlierSeconds),
                until: now.adding(seconds: Self.rootSeconds)),
            publicKey: key.publicKey, issuer: nil, signedBy: key)
        try self.init(root: root, rootKey: key, now: now)
    }

    /// New certificates by a root that is there already.
    init(root: Certificate, rootKey: PrivateKey, now: UnixTime) throws(CryptoError) {
        let issuer = Issuer(certificate: root, key: rootKey, now: now)
        self.init(
            root: root, rootKey: rootKey, signing: try issuer.identity(names: [Self.signerName], key: .rsa2048),
            server: try issuer.identity(names: Self.serverNames, key: .p256))
    }

    init(root: Certificate, rootKey: PrivateKey, signing: Identity, server: Identity) {
        self.root = root
        self.rootKey = rootKey
        self.signing = signing
        self.server = server
    }

    /// Trust in this root alone.
    ///
    /// - Throws: `CryptoError` where OpenSSL takes no certificate.
    public func anchors() throws(CryptoError) -> TrustAnchors { try TrustAnchors(certificates: [root]) }

    /// A signing identity with a fault.
    ///
    /// - Throws: `CryptoError` where OpenSSL makes no key or certificate.
    public func signing(with fault: ChainFault, now: UnixTime) throws(CryptoError) -> Identity {
        let issuer = Issuer(certificate: root, key: rootKey, now: now)
        switch fault {
        case .expired:
            return try issuer.identity { $0.notAfter = now.adding(seconds: -1) }
        case .notYetValid:
            return try issuer.identity { $0.notBefore = now.adding(seconds: 3600) }
        case .wrongName:
            return try issuer.identity { $0.dnsNames = [Self.signerName + ".example.test"] }
        case .nameInSubjectOnly:
            return try issuer.identity { $0.dnsNames = [] }
        case .embeddedNUL:
            return try issuer.identity {
                $0.dnsNames = []
                $0.rawDNSNames = [Array(Self.signerName.utf8) + [0] + Array(".example.test".utf8)]
            }
        case .noDigitalSignature:
            return try issuer.identity { $0.keyUsage = [.keyEncipherment] }
        case .untrustedRoot:
            let other = try Authority(now: now)
            return Identity(key: other.signing.key, chain: other.signing.chain + [other.root])
        case .intermediateIsNoAuthority:
            return try issuer.identity(intermediate: { $0.isAuthority = false })
        case .missingIntermediate:
            return Identity(key: signing.key, chain: Array(signing.chain.prefix(1)))
        }
    }
}

/// What can be wrong with the chain behind a signature.
public enum ChainFault: String, Sendable, CaseIterable {
    /// The certificate's time is over.
    case expired
    /// The certificate's time has not come.
    case notYetValid = "not-yet-valid"
    /// The name is one that only looks like Alexa's.
    case wrongName = "wrong-name"
    /// Alexa's name is the common name, and no alternative name is there.
    case nameInSubjectOnly = "name-in-subject-only"
    /// Alexa's name is followed by a NUL and more.
    case embeddedNUL = "embedded-nul"
    /// The key usage lacks digital signatures.
    case noDigitalSignature = "no-digital-signature"
    /// The chain ends in a root of its own that nobody trusts.
    case untrustedRoot = "untrusted-root"
    /// The intermediate's basic constraints say that it is no authority.
    case intermediateIsNoAuthority = "intermediate-is-no-authority"
    /// The file lacks the intermediate.
    case missingIntermediate = "missing-intermediate"
}

/// Issues a leaf by way of a new intermediate.
private struct Issuer {
    let certificate: Certificate
    let key: PrivateKey
    let now: UnixTime

    func identity(
        names: [String] = [Authority.signerName], key kind: PrivateKey.Kind = .rsa2048,
        intermediate changeIntermediate: (inout CertificateTemplate) -> Void = { _ in },
        leaf change: (inout CertificateTemplate) -> Void = { _ in }
    ) throws(CryptoError) -> Identity {
        let from = now.adding(seconds: -Authority.earlierSeconds)
        let until = min(now.adding(seconds: Authority.leafSeconds), certificate.notAfter)
        var middle = CertificateTemplate.authority(
            "Skillgate Simulator Intermediate", from: from, until: until, pathLength: 0)
        changeIntermediate(&middle)
        let middleKey = try PrivateKey.generate(.p256)
        let intermediate = try Certificate.issue(
            middle, publicKey: middleKey.publicKey, issuer: certificate, signedBy: key)
        var template = CertificateTemplate.server(names, from: from, until: until)
        change(&template)
        let leafKey = try PrivateKey.generate(kind)
        let leaf = try Certificate.issue(
            template, publicKey: leafKey.publicKey, issuer: intermediate, signedBy: middleKey)
        return Identity(key: leafKey, chain: [leaf, intermediate])
    }

    func identity(leaf change: (inout CertificateTemplate) -> Void) throws(CryptoError) -> Identity {
        try identity(intermediate: { _ in }, leaf: change)
    }
}
