import Alexa
import Concurrency
import Crypto
import HTTP
import Service
import Storage
import TestSupport
import Testing
import Time

@Suite("A lane's lease while events are sent", .timeLimit(.minutes(5))) struct LeaseTests {
    let harness = EventsHarness()

    @Test("a gateway that takes longer than a lease gets nothing twice: the lease is extended meanwhile")
    func extended() async throws {
        try await harness.grant()
        let store = ForwardingStore(harness.store)
        let gate = Gate()
        harness.gateway { _, _ in
            await gate.pass()
            return HTTPResponse(status: 202)
        }
        #expect(try await harness.post(EventWorkerTests().changed()).status == 202)
        let first = harness.worker(store, beat: .milliseconds(1))
        async let report = first.flush()
        await gate.arrived()
        for _ in 0..<5 {
            harness.clock.advance(by: .seconds(3))
            let extensions = store.extensions
            // Two more, since one may have begun before the clock moved.
            while store.extensions < extensions + 2 { await Task.yield() }
            #expect(try await harness.worker().flush().sent == 0)
        }
        gate.open()
        #expect(try await report.sent == 1)
        #expect(harness.sent.count == 1)
    }

    @Test("a lane whose worker is gone is sent from again when the lease ends, with the same message id")
    func abandoned() async throws {
        try await harness.grant()
        #expect(try await harness.post(EventWorkerTests().changed()).status == 202)
        let lane = try await harness.store.leaseLane(owner: "gone", for: .seconds(4), by: harness.clock.deadline())
        #expect(try await harness.worker().flush().sent == 0)
        harness.clock.advance(by: .seconds(4))
        #expect(try await harness.worker().flush().sent == 1)
        #expect(harness.sent.first?.messageID == lane?.rows.first?.messageID)
    }
}
