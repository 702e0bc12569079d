import CCrypto

/// A private key that signs; prints nothing of itself.
public final class PrivateKey: Sendable {
    /// What can be generated.
    public enum Kind: Sendable, CaseIterable {
        /// RSA of 2048 bits.
        case rsa2048
        /// The curve P-256.
        case p256
        /// The curve P-384.
        case p384
        /// Ed25519.
        case ed25519
    }

    /// The public half.
    public let publicKey: PublicKey
    let handle: KeyHandle

    private init(_ pointer: OpaquePointer?, _ reason: Reason) throws(CryptoError) {
        guard let pointer = unsafe pointer else { throw reason.error("private key") }
        handle = unsafe KeyHandle(pointer)
        var reason = Reason()
        guard let half = unsafe ccrypto_public_half(pointer, &reason.characters) else {
            throw reason.error("private key")
        }
        publicKey = unsafe PublicKey(handle: KeyHandle(half))
        guard publicKey.kind != .other else {
            throw CryptoError(reason: "private key: of a kind that is not supported")
        }
    }

    /// The key of a PEM text, not encrypted.
    ///
    /// - Throws: ``CryptoError`` where there is none, or of a kind that is not supported.
    public convenience init(pem: [UInt8]) throws(CryptoError) {
        var reason = Reason()
        try unsafe self.init(ccrypto_private_key_from_pem(pem, pem.count, &reason.characters), reason)
    }

    /// A new key.
    ///
    /// - Throws: ``CryptoError`` where OpenSSL cannot make one.
    public static func generate(_ kind: Kind) throws(CryptoError) -> PrivateKey {
        switch kind {
        case .rsa2048: try generate(CCRYPTO_KIND_RSA, bits: 2048)
        case .p256: try generate(CCRYPTO_KIND_P256)
        case .p384: try generate(CCRYPTO_KIND_P384)
        case .ed25519: try generate(CCRYPTO_KIND_ED25519)
        }
    }

    /// A new RSA key of so many bits; under 2048 it serves tests alone, since nothing here takes its signatures.
    ///
    /// - Throws: ``CryptoError`` where OpenSSL cannot make one.
    public static func generateRSA(bits: Int) throws(CryptoError) -> PrivateKey {
        try generate(CCRYPTO_KIND_RSA, bits: Int32(clamping: bits))
    }

    private static func generate(_ kind: ccrypto_kind, bits: Int32 = 0) throws(CryptoError) -> PrivateKey {
        var reason = Reason()
        return try unsafe PrivateKey(
            ccrypto_generate(Int32(kind.rawValue), bits, &reason.characters), reason)
    }

    /// The key as PEM (PKCS #8), not encrypted: whoever stores it seals it or keeps the file to its owner.
    public var pem: [UInt8] { handle.pem(privateHalf: true) }

    /// This key's signature over `message`.
    ///
    /// - Throws: ``CryptoError`` where the algorithm does not fit the key.
    public func signature(of message: [UInt8], algorithm: SignatureAlgorithm) throws(CryptoError) -> [UInt8] {
        var reason = Reason()
        let signature = filled(capacity: 1024) {
            unsafe ccrypto_sign(
                handle.pointer, algorithm.code, message, message.count, &$0, $1, &reason.characters)
        }
        guard !signature.isEmpty else { throw reason.error("signature") }
        return signature
    }

    /// This key's signature of the SHA-1 digest of `message`, by RSASSA-PKCS1-v1_5: what Alexa sent until 2021, so that
    /// a test can show that nobody takes it any more.
    ///
    /// - Throws: `CryptoError` where the key is not RSA.
    public func signatureSHA1(of message: [UInt8]) throws(CryptoError) -> [UInt8] {
        var reason = Reason()
        let signature = filled(capacity: 1024) {
            unsafe ccrypto_sign(
                handle.pointer, Int32(CCRYPTO_RS1.rawValue), message, message.count, &$0, $1, &reason.characters)
        }
        guard !signature.isEmpty else { throw reason.error("signature") }
        return signature
    }
}

extension PrivateKey: CustomStringConvertible, CustomReflectable {
    /// `<redacted>`.
    public var description: String { "<redacted>" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
