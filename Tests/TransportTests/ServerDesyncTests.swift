import FoundationEssentials
import HTTP
import JSON
import Testing
import Transport

/// Heads by which requests were smuggled past proxies, each with a verdict (the http-desync-guardian suite).
private struct SmugglingHead: Sendable, CustomTestStringConvertible {
    let id: String
    let tier: String
    let bytes: [UInt8]

    var testDescription: String { id }

    static let all: [SmugglingHead] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "shared/fixtures/http-desync-guardian/requests.json")
        guard let data = try? Data(contentsOf: file), let document = try? JSONDocument(parsing: Array(data)),
            let elements = document.root.elements
        else { return [] }
        return elements.compactMap { element in
            guard let id = element.string("id"), let tier = element.string("tier"),
                let bytes = element.string("head_b64").flatMap({ Data(base64Encoded: $0) })
            else { return nil }
            return SmugglingHead(id: id, tier: tier, bytes: withHost(Array(bytes)))
        }
    }()

    /// Most heads have no `Host`, which alone would be a reason to refuse them; they get one first.
    private static func withHost(_ bytes: [UInt8]) -> [UInt8] {
        guard place(of: "\nhost:", in: bytes) == nil, let end = bytes.firstRange(of: Array("\r\n".utf8)) else {
            return bytes
        }
        return bytes[..<end.upperBound] + Array("Host: localhost\r\n".utf8) + bytes[end.upperBound...]
    }

    /// Where what follows `text`, given in lower case, begins.
    private static func place(of text: String, in bytes: [UInt8]) -> Int? {
        bytes.map { (65...90).contains($0) ? $0 | 32 : $0 }.firstRange(of: Array(text.utf8))?.upperBound
    }

    /// What ends the message: the body that the head announces.
    var body: [UInt8] {
        if Self.place(of: "\ntransfer-encoding:", in: bytes) != nil { return Array("0\r\n\r\n".utf8) }
        guard let end = Self.place(of: "\ncontent-length:", in: bytes) else { return [] }
        let number = bytes[end...].prefix { $0 != 0x0d }.filter { $0 != 0x20 }
        return [UInt8](repeating: 120, count: Int(String(decoding: number, as: UTF8.self)) ?? 0)
    }
}

@Suite("Request smuggling", .timeLimit(.minutes(5))) struct ServerDesyncTests {
    static let isAbsent = SmugglingHead.all.isEmpty
    static let absence: Comment = "the fixtures are not beside this checkout (../shared/fixtures/http-desync-guardian)"

    @Test("a severe head is always answered 400 and the connection closed", .disabled(if: isAbsent, absence))
    func severe() async throws {
        let heads = SmugglingHead.all.filter { $0.tier == "Severe" }
        #expect(heads.count >= 35)
        let seen = Responder { _ in
            Issue.record("a severe head reached the handler")
            return HTTPResponse(status: 200)
        }
        try await withServer(seen) { port in
            try await onThread {
                for head in heads {
                    let client = try RawClient(port: port)
                    client.send(head.bytes)
                    #expect(try client.answer()?.status == 400, "\(head.id)")
                    #expect(try client.answer() == nil, "\(head.id)")
                }
            }
        }
    }

    @Test("a compliant head is never refused", .disabled(if: isAbsent, absence))
    func compliant() async throws {
        let heads = SmugglingHead.all.filter { $0.tier == "Compliant" }
        #expect(heads.count >= 14)
        try await withServer(configure: { $0.limits.bodyBytes = 8 << 20 }) { port in
            try await onThread {
                for head in heads {
                    let client = try RawClient(port: port)
                    client.send(head.bytes + head.body)
                    #expect(try client.answer()?.status == 200, "\(head.id)")
                    // The connection is where it should be: the next request is read as one.
                    client.send("GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
                    #expect(try client.answer()?.text == "GET /next ", "\(head.id)")
                }
            }
        }
    }

    @Test("no head of any kind makes two requests of one", .disabled(if: isAbsent, absence))
    func others() async throws {
        try await withServer(configure: { $0.limits.bodyBytes = 8 << 20 }) { port in
            try await onThread {
                for head in SmugglingHead.all where head.tier == "Acceptable" || head.tier == "Ambiguous" {
                    let client = try RawClient(port: port)
                    client.send(head.bytes + head.body)
                    client.finish()
                    let answers = try client.readToEnd().components(separatedBy: "HTTP/1.1 ").count - 1
                    #expect(answers == 1, "\(head.id)")
                }
            }
        }
    }
}
