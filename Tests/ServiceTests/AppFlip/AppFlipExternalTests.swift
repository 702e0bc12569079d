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

/// App Flip where the company has an OAuth provider of its own, which is asked for the codes.
@Suite("App Flip with the company's provider", .timeLimit(.minutes(5))) struct AppFlipExternalTests {
    private static let codeURL = "https://login.example.com/skillgate/code"
    private static let introspectionURL = "https://login.example.com/introspect"

    private struct World: Sendable {
        var answer = HTTPResponse(status: 200, body: Array(#"{"code":"their-code","expires_in":60}"#.utf8))
        var isReached = true
        var asked: [(form: Form, authorization: String?)] = []
    }

    private static func draft(_ change: (inout ConfigurationDraft) -> Void = { _ in }) -> ConfigurationDraft {
        var draft = ConfigurationDraft.external
        draft["provider.external"] = [
            "introspection": [
                "url": .string(introspectionURL), "clientID": "skillgate", "clientSecret": ["env": "SECRET"],
            ],
            "code": ["url": .string(codeURL), "clientID": "skillgate", "clientSecret": ["env": "SECRET"]],
            "resources": ["baseURL": "https://api.example.com/v1"],
        ]
        draft["provider.scopes"] = ["custom": ["profile"], "smartHome": ["devices"]]
        draft["apps"] = ["clients": ["app"]]
        draft["google"] = ["clientID": "google", "projectID": "ride-hailer"]
        change(&draft)
        return draft
    }

    /// What the app gets for a body with these changes, and what the provider was asked.
    private func flip(
        _ changes: [String: JSONValue?] = [:], token: String? = "alice-app",
        configuration draft: ConfigurationDraft = draft(), world change: (inout World) -> Void = { _ in }
    ) async throws -> (answer: AppFlipHarness.Answer, asked: [(form: Form, authorization: String?)]) {
        var first = World()
        change(&first)
        let world = Locked(first)
        let http = RecordingHTTPClient { request, _ throws(HTTPClientError) in
            let form = Form(decoding: String(decoding: request.body ?? [], as: UTF8.self))
            switch request.url {
            case Self.introspectionURL:
                guard let parts = form?["token"]?.split(separator: "-"), parts.count == 2, parts[0] == "alice" else {
                    return HTTPResponse(status: 200, body: Array(#"{"active":false}"#.utf8))
                }
                let body =
                    #"{"active":true,"sub":"u1001","client_id":"\#(parts[1])","scope":"profile","exp":4102444800}"#
                return HTTPResponse(status: 200, body: Array(body.utf8))
            case Self.codeURL:
                let (isReached, answer) = world.withLock { world in
                    if let form { world.asked.append((form, request.fields["Authorization"])) }
                    return (world.isReached, world.answer)
                }
                guard isReached else { throw .timedOut }
                return answer
            default: throw .unreachable("nobody is there")
            }
        }
        let clock = ManualClock()
        let service = try await makeService(
            draft.configuration(),
            ServiceParts(
                store: MemoryStore(clock: clock.wall), http: http, clock: clock.wall, monotonic: clock.monotonic,
                log: .silent, metrics: Metrics(), trustAnchors: try TestAuthority().anchors))
        var fields: HTTPFields = ["Content-Type": "application/json"]
        fields["Authorization"] = token.map { "Bearer " + $0 }
        let request = HTTPRequest(
            method: .post, target: "/app-flip/authorize", fields: fields,
            body: AppFlipHarness.body(changes).encoded(), deadline: clock.deadline())
        let answer = try AppFlipHarness.Answer(await service.router.respond(to: request), late: nil)
        return (answer, world.withLock { $0.asked })
    }

    @Test("whoever agrees gets the provider's code at Google's address, with Google's state")
    func agrees() async throws {
        let (answer, asked) = try await flip()
        #expect(answer.short == "200 code" && answer.code == "their-code" && answer.state == "s+1= &ü")
        #expect(answer.address == AppFlipHarness.home)
        let call = try #require(asked.first)
        #expect(asked.count == 1 && call.authorization == TokenHarness.basic("skillgate", "hunter2-value"))
        #expect(call.form["token"] == "alice-app" && call.form["client_id"] == "google")
        #expect(call.form["redirect_uri"] == AppFlipHarness.home && call.form["scope"] == "devices")
    }

    @Test("scopes that the configuration knows are asked for as Google names them, joined by blank or plus")
    func scopes() async throws {
        for (scope, wanted) in [("profile devices", "profile devices"), ("profile+devices", "profile devices")] {
            #expect(try await flip(["scope": .string(scope)]).asked.first?.form["scope"] == wanted)
        }
        for scope in ["all", "profile all", "profile+all"] {
            let (answer, asked) = try await flip(["scope": .string(scope)])
            #expect(answer.short == "200 invalid_request" && asked.isEmpty)
        }
    }

    @Test("who does not agree, or is not known, costs the provider no code")
    func refusals() async throws {
        for (changes, token, short) in [
            (["decision": "cancel"], "alice-app", "200 cancelled"),
            (["decision": "deny"], "alice-app", "200 access_denied"),
            ([:], nil, "200 cancelled"), ([:], "mallory-app", "200 cancelled"),
            ([:], "alice-alexa", "401 token.wrongClient"),
            (["clientID": "other"], "alice-app", "200 invalid_request"),
            (["redirectURI": .string(AppFlipHarness.browser)], "alice-app", "400 appFlip.redirectUnknown"),
        ] as [([String: JSONValue?], String?, String)] {
            let (answer, asked) = try await flip(changes, token: token)
            #expect(answer.short == short && asked.isEmpty, "\(changes)")
        }
    }

    @Test("a provider that gives no code sends Google's app to the browser, with its state")
    func provider() async throws {
        for (status, body) in [
            (401, "{}"), (403, "{}"), (500, "<html>"), (200, "{}"), (200, #"{"code":""}"#), (200, #"{"code":"a b"}"#),
            (302, ""), (200, "<html>"),
        ] {
            let (answer, _) = try await flip { $0.answer = HTTPResponse(status: status, body: Array(body.utf8)) }
            #expect(answer.short == "200 cancelled" && answer.state == "s+1= &ü", "\(status) \(body)")
        }
        #expect(try await flip { $0.isReached = false }.answer.short == "200 cancelled")
    }

    @Test("without an address that gives codes there is no such route")
    func absent() async throws {
        let (answer, _) = try await flip(configuration: Self.draft { $0["provider.external.code"] = nil })
        #expect(answer.short == "404 http.notFound")
    }
}
