import JSON
import Testing

@Suite("Field cases") struct FieldCaseTests {
    private static func directive(_ endpointID: [UInt8]) -> [UInt8] {
        Array(#"{"directive":{"endpoint":{"endpointId":""#.utf8) + endpointID + Array(#""},"payload":{}}}"#.utf8)
    }

    @Test(
        "DEC-7: half a surrogate pair is refused, and the next document is read",
        arguments: [
            #"\udff3"#, #"\ud83d"#, #"\ud83dx"#, #"\ud83d\n"#, #"\ud83d\ud83d"#, #"\udff3\ud83d"#, #"\ud83d\u0041"#,
            #"\uD83D"#, #"x\udc00y"#,
        ])
    func surrogates(escape: String) throws {
        #expect(throws: JSONError.self) {
            try JSONDocument(parsing: Array(#"{"slot":{"value":"\#(escape)"}}"#.utf8))
        }
        #expect(throws: JSONError.self) { try JSONDocument(parsing: Array(#"{"\#(escape)":1}"#.utf8)) }
        let whole = try JSONDocument(parsing: Array(#"{"value":"\ud83d\ude97"}"#.utf8))
        #expect(whole.root.string("value") == "🚗")
    }

    @Test(
        "DEC-8: invalid UTF-8 is refused and never repaired",
        arguments: [[0x61, 0xC3, 0x28, 0x62], [0x61, 0xC3], [0x80], [0xE2, 0x28, 0xA1], [0xF0, 0x9F, 0x9A]] as [[UInt8]]
    )
    func invalidUTF8(bytes: [UInt8]) throws {
        #expect(throws: JSONError(reason: "not UTF-8")) { try JSONDocument(parsing: Self.directive(bytes)) }
        let good = try JSONDocument(parsing: Self.directive(Array("a√b".utf8)))
        #expect(good.root.member("directive")?.member("endpoint")?.string("endpointId") == "a√b")
    }

    @Test("DEC-9: empty objects are present, empty and written back as {}")
    func emptyObjects() throws {
        let text = #"{"attributes":{},"permissions":{},"supportedInterfaces":{},"slots":{},"payload":{}}"#
        let root = try JSONDocument(parsing: Array(text.utf8)).root
        for name in ["attributes", "permissions", "supportedInterfaces", "slots", "payload"] {
            #expect(root.member(named: name)?.members?.isEmpty == true)
            #expect(root.value[name]?.object?.isEmpty == true)
        }
        #expect(root.member("absent") == nil)
        #expect(root.value["absent"] == nil)
        #expect(String(decoding: root.value.encoded(), as: UTF8.self) == text)
        #expect(String(decoding: root.jsonBytes, as: UTF8.self) == text)
    }
}
