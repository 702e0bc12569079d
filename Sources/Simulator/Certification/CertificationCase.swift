import Alexa
import Crypto
import HTTP
import Time

/// A request as Amazon's certification sends it: right, or wrong in exactly one way.
public struct CertificationCase: Sendable {
    /// A short name, `certificate-expired` for example.
    public let name: String
    /// What is sent, in words.
    public let sends: String
    /// The statuses that are right answers; the first is the usual one.
    public let statuses: [Int]
    /// Whether the answer says something only where the endpoint trusts the simulator's authority: everything but one
    /// thing is right.
    public let needsTrust: Bool
    let make: @Sendable (CertificationSender) throws(CryptoError) -> CertificationRequest

    /// Whether the request is right.
    public var isControl: Bool { statuses == [200] }

    /// Every case, in the order in which they are sent: a right one first, so that an endpoint that refuses everything
    /// is known as one.
    public static let all: [CertificationCase] =
        [plain] + headers + addresses + certificates + bodies + controls

    private static func refused(
        _ name: String, _ sends: String, or others: [Int] = [], needsTrust: Bool = true,
        _ make: @escaping @Sendable (CertificationSender) throws(CryptoError) -> CertificationRequest
    ) -> CertificationCase {
        CertificationCase(
            name: name, sends: sends, statuses: [400] + others, needsTrust: needsTrust, make: make)
    }

    private static func control(
        _ name: String, _ sends: String,
        _ make: @escaping @Sendable (CertificationSender) throws(CryptoError) -> CertificationRequest
    ) -> CertificationCase {
        CertificationCase(name: name, sends: sends, statuses: [200], needsTrust: true, make: make)
    }

    // MARK: - Requests that are right

    private static let plain = control("right", "a right request") { sender throws(CryptoError) in
        try sender.signed(sender.launch())
    }

    private static let controls: [CertificationCase] = [
        control("right-address-forms", "the certificates' address with capitals, the port 443 and dot segments") {
            sender throws(CryptoError) in
            let url = "HTTPS://S3.AMAZONAWS.COM:443/echo.api/../echo.api/" + AlexaSigner.chainFile
            return try sender.signed(sender.launch(), .chainURL(url))
        },
        control("right-header-case", "the headers' names in small letters, and the old SHA-1 header beside") {
            sender throws(CryptoError) in
            let body = sender.launch()
            var fields = HTTPFields()
            for line in try sender.signer.headers(for: body).lines {
                fields.append(line.name.lowercased(), line.value)
            }
            fields.append("signature", Base64.encode(try sender.key.signatureSHA1(of: body)))
            return CertificationRequest(fields: fields, body: body)
        },
        control("right-late", "a timestamp 140 seconds old: up to 150 are allowed") { sender throws(CryptoError) in
            try sender.signed(sender.launch(secondsFromNow: -140))
        },
        control("right-event-late", "a skill event 50 minutes old: up to an hour is allowed") {
            sender throws(CryptoError) in try sender.signed(sender.event(secondsFromNow: -3000))
        },
    ]

    // MARK: - Headers

    private static let headers: [CertificationCase] = [
        refused("signature-missing", "no Signature-256 header", needsTrust: false) { sender throws(CryptoError) in
            try sender.signed(sender.launch(), .noSignature)
        },
        refused("signature-empty", "an empty Signature-256 header", needsTrust: false) {
            sender throws(CryptoError) in try sender.signed(sender.launch(), .emptySignature)
        },
        refused("chain-url-missing", "no SignatureCertChainUrl header", needsTrust: false) {
            sender throws(CryptoError) in try sender.signed(sender.launch(), .noChainURL)
        },
        refused("signature-base64", "a right signature with a character that is not base64", needsTrust: false) {
            sender throws(CryptoError) in
            let body = sender.launch()
            var fields = try sender.signer.headers(for: body)
            let signature = fields["Signature-256"] ?? ""
            fields["Signature-256"] = signature.prefix(20) + "?" + signature.dropFirst(20)
            return CertificationRequest(fields: fields, body: body)
        },
        refused("signature-other-key", "a signature by another key than the certificate's", needsTrust: false) {
            sender throws(CryptoError) in try sender.signed(sender.launch(), .otherKey)
        },
        refused("signature-other-body", "a right signature, but of another body", needsTrust: false) {
            sender throws(CryptoError) in try sender.signed(sender.launch(), .otherBody)
        },
        refused("signature-sha1-only", "the old SHA-1 header Signature alone, and right", needsTrust: false) {
            sender throws(CryptoError) in
            let body = sender.launch()
            var fields = try sender.signer.headers(for: body, fault: .noSignature)
            fields.append("Signature", Base64.encode(try sender.key.signatureSHA1(of: body)))
            return CertificationRequest(fields: fields, body: body)
        },
        refused("signature-sha1", "a SHA-1 signature in the Signature-256 header", needsTrust: false) {
            sender throws(CryptoError) in
            let body = sender.launch()
            var fields = try sender.signer.headers(for: body)
            fields["Signature-256"] = Base64.encode(try sender.key.signatureSHA1(of: body))
            return CertificationRequest(fields: fields, body: body)
        },
    ]

    // MARK: - The certificates' address

    private static let addresses: [CertificationCase] = [
        address("url-scheme", "over http", "http://s3.amazonaws.com/echo.api/"),
        address(
            "url-host", "at a host that begins as Amazon's does", "https://s3.amazonaws.com.example.test/echo.api/"),
        address(
            "url-user", "at another host, with Amazon's as a user's name",
            "https://s3.amazonaws.com@example.test/echo.api/"),
        address("url-port", "at port 563", "https://s3.amazonaws.com:563/echo.api/"),
        address("url-path", "outside /echo.api/", "https://s3.amazonaws.com/invalid.path/"),
        address("url-path-case", "under /EcHo.aPi/", "https://s3.amazonaws.com/EcHo.aPi/"),
        address("url-dots", "outside /echo.api/ by a dot segment", "https://s3.amazonaws.com/echo.api/../"),
        address(
            "url-dots-encoded", "outside /echo.api/ by an encoded dot segment",
            "https://s3.amazonaws.com/echo.api/%2e%2e/"),
    ]

    private static func address(_ name: String, _ place: String, _ folder: String) -> CertificationCase {
        refused(name, "the right certificates \(place)", needsTrust: false) { sender throws(CryptoError) in
            try sender.signed(sender.launch(), .chainURL(folder + AlexaSigner.chainFile))
        }
    }

    // MARK: - The certificates

    private static let certificates: [CertificationCase] = [
        certificate("certificate-expired", "a certificate that ended", .expired),
        certificate("certificate-early", "a certificate that begins in an hour", .notYetValid),
        certificate("certificate-name", "a certificate for a name that only looks like Alexa's", .wrongName),
        certificate(
            "certificate-common-name", "a certificate with Alexa's name as common name alone", .nameInSubjectOnly),
        certificate("certificate-usage", "a certificate that may not sign", .noDigitalSignature),
        certificate("chain-other-root", "a chain to a root that nobody trusts", .untrustedRoot),
        certificate("chain-incomplete", "a chain without its intermediate", .missingIntermediate),
        certificate("chain-no-authority", "a chain by a certificate that is no authority", .intermediateIsNoAuthority),
        refused("certificate-self-signed", "a certificate with Alexa's name that signed itself") {
            sender throws(CryptoError) in
            let body = sender.launch()
            return CertificationRequest(fields: try sender.selfSigned().headers(for: body), body: body)
        },
    ]

    private static func certificate(_ name: String, _ sends: String, _ fault: ChainFault) -> CertificationCase {
        refused(name, sends) { sender throws(CryptoError) in
            let body = sender.launch()
            return CertificationRequest(fields: try sender.hosts.signer(with: fault).headers(for: body), body: body)
        }
    }
}
