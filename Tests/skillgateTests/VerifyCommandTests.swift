import Crypto
import FoundationEssentials
import JSON
import Simulator
import TestSupport
import Testing
import Time

@Suite("skillgate verify") struct VerifyCommandTests {
    static let now = UnixTime(seconds: 1_900_000_000)
    static let names = [
        "headers", "url", "chain", "certificate.dates", "certificate.name", "certificate.usage", "signature",
        "timestamp", "skill",
    ]
    static let body = """
        {"version":"1.0","context":{"System":{"application":{"applicationId":"amzn1.ask.skill.A"}}},\
        "request":{"type":"LaunchRequest","requestId":"r","timestamp":"2030-03-17T17:46:40Z"}}
        """

    /// Files of a signed request, and the options that name them.
    final class Recording {
        let folder: String
        let authority: Authority
        var options: [String: String]

        init(fault: ChainFault? = nil) throws {
            folder = FileManager.default.temporaryDirectory.path + "/verify-" + SecureRandom.token(bytes: 8)
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            authority = try Authority(now: VerifyCommandTests.now)
            let identity =
                if let fault { try authority.signing(with: fault, now: VerifyCommandTests.now) } else {
                    authority.signing
                }
            let signature = try identity.key.signature(of: Array(VerifyCommandTests.body.utf8), algorithm: .rs256)
            options = [
                "--signature-256": Base64.encode(signature), "--chain-url": AlexaSigner.chainFolder + "c.pem",
                "--at": VerifyCommandTests.now.iso8601(), "--skill-id": "amzn1.ask.skill.A",
            ]
            for (name, bytes) in [
                ("--body", Array(VerifyCommandTests.body.utf8)), ("--chain", identity.pem),
                ("--trust", authority.root.pem),
            ] {
                options[name] = folder + "/" + name.dropFirst(2)
                try Data(bytes).write(to: URL(filePath: folder + "/" + name.dropFirst(2)))
            }
        }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        /// The checks that failed, the reason of each, and the exit code.
        func failures() async throws -> (reasons: [String: String], code: Int32) {
            let outcome = try await ProgramRun.run(
                ["verify", "--json"] + options.flatMap { [$0.key, $0.value] })
            let lines = try lines(outcome).map { try JSONValue(parsing: Array($0.utf8)) }
            #expect(lines.dropLast().compactMap { $0["check"]?.string } == VerifyCommandTests.names)
            var reasons: [String: String] = [:]
            for line in lines.dropLast() where line["ok"] != true {
                reasons[line["check"]?.string ?? ""] = line["reason"]?.string
            }
            #expect(lines.last?["verdict"]?.bool == reasons.isEmpty)
            return (reasons, outcome.code)
        }
    }

    @Test("a request in order passes every check")
    func valid() async throws {
        let (reasons, code) = try await Recording().failures()
        #expect(reasons.isEmpty)
        #expect(code == 0)
    }

    static let changed: [(String, String, String, String)] = [
        ("--signature-256", "", "headers", "verification.headerMissing"),
        ("--chain-url", "https://example.test/echo.api/c.pem", "url", "verification.certificateURL"),
        ("--at", "2030-03-17T17:49:10.001Z", "timestamp", "verification.stale"),
        ("--at", "2030-03-17T17:44:09.999Z", "timestamp", "verification.stale"),
        ("--at", "2040-01-01T00:00:00Z", "certificate.dates", "verification.certificateExpired"),
        ("--skill-id", "amzn1.ask.skill.B", "skill", "verification.skillUnknown"),
        ("--signature-256", "AAAA", "signature", "verification.signature"),
        ("--signature-256", "?", "signature", "verification.signatureMalformed"),
    ]

    @Test("what is wrong fails its check, with the service's reason", arguments: changed.indices)
    func refused(index: Int) async throws {
        let (option, value, check, reason) = Self.changed[index]
        let recording = try Recording()
        recording.options[option] = value
        let (reasons, code) = try await recording.failures()
        #expect(reasons[check] == reason)
        #expect(code == 1)
    }

    @Test("150 seconds either way are within the window")
    func window() async throws {
        for at in ["2030-03-17T17:49:10Z", "2030-03-17T17:44:10Z"] {
            let recording = try Recording()
            recording.options["--at"] = at
            #expect(try await recording.failures().reasons.isEmpty)
        }
    }

    @Test(
        "a chain at fault fails the check that names the fault",
        arguments: [
            (ChainFault.expired, "certificate.dates"), (.notYetValid, "certificate.dates"),
            (.wrongName, "certificate.name"), (.nameInSubjectOnly, "certificate.name"),
            (.embeddedNUL, "certificate.name"), (.noDigitalSignature, "certificate.usage"), (.untrustedRoot, "chain"),
            (.intermediateIsNoAuthority, "chain"), (.missingIntermediate, "chain"),
        ])
    func chains(fault: ChainFault, check: String) async throws {
        let (reasons, code) = try await Recording(fault: fault).failures()
        #expect(reasons[check] != nil)
        #expect(reasons["signature"] == nil, "the signature itself fits the certificate")
        #expect(code == 1)
    }

    @Test("without an address or a skill those checks are skipped, and hinder no verdict")
    func skipped() async throws {
        let recording = try Recording()
        recording.options["--chain-url"] = nil
        recording.options["--skill-id"] = nil
        #expect(try await recording.failures().code == 0)
        let outcome = try await ProgramRun.run(["verify"] + recording.options.flatMap { [$0.key, $0.value] })
        #expect(lines(outcome).filter { $0.contains("skipped") }.count == 2)
        #expect(lines(outcome).filter { $0.hasPrefix("✓") }.count == 7)
    }

    @Test("wrong usage exits with 2", arguments: ["--signature-256", "--body", "--chain"])
    func usage(missing: String) async throws {
        let recording = try Recording()
        recording.options[missing] = nil
        let all = recording.options.flatMap { [$0.key, $0.value] }
        let outcome = try await ProgramRun.run(["verify"] + all)
        #expect(outcome.code == 2)
        #expect(outcome.error.contains(missing))
    }

    @Test(
        "a file that is missing, two signatures, or an instant that is none exit with 2",
        arguments: [
            ("--body", "/nowhere"), ("--chain", "/nowhere"), ("--trust", "/nowhere"), ("--at", "today"),
            ("--signature", "AAAA"),
        ])
    func wrongValues(option: String, value: String) async throws {
        let recording = try Recording()
        recording.options[option] = value
        #expect(try await ProgramRun.run(["verify"] + recording.options.flatMap { [$0.key, $0.value] }).code == 2)
    }

    @Test("the request that Amazon signed in 2017 is judged as its record says", .needsFixture("alexa-request-signing"))
    func captured() async throws {
        let folder = "alexa-request-signing/"
        let captured = try #require(JSONValue(parsing: Fixtures.bytes(folder + "captured.manifest.json")).array?.first)
        let chain = folder + (captured["chain"]?.string ?? "")
        let signature = try #require(captured["headers"]?["Signature"]?.string)
        let work = FileManager.default.temporaryDirectory.path + "/captured-" + SecureRandom.token(bytes: 8)
        try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: work) }
        let anchor = try Certificate.bundle(pem: Fixtures.bytes(chain))[1].pem
        try Data(anchor).write(to: URL(filePath: work + "/trust.pem"))
        let body = try Fixtures.bytes(folder + (captured["body"]?.string ?? ""))
        try Data(body).write(to: URL(filePath: work + "/body"))
        var other = body
        other[body.count / 2] ^= 1
        try Data(other).write(to: URL(filePath: work + "/other"))
        let clock = try #require(UnixTime(iso8601: captured["clock"]?.string ?? ""))
        let url = try #require(captured["headers"]?["SignatureCertChainUrl"]?.string)
        let failures = { (header: String, body: String, at: UnixTime) async throws -> [String] in
            let outcome = try await ProgramRun.run([
                "verify", "--json", header, signature, "--body", work + body, "--chain", Fixtures.path(chain),
                "--chain-url", url, "--trust", work + "/trust.pem", "--at", at.iso8601(),
            ])
            let lines = try lines(outcome).map { try JSONValue(parsing: Array($0.utf8)) }
            return lines.filter { $0["ok"] == false }.compactMap { $0["check"]?.string }
        }
        #expect(try await failures("--signature", "/body", clock).isEmpty)
        #expect(try await failures("--signature-256", "/body", clock) == ["signature"])
        #expect(try await failures("--signature", "/body", clock.adding(seconds: 151)) == ["timestamp"])
        #expect(try await failures("--signature", "/other", clock).contains("signature"))
    }
}

private func lines(_ outcome: ProgramRun.Outcome) -> [Substring] { outcome.output.split(separator: "\n") }
