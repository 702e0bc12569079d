import Alexa
import Concurrency
import Crypto
import HTTP
import JSON
import TestSupport
import Testing
import Time

@Suite("A signed request", .timeLimit(.minutes(5))) struct RequestVerifierTests {
    @Test("VER-1: the signature is checked over the bytes as they came, not over the same JSON written again")
    func rawBytes() async throws {
        let text =
            "{ \"version\":\"1.0\",\n  \"request\":{\"locale\":\"de-DE\",\"type\":\"LaunchRequest\","
            + "\"requestId\":\"r1\",\"timestamp\":\"2025-01-15T10:00:00Z\"} }"
        let body = Array(text.utf8)
        let bench = try VerificationBench()
        var request = try bench.request(body)
        let verified = try await bench.verifier.verify(request)
        #expect(verified.body == body)
        #expect(verified.proof == .signature)
        #expect(verified.document.root.member("request")?.string("locale") == "de-DE")

        request.body = try JSONValue(parsing: body).encoded()
        #expect(await bench.rejection(of: request) == .signatureWrong)
        request.body = body + [UInt8(ascii: " ")]
        #expect(await bench.rejection(of: request) == .signatureWrong)
        request.body = []
        #expect(await bench.rejection(of: request) == .signatureWrong)
    }

    @Test(
        "VER-2: the case of header names does not matter",
        arguments: [
            ("SignatureCertChainUrl", "Signature-256"), ("signaturecertchainurl", "signature-256"),
            ("Signaturecertchainurl", "SIGNATURE-256"),
        ])
    func headerCase(names: (String, String)) async throws {
        let bench = try VerificationBench()
        var request = try bench.request(envelope())
        let signature = try #require(request.fields["Signature-256"])
        request.fields = [names.0: TestSigner.usualURL, names.1: signature]
        #expect(await bench.rejection(of: request) == nil)
    }

    @Test(
        "A header that comes twice is refused, whichever is right",
        arguments: ["SignatureCertChainUrl", "Signature-256"])
    func repeatedHeader(name: String) async throws {
        let bench = try VerificationBench()
        let right = try bench.request(envelope())
        for value in ["AAAA", try #require(right.fields[name])] {
            var request = try bench.request(envelope())
            request.fields.append(name.lowercased(), value)
            #expect(await bench.rejection(of: request) == .headerRepeated(name))
        }
        #expect(bench.http.requests.isEmpty)
    }

    @Test(
        "VER-3: a certificate URL is normalised, then judged; a refused one causes no fetch",
        arguments: [
            ("https://s3.amazonaws.com/echo.api/../echo.api/c.pem", true),
            ("https://s3.amazonaws.com/echo.api/c.pem", true),
            ("https://s3.amazonaws.com/echo.api/../other/c.pem", false),
            ("https://s3.amazonaws.com/echo.api/%2e%2e/other/c.pem", false),
            ("https://s3.amazonaws.com/EcHo.ApI/c.pem", false), ("http://s3.amazonaws.com/echo.api/c.pem", false),
            ("https://s3.amazonaws.com.example.test/echo.api/c.pem", false),
            ("https://s3.amazonaws.com:563/echo.api/c.pem", false),
        ])
    func urls(url: String, isGood: Bool) async throws {
        let signer = try VerificationBench.signer.get()
        let bench = VerificationBench(
            ["https://s3.amazonaws.com/echo.api/c.pem": HTTPResponse(status: 200, body: signer.pem)],
            anchors: try VerificationBench.authority.get().anchors)
        let rejection = await bench.rejection(of: try bench.request(envelope(), url: url))
        #expect((rejection == nil) == isGood)
        #expect(isGood || rejection?.reasonCode == "verification.certificateURL")
        #expect(bench.http.requests.map(\.url) == (isGood ? ["https://s3.amazonaws.com/echo.api/c.pem"] : []))
    }

    @Test("VER-4: each certificate URL has a chain of its own")
    func cacheKey() async throws {
        let authority = try VerificationBench.authority.get()
        let other = "https://s3.amazonaws.com/echo.api/u2.pem"
        let bench = try VerificationBench()
        bench.host.serve(HTTPResponse(status: 200, body: try authority.signer().pem), at: other)
        #expect(await bench.rejection(of: try bench.request(envelope())) == nil)
        #expect(await bench.rejection(of: try bench.request(envelope(), url: other)) == .signatureWrong)
        // The same file by another spelling is the same chain: no further fetch.
        let spelled = "https://S3.amazonaws.com:443/echo.api/./echo-api-cert-12.pem"
        #expect(await bench.rejection(of: try bench.request(envelope(), url: spelled)) == nil)
        #expect(bench.http.requests.map(\.url) == [TestSigner.usualURL, other])
    }

    static let names: [(names: [String], commonName: String, isGood: Bool)] = [
        (["echo-api.amazon.com.example.test"], "echo-api.amazon.com", false),
        ([], "echo-api.amazon.com", false),
        (["*.amazon.com"], "echo-api.amazon.com", false),
        (["xecho-api.amazon.com", "amazon.com"], "echo-api.amazon.com", false),
        (["www.example.test", "echo-api.amazon.com"], "www.example.test", true),
        (["Echo-API.Amazon.com"], "other", true),
    ]

    @Test("VER-5: exactly echo-api.amazon.com must be a DNS name of the certificate", arguments: names)
    func certificateName(row: (names: [String], commonName: String, isGood: Bool)) async throws {
        let authority = try VerificationBench.authority.get()
        let signer = try authority.signer(for: row.names) { $0.commonName = row.commonName }
        let bench = VerificationBench(
            [TestSigner.usualURL: HTTPResponse(status: 200, body: signer.pem)], anchors: try authority.anchors)
        let request = try signer.request(envelope(), deadline: bench.clock.deadline())
        #expect(await bench.rejection(of: request) == (row.isGood ? nil : .certificateName))
    }

    @Test("VER-6: issuer, file name and number may change at any time")
    func rotation() async throws {
        let (first, second) = (try TestAuthority(named: "First"), try TestAuthority(named: "Second"))
        let signers = [(try first.signer(), "cert-12.pem"), (try second.signer(), "cert-99.pem")]
        let bench = VerificationBench(
            [:], anchors: try TrustAnchors(certificates: [first.certificate, second.certificate]))
        for (signer, name) in signers {
            bench.host.serve(
                HTTPResponse(status: 200, body: signer.pem), at: "https://s3.amazonaws.com/echo.api/" + name)
        }
        for (signer, name) in signers + signers {
            let request = try signer.request(
                envelope(), url: "https://s3.amazonaws.com/echo.api/" + name, deadline: bench.clock.deadline())
            #expect(await bench.rejection(of: request) == nil)
        }
        #expect(bench.http.requests.count == 2)
    }

    static let windows: [(type: String, timestamp: String, difference: Int64?)] = [
        ("AlexaSkillEvent.SkillDisabled", "2025-01-15T09:20:00Z", nil),
        ("AlexaSkillEvent.SkillDisabled", "2025-01-15T08:58:59Z", -3_661_000),
        ("IntentRequest", "2025-01-15T09:57:29Z", -151_000),
        ("IntentRequest", "2025-01-15T09:57:30Z", nil),
        ("IntentRequest", "2025-01-15T10:02:30Z", nil),
        ("IntentRequest", "2025-01-15T10:02:30.001Z", 150_001),
        ("AlexaSkillEvent.ProactiveSubscriptionChanged", "2025-01-15T09:00:00Z", nil),
        ("AlexaSkillEvent.SkillEnabled", "2025-01-15T11:00:01Z", 3_601_000),
        ("XAlexaSkillEvent.SkillDisabled", "2025-01-15T09:20:00Z", -2_400_000),
        ("AlexaSkillEventSkillDisabled", "2025-01-15T09:20:00Z", -2_400_000),
    ]

    @Test(
        "VER-7: the window is an hour for skill events, 150 seconds otherwise, in both directions", arguments: windows)
    func window(row: (type: String, timestamp: String, difference: Int64?)) async throws {
        let bench = try VerificationBench()
        let rejection = try await bench.rejection(type: row.type, timestamp: "\"\(row.timestamp)\"")
        #expect(rejection == row.difference.map { .stale(clockDifferenceMilliseconds: $0) })
        #expect(rejection?.clockDifferenceMilliseconds == row.difference)
    }

    @Test(
        "VER-8: Signature-256 alone decides",
        arguments: [(true, true, true), (true, false, false), (true, nil, false), (false, true, true)])
    func oldHeader(hasOld: Bool, new: Bool?, isGood: Bool) async throws {
        let bench = try VerificationBench()
        var request = try bench.request(envelope())
        // What the old header holds is not looked at, so any value stands for a valid one.
        if hasOld { request.fields["Signature"] = request.fields["Signature-256"] }
        switch new {
        case true?: break
        case false?: request.fields["Signature-256"] = Base64.encode([UInt8](repeating: 7, count: 256))
        case nil: request.fields["Signature-256"] = nil
        }
        #expect((await bench.rejection(of: request) == nil) == isGood)
    }

    @Test("VER-9: empty, absent and nonsense signatures and URLs are refused, each with its reason")
    func nonsense() async throws {
        let bench = try VerificationBench()
        let wrongKey = try PrivateKey.generate(.rsa2048).signature(of: envelope(), algorithm: .rs256)
        let rows: [(String, String?, RequestRejection)] = [
            ("Signature-256", "", .headerMissing("Signature-256")),
            ("Signature-256", nil, .headerMissing("Signature-256")),
            ("Signature-256", "AAAA", .signatureWrong),
            ("Signature-256", "not base64!", .signatureMalformed),
            ("Signature-256", "AAA", .signatureMalformed),
            ("Signature-256", Base64.encode(wrongKey), .signatureWrong),
            ("SignatureCertChainUrl", "", .headerMissing("SignatureCertChainUrl")),
            ("SignatureCertChainUrl", nil, .headerMissing("SignatureCertChainUrl")),
        ]
        for (name, value, expected) in rows {
            var request = try bench.request(envelope())
            request.fields[name] = value
            #expect(await bench.rejection(of: request) == expected, "\(name): \(value ?? "absent")")
        }
    }

    @Test("VER-10: a right signature passes; one changed byte in body or signature does not")
    func bothDirections() async throws {
        let bench = try VerificationBench()
        let request = try bench.request(envelope())
        #expect(await bench.rejection(of: request) == nil)
        for index in [0, request.body.count / 2, request.body.count - 1] {
            var changed = request
            changed.body[index] ^= 1
            #expect(await bench.rejection(of: changed) == .signatureWrong)
        }
        let text = try #require(request.fields["Signature-256"])
        let signature = try #require(Base64.decode(text))
        for index in [0, signature.count / 2, signature.count - 1] {
            var bytes = signature
            bytes[index] ^= 1
            var changed = request
            changed.fields["Signature-256"] = Base64.encode(bytes)
            #expect(await bench.rejection(of: changed) == .signatureWrong)
        }
    }

    @Test("VER-11: nothing but a judged chain is kept, and it leaves at its last day")
    func chainCache() async throws {
        let bench = try VerificationBench()
        let good = bench.host.response(to: TestSigner.usualURL)
        let request = try bench.request(envelope())
        bench.host.serve(HTTPResponse(status: 200), at: TestSigner.usualURL)
        #expect(await bench.rejection(of: request) == .chainUnavailable(.empty))
        bench.host.serve(
            HTTPResponse(status: 200, body: Array("<html>try later</html>".utf8)), at: TestSigner.usualURL)
        bench.clock.advance(by: .seconds(30))
        #expect(await bench.rejection(of: request) == .chainUnavailable(.unreadable))
        bench.host.serve(good, at: TestSigner.usualURL)
        bench.clock.advance(by: .seconds(30))
        #expect(await bench.rejection(of: request) == nil)
        #expect(bench.http.requests.count == 3)
        #expect(await bench.rejection(of: request) == nil)
        #expect(bench.http.requests.count == 3)

        let last = try VerificationBench.authority.get().validity.upperBound
        bench.clock.set(last.adding(seconds: 1))
        #expect(await bench.rejection(of: request) == .certificateExpired)
        #expect(bench.http.requests.count == 4)
    }

    static let ids: [(session: String?, context: String?, rejection: RequestRejection?)] = [
        ("amzn1.ask.skill.TEST", "applicationId", .skillsDiffer),
        ("applicationId", "amzn1.ask.skill.TEST", .skillsDiffer),
        ("applicationId", "applicationId", .skillUnknown), (nil, "amzn1.ask.skill.OTHER", .skillUnknown),
        ("amzn1.ask.skill.test", nil, .skillUnknown), ("amzn1.ask.skill.TEST", "amzn1.ask.skill.TEST", nil),
        (nil, "amzn1.ask.skill.TEST", nil), ("amzn1.ask.skill.TEST", nil, nil),
    ]

    @Test("VER-12: every skill id that is there must be ours", arguments: ids)
    func skillIDs(row: (session: String?, context: String?, rejection: RequestRejection?)) async throws {
        let bench = try VerificationBench()
        func application(_ id: String?) -> String {
            id.map { #"{"application":{"applicationId":"\#($0)"}}"# } ?? "{}"
        }
        let body = envelope(
            context: #"{"System":\#(application(row.context))}"#, session: application(row.session))
        let rejection = await bench.rejection(of: try bench.request(body))
        #expect(rejection == row.rejection)
        #expect(rejection != .skillsDiffer || rejection?.detail == "the ids in session and context differ")
    }

    @Test("A skill id that is no text is refused")
    func oddSkillID() async throws {
        let bench = try VerificationBench()
        for id in ["7", "[\"amzn1.ask.skill.TEST\"]", "{}"] {
            let body = envelope(context: #"{"System":{"application":{"applicationId":\#(id)}}}"#)
            #expect(
                await bench.rejection(of: try bench.request(body))
                    == .malformed(path: "context.System.application.applicationId"))
        }
    }

    static let numbers: [(String, RequestRejection?)] = [
        ("1736935200000", nil), ("1736935200", nil), ("1736935200000.0", nil),
        ("1736935049000", .stale(clockDifferenceMilliseconds: -151_000)),
        ("1736935049", .stale(clockDifferenceMilliseconds: -151_000)),
        ("0", .stale(clockDifferenceMilliseconds: -1_736_935_200_000)),
        ("-9223372036854775808", .stale(clockDifferenceMilliseconds: .min)),
        ("1e300", .malformed(path: "request.timestamp")), ("1.5", .malformed(path: "request.timestamp")),
        ("true", .malformed(path: "request.timestamp")), ("null", .malformed(path: "request.timestamp")),
        ("\"\"", .malformed(path: "request.timestamp")),
        ("\"2025-01-15\"", .malformed(path: "request.timestamp")),
        ("\"1736935200000\"", .malformed(path: "request.timestamp")),
    ]

    @Test("DEC-1: a timestamp may be a number of milliseconds, or of seconds within the window", arguments: numbers)
    func numberTimestamps(timestamp: String, rejection: RequestRejection?) async throws {
        let bench = try VerificationBench()
        #expect(try await bench.rejection(type: "LaunchRequest", timestamp: timestamp) == rejection)
    }

    @Test("OPS-4: a refusal for its time tells how far the clocks are apart, with its sign")
    func clockDifference() async throws {
        let bench = try VerificationBench()
        bench.clock.set(ManualClock.start.adding(seconds: -160))
        let rejection = await bench.rejection(of: try bench.request(envelope()))
        #expect(rejection?.reasonCode == "verification.stale")
        #expect(rejection?.clockDifferenceMilliseconds == 160_000)
    }

    @Test("Where the chain is kept, verification never waits")
    func noSuspension() async throws {
        let bench = try VerificationBench()
        let request = try bench.request(envelope())
        _ = try await bench.verifier.verify(request)
        let outcome = Locked<Bool?>(nil)
        let task = Task.immediate {
            let verified = try? await bench.verifier.verify(request)
            outcome.withLock { $0 = verified != nil }
        }
        // An immediate task runs here until it waits, so the outcome is there only if it never did.
        #expect(outcome.withLock { $0 } == true)
        await task.value
    }

    @Test("A genuine signature over something that is no JSON is refused", arguments: ["", "{", "{}x", "\u{FEFF}{}"])
    func noJSON(text: String) async throws {
        let bench = try VerificationBench()
        let rejection = await bench.rejection(of: try bench.request(Array(text.utf8)))
        #expect(rejection?.reasonCode == "verification.bodyUnreadable")
    }

    @Test("Reason codes are distinct and of one form")
    func reasonCodes() {
        let all: [RequestRejection] = [
            .headerMissing(""), .headerRepeated(""), .certificateURL(.host), .chainUnavailable(.empty),
            .chainUntrusted(""), .certificateExpired, .certificateNotYetValid, .certificateName, .certificateUsage,
            .signatureMalformed, .signatureWrong, .bodyUnreadable(""), .malformed(path: ""),
            .stale(clockDifferenceMilliseconds: 1), .skillUnknown, .skillsDiffer, .forwarderMalformed,
            .forwarderStale(clockDifferenceMilliseconds: 1), .forwarderWrong,
        ]
        #expect(Set(all.map(\.reasonCode)).count == all.count)
        #expect(all.allSatisfy { $0.reasonCode.hasPrefix("verification.") })
    }
}
