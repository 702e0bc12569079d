import JSON
import Testing

/// Random input from a fixed seed, so that a failure can be seen again.
@Suite("Random documents") struct FuzzTests {
    struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    @Test(
        "a random value is the same after writing and reading", .timeLimit(.minutes(5)),
        arguments: [1, 2, 3, 4] as [UInt64])
    func roundTrip(seed: UInt64) throws {
        var generator = Generator(state: seed)
        for _ in 0..<500 {
            let value = randomValue(&generator, depth: 5)
            #expect(try JSONValue(parsing: value.encoded()) == value)
            let root = try JSONDocument(parsing: value.encoded(pretty: true)).root
            #expect(root.value == value)
            #expect(root.jsonBytes == value.encoded())
        }
    }

    @Test(
        "damaged and random bytes are refused or read whole, and never crash", .timeLimit(.minutes(5)),
        arguments: [5, 6, 7, 8] as [UInt64])
    func damage(seed: UInt64) throws {
        var generator = Generator(state: seed)
        var refused = 0
        for round in 0..<4_000 {
            var bytes = round.isMultiple(of: 2) ? randomValue(&generator, depth: 4).encoded() : randomBytes(&generator)
            for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(Array("{}[]\",:\\".utf8)[Int.random(in: 0..<8, using: &generator)], at: place)
                default: bytes.removeSubrange(place...)
                }
            }
            guard let root = try? JSONDocument(parsing: bytes).root else {
                refused += 1
                continue
            }
            #expect(String(validating: bytes, as: UTF8.self) != nil)
            #expect(try JSONValue(parsing: root.jsonBytes) == root.value)
        }
        #expect(refused > 1_000 && refused < 4_000)
    }

    private func randomBytes(_ generator: inout Generator) -> [UInt8] {
        let alphabet = Array("{}[]\",:\\ue0123456789.-+truefalsn \n\u{1}é".utf8)
        return (0..<Int.random(in: 0...60, using: &generator)).map { _ in
            alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
        }
    }

    private func randomValue(_ generator: inout Generator, depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &generator) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &generator))
        case 2:
            return .integer(Int64(truncatingIfNeeded: generator.next()) >> Int64.random(in: 0...63, using: &generator))
        case 3: return .number(Double.random(in: -1e10...1e10, using: &generator))
        case 4: return .unsigned(generator.next() | 1 << 63)
        case 5: return .string(randomText(&generator))
        case 6, 7:
            return .array(
                (0..<Int.random(in: 0...4, using: &generator)).map { _ in randomValue(&generator, depth: depth - 1) })
        default:
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0...20, using: &generator) {
                object[randomText(&generator)] = randomValue(&generator, depth: depth - 2)
            }
            return .object(object)
        }
    }

    private func randomText(_ generator: inout Generator) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            let limit: UInt32 = [0x7F, 0x7FF, 0xFFFF, 0x10FFFF][Int.random(in: 0..<4, using: &generator)]
            if let scalar = Unicode.Scalar(UInt32.random(in: 0...limit, using: &generator)) { text.append(scalar) }
        }
        return String(text)
    }
}
