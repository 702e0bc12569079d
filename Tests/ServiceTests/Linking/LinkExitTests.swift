import Alexa
import Concurrency
import Crypto
import HTTP
import JSON
import OAuth
import Service
import Simulator
import Storage
import TestSupport
import Testing
import Time

/// Several links of one user, their status, and the ways out.
@Suite("Links and their end", .timeLimit(.minutes(5))) struct LinkExitTests {
    /// A signed request of Alexa's with one of our tokens, or a skill event.
    private func alexa(
        _ harness: LinkHarness, type: String = "LaunchRequest", user: String, token: Secret?, created: UnixTime? = nil,
        id: String = SecureRandom.uuid()
    ) async throws -> HTTPResponse {
        let now = harness.running.clock.now
        var member: JSONObject = [
            "type": .string(type), "requestId": .string(id), "timestamp": .string(now.iso8601()), "locale": "en-US",
        ]
        if type.hasPrefix("AlexaSkillEvent") {
            member["eventCreationTime"] = .string((created ?? now).iso8601())
            if type.hasSuffix("AccountLinked") { member["body"] = ["accessToken": .string(token?.exposed ?? "")] }
        }
        var person: JSONObject = ["userId": .string(user)]
        if let token, !type.hasSuffix("AccountLinked") { person["accessToken"] = .string(token.exposed) }
        let body: JSONValue = [
            "version": "1.0", "request": .object(member),
            "context": [
                "System": [
                    "application": ["applicationId": .string(harness.running.configuration.skills[0].id)],
                    "user": .object(person), "apiEndpoint": "https://api.eu.amazonalexa.com",
                ]
            ],
        ]
        return try await harness.running.respond(body.encoded())
    }

    /// A token of Alexa's, as a link from the Alexa app brings it.
    private func alexaToken(_ harness: LinkHarness, grantID: String) throws -> Secret {
        let provider = try #require(harness.running.service.provider)
        return try provider.accessToken(
            AccessTokenMinter.Claims(
                subject: "u1001", clientID: "alexa", scopes: ["profile", "devices"], grantID: grantID),
            lifetimeSeconds: 3600)
    }

    /// Waits until the links of the user are as wished; what a request teaches is written after its answer.
    private func until(_ harness: LinkHarness, _ isSo: ([Link]) -> Bool) async throws -> [Link] {
        for _ in 0..<100_000 {
            let links = try await harness.links()
            if isSo(links) { return links }
            await Task.yield()
        }
        Issue.record("the links never became as they should")
        return []
    }

    @Test("LNK-9: two Amazon accounts of one user are two links, and unlinking one leaves the other")
    func twoAccounts() async throws {
        let harness = try await LinkHarness()
        _ = try await harness.link(code: "amz-a")
        harness.running.clock.advance(by: .seconds(10))
        _ = try await harness.link(code: "amz-b")
        let report = try await harness.call(.get, "/alexa/link").json
        #expect(report["status"] == "LINKED")
        let entries = try #require(report["links"]?.array)
        #expect(entries.count == 2 && entries.allSatisfy { $0["status"] == "LINKED" && $0["flow"] == "app" })
        #expect(entries[0]["linkedAt"] != entries[1]["linkedAt"])
        #expect(try await harness.leftovers() == [2, 2, 2])
        let id = try #require(entries[0]["id"]?.string)
        let after = try await harness.call(.delete, "/alexa/link?id=" + id).json
        #expect(after["status"] == "LINKED" && after["links"]?.array?.count == 1)
        #expect(try await harness.leftovers() == [1, 1, 1])
        #expect(harness.world.withLock { $0.linked } == ["amz-b"])
        let link = try #require(try await harness.links().first)
        #expect(try await harness.grants().map(\.id) == [link.providerGrantID])
    }

    @Test("LNK-10: linking again succeeds, keeps one row, and ends the earlier tokens once the later ones stand")
    func again() async throws {
        let harness = try await LinkHarness()
        harness.world.withLock { $0.users = ["amz-1": "same", "amz-2": "same"] }
        _ = try await harness.link(code: "amz-1")
        let first = try #require(try await harness.links().first)
        harness.world.withLock { world in
            world.meanwhile = {
                // Until Alexa has confirmed the later one, the earlier one's tokens are good.
                let ids = (try? await harness.grants().map(\.id)) ?? []
                #expect(ids.contains(first.providerGrantID ?? ""))
            }
        }
        #expect(try await harness.link(code: "amz-2").json["status"] == "LINKED")
        #expect(try await harness.leftovers() == [1, 1, 1])
        let second = try #require(try await harness.links().first)
        #expect(second.id != first.id && second.providerGrantID != first.providerGrantID)
        #expect(try await harness.amazonGrants().first?.credentials.accessToken == Secret("Atza|amz-2"))
    }

    @Test("LNK-10: two tabs at one moment both succeed and leave one row")
    func twoTabs() async throws {
        let harness = try await LinkHarness()
        harness.world.withLock { $0.users = ["amz-1": "same", "amz-2": "same"] }
        let answers = try await withThrowingTaskGroup(of: LinkHarness.Answer.self) { group in
            for code in ["amz-1", "amz-2"] { group.addTask { try await harness.link(code: code) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0.json["status"] == "LINKED" })
        #expect(try await harness.leftovers() == [1, 1, 1])
    }

    @Test("LNK-11: after a stop at any step the next run succeeds, and removing all links works in every state")
    func halfFinished() async throws {
        let breaks: [@Sendable (inout LinkHarness.World) -> Void] = [
            { $0.tokenAnswer = HTTPResponse(status: 503) }, { $0.regions[.northAmerica] = .status(500, "") },
            { $0.regions[.northAmerica] = .silent }, { $0.regions[.northAmerica] = .answerLost },
        ]
        for stop in breaks {
            let harness = try await LinkHarness()
            // A state that never came back, and a run that stops.
            _ = try await harness.state()
            harness.world.withLock { stop(&$0) }
            _ = try await harness.link(code: "amz-1")
            harness.world.withLock { world in
                world.tokenAnswer = nil
                world.regions[.northAmerica] = .home
            }
            #expect(try await harness.link(code: "amz-1").json["status"] == "LINKED")
            let after = try await harness.call(.delete, "/alexa/link")
            #expect(after.status == 200 && after.json["status"] == "NOT_LINKED")
            #expect(try await harness.leftovers() == [0, 0, 0])
            #expect(try await harness.call(.delete, "/alexa/link").json["status"] == "NOT_LINKED")
        }
    }

    @Test("status: what Alexa says is believed, its silence is not; links of others are not seen and not ended")
    func status() async throws {
        let harness = try await LinkHarness()
        #expect(try await harness.call(.get, "/alexa/link").json == ["status": "NOT_LINKED", "links": []])
        _ = try await harness.link()
        let id = try #require(try await harness.links().first?.id)
        let other = try harness.token("u1002")
        #expect(try await harness.call(.get, "/alexa/link", token: other).json["status"] == "NOT_LINKED")
        let foreign = try await harness.call(.delete, "/alexa/link?id=" + id, token: other)
        #expect(foreign.status == 404 && foreign.code == "link.noSuchLink")
        #expect(foreign.json["userMessage"] == "There is no such link any more.")
        // An hour on, Amazon's token is renewed to ask.
        harness.running.clock.advance(by: .seconds(4000))
        #expect(try await harness.call(.get, "/alexa/link").json["status"] == "LINKED")
        harness.running.clock.advance(by: .seconds(4000))
        harness.world.withLock { $0.tokenAnswer = HTTPResponse(status: 503) }
        #expect(try await harness.call(.get, "/alexa/link").json["status"] == "UNKNOWN")
        #expect(try await harness.leftovers() == [1, 1, 1])
        harness.world.withLock { world in
            world.tokenAnswer = nil
            world.linked = []
        }
        #expect(try await harness.call(.get, "/alexa/link").json == ["status": "NOT_LINKED", "links": []])
        #expect(try await harness.leftovers() == [0, 0, 0])
    }

    @Test("a request teaches a link that began in the Alexa app, once, and unlinking ends its tokens")
    func join() async throws {
        let harness = try await LinkHarness()
        let token = try alexaToken(harness, grantID: "g-alexa")
        for _ in 0..<3 { #expect(try await alexa(harness, user: "A1", token: token).status == 200) }
        let links = try await until(harness) { !$0.isEmpty }
        #expect(links.count == 1 && links[0].flow == .alexa && links[0].region == .europe)
        #expect(links[0].alexaUserID == "A1" && links[0].providerGrantID == "g-alexa")
        #expect(try await harness.call(.get, "/alexa/link").json["links"]?.array?.first?["flow"] == "alexa")
        #expect(try await harness.call(.delete, "/alexa/link").json["status"] == "NOT_LINKED")
        #expect(try await harness.links().isEmpty)
        let provider = try #require(harness.running.service.provider)
        #expect(provider.revokedGrants.contains("g-alexa"))
        // A bad token teaches nothing.
        _ = try await alexa(harness, user: "A2", token: harness.running.token(.expired))
        _ = try await alexa(harness, user: "A2", token: harness.running.token(.foreign))
        _ = try await alexa(harness, user: "A2", token: nil)
        #expect(try await harness.links().isEmpty)
    }

    @Test("TOK-8: SkillDisabled ends the link's tokens at once and Amazon's with them; the account stays")
    func disabled() async throws {
        let harness = try await LinkHarness()
        _ = try await harness.link(code: "amz-a")
        harness.running.clock.advance(by: .seconds(5))
        _ = try await harness.link(code: "amz-b")
        let gone = try #require(try await harness.links().first { $0.alexaUserID == "amzn1.ask.account.amz-a" })
        let token = try alexaToken(harness, grantID: try #require(gone.providerGrantID))
        #expect(try await alexa(harness, user: "amzn1.ask.account.amz-a", token: token).status == 200)
        harness.running.clock.advance(by: .seconds(5))
        let event = SecureRandom.uuid()
        for _ in 0..<2 {
            let answer = try await alexa(
                harness, type: "AlexaSkillEvent.SkillDisabled", user: "amzn1.ask.account.amz-a", token: nil, id: event)
            #expect(answer.status == 200)
        }
        #expect(try await harness.links().map(\.alexaUserID) == ["amzn1.ask.account.amz-b"])
        #expect(try await harness.leftovers() == [1, 1, 1])
        // Alexa told us, so it is not told.
        #expect(harness.world.withLock { $0.disabled.isEmpty })
        let refused = try await harness.call(.get, "/v1/me", token: token)
        #expect(refused.status == 401 && refused.code == "token.revoked")
        #expect(try await harness.call(.get, "/alexa/link").status == 200)
    }

    @Test("events in any order: a SkillDisabled from before the link ends nothing, one of another user neither")
    func order() async throws {
        let harness = try await LinkHarness()
        let before = harness.running.clock.now
        harness.running.clock.advance(by: .seconds(30))
        _ = try await harness.link()
        let user = "amzn1.ask.account.amz-1"
        for (user, created) in [(user, before), ("amzn1.ask.account.other", harness.running.clock.now)] {
            let answer = try await alexa(
                harness, type: "AlexaSkillEvent.SkillDisabled", user: user, token: nil, created: created)
            #expect(answer.status == 200)
        }
        #expect(try await harness.leftovers() == [1, 1, 1])
        for type in ["SkillEnabled", "SkillPermissionAccepted", "SkillPermissionChanged"] {
            #expect(try await alexa(harness, type: "AlexaSkillEvent." + type, user: user, token: nil).status == 200)
        }
        #expect(try await harness.leftovers() == [1, 1, 1])
    }

    @Test("SkillAccountLinked teaches the link by the token that it brings, before or after the link is confirmed")
    func accountLinked() async throws {
        let harness = try await LinkHarness()
        let token = try alexaToken(harness, grantID: "g-event")
        _ = try await alexa(harness, type: "AlexaSkillEvent.SkillAccountLinked", user: "A1", token: token)
        let links = try await until(harness) { !$0.isEmpty }
        #expect(links.map(\.alexaUserID) == ["A1"] && links[0].providerGrantID == "g-event")
        // An answer of Alexa's that got lost, and then the event: the pending link is settled by it.
        let pending = try await LinkHarness()
        pending.world.withLock { $0.regions[.northAmerica] = .answerLost }
        #expect(try await pending.link().json["status"] == "PENDING")
        let grantID = try #require(try await pending.grants().first?.id)
        _ = try await alexa(
            pending, type: "AlexaSkillEvent.SkillAccountLinked", user: "amzn1.ask.account.amz-1",
            token: try alexaToken(pending, grantID: grantID))
        let settled = try await until(pending) { $0.first?.status == .linked }
        #expect(settled.count == 1 && settled[0].providerGrantID == grantID && settled[0].flow == .app)
        #expect(try await pending.amazonGrants().map(\.key.amazonUserID) == ["amzn1.ask.account.amz-1"])
    }
}
