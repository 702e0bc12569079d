import AppLinking
import Testing

@Suite("Link status") struct LinkStatusTests {
    @Test("a status is known by the service's word for it", arguments: ["LINKED", "NOT_LINKED", "PENDING", "UNKNOWN"])
    func words(word: String) {
        #expect(LinkStatus(rawValue: word)?.rawValue == word)
    }
}
