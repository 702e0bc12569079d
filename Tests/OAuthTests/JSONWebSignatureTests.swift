import Crypto
import JSON
import OAuth
import Testing

@Suite("Signatures in compact form") struct JSONWebSignatureTests {
    private func rejection(_ text: String, _ set: JSONWebKeySet) -> TokenRejection? {
        do {
            try JSONWebSignature(compact: text).verify(with: set)
            return nil
        } catch { return error }
    }

    private func header(_ algorithm: SignatureAlgorithm, kid: String = "k") -> String {
        #"{"alg":"\#(algorithm.rawValue)","kid":"\#(kid)"}"#
    }

    @Test("J5: each algorithm that we name is accepted with its key", arguments: SignatureAlgorithm.allCases)
    func accepted(algorithm: SignatureAlgorithm) throws {
        let key = try Keys.key(for: algorithm)
        let text = try compact(header: header(algorithm), payload: "{}", key: key, algorithm)
        #expect(rejection(text, JSONWebKeySet([JSONWebKey(key.publicKey, id: "k", algorithm: algorithm)])) == nil)
        // A key without alg takes whatever fits its kind.
        #expect(rejection(text, JSONWebKeySet([JSONWebKey(key.publicKey, id: "k")])) == nil)
        // A token without kid is judged by every key that fits.
        let nameless = try compact(header: #"{"alg":"\#(algorithm.rawValue)"}"#, payload: "", key: key, algorithm)
        let others = try SignatureAlgorithm.allCases.map { other in
            JSONWebKey(try Keys.key(for: other).publicKey, id: "k-\(other)", algorithm: other)
        }
        #expect(rejection(nameless, JSONWebKeySet(others)) == nil)
    }

    @Test("J6: another payload, another key, another algorithm are refused", arguments: SignatureAlgorithm.allCases)
    func refused(algorithm: SignatureAlgorithm) throws {
        let key = try Keys.key(for: algorithm)
        let set = JSONWebKeySet([JSONWebKey(key.publicKey, id: "k", algorithm: algorithm)])
        let text = try compact(header: header(algorithm), payload: "{}", key: key, algorithm)
        let parts = text.split(separator: ".")
        #expect(rejection("\(parts[0]).e30g.\(parts[2])", set) == .badSignature)
        #expect(rejection("\(parts[0]).\(parts[1]).", set) == .badSignature)
        #expect(rejection("\(parts[0]).\(parts[1]).\(parts[2].dropFirst(4))", set) == .badSignature)
        #expect(rejection("\(parts[0]).\(parts[1]).AAAA\(parts[2])", set) == .badSignature)
        let otherKey = try algorithm == .es256 ? Keys.otherP256.get() : PrivateKey.generate(.p256)
        let foreign = JSONWebKeySet([JSONWebKey(otherKey.publicKey, id: "k")])
        #expect(rejection(text, foreign) == (algorithm == .es256 ? .badSignature : .algorithm))
        for other in SignatureAlgorithm.allCases where other != algorithm {
            let swapped = Base64URL.encode(Array(header(other).utf8))
            #expect(rejection("\(swapped).\(parts[1]).\(parts[2])", set) == .algorithm)
        }
    }

    @Test("a key without alg still does not take a signature of another algorithm")
    func otherAlgorithmOfTheKind() throws {
        let key = try Keys.rsa.get()
        let set = JSONWebKeySet([JSONWebKey(key.publicKey, id: "k")])
        for (named, used) in [(SignatureAlgorithm.rs256, SignatureAlgorithm.ps256), (.ps256, .rs256), (.rs512, .rs256)]
        {
            #expect(rejection(try compact(header: header(named), payload: "{}", key: key, used), set) == .badSignature)
        }
    }

    @Test(
        "the public key is no secret for HMAC, and none is no algorithm",
        arguments: [
            "HS256", "HS384", "HS512", "none", "None", "NONE", "nOnE", "", "RS1", "RS256 ", "rs256", "ES512", "ES256K",
            "PS384", "Ed25519", "RSA-OAEP", "dir",
        ])
    func otherNames(name: String) throws {
        let key = try Keys.rsa.get()
        let set = JSONWebKeySet([JSONWebKey(key.publicKey, id: "k")])
        let header = Base64URL.encode(Array(#"{"alg":"\#(name)","kid":"k"}"#.utf8))
        for secret in [key.publicKey.pem, []] {
            let code = HMACSHA256.code(Array("\(header).e30".utf8), key: secret)
            #expect(rejection("\(header).e30.\(Base64URL.encode(code))", set) == .algorithm)
        }
        #expect(rejection("\(header).e30.", set) == .algorithm)
    }

    @Test("J13: what is not three parts of strict base64url is refused as malformed")
    func form() throws {
        let key = try Keys.p256.get()
        let set = JSONWebKeySet([JSONWebKey(key.publicKey, id: "k")])
        let good = try compact(header: header(.es256), payload: "{}", key: key, .es256)
        #expect(rejection(good, set) == nil)
        let parts = good.split(separator: ".").map(String.init)
        let (head, body, end) = (parts[0], parts[1], parts[2])
        for text in [
            "", ".", "..", "...", head, "\(head).\(body)", "\(good).", "\(good).x", ".\(good)", "\(good)=", " \(good)",
            "\(good) ", "\(good)\n", ".\(body).\(end)", "\(head)=.\(body).\(end)", "\(head).\(body)=.\(end)",
            "\(head). \(body).\(end)", "\(head).\(body).\(end)\u{301}", "\(head)+.\(body).\(end)",
            "\(head).e31.\(end)", "\(head).\(body).\(end.dropLast())", "e30.\(body)", "{\"payload\":\"\(body)\"}",
            String(repeating: "a", count: 40_000),
        ] {
            guard case .malformed = rejection(text, set) else {
                Issue.record("\(text.prefix(60)) is \(String(describing: rejection(text, set)))")
                continue
            }
        }
        #expect(
            throws: TokenRejection.malformed("not a JWT (length 32)"),
            performing: { try JSONWebSignature(compact: "0123456789abcdef0123456789abcdef") })
    }

    @Test(
        "J7: a header that could mean two things is refused, signed or not",
        arguments: [
            #"{"alg":"ES256","alg":"none","kid":"k"}"#, #"{"alg":"ES256","kid":"k","kid":"x"}"#,
            #"{"alg":"ES256","kid":"k","crit":["exp"],"exp":1}"#, #"{"alg":"ES256","kid":"k","crit":[]}"#,
            #"{"alg":"ES256","kid":"k","crit":["b64"],"b64":true}"#, #"{"alg":"ES256","kid":"k","crit":null}"#,
            #"{"alg":"ES256","kid":"k","b64":false}"#, #"{"alg":"ES256","kid":"k","b64":"false"}"#,
            #"{"alg":"ES256","kid":"k","typ":7}"#, #"{"alg":"ES256","kid":"k"}x"#, #"{"alg":"ES256","kid":"k",}"#,
            #"["ES256"]"#, #""ES256""#, "null", "{", "",
        ])
    func header(text: String) throws {
        let key = try Keys.p256.get()
        let set = JSONWebKeySet([JSONWebKey(key.publicKey, id: "k")])
        guard case .malformed = rejection(try compact(header: text, payload: "{}", key: key, .es256), set) else {
            Issue.record("\(text) was taken")
            return
        }
    }

    @Test(
        "J8: unknown header members are passed over, and none of them brings a key",
        arguments: [
            #""cty":"JWT","zip":"DEF","x":[1]"#, #""b64":true"#, #""jku":"https://evil.example/jwks""#,
            #""x5u":"https://evil.example/cert""#, #""x5c":["MIIB"]"#,
        ])
    func otherMembers(members: String) throws {
        let (key, attacker) = (try Keys.p256.get(), try Keys.otherP256.get())
        let set = JSONWebKeySet([JSONWebKey(key.publicKey, id: "k")])
        let header = #"{"alg":"ES256","kid":"k",\#(members)}"#
        #expect(rejection(try compact(header: header, payload: "{}", key: key, .es256), set) == nil)
        #expect(rejection(try compact(header: header, payload: "{}", key: attacker, .es256), set) == .badSignature)
        let jwk = String(decoding: JSONWebKey(attacker.publicKey, id: "k").json.encoded(), as: UTF8.self)
        let own = #"{"alg":"ES256","kid":"k","jwk":\#(jwk)}"#
        #expect(rejection(try compact(header: own, payload: "{}", key: attacker, .es256), set) == .badSignature)
    }

    @Test("J12: an ECDSA signature is exactly as long as the curve asks, and not of zeros")
    func signatureLength() throws {
        let key = try Keys.p256.get()
        let set = JSONWebKeySet([JSONWebKey(key.publicKey, id: "k")])
        let input = Base64URL.encode(Array(header(.es256).utf8)) + ".e30"
        let signature = try key.signature(of: Array(input.utf8), algorithm: .es256)
        #expect(rejection("\(input).\(Base64URL.encode(signature))", set) == nil)
        let zeros = [UInt8](repeating: 0, count: 64)
        let (r, s) = (Array(signature.prefix(32)), Array(signature.suffix(32)))
        let none = [UInt8](repeating: 0, count: 32)
        let others: [[UInt8]] = [
            zeros, Array(signature.prefix(63)), signature + [0], r + none, none + s, [0] + r + [0] + s,
        ]
        for other in others {
            #expect(rejection("\(input).\(Base64URL.encode(other))", set) == .badSignature)
        }
    }

    @Test("a token with any change is never accepted", arguments: [SignatureAlgorithm.es256, .eddsa, .rs256])
    func mutation(algorithm: SignatureAlgorithm) throws {
        let key = try Keys.key(for: algorithm)
        let set = JSONWebKeySet([JSONWebKey(key.publicKey, id: "k", algorithm: algorithm)])
        let payload = #"{"iss":"https://id.example.com","sub":"u1","exp":1736938800}"#
        let good = try compact(header: header(algorithm), payload: payload, key: key, algorithm)
        #expect(rejection(good, set) == nil)
        var random = SeededGenerator(state: 7)
        let alphabet = Array("ABCXYZabcxyz0189-_=.+/ \u{0}{\"".utf8)
        for _ in 0..<3000 {
            var bytes = Array(good.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                let byte = alphabet.randomElement(using: &random) ?? 65
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes.remove(at: place)
                case 1: bytes.insert(byte, at: place)
                case 2: bytes[place] = byte
                default: bytes.swapAt(place, Int.random(in: 0..<bytes.count, using: &random))
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if text != good { #expect(rejection(text, set) != nil, "\(text)") }
        }
    }
}
