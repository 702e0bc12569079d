import CCrypto

/// A signature algorithm by its JOSE name (RFC 7518 §3.1, RFC 8037 §3.1).
///
/// Signatures of the ES family are r and s side by side, of PS256 salted by as many bytes as the digest has.
public enum SignatureAlgorithm: String, Sendable, CaseIterable {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    case rs384 = "RS384"
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    case rs512 = "RS512"
    /// RSASSA-PSS with SHA-256.
    case ps256 = "PS256"
    /// ECDSA with P-256 and SHA-256.
    case es256 = "ES256"
    /// ECDSA with P-384 and SHA-384.
    case es384 = "ES384"
    /// Ed25519.
    case eddsa = "EdDSA"

    var code: Int32 {
        switch self {
        case .rs256: Int32(CCRYPTO_RS256.rawValue)
        case .rs384: Int32(CCRYPTO_RS384.rawValue)
        case .rs512: Int32(CCRYPTO_RS512.rawValue)
        case .ps256: Int32(CCRYPTO_PS256.rawValue)
        case .es256: Int32(CCRYPTO_ES256.rawValue)
        case .es384: Int32(CCRYPTO_ES384.rawValue)
        case .eddsa: Int32(CCRYPTO_EDDSA.rawValue)
        }
    }
}
