import FoundationEssentials
import JSON
import Testing

@Suite("JSON5") struct JSON5Tests {
    @Test("comments, trailing commas, bare names and other quotes are read, in order")
    func accepted() throws {
        let text = """
            // a file by hand
            { name: 'x', "list": [1, 2,], /* here */ big: 9007199254740993, bigger: 18446744073709551615, half: .5,
              on: true, off: false, none: null, nested: { deep: {}, }, $y_1: [], "quoted name": +1, größe: -7, }
            """
        let value = try JSONValue(json5: Array(text.utf8))
        #expect(
            value == [
                "name": "x", "list": [1, 2], "big": 9_007_199_254_740_993, "bigger": .unsigned(.max), "half": 0.5,
                "on": true, "off": false, "none": nil, "nested": ["deep": [:]], "$y_1": [], "quoted name": 1,
                "größe": -7,
            ])
        #expect(value.object?.names.first == "name" && value.object?.names.last == "größe")
    }

    @Test(
        "scalars are read exactly",
        arguments: [
            ("0x10", 16), ("-0xff", -255), ("5.", 5.0), (".25", 0.25), ("1e3", 1000.0), ("-1.5E-2", -0.015), ("-0", 0),
            ("-9223372036854775808", .integer(.min)), (#"'it\'s "fine"'"#, #"it's "fine""#),
            (#""a\x41\u00e9\0""#, "aAé\0"),
            (#""\ud83d\ude97""#, "🚗"), ("'two\\\nlines'", "twolines"), ("'two\\\r\nlines'", "twolines"),
            (#""\é\/\a""#, "é/a"),
            ("\u{FEFF} true \u{A0}\u{2028}", true), (#""\v""#, "\u{B}"),
        ] as [(String, JSONValue)])
    func scalars(text: String, expected: JSONValue) throws {
        #expect(try JSONValue(json5: Array(text.utf8)) == expected)
    }

    @Test(
        "what is no JSON5 is refused with its place",
        arguments: [
            ("{\n  a: 1\n  b: 2 }", "line 3, column 3: a comma or } is missing"),
            ("{\n\n é: }", "line 3, column 5: a value is missing"),
            ("{ a: 1 } x", "line 1, column 10: something follows the document"),
            ("[1, 2", "line 1, column 6: a comma or ] is missing"),
            ("{ a: nonsense }", "line 1, column 6: a text needs quotes"),
            ("{ a: 1,\n a: 2 }", "line 2, column 2: a name stands twice in one object"),
            ("{ a 1 }", "line 1, column 5: a colon is missing after a name"),
            ("{ 1a: 1 }", "line 1, column 5: a name is missing"),
            ("{ , }", "line 1, column 3: a name is missing"),
            ("[,]", "line 1, column 2: a value is missing"),
            ("[\n/* x", "line 2, column 1: a comment does not end"),
            ("['a\nb']", "line 1, column 2: a string does not end on its line"),
            ("['a", "line 1, column 2: a string does not end"),
            ("['a\\", "line 1, column 4: a string does not end"),
            ("['\u{1}']", "line 1, column 3: a control character stands in a string"),
            (#"['\ud83d']"#, "line 1, column 3: an escape is half a surrogate pair"),
            (#"['\ud83d\u0041']"#, "line 1, column 3: an escape is half a surrogate pair"),
            (#"['\udc00']"#, "line 1, column 3: an escape is half a surrogate pair"),
            (#"['\u12']"#, "line 1, column 3: an escape is cut short"),
            (#"['\01']"#, "line 1, column 3: an escape is none that JSON5 knows"),
            ("[01]", "line 1, column 2: a number is malformed or out of range"),
            ("[1x]", "line 1, column 2: a number is malformed or out of range"),
            ("[1.2.3]", "line 1, column 2: a number is malformed or out of range"),
            ("[.]", "line 1, column 2: a number is malformed or out of range"),
            ("[1e]", "line 1, column 2: a number is malformed or out of range"),
            ("[0x]", "line 1, column 2: a number is malformed or out of range"),
            ("[1e400]", "line 1, column 2: a number is malformed or out of range"),
            ("[18446744073709551616]", "line 1, column 2: a number is malformed or out of range"),
            ("[-Infinity]", "line 1, column 2: a number is malformed or out of range"),
            ("[NaN]", "line 1, column 2: a text needs quotes"),
            ("", "line 1, column 1: a value is missing at the end"),
            ("// nothing", "line 1, column 11: a value is missing at the end"),
            (String(repeating: "[", count: 65), "line 1, column 65: nested deeper than 64"),
        ])
    func refused(text: String, reason: String) {
        #expect(throws: JSONError(reason: reason)) { try JSONValue(json5: Array(text.utf8)) }
    }

    @Test("invalid UTF-8 is refused")
    func invalidUTF8() {
        #expect(throws: JSONError(reason: "not UTF-8")) { try JSONValue(json5: [0x5B, 0xFF, 0x5D]) }
    }

    @Test(
        "JSON is read as the other reader reads it, and what Foundation's JSON5 refuses is refused",
        .disabled(
            if: JSONTestSuite.isAbsent, "the fixtures are not beside this checkout (../shared/fixtures/json-test-suite)"
        ),
        arguments: JSONTestSuite.parsing)
    func suite(given: JSONTestSuite.Case) throws {
        let value = try? JSONValue(json5: given.bytes)
        if given.name.hasPrefix("y_"), !given.name.contains("duplicated_key") {
            #expect(try #require(value) == JSONValue(parsing: given.bytes))
        } else if given.name.hasPrefix("n_"), value != nil {
            let decoder = JSONDecoder()
            decoder.allowsJSON5 = true
            #expect(throws: Never.self) { try decoder.decode(Anything.self, from: Data(given.bytes)) }
        }
    }

    private struct Anything: Decodable {
        init(from decoder: any Decoder) throws {}
    }

    @Test("damaged documents are refused or read, and never crash", .timeLimit(.minutes(5)))
    func damage() throws {
        var generator = FuzzTests.Generator(state: 9)
        let whole = Array(#"{a:'b\u00e9',"c":[1,-.5e3,0x1F,true,null,],/*x*/d:{e:"\ud83d\ude97"}}// é"#.utf8)
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                if Bool.random(using: &generator) {
                    bytes[place] = whole[Int.random(in: 0..<whole.count, using: &generator)]
                } else {
                    bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...9, using: &generator)))
                }
            }
            guard let value = try? JSONValue(json5: bytes) else { continue }
            #expect(try JSONValue(json5: value.encoded()) == value)
        }
    }
}
