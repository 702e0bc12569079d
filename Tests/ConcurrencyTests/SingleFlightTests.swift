import Concurrency
import Testing

@Suite("The single flight", .timeLimit(.minutes(5))) struct SingleFlightTests {
    struct Fault: Error {}

    @Test("many callers of one key share one run")
    func shares() async throws {
        let flight = SingleFlight<String, Int>()
        let runs = Locked(0)
        let gate = Gate()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await flight.run("key") {
                        await gate.wait()
                        return runs.withLock { count in
                            count += 1
                            return count
                        }
                    }
                }
            }
            gate.open()
            for try await value in group { #expect(value >= 1) }
        }
        let first = runs.withLock { $0 }
        #expect(first < 50)
        #expect(try await flight.run("key") { 7 } == 7)
    }

    @Test("different keys run side by side")
    func separates() async throws {
        let flight = SingleFlight<Int, Int>()
        let gate = Gate()
        async let waiting = flight.run(1) {
            await gate.wait()
            return 1
        }
        #expect(try await flight.run(2) { 2 } == 2)
        gate.open()
        #expect(try await waiting == 1)
    }

    @Test("a failure reaches every caller and is not kept")
    func fails() async throws {
        let flight = SingleFlight<Int, Int>()
        await #expect(throws: Fault.self) { try await flight.run(1) { throw Fault() } }
        #expect(try await flight.run(1) { 3 } == 3)
    }

    @Test("a caller that is cancelled stops waiting, and the run goes on for the others")
    func cancels() async throws {
        let flight = SingleFlight<Int, Int>()
        let started = Gate()
        let gate = Gate()
        let operation: @Sendable () async throws -> Int = {
            started.open()
            await gate.wait()
            return 5
        }
        let patient = Task { try await flight.run(1, operation) }
        await started.wait()
        let leaving = Task { try await flight.run(1, operation) }
        leaving.cancel()
        await #expect(throws: CancellationError.self) { try await leaving.value }
        gate.open()
        #expect(try await patient.value == 5)
    }
}

/// Lets waiting tasks pass once it is open.
private final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    func wait() async {
        await withCheckedContinuation { continuation in
            let passes = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if passes { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
