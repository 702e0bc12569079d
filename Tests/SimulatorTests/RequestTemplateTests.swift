import JSON
import Simulator
import TestSupport
import Testing
import Time

@Suite("Samples made of requests") struct RequestTemplateTests {
    static let now = UnixTime(seconds: 1_790_000_000)
    static let uuid = "0b4f6a52-2f0e-4bd1-8f5e-3f2f8f1f9a10"

    static func body(_ text: String, at time: UnixTime? = now) throws -> JSONValue {
        var template = RequestTemplate(skillIDs: ["S"])
        return template.body(try JSONValue(parsing: Array(text.utf8)), at: time)
    }

    @Test(
        "what is secret or good for a while becomes a placeholder, and nothing else changes",
        arguments: [
            (#"{"accessToken":"t"}"#, #"{"accessToken":"{{token}}"}"#),
            (#"{"accessToken":""}"#, #"{"accessToken":""}"#),
            (
                #"{"scope":{"type":"BearerToken","token":"t"}}"#,
                #"{"scope":{"type":"BearerToken","token":"{{token}}"}}"#
            ),
            (#"{"apiAccessToken":"t","consentToken":"c"}"#, #"{"apiAccessToken":"removed","consentToken":"removed"}"#),
            (
                #"{"type":"OAuth2.AuthorizationCode","code":"c"}"#,
                #"{"type":"OAuth2.AuthorizationCode","code":"{{grantCode}}"}"#
            ),
            (#"{"error":{"code":"1001"}}"#, #"{"error":{"code":"1001"}}"#),
            (#"{"x":["Atza|a","eyJh.eyJi.c","plain"]}"#, #"{"x":["removed","{{token}}","plain"]}"#),
            (#"{"applicationId":"S"}"#, #"{"applicationId":"{{skillID}}"}"#),
            (#"{"applicationId":"T"}"#, #"{"applicationId":"T"}"#),
            (#"{"requestId":"r.\#(uuid)"}"#, #"{"requestId":"r.{{uuid}}"}"#),
            (#"{"requestId":"r"}"#, #"{"requestId":"r"}"#),
            (#"{"messageId":"\#(uuid)"}"#, #"{"messageId":"{{uuid}}"}"#),
            (#"{"text":"a {{now}} b"}"#, #"{"text":"a {{braces}}now}} b"}"#),
            (#"{"x":"https://a.test/?code=c&y=1"}"#, #"{"x":"https://a.test/?code=removed&y=1"}"#),
            (#"{"x":"app:/back#access_token=c&y=1"}"#, #"{"x":"app:/back#access_token=removed&y=1"}"#),
            (#"{"n":1.5,"b":true,"z":null}"#, #"{"n":1.5,"b":true,"z":null}"#),
        ])
    func placeholders(given: String, expected: String) throws {
        #expect(try Self.body(given) == JSONValue(parsing: Array(expected.utf8)))
    }

    @Test("a request's time becomes now where it was taken, and stays where it was refused")
    func times() throws {
        for (type, seconds, isFresh) in [
            ("LaunchRequest", 0, true), ("LaunchRequest", -150, true), ("LaunchRequest", -151, false),
            ("LaunchRequest", 151, false), ("AlexaSkillEvent.SkillEnabled", -3600, true),
            ("AlexaSkillEvent.SkillEnabled", -3601, false),
        ] as [(String, Int64, Bool)] {
            let time = Self.now.adding(seconds: seconds).iso8601()
            let text = #"{"request":{"type":"\#(type)","timestamp":"\#(time)"}}"#
            let made = try Self.body(text)["request"]?["timestamp"]?.string
            #expect(made == (isFresh ? "{{now}}" : time), "\(type) \(seconds)")
            #expect(try Self.body(text, at: nil)["request"]?["timestamp"] == "{{now}}")
        }
        #expect(try Self.body(#"{"timestamp":"2026-01-01T00:00:00Z"}"#)["timestamp"] == "2026-01-01T00:00:00Z")
    }

    @Test("what braces a text had itself is sent again as it was")
    func braces() throws {
        let template = try Self.body(#"{"text":"a {{now}} {{{b}}"}"#)
        let sample = try Sample(
            name: "s", template: String(decoding: template.encoded(), as: UTF8.self), expected: nil)
        let sent = try SampleTests.placeholders.body(of: sample, now: Self.now)
        #expect(String(decoding: sent, as: UTF8.self) == #"{"text":"a {{now}} {{{b}}"}"#)
    }

    @Test("what an answer gave an app is known in the requests after it")
    func captures() throws {
        var template = RequestTemplate(skillIDs: ["S"])
        let answer = template.expected(
            ["companionAppURL": "https://amazon.test/app?state=st.1", "alexaAppUrl": "x", "state": "st.1"],
            at: Self.now,
            isApp: true)
        #expect(
            answer == [
                "companionAppURL": "$capture:companionAppURL-1", "alexaAppUrl": "$string", "state": "$capture:state-1",
            ])
        for (given, expected) in [
            (
                ["amazonAuthCode": "c", "state": "st.1"],
                ["amazonAuthCode": "{{consentCode:companionAppURL-1}}", "state": "{{captured:state-1}}"]
            ),
            (["redirect": "https://x.test/?code=c&state=st.1"], ["redirect": "{{consent:companionAppURL-1}}"]),
            (
                ["redirect": "https://x.test/?error=access_denied&state=st.1"],
                ["redirect": "{{consent:companionAppURL-1:access_denied}}"]
            ),
            (["amazonAuthCode": "c", "state": "other"], ["amazonAuthCode": "removed", "state": "other"]),
            (
                ["redirect": "https://x.test/?code=c&state=other"],
                ["redirect": "https://x.test/?code=removed&state=other"]
            ),
        ] as [(JSONValue, JSONValue)] {
            #expect(template.body(given, at: Self.now) == expected)
        }
        let linked = template.expected(
            ["id": "L7", "traceID": "0123456789abcdef0123456789abcdef"], at: Self.now, isApp: true)
        #expect(linked == ["id": "$capture:link-1", "traceID": "$string"])
        #expect(template.target("/alexa/link?id=L7&token=t") == "/alexa/link?id={{captured:link-1}}&token=removed")
    }

    @Test(
        "an answer's ids and times are expected by kind, and secrets as any text",
        arguments: [
            (#"{"messageId":"\#(uuid)"}"#, #"{"messageId":"$uuid"}"#),
            (#"{"at":"\#(now.iso8601())"}"#, #"{"at":"$timestamp"}"#),
            (#"{"at":"2001-01-01T00:00:00Z"}"#, #"{"at":"2001-01-01T00:00:00Z"}"#),
            (
                #"{"access_token":"a","correlationToken":"b"}"#,
                #"{"access_token":"$string","correlationToken":"$string"}"#
            ),
            (#"{"text":"You are Alice"}"#, #"{"text":"You are Alice"}"#), (#"{"id":"lamp"}"#, #"{"id":"lamp"}"#),
        ])
    func answers(given: String, expected: String) throws {
        var template = RequestTemplate(skillIDs: ["S"])
        #expect(
            template.expected(try JSONValue(parsing: Array(given.utf8)), at: Self.now)
                == (try JSONValue(parsing: Array(expected.utf8))))
    }
}
