import AppLinking
import Foundation
import JSON
import TestSupport
import Testing

@Suite("Client of the service", .timeLimit(.minutes(5))) struct LinkClientTests {
    static let startAnswer = """
        {"companionAppURL":"https://alexa.example/app?x=1","LWAFallBackURL":"https://amazon.example/ap/oa?x=1",\
        "alexaAppUrl":"https://alexa.example/app?x=1","lwaFallBackUrl":"https://amazon.example/ap/oa?x=1",\
        "state":"made-by-server"}
        """

    static func failure<Result>(_ work: () async throws(LinkClientError) -> Result) async -> LinkClientError? {
        do {
            _ = try await work()
            return nil
        } catch {
            return error
        }
    }

    @Test("a link starts with two addresses and a state; what is asked is escaped")
    func start() async throws {
        let server = try LinkServer { _ in ("200 OK", Self.startAnswer) }
        let start = try await server.client(path: "/base/", language: .japanese).start(
            state: "S+1", skill: "a b", redirect: "https://app.example/cb?t=1&x=ä")
        #expect(start.alexaAppURL.absoluteString == "https://alexa.example/app?x=1")
        #expect(start.loginWithAmazonURL.absoluteString == "https://amazon.example/ap/oa?x=1")
        #expect(start.state == "made-by-server")
        let request = try #require(server.requests.first)
        #expect(
            request.line == "GET /base/alexaurl?state=S%2B1&skill=a%20b"
                + "&redirect=https%3A%2F%2Fapp.example%2Fcb%3Ft%3D1%26x%3D%C3%A4 HTTP/1.1")
        #expect(request.fields["authorization"] == "Bearer user-token")
        #expect(request.fields["accept-language"] == "ja")
        #expect(request.fields["cookie"] == nil)
        _ = try await server.client().start(state: nil)
        #expect(server.requests.last?.line == "GET /alexaurl HTTP/1.1")
    }

    @Test("the app's own state stands where the service names none; without any there is no link")
    func ownState() async throws {
        let server = try LinkServer { _ in
            ("200 OK", #"{"companionAppURL":"https://a.example","LWAFallBackURL":"https://b.example"}"#)
        }
        #expect(try await server.client().start(state: "my-own-state").state == "my-own-state")
        let failure = await Self.failure { () throws(LinkClientError) in
            guard let client = try? server.client() else { return }
            _ = try await client.start(state: nil)
        }
        #expect(failure?.kind == .unexpectedAnswer)
    }

    @Test("a link is completed by the whole address, by code and state, or by the error")
    func complete() async throws {
        let server = try LinkServer { request in
            (
                "200 OK",
                request.body.contains("redirect")
                    ? #"{"status":"LINKED","traceID":"t1","more":1}"# : #"{"status":"PENDING"}"#
            )
        }
        let client = try server.client()
        let link = "https://app.example/link?code=A%2BN&state=S1"
        guard case .complete(let back) = try await AlexaLinkHandlerTests.outcome(link) else {
            Issue.record("the link is refused")
            return
        }
        let result = try await client.complete(.redirect(back))
        #expect(result.status == .linked && result.traceID == "t1")
        let pending = try await client.complete(.code("A+N", state: "S1"))
        #expect(pending.status == .pending && pending.traceID == nil)
        _ = try await client.complete(.error("server_error", description: "broke", state: "S1"))
        _ = try await client.complete(.error("access_denied", description: nil, state: "S1"))
        let bodies: [JSONValue] = [
            ["redirect": .string(link)], ["amazonAuthCode": "A+N", "state": "S1"],
            ["error": "server_error", "errorDescription": "broke", "state": "S1"],
            ["error": "access_denied", "state": "S1"],
        ]
        #expect(server.requests.count == bodies.count)
        for (request, body) in zip(server.requests, bodies) {
            #expect(request.line == "POST /alexa/link HTTP/1.1")
            #expect(request.fields["content-type"] == "application/json")
            #expect(try JSONValue(parsing: Array(request.body.utf8)) == body)
        }
    }

    @Test("the overview holds each link, and words of a newer service are unknown")
    func overview() async throws {
        let server = try LinkServer { _ in
            (
                "200 OK",
                """
                {"status":"LINKED","links":[{"id":"l1","status":"LINKED","skill":"ride","stage":"live","region":"EU",\
                "flow":"app","linkedAt":"2026-11-30T10:00:00Z"},{"id":"l2","status":"SUSPENDED","region":null,\
                "linkedAt":"2026-11-30T10:00:00.500Z"},{"id":"l3","status":"PENDING"}]}
                """
            )
        }
        let overview = try await server.client().overview()
        #expect(overview.status == .linked)
        #expect(overview.links.map(\.id) == ["l1", "l2", "l3"])
        #expect(overview.links.map(\.status) == [.linked, .unknown, .pending])
        let first = try #require(overview.links.first)
        #expect([first.skill, first.stage, first.region, first.flow] == ["ride", "live", "EU", "app"])
        #expect(first.linkedAt == Date(timeIntervalSince1970: 1_796_032_800))
        #expect(overview.links[1].linkedAt == Date(timeIntervalSince1970: 1_796_032_800.5))
        #expect(server.requests.first?.line == "GET /alexa/link HTTP/1.1")
        #expect(try await server.client().status() == .linked)
    }

    @Test("one link is ended by its id, or all of them")
    func unlink() async throws {
        let server = try LinkServer { _ in ("200 OK", #"{"status":"NOT_LINKED","links":[]}"#) }
        try await server.client().unlink(id: "a&b")
        try await server.client().unlink()
        #expect(
            server.requests.map(\.line) == ["DELETE /alexa/link?id=a%26b HTTP/1.1", "DELETE /alexa/link HTTP/1.1"])
    }

    @Test("a problem comes with what the user is told, whether to try again, and its trace")
    func problems() async throws {
        let server = try LinkServer { request in
            if request.line.hasPrefix("DELETE") {
                return ("403 Forbidden", #"{"status":403,"code":"link.notAllowed","traceID":"t3"}"#)
            }
            return (
                "409 Conflict",
                #"{"type":"about:blank","title":"t","status":409,"code":"link.stateReused","traceID":"t2","#
                    + #""userMessage":"Please start again.","retry":"now"}"#
            )
        }
        let client = try server.client()
        let failure = await Self.failure { () throws(LinkClientError) in
            _ = try await client.complete(.code("ANsecret", state: "S1"))
        }
        #expect(
            failure?.kind == .refused(code: "link.stateReused") && failure?.status == 409 && failure?.retry == .now
                && failure?.userMessage == "Please start again." && failure?.traceID == "t2")
        let silent = await Self.failure { () throws(LinkClientError) in try await client.unlink() }
        #expect(silent?.kind == .refused(code: "link.notAllowed") && silent?.retry == .never)
        #expect(silent?.userMessage == nil && silent?.traceID == "t3")
        for error in [failure, silent] {
            #expect(!String(reflecting: error).contains("user-token") && !"\(error as Any)".contains("ANsecret"))
        }
    }

    @Test("what is no answer of the service's has the library's own words, in the user's language")
    func otherAnswers() async throws {
        for (status, body, kind, retry) in [
            ("200 OK", "<html>", LinkClientError.Kind.unexpectedAnswer, LinkRetry.later),
            ("200 OK", #"{"state":"x"}"#, .unexpectedAnswer, .later),
            ("502 Bad Gateway", "<html>", .unexpectedAnswer, .later),
            ("302 Found", "", .unexpectedAnswer, .later), ("401 Unauthorized", "", .signInNeeded, .now),
            ("401 Unauthorized", #"{"code":"token.expired","retry":"now","userMessage":"x"}"#, .signInNeeded, .now),
            ("503 Service Unavailable", "{}", .refused(code: nil), .later),
        ] {
            let server = try LinkServer { _ in (status, body) }
            let client = try server.client(language: .german)
            let failure = await Self.failure { () throws(LinkClientError) in try await client.overview() }
            #expect(failure?.kind == kind && failure?.retry == retry, "\(status) \(body)")
            if body == "<html>" { #expect(failure?.userMessage?.hasPrefix("Wir können Alexa") == true) }
            #expect(await client.status() == .unknown)
            // A redirect is not followed: the token stays with the service.
            #expect(server.requests.allSatisfy { $0.line == "GET /alexa/link HTTP/1.1" })
        }
    }

    @Test("without a token nothing is sent")
    func noToken() async throws {
        let server = try LinkServer { _ in ("200 OK", Self.startAnswer) }
        let client = try server.client(token: nil)
        let failure = await Self.failure { () throws(LinkClientError) in try await client.start(state: nil) }
        #expect(failure?.kind == .signInNeeded && failure?.userMessage == "Please sign in again.")
        #expect(server.requests.isEmpty)
    }

    @Test("a service that is silent or gone is told apart")
    func transport() async throws {
        let silent = try LinkServer { _ in nil }
        let slow = try silent.client(timeout: 1)
        let late = await Self.failure { () throws(LinkClientError) in try await slow.overview() }
        #expect(late?.kind == .timedOut && late?.retry == .now)
        let port = try QuietPort()
        let url = try #require(URL(string: "http://127.0.0.1:\(port.number)"))
        let client = LinkClient(baseURL: url, language: .english) { "user-token" }
        let gone = await Self.failure { () throws(LinkClientError) in try await client.overview() }
        #expect(gone?.kind == .unreachable && gone?.userMessage?.isEmpty == false)
        #expect(await client.status() == .unknown)
        port.release()
    }

    @Test("a cancelled task ends, and the user is told nothing")
    func cancelled() async throws {
        let server = try LinkServer { _ in nil }
        let client = try server.client()
        let task = Task { await Self.failure { () throws(LinkClientError) in try await client.overview() } }
        task.cancel()
        let failure = await task.value
        #expect(failure?.kind == .cancelled && failure?.userMessage == nil)
    }
}
