import JSON
import Service
import TestSupport
import Testing

@Suite("Amazon's hosts") struct AmazonHostTests {
    static let fixture = "app-to-app/app_to_app_vectors.json"

    @Test("the enablement is asked of the three hosts of the shared list", .needsFixture(fixture))
    func activation() throws {
        let vectors = try JSONValue(parsing: Fixtures.bytes(Self.fixture))
        let hosts = try #require(vectors["activation_hosts"]?.array).compactMap(\.string)
        #expect(Set(Configuration.Amazon().apiURLs.values) == Set(hosts.map { "https://\($0)" }))
        #expect(hosts.count == 3)
    }
}
