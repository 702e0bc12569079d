import AppLinking
import Concurrency
import Foundation
import LinkMessages
import Testing

/// Amazon's sample helper, as apps have it: what it reads of a state.
private func seconds(bySampleHelper state: String) -> Int64? {
    let standard = state.map { letter -> Character in
        switch letter {
        case ".": "+"
        case "_": "/"
        case "-": "="
        default: letter
        }
    }
    guard let data = Data(base64Encoded: String(standard)), let text = String(data: data, encoding: .utf8) else {
        return nil
    }
    let parts = text.split(separator: ".")
    return parts.count == 3 ? Int64(parts[1]) : nil
}

@Suite("States of an app") struct StateHelperTests {
    static let start = Date(timeIntervalSince1970: 1_700_000_000.75)

    static func helper(
        _ store: any StateStore = MemoryStateStore(), prefix: String = "iOS"
    ) -> (helper: StateHelper, clock: Locked<Date>) {
        let clock = Locked(start)
        return (StateHelper(store: store, prefix: prefix) { clock.withLock { $0 } }, clock)
    }

    @Test("a state is what the sample's helper reads: prefix, second, 30 random bytes")
    func form() async throws {
        let (helper, _) = Self.helper()
        let state = try await helper.generateState()
        #expect(seconds(bySampleHelper: state) == 1_700_000_000)
        let parts = try #require(LinkState.parts(of: state))
        #expect(parts.prefix == "iOS")
        #expect(Data(base64Encoded: parts.random)?.count == 30)
        #expect(LinkState.isAllowed(state))
        #expect(try await helper.generateState() != state)
        let other = try await Self.helper(prefix: "macOS").helper.generateState()
        #expect(LinkState.parts(of: other)?.prefix == "macOS")
    }

    @Test("a state is good once, and only the one that was kept")
    func once() async throws {
        let (helper, _) = Self.helper()
        let first = try await helper.generateState()
        let second = try await helper.generateState()
        // What the sample's status screen would post.
        let fresh = LinkState.make(prefix: "iOS", at: 1_700_000_000, random: Array(0..<30))
        #expect(try await helper.spend(fresh) == .unknown)
        #expect(try await helper.spend(first.lowercased()) == .unknown)
        #expect(try await helper.spend("") == .unknown)
        #expect(try await helper.spend(second) == .valid)
        #expect(try await helper.spend(second) == .unknown)
        #expect(try await helper.spend(first) == .valid)
    }

    @Test(
        "it is good for an hour",
        arguments: [(0, StateVerdict.valid), (3599, .valid), (3601, .expired), (90_000, .expired)])
    func age(seconds: Double, verdict: StateVerdict) async throws {
        let (helper, clock) = Self.helper()
        let state = try await helper.generateState()
        try await helper.keep("server-made-state")
        clock.withLock { $0 += seconds }
        #expect(try await helper.spend(state) == verdict)
        #expect(try await helper.spend("server-made-state") == verdict)
        #expect(try await helper.spend(state) == .unknown)
    }

    @Test("the time inside a state counts too, as in the sample")
    func timeInside() async throws {
        let (helper, _) = Self.helper()
        for (age, verdict) in [(3600, StateVerdict.valid), (3601, .expired)] as [(Int64, StateVerdict)] {
            let state = LinkState.make(prefix: "iOS", at: 1_700_000_000 - age, random: [1, 2, 3])
            try await helper.keep(state)
            #expect(try await helper.spend(state) == verdict)
        }
    }

    @Test("states in a file outlive the app, and a broken file is an empty one")
    func file() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("states-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: url) }
        let state = try await Self.helper(FileStateStore(url: url)).helper.generateState()
        let (again, clock) = Self.helper(FileStateStore(url: url))
        clock.withLock { $0 += 60 }
        #expect(try await again.spend(state) == .valid)
        #expect(try await Self.helper(FileStateStore(url: url)).helper.spend(state) == .unknown)
        try Data("{".utf8).write(to: url)
        #expect(try await again.spend(state) == .unknown)
        let next = try await again.generateState()
        #expect(try await again.spend(next) == .valid)
    }

    @Test("a file that cannot be written is an error, not a state that nobody kept")
    func unwritable() async throws {
        let helper = Self.helper(FileStateStore(url: URL(fileURLWithPath: "/nowhere/states.json"))).helper
        await #expect(throws: (any Error).self) { try await helper.generateState() }
        #expect(try await helper.spend("anything") == .unknown)
    }

    @Test("only the last eight wait")
    func bounded() async throws {
        let (helper, _) = Self.helper()
        for number in 0..<9 { try await helper.keep("state-\(number)") }
        #expect(try await helper.spend("state-0") == .unknown)
        for number in 1..<9 { #expect(try await helper.spend("state-\(number)") == .valid) }
    }
}
