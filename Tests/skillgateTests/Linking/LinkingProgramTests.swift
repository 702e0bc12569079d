import Alexa
import FoundationEssentials
import Glibc
import HTTP
import JSON
import Simulator
import TestSupport
import Testing

/// App-to-app account linking from outside: the program, a simulated Amazon over TLS, and an app.
@Suite("Account linking, by the program", .timeLimit(.minutes(5))) struct LinkingProgramTests {
    @Test(
        "an app links in each region while Alexa redeems our code, Alexa's token works, and unlinking ends both",
        arguments: AlexaRegion.allCases)
    func sequence(region: AlexaRegion) async throws {
        let account = LinkingStage.account(region)
        try await LinkingStage.with(accounts: [account]) { app in
            let linked = try await app.link(account, byAlexaApp: region != .farEast)
            #expect(linked.status == 200 && linked.json["status"] == "LINKED", "\(linked.json)")
            #expect(linked.json["region"]?.string == region.rawValue)
            let enabled = try #require(app.stage.hosts.linking.enabled.first)
            #expect(enabled.account == account && enabled.stage == "development")
            #expect(try await app.speech(for: enabled)?.contains("u1001") == true)
            let refreshed = try #require(await app.stage.hosts.linking.refresh(enabled))
            #expect(refreshed.accessToken != enabled.accessToken)
            #expect(try await app.speech(for: refreshed)?.contains("u1001") == true)
            let status = try await app.call("GET", "/alexa/link")
            #expect(status.json["status"] == "LINKED" && status.json["links"]?.array?.count == 1)
            let ended = try await app.call("DELETE", "/alexa/link")
            #expect(ended.status == 200 && ended.json["status"] == "NOT_LINKED")
            #expect(app.stage.hosts.linking.enabled.isEmpty)
            #expect(try await app.speech(for: refreshed)?.contains("u1001") != true)
            #expect(await app.stage.hosts.linking.refresh(refreshed) == nil)
            #expect(try await app.stage.grants().isEmpty)
        }
    }

    @Test("the first region is down and the regions cannot be asked for: the user is linked all the same")
    func firstRegionDown() async throws {
        let account = LinkingStage.account(.europe)
        try await LinkingStage.with(accounts: [account]) { app in
            app.stage.hosts.always(.enablement(.northAmerica), .status(503))
            app.stage.hosts.always(.regions, .status(500))
            let linked = try await app.link(account)
            #expect(linked.json["status"] == "LINKED" && linked.json["region"] == "EU", "\(linked.json)")
            let enabled = try #require(app.stage.hosts.linking.enabled.first)
            #expect(try await app.speech(for: enabled)?.contains("u1001") == true)
        }
    }

    @Test("Alexa takes 4.4 s to redeem the code: the app waits, and is linked")
    func slowRedemption() async throws {
        let account = LinkingStage.account(.northAmerica)
        try await LinkingStage.with(accounts: [account]) { app in
            app.stage.hosts.script(.enablement(.northAmerica), [.delay(.milliseconds(4400))])
            let start = ContinuousClock.now
            let linked = try await app.link(account)
            #expect(linked.json["status"] == "LINKED", "\(linked.json)")
            #expect(start.duration(to: .now) >= .milliseconds(4400))
            #expect(app.stage.hosts.linking.enabled.count == 1)
        }
    }

    @Test("killed while Alexa has the code and we have no answer: the next pass asks Alexa, and the user is linked")
    func killed() async throws {
        let account = LinkingStage.account(.northAmerica)
        _ = try await Stage.with(LinkingStage.options) { stage in
            stage.hosts.script(.enablement(.northAmerica), [.lostAnswer])
            try await stage.run(isEndedByBody: true) { service in
                stage.knowSkill(of: service, accounts: [account])
                let app = LinkingStage(
                    stage: stage, service: service,
                    token: try await stage.embeddedToken(of: service, client: "app"))
                let start = try await app.call("GET", "/alexaurl")
                let address = try #require(start.json["alexaAppUrl"]?.string)
                let redirect = try stage.hosts.linking.consent(to: address, account: account)
                let body = JSONValue.object(["redirect": .string(redirect)]).encoded()
                // Nobody waits for this answer.
                let client = try RawClient(port: service.port)
                client.send(
                    RawClient.request(
                        "/alexa/link",
                        fields: ["Authorization": "Bearer " + app.token, "Content-Type": "application/json"],
                        body: body))
                let isOver = ContinuousClock.now.advanced(by: .seconds(60))
                while stage.hosts.linking.enabled.isEmpty, .now < isOver { _ = try await app.call("GET", "/healthz") }
                #expect(stage.hosts.linking.enabled.count == 1, "Alexa has redeemed the code")
                service.program.send(signal: SIGKILL)
                withExtendedLifetime(client) {}
            }
            // Pending links are looked at when the time of a call is over: a minute later.
            let text = try String(contentsOfFile: stage.configurationPath, encoding: .utf8)
            let later = text.replacing("development: true,", with: "development: true, clockOffsetSeconds: 60,")
            try Data(later.utf8).write(to: URL(filePath: stage.configurationPath))
            let listed = try await ProgramRun.run(["links", "list", "--config", stage.configurationPath])
            #expect(listed.output.contains("PENDING"))
            let flushed = try await ProgramRun.run(["events", "flush", "--json", "--config", stage.configurationPath])
            #expect(flushed.output.contains("\"links\":1"), "\(flushed.output) \(flushed.error)")
            let settled = try await ProgramRun.run(["links", "list", "--config", stage.configurationPath])
            #expect(settled.output.contains("LINKED") && !settled.output.contains("PENDING"))
        }
    }

    @Test("TOK-8: the user disables the skill in the Alexa app: the link and its tokens end, and the account stays")
    func disabled() async throws {
        let account = LinkingStage.account(.northAmerica)
        try await LinkingStage.with(accounts: [account]) { app in
            #expect(try await app.link(account).json["status"] == "LINKED")
            let enabled = try #require(app.stage.hosts.linking.enabled.first)
            for event in [AlexaCaller.Event.enabled, .accountLinked, .enabled] {
                #expect(try await app.tell(event, of: enabled) == 200)
            }
            #expect(try await app.speech(for: enabled)?.contains("u1001") == true)
            #expect(try await app.call("GET", "/alexa/link").json["links"]?.array?.count == 1)
            // Events may come late, or twice.
            for event in [AlexaCaller.Event.disabled, .disabled] {
                #expect(try await app.tell(event, of: enabled) == 200)
            }
            #expect(try await app.speech(for: enabled)?.contains("u1001") != true)
            #expect(try await app.call("GET", "/alexa/link").json["status"] == "NOT_LINKED")
            #expect(try await app.stage.grants().isEmpty)
            #expect(try await app.link(account).json["status"] == "LINKED", "the account is there still")
        }
    }

    @Test("a user who says no is told nothing of an error, and nothing is left behind")
    func cancelled() async throws {
        let account = LinkingStage.account(.northAmerica)
        try await LinkingStage.with(accounts: [account]) { app in
            for byAlexaApp in [true, false] {
                let refused = try await app.link(account, byAlexaApp: byAlexaApp, error: "access_denied")
                #expect(refused.status >= 400 && refused.json["code"] != nil && refused.json["userMessage"] == nil)
            }
            #expect(try await app.call("GET", "/alexa/link").json["status"] == "NOT_LINKED")
            #expect(try await app.stage.grants().isEmpty)
            #expect(try await app.link(account).json["status"] == "LINKED")
        }
    }

    @Test(
        "each region's refusal is told with its code, a message for the user and whether to try again",
        arguments: AlexaRegion.allCases)
    func refusals(region: AlexaRegion) async throws {
        let account = LinkingStage.account(region)
        try await LinkingStage.with(accounts: [account]) { app in
            let rows: [(status: Int, body: String, code: String)] = [
                (400, #"{"message":"Invalid account linking credentials"}"#, "link.credentialsRefused"),
                (400, #"{"message":"Request body is not valid"}"#, "link.enablementInvalid"),
                (401, "", "link.amazonTokenRefused"), (403, "<html>no</html>", "link.notAllowed"),
                (404, "{}", "link.skillUnknown"), (409, "{}", "link.stageConflict"), (429, "{}", "link.throttled"),
                (500, "{}", "link.alexaFault"), (503, "", "link.alexaUnavailable"), (301, "", "link.unexpectedAnswer"),
            ]
            for row in rows {
                // Asked again with a fresh token after 401.
                let fault = AmazonFault.status(row.status, body: row.body)
                app.stage.hosts.script(.enablement(region), row.status == 401 ? [fault, fault] : [fault])
                let refused = try await app.link(account)
                #expect(refused.status >= 400 && refused.json["code"]?.string == row.code, "\(row) \(refused.json)")
                #expect(refused.json["userMessage"]?.string?.isEmpty == false && refused.json["retry"] != nil)
                #expect(refused.json["traceID"]?.string?.count == 32)
                #expect(try await app.call("GET", "/alexa/link").json["links"]?.array?.isEmpty == true)
                #expect(try await app.stage.grants().isEmpty)
            }
            #expect(try await app.link(account).json["status"] == "LINKED", "and then it is as if nothing had been")
        }
    }

    @Test("links list shows what is linked; links revoke ends it at Alexa and here, while the service runs")
    func commands() async throws {
        let accounts = [LinkingStage.account(.northAmerica), LinkingStage.account(.europe, "dave")]
        try await LinkingStage.with(accounts: accounts) { app in
            #expect(try await app.links(["list"]).error.contains("there are no links"))
            for account in accounts { #expect(try await app.link(account).json["status"] == "LINKED") }
            let listed = try await app.links(["list", "--json"])
            let lines = try listed.output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
            #expect(listed.code == 0 && lines.count == 2)
            #expect(Set(lines.map { $0["region"]?.string ?? "" }) == ["NA", "EU"])
            #expect(lines.allSatisfy { $0["sub"] == "u1001" && $0["status"] == "LINKED" && $0["flow"] == "app" })
            #expect(try await app.links(["list", "--user", "u1002"]).output.isEmpty)
            for words in [["revoke", "nonsense"], ["revoke", "--user", "u1002"]] {
                let refused = try await app.links(words)
                #expect(refused.code == 1 && refused.output.isEmpty && refused.error.contains("link"))
            }
            #expect(app.stage.hosts.linking.enabled.count == 2)
            let european = try #require(lines.first { $0["region"] == "EU" }?["id"]?.string)
            let enabled = try #require(app.stage.hosts.linking.enabled.first { $0.account.home == .europe })
            #expect(try await app.speech(for: enabled)?.contains("u1001") == true)
            let revoked = try await app.links(["revoke", european])
            #expect(revoked.code == 0 && revoked.output.contains("disabled at Alexa"), "\(revoked.error)")
            #expect(app.stage.hosts.linking.enabled.map(\.account.home) == [.northAmerica])
            // The running service hears of it within seconds.
            let isOver = ContinuousClock.now.advanced(by: .seconds(30))
            while try await app.speech(for: enabled)?.contains("u1001") == true, .now < isOver {}
            #expect(try await app.speech(for: enabled)?.contains("u1001") != true)
            // Alexa does not answer: what is ours ends all the same, and the line says so.
            app.stage.hosts.always(.enablement(.northAmerica), .status(500))
            let rest = try await app.links(["revoke", "--user", "u1001", "--json"])
            let line = try JSONValue(parsing: Array(rest.output.utf8))
            #expect(rest.code == 0 && line["ok"] == true && line["alexaTold"] == false)
            #expect(try await app.links(["list"]).output.isEmpty)
            #expect(try await app.stage.grants().isEmpty)
        }
    }

    @Test(
        "wrong usage exits with 2",
        arguments: [
            ["list"], ["list", "x", "--config", "f"], ["revoke", "--config", "f"],
            ["revoke", "a", "b", "--config", "f"],
            ["revoke", "a", "--user", "u", "--config", "f"], ["revoke", "a"],
        ])
    func wrongUsage(words: [String]) async throws {
        let run = try await ProgramRun.run(["links"] + words)
        #expect(run.code == 2 && run.output.isEmpty && !run.error.isEmpty)
    }
}
