import FoundationEssentials
import JSON
import TestSupport
import Testing

extension ReplayPrograms {
    @Suite("skillgate replay --certify", .timeLimit(.minutes(5))) struct CertifyCommandTests {
        @Test("the program answers every case of Amazon's certification as it should")
        func ours() async throws {
            try await withTemporaryFolder { folder in
                let config = try await ReplayCommandTests.development(in: folder)
                let service = try ProgramRun(["serve", "--config", config, "--port", "0"])
                let address = String(await service.line().dropFirst("listening on ".count))
                let words = ["replay", "--certify", "--config", config, "--endpoint", address]
                let outcome = try await ProgramRun.run(words + ["--json", "--junit", folder + "/certify.xml"])
                let lines = try ReplayCommandTests.lines(outcome)
                for line in lines where line["ok"] != true { Issue.record("\(line)") }
                #expect(lines.count >= 40)
                #expect(lines.filter { $0["answered"] == 200 }.count == 5)
                #expect(lines.allSatisfy { $0["case"]?.string != nil && $0["sends"]?.string != nil })
                #expect(outcome.code == 0)
                let xml = try String(contentsOfFile: folder + "/certify.xml", encoding: .utf8)
                #expect(xml.contains(#"tests="\#(lines.count)" failures="0""#))

                // Without an authority that it trusts, only what needs none is sent; the rest is named.
                let foreign = try ProgramRun(["serve", "--config", try Self.untrusting(config), "--port", "0"])
                let other = String(await foreign.line().dropFirst("listening on ".count))
                let part = try await ProgramRun.run([
                    "replay", "--certify", "--config", try Self.untrusting(config), "--endpoint", other, "--json",
                ])
                let some = try ReplayCommandTests.lines(part)
                #expect(part.code == 0)
                #expect(some.count == lines.count)
                #expect(some.contains { $0["leftOut"] == true } && some.contains { $0["ok"] == true })
                #expect(!some.contains { $0["ok"] == false } && !some.contains { $0["answered"] == 200 })

                // With it, the right requests show that nothing of the other answers means anything.
                let folder = String(config.dropLast("/config/development.json5".count)) + "/.skillgate"
                let refused = try await ProgramRun.run([
                    "replay", "--certify", "--config", config, "--authority", folder, "--endpoint", other,
                ])
                #expect(refused.code == 1)
                #expect(refused.output.contains("✗ right "))
                #expect(refused.output.contains("The right request was refused"))
                for program in [service, foreign] {
                    program.send(signal: 15)
                    #expect(await program.end().code == 0)
                }
            }
        }

        /// The same configuration, which trusts the system's roots alone.
        private static func untrusting(_ config: String) throws -> String {
            let text = try String(contentsOfFile: config, encoding: .utf8)
            let changed = text.replacing(#"amazon: { trustAnchors: "../.skillgate/authority.pem" },"#, with: "")
            try #require(changed != text)
            let path = config.replacing("development.json5", with: "untrusting.json5")
            try Data(changed.utf8).write(to: URL(filePath: path))
            return path
        }
    }
}
