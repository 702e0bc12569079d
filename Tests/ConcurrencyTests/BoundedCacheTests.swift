import Concurrency
import Testing

@Suite("The bounded cache") struct BoundedCacheTests {
    @Test("forgets the least lately used value first")
    func evicts() {
        var cache = BoundedCache<Int, String>(capacity: 3)
        for key in 1...3 { cache.insert("\(key)", for: key) }
        #expect(cache.value(for: 1) == "1")
        cache.insert("4", for: 4)
        #expect(cache.value(for: 2) == nil)
        #expect(cache.value(for: 1) == "1")
        #expect(cache.count == 3)
    }

    @Test("a value inserted again replaces the old one and counts as used")
    func replaces() {
        var cache = BoundedCache<Int, String>(capacity: 2)
        cache.insert("a", for: 1)
        cache.insert("b", for: 2)
        cache.insert("c", for: 1)
        cache.insert("d", for: 3)
        #expect(cache.value(for: 1) == "c")
        #expect(cache.value(for: 2) == nil)
    }

    @Test("agrees with a plain model over random operations", arguments: 1...40)
    func model(seed: Int) {
        var random = SplitMix(state: UInt64(seed))
        let capacity = 1 + Int(random.next() % 6)
        var cache = BoundedCache<Int, Int>(capacity: capacity)
        var model: [(key: Int, value: Int)] = []  // least lately used first
        for step in 0..<400 {
            let key = Int(random.next() % 10)
            switch random.next() % 5 {
            case 0, 1:
                cache.insert(step, for: key)
                model.removeAll { $0.key == key }
                if model.count == capacity { model.removeFirst() }
                model.append((key, step))
            case 2, 3:
                let expected = model.first { $0.key == key }
                #expect(cache.value(for: key) == expected?.value)
                if let expected {
                    model.removeAll { $0.key == key }
                    model.append(expected)
                }
            default:
                let expected = model.first { $0.key == key }?.value
                model.removeAll { $0.key == key }
                #expect(cache.remove(key) == expected)
            }
            #expect(cache.count == model.count)
        }
    }

    @Test("forgets what a test names stale, and only that")
    func removesStale() {
        var cache = BoundedCache<Int, Int>(capacity: 8)
        for key in 0..<8 { cache.insert(key * key, for: key) }
        cache.removeAll { key, _ in key % 2 == 1 }
        #expect((0..<8).map { cache.value(for: $0) } == [0, nil, 4, nil, 16, nil, 36, nil])
    }
}

private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
