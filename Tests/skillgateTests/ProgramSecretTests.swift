import Alexa
import Crypto
import FoundationEssentials
import HTTP
import Simulator
import Testing
import Time

/// OPS-1 over the whole program: a marker in every secret place, and none in what it writes.
@Suite("Secrets of the program", .timeLimit(.minutes(5))) struct ProgramSecretTests {
    static let marker = "mRk7/Q+z="

    /// The forms in which a text could appear: as it is, escaped, URL-encoded, in hex, and in base64 of any offset.
    static func forms(of text: String) -> [String] {
        var forms = [text, percentEncoded(text), text.replacing("/", with: "\\/"), Hex.encode(Array(text.utf8))]
        for offset in 0..<3 {
            let encoded = Base64.encode([UInt8](repeating: 0, count: offset) + Array(text.utf8)).filter { $0 != "=" }
            // The first and last characters depend on what stands beside.
            forms.append(String(encoded.dropFirst(offset == 0 ? 0 : offset + 1).dropLast()))
        }
        return forms + forms.map { $0.replacing("+", with: "-").replacing("/", with: "_") }
    }

    @Test("OPS-1: at level debug no secret appears on standard output or error, in whole, cut or encoded")
    func output() async throws {
        var options = Stage.Options()
        options.logLevel = "debug"
        options.secretPrefix = Self.marker
        try await Stage.with(options) { stage in
            let good = try stage.token()
            let expired = try stage.token(lifetimeSeconds: -600)
            let foreign = try stage.token(issuer: "https://other.example.test")
            let broken = String(good.dropLast(6)) + "AAAAAA"
            let opaque = Self.marker + "opaque-token"
            stage.hosts.script(
                .token,
                [
                    .status(200, body: Self.tokens),
                    .status(400, body: #"{"error":"invalid_grant","error_description":"\#(Self.marker)"}"#),
                    .status(500, body: Self.marker), .status(200, body: "{\"access_token\":\"\(Self.marker)\"}"),
                    .garbage,
                ])
            let outcome = try await stage.run { service in
                for token in [good, expired, foreign, broken, opaque, ""] {
                    for sample in [
                        "custom/who-am-i-linked", "custom/launch-linked", "skill-events/skill-account-linked",
                    ] {
                        let body = try stage.body(sample, token: token)
                        _ = try await service.answer(to: stage.signed(body))
                        var unsigned = try stage.signed(body)
                        unsigned[unsigned.count - 5] ^= 1
                        #expect(try await service.answer(to: unsigned).status == 400)
                    }
                    for sample in ["smart-home/discover", "smart-home/directive-of-no-known-interface"] {
                        _ = try await service.answer(to: stage.forwarded(stage.body(sample, token: token)))
                    }
                    let grant = try stage.body(
                        "smart-home/accept-grant", token: token, grantCode: Self.marker + SecureRandom.uuid())
                    _ = try await service.answer(to: stage.forwarded(grant))
                }
                for number in 0..<5 {
                    let grant = try stage.body(
                        "smart-home/accept-grant", token: good, grantCode: Self.marker + "code-\(number)")
                    _ = try await service.answer(to: stage.forwarded(grant))
                }
                for target in [
                    "/v1/me", "/metrics", "/readyz", "/alexa/custom", "/?token=\(percentEncoded(Self.marker))",
                ] {
                    for value in [
                        "Bearer \(Self.marker)", "Bearer \(good)",
                        "Basic \(Base64.encode(Array("a:\(Self.marker)".utf8)))",
                    ] {
                        let fields: HTTPFields = [
                            "Authorization": value, "Cookie": "session=\(Self.marker)",
                            ForwarderVerifier.headerName: Self.marker, "Signature-256": Self.marker,
                        ]
                        _ = try await service.answer(to: RawClient.request(target, method: "GET", fields: fields))
                    }
                }
                // A head that cannot be read is not quoted either.
                let garbage = try await service.answer(
                    to: Array("GET / HTTP/1.1\r\nHost: a\r\nAuthorization : \(Self.marker)\r\n\r\n".utf8))
                #expect(garbage.status == 400)
                #expect(try await service.isWell())
            }
            #expect(outcome.code == 0)
            let output = outcome.output + outcome.error
            #expect(count("\n", in: output) > 60)
            #expect(output.contains("directive answered") && output.contains("skill request answered"))
            #expect(output.contains("grant.lwaInvalidGrant") && output.contains("token.malformed"))
            for form in Self.forms(of: Self.marker) { #expect(!output.contains(form), "found \(form)") }
            for text in ["Atza|", "Atzr|", "alexa-api-token"] { #expect(!output.contains(text), "found \(text)") }
            for token in [good, expired, foreign, broken] {
                for part in token.split(separator: ".").dropFirst() {
                    #expect(!output.contains(part.prefix(20)), "found a part of a token")
                }
            }
        }
    }

    static let tokens = """
        {"access_token":"Atza|\(marker)","refresh_token":"Atzr|\(marker)","token_type":"bearer","expires_in":3600}
        """

    @Test("the search finds a marker in each of its forms")
    func search() {
        let text = "before " + Self.marker + " after"
        for output in [
            text, percentEncoded(text), Hex.encode(Array(text.utf8)), Base64.encode(Array(text.utf8)),
            Base64.encode(Array((" " + text).utf8)), Base64.encode(Array(("  " + text).utf8)),
            Base64URL.encode(Array(text.utf8)),
        ] {
            #expect(Self.forms(of: Self.marker).contains { output.contains($0) }, "\(output)")
        }
    }
}
