import HTTP
import JSON
import Testing

/// What is no good request, sent to a program that runs: it says what is wrong, and goes on.
@Suite("Bad input over a socket", .timeLimit(.minutes(5))) struct BadInputTests {
    /// A request, the answer to it, and what the log says of it.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let status: Int
        /// The member `code` of the problem; nil where the answer has no body.
        var code: String?
        var fields: [String: String] = [:]
        /// The reason code in the log; nil where it is `code`.
        var logged: String?
        var closes = false

        var testDescription: String { name }
    }

    static let json: HTTPFields = ["Content-Type": "application/json"]
    static let big = [UInt8](repeating: UInt8(ascii: " "), count: 262_145)
    static let chunk = "10000\r\n" + String(repeating: " ", count: 65_536) + "\r\n"

    static func head(_ text: String) -> [UInt8] { Array((text + "\r\n\r\n").utf8) }

    static let cases: [Case] = [
        Case(
            name: "a body over the limit by its announced length",
            bytes: head("POST /alexa/custom HTTP/1.1\r\nHost: a\r\nContent-Length: 262145"), status: 413,
            logged: "http.bodyTooLarge", closes: true),
        Case(
            name: "a body over the limit, sent whole", bytes: RawClient.request("/alexa/custom", body: big),
            status: 413, logged: "http.bodyTooLarge", closes: true),
        Case(
            name: "a body over the limit in chunks",
            bytes: head("POST /alexa/custom HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked")
                + Array((chunk + chunk + chunk + chunk + "1\r\n \r\n").utf8), status: 413, logged: "http.bodyTooLarge",
            closes: true),
        Case(
            name: "another media type",
            bytes: RawClient.request("/alexa/custom", fields: ["Content-Type": "text/plain"], body: [123, 125]),
            status: 415, code: "http.unsupportedMediaType"),
        Case(
            name: "no media type", bytes: RawClient.request("/alexa/smart-home", body: [123, 125]), status: 415,
            code: "http.unsupportedMediaType"),
        Case(
            name: "another method", bytes: RawClient.request("/alexa/custom", method: "PUT", fields: json, body: [123]),
            status: 405, code: "http.methodNotAllowed", fields: ["Allow": "POST"]),
        Case(
            name: "GET where POST is meant", bytes: RawClient.request("/alexa/custom", method: "GET"), status: 405,
            code: "http.methodNotAllowed", fields: ["Allow": "POST"]),
        Case(
            name: "POST where GET is meant", bytes: RawClient.request("/healthz", fields: json, body: [123, 125]),
            status: 405, code: "http.methodNotAllowed", fields: ["Allow": "GET, HEAD"]),
        Case(
            name: "a path that is none", bytes: RawClient.request("/alexa/customs", fields: json, body: [123, 125]),
            status: 404, code: "http.notFound"),
        Case(
            name: "garbage", bytes: head("\u{16}\u{3}\u{1}\u{2}\u{0}garbage"), status: 400,
            logged: "http.controlCharacter", closes: true),
        Case(
            name: "a first line that is none", bytes: head("POST /alexa/custom"), status: 400,
            logged: "http.requestLine", closes: true),
        Case(
            name: "no host", bytes: head("POST /alexa/custom HTTP/1.1\r\nContent-Length: 0"), status: 400,
            logged: "http.host", closes: true),
        Case(
            name: "two lengths",
            bytes: head("POST /alexa/custom HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3"),
            status: 400, logged: "http.contentLength", closes: true),
        Case(
            name: "a length and chunks",
            bytes: head(
                "POST /alexa/custom HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked"),
            status: 400, logged: "http.ambiguousLength", closes: true),
        Case(
            name: "a chunk whose size is none",
            bytes: head("POST /alexa/custom HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked") + Array("zz\r\n".utf8),
            status: 400, logged: "http.malformed", closes: true),
        Case(
            name: "a head over the limit",
            bytes: head("GET / HTTP/1.1\r\nHost: a\r\nA: " + String(repeating: "a", count: 33_000)), status: 431,
            logged: "http.headTooLarge", closes: true),
    ]

    @Test("each fault has its status and reason, and a good request after it is answered")
    func faults() async throws {
        try await Stage.with { stage in
            let outcome = try await stage.run { service in
                for fault in Self.cases {
                    let (answer, isEnded) = try await onOwnThread {
                        let client = try RawClient(port: service.port)
                        client.send(fault.bytes)
                        let answer = client.answer()
                        return (answer, fault.closes && client.isEnded())
                    }
                    #expect(answer?.status == fault.status, "\(fault.name)")
                    #expect(isEnded == fault.closes, "\(fault.name)")
                    let problem = try? JSONValue(parsing: answer?.body ?? [])
                    #expect(problem?["code"]?.string == fault.code, "\(fault.name)")
                    if fault.code != nil {
                        #expect(answer?.fields["Content-Type"] == "application/problem+json", "\(fault.name)")
                        #expect(problem?["status"]?.integer == Int64(fault.status), "\(fault.name)")
                    }
                    for (name, value) in fault.fields { #expect(answer?.fields[name] == value, "\(fault.name)") }
                    #expect(try await service.isWell(), "after \(fault.name)")
                }
            }
            #expect(outcome.code == 0)
            for reason in Set(Self.cases.map { $0.logged ?? $0.code ?? "" }) {
                let expected = Self.cases.count { $0.logged == reason || $0.code == reason }
                #expect(count(#""\#(reason)""#, in: outcome.error) == expected, "\(reason)")
            }
            #expect(count("skill request answered", in: outcome.error) == Self.cases.count)
        }
    }

    @Test("a body that is no JSON, or not what Alexa sends, is a 400 with its reason in the log")
    func bodies() async throws {
        try await Stage.with { stage in
            let unreadable = ["", "no JSON", "{\"version\":", String(repeating: "[", count: 100)]
            let outcome = try await stage.run { service in
                for text in unreadable + ["[]", "{}"] {
                    let signed = try await service.answer(to: stage.signed(Array(text.utf8)))
                    #expect(signed.status == 400 && signed.body.isEmpty, "\(text)")
                    let forwarded = try await service.answer(to: stage.forwarded(Array(text.utf8)))
                    // What is JSON and no directive is answered in the words of the smart-home API.
                    let isJSON = !unreadable.contains(text)
                    #expect(forwarded.status == (isJSON ? 200 : 400), "\(text)")
                    #expect(forwarded.text.contains("INVALID_DIRECTIVE") == isJSON, "\(text)")
                    #expect(try await service.isWell(), "after \(text)")
                }
            }
            #expect(outcome.code == 0)
            #expect(count("verification.bodyUnreadable", in: outcome.error) == 2 * unreadable.count)
            #expect(count("verification.malformed", in: outcome.error) == 2)
            #expect(count("directive.missing", in: outcome.error) == 2)
        }
    }
}
