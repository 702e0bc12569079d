import HTTP
import JSON
import OAuth
import Service
import TestSupport
import Testing
import Time

/// `POST /app-flip/authorize` in the whole service.
@Suite("App Flip", .timeLimit(.minutes(5))) struct AppFlipTests {
    typealias Harness = AppFlipHarness

    @Test("whoever agrees gets a code at each of Google's twelve addresses, and Google redeems it")
    func twelve() async throws {
        let harness = try await Harness()
        #expect(Set(Harness.redirectURIs).count == 12)
        for uri in Harness.redirectURIs {
            let answer = try await harness.flip(["redirectURI": .string(uri)])
            #expect(answer.status == 200 && answer.address == uri && answer.state == "s+1= &ü" && answer.error == nil)
            #expect(answer.response.fields["Cache-Control"] == "no-store")
            let tokens = try await harness.redeem(try #require(answer.code), uri: uri)
            #expect(tokens.short == "200" && !tokens.refresh.isEmpty, "\(uri)")
            #expect(tokens.json["scope"]?.string == "devices" && tokens.json["token_type"]?.string == "Bearer")
        }
    }

    @Test(
        "FLP-1, FLP-3: any other address is refused, and there is nothing to open",
        arguments: [
            Harness.host + "/a/com.google.chromecast", Harness.home.uppercased(), Harness.home + "/",
            Harness.home + "?x=1", Harness.home + "#f", Harness.home + " ", Harness.host + ":443/a/com.google.OPA",
            "http://oauth-redirect.googleusercontent.com/a/com.google.OPA",
            "https://oauth-redirect.googleusercontent.com.example.test/a/com.google.OPA",
            "https://user@oauth-redirect.googleusercontent.com/a/com.google.OPA",
            Harness.host + "/a/com.example.app", Harness.home + "/../x", Harness.host + "/a/com.google.OPA%2Edev",
            Harness.browser, Harness.host + "/r/OTHER", "/a/com.google.OPA", "/frontend", "com.example.app:/callback",
            "",
        ])
    func elsewhere(uri: String) async throws {
        let harness = try await Harness()
        for decision in ["agree", "deny", "cancel", "maybe"] {
            let answer = try await harness.flip(["redirectURI": .string(uri), "decision": .string(decision)])
            #expect(answer.short == "400 appFlip.redirectUnknown" && answer.openURL == nil)
            #expect(answer.response.fields["Content-Type"] == "application/problem+json")
            #expect(answer.late?.status == 503)
        }
    }

    @Test("the sandbox's addresses are taken where the configuration says so alone")
    func sandbox() async throws {
        let harness = try await Harness { $0.google?.sandbox = false }
        for uri in Harness.redirectURIs {
            let isSandbox = uri.contains("sandbox")
            #expect(
                try await harness.flip(["redirectURI": .string(uri)]).short
                    == (isSandbox ? "400 appFlip.redirectUnknown" : "200 code"), "\(uri)")
        }
    }

    @Test(
        "a user who leaves or says no is told apart, and no code is made",
        arguments: [("cancel", "cancelled"), ("deny", "access_denied")])
    func declined(decision: String, error: String) async throws {
        let harness = try await Harness()
        let answer = try await harness.flip(["decision": .string(decision)])
        #expect(answer.status == 200 && answer.address == Harness.home && answer.error == error)
        #expect(answer.state == "s+1= &ü" && answer.code == nil)
        #expect(!harness.log().contains("a code was made"))
    }

    @Test(
        "FLP-2: every error has the state as it came",
        arguments: [
            "s+1=", "a b", "a%20b&error=x#f", "ü\u{0}\u{301}", "{\"x\":[1]}", String(repeating: "x", count: 4096),
        ])
    func state(text: String) async throws {
        let harness = try await Harness()
        for (changes, expected): ([String: JSONValue?], String?) in [
            ([:], nil), (["decision": "deny"], "access_denied"), (["decision": "cancel"], "cancelled"),
            (["clientID": "alexa"], "invalid_request"), (["scope": "nonsense"], "invalid_request"),
        ] {
            let answer = try await harness.flip(changes.merging(["state": .string(text)]) { $1 })
            #expect(answer.error == expected && answer.state.map { Array($0.utf8) } == Array(text.utf8))
            // The query's parts are those that we wrote, whatever the state holds.
            #expect(answer.query?.items.map(\.name).filter { $0 == "error" || $0 == "code" }.count == 1)
        }
        let carol = try await harness.post(
            Harness.body(["state": .string(text)]), token: try harness.token("u1003"))
        #expect(carol.error == "unrecoverable" && carol.state == text)
        #expect(try await harness.post(Harness.body(["state": .string(text)]), token: nil).state == text)
    }

    @Test("what is missing or wrong at an allowed address is an invalid request, and Google hears of it")
    func invalid() async throws {
        let harness = try await Harness()
        let cases: [[String: JSONValue?]] = [
            ["state": nil], ["state": ""], ["state": 5], ["state": .string(String(repeating: "x", count: 4097))],
            ["clientID": nil], ["clientID": ""], ["clientID": "alexa"], ["clientID": "Google"], ["clientID": "google "],
            ["decision": nil], ["decision": ""], ["decision": "Agree"], ["decision": true],
            ["scope": "nonsense"], ["scope": "devices profile"], ["scope": "Devices"], ["scope": "devices+profile"],
        ]
        for changes in cases {
            let answer = try await harness.flip(changes)
            #expect(answer.short == "200 invalid_request" && answer.address == Harness.home, "\(changes)")
            #expect(answer.code == nil && answer.query?["error_description"]?.isEmpty == false)
        }
        #expect(try await harness.flip(["state": nil]).query?["state"] == nil)
        let long = try await harness.flip(["state": .string(String(repeating: "x", count: 4097))])
        #expect(long.state?.count == 4097)
    }

    @Test("a scope need not be named; named twice, or joined by plus, it is what Google meant")
    func scopes() async throws {
        let harness = try await Harness()
        for scope: JSONValue? in [nil, "", "devices devices", "devices+devices", " devices "] {
            let answer = try await harness.flip(["scope": scope])
            let tokens = try await harness.redeem(try #require(answer.code), uri: Harness.home)
            #expect(tokens.json["scope"]?.string == "devices", "\(scope ?? "none")")
        }
    }
}
