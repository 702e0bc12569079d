public import Crypto
public import HTTP
public import Time

/// A certificate authority that tests trust, and the means to sign requests as Alexa does.
public struct TestAuthority: Sendable {
    /// The root's certificate.
    public let certificate: Certificate
    /// The root's key.
    public let key: PrivateKey
    /// How long its certificates last unless a test says otherwise.
    public let validity: ClosedRange<UnixTime>

    /// An authority that is valid for a year before and after `now`.
    public init(named name: String = "Test Root", now: UnixTime = ManualClock.start) throws {
        let year: Int64 = 365 * 86_400
        validity = now.adding(seconds: -year)...now.adding(seconds: year)
        key = try PrivateKey.generate(.rsa2048)
        certificate = try Certificate.issue(
            .authority(name, from: validity.lowerBound, until: validity.upperBound), publicKey: key.publicKey,
            issuer: nil, signedBy: key)
    }

    /// Trust in this root alone.
    public var anchors: TrustAnchors { get throws { try TrustAnchors(certificates: [certificate]) } }

    /// A new key with a certificate for those DNS names; `change` plants faults.
    public func signer(
        for names: [String] = ["echo-api.amazon.com"], change: (inout CertificateTemplate) -> Void = { _ in }
    ) throws -> TestSigner {
        var template = CertificateTemplate.server(names, from: validity.lowerBound, until: validity.upperBound)
        change(&template)
        let key = try PrivateKey.generate(.rsa2048)
        let leaf = try Certificate.issue(template, publicKey: key.publicKey, issuer: certificate, signedBy: self.key)
        return TestSigner(key: key, certificates: [leaf, certificate])
    }
}

/// A key and its certificate chain, which signs requests as Alexa does.
public struct TestSigner: Sendable {
    /// The signing key.
    public let key: PrivateKey
    /// The chain, the signing certificate first.
    public let certificates: [Certificate]

    /// A signer.
    public init(key: PrivateKey, certificates: [Certificate]) {
        self.key = key
        self.certificates = certificates
    }

    /// An address of the right form.
    public static let usualURL = "https://s3.amazonaws.com/echo.api/echo-api-cert-12.pem"

    /// The chain as the certificate host would serve it.
    public var pem: [UInt8] { certificates.flatMap(\.pem) }

    /// The headers that Alexa would send with `body`.
    public func headers(for body: [UInt8], url: String = TestSigner.usualURL) throws -> HTTPFields {
        let signature = try key.signature(of: body, algorithm: .rs256)
        return [
            "Content-Type": "application/json;charset=UTF-8", "SignatureCertChainUrl": url,
            "Signature-256": Base64.encode(signature),
        ]
    }

    /// A signed request.
    public func request(
        _ body: [UInt8], url: String = TestSigner.usualURL, target: String = "/alexa/custom", deadline: Deadline
    ) throws -> HTTPRequest {
        HTTPRequest(
            method: .post, target: target, fields: try headers(for: body, url: url), body: body, deadline: deadline)
    }
}
