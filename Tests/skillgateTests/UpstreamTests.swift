import Concurrency
import HTTP
import JSON
import Simulator
import Testing
import Time

/// Servers behind a program that runs, which fail it.
@Suite("Upstreams that fail, over a socket", .timeLimit(.minutes(5))) struct UpstreamTests {
    @Test("a resource server that never answers is an apology, long before Alexa gives up")
    func silence() async throws {
        var options = Stage.Options()
        options.provider = .silent
        options.limits = "resourceSeconds: 1"
        try await Stage.with(options) { stage in
            let outcome = try await stage.run { service in
                let begin = ContinuousClock.now
                let answer = try await service.answer(to: stage.signed(stage.body("custom/who-am-i-linked")))
                let duration = ContinuousClock.now - begin
                #expect(answer.status == 200)
                #expect(answer.speech?.contains("Sorry") == true, "\(answer.text)")
                #expect(duration >= .seconds(1) && duration < .milliseconds(7500), "\(duration)")
                #expect(try await service.isWell())
            }
            #expect(outcome.code == 0)
            #expect(count("resource.", in: outcome.error) >= 1)
        }
    }

    @Test("a silent server of devices is BRIDGE_UNREACHABLE for command, state and list, within 7.5 s")
    func silentDevices() async throws {
        var options = Stage.Options()
        options.provider = .silent
        try await Stage.with(options) { stage in
            let outcome = try await stage.run { service in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for sample in ["lamp-turn-on", "report-state-of-window", "discover"] {
                        let directive = try stage.forwarded(stage.body("smart-home/" + sample))
                        group.addTask {
                            let begin = ContinuousClock.now
                            let answer = try await service.answer(to: directive)
                            let took = begin.duration(to: .now)
                            #expect(took < .milliseconds(7500), "\(sample): \(took)")
                            let event = try JSONValue(parsing: answer.body)["event"]
                            #expect(event?["payload"]?["type"] == "BRIDGE_UNREACHABLE", "\(sample): \(answer.text)")
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(outcome.code == 0)
        }
    }

    @Test("a silent server, a name that nobody knows and clients that vanish harm no other request")
    func together() async throws {
        var options = Stage.Options()
        options.provider = .silent
        options.limits = "resourceSeconds: 2, lwaSeconds: 2"
        options.tokenURL = "https://login.nowhere.invalid/auth/o2/token"
        try await Stage.with(options) { stage in
            let outcome = try await stage.run { service in
                #expect(try await service.isWell())
                let waiting = try stage.signed(stage.body("custom/who-am-i-linked"))
                let grants = try (0..<4).map { try stage.body("smart-home/accept-grant", grantCode: "AN-\($0)") }
                let good = try (0..<200).map { _ in try stage.signed(stage.body("custom/customer-number")) }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<8 {
                        group.addTask {
                            let answer = try await service.answer(to: waiting)
                            #expect(answer.speech?.contains("Sorry") == true, "\(answer.text)")
                        }
                    }
                    for grant in grants {
                        group.addTask {
                            let answer = try await service.answer(to: stage.forwarded(grant))
                            #expect(answer.text.contains("ACCEPT_GRANT_FAILED"), "\(answer.text)")
                        }
                    }
                    group.addTask {
                        try await onOwnThread {
                            for part in [waiting.count, waiting.count / 2, 20, 0]
                                + Array(repeating: waiting.count, count: 16)
                            {
                                let client = try RawClient(port: service.port)
                                client.send(Array(waiting[..<part]))
                                client.close()
                            }
                        }
                    }
                    for worker in 0..<4 {
                        group.addTask {
                            let answers = try await onOwnThread {
                                let client = try RawClient(port: service.port)
                                return (0..<50).map { number in
                                    client.send(good[worker * 50 + number])
                                    return client.answer()
                                }
                            }
                            #expect(answers.count { $0?.status == 200 && $0?.text.contains("u1001") == true } == 50)
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(try await service.isWell())
            }
            #expect(outcome.code == 0)
        }
    }
}
