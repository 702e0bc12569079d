import CCrypto

/// One reference to a key of OpenSSL's, given back with this object.
///
/// Unchecked because OpenSSL's keys are immutable once made and count their references atomically.
@safe final class KeyHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over the reference.
    init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe ccrypto_key_free(pointer) }

    var kind: PublicKey.Kind {
        var bits: Int32 = 0
        let kind = unsafe ccrypto_key_kind(pointer, &bits)
        switch UInt32(bitPattern: kind) {
        case CCRYPTO_KIND_RSA.rawValue: return .rsa(bits: Int(bits))
        case CCRYPTO_KIND_P256.rawValue: return .p256
        case CCRYPTO_KIND_P384.rawValue: return .p384
        case CCRYPTO_KIND_ED25519.rawValue: return .ed25519
        default: return .other
        }
    }

    func part(_ part: ccrypto_part) -> [UInt8]? {
        let bytes = filled(capacity: 2048) { unsafe ccrypto_key_part(pointer, Int32(part.rawValue), &$0, $1) }
        return bytes.isEmpty ? nil : bytes
    }

    func pem(privateHalf: Bool) -> [UInt8] {
        filled(capacity: 16_384) { unsafe ccrypto_key_pem(pointer, privateHalf ? 1 : 0, &$0, $1) }
    }
}

/// What C writes into a buffer of that capacity; `write` says how many bytes it wrote.
func filled(capacity: Int, _ write: (inout [UInt8], Int) -> Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: capacity)
    let count = write(&bytes, capacity)
    return Array(bytes.prefix(count))
}
