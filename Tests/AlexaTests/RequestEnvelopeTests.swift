import Alexa
import Crypto
import HTTP
import JSON
import TestSupport
import Testing
import Time

func decoded(_ body: [UInt8]) throws -> RequestEnvelope {
    try RequestEnvelope(decoding: VerifiedRequest.invoked(with: body))
}

func decoded(_ text: String) throws -> RequestEnvelope { try decoded(Array(text.utf8)) }

@Suite("A request's envelope") struct RequestEnvelopeTests {
    private let full = #"""
        {"version":"1.0","session":{"new":true,"sessionId":"S","application":{"applicationId":"A"},
        "attributes":{"n":[1,{"k":null}]},"user":{"userId":"U1","accessToken":"session-token",
        "permissions":{"consentToken":"C"}}},
        "context":{"System":{"application":{"applicationId":"A"},"user":{"userId":"U","accessToken":"T",
        "permissions":{"scopes":{"alexa::profile:name:read":{"status":"GRANTED"},"alexa::x:read":{"status":"DENIED"},
        "alexa::y:read":{"status":"LATER"}}}},
        "person":{"personId":"P","accessToken":"T2"},
        "device":{"deviceId":"D","persistentEndpointId":"E","supportedInterfaces":{"AudioPlayer":{},"X":{"v":"1"}}},
        "unit":{"unitId":"N","persistentUnitId":"PN"},"apiEndpoint":"https://api.eu.amazonalexa.com",
        "apiAccessToken":"J"},"Viewport":{"shape":"ROUND"}},
        "request":{"type":"LaunchRequest","requestId":"r1","timestamp":"2025-01-15T10:00:00Z","locale":"en-GB",
        "task":{"name":"T.task","version":"1","input":{"a":1}},"new":{"member":true}}}
        """#

    @Test("Every member is found, unknown ones included")
    func members() throws {
        let envelope = try decoded(full)
        #expect(envelope.version == "1.0")
        #expect(envelope.proof == .invocation)
        #expect(envelope.header.type == "LaunchRequest")
        #expect(envelope.header.requestID == "r1")
        #expect(envelope.header.timestamp == ManualClock.start)
        #expect(envelope.locale == "en-GB")
        #expect(envelope.applicationID == "A")
        #expect(envelope.userID == "U")
        #expect(envelope.accessToken == Secret("T"))
        #expect(envelope.permittedAnswer == .full)

        let session = try #require(envelope.session)
        #expect(session.isNew)
        #expect(session.sessionID == "S")
        #expect(session.attributes == ["n": [1, ["k": nil]]])
        #expect(session.user?.consentToken == Secret("C"))

        let context = envelope.context
        #expect(context.person?.personID == "P")
        #expect(context.person?.accessToken == Secret("T2"))
        #expect(context.device?.deviceID == "D")
        #expect(context.device?.persistentEndpointID == "E")
        #expect(context.device?.supportedInterfaces?.keys.sorted() == ["AudioPlayer", "X"])
        #expect(context.unit?.unitID == "N")
        #expect(context.unit?.persistentUnitID == "PN")
        #expect(context.apiEndpoint == "https://api.eu.amazonalexa.com")
        #expect(context.apiAccessToken == Secret("J"))
        #expect(context.interface("Viewport")?.string("shape") == "ROUND")
        #expect(context.user?.scopes == ["alexa::profile:name:read": .granted, "alexa::x:read": .denied])
        #expect(context.user?.hasGranted("alexa::profile:name:read") == true)
        #expect(context.user?.hasGranted("alexa::x:read") == false)
        #expect(context.user?.hasGranted("alexa::z:read") == false)

        guard case .launch(let launch) = envelope.request else {
            Issue.record("not a launch")
            return
        }
        #expect(launch.task?.name == "T.task")
        #expect(launch.task?.version == "1")
        #expect(launch.task?.input?.value == ["a": 1])
        #expect(envelope.header.element.member("new")?.value == ["member": true])
    }

    static let tokens: [(context: String?, session: String?, type: String, body: String?, expected: String?)] = [
        ("\"c\"", "\"s\"", "IntentRequest", nil, "c"), ("\"c\"", nil, "IntentRequest", nil, "c"),
        (nil, "\"s\"", "IntentRequest", nil, "s"), ("null", "\"s\"", "IntentRequest", nil, "s"),
        ("\"\"", "\"s\"", "IntentRequest", nil, "s"), (nil, nil, "IntentRequest", "\"b\"", nil),
        ("7", nil, "IntentRequest", nil, nil), (nil, nil, "IntentRequest", nil, nil),
        (nil, nil, "AlexaSkillEvent.SkillAccountLinked", "\"b\"", "b"),
        ("\"c\"", nil, "AlexaSkillEvent.SkillAccountLinked", "\"b\"", "c"),
        (nil, nil, "AlexaSkillEvent.SkillDisabled", "\"b\"", nil),
    ]

    @Test("Our token is the context's, else the session's, else that of an account-linked event", arguments: tokens)
    func accessToken(row: (context: String?, session: String?, type: String, body: String?, expected: String?)) throws {
        func user(_ token: String?) -> String { #"{"userId":"U"\#(token.map { ",\"accessToken\":" + $0 } ?? "")}"# }
        let body = envelope(
            type: row.type,
            more: #","intent":{"name":"I"}"# + (row.body.map { #","body":{"accessToken":\#($0)}"# } ?? ""),
            context: #"{"System":{"user":\#(user(row.context)),"person":{"accessToken":"p"}}}"#,
            session: #"{"user":\#(user(row.session))}"#)
        #expect(try decoded(body).accessToken == row.expected.map { Secret($0) })
    }

    @Test("DEC-2: a request may come without a session, or with one that is null; the context tells the user")
    func noSession() throws {
        let envelope = try decoded(
            #"""
            {"version":"1.0","context":{"System":{"application":{"applicationId":"amzn1.ask.skill.TEST"},
            "user":{"userId":"u1"}}},"request":{"type":"AudioPlayer.PlaybackFinished","requestId":"r1",
            "timestamp":"2025-01-15T10:00:00Z","locale":"en-US","offsetInMilliseconds":0,"token":"t"}}
            """#)
        #expect(envelope.session == nil)
        #expect(envelope.userID == "u1")
        #expect(envelope.applicationID == "amzn1.ask.skill.TEST")
        guard case .audioPlayer(let request) = envelope.request else {
            Issue.record("not playback")
            return
        }
        #expect(request.kind == .playbackFinished)
        #expect(request.token == "t")
        #expect(request.offsetInMilliseconds == 0)
        for session in ["null", "[]", "7"] {
            #expect(try decoded(AlexaTests.envelope(session: session)).session == nil)
        }
    }

    @Test("DEC-3: an unknown type decodes with its common fields and its JSON, and is answered with nothing")
    func unknownType() throws {
        let types = [
            "Alexa.Brand.New.Thing", "AlexaSkillEvent.SkillPainted", "AudioPlayer.PlaybackSlowed", "launchrequest",
        ]
        for type in types {
            let envelope = try decoded(envelope(type: type, more: #","payload":{"a":[1,"x",null]}"#))
            guard case .other(let header) = envelope.request else {
                Issue.record("\(type) is not other")
                continue
            }
            #expect(header.type == type)
            #expect(header.requestID == "r1")
            #expect(header.element.member("payload")?.value == ["a": [1, "x", nil]])
            #expect(envelope.permittedAnswer == .empty)
        }
    }

    static let broken: [(String, String)] = [
        (#"{"request":{}}"#, "request.type"), (#"{"request":{"type":null}}"#, "request.type"),
        (#"{"request":null}"#, "request.type"), ("{}", "request.type"), ("[]", "request.type"),
        (#"{"request":[]}"#, "request.type"), (#"{"request":{"type":7}}"#, "request.type"),
        (#"{"request":{"type":""}}"#, "request.type"), (#"{"request":{"type":"LaunchRequest"}}"#, "request.requestId"),
        (#"{"request":{"type":"LaunchRequest","requestId":"r"}}"#, "request.timestamp"),
        (#"{"request":{"type":"IntentRequest","requestId":"r","timestamp":0}}"#, "request.intent.name"),
        (#"{"request":{"type":"IntentRequest","requestId":"r","timestamp":0,"intent":{}}}"#, "request.intent.name"),
        (
            #"{"request":{"type":"CanFulfillIntentRequest","requestId":"r","timestamp":0,"intent":null}}"#,
            "request.intent.name"
        ),
    ]

    @Test("DEC-4: a request without type, id, time or intent is refused by its path", arguments: broken)
    func missing(text: String, path: String) {
        #expect(throws: RequestRejection.malformed(path: path)) { try decoded(text) }
    }

    @Test("DEC-4: a signed request without a type is refused, not answered")
    func missingSigned() async throws {
        let bench = try VerificationBench()
        for body in [#"{"request":{}}"#, #"{"request":{"type":null}}"#, #"{"request":null}"#, "{}"] {
            let rejection = await bench.rejection(of: try bench.request(Array(body.utf8)))
            #expect(rejection == .malformed(path: "request.type"))
        }
    }

    @Test("DEC-5: launch and session-ended requests have no intent, and an error only at times")
    func sessionEnded() throws {
        #expect(throws: Never.self) { try decoded(envelope()) }
        let error = #","reason":"ERROR","error":{"type":"INVALID_RESPONSE","message":"m"}"#
        for (more, type) in [(error, "INVALID_RESPONSE"), (#","reason":"ERROR""#, nil), (#","error":null"#, nil)] {
            let envelope = try decoded(envelope(type: "SessionEndedRequest", more: more))
            guard case .sessionEnded(let request) = envelope.request else {
                Issue.record("not session ended")
                continue
            }
            #expect(request.error?.type == type)
            #expect(envelope.permittedAnswer == .empty)
        }
    }

    @Test("DEC-6: an odd member of the context costs only itself")
    func oddContext() throws {
        let envelope = try decoded(
            envelope(
                context: #"""
                    {"System":{"user":{"userId":"u"},"device":[],"person":7,"unit":"x"},
                    "Viewports":[{"type":"APL","id":"main"}],"Display":[],"Extensions":7,"AudioPlayer":{"a":1}}
                    """#))
        #expect(envelope.userID == "u")
        #expect(envelope.context.device == nil)
        #expect(envelope.context.person == nil)
        #expect(envelope.context.unit == nil)
        #expect(envelope.context.interface("Display") == nil)
        #expect(envelope.context.interface("Extensions") == nil)
        #expect(envelope.context.interface("AudioPlayer")?.member("a")?.integer == 1)
        #expect(envelope.context.element?.member("Viewports")?.elements?.count == 1)
        for context in ["null", "[]", "7", "{}", #"{"System":[]}"#, #"{"System":null}"#] {
            let envelope = try decoded(AlexaTests.envelope(context: context))
            #expect(envelope.userID == nil)
            #expect(envelope.applicationID == nil)
        }
    }

    @Test("DEC-7: half a surrogate pair in an escape is refused", arguments: [#"\udff3"#, #"\ud83d"#, #"\ud83dx"#])
    func loneSurrogate(text: String) {
        let body = envelope(
            type: "IntentRequest", more: #","intent":{"name":"I","slots":{"a":{"name":"a","value":"\#(text)"}}}"#)
        #expect(throws: RequestRejection.self) { try decoded(body) }
        #expect(throws: Never.self) { try decoded(envelope(type: "IntentRequest", more: #","intent":{"name":"I"}"#)) }
    }

    @Test("DEC-8: bytes that are no UTF-8 are refused, never repaired")
    func invalidUTF8() throws {
        let body = envelope(more: #","x":"MARK""#)
        let mark = try #require(body.firstRange(of: Array("MARK".utf8)))
        var changed = body
        changed.replaceSubrange(mark, with: [0x61, 0xC3, 0x28, 0x62])
        let rejection = #expect(throws: RequestRejection.self) { try decoded(changed) }
        #expect(rejection?.reasonCode == "verification.bodyUnreadable")
    }

    @Test("DEC-9: an empty object is there and empty; a missing one is not")
    func emptyObjects() throws {
        let empty = try decoded(
            envelope(
                type: "IntentRequest", more: #","intent":{"name":"I","slots":{}}"#,
                context: #"{"System":{"user":{"permissions":{}},"device":{"supportedInterfaces":{}}}}"#,
                session: #"{"attributes":{}}"#))
        #expect(empty.session?.attributes == [:])
        #expect(empty.context.user?.hasPermissions == true)
        #expect(empty.context.user?.scopes.isEmpty == true)
        #expect(empty.context.device?.supportedInterfaces?.isEmpty == true)
        guard case .intent(let request) = empty.request else {
            Issue.record("not an intent")
            return
        }
        #expect(request.intent.slots?.isEmpty == true)
        let answer = try SkillResponse(sessionAttributes: empty.session?.attributes).encoded()
        #expect(String(decoding: answer, as: UTF8.self) == #"{"version":"1.0","sessionAttributes":{},"response":{}}"#)

        let missing = try decoded(
            envelope(
                type: "IntentRequest", more: #","intent":{"name":"I"}"#,
                context: #"{"System":{"user":{},"device":{}}}"#,
                session: "{}"))
        #expect(missing.session != nil)
        #expect(missing.session?.attributes == nil)
        #expect(missing.context.user?.hasPermissions == false)
        #expect(missing.context.device?.supportedInterfaces == nil)
        guard case .intent(let request) = missing.request else {
            Issue.record("not an intent")
            return
        }
        #expect(request.intent.slots == nil)
    }
}

@Suite("Slots") struct SlotTests {
    private func slot(_ json: String) throws -> Slot {
        let body = envelope(type: "IntentRequest", more: #","intent":{"name":"I","slots":{"s":\#(json)}}"#)
        guard case .intent(let request) = try decoded(body).request else { throw RequestRejection.skillUnknown }
        let slot = try #require(request.intent.slot("s"))
        #expect(request.intent.slots?["s"]?.value == slot.value)
        #expect(request.intent.slot("other") == nil)
        return slot
    }

    @Test(
        "DEC-10: a value that no authority knows is the spoken value without an id",
        arguments: [
            #"{"name":"a","value":"blue"}"#,
            #"{"name":"a","value":"blue","resolutions":{"resolutionsPerAuthority":[{"authority":"x","status":{"code":"ER_SUCCESS_NO_MATCH"}}]}}"#,
            #"{"name":"a","value":"blue","resolutions":{"resolutionsPerAuthority":[]}}"#,
            #"{"name":"a","value":"blue","resolutions":null}"#,
            #"{"name":"a","value":"blue","resolutions":{"resolutionsPerAuthority":[{"status":{"code":"ER_SUCCESS_MATCH"},"values":[]}]}}"#,
            #"{"name":"a","value":"blue","resolutions":{"resolutionsPerAuthority":[7,{"status":"x","values":[{"value":{"id":"1"}}]}]}}"#,
        ])
    func unresolved(json: String) throws {
        let slot = try slot(json)
        #expect(slot.name == "a")
        #expect(slot.value == "blue")
        #expect(slot.values == ["blue"])
        #expect(slot.firstResolvedID == nil)
    }

    @Test("The first authority that knows the value gives its id")
    func resolved() throws {
        let slot = try slot(
            #"""
            {"name":"a","value":"bleu","confirmationStatus":"CONFIRMED","resolutions":{"resolutionsPerAuthority":[
            {"authority":"one","status":{"code":"ER_SUCCESS_NO_MATCH"}},
            {"authority":"two","status":{"code":"ER_SUCCESS_MATCH"},
            "values":[{"value":{"name":"blue","id":"BLUE"}},{"value":{"name":"navy","id":"NAVY"}}]},
            {"authority":"three","status":{"code":"ER_SUCCESS_MATCH"},"values":[{"value":{"name":"x","id":"X"}}]}]}}
            """#)
        #expect(slot.firstResolvedID == "BLUE")
        #expect(slot.confirmationStatus == .confirmed)
        #expect(slot.resolutions.map(\.authority) == ["one", "two", "three"])
        #expect(slot.resolutions[1].values.map(\.name) == ["blue", "navy"])
    }

    @Test("A slot that takes several values gives them all")
    func several() throws {
        let slot = try slot(
            #"""
            {"name":"a","slotValue":{"type":"List","values":[{"type":"Simple","value":"red"},
            {"type":"Simple","value":"bleu","resolutions":{"resolutionsPerAuthority":[{"status":
            {"code":"ER_SUCCESS_MATCH"},"values":[{"value":{"name":"blue","id":"BLUE"}}]}]}},
            {"type":"Odd","value":"x"},{"type":"List","values":[{"type":"Simple","value":"green"}]}]}}
            """#)
        #expect(slot.values == ["red", "bleu", "green"])
        #expect(slot.value == "red")
        #expect(slot.firstResolvedID == "BLUE")
    }

    @Test("An empty slot has no value", arguments: [#"{"name":"a"}"#, #"{"name":"a","value":null}"#, "{}"])
    func emptySlot(json: String) throws {
        let slot = try slot(json)
        #expect(slot.value == nil)
        #expect(slot.values.isEmpty)
        #expect(slot.firstResolvedID == nil)
        #expect(slot.confirmationStatus == nil)
    }
}
