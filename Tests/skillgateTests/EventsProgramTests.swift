import Alexa
import Concurrency
import Crypto
import FoundationEssentials
import Glibc
import HTTP
import JSON
import Simulator
import Storage
import TestSupport
import Testing
import Time

@Suite("Events, by the program", .timeLimit(.minutes(5))) struct EventsProgramTests {
    /// The answer to a directive that was deferred: each is a message of its own, told from others by its token.
    static func event(_ device: String, _ token: String, user: String = "u1001") -> String {
        #"{"sub":"\#(user)","deviceID":"\#(device)","kind":"deferred","correlationToken":"\#(token)","properties":[]}"#
    }

    /// The tokens of what the gateways took, by device; of what came more than once the first counts.
    static func taken(_ stage: Stage) -> [String: [String]] {
        var taken: [String: [String]] = [:]
        for event in stage.hosts.events.accepted {
            guard let device = event.endpointID, let token = event.header("correlationToken") else { continue }
            if taken[device]?.contains(token) != true { taken[device, default: []].append(token) }
        }
        return taken
    }

    static func grant(_ stage: Stage, _ service: RunningService) async throws {
        let body = try stage.body("smart-home/accept-grant", grantCode: stage.hosts.issueGrantCode())
        let answer = try await service.answer(to: stage.forwarded(body))
        #expect(answer.text.contains("AcceptGrant.Response"))
    }

    @Test("what the back end posts is at the gateway within a second, with the token of the user's AcceptGrant")
    func within() async throws {
        try await Stage.with { stage in
            _ = try await stage.run { service in
                try await Self.grant(stage, service)
                var shortest = Duration.seconds(60)
                for number in 0..<5 {
                    let answer = try await service.answer(to: stage.posted(Self.event("lamp", "c\(number)")))
                    #expect(answer.status == 202 && answer.text == #"{"accepted":1}"#)
                    let start = ContinuousClock.now
                    try await until { stage.hosts.events.accepted.count > number }
                    shortest = min(shortest, start.duration(to: .now))
                }
                #expect(shortest < .seconds(1))
                #expect(Self.taken(stage) == ["lamp": (0..<5).map { "c\($0)" }])
            }
        }
    }

    @Test("killed between 202 and sending: after the restart the gateway gets each event, in order per device")
    func killed() async throws {
        try await Stage.with { stage in
            let promised = Locked<[String: [String]]>([:])
            for round in 0..<6 {
                // In the first rounds the gateway hears nothing before the end comes, in the others it does.
                stage.hosts.always(.events(.northAmerica), round < 2 ? .silence : nil)
                try await stage.run(isEndedByBody: true) { service in
                    if round == 0 { try await Self.grant(stage, service) }
                    try await onOwnThread {
                        let client = try RawClient(port: service.port)
                        let last = Int.random(in: 5...40)
                        for number in 0...last {
                            let (device, token) = ("d\(number % 3)", "c-\(round)-\(number)")
                            client.send(stage.posted(Self.event(device, token)))
                            if number == last { service.program.send(signal: SIGKILL) }
                            guard client.answer()?.status == 202 else { continue }
                            promised.withLock { $0[device, default: []].append(token) }
                        }
                    }
                }
            }
            stage.hosts.always(.events(.northAmerica), nil)
            try await stage.run { _ in
                let promised = promised.withLock { $0 }
                try await until {
                    let taken = Self.taken(stage)
                    return promised.allSatisfy { Set($1).isSubset(of: taken[$0] ?? []) }
                }
                for (device, tokens) in Self.taken(stage) {
                    // What was stored but not promised any more may be there too, in its place.
                    #expect(tokens.filter { promised[device]?.contains($0) == true } == promised[device])
                }
            }
        }
    }
}

/// Waits for a condition, and leaves the processors to those who bring it about.
func until(_ condition: () async throws -> Bool) async throws {
    while try await !condition() { try await onOwnThread { _ = poll(nil, 0, 2) } }
}
