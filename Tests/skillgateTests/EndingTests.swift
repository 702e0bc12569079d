import Alexa
import Concurrency
import Glibc
import HTTP
import Simulator
import Testing
import Time

/// The program ends while there is work, orderly and not.
@Suite("Ends of the program", .timeLimit(.minutes(5))) struct EndingTests {
    /// What one connection saw.
    struct Tally: Sendable {
        var sent = 0
        var answered = 0
        /// Requests that left whole, and early enough that the service had to see them, without an answer.
        var lost = 0
    }

    /// So long after SIGTERM the service still takes requests on open connections; half of what it grants.
    static let takenFor = Duration.milliseconds(120)

    @Test("SIGTERM under load: every request that was sent gets its answer, and the exit code is 0")
    func orderly() async throws {
        try await Stage.with { stage in
            let ended = Locked<ContinuousClock.Instant?>(nil)
            let progress = Locked(0)
            let tallies = Locked<[Tally]>([])
            let outcome = try await stage.run(isEndedByBody: true) { service in
                #expect(try await service.isWell())
                let request = try stage.signed(stage.body("custom/who-am-i-linked"))
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<16 {
                        group.addTask {
                            let tally = try await onOwnThread {
                                try Self.load(service.port, request, ended: ended, progress: progress)
                            }
                            tallies.withLock { $0.append(tally) }
                        }
                    }
                    group.addTask {
                        // Waits for the load, not for time.
                        while progress.withLock({ $0 < 200 }) { await Task.yield() }
                        service.program.send(signal: SIGTERM)
                        ended.withLock { $0 = .now }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(outcome.code == 0)
            let all = tallies.withLock { $0 }
            #expect(all.count == 16)
            #expect(all.allSatisfy { $0.answered > 0 })
            #expect(all.map(\.lost) == Array(repeating: 0, count: 16))
            // One more is the first question whether the service is well.
            let answered = all.map(\.answered).reduce(1, +)
            #expect(count("skill request answered", in: outcome.error) == answered)
            #expect(outcome.error.contains("stopped"))
        }
    }

    /// Sends one request after the other until the service closes the connection.
    private static func load(
        _ port: Int, _ request: [UInt8], ended: Locked<ContinuousClock.Instant?>, progress: Locked<Int>
    ) throws -> Tally {
        let client = try RawClient(port: port)
        var tally = Tally()
        while true {
            guard client.send(request) else { return tally }
            let sentAt = ContinuousClock.now
            tally.sent += 1
            guard let answer = client.answer() else {
                let end = ended.withLock { $0 }
                if end.map({ sentAt < $0.advanced(by: takenFor) }) ?? true { tally.lost += 1 }
                return tally
            }
            if answer.status == 200, answer.speech?.contains("Alice Archer") == true {
                tally.answered += 1
            } else {
                tally.lost += 1
            }
            progress.withLock { $0 += 1 }
            if answer.fields["Connection"] == "close" { return tally }
        }
    }

    @Test("a grant that was accepted right before kill -9 is there after the restart, and is not exchanged again")
    func killed() async throws {
        try await Stage.with { stage in
            var last: [UInt8]?
            for round in 0..<11 {
                let code = stage.hosts.tokens.issueCode(clientID: "events-client")
                let grant = try stage.body(
                    "smart-home/accept-grant", token: stage.token(subject: "u\(round)"), grantCode: code)
                let outcome = try await stage.run(isEndedByBody: true) { service in
                    if let last {
                        let again = try await service.answer(to: stage.forwarded(last))
                        #expect(again.text.contains("AcceptGrant.Response"), "\(again.text)")
                    }
                    // Killed on the client's own thread, with nothing between the answer and the signal.
                    let request = stage.forwarded(grant)
                    let answer = try await onOwnThread {
                        let client = try RawClient(port: service.port)
                        client.send(request)
                        let answer = client.answer()
                        service.program.send(signal: SIGKILL)
                        return answer
                    }
                    #expect(answer?.text.contains("AcceptGrant.Response") == true)
                }
                #expect(outcome.code == -SIGKILL)
                #expect(try await stage.grants(of: "u\(round)").count == 1)
                last = grant
            }
            #expect(stage.hosts.received.count { $0.target == "/auth/o2/token" } == 11, "each code was exchanged once")
        }
    }
}
