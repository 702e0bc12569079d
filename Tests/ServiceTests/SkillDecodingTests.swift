import HTTP
import JSON
import Service
import Storage
import Telemetry
import TestSupport
import Testing
import Time

/// The decoding cases at the level of the service: what leaves, and what the log says.
@Suite("Custom skills: decoding") struct SkillDecodingTests {
    static func launch(timestamp: String) -> String {
        SkillHarness.envelope(#""type":"LaunchRequest""#, timestamp: timestamp)
    }

    @Test(
        "DEC-1: a timestamp in milliseconds is read, and in seconds where it falls inside the window",
        arguments: ["1736935200000", "1736935200", "\"2025-01-15T10:00:00Z\"", "1736935050000"])
    func timestampTaken(timestamp: String) async throws {
        let harness = try SkillHarness()
        #expect(try await harness.answer(Self.launch(timestamp: timestamp)).speech == "Hello.")
    }

    @Test(
        "DEC-1: any other timestamp is an empty 400",
        arguments: [
            "1736935049000", "1736934000", "1736935351", "17369352000000", "true", "null", "\"yesterday\"", "1.5e300",
            "-1",
        ])
    func timestampRefused(timestamp: String) async throws {
        let harness = try SkillHarness()
        let response = try await harness.respond(Array(Self.launch(timestamp: timestamp).utf8))
        #expect(response.status == 400)
        #expect(response.body.isEmpty)
        #expect(harness.logText.contains("verification."))
    }

    @Test("DEC-2: a request without a session gets a valid, empty answer")
    func noSession() async throws {
        let harness = try SkillHarness()
        let answer = try await harness.answer(
            SkillHarness.envelope(
                #""type":"AudioPlayer.PlaybackFinished","offsetInMilliseconds":0,"token":"t""#, session: nil))
        #expect(answer == .emptyAnswer)
    }

    @Test("DEC-3: an unknown type is answered with nothing, and logged and counted")
    func unknownType() async throws {
        let harness = try SkillHarness()
        let answer = try await harness.answer(
            SkillHarness.envelope(
                #""type":"Alexa.Brand.New.Thing","payload":{"a":[1,"x",null]}"#, session: nil, locale: nil))
        #expect(answer == .emptyAnswer)
        #expect(harness.logText.contains("Alexa.Brand.New.Thing"))
        #expect(harness.metrics.counter(.unknownRequestTypes).value == 1)
    }

    static let application = #""application":{"applicationId":"amzn1.ask.skill.TEST"}"#

    @Test(
        "DEC-4: a request that is empty or has no type is an empty 400 that names the path",
        arguments: [
            #","request":{"requestId":"r1","timestamp":"2025-01-15T10:00:00Z"}"#,
            #","request":{"type":null,"requestId":"r1","timestamp":"2025-01-15T10:00:00Z"}"#,
            #","request":{"type":7,"requestId":"r1","timestamp":"2025-01-15T10:00:00Z"}"#, #","request":{}"#,
            #","request":{"type":null}"#, #","request":null"#, "",
        ])
    func noRequest(request: String) async throws {
        let harness = try SkillHarness()
        let response = try await harness.respond(
            Array(#"{"version":"1.0","context":{"System":{\#(Self.application)}}\#(request)}"#.utf8))
        #expect(response.status == 400)
        #expect(response.body.isEmpty)
        #expect(harness.logText.contains("request.t"))
        #expect(try await harness.answer(Self.launch(timestamp: "1736935200000")).speech == "Hello.")
    }

    @Test(
        "DEC-5: launch and end of session need no intent, and the end gets no speech, card or directive",
        arguments: [
            #""type":"SessionEndedRequest","reason":"ERROR","error":{"type":"INVALID_RESPONSE","message":"no"}"#,
            #""type":"SessionEndedRequest","reason":"USER_INITIATED""#, #""type":"SessionEndedRequest""#,
        ])
    func sessionEnded(request: String) async throws {
        let harness = try SkillHarness()
        #expect(try await harness.answer(SkillHarness.envelope(request)) == .emptyAnswer)
        #expect(try await harness.answer(SkillHarness.envelope(#""type":"LaunchRequest""#)).speech == "Hello.")
    }

    @Test("DEC-6: a member of the context that changes its kind costs nothing but itself")
    func oddContext() async throws {
        let harness = try SkillHarness()
        let answer = try await harness.answer(
            SkillHarness.envelope(
                #""type":"LaunchRequest""#,
                context: #","Viewports":[{"type":"APL","id":"main"}],"Display":[],"Extensions":7"#))
        #expect(answer.speech == "Hello.")
    }

    @Test(
        "DEC-7: half of a surrogate pair is a 400, and the next request is served",
        arguments: [#"\udff3"#, #"\ud83d"#, #"\ud83dx"#])
    func loneSurrogate(value: String) async throws {
        let harness = try SkillHarness()
        let body = SkillHarness.envelope(
            #""type":"IntentRequest","intent":{"name":"I","slots":{"a":{"name":"a","value":"\#(value)"}}}"#)
        #expect(try await harness.respond(Array(body.utf8)).status == 400)
        #expect(try await harness.answer(Self.launch(timestamp: "1736935200000")).speech == "Hello.")
    }

    @Test("DEC-8: bytes that are no UTF-8 are a 400 and never repaired")
    func brokenUTF8() async throws {
        let harness = try SkillHarness(intents: "{requests:{I:{say:{en:'{a}'}}}}")
        var body = Array(SkillHarness.intent("I", slots: [("a", "a@b")]).utf8)
        let place = try #require(body.firstIndex(of: UInt8(ascii: "@")))
        body.replaceSubrange(place...place, with: [0xC3, 0x28])
        let response = try await harness.respond(body)
        #expect(response.status == 400)
        #expect(response.body.isEmpty)
    }

    @Test("DEC-9: empty attributes are written back as an empty object, and absent ones are not")
    func emptyAttributes() async throws {
        let harness = try SkillHarness(
            intents: "{requests:{LaunchRequest:{say:{en:'Hello.'},reprompt:{en:'Well?'}}}}")
        let empty = SkillHarness.envelope(#""type":"LaunchRequest""#, session: #""new":true,"attributes":{}"#)
        #expect(try await harness.answer(empty)["sessionAttributes"] == [:])
        let none = SkillHarness.envelope(#""type":"LaunchRequest""#, session: #""new":true"#)
        #expect(try await harness.answer(none)["sessionAttributes"] == nil)
        let nested = SkillHarness.envelope(
            #""type":"LaunchRequest""#, session: #""new":true,"attributes":{"a":{},"b":[],"c":1}"#)
        #expect(try await harness.answer(nested)["sessionAttributes"] == ["a": [:], "b": [], "c": 1])
    }

    @Test(
        "DEC-10: a slot that no authority resolves gives what was said",
        arguments: [
            "",
            #","resolutions":{"resolutionsPerAuthority":[{"authority":"x","status":{"code":"ER_SUCCESS_NO_MATCH"}}]}"#,
            #","resolutions":{"resolutionsPerAuthority":[]}"#,
        ])
    func unresolvedSlot(resolutions: String) async throws {
        let harness = try SkillHarness(intents: "{requests:{I:{say:{en:'It is {a}.'}}}}")
        let body = SkillHarness.envelope(
            #""type":"IntentRequest","intent":{"name":"I","slots":{"a":{"name":"a","value":"blue"\#(resolutions)}}}"#)
        #expect(try await harness.answer(body).speech == "It is blue.")
    }

    @Test("a refused request is traced by the id that the log names")
    func tracedRefusal() async throws {
        let harness = try SkillHarness()
        _ = try await harness.respond(Array(Self.launch(timestamp: "1").utf8))
        let line = try JSONValue(parsing: Array(try #require(harness.logText.split(separator: "\n").last).utf8))
        let id = try #require(line["traceID"]?.string)
        var record = try await harness.store.trace(id: id)
        // Traces are stored after the answer.
        while record == nil {
            await Task.yield()
            record = try await harness.store.trace(id: id)
        }
        #expect(record?.reason == "verification.stale")
        #expect(record?.steps.map(\.name) == ["verification"])
        #expect(line["clockDifferenceSeconds"]?.integer == -1_736_935_199)
    }
}
