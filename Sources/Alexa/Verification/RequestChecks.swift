public import Crypto
public import HTTP
public import JSON
public import Time

/// The checks of a signed request, one function each, so that a tool can report on every one of them.
///
/// None keeps state, reads a clock or fetches; ``RequestVerifier`` runs them in order.
public enum RequestChecks {
    /// The name that the signing certificate must carry.
    public static let certificateName = "echo-api.amazon.com"
    /// How far an ordinary timestamp may lie from our clock, in either direction.
    public static let windowMilliseconds: Int64 = 150_000
    /// The same for skill events, which are delivered again with their first timestamp.
    public static let skillEventWindowMilliseconds: Int64 = 3_600_000

    /// What the headers of a signed request say.
    public struct Evidence: Hashable, Sendable {
        /// The value of `SignatureCertChainUrl`.
        public let chainURL: String
        /// The value of `Signature-256`.
        public let signature: String

        /// Evidence from the two header values.
        public init(chainURL: String, signature: String) {
            self.chainURL = chainURL
            self.signature = signature
        }
    }

    /// Check `headers`: both are there, once, and not empty.
    ///
    /// The SHA-1 header `Signature` is not looked at.
    public static func headers(_ fields: HTTPFields) throws(RequestRejection) -> Evidence {
        Evidence(
            chainURL: try onlyValue(of: "SignatureCertChainUrl", in: fields),
            signature: try onlyValue(of: "Signature-256", in: fields))
    }

    /// Check `url`: the address of the chain is one of Amazon's.
    public static func url(_ text: String) throws(RequestRejection) -> CertificateURL {
        do { return try CertificateURL(text) } catch { throw .certificateURL(error) }
    }

    /// Check `chain`: a path leads from the first certificate over the others to a trusted root.
    public static func chain(
        _ certificates: [Certificate], anchors: TrustAnchors, at now: UnixTime
    ) throws(RequestRejection) {
        guard let leaf = certificates.first else { throw .chainUnavailable(.empty) }
        switch anchors.judge(leaf: leaf, intermediates: Array(certificates.dropFirst()), at: now) {
        case .trusted: return
        case .untrusted(let reason): throw .chainUntrusted(reason)
        case .expired: throw .certificateExpired
        case .notYetValid: throw .certificateNotYetValid
        }
    }

    /// Check `certificate.dates`: `now` lies within the certificate's dates, both days included.
    public static func dates(_ certificate: Certificate, at now: UnixTime) throws(RequestRejection) {
        guard now >= certificate.notBefore else { throw .certificateNotYetValid }
        // Certificates count in whole seconds, so the last one is valid to its end.
        guard now.seconds <= certificate.notAfter.seconds else { throw .certificateExpired }
    }

    /// Check `certificate.name`: one DNS name is exactly ``certificateName``, but for case; the subject is not read.
    public static func name(_ certificate: Certificate) throws(RequestRejection) {
        guard certificate.dnsNames.contains(where: { equalsIgnoringCase($0, certificateName) }) else {
            throw .certificateName
        }
    }

    /// Check `certificate.usage`: the key may make digital signatures.
    public static func usage(_ certificate: Certificate) throws(RequestRejection) {
        guard certificate.allowsDigitalSignature else { throw .certificateUsage }
    }

    /// The bytes of the signature header.
    public static func signatureBytes(_ text: String) throws(RequestRejection) -> [UInt8] {
        guard let bytes = Base64.decode(text), !bytes.isEmpty else { throw .signatureMalformed }
        return bytes
    }

    /// Check `signature`: RSA with SHA-256 over the body as it arrived.
    public static func signature(
        _ signature: [UInt8], of body: [UInt8], by key: PublicKey
    ) throws(RequestRejection) {
        guard key.isValid(signature: signature, of: body, algorithm: .rs256) else { throw .signatureWrong }
    }

    /// Check `timestamp`: it lies within 150 seconds of `now`, within an hour for a skill event.
    public static func timestamp(of root: JSONElement, at now: UnixTime) throws(RequestRejection) {
        let request = root.member("request")
        guard let type = request?.string("type") else { throw .malformed(path: "request.type") }
        guard let member = request?.member("timestamp"), let time = UnixTime(alexaTimestamp: member) else {
            throw .malformed(path: "request.timestamp")
        }
        let window = type.hasPrefix("AlexaSkillEvent.") ? skillEventWindowMilliseconds : windowMilliseconds
        let difference = time.milliseconds(since: now)
        guard difference >= -window, difference <= window else {
            throw .stale(clockDifferenceMilliseconds: difference)
        }
    }

    /// Check `skill`: every skill id in the request is one of `skillIDs`, and they do not differ.
    ///
    /// A request that names no skill passes: Amazon signed it, and no rule demands the id of every type.
    public static func skill(of root: JSONElement, isOneOf skillIDs: Set<String>) throws(RequestRejection) {
        let inContext = try skillID(
            root.member("context")?.member("System"), path: "context.System.application.applicationId")
        let inSession = try skillID(root.member("session"), path: "session.application.applicationId")
        if let inContext, let inSession, inContext != inSession { throw .skillsDiffer }
        guard let given = inContext ?? inSession else { return }
        guard skillIDs.contains(given) else { throw .skillUnknown }
    }

    private static func skillID(_ parent: JSONElement?, path: String) throws(RequestRejection) -> String? {
        guard let member = parent?.member("application")?.member("applicationId"), !member.isNull else { return nil }
        guard let text = member.string else { throw .malformed(path: path) }
        return text
    }
}

/// The value of a header that must come once and not be empty.
func onlyValue(of name: String, in fields: HTTPFields) throws(RequestRejection) -> String {
    var found: String?
    for line in fields.lines where equalsIgnoringCase(line.name, name) {
        guard found == nil else { throw .headerRepeated(name) }
        found = line.value
    }
    guard let found, !found.isEmpty else { throw .headerMissing(name) }
    return found
}

extension UnixTime {
    /// Reads a request's timestamp: ISO 8601 text, or a number of milliseconds since the epoch.
    ///
    /// A number too small for milliseconds of this century is taken as seconds.
    init?(alexaTimestamp element: JSONElement) {
        if let text = element.string {
            self.init(iso8601: text)
            return
        }
        var number = element.integer
        if number == nil, let double = element.double, double.magnitude < 9e15 { number = Int64(exactly: double) }
        guard let number else { return nil }
        self = number.magnitude < 100_000_000_000 ? UnixTime(seconds: number) : UnixTime(milliseconds: number)
    }
}
