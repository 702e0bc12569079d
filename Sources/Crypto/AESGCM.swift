import CCrypto

/// AES-256-GCM: seals a text so that nobody without the key reads or changes it.
public enum AESGCM {
    /// Nonce (12 bytes, random), ciphertext and tag (16 bytes), one after another.
    ///
    /// - Throws: ``CryptoError`` where the key has not 32 bytes.
    public static func seal(
        _ plain: [UInt8], key: [UInt8], additionalData: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        guard key.count == 32 else { throw CryptoError(reason: "an AES-256 key has 32 bytes") }
        var sealed = [UInt8](repeating: 0, count: plain.count + 28)
        let done = unsafe ccrypto_gcm_seal(
            key, additionalData, additionalData.count, plain, plain.count, &sealed)
        guard done == 1 else { throw CryptoError(reason: "sealing failed") }
        return sealed
    }

    /// What ``seal(_:key:additionalData:)`` was given.
    ///
    /// - Throws: ``CryptoError`` where key or additional data are others, or a bit was changed.
    public static func open(
        _ sealed: [UInt8], key: [UInt8], additionalData: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        guard key.count == 32 else { throw CryptoError(reason: "an AES-256 key has 32 bytes") }
        guard sealed.count >= 28 else { throw CryptoError(reason: "sealed text too short") }
        var plain = [UInt8](repeating: 0, count: sealed.count - 28)
        let done = unsafe ccrypto_gcm_open(
            key, additionalData, additionalData.count, sealed, sealed.count, &plain)
        guard done == 1 else { throw CryptoError(reason: "sealed by another key, or changed") }
        return plain
    }
}
