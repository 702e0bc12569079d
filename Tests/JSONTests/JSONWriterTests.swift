import JSON
import Testing

@Suite("Writing") struct JSONWriterTests {
    @Test("commas, colons and brackets come out right")
    func structure() {
        var writer = JSONWriter(capacity: 0)
        writer.beginObject()
        writer.key("a")
        writer.beginArray()
        writer.endArray()
        writer.key("b")
        writer.beginArray()
        writer.integer(1)
        writer.beginObject()
        writer.endObject()
        writer.null()
        writer.bool(true)
        writer.string("x")
        writer.endArray()
        writer.key(named: "c\"")
        writer.number(0.5)
        writer.endObject()
        #expect(text(writer.bytes) == #"{"a":[],"b":[1,{},null,true,"x"],"c\"":0.5}"#)
    }

    @Test(
        "text keeps its UTF-8 but for what must be escaped",
        arguments: [
            ("", #""""#), ("aé√🚗", #""aé√🚗""#), ("\"\\", #""\"\\""#), ("/", #""/""#),
            ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#),
            ("\u{0}\u{1}\u{f}\u{10}\u{1f}\u{7f}", "\"\\u0000\\u0001\\u000f\\u0010\\u001f\u{7f}\""),
            ("a\u{2028}b\u{2029}c\u{2027}\u{202a}â", "\"a\\u2028b\\u2029c\u{2027}\u{202a}â\""),
            ("\u{2028}", #""\u2028""#),
        ])
    func escapes(given: String, expected: String) throws {
        let bytes = JSONValue.string(given).encoded()
        #expect(text(bytes) == expected)
        #expect(try JSONValue(parsing: bytes) == .string(given))
    }

    @Test(
        "numbers are as short as they can be",
        arguments: [
            (0, "0"), (-0.0, "0"), (21, "21"), (-1.5, "-1.5"), (0.1, "0.1"), (1e-7, "1e-07"), (1e21, "1e+21"),
            (.leastNonzeroMagnitude, "5e-324"), (.greatestFiniteMagnitude, "1.7976931348623157e+308"),
            (9_007_199_254_740_992, "9007199254740992.0"), (.infinity, "null"), (-.infinity, "null"), (.nan, "null"),
        ] as [(Double, String)])
    func numbers(given: Double, expected: String) throws {
        let bytes = JSONValue.number(given).encoded()
        #expect(text(bytes) == expected)
        if given.isFinite { #expect(try JSONValue(parsing: bytes).double == given) }
    }

    @Test("integers are exact", arguments: [0, 9, 10, -1, .max, .min, 9_007_199_254_740_993] as [Int64])
    func integers(given: Int64) throws {
        let bytes = JSONValue.integer(given).encoded()
        #expect(text(bytes) == String(given))
        #expect(try JSONValue(parsing: bytes).integer == given)
        #expect(try JSONValue(parsing: Array("\(UInt64.max)".utf8)).encoded() == Array("\(UInt64.max)".utf8))
    }

    @Test("a document for people has one value a line")
    func pretty() throws {
        let value: JSONValue = ["a": [], "b": [1, ["c": "d "]], "e": [:]]
        #expect(
            text(value.encoded(pretty: true)) == """
                {
                  "a": [],
                  "b": [
                    1,
                    {
                      "c": "d "
                    }
                  ],
                  "e": {}
                }
                """)
        #expect(try JSONValue(parsing: value.encoded(pretty: true)) == value)
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
