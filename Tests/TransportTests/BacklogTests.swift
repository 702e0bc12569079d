import Testing
import Transport

@Suite("What is read ahead") struct BacklogTests {
    @Test("comes out in the order it came in, in whatever pieces", arguments: 1...20)
    func order(seed: Int) {
        var backlog = Backlog()
        var (added, taken) = (0, [UInt8]())
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15
        for _ in 0..<300 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let piece = (0..<Int(state >> 60)).map { UInt8(truncatingIfNeeded: added + $0) }
            added += piece.count
            backlog.append(piece.span)
            backlog.take { bytes in
                let count = min(bytes.count, Int(state >> 56 & 15))
                for index in 0..<count { taken.append(bytes[index]) }
                return count
            }
        }
        #expect(taken.count + backlog.count == added)
        #expect(taken == (0..<taken.count).map { UInt8(truncatingIfNeeded: $0) })
    }

    @Test("holds no more than about twice what waits, however much went through")
    func bounded() {
        var backlog = Backlog()
        let piece = [UInt8](repeating: 1, count: 1000)
        var most = 0
        backlog.append(piece.span)
        for _ in 0..<10_000 {
            // Something always waits, so it never runs empty.
            backlog.append(piece.span)
            backlog.take { _ in 1000 }
            #expect(backlog.count == 1000)
            most = max(most, backlog.heldBytes)
        }
        #expect(most <= 4000)
    }
}
