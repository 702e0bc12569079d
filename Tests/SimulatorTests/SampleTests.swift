import Crypto
import FoundationEssentials
import JSON
import Simulator
import Testing
import Time

@Suite("Samples") struct SampleTests {
    static let now = UnixTime(seconds: 1_900_000_000)
    static let placeholders = Placeholders(
        skillID: "amzn1.ask.skill.X", token: { Secret("token-\($0.rawValue)") }, grantCode: { "code" },
        spentGrantCode: { "spent" })

    @Test("every placeholder is replaced, and not a byte besides")
    func replaced() throws {
        let sample = try Sample(
            name: "s",
            template: """
                { "a" : "{{token}}",  "b":"{{token:expired}}","c": "x{{skillID}}y", "d":"{{now}}", "e":"{{grantCode}}",
                "f":"{{grantCode:spent}}" }
                """, expected: nil)
        let body = try Self.placeholders.body(of: sample, now: Self.now)
        #expect(
            String(decoding: body, as: UTF8.self) == """
                { "a" : "token-linked",  "b":"token-expired","c": "xamzn1.ask.skill.Xy", "d":"2030-03-17T17:46:40Z", "e":"code",
                "f":"spent" }
                """)
    }

    @Test("each {{uuid}} is one of its own")
    func uuids() throws {
        let sample = try Sample(name: "s", template: #"["{{uuid}}","{{uuid}}"]"#, expected: nil)
        let values = try JSONValue(parsing: Self.placeholders.body(of: sample, now: Self.now)).array
        #expect(values?.count == 2)
        #expect(Set(values ?? []).count == 2)
    }

    @Test("a token state given for the whole run stands for {{token}} alone")
    func state() throws {
        let sample = try Sample(
            name: "s", template: #"{"a":"{{token}}","b":"{{token:revoked}}","c":{"d":"{{token}}","e":1}}"#,
            expected: nil)
        let body = { (state: TokenState) throws -> String in
            let placeholders = Placeholders(
                skillID: "", tokenState: state, token: { Secret($0.rawValue) }, grantCode: { "" })
            return String(decoding: try placeholders.body(of: sample, now: Self.now), as: UTF8.self)
        }
        #expect(try body(.expired) == #"{"a":"expired","b":"revoked","c":{"d":"expired","e":1}}"#)
        #expect(try body(.unlinked) == #"{"b":"revoked","c":{"e":1}}"#)
    }

    @Test(
        "a placeholder that nobody knows is an error that names it",
        arguments: [
            "{{nonsense}}", "{{token:broken}}", "{{token:unlinked}}", "{{Token}}", "{{}}", "{{now", "{{grantCode:new}}",
        ])
    func unknown(placeholder: String) throws {
        let sample = try Sample(name: "s", template: #"{"a":"\#(placeholder)"}"#, expected: nil)
        let error = #expect(throws: SampleError.self) { try Self.placeholders.body(of: sample, now: Self.now) }
        #expect(error?.message.hasPrefix("s: ") == true)
    }

    @Test("a directive is the smart-home kind, everything else the custom one")
    func kinds() throws {
        #expect(try Sample(name: "s", template: #"{"directive":{}}"#, expected: nil).kind == .smartHome)
        #expect(try Sample(name: "s", template: #"{"request":{}}"#, expected: nil).kind == .custom)
        #expect(throws: SampleError.self) { try Sample(name: "s", template: "{", expected: nil) }
    }

    @Test("files are found with their answers, by folder or by name")
    func files() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/samples-" + SecureRandom.token(bytes: 8)
        for inner in ["/inner", "/website"] {
            try FileManager.default.createDirectory(atPath: folder + inner, withIntermediateDirectories: true)
        }
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (name, text) in [
            ("b.json", "{}"), ("a.json", "{}"), ("a.expected.json", #"{"x":1}"#), ("inner/c.json", "{}"), ("d.txt", ""),
            ("a.expected.expired.json", #"{"$status":400,"x":2}"#), ("website/package.json", "{}"),
        ] {
            try Data(text.utf8).write(to: URL(filePath: folder + "/" + name))
        }
        let all = try Sample.load(paths: [folder])
        #expect(all.map { $0.name.dropFirst(folder.count) } == ["/a", "/b", "/inner/c"])
        #expect(all.map(\.expected) == [["x": 1], nil, nil])
        #expect(all[0].expectedByState[.expired]?.status == 400)
        #expect(all[0].expectedByState[.expired]?.body == ["x": 2])
        for path in ["/a.json", "/a.expected.json", "/a.expected.expired.json"] {
            #expect(try Sample.load(paths: [folder + path]).map(\.expected) == [["x": 1]])
        }
        for path in ["/missing.json", "/missing", "/d.txt"] {
            #expect(throws: SampleError.self) { try Sample.load(paths: [folder + path]) }
        }
    }
}

@Suite("Expected answers") struct ExpectedAnswerTests {
    static func differences(_ expected: String, _ answer: String) throws -> [String] {
        try ExpectedAnswer(JSONValue(parsing: Array(expected.utf8)))
            .differences(from: JSONValue(parsing: Array(answer.utf8))).map(\.description)
    }

    static let uuid = "0b4f6a52-2f0e-4bd1-8f5e-3f2f8f1f9a10"

    @Test(
        "what matches has no difference",
        arguments: [
            (#"{"a":1,"b":[true,null]}"#, #"{"b":[true,null],"a":1}"#), (#"{"a":1}"#, #"{"a":1.0}"#),
            (#""$uuid""#, #""\#(uuid)""#), (#""$timestamp""#, #""2026-11-30T12:00:00.5Z""#), (#""$string""#, #""""#),
            (#"{"a":"$any"}"#, #"{"a":null}"#), (#"{"$subset":true,"a":1}"#, #"{"a":1,"b":2}"#),
            (#"{"x":{"$subset":true}}"#, #"{"x":{"b":2}}"#), (#""$other""#, #""$other""#),
        ])
    func matching(expected: String, answer: String) throws {
        #expect(try Self.differences(expected, answer).isEmpty)
    }

    @Test(
        "each difference is named by its path",
        arguments: [
            (#"{"a":1}"#, #"{"a":2}"#, ["a: expected 1, found 2"]),
            (#"{"a":{"b":[1,2]}}"#, #"{"a":{"b":[1,3]}}"#, ["a.b[1]: expected 2, found 3"]),
            (#"{"a":1}"#, #"{}"#, ["a: expected 1, found nothing"]),
            (#"{}"#, #"{"a":1}"#, ["a: expected nothing, found 1"]),
            (#"[1]"#, #"[1,2]"#, ["the answer: expected 1 elements, found 2"]),
            (#"{"a":"1"}"#, #"{"a":1}"#, [#"a: expected "1", found 1"#]),
            (#"{"a":null}"#, #"{}"#, ["a: expected null, found nothing"]),
            (#"{"a":"$any"}"#, #"{}"#, [#"a: expected "$any", found nothing"#]),
            (#"{"a":"$uuid"}"#, #"{"a":"\#(uuid)0"}"#, [#"a: expected $uuid, found "\#(uuid)0""#]),
            (
                #"{"a":"$uuid"}"#, #"{"a":"zb4f6a52-2f0e-4bd1-8f5e-3f2f8f1f9a10"}"#,
                [#"a: expected $uuid, found "zb4f6a52-2f0e-4bd1-8f5e-3f2f8f1f9a10""#]
            ),
            (#"{"a":"$timestamp"}"#, #"{"a":"yesterday"}"#, [#"a: expected $timestamp, found "yesterday""#]),
            (#"{"a":"$string"}"#, #"{"a":1}"#, ["a: expected $string, found 1"]),
            (
                #"{"x":{"$subset":true,"a":1},"y":{"a":1}}"#, #"{"x":{"a":1,"b":2},"y":{"a":1,"b":2}}"#,
                ["y.b: expected nothing, found 2"]
            ),
            (#"{"a":1,"b":2}"#, #"{"a":2,"b":1}"#, ["a: expected 1, found 2", "b: expected 2, found 1"]),
        ])
    func differing(expected: String, answer: String, differences: [String]) throws {
        #expect(try Self.differences(expected, answer) == differences)
    }
}
