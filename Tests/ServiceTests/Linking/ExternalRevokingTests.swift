import Alexa
import Concurrency
import Crypto
import HTTP
import JSON
import OAuth
import Service
import Storage
import Telemetry
import TestSupport
import Testing
import Time

/// The end of a link where the company's own provider holds the tokens: what `provider.external.revocation` is told.
@Suite("Revocation at the company's provider", .timeLimit(.minutes(5))) struct ExternalRevokingTests {
    private static let revocationURL = "https://login.example.com/revoke"

    private struct Site: Sendable {
        let service: MadeService
        let clock: ManualClock
        let store: MemoryStore
        let asked: Locked<[(form: Form, authorization: String?)]>

        /// A link that stands in the store, of alice unless said otherwise.
        func add(_ id: String, subject: String = "alice", skill: String = "rides") async throws {
            try await store.add(
                Link(
                    id: id, subject: subject, skill: skill, stage: "live", flow: .app, status: .linked,
                    region: .europe, alexaUserID: "amzn1.ask.account." + id, linkedAt: clock.now), by: clock.deadline())
        }

        func end(_ id: String) async throws -> LinkAdministration.Outcome {
            let link = try #require(try await store.link(id: id, by: clock.deadline()))
            return await service.linkAdministration.end(link, by: clock.deadline())
        }

        var links: Int { get async throws { try await store.links(of: "alice", by: clock.deadline()).count } }
    }

    private static func site(
        by: String = "subject", pair: Bool = true, answer: HTTPResponse? = HTTPResponse(status: 200)
    ) async throws -> Site {
        var draft = ConfigurationDraft.external
        var revocation: JSONObject = ["url": .string(revocationURL), "by": .string(by)]
        if pair {
            revocation["clientID"] = "skillgate"
            revocation["clientSecret"] = ["env": "SECRET"]
        }
        draft["provider.external.revocation"] = .object(revocation)
        draft["provider.external.resources"] = ["baseURL": "https://api.example.com/v1"]
        let asked = Locked<[(form: Form, authorization: String?)]>([])
        let http = RecordingHTTPClient { request, _ throws(HTTPClientError) in
            guard request.url == revocationURL else { throw .unreachable("nobody is there") }
            let form = Form(decoding: String(decoding: request.body ?? [], as: UTF8.self)) ?? Form()
            asked.withLock { $0.append((form, request.fields["Authorization"])) }
            guard let answer else { throw .timedOut }
            return answer
        }
        let clock = ManualClock()
        let store = MemoryStore(clock: clock.wall)
        let service = try await makeService(
            draft.configuration(),
            ServiceParts(
                store: store, http: http, clock: clock.wall, monotonic: clock.monotonic, log: .silent,
                metrics: Metrics(), trustAnchors: try TestAuthority().anchors))
        return Site(service: service, clock: clock, store: store, asked: asked)
    }

    @Test("by subject: the provider hears of the user's last link alone, with the pair that it knows us by")
    func bySubject() async throws {
        let site = try await Self.site()
        try await site.add("a")
        try await site.add("b")
        try await site.add("c", subject: "bob")
        #expect(try await site.end("a") == .endedHere)
        #expect(site.asked.withLock { $0.isEmpty }, "the other link lives by the same client")
        #expect(try await site.end("b") == .endedHere)
        let call = try #require(site.asked.withLock { $0.first })
        #expect(call.form["sub"] == "alice" && call.form["client_id"] == "alexa" && call.form["token"] == nil)
        #expect(call.authorization == TokenHarness.basic("skillgate", "hunter2-value"))
        #expect(site.asked.withLock { $0.count } == 1)
        #expect(try await site.links == 0)
    }

    @Test("without a pair none is shown; by token nothing is sent where no token is known")
    func withoutPair() async throws {
        let site = try await Self.site(pair: false)
        try await site.add("a")
        #expect(try await site.end("a") == .endedHere)
        #expect(site.asked.withLock { $0.map(\.authorization) } == [nil])
        let byToken = try await Self.site(by: "token")
        try await byToken.add("a")
        #expect(try await byToken.end("a") == .endedHere)
        #expect(byToken.asked.withLock { $0.isEmpty })
        #expect(try await byToken.links == 0)
    }

    @Test(
        "a provider that does not revoke keeps no link alive here",
        arguments: [
            HTTPResponse(status: 500), HTTPResponse(status: 401), HTTPResponse(status: 302),
            HTTPResponse(status: 200, body: Array("<html>".utf8)), nil,
        ])
    func faults(answer: HTTPResponse?) async throws {
        let site = try await Self.site(answer: answer)
        try await site.add("a")
        #expect(try await site.end("a") == .endedHere)
        #expect(site.asked.withLock { $0.count } == 1)
        #expect(try await site.links == 0)
    }
}
