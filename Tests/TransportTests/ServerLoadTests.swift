import Concurrency
import HTTP
import Testing
import Transport

@Suite("The server under load", .timeLimit(.minutes(3))) struct ServerLoadTests {
    @Test("32 clients at once get their own answers, whether handlers wait or not")
    func parallelClients() async throws {
        let responder = Responder { request in
            // Every third handler leaves its loop and comes back.
            if request.target.utf8.last == UInt8(ascii: "3") { await Task.yield() }
            return HTTPResponse(status: 200, body: Array(request.target.utf8) + request.body)
        }
        try await withServer(responder) { port in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in 0..<32 {
                    group.addTask {
                        try await onThread {
                            let connection = try RawClient(port: port)
                            for number in 0..<100 {
                                let body = String(repeating: "b", count: number * 7)
                                connection.send(
                                    "POST /\(client)/\(number) HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)"
                                        + "\r\n\r\n" + body)
                                #expect(try connection.answer()?.text == "/\(client)/\(number)" + body)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("a graceful stop under load loses no answer")
    func gracefulStop() async throws {
        var configuration = ServerConfiguration()
        configuration.limits.drainTime = .milliseconds(500)
        let responder = Responder { request in
            if request.target == "/wait" { for _ in 0..<50 { await Task.yield() } }
            return HTTPResponse(status: 200, body: Array(request.target.utf8))
        }
        let group = try EventLoopGroup(threads: 2)
        defer { group.shutdown() }
        let server = HTTPServer(group: group, configuration: configuration, responder: responder)
        let port = try server.start()
        let answered = Locked(0)
        let enough = Signal()
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for client in 0..<16 {
                tasks.addTask {
                    try await onThread {
                        let connection = try RawClient(port: port)
                        let target = client % 2 == 0 ? "/wait" : "/now"
                        while true {
                            guard connection.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n") else {
                                throw ClientError(reason: "the connection ended without notice")
                            }
                            let answer = try #require(try connection.answer(), "a request got no answer")
                            #expect(answer.text == target)
                            let count = answered.withLock { count in
                                count += 1
                                return count
                            }
                            if count == 400 { enough.give() }
                            if answer.field("Connection") == "close" { return }
                        }
                    }
                }
            }
            await enough.wait()
            await server.shutdown()
            try await tasks.waitForAll()
        }
        #expect(throws: ClientError.self) { try RawClient(port: port) }
    }

    @Test("what still runs when the grace is over is answered as if it were late")
    func graceOver() async throws {
        var configuration = ServerConfiguration()
        configuration.limits.drainTime = .zero
        let (started, cancelled) = (Signal(), Signal())
        let responder = Responder { _ in
            started.give()
            if await untilCancelled() { cancelled.give() }
            return HTTPResponse(status: 200)
        }
        let group = try EventLoopGroup(threads: 1)
        defer { group.shutdown() }
        let server = HTTPServer(group: group, configuration: configuration, responder: responder)
        let client = try RawClient(port: try server.start())
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await started.wait()
        await server.shutdown(grace: .milliseconds(50))
        await cancelled.wait()
        let answer = try client.answer()
        #expect(answer?.status == 503 && answer?.field("Connection") == "close")
    }

    @Test("a shutdown without connections, a second one, and one before the start end at once")
    func shutdowns() async throws {
        let group = try EventLoopGroup(threads: 2)
        let server = HTTPServer(group: group, configuration: ServerConfiguration(), responder: Responder.echo)
        await server.shutdown()
        let other = HTTPServer(group: group, configuration: ServerConfiguration(), responder: Responder.echo)
        _ = try other.start()
        await other.shutdown()
        await other.shutdown()
        group.shutdown()
        await other.shutdown()
        #expect(throws: ServerError.self) { try server.start() }
    }

    @Test("a thousand idle connections stay, and are served")
    func idleConnections() async throws {
        try await withServer { port in
            try await onThread {
                var clients: [RawClient] = []
                for _ in 0..<1000 { clients.append(try RawClient(port: port)) }
                for client in clients { client.send("GET /idle HTTP/1.1\r\nHost: a\r\n\r\n") }
                for client in clients { #expect(try client.answer()?.text == "GET /idle ") }
            }
        }
    }

    @Test("garbage gets no 200, and the server lives on", arguments: 0..<4)
    func garbage(seed: UInt64) async throws {
        try await withServer { port in
            try await onThread {
                var random = Generator(state: seed &+ 0xA5A5_5A5A_1234_5678)
                for round in 0..<60 {
                    let client = try RawClient(port: port)
                    var bytes = (0..<Int(random.next() % 3000)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                    if round % 3 == 0 {
                        bytes = Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8) + bytes
                    }
                    client.send(bytes)
                    client.finish()
                    #expect(try !client.readToEnd().contains(" 200 "))
                }
                let client = try RawClient(port: port)
                client.send("GET /alive HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try client.answer()?.text == "GET /alive ")
            }
        }
    }
}
