import JSON
import LinkMessages
import TestSupport
import Testing

@Suite("Link states") struct LinkStateTests {
    @Test("a state has three parts, and they are read back")
    func parts() throws {
        let state = LinkState.make(prefix: "iOS", at: 1_700_000_000, random: Array(0..<30))
        let parts = try #require(LinkState.parts(of: state))
        #expect(parts.prefix == "iOS")
        #expect(parts.seconds == 1_700_000_000)
        #expect(LinkState.isAllowed(state))
    }
}
