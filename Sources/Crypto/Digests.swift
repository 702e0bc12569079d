import CCrypto

/// SHA-256.
public enum SHA256 {
    /// The 32 bytes of the digest.
    public static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        unsafe ccrypto_sha256(bytes, bytes.count, &digest)
        return digest
    }

    /// The 32 bytes of the digest of the text's UTF-8.
    public static func digest(_ text: String) -> [UInt8] { digest(Array(text.utf8)) }
}

/// HMAC with SHA-256 (RFC 2104).
public enum HMACSHA256 {
    /// The 32 bytes of the code.
    public static func code(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        unsafe ccrypto_hmac_sha256(key, key.count, message, message.count, &code)
        return code
    }
}

/// Whether two byte strings are equal, in a time that depends on their lengths alone.
public func constantTimeEquals(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe ccrypto_equal(left, right, left.count) == 1
}

/// The password hash scrypt (RFC 7914).
public enum Scrypt {
    /// A key made of `password`.
    ///
    /// Slow by intent: some 100 ms at `costExponent` 16. It must never run on a loop's thread.
    ///
    /// - Parameters:
    ///   - password: the password.
    ///   - salt: the salt, kept beside the hash.
    ///   - costExponent: the binary logarithm of the cost N, 1 to 20.
    ///   - blockSize: r.
    ///   - parallelism: p.
    ///   - count: the length of the key in bytes.
    /// - Returns: the key.
    /// - Throws: ``CryptoError`` where the parameters are out of range or need more than 256 MiB.
    public static func key(
        password: Secret, salt: [UInt8], costExponent: Int, blockSize: Int, parallelism: Int, count: Int = 32
    ) throws(CryptoError) -> [UInt8] {
        guard (1...20).contains(costExponent), (1...64).contains(blockSize), (1...64).contains(parallelism),
            (16...64).contains(count)
        else { throw CryptoError(reason: "scrypt parameters out of range") }
        let text = Array(password.exposed.utf8)
        var key = [UInt8](repeating: 0, count: count)
        let done = unsafe ccrypto_scrypt(
            text, text.count, salt, salt.count, 1 << UInt64(costExponent), UInt64(blockSize), UInt64(parallelism),
            256 << 20, &key, count)
        guard done == 1 else { throw CryptoError(reason: "scrypt parameters out of range") }
        return key
    }
}
