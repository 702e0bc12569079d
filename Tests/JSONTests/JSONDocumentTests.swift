import JSON
import Testing

@Suite("Documents") struct JSONDocumentTests {
    @Test("values of every kind are read as they are")
    func kinds() throws {
        let text =
            #"{"n":null,"t":true,"f":false,"i":-9007199254740993,"u":18446744073709551615,"d":1.5,"s":"é\n","a":[1,[]],"o":{}}"#
        let root = try JSONDocument(parsing: Array(text.utf8)).root
        #expect(root.kind == .object)
        #expect(root.member("n")?.isNull == true)
        #expect(root.member("t")?.bool == true)
        #expect(root.member("f")?.bool == false)
        #expect(root.member("i")?.integer == -9_007_199_254_740_993)
        #expect(root.member("u")?.integer == nil)
        #expect(root.member("u")?.kind == .number)
        #expect(root.member("u")?.value == .unsigned(.max))
        #expect(root.member("d")?.double == 1.5)
        #expect(root.string("s") == "é\n")
        #expect(root.member("a")?.elements?.count == 2)
        #expect(root.member("a")?.elements?.first?.double == 1)
        #expect(root.member("o")?.members?.isEmpty == true)
        #expect(root.members?.map(\.name) == ["n", "t", "f", "i", "u", "d", "s", "a", "o"])
        #expect(String(decoding: root.jsonBytes, as: UTF8.self) == text)
    }

    @Test("a look-up that does not fit the value finds nothing")
    func nothing() throws {
        let root = try JSONDocument(parsing: Array(#"{"a":{"b":"c"},"":1,"list":["a"]}"#.utf8)).root
        #expect(root.member("b") == nil)
        #expect(root.member("A") == nil)
        #expect(root.member("aa") == nil)
        #expect(root.member(named: "a")?.string("b") == "c")
        #expect(root.member(named: "")?.integer == 1)
        #expect(root.member("")?.integer == 1)
        let list = try #require(root.member("list"))
        #expect(list.member("a") == nil)
        #expect(list.members == nil)
        #expect(list.string == nil)
        #expect(list.integer == nil)
        #expect(list.double == nil)
        #expect(list.bool == nil)
        #expect(root.elements == nil)
        #expect(root.string == nil)
    }

    @Test("of equal names the first counts, and the repetition can be seen")
    func repeatedNames() throws {
        let root = try JSONDocument(parsing: Array(#"{"a":1,"b":2,"a":3,"b":4}"#.utf8)).root
        #expect(root.member("a")?.integer == 1)
        #expect(root.repeatedMember == "a")
        #expect(root.members?.count == 4)
        #expect(root.value == ["a": 1, "b": 2])
        let escaped = try JSONDocument(parsing: Array(#"{"a":1,"\u0061":3}"#.utf8)).root
        #expect(escaped.repeatedMember == "a")
        let distinct = try JSONDocument(parsing: Array(#"{"a":1,"b":{"a":1},"A":2}"#.utf8)).root
        #expect(distinct.repeatedMember == nil)
        #expect(try JSONDocument(parsing: Array(#"["a","a"]"#.utf8)).root.repeatedMember == nil)
    }

    @Test("two spellings of one character are two names")
    func spellings() throws {
        let root = try JSONDocument(parsing: Array("{\"e\u{301}\":1,\"\u{e9}\":2}".utf8)).root
        #expect(root.repeatedMember == nil)
        #expect(root.value["\u{e9}"] == 2)
        #expect(root.value["e\u{301}"] == 1)
        #expect(JSONValue.string("\u{e9}") != .string("e\u{301}"))
    }

    static let refused: [(input: [UInt8], reason: String)] = [
        ([], "empty"),
        (Array(" \n\t ".utf8), "empty"),
        ([0xEF, 0xBB, 0xBF] + Array("{}".utf8), "a byte order mark"),
        (Array("{} {}".utf8), "a second value"),
        (Array("{}x".utf8), "trailing garbage"),
        (Array("1 2".utf8), "a second number"),
        (Array("{}".utf8) + [0], "a NUL at the end"),
        (Array(#"{"a":1,}"#.utf8), "a trailing comma"),
        (Array("{'a':1}".utf8), "single quotes"),
        (Array("{a:1}".utf8), "a bare name"),
        (Array("/**/{}".utf8), "a comment"),
        (Array(#"{"junk":nonsense}"#.utf8), "a bare word"),
        (Array(#"{"junk":nonsense,"a":1}"#.utf8), "a bare word that nobody reads"),
        (Array("[NaN]".utf8), "NaN"),
        (Array("[01]".utf8), "a leading zero"),
        (Array("[1.]".utf8), "a fraction without digits"),
        (Array("[.5]".utf8), "a fraction without a whole"),
        (Array("[+1]".utf8), "a plus sign"),
        (Array("[1e400]".utf8), "a number beyond a double"),
        (Array("[18446744073709551616]".utf8), "an integer beyond 64 bits"),
        (Array("[-9223372036854775809]".utf8), "a negative integer beyond 64 bits"),
        (Array("[\"a\nb\"]".utf8), "a line end in a string"),
        (Array(#"["\x41"]"#.utf8), "an unknown escape"),
        (Array(#"["\u00g0"]"#.utf8), "an escape that is no number"),
        (Array(#"["abc"#.utf8), "a string that does not end"),
        (Array("[1".utf8), "an array that does not end"),
        (Array("]".utf8), "a bracket alone"),
        ([0x22, 0xC0, 0xAF, 0x22], "an overlong form"),
        ([0x22, 0xED, 0xA0, 0x80, 0x22], "a surrogate in UTF-8"),
        ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], "a scalar beyond U+10FFFF"),
        ([0x22, 0xE2, 0x82, 0x22], "a cut scalar"),
        ([0x22, 0xFF, 0x22], "a byte that UTF-8 never has"),
    ]

    @Test("what is no JSON is refused, with or without room after it", arguments: refused)
    func refusals(input: [UInt8], reason: String) {
        var roomy = input
        roomy.reserveCapacity(input.count + 200)
        #expect(throws: JSONError.self, "\(reason)") { try JSONDocument(parsing: input) }
        #expect(throws: JSONError.self, "\(reason), with room") { try JSONDocument(parsing: roomy) }
    }

    @Test("what stands after the last byte is never read as part of the document")
    func room() throws {
        var bytes = Array(#"{"a":12"#.utf8)
        bytes.reserveCapacity(256)
        bytes.append(contentsOf: "345}".utf8)
        bytes.removeLast(4)
        #expect(throws: JSONError.self) { try JSONDocument(parsing: bytes) }
        bytes.append(UInt8(ascii: "}"))
        #expect(try JSONDocument(parsing: bytes).root.member("a")?.integer == 12)
    }

    @Test("64 levels are read and 65 are not, at any size", arguments: [0, 5_000, 100_000])
    func depth(paddingBytes: Int) throws {
        let padding = String(repeating: " ", count: paddingBytes)
        func nested(_ levels: Int, _ open: String, _ close: String) -> [UInt8] {
            Array((String(repeating: open, count: levels) + padding + String(repeating: close, count: levels)).utf8)
        }
        #expect(try JSONDocument(parsing: nested(64, "[", "]")).root.kind == .array)
        #expect(throws: JSONError(reason: "nested deeper than 64")) { try JSONDocument(parsing: nested(65, "[", "]")) }
        #expect(throws: JSONError.self) { try JSONDocument(parsing: nested(20_000, "[", "]")) }
        func objects(_ levels: Int) -> [UInt8] {
            Array((String(repeating: #"{"a":"#, count: levels) + "1" + String(repeating: "}", count: levels)).utf8)
        }
        #expect(try JSONDocument(parsing: objects(63)).root.kind == .object)
        #expect(throws: JSONError(reason: "nested deeper than 64")) { try JSONDocument(parsing: objects(64)) }
        #expect(try JSONDocument(parsing: nested(3, "[", "]"), maximumDepth: 3).root.kind == .array)
        #expect(throws: JSONError(reason: "nested deeper than 3")) {
            try JSONDocument(parsing: nested(4, "[", "]"), maximumDepth: 3)
        }
        #expect(try JSONDocument(parsing: nested(200, "[", "]"), maximumDepth: 200).root.value.array?.count == 1)
        #expect(throws: JSONError.self) { try JSONDocument(parsing: nested(65, "[", "]")) }
    }

    @Test("an element keeps its document alive, and a later document does not disturb it")
    func lifetime() throws {
        var kept: [JSONElement] = []
        for number in 0..<100 {
            let document = try JSONDocument(parsing: Array(#"{"value":["text \#(number)"]}"#.utf8))
            if let element = document.root.member("value")?.elements?.first { kept.append(element) }
        }
        #expect(kept.map(\.string) == (0..<100).map { "text \($0)" })
    }

    @Test("documents are read on many threads at once", .timeLimit(.minutes(5)))
    func threads() async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    try (0..<500).allSatisfy { round in
                        let text = #"{"worker":\#(worker),"round":"\#(String(repeating: "x", count: round))"}"#
                        let root = try JSONDocument(parsing: Array(text.utf8)).root
                        return root.member("worker")?.integer == Int64(worker) && root.string("round")?.count == round
                    }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test("a long document is read and let go")
    func long() throws {
        let text = "[" + (0..<100_000).map { "{\"n\":\($0)}" }.joined(separator: ",") + "]"
        let elements = try JSONDocument(parsing: Array(text.utf8)).root.elements
        #expect(elements?.count == 100_000)
        #expect(elements?.last?.member("n")?.integer == 99_999)
    }

    @Test("no error quotes the input")
    func errors() {
        for text in ["{\"password\":\"hunter2\"", "{\"password\":hunter2}", "[\"hunter2\u{1}\"]", "hunter2"] {
            do throws(JSONError) {
                _ = try JSONDocument(parsing: Array(text.utf8))
                Issue.record("accepted")
            } catch {
                #expect(!error.reason.contains("hunter2") && !error.reason.isEmpty)
            }
        }
    }
}
