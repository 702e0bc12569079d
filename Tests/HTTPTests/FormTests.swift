import HTTP
import Testing

@Suite("Forms and percent-coding") struct FormTests {
    @Test(
        "AG-2: each value is encoded once and decodes to the same text",
        arguments: ["a+b/c=&d", "s%c+t&", "k+9%F!a:b&c=d é", "", " ", "\u{1F37A}", "%2B", "~-._"])
    func roundTrip(value: String) throws {
        var form = Form()
        form.append("code", value)
        form.append("absent", nil)
        form.append("again", value)
        let text = form.encodedText
        #expect(!text.contains("absent"))
        #expect(try #require(Form(decoding: text)).values("code") == [value])
        #expect(try #require(Form(decoding: text))["again"] == value)
        #expect(percentDecoded(percentEncoded(value)) == value)
    }

    @Test("a plus sign in a value is sent as %2B, a blank as +")
    func plus() {
        var form = Form()
        form.append("v", "a+b c")
        #expect(form.encodedText == "v=a%2Bb+c")
    }

    @Test(
        "DEC-8: broken escapes and bytes that are not UTF-8 are refused, never repaired",
        arguments: ["a=%C3%28", "a=%", "a=%4", "a=%zz", "%ff=1", "a=%ED%A0%80", "a=%C0%AF"])
    func broken(text: String) {
        #expect(Form(decoding: text) == nil)
        #expect(percentDecoded(text) == nil)
    }

    @Test("repeated names are kept in order, empty pairs are passed over")
    func repeated() throws {
        let form = try #require(Form(decoding: "a=1&&b=2&a=3&c&d="))
        #expect(form.values("a") == ["1", "3"])
        #expect(form["a"] == "1")
        #expect(form["c"] == "")
        #expect(form["d"] == "")
        #expect(form["e"] == nil)
    }

    @Test("a blank in a path is %20 and a plus stays a plus")
    func paths() {
        #expect(percentEncoded("a b/c") == "a%20b%2Fc")
        #expect(percentDecoded("a+b%20c") == "a+b c")
    }
}

@Suite("Header fields") struct HTTPFieldsTests {
    @Test("names compare without regard to case", arguments: ["Signature-256", "signature-256", "SIGNATURE-256"])
    func caseInsensitive(name: String) {
        let fields: HTTPFields = ["X": "1", name: "v"]
        #expect(fields["Signature-256"] == "v")
        #expect(fields["Signature-25"] == nil)
        #expect(fields["Signature_256"] == nil)
    }

    @Test("every value of a repeated name is kept; setting replaces them all")
    func repeated() {
        var fields: HTTPFields = ["a": "1", "A": "2", "b": "3"]
        #expect(fields.values("a") == ["1", "2"])
        fields["a"] = "4"
        #expect(fields.values("A") == ["4"])
        fields["B"] = nil
        #expect(fields.lines.map(\.name) == ["a"])
    }
}
