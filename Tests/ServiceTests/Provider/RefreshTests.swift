import Concurrency
import Crypto
import HTTP
import JSON
import OAuth
import Service
import TestSupport
import Testing
import Time

@Suite("Refresh tokens") struct RefreshTests {
    let world: TokenHarness

    init() async throws { world = try await TokenHarness() }

    @Test("R1: a refresh token of another client, or of nobody, is invalid_grant")
    func owner() async throws {
        let token = try await world.redeem(try await world.code()).refresh
        let odd = TokenHarness.basic("odd", TokenHarness.oddSecret)
        #expect(try await world.refresh(token, basic: odd).short == "400 invalid_grant")
        #expect(try await world.refresh(token, basic: nil, [("client_id", "app")]).short == "400 invalid_grant")
        #expect(try await world.refresh(token + "x").short == "400 invalid_grant")
        #expect(try await world.token([("grant_type", "refresh_token")]).short == "400 invalid_request")
        #expect(try await world.refresh(token).short == "200")
    }

    @Test("R2, R9: a refresh may narrow its scopes, never widen them, and narrowing does not last")
    func scopes() async throws {
        let token = try await world.redeem(try await world.code(scopes: ["profile", "devices"])).refresh
        #expect(try await world.refresh(token, [("scope", "devices")]).json["scope"] == "devices")
        #expect(try await world.refresh(token).json["scope"] == "profile devices")
        let narrow = try await world.redeem(try await world.code(scopes: ["profile"])).refresh
        for scope in ["devices", "profile devices", "nonsense"] {
            #expect(try await world.refresh(narrow, [("scope", scope)]).short == "400 invalid_scope")
        }
        #expect(try await world.refresh(narrow, [("scope", "profile")]).short == "200")
        let other = [("resource", "https://other.example")]
        #expect(try await world.refresh(narrow, other).short == "400 invalid_target")
    }

    @Test("R3, R4: a public client's token is replaced on use, and a late repeat ends its family")
    func rotation() async throws {
        let first = try await world.appTokens()
        let second = try await world.appRefresh(first.refresh)
        #expect(second.status == 200 && !second.refresh.isEmpty && second.refresh != first.refresh)
        world.clock.advance(by: .seconds(30))
        let repeated = try await world.appRefresh(first.refresh)
        #expect(repeated.response.body == second.response.body)
        let third = try await world.appRefresh(second.refresh)
        #expect(third.status == 200)
        world.clock.advance(by: .seconds(1))
        #expect(try await world.appRefresh(first.refresh).short == "400 invalid_grant")
        #expect(try await world.appRefresh(third.refresh).short == "400 invalid_grant")
        #expect(await world.rejection(third.access) == .revoked)
        #expect(
            world.events.withLock { events in
                events.contains { if case .refreshReplayed(client: "app", _) = $0 { true } else { false } }
            })
    }

    @Test("PRO-7: ten refreshes at once all answer alike, one rotation is made, and the newest token works")
    func atOnce() async throws {
        let first = try await world.appTokens()
        let world = world
        let answers = try await withThrowingTaskGroup(of: TokenHarness.Answer.self) { group in
            for _ in 0..<10 { group.addTask { try await world.appRefresh(first.refresh) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0.status == 200 })
        #expect(Set(answers.map(\.refresh)).count == 1)
        let newest = try #require(answers.first).refresh
        #expect(try await world.appRefresh(newest).short == "200")
        world.clock.advance(by: .seconds(86_400))
        #expect(try await world.appRefresh(first.refresh).short == "400 invalid_grant")
    }

    @Test("R5: a linking client keeps its refresh token, in parallel and for years")
    func confidential() async throws {
        let token = try await world.redeem(try await world.code()).refresh
        let world = world
        let answers = try await withThrowingTaskGroup(of: TokenHarness.Answer.self) { group in
            for _ in 0..<10 { group.addTask { try await world.refresh(token) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0.status == 200 && $0.refresh.isEmpty })
        world.clock.advance(by: .seconds(3 * 365 * 86_400))
        #expect(try await world.refresh(token).short == "200")
    }

    @Test("R6: a token that is replaced on use ends after 90 idle days")
    func idle() async throws {
        let first = try await world.appTokens()
        world.clock.advance(by: .seconds(90 * 86_400 - 1))
        let second = try await world.appRefresh(first.refresh)
        #expect(second.status == 200)
        world.clock.advance(by: .seconds(90 * 86_400))
        #expect(try await world.appRefresh(second.refresh).short == "400 invalid_grant")
    }

    @Test("R7: revoking by user, or by user and client, ends those tokens alone")
    func revocation() async throws {
        let alexa = try await world.redeem(try await world.code())
        let app = try await world.appTokens()
        #expect(try await world.server.grants(of: "u1", by: world.deadline).count == 2)
        #expect(try await world.server.revoke(subject: "u9", client: nil, by: world.deadline) == 0)
        #expect(try await world.server.revoke(subject: "u1", client: "alexa", by: world.deadline) == 1)
        #expect(await world.rejection(alexa.access) == .revoked)
        #expect(await world.rejection(app.access) == nil)
        #expect(try await world.refresh(alexa.refresh).short == "400 invalid_grant")
        #expect(try await world.server.grants(of: "u1", by: world.deadline).map(\.clientID) == ["app"])
        #expect(try await world.server.revoke(subject: "u1", client: nil, by: world.deadline) == 1)
        #expect(try await world.appRefresh(app.refresh).short == "400 invalid_grant")
        #expect(try await world.server.grants(of: "u1", by: world.deadline).isEmpty)
    }

    @Test("PRO-8: a refresh token needs no session: it works on day 15, whatever scopes were asked for")
    func session() async throws {
        let token = try await world.redeem(try await world.code(scopes: ["devices"])).refresh
        for days in [1, 14] {
            world.clock.advance(by: .seconds(days * 86_400))
            #expect(try await world.refresh(token).short == "200")
        }
    }

    @Test("OPS-3: a refresh token that no store knows is invalid_grant, and the operator is told")
    func lostStore() async throws {
        let token = try await world.redeem(try await world.code()).refresh
        let empty = try await TokenHarness()
        #expect(try await empty.refresh(token).short == "400 invalid_grant")
        #expect(empty.events.withLock { $0 }.contains(.unknownRefreshToken(client: "alexa")))
        // One that is another client's, or was revoked, is none of those.
        let odd = TokenHarness.basic("odd", TokenHarness.oddSecret)
        #expect(try await world.refresh(token, basic: odd).short == "400 invalid_grant")
        #expect(!world.events.withLock { $0 }.contains(.unknownRefreshToken(client: "odd")))
    }

    @Test("N8: back ends' tokens and users' tokens open nothing of each other's")
    func backEnds() async throws {
        let basic = TokenHarness.basic("back-end", "s3cret")
        let answer = try await world.token([("grant_type", "client_credentials")], basic: basic)
        #expect(answer.status == 200 && answer.refresh.isEmpty)
        #expect(answer.json["scope"] == "report" && answer.json["expires_in"] == 3600)
        #expect(await world.rejection(answer.access) == .wrongAudience)
        let wider = [("grant_type", "client_credentials"), ("scope", "profile")]
        #expect(try await world.token(wider, basic: basic).short == "400 invalid_scope")
    }
}
