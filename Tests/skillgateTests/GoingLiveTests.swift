import FoundationEssentials
import Glibc
import JSON
import TestSupport
import Testing

/// What `GoingLive.md` tells a company to do, done as it stands there.
@Suite("Going live", .timeLimit(.minutes(5))) struct GoingLiveTests {
    private static let secrets = [
        "ALEXA_LINKING_SECRET": "1b52e0e2c2a94ed38f4df9d6b2f80fc1",
        "ALEXA_CLIENT_SECRET": "8f2c9d6b41c44c0f9f0f3a7d55e0f7aa",
        "OPERATOR_SECRET": "c3d1f9a3be6f4f6d9a6c40a1d0b7e6f2",
    ]

    /// The first block of that language in the page.
    private static func block(_ language: String) throws -> String {
        let path = HouseRulesTests.root.appending(path: "Sources/Service/Service.docc/GoingLive.md").path()
        let page = try String(contentsOfFile: path, encoding: .utf8)
        let start = try #require(page.firstRange(of: "```\(language)\n"))
        let rest = page[start.upperBound...]
        return String(rest[..<(try #require(rest.firstRange(of: "```"))).lowerBound])
    }

    /// The words of a line of shell; a text in quotes is one.
    private static func words(_ line: String) -> [String] {
        line.split(separator: "\"", omittingEmptySubsequences: false).enumerated().flatMap { index, part in
            index.isMultiple(of: 2) ? part.split(separator: " ").map(String.init) : [String(part)]
        }
    }

    @Test(
        "the configuration has nothing for doctor to find, and each command does what the page says, to a service that runs"
    )
    func whole() async throws {
        let folder = temporaryPath("live")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // Free ports: those of the page may be somebody else's here.
        let configuration = try Self.block("json5").replacing("port: 8080", with: "port: 0")
            .replacing("port: 9090", with: "port: 0")
        try configuration.write(toFile: folder + "/skillgate.json5", atomically: true, encoding: .utf8)
        try FileManager.default.copyItem(
            atPath: HouseRulesTests.root.appending(path: "config/demo.intents.json5").path(),
            toPath: folder + "/demo.intents.json5")
        let lines = try Self.block("sh").split(separator: "\n").map(String.init)
        #expect(lines.count == 6 && lines.allSatisfy { $0.hasPrefix("skillgate ") })
        var outputs: [String: String] = [:]
        for line in lines.dropLast() {
            let parts = line.split(separator: " < ").map(String.init)
            let arguments = Self.words(parts[0]).dropFirst().map {
                ["skillgate.json5", "encryption.key"].contains($0) ? folder + "/" + $0 : $0
            }
            let run = try await ProgramRun.run(
                arguments, input: parts.count == 2 ? "a password of carol's\n" : "", environment: Self.secrets)
            #expect(run.code == 0 && run.error.isEmpty, "\(line): \(run.output) \(run.error)")
            outputs[arguments[0]] = run.output
        }
        let findings = try #require(outputs["doctor"])
        #expect(
            findings.contains(" 0 to look at, 0 to mend") && findings.contains("https://skill.example.com/oauth/token"))
        #expect(outputs["account-linking"]?.contains("accountLinkingRequest") == true)
        #expect(outputs["users"]?.contains("carol is added") == true)
        let serve = Self.words(try #require(lines.last)).dropFirst().map {
            $0 == "skillgate.json5" ? folder + "/" + $0 : $0
        }
        let program = try ProgramRun(Array(serve), environment: Self.secrets)
        let port = try #require(await program.line().split(separator: ":").last.flatMap { Int($0) })
        let statuses = try await onOwnThread {
            try ["/account/sign-in", "/.well-known/apple-app-site-association", "/healthz"].map { target in
                let client = try RawClient(port: port)
                client.send(RawClient.request(target, method: "GET"))
                return client.answer()?.status
            }
        }
        #expect(statuses == [200, 200, 404], "the operator's addresses are apart")
        program.send(signal: SIGTERM)
        #expect(await program.end().code == 0)
    }
}
