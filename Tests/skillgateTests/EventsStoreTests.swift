import Alexa
import Concurrency
import Crypto
import Dispatch
import FoundationEssentials
import Glibc
import HTTP
import JSON
import Simulator
import Storage
import TestSupport
import Testing
import Time

@Suite("Events and grants in the program's store", .timeLimit(.minutes(5))) struct EventsStoreTests {
    private var soon: Deadline { .after(.seconds(600), from: .now) }

    @Test("each AcceptGrant that was answered with success is in the store after kill -9 at any moment, 100 times")
    func killed() async throws {
        let unanswered = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<2 { group.addTask { try await killedOften(50) } }
            return try await group.reduce(0, +)
        }
        #expect(unanswered > 0, "none was cut in the middle")
    }

    /// Returns how many requests had no answer.
    private func killedOften(_ times: Int) async throws -> Int {
        try await Stage.with { stage in
            var promised: Set<String> = []
            var unanswered = 0
            // In how long most rounds are through on this machine, found as the rounds go: no end too early or too late to tell.
            var span = 20_000
            for round in 0..<times {
                let requests = try (0..<3).map { number in
                    let user = "u\(round)-\(number)"
                    let body = try stage.body(
                        "smart-home/accept-grant", token: stage.token(subject: user),
                        grantCode: stage.hosts.tokens.issueCode(clientID: "events-client"))
                    return (user, stage.forwarded(body))
                }
                try await stage.run(isEndedByBody: true) { service in
                    let moment = Int.random(in: 0..<span)
                    let accepted = try await onOwnThread {
                        let client = try RawClient(port: service.port)
                        LaterEnd.kill(service.program, afterMicroseconds: moment)
                        return requests.compactMap { user, request in
                            client.send(request)
                            return client.answer()?.text.contains("AcceptGrant.Response") == true ? user : nil
                        }
                    }
                    if accepted.isEmpty { span = min(span * 3 / 2, 2_000_000) }
                    if accepted.count == requests.count { span = max(span * 3 / 4, 1000) }
                    unanswered += requests.count - accepted.count
                    promised.formUnion(accepted)
                }
            }
            let store = try stage.openStore()
            for user in promised { #expect(try await store.grants(of: user, by: soon).count == 1, "\(user)") }
            #expect(!promised.isEmpty)
            return unanswered
        }
    }

    @Test("no token of Amazon's can be read in the bytes of the database or its journal, also after a refresh")
    func sealed() async throws {
        try await Stage.with { stage in
            stage.hosts.tokens.rotatesRefreshTokens = true
            _ = try await stage.run { service in
                try await EventsProgramTests.grant(stage, service)
                let old = try #require(try await stage.grants().first)
                // An event whose grant ends in a minute brings a refresh.
                let store = try stage.openStore()
                let credentials = AmazonCredentials(
                    accessToken: old.credentials.accessToken, refreshToken: old.credentials.refreshToken,
                    expiresAt: Stage.now().adding(seconds: 60))
                try await store.put(credentials, for: old.key, sequence: old.sequence + 1, by: soon)
                _ = try await service.answer(to: stage.posted(EventsProgramTests.event("lamp", "c1")))
                try await until { !stage.hosts.events.accepted.isEmpty }
                let new = try #require(try await stage.grants().first)
                #expect(new.credentials.accessToken != old.credentials.accessToken)
                #expect(new.credentials.refreshToken != old.credentials.refreshToken)
                var bytes: [UInt8] = []
                for end in ["", "-wal"] {
                    bytes += FileManager.default.contents(atPath: stage.databasePath + end).map { [UInt8]($0) } ?? []
                }
                #expect(bytes.firstRange(of: Array("u1001".utf8)) != nil, "what is in clear is found")
                for secret in [old, new].flatMap({ [$0.credentials.accessToken, $0.credentials.refreshToken] }) {
                    #expect(bytes.firstRange(of: Array(secret.exposed.utf8)) == nil)
                }
                for prefix in ["Atza|", "Atzr|"] { #expect(bytes.firstRange(of: Array(prefix.utf8)) == nil) }
            }
        }
    }

    @Test("SIGTERM while the gateway is silent ends the program; what was not taken stays, and events flush sends it")
    func flush() async throws {
        try await Stage.with { stage in
            stage.hosts.always(.events(.northAmerica), .silence)
            let outcome = try await stage.run { service in
                try await EventsProgramTests.grant(stage, service)
                for device in ["lamp", "fan"] {
                    let answer = try await service.answer(to: stage.posted(EventsProgramTests.event(device, "c1")))
                    #expect(answer.status == 202)
                }
                try await until { stage.hosts.received.contains { $0.target == "/v3/events" } }
            }
            #expect(outcome.code == 0)
            #expect(outcome.error.contains("stopped"))
            #expect(try await stage.openStore().waitingRows(by: soon) == 2)
            stage.hosts.always(.events(.northAmerica), nil)
            // The one that was under way is leased until its end is noticed.
            let command = ["events", "flush", "--config", stage.configurationPath, "--json"]
            var sent: Int64 = 0
            while sent < 2 {
                let pass = try await ProgramRun.run(command)
                #expect(pass.code == 0)
                sent += try JSONValue(parsing: Array(pass.output.utf8))["sent"]?.integer ?? 0
            }
            #expect(try await ProgramRun.run(command).output == Self.nothing)
            #expect(EventsProgramTests.taken(stage) == ["lamp": ["c1"], "fan": ["c1"]])
            let text = try await ProgramRun.run(Array(command.dropLast()))
            #expect(text.output == "0 sent, 0 dropped, 0 put off, 0 waiting\n")
        }
    }

    @Test("a user who took the consent back: the gateway refuses, the refresh too, and grant and events are gone")
    func revoked() async throws {
        try await Stage.with { stage in
            let outcome = try await stage.run { service in
                try await EventsProgramTests.grant(stage, service)
                stage.hosts.tokens.revokeAll()
                let answer = try await service.answer(to: stage.posted(EventsProgramTests.event("lamp", "c1")))
                #expect(answer.status == 202)
                try await until { try await stage.grants().isEmpty }
                #expect(try await stage.openStore().waitingRows(by: soon) == 0)
            }
            #expect(stage.hosts.events.accepted.isEmpty)
            #expect(outcome.error.contains("grant.revoked"))
        }
    }

    private static let nothing = #"{"ok":true,"sent":0,"dropped":0,"postponed":0,"waiting":0,"links":0}"# + "\n"
}

/// Kills a program from a thread of its own.
enum LaterEnd {
    static func kill(_ program: ProgramRun, afterMicroseconds microseconds: Int) {
        DispatchQueue(label: "an end").asyncAfter(deadline: .now() + .microseconds(microseconds)) {
            program.send(signal: SIGKILL)
        }
    }
}
