import Alexa
import Concurrency
import Crypto
import HTTP
import JSON
import OAuth
import Service
import Storage
import Telemetry
import TestSupport
import Testing
import Time

/// The regions that are asked, and what each may answer.
@Suite("Linking in three regions", .timeLimit(.minutes(5))) struct LinkRegionTests {
    private static func hosts(_ hosts: [String]) -> HTTPResponse {
        let list = hosts.map { "\"\($0)\"" }.joined(separator: ",")
        return HTTPResponse(status: 200, body: Array("{\"endpoints\":[\(list)]}".utf8))
    }

    private static let names: [AlexaRegion: String] = [
        .northAmerica: "api.amazonalexa.com", .europe: "api.eu.amazonalexa.com", .farEast: "api.fe.amazonalexa.com",
    ]

    @Test("LNK-4: a user is linked in the region that Alexa names, and in no other", arguments: AlexaRegion.allCases)
    func named(region: AlexaRegion) async throws {
        let harness = try await LinkHarness()
        let host = try #require(Self.names[region])
        harness.world.withLock { world in
            world.endpoints = Self.hosts([host])
            world.regions = Dictionary(
                uniqueKeysWithValues: AlexaRegion.allCases.map { ($0, $0 == region ? .home : .status(500, "")) })
        }
        let answer = try await harness.link()
        #expect(answer.json["status"] == "LINKED" && answer.json["region"]?.string == region.rawValue)
        #expect(harness.world.withLock { $0.enabled.map(\.region) } == [region])
        #expect(try await harness.links().first?.region == region)
    }

    @Test("LNK-4: a host that is none of Alexa's is not asked, and each of the three is")
    func foreignHost() async throws {
        let harness = try await LinkHarness()
        harness.world.withLock { $0.endpoints = Self.hosts(["api.fe.amazon.com"]) }
        #expect(try await harness.link().json["status"] == "LINKED")
        #expect(harness.world.withLock { Set($0.enabled.map(\.region)) } == Set(AlexaRegion.allCases))
    }

    @Test("LNK-5: of several hosts each gets a code of its own; the unused ones are withdrawn, the good host is kept")
    func several() async throws {
        for endpoints in [
            Self.hosts(["api.amazonalexa.com", "api.fe.amazonalexa.com"]), Self.hosts([]),
            HTTPResponse(status: 500), HTTPResponse(status: 200, body: Array("<html>".utf8)),
        ] {
            let harness = try await LinkHarness()
            harness.world.withLock { world in
                world.endpoints = endpoints
                world.regions = [
                    .northAmerica: .status(404, "{}"), .europe: .status(404, "{}"), .farEast: .home,
                ]
            }
            #expect(try await harness.link().json["region"] == "FE")
            let calls = harness.world.withLock { $0.enabled }
            let codes = calls.compactMap { $0.body["accountLinkRequest"]?["authCode"]?.string }
            #expect(Set(codes).count == calls.count && calls.count >= 2)
            // Only what Alexa redeemed opens anything.
            #expect(try await harness.grants().count == 1)
            for code in codes {
                let wasUnused = try await harness.running.service.authorization.withdraw(
                    code: Secret(code), by: harness.running.clock.deadline())
                #expect(!wasUnused)
            }
            // Status and exit go to the good host.
            harness.running.clock.advance(by: .seconds(120))
            #expect(try await harness.call(.get, "/alexa/link").json["status"] == "LINKED")
            #expect(try await harness.call(.delete, "/alexa/link").json["status"] == "NOT_LINKED")
            #expect(harness.world.withLock { $0.disabled } == [.farEast])
        }
    }

    @Test("the first region is down: the user of another is linked all the same")
    func firstDown() async throws {
        for down in [LinkHarness.Behaviour.silent, .status(503, "<html>")] {
            let harness = try await LinkHarness()
            harness.world.withLock { world in
                world.endpoints = HTTPResponse(status: 503)
                world.regions = [.northAmerica: down, .europe: .home, .farEast: .status(404, "{}")]
            }
            #expect(try await harness.link().json["region"] == "EU")
        }
    }

    @Test(
        "LNK-3, LNK-6: each error of Alexa's has its code, its words and its advice, and leaves nothing behind",
        arguments: [
            (400, #"{"message":"Invalid account linking credentials"}"#, 502, "link.credentialsRefused", "now"),
            (400, #"{"message":"bad"}"#, 502, "link.enablementInvalid", "never"),
            (401, "{}", 502, "link.amazonTokenRefused", "now"), (403, "{}", 502, "link.notAllowed", "never"),
            (404, "{}", 502, "link.skillUnknown", "never"), (409, "{}", 502, "link.stageConflict", "never"),
            (429, "{}", 503, "link.throttled", "later"), (500, "{}", 502, "link.alexaFault", "now"),
            (503, "<html>later</html>", 503, "link.alexaUnavailable", "later"),
            (200, "<html>hello</html>", 502, "link.unexpectedAnswer", "later"),
            (301, "", 502, "link.unexpectedAnswer", "later"),
            (201, #"{"accountLink":{"status":"NOT_LINKED"}}"#, 502, "link.notLinked", "now"),
        ])
    func errors(status: Int, body: String, answer expected: Int, code: String, retry: String) async throws {
        for all in [false, true] {
            let harness = try await LinkHarness()
            harness.world.withLock { world in
                if all { world.endpoints = HTTPResponse(status: 500) }
                world.regions = Dictionary(
                    uniqueKeysWithValues: AlexaRegion.allCases.map { ($0, .status(status, body)) })
            }
            let answer = try await harness.link()
            #expect(answer.status == expected && answer.code == code && answer.json["retry"]?.string == retry)
            #expect(answer.json["userMessage"]?.string?.isEmpty == false)
            #expect(!answer.text.contains("html"))
            // 401 is tried once more, with a fresh token; nothing else is.
            let tries = harness.world.withLock { $0.enabled.count }
            #expect(tries == (all ? 3 : 1) * (status == 401 ? 2 : 1))
            #expect(try await harness.leftovers() == [0, 0, 0])
        }
    }

    @Test("LNK-3: the log of a 403 says which stage was sent")
    func stage() async throws {
        let harness = try await LinkHarness()
        harness.world.withLock { $0.regions[.northAmerica] = .status(403, "{}") }
        _ = try await harness.link()
        harness.running.log.flush()
        #expect(
            harness.running.lines.lines.contains {
                $0.contains("link.notAllowed") && $0.contains("stage development, status 403")
            })
    }

    @Test(
        "what Login with Amazon refuses is told by its code",
        arguments: [
            (400, #"{"error":"invalid_grant"}"#, 502, "grant.lwaInvalidGrant", "now"),
            (401, #"{"error":"invalid_client"}"#, 502, "grant.lwaInvalidClient", "never"),
            (400, #"{"error":"unauthorized_client"}"#, 502, "grant.lwaUnauthorizedClient", "never"),
            (503, "", 503, "grant.lwaUnavailable", "later"),
            (200, #"{"access_token":"Atza|x","token_type":"bearer"}"#, 502, "grant.lwaNoRefreshToken", "now"),
        ])
    func exchange(status: Int, body: String, answer expected: Int, code: String, retry: String) async throws {
        let harness = try await LinkHarness()
        harness.world.withLock { $0.tokenAnswer = HTTPResponse(status: status, body: Array(body.utf8)) }
        let answer = try await harness.link()
        #expect(answer.status == expected && answer.code == code && answer.json["retry"]?.string == retry)
        #expect(harness.world.withLock { $0.enabled.isEmpty })
        #expect(try await harness.links().isEmpty)
    }

    @Test("a region says nothing and the others refuse: the link is pending until Alexa tells, with no second call")
    func pending() async throws {
        for isLinked in [true, false] {
            let harness = try await LinkHarness()
            harness.world.withLock { world in
                world.endpoints = HTTPResponse(status: 500)
                world.regions[.northAmerica] = isLinked ? .answerLost : .silent
            }
            let answer = try await harness.link()
            #expect(answer.status == 200 && answer.json["status"] == "PENDING")
            #expect(try await harness.call(.get, "/alexa/link").json["status"] == "PENDING")
            harness.running.clock.advance(by: .seconds(70))
            try await harness.running.service.links.flush()
            let links = try await harness.links()
            if isLinked {
                #expect(links.map(\.status) == [.linked] && links.first?.region == .northAmerica)
                #expect(try await harness.grants().map(\.id) == [links.first?.providerGrantID])
                #expect(try await harness.amazonGrants().map(\.key.amazonUserID) == ["amzn1.ask.account.amz-1"])
            } else {
                #expect(links.isEmpty)
                #expect(try await harness.leftovers() == [0, 0, 0])
            }
            #expect(harness.world.withLock { $0.enabled.count } == 3)
        }
    }

    @Test("a pending link is looked at again, ever more seldom, while Alexa cannot tell; and is removed in the end")
    func patient() async throws {
        let harness = try await LinkHarness()
        harness.world.withLock { $0.regions[.northAmerica] = .silent }
        #expect(try await harness.link().json["status"] == "PENDING")
        // Login with Amazon is out of reach, so that the token cannot be renewed when it is old.
        harness.world.withLock { $0.tokenAnswer = HTTPResponse(status: 503) }
        var looks = 0
        for _ in 0..<30 {
            harness.running.clock.advance(by: .seconds(3600))
            looks += try await harness.running.service.links.flush()
            if try await harness.links().isEmpty { break }
        }
        #expect((20...26).contains(looks))
        #expect(try await harness.leftovers() == [0, 0, 0])
    }

    @Test("the user unlinks while Alexa is linking: that holds, whether Alexa has our tokens yet or not")
    func unlinkedMeanwhile() async throws {
        for isRedeemed in [false, true] {
            let harness = try await LinkHarness()
            let unlink: @Sendable () async -> Void = { _ = try? await harness.call(.delete, "/alexa/link") }
            harness.world.withLock { world in
                if isRedeemed { world.afterwards = unlink } else { world.meanwhile = unlink }
            }
            let answer = try await harness.link()
            #expect(answer.code == (isRedeemed ? "link.unlinkedMeanwhile" : "link.credentialsRefused"))
            #expect(try await harness.leftovers() == [0, 0, 0])
            #expect(harness.world.withLock { $0.linked.isEmpty })
            if isRedeemed { #expect(harness.world.withLock { $0.disabled.contains(.northAmerica) }) }
        }
    }
}
