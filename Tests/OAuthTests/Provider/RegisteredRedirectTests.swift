import HTTP
import JSON
import OAuth
import TestSupport
import Testing

@Suite("Registered redirects") struct RegisteredRedirectTests {
    static let fixture = "app-to-app/app_to_app_vectors.json"

    @Test("the shared redirects are taken where registered, and never redirected to elsewhere", .needsFixture(fixture))
    func shared() throws {
        let vectors = try JSONValue(parsing: Fixtures.bytes(Self.fixture))
        let registered = try #require(vectors["registered_redirect_uris"]?.array).compactMap(\.string)
        let clients = ProviderClients([AuthorizationDecisionTests.client("alexa", registered)])
        let redirects = try #require(vectors["redirect_uris"]?.array)
        #expect(redirects.count >= 25)
        for redirect in redirects {
            let uri = try #require(redirect["uri"]?.string)
            var form = Form()
            for (name, value) in [("response_type", "code"), ("client_id", "alexa"), ("state", "s")] {
                form.append(name, value)
            }
            form.append("redirect_uri", uri)
            let decision = AuthorizationDecision(
                query: form.encodedText, clients: clients, resource: AuthorizationDecisionTests.resource)
            if redirect["ok"]?.bool == true {
                #expect(AuthorizationDecisionTests.asked(decision) != nil, "\(uri)")
            } else {
                #expect(AuthorizationDecisionTests.fault(decision) != nil, "\(uri)")
            }
        }
    }
}
