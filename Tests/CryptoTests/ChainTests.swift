import Crypto
import Testing
import Time

/// An authority that a test makes for itself.
struct Issuer {
    static let now = UnixTime(seconds: 1_900_000_000)
    static let from = now.adding(seconds: -1000)
    static let until = now.adding(seconds: 1000)

    let key: PrivateKey
    let certificate: Certificate

    init(_ template: CertificateTemplate, by issuer: Issuer? = nil) throws {
        key = try PrivateKey.generate(.p256)
        certificate = try Certificate.issue(
            template, publicKey: key.publicKey, issuer: issuer?.certificate, signedBy: issuer?.key ?? key)
    }

    static func root() throws -> Issuer { try Issuer(.authority("Root", from: from, until: until)) }

    func intermediate(
        _ name: String = "Intermediate", pathLength: Int? = nil,
        _ change: (inout CertificateTemplate) -> Void = { _ in }
    ) throws -> Issuer {
        var template = CertificateTemplate.authority(
            name, from: Issuer.from, until: Issuer.until, pathLength: pathLength)
        change(&template)
        return try Issuer(template, by: self)
    }

    func leaf(_ change: (inout CertificateTemplate) -> Void = { _ in }) throws -> Certificate {
        var template = CertificateTemplate.server(["echo-api.amazon.com"], from: Issuer.from, until: Issuer.until)
        change(&template)
        return try Certificate.issue(
            template, publicKey: PrivateKey.generate(.rsa2048).publicKey, issuer: certificate, signedBy: key)
    }

    func judge(_ leaf: Certificate, _ intermediates: [Issuer], at moment: UnixTime = Issuer.now) throws -> ChainVerdict
    {
        try TrustAnchors(certificates: [certificate]).judge(
            leaf: leaf, intermediates: intermediates.map(\.certificate), at: moment)
    }
}

@Suite("Certificates and chains") struct ChainTests {
    @Test("a chain from leaf over intermediates to the root is trusted, whatever the order of the intermediates")
    func trusted() throws {
        let root = try Issuer.root()
        let first = try root.intermediate("First")
        let second = try first.intermediate("Second")
        let leaf = try second.leaf()
        #expect(try root.judge(leaf, [second, first]) == .trusted)
        #expect(try root.judge(leaf, [first, second, root]) == .trusted)
        #expect(try root.judge(leaf, [second]) != .trusted)
        #expect(try root.judge(leaf, []) != .trusted)
        #expect(try Issuer.root().judge(leaf, [second, first, root]) != .trusted, "another root of the same name")
    }

    @Test("the leaf's dates count to the second, both ends included")
    func dates() throws {
        let root = try Issuer.root()
        let leaf = try root.leaf {
            $0.notBefore = Issuer.now
            $0.notAfter = Issuer.now.adding(seconds: 10)
        }
        for (offset, verdict) in [
            (-1, .notYetValid), (0, .trusted), (10, .trusted), (11, .expired),
        ] as [(Int64, ChainVerdict)] {
            let moment = Issuer.now.adding(seconds: offset)
            #expect(try root.judge(leaf, [], at: moment) == verdict)
            #expect(leaf.isValid(at: moment) == (verdict == .trusted))
        }
        #expect(leaf.notBefore == Issuer.now)
        #expect(leaf.notAfter == Issuer.now.adding(seconds: 10))
    }

    @Test("an expired intermediate ends the chain as expired")
    func expiredIntermediate() throws {
        let root = try Issuer.root()
        let old = try root.intermediate { $0.notAfter = Issuer.now.adding(seconds: -1) }
        #expect(try root.judge(old.leaf(), [old]) == .expired)
    }

    static let faults: [(String, @Sendable (inout CertificateTemplate) -> Void)] = [
        ("no authority", { $0.isAuthority = false }),
        ("no basic constraints", { $0.isAuthority = nil }),
        ("a key usage without signing certificates", { $0.keyUsage = [.digitalSignature] }),
        (
            "a name constraint that excludes",
            { $0.otherExtensions = [("nameConstraints", "critical,excluded;DNS:amazon.com")] }
        ),
        (
            "a name constraint that permits others",
            { $0.otherExtensions = [("nameConstraints", "critical,permitted;DNS:a.test")] }
        ),
        ("an unknown critical extension", { $0.otherExtensions = [("tlsfeature", "critical,status_request")] }),
        ("a purpose other than servers", { $0.extendedKeyUsage = ["codeSigning"] }),
    ]

    @Test("an intermediate at fault ends the chain", arguments: faults.indices)
    func faultyIntermediate(index: Int) throws {
        let root = try Issuer.root()
        let faulty = try root.intermediate("Faulty", Self.faults[index].1)
        let verdict = try root.judge(faulty.leaf(), [faulty])
        guard case .untrusted(let reason) = verdict else {
            Issue.record("\(Self.faults[index].0): \(verdict)")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test("path lengths are kept")
    func pathLength() throws {
        let root = try Issuer.root()
        let last = try root.intermediate("Last", pathLength: 0)
        let below = try last.intermediate("Below")
        #expect(try root.judge(last.leaf(), [last]) == .trusted)
        #expect(try root.judge(below.leaf(), [last, below]) == .untrusted("path length constraint exceeded"))
    }

    @Test("a chain longer than the anchors allow is refused")
    func depth() throws {
        let root = try Issuer.root()
        let first = try root.intermediate("First")
        let second = try first.intermediate("Second")
        let leaf = try second.leaf()
        for (maximum, trusted) in [(2, true), (1, false), (0, false)] {
            let anchors = try TrustAnchors(certificates: [root.certificate], maximumIntermediates: maximum)
            let verdict = anchors.judge(
                leaf: leaf, intermediates: [first.certificate, second.certificate], at: Issuer.now)
            #expect((verdict == .trusted) == trusted)
        }
    }

    @Test("a leaf's key under 2048 bits, a foreign signature and a leaf for other purposes are refused")
    func leafFaults() throws {
        let root = try Issuer.root()
        let impostor = try Issuer.root()
        let template = CertificateTemplate.server(["echo-api.amazon.com"], from: Issuer.from, until: Issuer.until)
        let small = try Certificate.issue(
            template, publicKey: PrivateKey.generateRSA(bits: 1024).publicKey, issuer: root.certificate,
            signedBy: root.key)
        let foreign = try Certificate.issue(
            template, publicKey: root.key.publicKey, issuer: root.certificate, signedBy: impostor.key)
        #expect(try root.judge(small, []) != .trusted)
        #expect(try root.judge(foreign, []) == .untrusted("certificate signature failure"))
        #expect(try root.judge(root.leaf { $0.extendedKeyUsage = ["codeSigning"] }, []) != .trusted)
        #expect(try root.judge(root.leaf { $0.extendedKeyUsage = [] }, []) == .trusted)
    }

    @Test("an intermediate that signed itself is no anchor")
    func selfSigned() throws {
        let root = try Issuer.root()
        let other = try Issuer(.authority("Other", from: Issuer.from, until: Issuer.until))
        #expect(try root.judge(other.leaf(), [other]) != .trusted)
        #expect(try root.judge(other.certificate, []) != .trusted)
    }

    @Test("the DNS names are read as they stand, and what is no plain name is left out")
    func names() throws {
        let root = try Issuer.root()
        let wild = try root.leaf {
            $0.dnsNames = ["echo-api.amazon.com", "*.amazon.com", "ECHO.test"]
            $0.rawDNSNames = [
                Array("good.test\u{0}.evil.test".utf8), [0xC3, 0xA4], [], Array("a b".utf8), Array("z".utf8),
            ]
        }
        #expect(wild.dnsNames == ["echo-api.amazon.com", "*.amazon.com", "ECHO.test", "z"])
        #expect(try root.leaf { $0.dnsNames = [] }.dnsNames.isEmpty)
        #expect(wild.subject == "CN=echo-api.amazon.com")
    }

    @Test("digital signatures are allowed only where the key usage says so")
    func usage() throws {
        let root = try Issuer.root()
        #expect(try root.leaf().allowsDigitalSignature)
        #expect(try root.leaf { $0.keyUsage = [.digitalSignature] }.allowsDigitalSignature)
        #expect(try !root.leaf { $0.keyUsage = [.keyEncipherment] }.allowsDigitalSignature)
        #expect(try !root.leaf { $0.keyUsage = nil }.allowsDigitalSignature)
        #expect(root.certificate.isAuthority)
        #expect(try !root.leaf().isAuthority)
    }

    @Test("a file of certificates is read in its order; a broken block or none at all is refused")
    func bundles() throws {
        let root = try Issuer.root()
        let first = try root.intermediate("First")
        let leaf = try first.leaf()
        let pem = leaf.pem + Array("some text between\n".utf8) + first.certificate.pem + root.certificate.pem
        let read = try Certificate.bundle(pem: pem)
        #expect(read.map(\.subject) == ["CN=echo-api.amazon.com", "CN=First", "CN=Root"])
        #expect(read.map(\.der) == [leaf.der, first.certificate.der, root.certificate.der])
        #expect(try Certificate(pem: pem).der == leaf.der)
        var broken = pem
        let middle = broken.count / 2
        broken.replaceSubrange(middle..<middle + 4, with: Array("????".utf8))
        let many = [[UInt8]](repeating: leaf.pem, count: 33).flatMap { $0 }
        for wrong in [
            [], Array("hello".utf8), broken, Array(pem.dropLast(40)), many, try PrivateKey.generate(.p256).pem,
        ] {
            #expect(throws: CryptoError.self) { try Certificate.bundle(pem: wrong) }
        }
    }

    @Test("an extension that nobody knows makes no certificate")
    func unknownExtension() throws {
        let root = try Issuer.root()
        #expect(throws: CryptoError.self) { try root.leaf { $0.otherExtensions = [("nonsense", "x")] } }
    }

    @Test("the system's roots are readable and trust no certificate of ours")
    func system() throws {
        let root = try Issuer.root()
        let verdict = try TrustAnchors.system().judge(
            leaf: root.leaf(), intermediates: [root.certificate], at: Issuer.now)
        #expect(verdict == .untrusted("self-signed certificate in certificate chain"))
    }
}
