import Concurrency
import Glibc
import HTTP
import TestSupport
import Testing
import Time
import Transport

@Suite("Calls by libcurl", .timeLimit(.minutes(5)))
struct ClientCallTests {
    /// Answers every request of a connection with its own head.
    @Sendable static func echo(_ connection: RawConnection) {
        while let head = connection.head() { connection.answer("200 OK", head) }
    }

    @Test(
        "any status comes back with fields and body",
        arguments: [200, 201, 204, 301, 304, 400, 401, 404, 429, 500, 503])
    func statuses(status: Int) async throws {
        try await withClient(serve: { connection in
            while connection.head() != nil {
                let body = [204, 304].contains(status) ? "" : "body of \(status)"
                connection.answer("\(status) Whatever", body, fields: "X-A: 1\r\nx-a:  2 \r\nEmpty:\r\n")
            }
        }) { client, server, _ in
            let response = try await client.send(OutgoingRequest(url: server.url()), by: .soon())
            #expect(response.status == status)
            #expect(response.fields.values("X-A") == ["1", "2"])
            #expect(response.fields["empty"] == "")
            #expect(
                String(decoding: response.body, as: UTF8.self)
                    == ([204, 304].contains(status) ? "" : "body of \(status)"))
        }
    }

    @Test("a GET carries its fields, no body and nothing that the environment or libcurl adds")
    func get() async throws {
        try await withClient(serve: Self.echo) { client, server, _ in
            let request = OutgoingRequest(
                url: server.url("/v1/me?a=1&b=%20"), fields: ["Authorization": "Bearer abc", "X-Empty": ""])
            let head = String(decoding: try await client.send(request, by: .soon()).body, as: UTF8.self)
            let lines = head.split(separator: "\r\n").map(String.init)
            #expect(lines.first == "GET /v1/me?a=1&b=%20 HTTP/1.1")
            #expect(
                Set(lines.dropFirst()) == [
                    "Host: 127.0.0.1:\(server.port)", "User-Agent: skillgate", "Accept: */*",
                    "Authorization: Bearer abc", "X-Empty:",
                ])
        }
    }

    @Test("a body arrives whole with its length", arguments: [0, 1, 5000, 300_000, 3_000_000])
    func post(size: Int) async throws {
        let received = Locked<[UInt8]>([])
        let heads = Locked<[String]>([])
        try await withClient(serve: { connection in
            while let head = connection.head() {
                let length = head.split(separator: "\r\n").compactMap { line in
                    line.hasPrefix("Content-Length: ") ? Int(line.dropFirst(16)) : nil
                }
                guard let count = length.first, let body = connection.read(count) else { return }
                heads.withLock { $0.append(head) }
                received.withLock { $0 = body }
                connection.answer("200 OK", "taken")
            }
        }) { client, server, _ in
            let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            for method in [HTTPMethod.post, .put, .delete, HTTPMethod(rawValue: "PATCH")] {
                let request = OutgoingRequest(
                    method: method, url: server.url("/form"), fields: ["Content-Type": "text/plain"], body: body)
                let response = try await client.send(request, by: .soon())
                #expect(response.body == Array("taken".utf8))
                #expect(received.withLock { $0 } == body)
            }
            let request = OutgoingRequest(method: .post, url: server.url("/form"), body: body)
            _ = try await client.send(request, by: .soon())
            let lines = heads.withLock { $0 }.map { $0.split(separator: "\r\n") }
            #expect(lines.map { $0.first?.split(separator: " ").first } == ["POST", "PUT", "DELETE", "PATCH", "POST"])
            #expect(lines.allSatisfy { head in !head.contains { $0.hasPrefix("Expect") } })
            #expect(lines.map { head in head.filter { $0.hasPrefix("Content-Type") }.count } == [1, 1, 1, 1, 0])
            #expect(server.connectionCount == 1 || size == 0)
        }
    }

    @Test("methods without a body send none, and HEAD reads none")
    func methods() async throws {
        let heads = Locked<[String]>([])
        try await withClient(serve: { connection in
            while let head = connection.head() {
                heads.withLock { $0.append(head) }
                let isHead = head.hasPrefix("HEAD ")
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n" + (isHead ? "" : "body"))
            }
        }) { client, server, _ in
            for method in [HTTPMethod.head, .delete, .get, .head, .post, .get] {
                let response = try await client.send(OutgoingRequest(method: method, url: server.url()), by: .soon())
                #expect(response.body == (method == .head ? [] : Array("body".utf8)))
            }
            let sent = heads.withLock { $0 }
            #expect(sent.map { $0.prefix { $0 != " " } } == ["HEAD", "DELETE", "GET", "HEAD", "POST", "GET"])
            #expect(sent.allSatisfy { !$0.contains("Content-Length") && !$0.contains("Transfer-Encoding") })
        }
    }

    @Test("a chunked answer is put together, its trailers and interim answers passed over")
    func chunked() async throws {
        try await withClient(serve: { connection in
            while connection.head() != nil {
                connection.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
                connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nFolded: a\r\n  b\r\n\r\n")
                for piece in ["5\r\nhello\r\n", "1\r\n \r\n", "5;x=y\r\nworld\r\n"] { connection.write(piece) }
                connection.write("0\r\nTrailer: late\r\n\r\n")
            }
        }) { client, server, _ in
            for _ in 0..<2 {
                let response = try await client.send(OutgoingRequest(url: server.url()), by: .soon())
                #expect(response.status == 200)
                #expect(String(decoding: response.body, as: UTF8.self) == "hello world")
                #expect(response.fields["Link"] == nil)
                #expect(response.fields["Trailer"] == nil)
                #expect(response.fields["Folded"]?.split(separator: " ") == ["a", "b"])
            }
            #expect(server.connectionCount == 1)
        }
    }

    @Test("an answer that is encoded stays so, and one that ends with its connection is whole")
    func encoded() async throws {
        try await withClient(serve: { connection in
            _ = connection.head()
            connection.write("HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\nnot gzip at all")
        }) { client, server, _ in
            let response = try await client.send(OutgoingRequest(url: server.url()), by: .soon())
            #expect(String(decoding: response.body, as: UTF8.self) == "not gzip at all")
            #expect(response.fields["Content-Encoding"] == "gzip")
        }
    }

    @Test("a redirect is an answer, not an order")
    func redirect() async throws {
        try await withClient(serve: { connection in
            while connection.head() != nil {
                connection.answer("302 Found", fields: "Location: /elsewhere\r\n")
            }
        }) { client, server, _ in
            let response = try await client.send(OutgoingRequest(url: server.url()), by: .soon())
            #expect(response.status == 302)
            #expect(response.fields["Location"] == "/elsewhere")
            #expect(server.connectionCount == 1)
        }
    }

    @Test(
        "the path goes out as it stands", arguments: ["/a/../b", "/rides/../me?x=/../y", "/./", "/%2e%2e/a", "//a//"])
    func path(target: String) async throws {
        try await withClient(serve: Self.echo) { client, server, _ in
            let response = try await client.send(OutgoingRequest(url: server.url(target)), by: .soon())
            #expect(String(decoding: response.body, as: UTF8.self).hasPrefix("GET \(target) HTTP/1.1\r\n"))
        }
    }

    @Test("proxies of the environment are not used")
    func environment() async {
        // In a process of its own, since other threads read the environment here.
        await #expect(processExitsWith: .success) {
            for name in ["http_proxy", "ALL_PROXY", "all_proxy"] { unsafe setenv(name, "http://127.0.0.1:1", 1) }
            try await withClient(serve: ClientCallTests.echo) { client, server, _ in
                let response = try await client.send(OutgoingRequest(url: server.url()), by: .soon())
                precondition(response.status == 200)
            }
        }
    }

    @Test("a configured proxy is asked, but not for this machine")
    func proxy() async throws {
        let proxy = try RawServer { connection in
            while let head = connection.head() { connection.answer("502 Bad Gateway", head) }
        }
        defer { proxy.stop() }
        var configuration = ClientConfiguration()
        configuration.proxy = "http://127.0.0.1:\(proxy.port)"
        try await withClient(configuration, serve: Self.echo) { client, server, _ in
            let response = try await client.send(OutgoingRequest(url: server.url()), by: .soon())
            #expect(response.status == 200)
            #expect(proxy.connectionCount == 0)
            let failure = await client.failure(OutgoingRequest(url: "https://a.example/"))
            #expect(failure?.outcome == "broken" || failure?.outcome == "unreachable")
            #expect(proxy.connectionCount == 1)
        }
    }

    static let unsendable: [OutgoingRequest] = [
        OutgoingRequest(url: "http://127.0.0.1:9/", fields: ["A": "b\r\nC: d"]),
        OutgoingRequest(url: "http://127.0.0.1:9/", fields: ["A": "b\nC: d"]),
        OutgoingRequest(url: "http://127.0.0.1:9/", fields: ["A": "b\u{0}"]),
        OutgoingRequest(url: "http://127.0.0.1:9/", fields: ["A b": "c"]),
        OutgoingRequest(url: "http://127.0.0.1:9/", fields: ["": "c"]),
        OutgoingRequest(url: "http://127.0.0.1:9/", fields: ["A:": "c"]),
        OutgoingRequest(method: HTTPMethod(rawValue: "GET /x"), url: "http://127.0.0.1:9/"),
        OutgoingRequest(method: HTTPMethod(rawValue: ""), url: "http://127.0.0.1:9/"),
        OutgoingRequest(url: "http://a.example/"), OutgoingRequest(url: "ftp://127.0.0.1/"), OutgoingRequest(url: ""),
    ]

    @Test("what could change the request is refused before anything is sent", arguments: unsendable.indices)
    func injection(index: Int) async throws {
        try await withClient(serve: Self.echo) { client, _, _ in
            #expect(await client.failure(Self.unsendable[index]) == .address)
        }
    }

    @Test("sixty-four calls at once are all answered, each with its own answer", arguments: [1, 2])
    func parallel(threads: Int) async throws {
        var configuration = ClientConfiguration()
        configuration.connectionsPerHost = 8
        try await withClient(configuration, threads: threads, serve: Self.echo) { client, server, _ in
            try await withThrowingTaskGroup { group in
                for number in 0..<64 {
                    group.addTask {
                        for round in 0..<5 {
                            let target = "/\(number)/\(round)"
                            let response = try await client.send(OutgoingRequest(url: server.url(target)), by: .soon())
                            #expect(String(decoding: response.body, as: UTF8.self).hasPrefix("GET \(target) "))
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(server.connectionCount <= 8 * threads)
        }
    }

    @Test("sixty-four calls from one loop's thread stay on that loop and are all answered")
    func parallelOnLoop() async throws {
        try await withClient(threads: 2, serve: Self.echo) { client, server, loops in
            let url = server.url()
            let loop = loops.loops[0]
            let stayed = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<64 {
                    group.addTask(executorPreference: loop) {
                        guard loop.isCurrent else { return false }
                        let response = try? await client.send(OutgoingRequest(url: url), by: .soon())
                        return response?.status == 200 && loop.isCurrent
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(stayed == 64)
        }
    }

    @Test("a connection is used again, a closed one is replaced")
    func reuse() async throws {
        try await withClient(serve: { connection in
            for _ in 0..<3 {
                guard connection.head() != nil else { return }
                connection.answer("200 OK", "\(connection.number)")
            }
        }) { client, server, _ in
            var bodies: [String] = []
            for _ in 0..<6 {
                let response = try await client.send(OutgoingRequest(url: server.url()), by: .soon())
                bodies.append(String(decoding: response.body, as: UTF8.self))
            }
            #expect(bodies == ["1", "1", "1", "2", "2", "2"])
        }
    }
}
