import Crypto
import Testing

@Suite("Base64, base64url and hexadecimal digits") struct CodingTests {
    /// RFC 4648 §10.
    static let vectors = [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ]

    @Test("the vectors of RFC 4648 hold both ways", arguments: vectors)
    func vector(plain: String, text: String) {
        let bytes = Array(plain.utf8)
        let unpadded = String(text.prefix { $0 != "=" })
        #expect(Base64.encode(bytes) == text)
        #expect(Base64.decode(text) == bytes)
        #expect(Base64URL.encode(bytes) == unpadded)
        #expect(Base64URL.decode(unpadded) == bytes)
    }

    @Test("the two alphabets differ in their last characters, and neither takes the other's")
    func alphabets() {
        let bytes: [UInt8] = [0xFB, 0xEF, 0xFF]
        #expect(Base64.encode(bytes) == "++//")
        #expect(Base64URL.encode(bytes) == "--__")
        #expect(Base64.decode("--__") == nil)
        #expect(Base64URL.decode("++//") == nil)
    }

    @Test(
        "base64 that is not canonical is refused",
        arguments: [
            "Zg", "Zg=", "Zg===", "Zg====", "Zh==", "Zm9=", "Z", "=", "====", "Z===", "Zm9v\n", "Zm9v ", " Zm9v",
            "Zm\n9v", "Zm=v", "Zg==Zg==", "Zm9?", "Zm9\u{0}", "Zmö=",
        ])
    func refusedBase64(text: String) { #expect(Base64.decode(text) == nil) }

    @Test(
        "base64url that is not canonical is refused",
        arguments: ["Zg==", "Zg=", "Zh", "Zm9", "Z", "Zm9vZ", "Zm9v\n", "Zm 9v", "Zm9+", "Zm9/", "Zm9?", "Zm9v."])
    func refusedBase64URL(text: String) { #expect(Base64URL.decode(text) == nil) }

    @Test("every length and every byte survives both codings")
    func allLengths() {
        for count in 0..<260 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ count) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
            #expect(Hex.decode(Hex.encode(bytes)) == bytes)
        }
    }

    @Test("digits of either case are read and lower case is written")
    func digits() {
        #expect(Hex.encode([0x00, 0x9A, 0xFF]) == "009aff")
        #expect(Hex.decode("009aFf") == [0x00, 0x9A, 0xFF])
    }

    @Test("what is not an even number of digits is refused", arguments: ["0", "0g", "0x00", " 00", "00 ", "é", "-1"])
    func refusedDigits(text: String) { #expect(Hex.decode(text) == nil) }
}
