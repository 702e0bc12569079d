import CCrypto

/// A public key that checks signatures.
public final class PublicKey: Sendable {
    /// What a key is of; the algorithm of a signature must fit it.
    public enum Kind: Hashable, Sendable {
        /// RSA with a modulus of so many bits.
        case rsa(bits: Int)
        /// The curve P-256.
        case p256
        /// The curve P-384.
        case p384
        /// Ed25519.
        case ed25519
        /// A kind that no algorithm here takes; only a certificate can hold one.
        case other
    }

    /// A curve whose points are given by coordinates.
    public enum Curve: Sendable {
        /// P-256: coordinates of 32 bytes.
        case p256
        /// P-384: coordinates of 48 bytes.
        case p384
    }

    /// What the key is of.
    public let kind: Kind
    let handle: KeyHandle

    init(handle: KeyHandle) {
        self.handle = handle
        kind = handle.kind
    }

    private convenience init(_ pointer: OpaquePointer?, _ reason: Reason) throws(CryptoError) {
        guard let pointer = unsafe pointer else { throw reason.error("public key") }
        unsafe self.init(handle: KeyHandle(pointer))
        guard kind != .other else { throw CryptoError(reason: "public key: of a kind that is not supported") }
    }

    /// The key of a PEM text (`BEGIN PUBLIC KEY`).
    ///
    /// - Throws: ``CryptoError`` where there is none, or of a kind that is not supported.
    public convenience init(pem: [UInt8]) throws(CryptoError) {
        var reason = Reason()
        try unsafe self.init(ccrypto_public_key_from_pem(pem, pem.count, &reason.characters), reason)
    }

    /// An RSA key of its numbers, big-endian.
    ///
    /// A key under 2048 bits can be made, but no signature is valid by it.
    ///
    /// - Throws: ``CryptoError`` where the numbers make no key: even, an exponent of 1 or above 64 bits.
    public convenience init(rsaModulus modulus: [UInt8], exponent: [UInt8]) throws(CryptoError) {
        var reason = Reason()
        try unsafe self.init(
            ccrypto_rsa_public(modulus, modulus.count, exponent, exponent.count, &reason.characters), reason)
    }

    /// A key of a curve's point.
    ///
    /// - Throws: ``CryptoError`` where a coordinate is not exactly as long as the curve's field, or the point is not on
    ///   the curve.
    public convenience init(curve: Curve, x: [UInt8], y: [UInt8]) throws(CryptoError) {
        let (kind, count) =
            switch curve {
            case .p256: (CCRYPTO_KIND_P256, 32)
            case .p384: (CCRYPTO_KIND_P384, 48)
            }
        guard x.count == count, y.count == count else {
            throw CryptoError(reason: "public key: a coordinate is not \(count) bytes long")
        }
        var reason = Reason()
        let point = x + y
        try unsafe self.init(
            ccrypto_ec_public(Int32(kind.rawValue), point, point.count, &reason.characters), reason)
    }

    /// An Ed25519 key of its 32 bytes.
    ///
    /// - Throws: ``CryptoError`` where there are not 32.
    public convenience init(ed25519 bytes: [UInt8]) throws(CryptoError) {
        var reason = Reason()
        try unsafe self.init(ccrypto_ed25519_public(bytes, bytes.count, &reason.characters), reason)
    }

    /// Whether `signature` is this key's over `message`.
    ///
    /// False too where the algorithm does not fit the key, where an RSA key has under 2048 or over 8192 bits, where the
    /// signature has not exactly the length that key and algorithm give it, and where r or s of ECDSA is zero.
    public func isValid(signature: [UInt8], of message: [UInt8], algorithm: SignatureAlgorithm) -> Bool {
        unsafe ccrypto_verify(handle.pointer, algorithm.code, signature, signature.count, message, message.count) == 1
    }

    /// Whether `signature` is this key's over the SHA-1 digest of `message`, by RSASSA-PKCS1-v1_5.
    ///
    /// SHA-1 proves nothing against somebody who can choose the message: this judges requests recorded before 2021, and
    /// the `verify` tool alone may call it.
    public func isValidSHA1(signature: [UInt8], of message: [UInt8]) -> Bool {
        let algorithm = Int32(CCRYPTO_RS1.rawValue)
        return unsafe ccrypto_verify(
            handle.pointer, algorithm, signature, signature.count, message, message.count) == 1
    }

    /// Modulus and exponent of an RSA key, big-endian without leading zeros; nil for another kind.
    public var rsaComponents: (modulus: [UInt8], exponent: [UInt8])? {
        guard let modulus = handle.part(CCRYPTO_PART_MODULUS), let exponent = handle.part(CCRYPTO_PART_EXPONENT)
        else { return nil }
        return (modulus, exponent)
    }

    /// The coordinates of a curve's point, each as long as the field; nil for another kind.
    public var ecCoordinates: (x: [UInt8], y: [UInt8])? {
        guard let x = handle.part(CCRYPTO_PART_X), let y = handle.part(CCRYPTO_PART_Y) else { return nil }
        return (x, y)
    }

    /// The 32 bytes of an Ed25519 key; nil for another kind.
    public var ed25519Bytes: [UInt8]? { handle.part(CCRYPTO_PART_RAW) }

    /// The key as PEM (`BEGIN PUBLIC KEY`).
    public var pem: [UInt8] { handle.pem(privateHalf: false) }
}
