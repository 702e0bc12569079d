import Crypto
import JSON
import TestSupport
import Testing

/// The Lambda function that companies copy, run as AWS runs it, against the service.
@Suite("The forwarder to copy", .timeLimit(.minutes(5))) struct ForwarderSampleTests {
    @Test("a directive comes through with the proof, in the region of the function, and the answer comes back")
    func through() async throws {
        try await Stage.with(embedded) { stage in
            let outcome = try await stage.run { service in
                let discover = try stage.body("smart-home/discover", token: "no-token")
                let answer = try await forward(discover, to: service)
                #expect(answer.errorType == "INVALID_AUTHORIZATION_CREDENTIAL", "\(answer)")
                let grant = try stage.body("smart-home/accept-grant", token: "no-token", grantCode: "c1")
                let refusal = try await forward(grant, to: service)
                #expect(refusal.errorType == "ACCEPT_GRANT_FAILED", "\(refusal)")
            }
            #expect(!outcome.error.contains("verification.forwarder"))
            #expect(outcome.error.contains("\"region\":\"EU\""))
        }
    }

    @Test("a body with letters outside ASCII and numbers of every form is signed as it is sent")
    func unusualBodies() async throws {
        try await Stage.with(embedded) { stage in
            let outcome = try await stage.run { service in
                for name in ["Küche 🍺", "\u{2028}", "a\\\"b"] {
                    let text = String(decoding: JSONValue.string(name).encoded(), as: UTF8.self)
                    let body = #"""
                        { "directive": {"header": {"namespace":"Alexa.None","name":\#(text),"messageId":"m1",
                          "payloadVersion":"3"}, "endpoint":{"endpointId":"e1"}, "payload":{"a":1.50,"b":-0.0,"c":1e3}} }
                        """#
                    let answer = try await forward(Array(body.utf8), to: service)
                    #expect(answer.errorType == "INVALID_DIRECTIVE", "\(answer)")
                }
            }
            #expect(!outcome.error.contains("verification.forwarder"))
        }
    }

    @Test("where the service refuses or is not there, Alexa still gets an error of the right interface")
    func failures() async throws {
        _ = try await Stage.with(embedded) { stage in
            try await stage.run { service in
                let discover = try stage.body("smart-home/discover", token: "t")
                let refused = try await forward(discover, to: service, secret: "another secret")
                #expect(refused.errorType == "BRIDGE_UNREACHABLE")
                let unknown = try await forward(discover, to: service, skill: "no-such-skill")
                #expect(unknown.errorType == "BRIDGE_UNREACHABLE")
            }
        }
        let quiet = try QuietPort()
        let port = quiet.number
        let grant = #"{"directive":{"header":{"namespace":"Alexa.Authorization","name":"AcceptGrant"}}}"#
        let answer = try await forward(Array(grant.utf8), toPort: port, secret: "s")
        #expect(answer.errorType == "ACCEPT_GRANT_FAILED")
        #expect(answer["event"]?["header"]?["namespace"] == "Alexa.Authorization")
        let turnOn = #"""
            {"directive":{"header":{"namespace":"Alexa.PowerController","name":"TurnOn","correlationToken":"c+/="},
             "endpoint":{"endpointId":"e1"},"payload":{}}}
            """#
        let error = try await forward(Array(turnOn.utf8), toPort: port, secret: "s")
        #expect(error.errorType == "BRIDGE_UNREACHABLE")
        #expect(error["event"]?["header"]?["correlationToken"] == "c+/=")
        #expect(error["event"]?["endpoint"]?["endpointId"] == "e1")
        for odd in ["[]", "null", #"{"directive":3}"#, #"{"directive":{"header":[]}}"#] {
            let answer = try await forward(Array(odd.utf8), toPort: port, secret: "s")
            #expect(answer.errorType == "BRIDGE_UNREACHABLE", "\(odd)")
        }
        quiet.release()
    }

    @Test("an answer that drips, each piece in time, is given up when the whole takes too long")
    func dripping() async throws {
        let script = """
            import json, os, socket, threading, lambda_function as f
            listener = socket.create_server(("127.0.0.1", 0))
            os.environ["SKILLGATE_URL"] = f"http://127.0.0.1:{listener.getsockname()[1]}"
            def drip():
                connection, _ = listener.accept()
                connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 62\\r\\n\\r\\n")
                for piece in b" " * 60 + b"{}":
                    threading.Event().wait(0.1)
                    connection.sendall(bytes([piece]))
            threading.Thread(target=drip, daemon=True).start()
            f.TIMEOUT_SECONDS = 1
            print(json.dumps(f.handler({"directive": {"header": {"namespace": "Alexa.Authorization"}}})))
            """
        let outcome = try await ProgramRun.run(
            ["python3", "-c", script], of: "/usr/bin/env", environment: Self.function(secret: "s"))
        let line = try #require(outcome.output.split(separator: "\n").last, "\(outcome.error)")
        #expect(try JSONValue(parsing: Array(line.utf8)).errorType == "ACCEPT_GRANT_FAILED", "\(line)")
    }

    private var embedded: Stage.Options {
        var options = Stage.Options()
        options.provider = .embedded
        return options
    }

    private func forward(
        _ body: [UInt8], to service: RunningService, secret: String? = nil, skill: String? = nil
    ) async throws -> JSONValue {
        try await forward(
            body, toPort: service.port, secret: secret ?? service.stage.forwarderSecret.exposed, skill: skill)
    }

    private static func function(secret: String) -> [String: String] {
        [
            "SKILLGATE_SECRET": secret, "AWS_REGION": "eu-west-1",
            "PYTHONPATH": Stage.package + "/samples/forwarder", "PYTHONDONTWRITEBYTECODE": "1",
        ]
    }

    /// What the function returns for an event, with the environment of a function in Ireland.
    private func forward(
        _ body: [UInt8], toPort port: Int, secret: String, skill: String? = nil
    ) async throws -> JSONValue {
        let script = "import json, sys, lambda_function as f; print(json.dumps(f.handler(json.load(sys.stdin))))"
        var environment = Self.function(secret: secret)
        environment["SKILLGATE_URL"] = "http://127.0.0.1:\(port)"
        environment["SKILLGATE_SKILL"] = skill
        let outcome = try await ProgramRun.run(
            ["python3", "-c", script], of: "/usr/bin/env", input: String(decoding: body, as: UTF8.self),
            environment: environment)
        let line = try #require(outcome.output.split(separator: "\n").last, "\(outcome.error)")
        return try JSONValue(parsing: Array(line.utf8))
    }
}

extension JSONValue {
    fileprivate var errorType: String? { self["event"]?["payload"]?["type"]?.string }
}
