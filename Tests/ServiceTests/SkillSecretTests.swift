import Alexa
import Concurrency
import Crypto
import HTTP
import JSON
import OAuth
import Service
import Storage
import Telemetry
import TestSupport
import Testing
import Time

/// OPS-1 for custom skills: every flow with a marker in each secret place, and none of them in any output.
@Suite("Custom skills: secrets") struct SkillSecretTests {
    /// Every secret place has a marker of its own; all begin alike, so that a cut one is found too.
    static func marker(_ place: String) -> String { "mRk7/Q+z=" + place + "~9fXw2LpVt0" }

    /// The forms in which a marker could appear: as it is, cut, URL-encoded, hexadecimal, and in base64 of any offset.
    static let forms: [String] = {
        let text = "mRk7/Q+z="
        var forms = [text, percentEncoded(text), Hex.encode(Array(text.utf8)), "mRk7\\/Q+z"]
        for offset in 0..<3 {
            let padded = [UInt8](repeating: 0, count: offset) + Array(text.utf8)
            // The first and last characters depend on what stands beside.
            let encoded = Base64.encode(padded).filter { $0 != "=" }
            forms.append(String(encoded.dropFirst(offset == 0 ? 0 : offset + 1).prefix(9)))
        }
        return forms + forms.map { $0.replacing("+", with: "-").replacing("/", with: "_") }
    }()

    static let intents = """
        { requests: {
            LaunchRequest: { account: "optional", resources: { me: "/me" }, say: { en: "Hi {me.name}." } },
            Me: { resources: { me: "/me" }, say: { en: "{me.name}" } },
            Secret: { account: "required", say: { en: "{principal.subject}" } },
            Perm: { permissions: ["alexa::profile:name:read"], say: { en: "x" } } } }
        """

    /// A request with a marker in each place of the envelope that holds a secret.
    static func envelope(_ request: String, token: String, id: String, now: UnixTime) -> String {
        let body = SkillHarness.envelope(
            request, token: token, session: #""new":true,"attributes":{"secret":"\#(marker("attributes"))"}"#, id: id,
            timestamp: "\"\(now.iso8601())\"",
            system:
                #","apiAccessToken":"\#(marker("api"))","person":{"personId":"p","accessToken":"\#(marker("person"))"}"#
        )
        return body.replacing(
            #""userId":"amzn1.ask.account.u1""#,
            with: #""userId":"amzn1.ask.account.u1","permissions":{"consentToken":"\#(marker("consent"))"}"#)
    }

    @Test("OPS-1: no secret appears in any log line or trace, in whole, cut or encoded", arguments: [true, false])
    func markers(introspects: Bool) async throws {
        let throwing = ClosureHandler { _ in throw MarkedError(text: Self.marker("error")) }
        let harness = try SkillHarness(intents: Self.intents, handlers: ["Throws": throwing], introspects: introspects)
        let good = try harness.token(subject: "u1")
        let foreign = try harness.token(
            header: [
                "alg": "ES256", "kid": "k1", "typ": "at+jwt", "x": .string(Self.marker("header")),
            ], claims: ["sub": .string(Self.marker("sub")), "iss": .string(Self.marker("iss"))])
        let tokens = [
            good, foreign, Self.marker("opaque"), foreign + "." + Self.marker("fourth"), Self.marker("a.b.c"),
        ]
        var number = 0
        for outcome in Self.upstreams {
            let answer: RecordingHTTPClient.Answer = { _, _ throws(HTTPClientError) in try outcome.get() }
            harness.provider.withLock { provider in
                provider.resource = answer
                provider.introspection = answer
            }
            for token in tokens {
                for request in Self.requests {
                    number += 1
                    let body = Self.envelope(request, token: token, id: "r\(number)", now: harness.clock.now)
                    _ = try await harness.respond(Array(body.utf8))
                }
            }
            harness.clock.advance(by: .seconds(40))
        }
        try await Self.refusals(harness)
        // The last trace is stored after its answer.
        try await Self.untilStored(harness)
        let traces = try await harness.store.traces(subject: nil, limit: 10_000)
        #expect(traces.count > 20)
        let output = harness.logText + traces.map { "\($0)" }.joined(separator: "\n") + harness.metrics.prometheusText
        #expect(output.contains("skill request"))
        for form in Self.forms { #expect(!output.contains(form), "found \(form)") }
        for part in good.split(separator: ".").dropFirst() { #expect(!output.contains(part.prefix(16))) }
        #expect(!output.contains("marker-pair-secret"))
    }

    @Test("OPS-1: the search finds a marker in each of its forms")
    func search() {
        let text = Self.marker("x")
        for prefix in ["", "a", "ab", "abc"] {
            for encoded in [
                text, percentEncoded(text), Hex.encode(Array(text.utf8)), Base64.encode(Array((prefix + text).utf8)),
                Base64URL.encode(Array((prefix + text).utf8)), String(text.prefix(12)),
            ] {
                #expect(Self.forms.contains { encoded.contains($0) }, "\(encoded)")
            }
        }
    }

    struct MarkedError: Error { let text: String }

    /// What the provider's servers answer, one after the other.
    static let upstreams: [Result<HTTPResponse, HTTPClientError>] = [
        .success(.json(#"{"active":true,"sub":"u1","name":"\#(marker("name"))"}"#)),
        .success(.json(#"{"error":"\#(marker("body"))"}"#, status: 400)),
        .success(.json("{\"active\": \(marker("broken"))")),
        .success(
            HTTPResponse(
                status: 500, fields: ["Content-Type": marker("type")], body: Array(marker("html").utf8))),
        .success(.json("{}", status: 401, fields: ["WWW-Authenticate": marker("challenge")])),
        .failure(.broken("connection reset")),
    ]

    static let requests: [String] = [
        #""type":"LaunchRequest""#, intent("Me"), intent("Secret"), intent("Perm"), intent("Throws"),
        #""type":"SessionEndedRequest","reason":"ERROR","error":{"type":"x","message":"\#(marker("message"))"}"#,
        #""type":"AlexaSkillEvent.SkillAccountLinked","body":{"accessToken":"\#(marker("linked"))"}"#,
        #""type":"AlexaSkillEvent.SkillDisabled""#,
        #""type":"Alexa.Authorization.Grant","body":{"grant":{"type":"OAuth2.AuthorizationCode","code":"\#(marker("code"))"}}"#,
        #""type":"Messaging.MessageReceived","message":{"secret":"\#(marker("message"))"}"#,
        #""type":"Brand.New","secret":"\#(marker("unknown"))""#,
    ]

    private static func intent(_ name: String) -> String {
        #""type":"IntentRequest","intent":{"name":"\#(name)","slots":{"s":{"name":"s","value":"\#(marker("slot"))"}}}"#
    }

    /// Requests that verification or decoding refuses, with markers in what they send.
    private static func refusals(_ harness: SkillHarness) async throws {
        for body in [
            marker("body"), "{\"a\":\"\(marker("body"))", "{\"request\":{\"type\":\"\(marker("type"))\"}}",
            SkillHarness.envelope(#""type":"IntentRequest","intent":"\#(marker("intent"))""#),
            SkillHarness.envelope(#""type":"LaunchRequest""#, timestamp: "\"\(marker("timestamp"))\""),
            SkillHarness.envelope(#""type":"LaunchRequest""#).replacing(SkillHarness.skillID, with: marker("skill")),
        ] {
            _ = try await harness.respond(Array(body.utf8))
        }
        let body = Array(SkillHarness.envelope(#""type":"LaunchRequest""#).utf8)
        for (name, value) in [
            ("Signature-256", marker("signature")), ("SignatureCertChainUrl", "https://" + marker("host")),
            ("SignatureCertChainUrl", "https://s3.amazonaws.com/echo.api/" + marker("path")),
        ] {
            var request = try harness.signer.request(body, deadline: harness.clock.deadline())
            request.fields[name] = value
            request.fields.append("Authorization", "Bearer " + marker("authorization"))
            request.fields.append("Cookie", marker("cookie"))
            #expect(await harness.endpoint.respond(to: request).status == 400)
        }
    }

    private static func untilStored(_ harness: SkillHarness) async throws {
        let ids = harness.logText.split(separator: "\n").compactMap {
            (try? JSONValue(parsing: Array($0.utf8)))?["traceID"]?.string
        }
        guard let last = ids.last else { return }
        while try await harness.store.trace(id: last) == nil { await Task.yield() }
    }
}
