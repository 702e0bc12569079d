import Crypto
import Testing

@Suite("Keys and signatures") struct KeyTests {
    static let fitting: [(PrivateKey.Kind, [SignatureAlgorithm])] = [
        (.rsa2048, [.rs256, .rs384, .rs512, .ps256]), (.p256, [.es256]), (.p384, [.es384]), (.ed25519, [.eddsa]),
    ]
    static let message = Array("a message".utf8)

    @Test("a key signs by the algorithms that fit it, and by no other", arguments: fitting)
    func algorithms(kind: PrivateKey.Kind, fitting: [SignatureAlgorithm]) throws {
        let key = try PrivateKey.generate(kind)
        for algorithm in SignatureAlgorithm.allCases {
            guard fitting.contains(algorithm) else {
                #expect(throws: CryptoError.self) { try key.signature(of: Self.message, algorithm: algorithm) }
                continue
            }
            let signature = try key.signature(of: Self.message, algorithm: algorithm)
            for candidate in SignatureAlgorithm.allCases {
                let valid = key.publicKey.isValid(signature: signature, of: Self.message, algorithm: candidate)
                #expect(valid == (candidate == algorithm))
            }
        }
    }

    @Test("a changed message, signature or key is refused", arguments: fitting)
    func changed(kind: PrivateKey.Kind, fitting: [SignatureAlgorithm]) throws {
        let key = try PrivateKey.generate(kind)
        let other = try PrivateKey.generate(kind)
        for algorithm in fitting {
            let signature = try key.signature(of: Self.message, algorithm: algorithm)
            #expect(!key.publicKey.isValid(signature: signature, of: Self.message + [0], algorithm: algorithm))
            #expect(!key.publicKey.isValid(signature: signature, of: [], algorithm: algorithm))
            #expect(!other.publicKey.isValid(signature: signature, of: Self.message, algorithm: algorithm))
            for index in [0, signature.count / 2, signature.count - 1] {
                var changed = signature
                changed[index] ^= 0x10
                #expect(!key.publicKey.isValid(signature: changed, of: Self.message, algorithm: algorithm))
            }
            for wrong in [[], Array(signature.dropLast()), signature + [0], [0] + signature] {
                #expect(!key.publicKey.isValid(signature: wrong, of: Self.message, algorithm: algorithm))
            }
        }
    }

    @Test("an ECDSA signature whose r or s is zero, or no smaller than the order, is refused")
    func zeroes() throws {
        let key = try PrivateKey.generate(.p256)
        let signature = try key.signature(of: Self.message, algorithm: .es256)
        let zero = [UInt8](repeating: 0, count: 32)
        let ones = [UInt8](repeating: 0xFF, count: 32)
        for (r, s) in [
            (zero, zero), (zero, Array(signature.suffix(32))), (Array(signature.prefix(32)), zero), (ones, ones),
            (Array(signature.prefix(32)), ones),
        ] {
            #expect(!key.publicKey.isValid(signature: r + s, of: Self.message, algorithm: .es256))
        }
    }

    @Test("signatures of RSA keys under 2048 bits are refused, and none are made")
    func smallKeys() throws {
        let key = try PrivateKey.generateRSA(bits: 1024)
        #expect(key.publicKey.kind == .rsa(bits: 1024))
        #expect(throws: CryptoError.self) { try key.signature(of: Self.message, algorithm: .rs256) }
        // Made by another program with this key over "a message": right, yet of a key too short.
        let small = try PublicKey(pem: Array(smallKey.utf8))
        let signature = try #require(Hex.decode(smallSignature))
        #expect(!small.isValid(signature: signature, of: Self.message, algorithm: .rs256))
    }

    @Test("a key read back from its PEM is the same key", arguments: PrivateKey.Kind.allCases)
    func pem(kind: PrivateKey.Kind) throws {
        let key = try PrivateKey.generate(kind)
        let again = try PrivateKey(pem: key.pem)
        let half = try PublicKey(pem: key.publicKey.pem)
        let algorithm = try #require(Self.fitting.first { $0.0 == kind }?.1.first)
        let signature = try again.signature(of: Self.message, algorithm: algorithm)
        #expect(key.publicKey.isValid(signature: signature, of: Self.message, algorithm: algorithm))
        #expect(half.isValid(signature: signature, of: Self.message, algorithm: algorithm))
        #expect(half.pem == key.publicKey.pem)
    }

    @Test("a key made of its numbers is the same key, and has none of another kind's")
    func numbers() throws {
        let rsa = try PrivateKey.generate(.rsa2048).publicKey
        let (modulus, exponent) = try #require(rsa.rsaComponents)
        #expect(modulus.count == 256)
        #expect(exponent == [1, 0, 1])
        #expect(try PublicKey(rsaModulus: modulus, exponent: exponent).pem == rsa.pem)
        #expect(try PublicKey(rsaModulus: [0] + modulus, exponent: exponent).pem == rsa.pem)
        #expect(rsa.ecCoordinates == nil)
        #expect(rsa.ed25519Bytes == nil)
        for (kind, curve, count) in [(PrivateKey.Kind.p256, PublicKey.Curve.p256, 32), (.p384, .p384, 48)] {
            let key = try PrivateKey.generate(kind).publicKey
            let (x, y) = try #require(key.ecCoordinates)
            #expect(x.count == count && y.count == count)
            #expect(try PublicKey(curve: curve, x: x, y: y).pem == key.pem)
            #expect(key.rsaComponents == nil)
        }
        let edwards = try PrivateKey.generate(.ed25519).publicKey
        let bytes = try #require(edwards.ed25519Bytes)
        #expect(try PublicKey(ed25519: bytes).pem == edwards.pem)
        #expect(edwards.ecCoordinates == nil)
    }

    @Test("numbers that make no key are refused")
    func impossible() throws {
        let modulus = try #require(PrivateKey.generate(.rsa2048).publicKey.rsaComponents).modulus
        var even = modulus
        even[255] &= 0xFE
        for (n, e) in [
            (modulus, []), ([], [1, 0, 1]), (modulus, [1]), (modulus, [2]), (even, [1, 0, 1]),
            (modulus, [UInt8](repeating: 1, count: 9)), ([UInt8](repeating: 1, count: 2049), [3]),
        ] as [([UInt8], [UInt8])] {
            #expect(throws: CryptoError.self) { try PublicKey(rsaModulus: n, exponent: e) }
        }
        let (x, y) = try #require(PrivateKey.generate(.p256).publicKey.ecCoordinates)
        var off = y
        off[31] ^= 1
        let zero = [UInt8](repeating: 0, count: 32)
        for (x, y) in [(x, off), (x, Array(y.dropLast())), ([0] + x, y), (zero, zero), ([], [])] {
            #expect(throws: CryptoError.self) { try PublicKey(curve: .p256, x: x, y: y) }
        }
        #expect(throws: CryptoError.self) { try PublicKey(curve: .p384, x: x, y: y) }
        #expect(throws: CryptoError.self) { try PublicKey(ed25519: [UInt8](repeating: 1, count: 31)) }
        #expect(throws: CryptoError.self) { try PublicKey(ed25519: [UInt8](repeating: 1, count: 33)) }
    }

    @Test("a text without a key is refused, and the error does not quote it", arguments: ["", "hunter2", "-----BEGIN"])
    func noKey(text: String) {
        let publicError = #expect(throws: CryptoError.self) { try PublicKey(pem: Array(text.utf8)) }
        let privateError = #expect(throws: CryptoError.self) { try PrivateKey(pem: Array(text.utf8)) }
        for error in [publicError, privateError] { #expect(error?.reason.contains("hunter2") == false) }
    }

    @Test("twenty keys take turns on one thread, more than it keeps contexts for, and none stands in for another")
    func manyKeys() throws {
        let keys = try (0..<20).map { _ in try PrivateKey.generate(.p256) }
        let signatures = try keys.map { try $0.signature(of: Self.message, algorithm: .es256) }
        for _ in 0..<3 {
            for (index, key) in keys.enumerated() {
                for (other, signature) in signatures.enumerated() {
                    let valid = key.publicKey.isValid(signature: signature, of: Self.message, algorithm: .es256)
                    #expect(valid == (index == other))
                }
            }
        }
    }

    @Test("keys made and dropped in a row never answer for one another")
    func droppedKeys() throws {
        let kept = try PrivateKey.generate(.p256)
        let signature = try kept.signature(of: Self.message, algorithm: .es256)
        for _ in 0..<40 {
            let passing = try PrivateKey.generate(.p256).publicKey
            #expect(!passing.isValid(signature: signature, of: Self.message, algorithm: .es256))
        }
        #expect(kept.publicKey.isValid(signature: signature, of: Self.message, algorithm: .es256))
    }

    @Test("a key used by many tasks at once stays right", .timeLimit(.minutes(5)))
    func manyTasks() async throws {
        let key = try PrivateKey.generate(.rsa2048)
        let signature = try key.signature(of: Self.message, algorithm: .rs256)
        let right = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    var right = 0
                    for turn in 0..<50 {
                        let message = turn % 2 == 0 ? Self.message : [UInt8(turn)]
                        let valid = key.publicKey.isValid(signature: signature, of: message, algorithm: .rs256)
                        if valid == (turn % 2 == 0) { right += 1 }
                        if turn % 10 == 0 { await Task.yield() }
                    }
                    return right
                }
            }
            return await group.reduce(0, +)
        }
        #expect(right == 800)
    }
}

private let smallKey = """
    -----BEGIN PUBLIC KEY-----
    MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDqdrv+AZ6D5kJmKM/i/wTNCE0C
    eccTW+40XkYEJgROyjbMr4sEvHHeeoBH3sgSpY5sGpgvFIvlQMl1iB4d9b3n9wmI
    csH29DaN9tJN43sd4PDVFPzZInCab6H4nDyBX4QhLnVn3o+eRSt3oTfqI2X7gJo7
    x1BYP8Ltn7aLDPMCDwIDAQAB
    -----END PUBLIC KEY-----
    """
private let smallSignature =
    "6e9a2916953009ec63a756521aeb950201fbf1aca1c49508d090a54b45731a2defe346391a5709bf353cf3f770c0773809d2"
    + "66c0f236e32f0a0e2a6795a8750d357e9c242123939142fb45ce613dbe3d16c86231dc9f2f10ace530b0bc94e66afd689508"
    + "2051d3e906161bd9e861147977b8453c6fb254293966e1f112f002f0"
