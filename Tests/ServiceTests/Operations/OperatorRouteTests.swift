import Alexa
import Crypto
import FoundationEssentials
import HTTP
import JSON
import OAuth
import Service
import Simulator
import Storage
import Telemetry
import TestSupport
import Testing
import Time

/// `/admin/links` and `/admin/traces/{id}` of the whole service.
@Suite("The operator's routes", .timeLimit(.minutes(5))) struct OperatorRouteTests {
    static let hostile = #"u"><script>alert(1)</script>"#

    static func start() async throws -> ServiceTests.Running {
        let running = try await ServiceTests.start()
        func save(
            _ id: String, _ outcome: TraceOutcome, _ reason: String?, kind: Trace.Kind = .link, _ subject: String?
        ) async throws {
            try await running.store.save(
                TraceRecord(
                    id: id, kind: kind, startedAt: running.clock.now.adding(seconds: Int64(id.utf8.count)),
                    duration: .milliseconds(7), outcome: outcome, reason: reason, subject: subject,
                    steps: [
                        TraceRecord.Step(
                            name: "enablement.EU", outcome: outcome, reason: reason, start: .milliseconds(1),
                            duration: .milliseconds(6))
                    ], notes: [TraceRecord.Note(name: "skill", value: "<b>demo</b>")]))
        }
        try await save("a", .refused, "link.stateExpired", "u1001")
        try await save("bb", .ok, nil, "u1001")
        try await save("ccc", .failed, "link.alexaFault", Self.hostile)
        try await save("dddd", .refused, "token.expired", kind: .custom, "u1001")
        return running
    }

    static func basic(_ id: String) -> String { "Basic " + Base64.encode(Array("\(id):\(id)-secret".utf8)) }

    private func get(
        _ target: String, _ running: ServiceTests.Running, authorization: String? = Self.basic("operator"),
        accept: String? = nil
    ) async -> HTTPResponse {
        var request = HTTPRequest(method: .get, target: target, deadline: running.clock.deadline())
        request.fields["Authorization"] = authorization
        request.fields["Accept"] = accept
        return await running.service.router.respond(to: request)
    }

    private func ids(_ target: String, _ running: ServiceTests.Running) async throws -> [String] {
        let answer = await get(target, running)
        #expect(answer.status == 200 && answer.fields["Content-Type"] == "application/json")
        #expect(answer.fields["Cache-Control"] == "no-store")
        let attempts = try #require(try JSONValue(parsing: answer.body)["attempts"]?.array)
        return attempts.compactMap { $0["id"]?.string }
    }

    @Test("the list has failed link attempts alone, newest first; one user's and all on request")
    func list() async throws {
        let running = try await Self.start()
        #expect(try await ids("/admin/links", running) == ["ccc", "a"])
        #expect(try await ids("/admin/links?outcome=failed&subject=", running) == ["ccc", "a"])
        #expect(try await ids("/admin/links?subject=u1001", running) == ["a"])
        #expect(try await ids("/admin/links?subject=u1001&outcome=all", running) == ["bb", "a"])
        #expect(try await ids("/admin/links?subject=u9", running) == [])
        #expect(try await ids("/admin/links?subject=\(percentEncoded(Self.hostile))", running) == ["ccc"])
        let steps = try JSONValue(parsing: await get("/admin/links?subject=u1001", running).body)["attempts"]?.array
        #expect(steps?[0]["steps"]?.array?[0]["reason"]?.string == "link.stateExpired")
        for target in ["/admin/links?outcome=none", "/admin/links?subject=%zz"] {
            let answer = await get(target, running)
            #expect(answer.status == 400 && String(decoding: answer.body, as: UTF8.self).contains("admin.query"))
        }
    }

    @Test("no list is longer than fifty attempts")
    func bounded() async throws {
        let running = try await Self.start()
        for number in 0..<80 {
            try await running.store.save(
                TraceRecord(
                    id: "n\(number)", kind: .link, startedAt: running.clock.now.adding(seconds: 100),
                    duration: .milliseconds(1), outcome: .failed))
        }
        #expect(try await ids("/admin/links", running).count == 50)
    }

    @Test("one user's list has the user's links too")
    func links() async throws {
        let running = try await Self.start()
        try await running.store.add(
            Link(
                id: "l1", subject: "u1001", skill: "demo", stage: "live", flow: .app, status: .linked, region: .europe,
                alexaUserID: "amzn1.ask.account.A", linkedAt: running.clock.now, traceID: "bb"),
            by: running.clock.deadline())
        let body = try JSONValue(parsing: await get("/admin/links?subject=u1001", running).body)
        let link = try #require(body["links"]?.array?.first)
        #expect(link["id"]?.string == "l1" && link["region"]?.string == "EU" && link["status"]?.string == "LINKED")
        #expect(link["alexaUserID"]?.string == "amzn1.ask.account.A" && link["traceID"]?.string == "bb")
        #expect(try JSONValue(parsing: await get("/admin/links", running).body)["links"] == nil)
        let page = await get("/admin/links?subject=u1001", running, accept: "text/html")
        #expect(String(decoding: page.body, as: UTF8.self).contains("amzn1.ask.account.A"))
    }

    @Test("a trace is shown by its id, an unknown one is 404")
    func trace() async throws {
        let running = try await Self.start()
        let answer = await get("/admin/traces/ccc", running)
        #expect(answer.status == 200)
        #expect(String(decoding: answer.body, as: UTF8.self) == (try await running.store.trace(id: "ccc")?.json))
        for accept in [nil, "text/html"] {
            let unknown = await get("/admin/traces/nonsense", running, accept: accept)
            #expect(unknown.status == 404)
            #expect(String(decoding: unknown.body, as: UTF8.self).contains("admin.noTrace"))
        }
        #expect(await get("/admin/traces/", running).status == 404)
    }

    @Test(
        "browsers get pages, in which nothing that was sent becomes markup",
        arguments: [
            "/admin/links", "/admin/links?subject=\(percentEncoded(hostile))", "/admin/traces/ccc",
        ])
    func pages(target: String) async throws {
        let running = try await Self.start()
        let page = await get(target, running, accept: "text/html,application/xhtml+xml,*/*;q=0.8")
        #expect(page.status == 200 && page.fields["Content-Type"] == "text/html; charset=utf-8")
        let policy = try #require(page.fields["Content-Security-Policy"])
        #expect(policy.hasPrefix("default-src 'none'; ") && policy.contains("frame-ancestors 'none'"))
        #expect(page.fields["Cache-Control"] == "no-store" && page.fields["Vary"] == "Accept")
        let text = String(decoding: page.body, as: UTF8.self)
        #expect(text.contains("link.alexaFault") && text.contains("&lt;script&gt;alert(1)"))
        #expect(!text.contains("<script") && !text.contains("<b>demo"))
        if target.hasPrefix("/admin/links") { #expect(text.contains(#"href="/admin/traces/ccc""#)) }
        if target.hasPrefix("/admin/traces") { #expect(text.contains("enablement.EU: failed link.alexaFault")) }
    }

    @Test(
        "the page comes where HTML is wanted at least as much as JSON",
        arguments: [
            ("text/html", true), ("text/html, application/json", true), ("TEXT/HTML;q=0.5", true),
            ("application/json;q=0.5, text/html;q=0.6", true), ("*/*", false), ("application/json", false),
            ("text/html;q=0", false), ("application/json, text/html;q=0.9", false), ("text/htmlx", false),
            ("text/html;q=x", false),
        ])
    func negotiation(accept: String, isPage: Bool) async throws {
        let answer = await get("/admin/links", try await Self.start(), accept: accept)
        #expect((answer.fields["Content-Type"] == "text/html; charset=utf-8") == isPage)
    }

    @Test("only a client with the role is let in, by Basic or by its own token")
    func guarded() async throws {
        let running = try await Self.start()
        for target in ["/admin/links", "/admin/traces/ccc", "/admin/traces/nonsense"] {
            let nobody = await get(target, running, authorization: nil, accept: "text/html")
            #expect(nobody.status == 401 && nobody.fields["WWW-Authenticate"]?.hasPrefix("Basic ") == true)
            let wrong = "Basic " + Base64.encode(Array("operator:wrong".utf8))
            #expect(await get(target, running, authorization: wrong).status == 401)
            #expect(await get(target, running, authorization: Self.basic("back-end")).status == 403)
            let user = try running.token(.linked).exposed
            #expect(await get(target, running, authorization: "Bearer " + user).status == 401)
        }
        var request = HTTPRequest(
            method: .post, target: "/oauth/token",
            fields: [
                "Authorization": Self.basic("operator"), "Content-Type": "application/x-www-form-urlencoded",
            ], body: Array("grant_type=client_credentials".utf8), deadline: running.clock.deadline())
        request.peerAddress = "127.0.0.1"
        let tokens = try JSONValue(parsing: await running.service.router.respond(to: request).body)
        let token = try #require(tokens["access_token"]?.string)
        #expect(await get("/admin/links", running, authorization: "Bearer " + token).status == 200)
    }

    @Test("from elsewhere the measures are the operator's alone; others do not learn that they exist")
    func metrics() async throws {
        let running = try await Self.start()
        func status(_ authorization: String?, peer: String) async -> Int {
            var request = HTTPRequest(
                method: .get, target: "/metrics", peerAddress: peer, deadline: running.clock.deadline())
            request.fields["Authorization"] = authorization
            return await running.service.router.respond(to: request).status
        }
        let wrong = "Basic " + Base64.encode(Array("operator:wrong".utf8))
        #expect(await status(nil, peer: "127.0.0.1") == 200)
        #expect(await status(Self.basic("operator"), peer: "192.0.2.7") == 200)
        for authorization in [nil, wrong, Self.basic("back-end"), "Bearer " + (try running.token(.linked).exposed)] {
            #expect(await status(authorization, peer: "192.0.2.7") == 404)
        }
    }
}
