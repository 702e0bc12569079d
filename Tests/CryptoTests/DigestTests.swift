import Crypto
import Testing

@Suite("Digests, codes, random bytes, scrypt and sealing") struct DigestTests {
    @Test(
        "SHA-256 gives the digests of FIPS 180-4",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func sha256(text: String, digest: String) {
        #expect(Hex.encode(SHA256.digest(text)) == digest)
        #expect(SHA256.digest(Array(text.utf8)) == SHA256.digest(text))
    }

    @Test("a digest is the same after another, much longer one on the same thread")
    func contextsAreReused() {
        let first = SHA256.digest("abc")
        _ = SHA256.digest([UInt8](repeating: 0x61, count: 1_000_000))
        #expect(SHA256.digest("abc") == first)
    }

    @Test(
        "HMAC-SHA256 gives the codes of RFC 4231",
        arguments: [
            (
                [UInt8](repeating: 0x0B, count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ])
    func hmac(key: [UInt8], text: String, code: String) {
        #expect(Hex.encode(HMACSHA256.code(Array(text.utf8), key: key)) == code)
    }

    @Test("an empty key is a key of its own, not the last one used")
    func emptyKey() {
        let empty = HMACSHA256.code([], key: [])
        #expect(Hex.encode(empty) == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
        _ = HMACSHA256.code([1], key: [2])
        #expect(HMACSHA256.code([], key: []) == empty)
    }

    @Test("texts are equal byte for byte and length for length")
    func equality() {
        #expect(constantTimeEquals([], []))
        #expect(constantTimeEquals([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEquals([1, 2, 3], [1, 2, 4]))
        #expect(!constantTimeEquals([1, 2, 3], [1, 2]))
        #expect(!constantTimeEquals([], [0]))
    }

    @Test("random texts have their form and do not repeat")
    func random() {
        #expect(SecureRandom.bytes(0).isEmpty)
        #expect(SecureRandom.bytes(33).count == 33)
        #expect(Set((0..<100).map { _ in SecureRandom.token() }).count == 100)
        #expect(Base64URL.decode(SecureRandom.token(bytes: 16))?.count == 16)
        let parts = SecureRandom.uuid().split(separator: "-")
        #expect(parts.map(\.count) == [8, 4, 4, 4, 12])
        #expect(parts[2].first == "4")
        #expect("89ab".contains(parts[3].first ?? " "))
        #expect(parts.allSatisfy { $0.allSatisfy { "0123456789abcdef".contains($0) } })
    }

    @Test("scrypt gives the key of RFC 7914, and refuses what is out of range")
    func scrypt() throws {
        let key = try Scrypt.key(
            password: Secret("password"), salt: Array("NaCl".utf8), costExponent: 10, blockSize: 8, parallelism: 16,
            count: 64)
        #expect(
            Hex.encode(key) == "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640")
        for (exponent, size, parallelism) in [(0, 8, 1), (21, 8, 1), (10, 0, 1), (10, 8, 0), (20, 8, 1)] {
            #expect(throws: CryptoError.self) {
                try Scrypt.key(
                    password: Secret("password"), salt: [1], costExponent: exponent, blockSize: size,
                    parallelism: parallelism)
            }
        }
    }

    @Test("what was sealed is opened by the same key and data")
    func sealing() throws {
        let key = SecureRandom.bytes(32)
        for count in [0, 1, 16, 1000] {
            let plain = SecureRandom.bytes(count)
            let sealed = try AESGCM.seal(plain, key: key, additionalData: [1, 2])
            #expect(sealed.count == count + 28)
            #expect(try AESGCM.open(sealed, key: key, additionalData: [1, 2]) == plain)
            #expect(try AESGCM.seal(plain, key: key, additionalData: [1, 2]) != sealed, "the nonce is new each time")
        }
    }

    @Test("a ciphertext of the GCM specification opens (test case 14, AES-256)")
    func sealingVector() throws {
        let sealed = try #require(
            Hex.decode(
                "000000000000000000000000" + "cea7403d4d606b6e074ec5d3baf39d18" + "d0d1c8a799996bf0265b98b5d48ab919"))
        let plain = try AESGCM.open(sealed, key: [UInt8](repeating: 0, count: 32), additionalData: [])
        #expect(plain == [UInt8](repeating: 0, count: 16))
    }

    @Test("another key, other data, a changed byte or a missing one does not open")
    func sealingRefused() throws {
        let key = SecureRandom.bytes(32)
        let sealed = try AESGCM.seal([1, 2, 3], key: key, additionalData: [7])
        var attempts = [(Array(sealed.dropLast()), key, [UInt8(7)]), (sealed, SecureRandom.bytes(32), [7])]
        attempts += [(sealed, key, [8]), (sealed, key, []), ([], key, [7]), (sealed, [1], [7])]
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            attempts.append((changed, key, [7]))
        }
        for (sealed, key, data) in attempts {
            #expect(throws: CryptoError.self) { try AESGCM.open(sealed, key: key, additionalData: data) }
        }
    }

    @Test("a secret shows itself nowhere")
    func secret() throws {
        let secret = Secret("hunter2")
        var dumped = ""
        dump(secret, to: &dumped)
        dump([secret], to: &dumped)
        let key = try PrivateKey.generate(.p256)
        dump(key, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), String(describing: [secret]), dumped, "\(key)"] {
            #expect(!text.contains("hunter2"))
            #expect(!text.contains("PRIVATE"))
            #expect(text.contains("<redacted>"))
        }
        #expect(secret.exposed == "hunter2")
        #expect(secret == Secret("hunter2"))
    }
}
