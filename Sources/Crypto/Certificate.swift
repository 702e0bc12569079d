import CCrypto
public import Time

/// An X.509 certificate.
///
/// Unchecked because it is only read, and what OpenSSL computes of it lazily it computes under its own lock.
@safe public final class Certificate: @unchecked Sendable {
    /// The subject as RFC 2253 writes it.
    public let subject: String
    /// From when it is valid.
    public let notBefore: UnixTime
    /// Until when it is valid, that second included.
    public let notAfter: UnixTime
    /// The DNS names of the subject alternative name, as they stand.
    ///
    /// A name that is not printable ASCII, one with an embedded NUL above all, is left out: it equals no host.
    public let dnsNames: [String]
    /// Whether the key usage extension is there and holds digitalSignature.
    ///
    /// RFC 5280 §4.2.1.3 reads a missing extension as "anything"; the rule for Alexa's signing certificate is that the
    /// usage includes digitalSignature, and Amazon's own verifier for Python refuses a certificate without it.
    public let allowsDigitalSignature: Bool
    /// Whether the basic constraints make it an authority.
    public let isAuthority: Bool
    /// The subject's key.
    public let publicKey: PublicKey
    let pointer: OpaquePointer

    /// Takes over the reference, also where it throws.
    init(taking pointer: OpaquePointer) throws(CryptoError) {
        unsafe self.pointer = pointer
        var from: Int64 = 0
        var until: Int64 = 0
        guard unsafe ccrypto_certificate_dates(pointer, &from, &until) == 1 else {
            unsafe ccrypto_certificate_free(pointer)
            throw CryptoError(reason: "certificate: dates that are none")
        }
        guard let key = unsafe ccrypto_certificate_key(pointer) else {
            unsafe ccrypto_certificate_free(pointer)
            throw CryptoError(reason: "certificate: a key that cannot be read")
        }
        notBefore = UnixTime(seconds: from)
        notAfter = UnixTime(seconds: until)
        publicKey = unsafe PublicKey(handle: KeyHandle(key))
        subject = String(
            decoding: filled(capacity: 4096) { unsafe ccrypto_certificate_subject(pointer, &$0, $1) }, as: UTF8.self)
        dnsNames = readNames(filled(capacity: 65_536) { unsafe ccrypto_certificate_dns_names(pointer, &$0, $1) })
        let usage = unsafe ccrypto_certificate_key_usage(pointer)
        allowsDigitalSignature = usage != .max && usage & KeyUsage.digitalSignature.rawValue != 0
        isAuthority = unsafe ccrypto_certificate_is_authority(pointer) == 1
    }

    deinit { unsafe ccrypto_certificate_free(pointer) }

    /// The first certificate of a PEM text.
    ///
    /// - Throws: ``CryptoError`` where there is none, or a block does not parse.
    public convenience init(pem: [UInt8]) throws(CryptoError) {
        let pointers = try unsafe parse(pem)
        unsafe pointers.dropFirst().forEach { unsafe ccrypto_certificate_free($0) }
        guard let first = unsafe pointers.first else { throw CryptoError(reason: "certificate: none found") }
        try unsafe self.init(taking: first)
    }

    /// The certificates of a PEM text in its order, at most 32 unless the caller wants more.
    ///
    /// - Throws: ``CryptoError`` where there is none, there are too many, or a block does not parse.
    public static func bundle(pem: [UInt8], limit: Int = 32) throws(CryptoError) -> [Certificate] {
        var pointers = try unsafe parse(pem, limit: limit)
        var certificates: [Certificate] = []
        do throws(CryptoError) {
            while let pointer = unsafe pointers.first {
                unsafe pointers.removeFirst()
                certificates.append(try unsafe Certificate(taking: pointer))
            }
        } catch {
            unsafe pointers.forEach { unsafe ccrypto_certificate_free($0) }
            throw error
        }
        guard !certificates.isEmpty else { throw CryptoError(reason: "certificate: none found") }
        return certificates
    }

    /// The certificate as PEM.
    public var pem: [UInt8] { filled(capacity: 131_072) { unsafe ccrypto_certificate_pem(pointer, &$0, $1) } }

    /// The certificate as DER.
    public var der: [UInt8] { filled(capacity: 65_536) { unsafe ccrypto_certificate_der(pointer, &$0, $1) } }

    /// Whether `moment` lies within the certificate's dates, both ends included.
    public func isValid(at moment: UnixTime) -> Bool {
        notBefore.seconds <= moment.seconds && moment.seconds <= notAfter.seconds
    }
}

private func parse(_ pem: [UInt8], limit: Int = 32) throws(CryptoError) -> [OpaquePointer] {
    var found = unsafe [OpaquePointer?](repeating: nil, count: limit)
    var reason = Reason()
    let count = unsafe ccrypto_certificates_from_pem(
        pem, pem.count, &found, Int32(clamping: limit), &reason.characters)
    guard count >= 0 else { throw reason.error("certificate") }
    return unsafe found.compactMap { unsafe $0 }
}

/// Reads names that each follow their length of four bytes; drops what is not printable ASCII.
private func readNames(_ bytes: [UInt8]) -> [String] {
    var names: [String] = []
    var index = 0
    while index + 4 <= bytes.count {
        let count = bytes[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
        let name = bytes[(index + 4)..<min(index + 4 + count, bytes.count)]
        if !name.isEmpty, name.allSatisfy({ (0x21...0x7E).contains($0) }) {
            names.append(String(decoding: name, as: UTF8.self))
        }
        index += 4 + count
    }
    return names
}
