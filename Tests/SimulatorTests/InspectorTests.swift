import Concurrency
import Crypto
import HTTP
import JSON
import Simulator
import Telemetry
import TestSupport
import Testing
import Time

/// The developer's page before a service that is played here.
@Suite("The inspector", .timeLimit(.minutes(5))) struct InspectorTests {
    private static let token =
        "eyJhbGciOiJFUzI1NiJ9." + Base64URL.encode(Array(#"{"sub":"u1001","scope":"profile"}"#.utf8)) + ".c2lnbmF0dXJl"

    /// Answers what Alexa sends, with a trace and a call to the provider's server.
    private struct Service: HTTPResponder {
        let observer: Locked<(any TraceObserver)?>

        func timeLimit(for method: HTTPMethod, target: String) -> Duration { .seconds(7) }

        func respond(to request: HTTPRequest) async -> HTTPResponse {
            let now = ContinuousClock.now
            let trace = Trace(.custom, startedAt: UnixTime(seconds: 0), start: now)
            trace.step("verification", .ok, from: now, to: now.advanced(by: .milliseconds(20)))
            trace.step(
                "account", .refused, reason: "token.expired", from: now.advanced(by: .milliseconds(20)),
                to: now.advanced(by: .milliseconds(80)))
            let observer = observer.withLock { $0 }
            observer?.called("GET /me", outcome: "503", duration: .milliseconds(12))
            observer?.finished(
                trace.record(.refused, reason: "token.expired", end: now.advanced(by: .milliseconds(100))))
            return HTTPResponse(
                status: 200, fields: ["Content-Type": "application/json"],
                body: Array(#"{"response":{"accessToken":"\#(InspectorTests.token)"}}"#.utf8))
        }
    }

    private struct Page {
        let inspector: Inspector
        let sent = Locked<[JSONValue]>([])

        init() {
            inspector = Inspector(skillIDs: ["amzn1.ask.skill.x"], clock: { UnixTime(seconds: 1_700_000_000) })
            inspector.stand(before: Service(observer: Locked(inspector)))
            inspector.sends { [sent] body in
                sent.withLock { $0.append(body) }
                return body["fails"] == nil ? "" : "it failed <b>"
            }
        }

        func alexa(_ more: String = "") async -> HTTPResponse {
            let body = """
                {"version":"1.0","context":{"System":{"user":{"userId":"u","accessToken":"\(InspectorTests.token)"}}},
                 "request":{"type":"IntentRequest","requestId":"r","timestamp":"2023-11-14T22:13:20Z","intent":{"name":"<script>X"}\(more)}}
                """
            return await inspector.respond(
                to: HTTPRequest(
                    method: .post, target: "/alexa/custom", body: Array(body.utf8), peerAddress: "203.0.113.7",
                    deadline: .after(.seconds(240), from: .now)))
        }

        func ask(
            _ target: String = "/_inspect", _ method: HTTPMethod = .get, _ body: String = "",
            peer: String = "127.0.0.1", _ changes: [String: String?] = [:]
        ) async -> HTTPResponse {
            var fields: HTTPFields = ["Host": "127.0.0.1:8080"]
            if method == .post {
                fields["Origin"] = "http://127.0.0.1:8080"
                fields["Content-Type"] = "application/x-www-form-urlencoded"
            }
            for (name, value) in changes { fields[name] = value }
            return await inspector.respond(
                to: HTTPRequest(
                    method: method, target: target, fields: fields, body: Array(body.utf8), peerAddress: peer,
                    deadline: .after(.seconds(240), from: .now)))
        }

        func text(_ target: String) async -> String { String(decoding: await ask(target).body, as: UTF8.self) }

        /// The token of the page's form.
        func formToken() async throws -> String {
            let page = await text("/_inspect/requests/1")
            let start = try #require(page.firstRange(of: "name=\"token\" value=\"")).upperBound
            return String(page[start...].prefix { $0 != "\"" })
        }

        func replay(_ body: String, token: String, _ changes: [String: String?] = [:]) async -> HTTPResponse {
            var form = Form()
            form.append("token", token)
            form.append("body", body)
            return await ask("/_inspect/requests/1/replay", .post, form.encodedText, changes)
        }
    }

    @Test("a request is shown with its steps, what the token says, the calls and the answer, and no token")
    func shown() async throws {
        let page = Page()
        #expect(await page.text("/_inspect").contains("Nothing yet"))
        #expect(await page.alexa().status == 200)
        let list = await page.text("/_inspect")
        #expect(list.contains("POST /alexa/custom") && list.contains("token.expired") && list.contains(">200<"))
        let detail = await page.text("/_inspect/requests/1")
        for part in [
            "verification", "20 ms", "60 ms", "token.expired", "GET /me", "503", "12 ms", "u1001", "{{token}}",
            "Answer",
            "Send again", "<rect",
        ] { #expect(detail.contains(part), "\(part)") }
        for text in [list, detail] {
            #expect(!text.contains(Self.token) && !text.contains("c2lnbmF0dXJl"))
            #expect(!text.contains("<script>X") && text.contains("&lt;script&gt;X"), "what came is text")
        }
        #expect(await page.ask("/_inspect/requests/2").status == 404)
    }

    @Test("the list is live: the rows since a place, and none twice")
    func live() async throws {
        let page = Page()
        _ = await page.alexa()
        let first = try JSONValue(parsing: await page.ask("/_inspect/requests?after=0").body)
        #expect(first["last"] == 1 && first["rows"]?.string?.contains("requests/1") == true)
        _ = await page.alexa()
        let second = try JSONValue(parsing: await page.ask("/_inspect/requests?after=1").body)
        #expect(second["last"] == 2 && second["rows"]?.string?.contains("requests/1\"") == false)
        let none = try JSONValue(parsing: await page.ask("/_inspect/requests?after=2").body)
        #expect(none["last"] == 2 && none["rows"] == "")
    }

    @Test("what is kept is bounded")
    func bounded() async {
        let page = Page()
        for _ in 0..<Inspector.requestLimit + 50 { _ = await page.alexa() }
        #expect(await page.text("/_inspect").split(separator: "<tr><td>").count == Inspector.requestLimit + 1)
        #expect(await page.ask("/_inspect/requests/50").status == 404)
        #expect(await page.ask("/_inspect/requests/51").status == 200)
        let large = HTTPRequest(
            method: .post, target: "/alexa/custom",
            body: Array("[\"".utf8) + [UInt8](repeating: 97, count: 300_000) + Array("\"]".utf8),
            deadline: .after(.seconds(240), from: .now))
        _ = await page.inspector.respond(to: large)
        #expect(await page.text("/_inspect/requests/251").utf8.count < 20_000)
    }

    @Test("a request is sent again as it was, or as it was changed")
    func replayed() async throws {
        let page = Page()
        _ = await page.alexa()
        let token = try await page.formToken()
        let answer = await page.replay(#"{"request":{"type":"LaunchRequest"}}"#, token: token)
        #expect(answer.status == 303 && answer.fields["Location"] == "/_inspect/requests/2")
        #expect(page.sent.withLock { $0.first?["request"]?["type"] } == "LaunchRequest")
        let failed = await page.replay(#"{"fails":true}"#, token: token)
        #expect(failed.status == 502 && String(decoding: failed.body, as: UTF8.self).contains("it failed &lt;b&gt;"))
        for body in ["", "{", "<html>"] { #expect(await page.replay(body, token: token).status == 400) }
    }

    @Test("other sites' pages, other machines and other names get nothing")
    func refused() async throws {
        let page = Page()
        _ = await page.alexa()
        let token = try await page.formToken()
        for peer in ["203.0.113.7", "10.0.0.1", "::2", ""] { #expect(await page.ask(peer: peer).status == 403) }
        for host in ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "", "127.0.0.1:8080@evil.example"] {
            #expect(await page.ask("/_inspect", .get, "", ["Host": host]).status == 403, "\(host)")
        }
        for changes in [
            ["X-Forwarded-For": "127.0.0.1"], ["Via": "1.1 proxy"], ["Sec-Fetch-Site": "cross-site"],
            ["Sec-Fetch-Site": "same-site"], ["Origin": "http://evil.example"], ["Host": nil],
        ] as [[String: String?]] {
            #expect(await page.ask("/_inspect", .get, "", changes).status == 403, "\(changes)")
            #expect(await page.replay("{}", token: token, changes).status == 403, "\(changes)")
        }
        for changes in [["Origin": nil], ["Origin": "null"], ["Content-Type": "text/plain"]] as [[String: String?]] {
            #expect(await page.replay("{}", token: token, changes).status == 403, "\(changes)")
        }
        for wrong in ["", "x", token + "x"] { #expect(await page.replay("{}", token: wrong).status == 403) }
        #expect(page.sent.withLock { $0.isEmpty })
        for host in ["127.0.0.1:8080", "localhost:8080", "127.0.0.1"] {
            #expect(await page.ask("/_inspect", .get, "", ["Host": host]).status == 200)
        }
    }

    @Test("no page may be framed, kept, or load anything from elsewhere")
    func fields() async {
        let page = Page()
        for target in ["/_inspect", "/_inspect/style.css", "/_inspect/script.js"] {
            let answer = await page.ask(target)
            let policy = answer.fields["Content-Security-Policy"] ?? ""
            #expect(answer.status == 200 && answer.fields["Cache-Control"] == "no-store")
            #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
            #expect(!policy.contains("unsafe") && !policy.contains("http"))
        }
        #expect(await page.ask("/_inspect/x").status == 404)
        #expect(await page.ask("/_inspect", .post).status == 404)
    }
}
