import JSON
import LinkMessages
import TestSupport
import Testing

@Suite("Link states") struct LinkStateTests {
    static let fixture = "app-to-app/app_to_app_vectors.json"

    static func vectors(_ name: String) throws -> [JSONValue] {
        try #require(JSONValue(parsing: Fixtures.bytes(fixture))[name]?.array)
    }

    @Test("the shared vectors of the encoding are judged as they say", .needsFixture(fixture))
    func encoding() throws {
        let vectors = try Self.vectors("state_encoding")
        #expect(vectors.count >= 8)
        for vector in vectors {
            let encoded = try #require(vector["encoded"]?.string)
            let isValid = vector["valid"]?.bool == true
            #expect((LinkState.decode(encoded) != nil) == isValid, "\(encoded)")
            guard isValid else { continue }
            let plain = Array(try #require(vector["plain"]?.string).utf8)
            #expect(LinkState.encode(plain) == encoded)
            #expect(LinkState.decode(encoded) == plain)
        }
    }

    @Test("the shared vectors of what a state may hold are judged as they say", .needsFixture(fixture))
    func sharedAllowed() throws {
        let vectors = try Self.vectors("state_allowed")
        #expect(vectors.count >= 7)
        for vector in vectors {
            let state = try #require(vector["state"]?.string)
            #expect(LinkState.isAllowed(state) == vector["ok"]?.bool, "\(state)")
        }
    }

    @Test("every byte comes back", arguments: 0...4)
    func everyByte(length: Int) throws {
        for byte in UInt8.min...UInt8.max {
            let bytes = [UInt8](repeating: byte, count: length)
            let encoded = LinkState.encode(bytes)
            #expect(LinkState.decode(encoded) == bytes)
            #expect(encoded.isEmpty || LinkState.isAllowed(encoded))
        }
        #expect(LinkState.encode([0xFB, 0xEF, 0xBE]) == "....")
        #expect(LinkState.encode([0xFF, 0xFF, 0xFF]) == "____")
        #expect(LinkState.encode([0xFB]) == ".w--")
    }

    @Test(
        "what the encoding would not have written is refused",
        arguments: [
            "a", "abc", "abcde", "YQ=-", "YQ==", "YQ-=", "Y---", "----", "YR--", "YWK-", "YQ-a", "ab+_", "ab c", "äbc",
            "YQ--\n", "YQ --",
        ])
    func refused(text: String) {
        #expect(LinkState.decode(text) == nil)
    }

    @Test("a state has three parts, and they are read back")
    func parts() throws {
        let state = LinkState.make(prefix: "iOS", at: 1_700_000_000, random: Array(0..<30))
        let parts = try #require(LinkState.parts(of: state))
        #expect(parts.prefix == "iOS")
        #expect(parts.seconds == 1_700_000_000)
        #expect(parts.random == "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd")
        #expect(LinkState.isAllowed(state))
        #expect((LinkState.minimumLength...LinkState.maximumLength).contains(state.count))
        // The sample encodes the random bytes first, in standard base64 with its padding.
        let padded = LinkState.make(prefix: "iOS", at: 1, random: [0xFF, 0xFE, 0xFB, 0xFB])
        #expect(LinkState.decode(padded) == Array("iOS.1.//77+w==".utf8))
    }

    @Test(
        "other texts have no parts",
        arguments: [
            "iOS.1700000000", "iOS.1700000000.abc.d", ".1700000000.abc", "iOS..abc", "iOS.1700000000.", "iOS.-1.abc",
            "iOS.+1.abc", "iOS.soon.abc", "iOS.99999999999999999999.abc", "iOS.1 .abc", "",
        ])
    func noParts(plain: String) {
        #expect(LinkState.parts(of: LinkState.encode(Array(plain.utf8))) == nil)
    }

    @Test("neither have bytes that are no text, and what is not encoded")
    func noText() {
        #expect(LinkState.parts(of: LinkState.encode([0xFF] + Array("S.1.abc".utf8))) == nil)
        #expect(LinkState.parts(of: "iOS.1700000000.abc") == nil)
    }

    @Test(
        "Amazon's forbidden characters, spaces, controls and other scripts are refused",
        arguments: [
            "", " ", "a b", "a\u{0}", "a\tb", "a\n", "\u{7F}", "a&b", "a=b", "a'b", "a/b", "a\\b", "a<b", "a>b", "a\"b",
            "a#b", "a|b", "ä", "‘a", "状態",
        ])
    func forbidden(text: String) {
        #expect(!LinkState.isAllowed(text))
    }

    @Test("the rest of printable ASCII is allowed", arguments: ["a", "A-Z_0.9~", "!$()*,:;?@[]^`{}", "%41+"])
    func allowed(text: String) {
        #expect(LinkState.isAllowed(text))
    }
}
