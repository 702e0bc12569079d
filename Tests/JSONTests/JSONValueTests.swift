import JSON
import Testing

@Suite("Values") struct JSONValueTests {
    @Test("an object keeps its order, and each name once")
    func order() {
        var object: JSONObject = ["z": 1, "a": 2, "z": 3]
        object["m"] = 4
        object["z"] = 5
        #expect(object.names == ["z", "a", "m"])
        #expect(object["z"] == 5)
        object["z"] = nil
        object["absent"] = nil
        #expect(object.names == ["a", "m"])
        object["z"] = .null
        #expect(object.map(\.name) == ["a", "m", "z"])
        #expect(object["z"] == JSONValue.null)
        #expect(object.count == 3 && !object.isEmpty)
    }

    @Test("a long object is looked up as a short one is")
    func longObjects() {
        var object = JSONObject()
        for number in 0..<1_000 { object["name \(number)"] = .integer(Int64(number)) }
        #expect((0..<1_000).allSatisfy { object["name \($0)"] == .integer(Int64($0)) })
        object["name 500"] = nil
        #expect(object["name 500"] == nil)
        #expect(object["name 501"] == 501)
        #expect(object["name 999"] == 999)
        #expect(object.count == 999)
        for number in 10..<1_000 { object["name \(number)"] = nil }
        #expect(object.count == 10)
        object["name 3"] = "changed"
        #expect(object["name 3"] == "changed")
        #expect(object["name 4"] == 4)
    }

    @Test("a document with many equal names is read in reasonable time", .timeLimit(.minutes(5)))
    func manyNames() throws {
        let text = "{" + (0..<50_000).map { "\"n\($0 % 25_000)\":\($0)" }.joined(separator: ",") + "}"
        #expect(try JSONValue(parsing: Array(text.utf8)).object?.count == 25_000)
    }

    static let equal: [(JSONValue, JSONValue)] = [
        (["a": 1, "b": 2], ["b": 2, "a": 1]), (1, 1.0), (.unsigned(1 << 63), .number(0x1p63)), (.number(-0.0), 0),
    ]
    static let different: [(JSONValue, JSONValue)] = [
        (["a": 1], ["a": 1, "b": 2]), ([1, 2], [2, 1]), ("1", 1), (nil, false), ([:], []), (1, 1.5), (true, 1),
        (.integer(9_007_199_254_740_993), .number(9_007_199_254_740_992)), (["a": nil], [:]), ("a", "A"),
    ]

    @Test("values are equal where they mean the same", arguments: equal)
    func equality(left: JSONValue, right: JSONValue) {
        #expect(left == right)
        #expect(left.hashValue == right.hashValue)
    }

    @Test("values differ where they mean something else", arguments: different)
    func difference(left: JSONValue, right: JSONValue) { #expect(left != right) }

    @Test("an accessor that does not fit finds nothing")
    func accessors() {
        let value: JSONValue = ["s": "x", "i": 1, "d": 0.5, "b": true, "n": nil, "a": [1]]
        #expect(value["s"]?.string == "x" && value["s"]?.integer == nil)
        #expect(value["i"]?.integer == 1 && value["i"]?.double == 1 && value["i"]?.bool == nil)
        #expect(value["d"]?.double == 0.5 && value["d"]?.integer == nil)
        #expect(value["b"]?.bool == true && value["b"]?.string == nil)
        #expect(value["n"]?.isNull == true && value["absent"] == nil)
        #expect(value["a"]?.array == [1] && value["a"]?.object == nil && value["a"]?["0"] == nil)
    }
}
