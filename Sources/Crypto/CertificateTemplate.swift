import CCrypto
public import Time

/// The bits of the key usage extension (RFC 5280 §4.2.1.3), as OpenSSL numbers them.
public struct KeyUsage: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt32
    /// Those bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Signatures other than on certificates.
    public static let digitalSignature = KeyUsage(rawValue: 0x80)
    /// Encrypting keys.
    public static let keyEncipherment = KeyUsage(rawValue: 0x20)
    /// Agreeing on keys.
    public static let keyAgreement = KeyUsage(rawValue: 0x08)
    /// Signing certificates.
    public static let keyCertSign = KeyUsage(rawValue: 0x04)
    /// Signing revocation lists.
    public static let cRLSign = KeyUsage(rawValue: 0x02)

    var names: [String] {
        let all: [(KeyUsage, String)] = [
            (.digitalSignature, "digitalSignature"), (.keyEncipherment, "keyEncipherment"),
            (.keyAgreement, "keyAgreement"), (.keyCertSign, "keyCertSign"), (.cRLSign, "cRLSign"),
        ]
        return all.filter { contains($0.0) }.map(\.1)
    }
}

/// What a new certificate shall say, right or wrong: the simulated authority uses it, and tests plant faults by it.
public struct CertificateTemplate: Sendable {
    /// The common name, the only part of the subject; empty for an empty subject.
    public var commonName: String
    /// DNS names of the subject alternative name; the extension is left out where both lists are empty.
    public var dnsNames: [String]
    /// Further DNS names as bytes, for what no string should hold.
    public var rawDNSNames: [[UInt8]] = []
    /// From when it is valid, in whole seconds.
    public var notBefore: UnixTime
    /// Until when it is valid, in whole seconds.
    public var notAfter: UnixTime
    /// What basic constraints say; nil leaves the extension out.
    public var isAuthority: Bool?
    /// How many authorities may follow below; nil for any number.
    public var pathLength: Int?
    /// What the key may be used for; nil leaves the extension out.
    public var keyUsage: KeyUsage?
    /// The purposes by their short names, `serverAuth` for example; the extension is left out where empty.
    public var extendedKeyUsage: [String] = []
    /// Whether subject and authority key identifiers are written.
    public var hasKeyIdentifiers = true
    /// Any other extension: OpenSSL's short name, and a value as its configuration files write it, for example
    /// `("nameConstraints", "critical,permitted;DNS:example.com")`.
    public var otherExtensions: [(name: String, value: String)] = []

    /// A certificate of an authority.
    public static func authority(
        _ commonName: String, from notBefore: UnixTime, until notAfter: UnixTime, pathLength: Int? = nil
    ) -> CertificateTemplate {
        CertificateTemplate(
            commonName: commonName, dnsNames: [], notBefore: notBefore, notAfter: notAfter, isAuthority: true,
            pathLength: pathLength, keyUsage: [.keyCertSign, .cRLSign])
    }

    /// A certificate of a server, or of whoever signs requests; the first name is the common name.
    public static func server(
        _ dnsNames: [String], from notBefore: UnixTime, until notAfter: UnixTime
    ) -> CertificateTemplate {
        CertificateTemplate(
            commonName: dnsNames.first ?? "", dnsNames: dnsNames, notBefore: notBefore, notAfter: notAfter,
            isAuthority: false, keyUsage: [.digitalSignature, .keyEncipherment], extendedKeyUsage: ["serverAuth"])
    }

    private init(
        commonName: String, dnsNames: [String], notBefore: UnixTime, notAfter: UnixTime, isAuthority: Bool?,
        pathLength: Int? = nil, keyUsage: KeyUsage?, extendedKeyUsage: [String] = []
    ) {
        self.commonName = commonName
        self.dnsNames = dnsNames
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.isAuthority = isAuthority
        self.pathLength = pathLength
        self.keyUsage = keyUsage
        self.extendedKeyUsage = extendedKeyUsage
    }

    /// Names and values of the extensions, one after another.
    fileprivate var extensions: [String] {
        var pairs: [String] = []
        if let isAuthority {
            let length = pathLength.map { ",pathlen:\($0)" } ?? ""
            pairs += ["basicConstraints", "critical,CA:" + (isAuthority ? "TRUE" : "FALSE") + length]
        }
        if let keyUsage, !keyUsage.isEmpty {
            pairs += ["keyUsage", "critical," + keyUsage.names.joined(separator: ",")]
        }
        if !extendedKeyUsage.isEmpty { pairs += ["extendedKeyUsage", extendedKeyUsage.joined(separator: ",")] }
        if hasKeyIdentifiers { pairs += ["subjectKeyIdentifier", "hash", "authorityKeyIdentifier", "keyid"] }
        for other in otherExtensions { pairs += [other.name, other.value] }
        return pairs
    }

    /// The DNS names, each after its length of four bytes.
    fileprivate var names: [UInt8] {
        var names: [UInt8] = []
        for name in dnsNames.map({ Array($0.utf8) }) + rawDNSNames {
            for shift in [24, 16, 8, 0] { names.append(UInt8(truncatingIfNeeded: name.count >> shift)) }
            names += name
        }
        return names
    }
}

extension Certificate {
    /// A new certificate.
    ///
    /// - Parameters:
    ///   - template: what it says.
    ///   - publicKey: the subject's key.
    ///   - issuer: the issuer's certificate; nil for one that signs itself.
    ///   - key: the issuer's key; nothing checks that it belongs to `issuer`, so that a test can plant that too.
    /// - Returns: the certificate, signed with SHA-256.
    /// - Throws: ``CryptoError`` where OpenSSL cannot make it, an extension that it does not know for example.
    public static func issue(
        _ template: CertificateTemplate, publicKey: PublicKey, issuer: Certificate?, signedBy key: PrivateKey
    ) throws(CryptoError) -> Certificate {
        let names = template.names
        var reason = Reason()
        let made = unsafe withCStrings(template.extensions) { extensions, count in
            unsafe template.commonName.withCString { commonName in
                unsafe names.withUnsafeBufferPointer { names in
                    var values = unsafe ccrypto_template()
                    unsafe values.common_name = commonName
                    unsafe values.not_before = template.notBefore.seconds
                    unsafe values.not_after = template.notAfter.seconds
                    unsafe values.version = 2
                    unsafe values.extensions = extensions
                    unsafe values.extension_count = count / 2
                    unsafe values.dns_names = names.baseAddress
                    unsafe values.dns_names_count = names.count
                    return unsafe ccrypto_certificate_issue(
                        &values, publicKey.handle.pointer, issuer?.pointer, key.handle.pointer, &reason.characters)
                }
            }
        }
        guard let made = unsafe made else { throw reason.error("certificate") }
        return try unsafe Certificate(taking: made)
    }
}

/// Calls `body` with the texts as C strings that live as long as the call.
private func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?, Int) -> Result
) -> Result {
    let bytes = texts.flatMap { Array($0.utf8CString) }
    return unsafe bytes.withUnsafeBufferPointer { buffer in
        var pointers: [UnsafePointer<CChar>?] = unsafe []
        var offset = 0
        for text in texts {
            unsafe pointers.append(buffer.baseAddress.map { unsafe $0 + offset })
            offset += text.utf8.count + 1
        }
        return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress, texts.count) }
    }
}
