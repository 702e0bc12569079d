import FoundationEssentials
import JSON
import Testing

/// The cases of github.com/nst/JSONTestSuite, where they are at hand.
enum JSONTestSuite {
    struct Case: Sendable, CustomStringConvertible {
        let name: String
        let bytes: [UInt8]
        var description: String { name }
    }

    static let folder =
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/fixtures/json-test-suite")

    static func cases(_ subfolder: String) -> [Case] {
        let folder = folder.appending(path: subfolder)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().compactMap { name in
            (try? Data(contentsOf: folder.appending(path: name))).map { Case(name: name, bytes: Array($0)) }
        }
    }

    static let parsing = cases("test_parsing")
    static let transforms = cases("test_transform")
    static let isAbsent = parsing.isEmpty || transforms.isEmpty
}

@Suite("JSON test suite") struct SuiteTests {
    @Test(
        "what must be accepted is, and what must be refused is",
        .disabled(
            if: JSONTestSuite.isAbsent, "the fixtures are not beside this checkout (../shared/fixtures/json-test-suite)"
        ),
        arguments: JSONTestSuite.parsing)
    func parsing(given: JSONTestSuite.Case) throws {
        let document = try? JSONDocument(parsing: given.bytes)
        if given.name.hasPrefix("y_") {
            let element = try #require(document).root
            #expect(try JSONValue(parsing: element.jsonBytes) == element.value)
        } else if given.name.hasPrefix("n_") {
            #expect(document == nil)
        } else if given.name.hasPrefix("i_string") || given.name.hasPrefix("i_object") {
            // Either is right by the suite; here text that is not Unicode is always refused.
            #expect(document == nil)
        } else {
            #expect(given.name.hasPrefix("i_"))
        }
    }

    @Test(
        "odd documents that are read keep their value when they are written and read again",
        .disabled(
            if: JSONTestSuite.isAbsent, "the fixtures are not beside this checkout (../shared/fixtures/json-test-suite)"
        ),
        arguments: JSONTestSuite.transforms)
    func transforms(given: JSONTestSuite.Case) throws {
        guard let root = try? JSONDocument(parsing: given.bytes).root else {
            let beyond = ["number_-9223372036854775809.json"]
            #expect(given.name.contains("invalid_codepoint") || beyond.contains(given.name))
            return
        }
        let value = root.value
        #expect(try JSONValue(parsing: value.encoded()) == value)
        #expect(try JSONValue(parsing: value.encoded(pretty: true)) == value)
        #expect(try JSONDocument(parsing: root.jsonBytes).root.jsonBytes == root.jsonBytes)
    }
}
