import Crypto
import JSON
import OAuth
import Testing

@Suite("Key sets") struct JSONWebKeySetTests {
    /// A P-256 key as JSON with some members changed; nil takes one away.
    private func jwk(_ changes: [String: JSONValue?] = [:], of key: PrivateKey? = nil) throws -> JSONValue {
        var object = JSONWebKey(try (key ?? Keys.p256.get()).publicKey, id: "k").json.object ?? [:]
        for (name, value) in changes { object[name] = value }
        return .object(object)
    }

    private func set(_ keys: JSONValue...) throws -> JSONWebKeySet {
        try JSONWebKeySet(parsing: (["keys": .array(keys)] as JSONValue).encoded())
    }

    private func accepts(_ set: JSONWebKeySet, kid: String? = "k", by key: PrivateKey? = nil) throws -> TokenRejection?
    {
        let header = kid.map { #"{"alg":"ES256","kid":"\#($0)"}"# } ?? #"{"alg":"ES256"}"#
        let text = try compact(header: header, payload: "{}", key: key ?? Keys.p256.get(), .es256)
        do {
            try JSONWebSignature(compact: text).verify(with: set)
            return nil
        } catch { return error }
    }

    @Test(
        "a key for signatures is used",
        arguments: [
            [:], ["use": nil], ["use": nil, "key_ops": ["verify"]], ["key_ops": ["sign", "verify"]], ["alg": nil],
            ["x5t": "abc", "x5c": ["MIIB"], "unknown": ["a": 1]],
        ] as [[String: JSONValue?]])
    func used(changes: [String: JSONValue?]) throws {
        let set = try set(try jwk(changes))
        #expect(set.faults.isEmpty)
        #expect(try accepts(set) == nil)
    }

    @Test(
        "a key for something else is not used",
        arguments: [
            ["use": "enc"], ["use": "SIG"], ["use": 1], ["use": .null], ["key_ops": []], ["key_ops": ["sign"]],
            ["key_ops": ["encrypt", "decrypt"]], ["key_ops": "verify"], ["key_ops": ["verify", "verify"]],
            ["key_ops": ["verify", 1]],
        ] as [[String: JSONValue?]])
    func otherUse(changes: [String: JSONValue?]) throws {
        let set = try set(try jwk(changes))
        #expect(set.keys.isEmpty)
        #expect(set.faults.count == 1)
        #expect(try accepts(set) == .unknownKey)
    }

    @Test(
        "alg, kty and crv that are not ours make the algorithm the reason",
        arguments: [
            ["alg": "ES384"], ["alg": "RS256"], ["alg": "ES521"], ["alg": "ECDH-ES"], ["alg": "es256"], ["alg": 7],
            ["kty": "oct", "k": "AAAA"], ["kty": "ec"], ["kty": "AKP"], ["crv": "P-521"], ["crv": "secp256k1"],
            ["crv": nil],
        ] as [[String: JSONValue?]])
    func otherKind(changes: [String: JSONValue?]) throws {
        let set = try set(try jwk(changes))
        #expect(set.keys.isEmpty)
        #expect(try accepts(set) == .algorithm)
    }

    @Test(
        "a broken key is not used and does not spoil the others",
        arguments: [
            ["x": "AAAA"], ["x": nil], ["y": "?"], ["x": 1], ["kty": nil], ["crv": "P-384"],
            ["x": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"], ["y": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"],
        ] as [[String: JSONValue?]])
    func broken(changes: [String: JSONValue?]) throws {
        let other = try jwk(["kid": "other"], of: Keys.otherP256.get())
        let set = try set(try jwk(changes), other, "text", .null)
        #expect(set.keys.count == 1)
        #expect(set.faults.count == 3)
        #expect(set.faults.first?.hasPrefix("keys[0]: ") == true)
        #expect(try accepts(set) != nil)
        #expect(try accepts(set, kid: "other", by: Keys.otherP256.get()) == nil)
    }

    @Test("RSA keys are of 2048 bits at least", arguments: [512, 1024, 2040])
    func smallRSA(bits: Int) throws {
        let set = try set(JSONWebKey(try PrivateKey.generateRSA(bits: bits).publicKey, id: "k").json)
        #expect(set.keys.isEmpty)
        #expect(set.faults == ["keys[0]: RSA of \(bits) bits; 2048 are needed"])
    }

    @Test("RSA keys are not larger than can be borne, and their exponent is one")
    func oddRSA() throws {
        let good = JSONWebKey(try Keys.rsa.get().publicKey, id: "k").json
        #expect(try set(good).keys.count == 1)
        let huge = Base64URL.encode([UInt8](repeating: 0xC3, count: 1025))
        let leading = Base64URL.encode([0] + (Base64URL.decode(good["n"]?.string ?? "") ?? []))
        for (name, value, count) in [
            ("n", huge, 0), ("e", "AQ", 0), ("e", "AA", 0), ("e", "", 0), ("e", "Ag", 0), ("n", leading, 1),
        ] {
            var object = good.object ?? [:]
            object[name] = .string(value)
            #expect(try set(.object(object)).keys.count == count, "\(name) \(value.prefix(8))")
        }
    }

    @Test("a private key in a published set is known to everybody and not used; given by hand its public half is")
    func privateMembers() throws {
        for (name, value) in [("d", "AAAA"), ("p", "AA"), ("k", "AA"), ("oth", [])] as [(String, JSONValue)] {
            let text = try jwk([name: value]).encoded()
            #expect(try JSONWebKeySet(parsing: text).keys.isEmpty)
            let byHand = try JSONWebKeySet(parsing: text, privateMembers: .ignored)
            #expect(try accepts(byHand) == nil)
            #expect(byHand.json["keys"]?.array?.first?.object?.names.contains(name) == false)
        }
    }

    @Test("an id that two keys of one kind have is ambiguous; the same key twice is one key")
    func duplicates() throws {
        let (one, two) = (try jwk(), try jwk(of: Keys.otherP256.get()))
        #expect(try accepts(set(one, one)) == nil)
        #expect(try accepts(set(one, two)) == .unknownKey)
        #expect(try accepts(set(two, one)) == .unknownKey)
        #expect(try accepts(set(one, two), by: Keys.otherP256.get()) == .unknownKey)
        // RFC 7517 §4.5: keys of different kinds may share an id, as alternatives.
        #expect(try accepts(set(JSONWebKey(try Keys.rsa.get().publicKey, id: "k").json, one)) == nil)
        // A key that is not for signatures does not make the id ambiguous.
        #expect(try accepts(set(try jwk(["use": "enc"], of: Keys.otherP256.get()), one)) == nil)
    }

    @Test("ids are compared as bytes, and a key without an id may be meant by any")
    func ids() throws {
        let composed = try set(try jwk(["kid": "\u{E9}"]))
        #expect(try accepts(composed, kid: "\u{E9}") == nil)
        #expect(try accepts(composed, kid: "e\u{301}") == .unknownKey)
        #expect(try accepts(composed, kid: "") == .unknownKey)
        #expect(try accepts(set(try jwk(["kid": nil])), kid: "any") == nil)
        #expect(try accepts(set(try jwk(["kid": nil], of: Keys.otherP256.get())), kid: "any") == .badSignature)
        #expect(try accepts(set(try jwk()), kid: nil) == nil)
        #expect(try accepts(set(), kid: nil) == .unknownKey)
    }

    @Test(
        "what is no key set is refused",
        arguments: [
            "", "[]", "{}", "null", #"{"keys":{}}"#, #"{"keys":null}"#, #"{"keys":[],"keys":[]}"#, #"{"keys":[]"#,
            #""keys""#,
            #"{"error":"not_found"}"#,
        ])
    func noSet(text: String) {
        #expect(throws: JSONWebKeyError.self) { try JSONWebKeySet(parsing: Array(text.utf8)) }
    }

    @Test("a set has 100 keys at most")
    func tooMany() throws {
        let key = try jwk()
        let most: JSONValue = ["keys": .array(Array(repeating: key, count: 100))]
        let more: JSONValue = ["keys": .array(Array(repeating: key, count: 101))]
        #expect(try JSONWebKeySet(parsing: most.encoded()).keys.count == 1)
        #expect(throws: JSONWebKeyError.self) { try JSONWebKeySet(parsing: more.encoded()) }
    }

    @Test("what is published can be read again, and has public members only", arguments: SignatureAlgorithm.allCases)
    func published(algorithm: SignatureAlgorithm) throws {
        let key = SigningKey(try Keys.key(for: algorithm), algorithm: algorithm)
        let document = JSONWebKeySet([key.publicKey]).json
        let names = Set(document["keys"]?.array?.first?.object?.names ?? [])
        #expect(names.isSubset(of: ["kty", "n", "e", "crv", "x", "y", "use", "alg", "kid"]))
        let again = try JSONWebKeySet(parsing: document.encoded())
        #expect(again.faults.isEmpty)
        #expect(again.keys.map(\.algorithms) == [[algorithm]])
        let text = try compact(
            header: #"{"alg":"\#(algorithm.rawValue)","kid":"\#(key.id)"}"#, payload: "{}", key: key.privateKey,
            algorithm)
        #expect(throws: Never.self) { try JSONWebSignature(compact: text).verify(with: again) }
    }
}
