import CCrypto
public import Time

/// What a judgement of a certificate chain comes to.
public enum ChainVerdict: Hashable, Sendable {
    /// It leads to an anchor, and nothing on the way forbids it.
    case trusted
    /// It does not, for OpenSSL's reason.
    case untrusted(String)
    /// A certificate on the way is no longer valid.
    case expired
    /// A certificate on the way is not yet valid.
    case notYetValid
}

/// The certificates that a chain must lead to.
///
/// Unchecked because OpenSSL guards its store by a lock of its own.
@safe public final class TrustAnchors: @unchecked Sendable {
    private let store: OpaquePointer
    private let anyCertificateIsAnchor: Bool
    private let maximumIntermediates: Int

    private init(empty: Void, anyCertificateIsAnchor: Bool, maximumIntermediates: Int) throws(CryptoError) {
        guard let store = unsafe ccrypto_store_new() else { throw CryptoError(reason: "out of memory") }
        unsafe self.store = store
        self.anyCertificateIsAnchor = anyCertificateIsAnchor
        self.maximumIntermediates = maximumIntermediates
    }

    deinit { unsafe ccrypto_store_free(store) }

    /// The given anchors.
    ///
    /// - Parameters:
    ///   - certificates: the anchors.
    ///   - anyCertificateIsAnchor: whether a certificate that another one signed may end a chain too: the `verify` tool
    ///     judges old chains so, whose roots are gone. Otherwise only one that signed itself does.
    ///   - maximumIntermediates: how many certificates may stand between leaf and anchor.
    /// - Throws: ``CryptoError`` where a certificate cannot be taken.
    public convenience init(
        certificates: [Certificate], anyCertificateIsAnchor: Bool = false, maximumIntermediates: Int = 8
    ) throws(CryptoError) {
        try self.init(
            empty: (), anyCertificateIsAnchor: anyCertificateIsAnchor, maximumIntermediates: maximumIntermediates)
        for certificate in certificates {
            guard unsafe ccrypto_store_add(store, certificate.pointer) == 1 else {
                throw CryptoError(reason: "trust anchor: cannot be taken")
            }
        }
    }

    /// The anchors of a PEM text, at most 1024.
    ///
    /// - Parameters:
    ///   - pem: the text.
    ///   - anyCertificateIsAnchor: as in ``init(certificates:anyCertificateIsAnchor:maximumIntermediates:)``.
    /// - Throws: ``CryptoError`` where there is none or one does not parse.
    public convenience init(pem: [UInt8], anyCertificateIsAnchor: Bool = false) throws(CryptoError) {
        try self.init(
            certificates: Certificate.bundle(pem: pem, limit: 1024), anyCertificateIsAnchor: anyCertificateIsAnchor)
    }

    /// The system's roots: OpenSSL's hashed folder, or that which `SSL_CERT_DIR` names.
    ///
    /// Nothing is read before a chain needs it: the bundle of all roots takes some 40 ms to load, one root from the
    /// folder well under one.
    ///
    /// - Throws: ``CryptoError`` where OpenSSL refuses the folder.
    public static func system() throws(CryptoError) -> TrustAnchors {
        let anchors = try TrustAnchors(empty: (), anyCertificateIsAnchor: false, maximumIntermediates: 8)
        guard unsafe ccrypto_store_add_system(anchors.store) == 1 else {
            throw CryptoError(reason: "trust anchors: the system has none")
        }
        return anchors
    }

    /// Judges the chain from `leaf` to an anchor (RFC 5280 §6) at that moment.
    ///
    /// The intermediates help to find the way and are trusted in nothing: an anchor is only what this object holds, also
    /// where a file ends with a root. Strict: signatures of 112 bits and more (no SHA-1, RSA from 2048 bits), basic
    /// constraints, path length, key usage, name constraints, no unknown critical extension; extended key usage, where
    /// there is one, allows TLS servers. Revocation is not asked for, as by Amazon's own verifiers, and the leaf's names
    /// are for the caller to check.
    public func judge(leaf: Certificate, intermediates: [Certificate], at moment: UnixTime) -> ChainVerdict {
        let verdict = judge(leaf, intermediates, atSecond: moment.seconds)
        // OpenSSL calls a certificate expired in the very second that RFC 5280 §4.1.2.5 still counts as valid.
        guard verdict == .expired, judge(leaf, intermediates, atSecond: moment.seconds - 1) == .trusted else {
            return verdict
        }
        return .trusted
    }

    private func judge(_ leaf: Certificate, _ intermediates: [Certificate], atSecond second: Int64) -> ChainVerdict {
        let pointers = unsafe intermediates.map { unsafe Optional($0.pointer) }
        var reason = Reason()
        let code = withExtendedLifetime(intermediates) {
            unsafe ccrypto_judge(
                store, leaf.pointer, pointers, pointers.count, second, anyCertificateIsAnchor ? 1 : 0,
                Int32(clamping: maximumIntermediates), &reason.characters)
        }
        switch code {
        case 0: return .trusted
        case 9: return .notYetValid
        case 10: return .expired
        default: return .untrusted(reason.text)
        }
    }
}
