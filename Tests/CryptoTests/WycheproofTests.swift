import Crypto
import JSON
import TestSupport
import Testing

/// The vectors of github.com/C2SP/wycheproof that need no JOSE.
@Suite("Wycheproof", .needsFixture("wycheproof"))
struct WycheproofTests {
    @Test("RSA PKCS #1 v1.5 with 2048 bits and SHA-256")
    func rsa() throws {
        let judged = try Self.judge("rsa_signature_2048_sha256_test.json", .rs256) { group in
            guard let pem = group["publicKeyPem"]?.string else { return nil }
            return try? PublicKey(pem: Array(pem.utf8))
        }
        #expect(judged > 100)
    }

    @Test("ECDSA P-256 with SHA-256, r and s side by side")
    func ecdsa() throws {
        let judged = try Self.judge("ecdsa_secp256r1_sha256_p1363_test.json", .es256) { group in
            // The marker of an uncompressed point, then the coordinates.
            guard let point = Hex.decode(group["publicKey"]?["uncompressed"]?.string ?? "?"), point.count == 65
            else { return nil }
            return try? PublicKey(curve: .p256, x: Array(point[1..<33]), y: Array(point[33...]))
        }
        #expect(judged > 100)
    }

    @Test("Ed25519")
    func ed25519() throws {
        let judged = try Self.judge("ed25519_test.json", .eddsa) { group in
            guard let raw = Hex.decode(group["publicKey"]?["pk"]?.string ?? "?") else { return nil }
            return try? PublicKey(ed25519: raw)
        }
        #expect(judged > 60)
    }

    /// How many vectors were judged; an "acceptable" one may go either way.
    static func judge(
        _ file: String, _ algorithm: SignatureAlgorithm, key: (JSONValue) -> PublicKey?
    ) throws -> Int {
        var judged = 0
        for group in try json("wycheproof/" + file)["testGroups"]?.array ?? [] {
            let key = key(group)
            for vector in group["tests"]?.array ?? [] {
                let result = try #require(vector["result"]?.string)
                let message = try #require(Hex.decode(vector["msg"]?.string ?? "?"))
                let signature = try #require(Hex.decode(vector["sig"]?.string ?? "?"))
                let valid = key?.isValid(signature: signature, of: message, algorithm: algorithm) ?? false
                if result != "acceptable" {
                    let comment = "\(file) \(vector["tcId"]?.integer ?? 0): \(vector["comment"]?.string ?? "")"
                    #expect(valid == (result == "valid"), Comment(rawValue: comment))
                }
                judged += 1
            }
        }
        return judged
    }
}

@Suite("Vectors of RFCs", .needsFixture("rfc-vectors"))
struct RFCVectorTests {
    @Test("the signatures printed in RFC 7515 and RFC 8037 hold, and no neighbour of theirs does")
    func signatures() throws {
        var judged = 0
        for vector in try json("rfc-vectors/rfc_vectors.json")["jws"]?.array ?? [] {
            guard let jws = vector["jws"]?.string, let jwk = vector["jwk"], let key = Self.key(jwk),
                let algorithm = SignatureAlgorithm(rawValue: vector["alg"]?.string ?? "")
            else { continue }
            let parts = jws.split(separator: ".", omittingEmptySubsequences: false)
            try #require(parts.count == 3)
            let valid =
                Base64URL.decode(parts[2]).map {
                    key.isValid(signature: $0, of: Array("\(parts[0]).\(parts[1])".utf8), algorithm: algorithm)
                } ?? false
            #expect(valid == (vector["expected"]?.string == "valid"), Comment(rawValue: vector["id"]?.string ?? ""))
            judged += 1
        }
        #expect(judged >= 2)
    }

    @Test("the code challenges of RFC 7636 are the digests of their verifiers")
    func challenges() throws {
        var judged = 0
        for vector in try json("rfc-vectors/rfc_vectors.json")["pkce"]?.array ?? [] {
            // Those that must not match fail by their form as well, which is not judged here.
            guard vector["method"]?.string == "S256", vector["match"]?.bool == true,
                let verifier = vector["verifier"]?.string
            else { continue }
            #expect(Base64URL.encode(SHA256.digest(verifier)) == vector["challenge"]?.string)
            judged += 1
        }
        #expect(judged >= 2)
    }

    static func key(_ jwk: JSONValue) -> PublicKey? {
        let part = { (name: String) in Base64URL.decode(jwk[name]?.string ?? "?") }
        switch (jwk["kty"]?.string, jwk["crv"]?.string) {
        case ("EC", "P-256"):
            guard let x = part("x"), let y = part("y") else { return nil }
            return try? PublicKey(curve: .p256, x: x, y: y)
        case ("OKP", "Ed25519"): return part("x").flatMap { try? PublicKey(ed25519: $0) }
        default: return nil
        }
    }
}
