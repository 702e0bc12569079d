import Crypto
import FoundationEssentials
import JSON
import OAuth
import Testing

/// Published vectors, where they are at hand.
enum Vectors {
    struct Vector: Sendable, CustomTestStringConvertible {
        let id: String
        let key: JSONValue
        let text: String
        let isValid: Bool
        var testDescription: String { id }
    }

    static let folder =
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/fixtures")

    static func json(_ path: String) -> JSONValue? {
        (try? Data(contentsOf: folder.appending(path: path))).flatMap { try? JSONValue(parsing: Array($0)) }
    }

    /// What the collection's own notes call slips of its makers:
    /// 346, 350, 351: the `alg` of the key contradicts the header, or does not exist (RFC 8725 §3.1: the key decides);
    /// 347: the same; 367, 370: well-formed and correctly signed, called invalid;
    /// 372, 373: `?` within base64url, called valid (RFC 7515 §2, RFC 4648 §3.3: such characters are rejected).
    static let signatureSlips: Set<Int64> = [346, 347, 350, 351, 367, 370, 372, 373]
    /// 1: called ambiguous; 7: a key that only a search for the weakness of one manufacturer's chip would find.
    static let keySlips: Set<Int64> = [1, 7]

    static func wycheproof(_ name: String, without slips: Set<Int64>) -> [Vector] {
        (json("wycheproof/\(name)")?["testGroups"]?.array ?? []).flatMap { group in
            (group["tests"]?.array ?? []).compactMap { test in
                guard let id = test["tcId"]?.integer, !slips.contains(id), let text = test["jws"]?.string,
                    let key = group["public"] ?? group["private"]
                else { return nil }
                return Vector(id: "\(id)", key: key, text: text, isValid: test["result"]?.string == "valid")
            }
        }
    }

    static let signatures = wycheproof("json_web_signature_test.json", without: signatureSlips)
    static let keySets = wycheproof("json_web_key_test.json", without: keySlips)

    static let rfc: [Vector] = (json("rfc-vectors/rfc_vectors.json")?["jws"]?.array ?? []).compactMap { item in
        guard let id = item["id"]?.string, let key = item["jwk"], let text = item["jws"]?.string else { return nil }
        return Vector(id: id, key: key, text: text, isValid: item["expected"]?.string == "valid")
    }

    static let cookbook: [Vector] = ["jws/4_1.rsa_v15_signature", "jws/4_3.ecdsa_signature", "curve25519/jws"]
        .compactMap { name in
            let item = json("jose-cookbook/\(name).json")
            guard let key = item?["input"]?["key"], let text = item?["output"]?["compact"]?.string else { return nil }
            return Vector(id: name, key: key, text: text, isValid: true)
        }

    static let isAbsent = [signatures, keySets, rfc, cookbook].contains { $0.isEmpty }
    static let absence: Comment = "the fixtures are not beside this checkout (../shared/fixtures)"
}

@Suite("Published vectors", .disabled(if: Vectors.isAbsent, Vectors.absence)) struct VectorTests {
    /// The verdict by way of the line that `token check --jsonl` reads.
    private func reason(_ vector: Vectors.Vector) -> String? {
        let line: JSONValue = ["id": .string(vector.id), "jwk": vector.key, "jws": .string(vector.text)]
        return SignatureLine(line.encoded()).reason
    }

    private func algorithm(_ text: String) -> String? {
        (try? JSONWebSignature(compact: text))?.header.algorithm
    }

    @Test(
        "a signature that is valid and of an algorithm that we name is accepted, everything else refused",
        arguments: [
            Vectors.signatures, Vectors.keySets, Vectors.rfc, Vectors.cookbook,
        ])
    func judged(vectors: [Vectors.Vector]) throws {
        for vector in vectors {
            let reason = reason(vector)
            guard vector.isValid else {
                #expect(reason?.hasPrefix("token.") == true, "\(vector.id)")
                continue
            }
            let isOurs = algorithm(vector.text).flatMap(SignatureAlgorithm.init(rawValue:)) != nil
            // Design: anything but the seven algorithms is `token.algorithm`, valid or not.
            #expect(reason == (isOurs ? nil : "token.algorithm"), "\(vector.id)")
        }
    }

    @Test("of each algorithm in the vectors some are accepted and some refused")
    func coverage() {
        let accepted = Vectors.signatures.filter { reason($0) == nil }
        #expect(Set(accepted.compactMap { algorithm($0.text) }) == ["RS256", "RS384", "RS512", "PS256", "ES256"])
        #expect(
            accepted.count
                == Vectors.signatures.count {
                    $0.isValid && algorithm($0.text).flatMap(SignatureAlgorithm.init(rawValue:)) != nil
                })
        #expect(Vectors.signatures.count { !$0.isValid } > 100)
    }

    @Test("the disputed vectors are judged by the clause that they are disputed over")
    func disputed() throws {
        let all = Vectors.wycheproof("json_web_signature_test.json", without: [])
        for (id, expected) in [
            // RFC 8725 §3.1: the key says PS256 and the header PS384.
            ("346", "token.algorithm"),
            // RFC 7518 §3.1: ES521 does not exist, and ES512 is none of ours.
            ("351", "token.algorithm"),
            // RFC 7515 §2: `?` is no character of base64url.
            ("372", "token.malformed"),
        ] {
            let vector = try #require(all.first { $0.id == id })
            #expect(reason(vector) == expected)
        }
    }

    @Test(
        "the detached and the JSON forms are not compact and are refused",
        arguments: [
            "jws/4_5.signature_with_detached_content", "jws/4_7.protecting_content_only",
        ])
    func otherForms(name: String) throws {
        let item = try #require(Vectors.json("jose-cookbook/\(name).json"))
        let key = try #require(item["input"]?["key"])
        let forms = try #require(item["output"]?.object)
        for (form, text) in forms {
            let compact = text.string ?? String(decoding: text.encoded(), as: UTF8.self)
            let verdict = reason(Vectors.Vector(id: form, key: key, text: compact, isValid: false))
            #expect(verdict == (form == "compact" ? "token.algorithm" : "token.malformed"))
        }
    }

    @Test("public keys of RFC 7520: RSA is used, P-521 and secrets are not")
    func cookbookKeys() throws {
        for (name, count) in [
            ("3_3.rsa_public_key", 1), ("3_1.ec_public_key", 0), ("3_5.symmetric_key_mac_computation", 0),
        ] {
            let key = try #require(Vectors.json("jose-cookbook/jwk/\(name).json"))
            #expect(try JSONWebKeySet(parsing: key.encoded()).keys.count == count, "\(name)")
        }
    }

    @Test("thumbprints are those of RFC 7638 and RFC 8037")
    func thumbprints() throws {
        let items = try #require(Vectors.json("rfc-vectors/rfc_vectors.json")?["jwk_thumbprints"]?.array)
        #expect(items.count == 2)
        for item in items {
            let jwk = try #require(item["jwk"])
            let key = try #require(try JSONWebKeySet(parsing: jwk.encoded()).keys.first)
            #expect(JSONWebKey.thumbprint(of: key.publicKey) == item["sha256"]?.string)
        }
    }
}

@Suite("Signatures line by line") struct SignatureLineTests {
    @Test(
        "whatever a line holds, it gets a verdict under its id",
        arguments: [
            ("", .null, "line.malformed"), ("x", .null, "line.malformed"), ("[]", .null, "line.malformed"),
            ("{}", .null, "line.malformed"),
            (#"{"id":7}"#, 7, "line.malformed"), (#"{"id":"a","jwk":{},"jws":"x"}"#, "a", "line.key"),
            (#"{"id":"a","jwk":{"keys":7},"jws":"x"}"#, "a", "line.key"),
            (#"{"id":"a","jwk":"k","jws":"x"}"#, "a", "line.key"),
            (#"{"id":"a","jwk":{"keys":[]},"jws":7}"#, "a", "line.malformed"),
            (#"{"id":"a","jwk":{"keys":[]},"jws":"x"}"#, "a", "token.malformed"),
            (#"{"id":"a","id":"b","jwk":{"keys":[]},"jws":"x"}"#, .null, "line.malformed"),
            (#"{"id":{"n":1},"jwk":{"keys":[]},"jws":"eyJhbGciOiJFUzI1NiJ9.."}"#, ["n": 1], "token.unknownKey"),
        ] as [(String, JSONValue, String)])
    func verdicts(line: String, id: JSONValue, reason: String) {
        let verdict = SignatureLine(Array(line.utf8))
        #expect(verdict.json == ["id": id, "accepted": false, "reason": .string(reason)])
        #expect(verdict.isReadable == reason.hasPrefix("token."))
    }

    @Test("a good signature is accepted without a reason, whatever its claims and typ")
    func accepted() throws {
        let key = try Keys.p256.get()
        let text = try compact(header: #"{"alg":"ES256","typ":"x"}"#, payload: "no claims", key: key, .es256)
        let line: JSONValue = ["id": "a", "jwk": JSONWebKey(key.publicKey, id: nil).json, "jws": .string(text)]
        #expect(SignatureLine(line.encoded()).json == ["id": "a", "accepted": true, "reason": .null])
        #expect(SignatureLine(line.encoded()).isReadable)
    }
}
