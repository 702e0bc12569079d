import Alexa
import Crypto
import FoundationEssentials
import HTTP
import JSON
import OAuth
import Simulator
import TestSupport
import Testing
import Time

/// The built program from outside: what it is for.
@Suite("The main job over a socket", .timeLimit(.minutes(5))) struct MainJobTests {
    @Test("a signed request with a linked user's token is answered with what the provider holds for that user")
    func ownResources() async throws {
        var options = Stage.Options()
        options.provider = .embedded
        try await Stage.with(options) { stage in
            let outcome = try await stage.run { service in
                for (subject, name, mail) in [
                    ("u1001", "Alice Archer", "alice@example.com"), ("u1002", "Bob Bäcker", "bob@example.com"),
                ] {
                    let token = try await stage.embeddedToken(of: service, subject: subject)
                    let launch = try stage.body("custom/launch-linked", token: token)
                    let greeting = try await service.answer(to: stage.signed(launch))
                    #expect(greeting.status == 200)
                    #expect(greeting.speech == "Welcome back, \(name). Where would you like to go?")
                    let question = try stage.body("custom/who-am-i-linked", token: token)
                    let answer = try await service.answer(to: stage.signed(question))
                    #expect(answer.speech == "You are \(name), and I send receipts to \(mail).")
                }
            }
            #expect(outcome.code == 0)
            let asked = stage.hosts.received.map { $0.host + $0.target }
            #expect(asked == ["s3.amazonaws.com/echo.api/\(AlexaSigner.chainFile)"], "one fetch serves all")
        }
    }

    @Test("any byte of a signed body that changes on the way is a 400 without a body, and the log says why")
    func changedByte() async throws {
        try await Stage.with { stage in
            let outcome = try await stage.run { service in
                let body = try stage.body("custom/who-am-i-linked")
                let request = try stage.signed(body)
                for place in [1, body.count / 3, body.count / 2, body.count - 2] {
                    var changed = request
                    changed[request.count - body.count + place] ^= 1
                    let answer = try await service.answer(to: changed)
                    #expect(answer.status == 400 && answer.body.isEmpty, "byte \(place)")
                }
                let unsigned = RawClient.request(
                    "/alexa/custom", fields: ["Content-Type": "application/json"], body: body)
                let answer = try await service.answer(to: unsigned)
                #expect(answer.status == 400 && answer.body.isEmpty)
                #expect(try await service.answer(to: request).speech?.contains("Alice Archer") == true)
            }
            #expect(outcome.code == 0)
            #expect(count("verification.signature\"", in: outcome.error) == 4)
            #expect(count("verification.headerMissing\"", in: outcome.error) == 1)
        }
    }

    @Test("the smart-home samples are answered through the forwarder's route, grants exchanged and kept unreadable")
    func smartHomeSamples() async throws {
        try await withTemporaryFolder { folder in
            let config = try await ReplayCommandTests.development(in: folder)
            let service = try ProgramRun(["serve", "--config", config, "--port", "0"])
            let address = String(await service.line().dropFirst("listening on ".count))
            let outcome = try await ProgramRun.run([
                "replay", ReplayCommandTests.samples + "/smart-home", "--sign", "--json", "--config", config,
                "--endpoint", address,
            ])
            service.send(signal: 15)
            #expect(await service.end().code == 0)
            let lines = try ReplayCommandTests.lines(outcome)
            for line in lines where line["ok"] != true { Issue.record("\(line)") }
            #expect(outcome.code == 0)
            #expect(lines.count >= 20)
        }
    }

    @Test("a grant is exchanged at Login with Amazon with the events pair, once, and no token is readable in the store")
    func grantAtRest() async throws {
        try await Stage.with { stage in
            let tokens = ["Atza|access-of-amazon-0123456789", "Atzr|refresh-of-amazon-0123456789"]
            stage.hosts.script(
                .token,
                [
                    .status(
                        200,
                        body: """
                            {"access_token":"\(tokens[0])","refresh_token":"\(tokens[1])",\
                            "token_type":"bearer","expires_in":3600}
                            """)
                ])
            try await stage.run { service in
                let grant = try stage.body("smart-home/accept-grant", grantCode: "AN-the-code")
                for _ in 0..<2 {
                    let answer = try await service.answer(to: stage.forwarded(grant))
                    #expect(answer.text.contains("AcceptGrant.Response"), "\(answer.text)")
                }
                let discovered = try await service.answer(to: stage.forwarded(stage.body("smart-home/discover")))
                #expect(discovered.text.contains(#""payload":{"endpoints":[]}"#))

                // While the program runs, its journal is part of the database.
                var seen = 0
                for name in try FileManager.default.contentsOfDirectory(atPath: stage.folder)
                where name.hasPrefix("store.sqlite") && !name.hasSuffix(".key") {
                    let content = Array(try Data(contentsOf: URL(filePath: "\(stage.folder)/\(name)")))
                    seen += content.count
                    for text in tokens + ["AN-the-code"] {
                        #expect(content.firstRange(of: Array(text.utf8)) == nil, "\(name) holds \(text)")
                    }
                }
                #expect(seen > 4096)
            }
            let grants = try await stage.grants()
            #expect(grants.map(\.credentials.accessToken.exposed) == [tokens[0]])
            #expect(grants.map(\.credentials.refreshToken.exposed) == [tokens[1]])
            let asked = stage.hosts.received.filter { $0.target == "/auth/o2/token" }
            #expect(asked.count == 1)
            let form = try #require(Form(decoding: String(decoding: asked[0].body, as: UTF8.self)))
            #expect(form["code"] == "AN-the-code" && form["client_id"] == "events-client")
            #expect(form["redirect_uri"] == nil)
        }
    }

    @Test("what no forwarder proves is a 401, and neither provider nor Amazon hears of it")
    func unproven() async throws {
        try await Stage.with { stage in
            let outcome = try await stage.run { service in
                let body = try stage.body("smart-home/accept-grant", grantCode: "AN-a-code")
                let proven = stage.forwarded(body)
                var changed = proven
                changed[proven.count - 3] ^= 1
                let other = String(decoding: proven, as: UTF8.self).replacing(
                    "/alexa/smart-home", with: "/alexa/smart-home?region=EU")
                let bare = RawClient.request(
                    "/alexa/smart-home", fields: ["Content-Type": "application/json"], body: body)
                let old = ForwarderVerifier.headerValue(
                    secret: stage.forwarderSecret, at: Stage.now().adding(seconds: -120), target: "/alexa/smart-home",
                    body: body)
                let stale = RawClient.request(
                    "/alexa/smart-home", fields: ["Content-Type": "application/json", "X-Skillgate-Forwarder": old],
                    body: body)
                for request in [changed, Array(other.utf8), bare, stale] {
                    #expect(try await service.answer(to: request).status == 401)
                }
                #expect(stage.provider.connectionCount == 0)
                #expect(stage.hosts.received.isEmpty)
            }
            #expect(count("directive refused", in: outcome.error) == 4)
            #expect(try await stage.grants().isEmpty)
        }
    }
}

/// How often `part` stands in `text`.
func count(_ part: String, in text: String) -> Int { text.ranges(of: part).count }
