import Alexa
import Concurrency
import Crypto
import FoundationEssentials
import HTTP
import JSON
import OAuth
import Service
import Storage
import Telemetry
import TestSupport
import Testing
import Time

@Suite("Smart home: AcceptGrant", .timeLimit(.minutes(5))) struct SmartHomeAcceptGrantTests {
    @Test("AG-1: AcceptGrant is answered with AcceptGrant.Response, and the grant is the user's")
    func accepted() async throws {
        let harness = try SmartHomeHarness()
        let token = try harness.token(grantID: "g1")
        let event = try await harness.event(
            SmartHomeHarness.acceptGrant(token: token), target: "/alexa/smart-home?skill=home&region=FE")
        let messageID = try #require(event.header("messageId"))
        #expect(messageID != "m1")
        #expect(
            event == [
                "event": [
                    "header": [
                        "namespace": "Alexa.Authorization", "name": "AcceptGrant.Response",
                        "messageId": .string(messageID), "payloadVersion": "3",
                    ], "payload": [:],
                ]
            ])
        let key = GrantKey(
            source: .events, subject: "u1", skill: "home", region: .farEast, providerGrantID: "g1")
        let grants = try await harness.stored()
        #expect(grants.map(\.key) == [key])
        #expect(grants.first?.credentials.accessToken == Secret("Atza|marker-access"))
        #expect(grants.first?.credentials.refreshToken == Secret("Atzr|marker-refresh"))
        #expect(grants.first?.credentials.expiresAt == ManualClock.start.adding(seconds: 3600))
    }

    @Test("AG-1: without a region in the address the grant belongs to that of the configuration")
    func standardRegion() async throws {
        let harness = try SmartHomeHarness()
        _ = try await harness.event(SmartHomeHarness.acceptGrant(token: try harness.token()))
        #expect(try await harness.stored().map(\.key.region) == [.europe])
    }

    @Test("AG-2: the exchange is a form in the body, each value encoded once, without a redirect URI")
    func form() async throws {
        let pair = AmazonClient(id: "amzn1.client", secret: Secret("s%c+t&"))
        let skill = SmartHomeSkill(
            name: "home", providerClient: "alexa", scopes: [], events: .init(client: pair, region: .europe))
        let harness = try SmartHomeHarness(skills: [skill])
        _ = try await harness.event(SmartHomeHarness.acceptGrant(code: "a+b/c=&d", token: try harness.token()))
        let request = try #require(harness.exchanges.first)
        #expect(request.method == .post)
        #expect(request.url == SmartHomeHarness.lwaURL)
        #expect(request.fields["Content-Type"]?.hasPrefix("application/x-www-form-urlencoded") == true)
        let text = String(decoding: request.body ?? [], as: UTF8.self)
        #expect(text.contains("code=a%2Bb%2Fc%3D%26d&"))
        let form = try #require(Form(decoding: text))
        let items = Dictionary(form.items.map { ($0.name, $0.value) }) { first, _ in first }
        #expect(
            items == [
                "grant_type": "authorization_code", "code": "a+b/c=&d", "client_id": "amzn1.client",
                "client_secret": "s%c+t&",
            ])
        #expect(form.items.count == 4)
    }

    @Test(
        "AG-3: a code that LWA refused, however that may be, is not presented again",
        arguments: [
            (#"{"error":"invalid_request"}"#, 400, "grant.lwaInvalidRequest"),
            (#"{"error":"invalid_grant"}"#, 400, "grant.lwaInvalidGrant"),
            (#"{"error":"invalid_client"}"#, 401, "grant.lwaInvalidClient"), ("{}", 500, "grant.lwaUnavailable"),
            ("<html>", 429, "grant.lwaUnavailable"), ("<html>", 200, "grant.lwaNoTokens"),
            (#"{"access_token":"Atza|marker-access","token_type":"bearer"}"#, 200, "grant.lwaNoRefreshToken"),
        ])
    func refused(body: String, status: Int, reason: String) async throws {
        let next = Locked([HTTPResponse.json(body, status: status), .json(SmartHomeHarness.tokens)])
        let harness = try SmartHomeHarness(
            servers: .init(lwa: { _, _ in next.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }))
        let directive = SmartHomeHarness.acceptGrant(token: try harness.token())
        for _ in 0..<2 {
            let event = try await harness.event(directive)
            #expect(event.eventName == "Alexa.Authorization/ErrorResponse")
            #expect(event.errorType == "ACCEPT_GRANT_FAILED")
            #expect(event.errorMessage == reason)
        }
        #expect(harness.exchanges.count == 1)
        #expect(try await harness.stored().isEmpty)
        let traces = try await harness.traces(2)
        #expect(traces.map(\.reason) == [reason, reason] && traces.map(\.subject) == ["u1", "u1"])
        #expect(traces.contains { $0.steps.contains { $0.name == "exchange" && $0.reason == reason } })
        #expect(harness.logText.contains(reason))
    }

    @Test("AG-3: where the connection was refused, one more try succeeds")
    func retried() async throws {
        let isFirst = Locked(true)
        let harness = try SmartHomeHarness(
            servers: .init(lwa: { _, _ throws(HTTPClientError) in
                let wasFirst = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                if wasFirst { throw .unreachable("refused") }
                return .json(SmartHomeHarness.tokens)
            }))
        let event = try await harness.event(SmartHomeHarness.acceptGrant(token: try harness.token()))
        #expect(event.header("name") == "AcceptGrant.Response")
        #expect(harness.exchanges.count == 2)
    }

    @Test("AG-3: an LWA that is silent is given up in time, and not asked again")
    func silent() async throws {
        let harness = try SmartHomeHarness(
            servers: .init(lwa: { _, _ throws(HTTPClientError) in throw .timedOut }))
        let event = try await harness.event(SmartHomeHarness.acceptGrant(token: try harness.token()))
        #expect(event.errorType == "ACCEPT_GRANT_FAILED")
        #expect(event.errorMessage == "grant.lwaTimedOut")
        #expect(harness.exchanges.count == 1)
        // What was asked may last three seconds, and six together with everything else.
        let index = try #require(harness.http.requests.firstIndex { $0.url == SmartHomeHarness.lwaURL })
        #expect(harness.http.deadlines[index] <= harness.clock.deadline(in: .seconds(3)))
    }

    @Test("AG-4: of two grants the later directive's stays, though its exchange ends first")
    func later() async throws {
        let gate = Gate()
        let harness = try SmartHomeHarness(
            servers: .init(lwa: { request, _ in
                let form = Form(decoding: String(decoding: request.body ?? [], as: UTF8.self))
                let code = form?["code"] ?? ""
                if code == "c1" { await gate.pass() }
                return .json(SmartHomeHarness.tokens.replacing("marker-access", with: code))
            }))
        let token = try harness.token()
        async let first = harness.event(SmartHomeHarness.acceptGrant(code: "c1", token: token))
        await gate.arrived()
        let second = try await harness.event(SmartHomeHarness.acceptGrant(code: "c2", token: token))
        gate.open()
        #expect(second.header("name") == "AcceptGrant.Response")
        #expect(try await first.header("name") == "AcceptGrant.Response")
        #expect(try await harness.stored().map(\.credentials.accessToken) == [Secret("Atza|c2")])
    }

    @Test("AG-4: many grants at the same moment are all accepted, and one row remains")
    func parallel() async throws {
        let harness = try SmartHomeHarness()
        let token = try harness.token()
        let names = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<8 {
                group.addTask {
                    try await harness.event(SmartHomeHarness.acceptGrant(code: "c\(number)", token: token))
                        .header("name")
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(names == Array(repeating: "AcceptGrant.Response", count: 8))
        #expect(harness.exchanges.count == 8)
        #expect(try await harness.stored().count == 1)
    }

    @Test("the same code again gets the first outcome, in this process and in another")
    func again() async throws {
        let harness = try SmartHomeHarness()
        let directive = SmartHomeHarness.acceptGrant(token: try harness.token())
        let other = try SmartHomeHarness(grants: harness.grants)
        for harness in [harness, harness, other] {
            #expect(try await harness.event(directive).header("name") == "AcceptGrant.Response")
        }
        #expect(harness.exchanges.count == 1)
        #expect(other.exchanges.isEmpty)
    }

    @Test("two processes that get the same code at once exchange it once")
    func processes() async throws {
        let gate = Gate()
        let harness = try SmartHomeHarness(
            servers: .init(lwa: { _, _ in
                await gate.pass()
                return .json(SmartHomeHarness.tokens)
            }))
        let other = try SmartHomeHarness(grants: harness.grants)
        let directive = SmartHomeHarness.acceptGrant(token: try harness.token())
        async let first = harness.event(directive)
        await gate.arrived()
        async let second = other.event(directive)
        async let third = harness.event(directive)
        gate.open()
        for event in try await [first, second, third] { #expect(event.header("name") == "AcceptGrant.Response") }
        #expect(harness.exchanges.count == 1)
        #expect(other.exchanges.isEmpty)
    }

    @Test("a code that another process holds until the deadline is refused, not exchanged")
    func held() async throws {
        let harness = try SmartHomeHarness(now: { ContinuousClock.now })
        let hash = Hex.encode(SHA256.digest("marker-code"))
        _ = try await harness.grants.claimAcceptGrant(
            codeHash: hash, subject: "u1", owner: "other", for: .seconds(60), by: harness.clock.deadline())
        let event = try await harness.event(
            SmartHomeHarness.acceptGrant(token: try harness.token()),
            deadline: .after(.milliseconds(300), from: .now))
        #expect(event.errorMessage == "grant.heldElsewhere")
        #expect(harness.exchanges.isEmpty)
    }

    @Test("another user who presents the same code is refused")
    func otherUser() async throws {
        let harness = try SmartHomeHarness()
        _ = try await harness.event(SmartHomeHarness.acceptGrant(token: try harness.token()))
        let event = try await harness.event(SmartHomeHarness.acceptGrant(token: try harness.token(subject: "u2")))
        #expect(event.errorMessage == "grant.codeOfAnotherUser")
        #expect(harness.exchanges.count == 1)
    }

    @Test("when the caller leaves during the exchange, the grant is stored all the same")
    func callerLeft() async throws {
        let gate = Gate()
        let harness = try SmartHomeHarness(
            servers: .init(lwa: { _, _ throws(HTTPClientError) in
                await gate.pass()
                if Task.isCancelled { throw .cancelled }
                return .json(SmartHomeHarness.tokens)
            }))
        let directive = SmartHomeHarness.acceptGrant(token: try harness.token())
        let caller = Task { try await harness.event(directive) }
        await gate.arrived()
        caller.cancel()
        _ = try await caller.value
        gate.open()
        #expect(try await harness.event(directive).header("name") == "AcceptGrant.Response")
        #expect(harness.exchanges.count == 1)
        #expect(try await harness.stored().count == 1)
    }

    @Test("without the pair of Send Alexa Events the grant fails, and log and trace say why")
    func noPair() async throws {
        let skill = SmartHomeSkill(name: "home", providerClient: "alexa", scopes: [], events: nil)
        let harness = try SmartHomeHarness(skills: [skill])
        let event = try await harness.event(SmartHomeHarness.acceptGrant(token: try harness.token()))
        #expect(event.errorType == "ACCEPT_GRANT_FAILED")
        #expect(harness.exchanges.isEmpty)
        #expect(try await harness.trace().reason == "grant.eventsNotConfigured")
        #expect(harness.logText.contains("grant.eventsNotConfigured"))
    }

    @Test("a grant that cannot be stored is not accepted")
    func brokenStore() async throws {
        for (error, reason) in [
            (GrantStoreError.timedOut, "grant.storeTimedOut"), (.unavailable("disk full"), "grant.storeUnavailable"),
        ] {
            let harness = try SmartHomeHarness(grants: BrokenGrantStore(error: error))
            let event = try await harness.event(SmartHomeHarness.acceptGrant(token: try harness.token()))
            #expect(event.errorType == "ACCEPT_GRANT_FAILED")
            #expect(event.errorMessage == reason)
            #expect(try await harness.trace().reason == reason)
        }
    }

    @Test(
        "a token that is not good fails the grant before anything is asked of Amazon",
        arguments: [
            (TokenFault.missing, "token.missing"), (.opaque, "token.malformed"), (.otherKey, "token.badSignature"),
            (.expired, "token.expired"), (.lacksScope, "token.lacksScope"), (.otherClient, "token.wrongClient"),
            (.providerSilent, "token.providerUnreachable"),
        ])
    func tokens(fault: TokenFault, reason: String) async throws {
        let harness = try SmartHomeHarness()
        let event = try await harness.event(SmartHomeHarness.acceptGrant(token: try fault.token(harness)))
        #expect(event.eventName == "Alexa.Authorization/ErrorResponse")
        #expect(event.errorType == "ACCEPT_GRANT_FAILED")
        #expect(event.errorMessage == reason)
        #expect(harness.exchanges.isEmpty)
        #expect(try await harness.trace().reason == reason)
    }

    @Test("AG-5: no log line and no trace has the code, a token or a secret; a short hash of the code is there")
    func logs() async throws {
        let answers = [
            HTTPResponse.json(SmartHomeHarness.tokens),
            .json(#"{"error":"invalid_grant","error_description":"marker-code Atzr|marker-refresh"}"#, status: 400),
        ]
        for answer in answers {
            let harness = try SmartHomeHarness(servers: .init(lwa: { _, _ in answer }))
            let token = try harness.token()
            _ = try await harness.event(SmartHomeHarness.acceptGrant(token: token))
            _ = try await harness.event(SmartHomeHarness.acceptGrant(code: "marker-code", token: token + "x"))
            let traces = try await harness.traces(answer.status == 200 ? 1 : 2).map { "\($0)" }
            let text = harness.logText + traces.joined()
            let hash = Hex.encode(SHA256.digest("marker-code"))
            #expect(harness.logText.contains(hash.prefix(8)))
            #expect(!text.contains(hash))
            for secret in [
                "marker-code", "marker-access", "marker-refresh", "marker-pair-secret", "marker-forwarder-secret",
                token, String(token.suffix(20)), Base64.encode(Array("marker-code".utf8)),
            ] {
                #expect(!text.contains(secret), "\(secret)")
            }
        }
    }
}

/// A token that opens nothing.
enum TokenFault: String, CaseIterable, CustomTestStringConvertible {
    case missing, opaque, otherKey, otherAudience, expired, lacksScope, otherClient, providerSilent

    var testDescription: String { rawValue }

    /// The token, nil where there is none; or a good one while the provider is silent.
    func token(_ harness: SmartHomeHarness) throws -> String? {
        switch self {
        case .missing: return nil
        case .opaque: return "0123456789abcdef0123456789abcdef"
        case .otherKey:
            return try harness.token(key: SigningKey(try PrivateKey.generate(.p256), algorithm: .es256, id: "k1"))
        case .otherAudience: return try harness.token(audience: "another")
        case .expired:
            let token = try harness.token()
            harness.clock.advance(by: .seconds(3661))
            return token
        case .lacksScope: return try harness.token(scopes: ["profile"])
        case .otherClient: return try harness.token(client: "google")
        case .providerSilent:
            harness.servers.withLock { $0.jwksFails = true }
            return try harness.token()
        }
    }
}
