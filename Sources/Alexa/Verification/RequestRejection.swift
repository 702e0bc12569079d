/// Why a request is not believed, or cannot be read.
///
/// The caller is told nothing but the status; the log gets ``reasonCode`` and ``detail``.
public enum RequestRejection: Error, Hashable, Sendable {
    /// A header that proves the sender is missing or empty.
    case headerMissing(String)
    /// A header that proves the sender came more than once, so that two readers could disagree.
    case headerRepeated(String)
    /// The certificate URL is not one of Amazon's.
    case certificateURL(CertificateURL.Fault)
    /// The certificate chain could not be had.
    case chainUnavailable(ChainFault)
    /// The certificate chain leads to no root that is trusted.
    case chainUntrusted(String)
    /// The signing certificate, or one above it, is past its last day.
    case certificateExpired
    /// The signing certificate, or one above it, is before its first day.
    case certificateNotYetValid
    /// The signing certificate does not name `echo-api.amazon.com` among its DNS names.
    case certificateName
    /// The signing certificate may not be used for digital signatures.
    case certificateUsage
    /// The signature header holds no Base64.
    case signatureMalformed
    /// The signature does not fit body and key.
    case signatureWrong
    /// The body is no JSON, as the reader says.
    case bodyUnreadable(String)
    /// The member at that path is missing or of the wrong kind.
    case malformed(path: String)
    /// The timestamp lies outside the window. The difference is the timestamp minus our clock: negative for an old
    /// request, or where our clock is fast.
    case stale(clockDifferenceMilliseconds: Int64)
    /// A skill id in the request is none of ours.
    case skillUnknown
    /// The two skill ids in the request differ.
    case skillsDiffer
    /// The forwarder's header is not of the form `t=EPOCH,v1=HEX`.
    case forwarderMalformed
    /// The forwarder's time lies outside its window; the difference counts as in ``stale(clockDifferenceMilliseconds:)``.
    case forwarderStale(clockDifferenceMilliseconds: Int64)
    /// The forwarder's code does not fit time, path and body.
    case forwarderWrong

    /// Why a certificate chain could not be had.
    public enum ChainFault: Hashable, Sendable {
        /// No connection, or it broke.
        case unreachable
        /// TLS with the certificate host failed.
        case tls
        /// No answer in time.
        case timedOut
        /// Another status than 200; redirects are not followed.
        case status(Int)
        /// An empty body.
        case empty
        /// A body over the limit.
        case tooLarge
        /// A body that is no PEM bundle.
        case unreadable
        /// The same URL failed a moment ago.
        case failedRecently
        /// Too many fetches run, or too many unknown URLs came within a minute.
        case tooManyFetches
        /// The caller left.
        case cancelled
    }

    /// The stable reason code, for logs, traces and metrics.
    public var reasonCode: String {
        switch self {
        case .headerMissing: "verification.headerMissing"
        case .headerRepeated: "verification.headerRepeated"
        case .certificateURL: "verification.certificateURL"
        case .chainUnavailable: "verification.chainUnavailable"
        case .chainUntrusted: "verification.chainUntrusted"
        case .certificateExpired: "verification.certificateExpired"
        case .certificateNotYetValid: "verification.certificateNotYetValid"
        case .certificateName: "verification.certificateName"
        case .certificateUsage: "verification.certificateUsage"
        case .signatureMalformed: "verification.signatureMalformed"
        case .signatureWrong: "verification.signature"
        case .bodyUnreadable: "verification.bodyUnreadable"
        case .malformed: "verification.malformed"
        case .stale: "verification.stale"
        case .skillUnknown: "verification.skillUnknown"
        case .skillsDiffer: "verification.skillsDiffer"
        case .forwarderMalformed: "verification.forwarderMalformed"
        case .forwarderStale: "verification.forwarderStale"
        case .forwarderWrong: "verification.forwarder"
        }
    }

    /// What the operator needs besides the code; nothing in it is secret.
    public var detail: String? {
        switch self {
        case .headerMissing(let name), .headerRepeated(let name): name
        case .certificateURL(let fault): fault.rawValue
        case .chainUnavailable(let fault): fault.text
        case .chainUntrusted(let reason), .bodyUnreadable(let reason): reason
        case .malformed(let path): path
        case .stale(let difference), .forwarderStale(let difference): "clock difference \(difference) ms"
        case .skillsDiffer: "the ids in session and context differ"
        case .certificateExpired, .certificateNotYetValid, .certificateName, .certificateUsage, .signatureMalformed,
            .signatureWrong, .skillUnknown, .forwarderMalformed, .forwarderWrong:
            nil
        }
    }

    /// The timestamp minus our clock where that is the reason, so that a drifting clock shows.
    public var clockDifferenceMilliseconds: Int64? {
        switch self {
        case .stale(let difference), .forwarderStale(let difference): difference
        default: nil
        }
    }
}

extension RequestRejection.ChainFault {
    /// The fault in words.
    public var text: String {
        switch self {
        case .unreachable: "the certificate host cannot be reached"
        case .tls: "TLS with the certificate host failed"
        case .timedOut: "the certificate host did not answer in time"
        case .status(let status): "the certificate host answered \(status)"
        case .empty: "the certificate host sent an empty body"
        case .tooLarge: "the certificate host sent too much"
        case .unreadable: "the certificate host sent no certificates"
        case .failedRecently: "the same address failed a moment ago"
        case .tooManyFetches: "too many certificate addresses at once"
        case .cancelled: "the caller left"
        }
    }
}
