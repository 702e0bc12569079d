import CCrypto

/// Random bytes that nobody can guess.
public enum SecureRandom {
    /// That many random bytes.
    public static func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        unsafe ccrypto_random(&bytes, count)
        return bytes
    }

    /// A random UUID (RFC 9562 version 4), lower case.
    public static func uuid() -> String {
        var bytes = bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, digit) in Hex.encode(bytes).utf8.enumerated() {
            if index == 8 || index == 12 || index == 16 || index == 20 { text.append(UInt8(ascii: "-")) }
            text.append(digit)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// A random text of `bytes` bytes in base64url, for tokens and codes.
    public static func token(bytes count: Int = 32) -> String { Base64URL.encode(bytes(count)) }
}
