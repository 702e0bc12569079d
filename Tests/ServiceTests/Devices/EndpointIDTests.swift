import Service
import Testing

@Suite("Endpoint ids") struct EndpointIDTests {
    private static let allowed: Set<Character> = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-=#;:?@&")

    @Test(
        "an id that Alexa takes stays as it is",
        arguments: ["1", "lamp-1", "a_b=c#d;e:f?g@h&i", "=b", "=e:x", "b:=", String(repeating: "x", count: 256)])
    func plain(id: String) {
        #expect(EndpointID.encode(id) == id)
        #expect(EndpointID.decode(id) == .device(id))
        #expect(EndpointID.keptDigest(of: id) == nil)
    }

    @Test(
        "SHR-2: an id that Alexa would not take is mapped to one that it takes, and back",
        arguments: [
            "a\\b", "küche/1", "x\"y", "a b", " ", "ü", "a\u{0}b", "🍺", "a.b", "a%2Fb", "=b:", "=b:YQ", "=d:", "a\n",
            "=d:" + String(repeating: "0", count: 64), String(repeating: "/", count: 189),
        ])
    func mapped(id: String) {
        let encoded = EndpointID.encode(id)
        #expect(encoded != id)
        #expect((1...256).contains(encoded.count) && encoded.allSatisfy(Self.allowed.contains))
        #expect(EndpointID.decode(encoded) == .device(id))
        #expect(EndpointID.keptDigest(of: id) == nil)
    }

    @Test(
        "SHR-2: an id that is too long becomes a digest, and says which is to be kept",
        arguments: [
            String(repeating: "x", count: 257), String(repeating: "a", count: 300), String(repeating: "/", count: 190),
            String(repeating: "ü", count: 95),
        ])
    func long(id: String) throws {
        let encoded = EndpointID.encode(id)
        #expect((1...256).contains(encoded.count) && encoded.allSatisfy(Self.allowed.contains))
        let digest = try #require(EndpointID.keptDigest(of: id))
        #expect(EndpointID.decode(encoded) == .digest(digest))
        #expect(digest.count == 64)
        #expect(EndpointID.encode(id + "x") != encoded)
    }

    @Test(
        "SHR-2: an id that was not made here is the device's own",
        arguments: [
            "=b:", "=b:YQ", "=b:YQ==", "=b:!", "=b:w-g", "=b:_w", "=d:", "=d:00",
            "=d:" + String(repeating: "F", count: 64),
            "=d:" + String(repeating: "0", count: 63), "=d:" + String(repeating: "g", count: 64), "endpoint-001", "",
        ])
    func foreign(id: String) { #expect(EndpointID.decode(id) == .device(id)) }

    @Test("two spellings of one letter are two ids")
    func exact() {
        let (composed, decomposed) = ("k\u{FC}che", "ku\u{308}che")
        #expect(EndpointID.encode(composed) != EndpointID.encode(decomposed))
    }
}
