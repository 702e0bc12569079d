import FoundationEssentials
import Glibc
import JSON
import TestSupport
import Testing

@Suite("skillgate dev", .serialized, .timeLimit(.minutes(5))) struct DevCommandTests {
    @Test("one command links alice by the real flow, answers every sample, and leaves nothing behind")
    func once() async throws {
        let folder = temporaryPath("dev")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let run = try await ProgramRun(["dev", "--once", "--port", "0"], environment: ["TMPDIR": folder]).end()
        #expect(run.code == 0, "\(run.output.suffix(2000)) \(run.error)")
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(lines.first?.hasPrefix("listening on http://127.0.0.1:") == true)
        for part in [
            "alice signs in", "GET /alexaurl", "alice agrees in the Alexa app", "LINKED in NA", "u1001",
            "first answer to Alexa after", "SkillAccountLinked", "Google has tokens", "Alexa refreshes her token",
            "custom/who-am-i-linked",
            "linking/link-by-the-alexa-app",
        ] { #expect(lines.contains { $0.contains(part) }, "\(part)") }
        let samples = lines.filter { $0.contains("as expected") }
        #expect(samples.count >= 200 && samples.allSatisfy { $0.hasPrefix("✓") })
        #expect(!run.output.contains("\u{1B}"), "no colour where there is no terminal")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }

    @Test("it goes on serving, says what to open, and ends with 0 on SIGTERM; a second one finds the port taken")
    func serving() async throws {
        let program = try ProgramRun(["dev", "--port", "0"])
        let line = await program.line()
        let port = try #require(line.split(separator: ":").last.flatMap { Int($0) })
        var addresses: [String] = []
        for _ in 0..<1000 {
            let line = await program.line()
            if line.contains("Ctrl-C") { break }
            if line.hasPrefix("  ") { addresses.append(line) }
        }
        for path in ["/link", "/account/links", "/openapi.json", "/admin/links"] {
            #expect(addresses.contains { $0.contains("http://127.0.0.1:\(port)\(path)") }, "\(path)")
        }
        let answer = try await onOwnThread {
            let client = try RawClient(port: port)
            client.send(RawClient.request("/healthz", method: "GET"))
            return client.answer()
        }
        #expect(answer?.status == 200)
        let apps = addresses.first { $0.contains("/assistants") }?.split(separator: ":")[2].prefix(while: \.isNumber)
        let appsPort = try #require(apps.flatMap { Int($0) })
        let statuses = try await onOwnThread {
            try ["127.0.0.1:\(appsPort)", "localhost", "evil.example", "127.0.0.1.evil.example:\(appsPort)"].map {
                host in
                let client = try RawClient(port: appsPort)
                client.send(Array("GET /assistants HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8))
                return client.answer()?.status
            }
        }
        #expect(statuses == [200, 200, 421, 421], "no other site's name leads to the simulated apps")
        let second = try await ProgramRun.run(["dev", "--once", "--port", "\(port)"])
        #expect(second.code == 1 && second.error.contains("cannot be listened on") && second.error.contains("--port 0"))
        program.send(signal: SIGTERM)
        #expect(await program.end().code == 0)
    }

    @Test("wrong usage exits with 2", arguments: [["--port", "x"], ["--port", "70000"], ["x"], ["--twice"]])
    func wrongUsage(words: [String]) async throws {
        let run = try await ProgramRun.run(["dev"] + words)
        #expect(run.code == 2 && run.output.isEmpty && run.error.contains("skillgate dev --help"))
    }
}
