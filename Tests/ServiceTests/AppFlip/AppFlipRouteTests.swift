import Crypto
import HTTP
import JSON
import Service
import TestSupport
import Testing

/// `POST /app-flip/authorize` as a route: what it takes, and what it lets nobody see.
@Suite("App Flip: the route", .timeLimit(.minutes(5))) struct AppFlipRouteTests {
    typealias Harness = AppFlipHarness

    @Test("without Google in the configuration there is no such route")
    func absent() async throws {
        let harness = try await Harness { $0.google = nil }
        #expect(try await harness.flip().short == "404 http.notFound")
        let there = try await Harness()
        let answer = await there.running.get("/app-flip/authorize")
        #expect(answer.status == 405 && answer.fields["Allow"] == "POST")
    }

    @Test("DEC-8: what is no JSON, not in UTF-8, or no object with an address is a 400 and opens nothing")
    func bodies() async throws {
        let harness = try await Harness()
        let token = try harness.token()
        let whole = Harness.body().encoded()
        let broken = Array(#"{"redirectURI":""#.utf8) + [0x61, 0xC3, 0x28, 0x62] + Array(#""}"#.utf8)
        let bodies: [([UInt8], String)] = [
            ([], "notJSON"), (Array("{".utf8), "notJSON"), (Array(whole.dropLast()), "notJSON"), (broken, "notJSON"),
            (Array("clientID=google".utf8), "notJSON"), (Array("[]".utf8), "member"), (Array("\"x\"".utf8), "member"),
            (Array("{}".utf8), "member"), (Array(#"{"redirectURI":7}"#.utf8), "member"),
            (Array(#"{"redirectURI":null}"#.utf8), "member"),
            (Array(#"{"redirectURI":"\#(Harness.home)","redirectURI":"\#(Harness.home)"}"#.utf8), "member"),
            (Array(String(repeating: "[", count: 100).utf8), "notJSON"),
        ]
        for (body, reason) in bodies {
            let answer = try await harness.post(body, token: token)
            #expect(answer.short == "400 appFlip.\(reason)" && answer.openURL == nil)
        }
        for type in ["application/x-www-form-urlencoded", "text/plain", ""] {
            #expect(try await harness.post(whole, token: token, type: type).status == 415)
        }
        #expect(
            try await harness.post(whole, token: token, type: "application/json; charset=utf-8").short == "200 code")
    }

    @Test("members that nobody knows are left alone; two ways of sending a token are no way")
    func unknown() async throws {
        let harness = try await Harness()
        #expect(try await harness.flip(["more": ["x": 1]]).short == "200 code")
        let request = HTTPRequest(
            method: .post, target: "/app-flip/authorize?access_token=\(try harness.token())",
            fields: ["Content-Type": "application/json"], body: Harness.body().encoded(),
            deadline: harness.running.clock.deadline())
        let answer = try Harness.Answer(await harness.running.service.router.respond(to: request), late: nil)
        #expect(answer.short == "200 cancelled")
    }

    @Test("what leaves where nothing was ready in time sends Google's app to the browser")
    func late() async throws {
        let harness = try await Harness()
        let late = try #require(try await harness.flip().late)
        let answer = try Harness.Answer(late, late: nil)
        #expect(answer.short == "200 cancelled" && answer.state == "s+1= &ü" && answer.address == Harness.home)
    }

    @Test("no log line holds a code, a token or the state; each outcome has its reason code")
    func secrets() async throws {
        let harness = try await Harness()
        let token = try harness.token()
        let code = try #require(try await harness.post(Harness.body(["state": "s-e-c-r-e-t"]), token: token).code)
        _ = try await harness.post(Harness.body(["state": "s-e-c-r-e-t", "decision": "deny"]), token: token)
        _ = try await harness.post(Harness.body(["state": "s-e-c-r-e-t"]), token: token + "x")
        _ = try await harness.post(Harness.body(["clientID": "alexa", "state": "s-e-c-r-e-t"]), token: token)
        _ = try await harness.post(Harness.body(), token: try harness.token("u1003"))
        _ = try await harness.flip(["redirectURI": "https://evil.example/"])
        let lines = harness.log()
        for secret in [code, token, String(token.suffix(40)), "s-e-c-r-e-t"] { #expect(!lines.contains(secret)) }
        for reason in [
            "appFlip.denied", "token.malformed", "appFlip.clientUnknown", "appFlip.userDisabled",
            "appFlip.redirectUnknown",
        ] { #expect(lines.contains("\"\(reason)\""), "\(reason)") }
        #expect(lines.contains("a code was made for Google's app"))
    }
}
