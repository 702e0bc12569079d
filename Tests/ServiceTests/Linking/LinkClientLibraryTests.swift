import AppLinking
import Concurrency
import Crypto
import Foundation
import HTTP
import JSON
import LinkMessages
import Service
import TestSupport
import Testing

/// Hands the requests of the apps' library to the service.
private struct RouterTransport: LinkTransport {
    static let base = "https://skill.example.com"
    let harness: LinkHarness

    func send(_ request: LinkHTTPRequest) async throws(LinkTransportError) -> LinkHTTPResponse {
        var fields = HTTPFields()
        for (name, value) in request.fields { fields[name] = value }
        let response = await harness.running.service.router.respond(
            to: HTTPRequest(
                method: HTTPMethod(rawValue: request.method),
                target: String(request.url.absoluteString.dropFirst(Self.base.count)), fields: fields,
                body: Array(request.body ?? Data()), peerAddress: "192.0.2.1",
                deadline: harness.running.clock.deadline()))
        return LinkHTTPResponse(status: response.status, body: Data(response.body))
    }
}

/// The apps' library and the service understand each other.
@Suite("The apps' library at the service", .timeLimit(.minutes(5))) struct LinkClientLibraryTests {
    private static func client(
        _ harness: LinkHarness, language: LinkLanguage = .english, subject: String = "u1001"
    ) throws -> LinkClient {
        let token = try harness.token(subject).exposed
        return LinkClient(
            baseURL: try #require(URL(string: RouterTransport.base)), language: language,
            transport: RouterTransport(harness: harness)
        ) { token }
    }

    @Test("a state made in the app, the redirect as it came, the status, and the way out")
    func wholeWay() async throws {
        let harness = try await LinkHarness()
        let client = try Self.client(harness)
        let states = StateHelper(store: MemoryStateStore())
        #expect(await client.status() == .notLinked)

        let state = try await states.generateState()
        let start = try await client.start(state: state)
        #expect(start.state == state)
        for url in [start.alexaAppURL, start.loginWithAmazonURL] {
            #expect(url.absoluteString.contains("state=" + state))
        }
        let handler = AlexaLinkHandler(redirectURIs: [LinkHarness.redirectURL], states: states)
        let back = try #require(URL(string: LinkHarness.redirectURL + "?code=amz-1&state=" + state))
        guard case .complete(let link) = try await handler.handle(back) else {
            Issue.record("the return is refused")
            return
        }
        let result = try await client.complete(.redirect(link))
        #expect(result.status == .linked && result.traceID?.isEmpty == false)

        let overview = try await client.overview()
        #expect(overview.status == .linked && overview.links.count == 1)
        let only = try #require(overview.links.first)
        #expect(only.status == .linked && only.region == "NA" && only.flow == "app" && only.linkedAt != nil)
        try await client.unlink(id: only.id)
        #expect(await client.status() == .notLinked)
    }

    @Test("what the service refuses comes with its code, its words and its trace")
    func refusals() async throws {
        let harness = try await LinkHarness()
        let client = try Self.client(harness, language: .german)
        // As Amazon's sample does: a state made when all is over.
        let fresh = LinkState.make(prefix: "iOS", at: 1_700_000_000, random: Array(0..<30))
        do throws(LinkClientError) {
            _ = try await client.complete(.code("amz-1", state: fresh))
            Issue.record("a state that nobody gave out is taken")
        } catch {
            #expect(error.kind == .refused(code: "link.stateUnknown"))
            #expect(error.userMessage?.isEmpty == false && error.traceID?.count == 32)
        }
        // A refusal by the user has no words.
        let start = try await client.start(state: nil)
        do throws(LinkClientError) {
            _ = try await client.complete(.error("access_denied", description: nil, state: start.state))
            Issue.record("a refusal is taken for a link")
        } catch {
            #expect(error.userMessage == nil && error.retry == LinkErrorKind.declined.retry, "\(error)")
        }
    }
}
