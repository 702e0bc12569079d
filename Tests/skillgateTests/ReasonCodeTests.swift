import FoundationEssentials
import Testing

@Suite("Documentation of reason codes") struct ReasonCodeTests {
    static func page() throws -> String {
        let path = HouseRulesTests.root.appending(path: "Sources/Service/Service.docc/ReasonCodes.md").path()
        return try String(contentsOfFile: path, encoding: .utf8)
    }

    /// The codes in backquotes of a table's first column.
    static func documented() throws -> Set<String> {
        var codes: Set<String> = []
        for line in HouseRulesTests.lines(try page()) where line.hasPrefix("| `") {
            let cell = line.dropFirst(2).prefix { $0 != "|" }
            for (index, part) in cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            where index % 2 == 1 { codes.insert(String(part)) }
        }
        return codes
    }

    /// The codes that the sources give out.
    static func given() throws -> Set<String> {
        // A code stands behind a case of a switch, or where a problem, a log line or a grant's outcome is made.
        let pattern = try Regex(
            #"(?:^ *case [^"]*: |\? |: |code: |reasonCode: |\.rejection\()"([a-z][a-zA-Z]*\.[a-z][a-zA-Z]*)""#)
        var codes: Set<String> = []
        for (_, text) in try HouseRulesTests.sources("Sources")
        where text.contains("easonCode") || text.contains("Problem(") {
            for line in HouseRulesTests.lines(text) {
                guard let match = line.firstMatch(of: pattern), let code = match.output[1].substring else { continue }
                codes.insert(String(code))
            }
        }
        return codes
    }

    @Test("every code that is given out stands on the page")
    func complete() throws {
        let given = try Self.given()
        #expect(given.count > 60)
        let documented = try Self.documented()
        for code in given where !documented.contains(code) { Issue.record("\(code) is not on the page") }
    }

    @Test("every code on the page exists in the sources")
    func exact() throws {
        let sources = try HouseRulesTests.sources("Sources").map(\.text).joined()
        let documented = try Self.documented()
        #expect(documented.count > 60)
        for code in documented where !sources.contains("\"\(code)\"") { Issue.record("\(code) is given out nowhere") }
    }
}
