import Crypto

/// Proof keys for codes (RFC 7636), by `S256` alone.
enum ProofKey {
    /// Whether `text` can be a challenge: SHA-256 in base64url.
    static func isChallenge(_ text: String) -> Bool { Base64URL.decode(text)?.count == 32 && text.utf8.count == 43 }

    /// Whether `text` can be a verifier: 43 to 128 unreserved characters.
    static func isVerifier(_ text: String) -> Bool {
        (43...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 48...57, 65...90, 97...122: true
                default: "-._~".utf8.contains(byte)
                }
            }
    }

    /// Whether `verifier` is what `challenge` was made of; compared in constant time.
    static func matches(_ verifier: String, _ challenge: String) -> Bool {
        guard isVerifier(verifier) else { return false }
        return constantTimeEquals(Array(Base64URL.encode(SHA256.digest(verifier)).utf8), Array(challenge.utf8))
    }
}
