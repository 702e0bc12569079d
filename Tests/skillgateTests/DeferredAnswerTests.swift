import JSON
import Simulator
import TestSupport
import Testing

@Suite("A device that takes its time, by the program", .timeLimit(.minutes(5))) struct DeferredAnswerTests {
    static let slowLock = #"""
        { devices: [{ id: "lock", name: "Door", owners: ["u1001"],
          capabilities: [{ interface: "LockController", properties: ["lockState"], retrievable: true }],
          state: [{ interface: "LockController", name: "lockState", value: "LOCKED" }],
          behaviour: { deferSeconds: 1 } }] }
        """#

    static func unlock(_ token: String, correlationToken: String) -> [UInt8] {
        Array(
            #"""
            {"directive":{"header":{"namespace":"Alexa.LockController","name":"Unlock","messageId":"m1","payloadVersion":"3",
             "correlationToken":"\#(correlationToken)"},"endpoint":{"endpointId":"lock","cookie":{},
             "scope":{"type":"BearerToken","token":"\#(token)"}},"payload":{}}}
            """#.utf8)
    }

    @Test("it is answered by DeferredResponse, and once it is done by Response at the gateway, with the same token")
    func slowLock() async throws {
        var options = Stage.Options()
        options.provider = .embedded
        options.devices = Self.slowLock
        try await Stage.with(options) { stage in
            let outcome = try await stage.run { service in
                let token = try await stage.embeddedToken(of: service)
                let grant = try stage.body(
                    "smart-home/accept-grant", token: token, grantCode: stage.hosts.issueGrantCode())
                #expect(try await service.answer(to: stage.forwarded(grant)).text.contains("AcceptGrant.Response"))
                let first = try await service.answer(
                    to: stage.forwarded(Self.unlock(token, correlationToken: "c+/=1")))
                let event = try JSONValue(parsing: first.body)["event"]
                #expect(event?["header"]?["name"] == "DeferredResponse")
                #expect(event?["payload"]?["estimatedDeferralInSeconds"] == 1)
                while stage.hosts.events.accepted.isEmpty { await Task.yield() }
                let answer = try #require(stage.hosts.events.accepted.first)
                #expect(answer.header("name") == "Response")
                #expect(answer.header("correlationToken") == "c+/=1")
                #expect(answer.endpointID == "lock")
                #expect(answer.context?.first?["value"] == "UNLOCKED")
            }
            #expect(outcome.code == 0)
        }
    }
}
