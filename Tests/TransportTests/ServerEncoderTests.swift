import HTTP
import Testing
import Time
import Transport

@Suite("Writing answers") struct ServerEncoderTests {
    let noon = UnixTime(seconds: 784_111_777)

    func head(
        _ response: HTTPResponse, isHTTP10: Bool = false, keepsAlive: Bool = true, now: UnixTime? = nil
    ) -> String? {
        var encoder = ResponseEncoder()
        return encoder.head(of: response, isHTTP10: isHTTP10, keepsAlive: keepsAlive, now: now ?? noon)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("a head has the handler's fields, the length in bytes, the date, and a blank line")
    func plain() {
        #expect(
            head(HTTPResponse(status: 200, fields: ["Content-Type": "text/plain"], body: Array("ü".utf8)))
                == "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n"
                + "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n")
    }

    @Test("a handler cannot say how the message ends, nor whether the connection does")
    func serversFields() throws {
        let response = HTTPResponse(
            status: 200,
            fields: [
                "content-length": "9", "Transfer-Encoding": "chunked", "Connection": "upgrade", "date": "never",
                "Dote": "x",
            ])
        let head = try #require(self.head(response))
        #expect(head.contains("Content-Length: 0\r\n") && head.contains("Dote: x\r\n"))
        for text in ["content-length", "chunked", "upgrade", "never"] { #expect(!head.contains(text)) }
    }

    @Test("an answer without a body has no length", arguments: [204, 304])
    func noBody(status: Int) throws {
        #expect(try !#require(head(HTTPResponse(status: status))).contains("Content-Length"))
    }

    @Test("the connection's fate is said where it is not the default")
    func connection() throws {
        let response = HTTPResponse(status: 200)
        #expect(try !#require(head(response)).contains("Connection"))
        #expect(try #require(head(response, keepsAlive: false)).contains("Connection: close\r\n"))
        #expect(try #require(head(response, isHTTP10: true)).contains("Connection: keep-alive\r\n"))
        #expect(try #require(head(response, isHTTP10: true, keepsAlive: false)).contains("Connection: close\r\n"))
    }

    @Test("the date moves on with the clock")
    func date() throws {
        var encoder = ResponseEncoder()
        for (seconds, text) in [(784_111_777, "08:49:37"), (784_111_777, "08:49:37"), (784_111_778, "08:49:38")] {
            let now = UnixTime(seconds: Int64(seconds))
            let head = encoder.head(of: HTTPResponse(status: 200), isHTTP10: false, keepsAlive: true, now: now)
            #expect(String(decoding: try #require(head), as: UTF8.self).contains(text))
        }
    }

    @Test(
        "a field that could break out of its line keeps the answer from leaving",
        arguments: [
            ("X", "a\r\nb"), ("X", "a\nb"), ("X", "a\u{0}"), ("X\r\n", "a"), ("X Y", "a"), ("X:", "a"), ("", "a"),
        ])
    func splitting(name: String, value: String) {
        var response = HTTPResponse(status: 200)
        response.fields.append(name, value)
        #expect(head(response) == nil)
    }

    @Test("a status that is none keeps the answer from leaving", arguments: [0, 99, 1000, -200])
    func status(status: Int) { #expect(head(HTTPResponse(status: status)) == nil) }
}

@Suite("Sets of addresses") struct AddressSetTests {
    @Test(
        "an address is in a set or not",
        arguments: [
            (["127.0.0.1"], "127.0.0.1", true), (["127.0.0.1"], "127.0.0.2", false),
            (["10.1.0.0/16"], "10.1.255.1", true), (["10.1.0.0/16"], "10.2.0.0", false),
            (["10.0.0.0/9"], "10.127.0.1", true), (["10.0.0.0/9"], "10.128.0.1", false),
            (["0.0.0.0/0"], "9.9.9.9", true), (["0.0.0.0/0"], "::1", false), (["fe80::/10"], "febf::1", true),
            (["fe80::/10"], "fec0::1", false), (["127.0.0.1"], "::ffff:127.0.0.1", true),
            (["::1", "127.0.0.1"], "::1", true), ([], "127.0.0.1", false), (["127.0.0.1"], "", false),
        ])
    func contains(texts: [String], address: String, isIn: Bool) throws {
        #expect(try #require(AddressSet(texts)).contains(address) == isIn)
    }

    @Test(
        "what is no address makes no set",
        arguments: ["", "localhost", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8/8", "1.2.3", "::1/129"])
    func refused(text: String) { #expect(AddressSet([text]) == nil) }

    @Test("the origin is the rightmost address that is no proxy of ours")
    func origin() throws {
        let proxies = try #require(AddressSet(["10.0.0.0/8"]))
        for (peer, fields, origin) in [
            ("10.0.0.1", ["203.0.113.1"], "203.0.113.1"),
            ("10.0.0.1", ["6.6.6.6, 203.0.113.1, 10.0.0.2"], "203.0.113.1"),
            ("10.0.0.1", ["203.0.113.1", "10.0.0.2"], "203.0.113.1"), ("9.9.9.9", ["203.0.113.1"], "9.9.9.9"),
            ("10.0.0.1", ["203.0.113.1, evil"], "10.0.0.1"), ("10.0.0.1", [], "10.0.0.1"),
            ("10.0.0.1", [""], "10.0.0.1"),
            ("10.0.0.1", ["10.0.0.3"], "10.0.0.3"),
        ] {
            #expect(proxies.origin(peer: peer, forwardedFor: fields) == origin, "\(fields)")
        }
    }
}
