import Concurrency
import Glibc
import HTTP
import Telemetry
import Testing
import Transport

@Suite("The server", .timeLimit(.minutes(5))) struct ServerTests {
    @Test("OPS-5: Content-Length counts bytes, for GET and HEAD, and the second answer on a connection is intact")
    func contentLength() async throws {
        let speech = "canción 🍺 Grüße"
        let responder = Responder { _ in HTTPResponse(status: 200, body: Array(speech.utf8)) }
        try await withServer(responder) { port in
            try await onThread {
                let client = try RawClient(port: port)
                for method in ["GET", "HEAD", "GET"] {
                    client.send("\(method) / HTTP/1.1\r\nHost: a\r\n\r\n")
                    let answer = try #require(try client.answer(toHead: method == "HEAD"))
                    #expect(answer.status == 200)
                    #expect(answer.contentLength == speech.utf8.count)
                    #expect(answer.text == (method == "HEAD" ? "" : speech))
                    #expect(answer.field("Date")?.hasSuffix(" GMT") == true)
                }
            }
        }
    }

    @Test("pipelined requests are answered in order, also where the first waits and the others do not")
    func pipelining() async throws {
        let gate = Signal()
        let responder = Responder { request in
            if request.target == "/0" { await gate.wait() }
            if request.target == "/1" { gate.give() }
            return HTTPResponse(status: 200, body: Array(request.target.utf8) + request.body)
        }
        try await withServer(responder, threads: 1) { port in
            try await onThread {
                let client = try RawClient(port: port)
                let requests = (0..<60).map { number in
                    number % 2 == 0
                        ? "GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n"
                        : "POST /\(number) HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx"
                }
                client.send(requests.joined())
                // The first waits for this one, which comes on another connection.
                let other = try RawClient(port: port)
                other.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try other.answer()
                for number in 0..<60 {
                    #expect(try client.answer()?.text == "/\(number)" + (number % 2 == 0 ? "" : "x"))
                }
            }
        }
    }

    @Test(
        "the connection stays or ends as the request asks",
        arguments: [
            ("HTTP/1.1\r\nHost: a", true, nil), ("HTTP/1.1\r\nHost: a\r\nConnection: close", false, "close"),
            ("HTTP/1.0\r\nHost: a", false, "close"),
            ("HTTP/1.0\r\nHost: a\r\nConnection: keep-alive", true, "keep-alive"),
        ])
    func keepAlive(end: String, stays: Bool, field: String?) async throws {
        try await withServer { port in
            try await onThread {
                let client = try RawClient(port: port)
                let request = "GET / \(end)\r\n\r\n"
                client.send(request)
                #expect(try client.answer()?.field("Connection") == field)
                client.send(request)
                #expect((try client.answer() != nil) == stays)
            }
        }
    }

    @Test(
        "a body at its limit is taken, one byte more is answered 413",
        arguments: [
            ("Content-Length: 64\r\n\r\n" + String(repeating: "x", count: 64), 200),
            ("Content-Length: 65\r\n\r\n", 413), ("Content-Length: 9999999999\r\n\r\n", 413),
            ("Transfer-Encoding: chunked\r\n\r\n40\r\n" + String(repeating: "x", count: 64) + "\r\n0\r\n\r\n", 200),
            ("Transfer-Encoding: chunked\r\n\r\n40\r\n" + String(repeating: "x", count: 64) + "\r\n1\r\nx\r\n", 413),
            ("Transfer-Encoding: chunked\r\n\r\n41\r\n" + String(repeating: "x", count: 65), 413),
        ])
    func bodyLimit(rest: String, status: Int) async throws {
        try await withServer(configure: { $0.limits.bodyBytes = 64 }) { port in
            try await onThread {
                let client = try RawClient(port: port)
                client.send("POST / HTTP/1.1\r\nHost: a\r\n" + rest)
                let answer = try #require(try client.answer())
                #expect(answer.status == status)
                if status == 200 { #expect(answer.body.count == "POST / ".utf8.count + 64) }
                if status == 413 {
                    #expect(answer.field("Connection") == "close")
                    #expect(try client.answer() == nil)
                }
            }
        }
    }

    @Test("a sender of far too much gets to read its 413") func bigBody() async throws {
        try await withServer { port in
            try await onThread {
                let client = try RawClient(port: port)
                client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n")
                client.send([UInt8](repeating: 120, count: 900_000))
                #expect(try client.answer()?.status == 413)
            }
        }
    }

    @Test("a head over its limit is answered 431, whole or not") func headLimit() async throws {
        try await withServer(configure: { $0.limits.headBytes = 1024 }) { port in
            try await onThread {
                for end in ["", "\r\n\r\n"] {
                    let client = try RawClient(port: port)
                    client.send("GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "x", count: 1100) + end)
                    #expect(try client.answer()?.status == 431)
                    #expect(try client.answer() == nil)
                }
            }
        }
    }

    @Test("100 Continue is sent to who waits for it, and to nobody else")
    func expectContinue() async throws {
        try await withServer { port in
            try await onThread {
                let client = try RawClient(port: port)
                let head = "POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
                client.send(head)
                #expect(try client.answer()?.status == 100)
                client.send("hi")
                #expect(try client.answer()?.text == "POST /a hi")
                client.send(head + "ho")
                #expect(try client.answer()?.text == "POST /a ho")
                client.send("POST /a HTTP/1.1\r\nHost: a\r\nExpect: more\r\nContent-Length: 2\r\n\r\n")
                #expect(try client.answer()?.status == 417)
            }
        }
    }

    @Test("a request that trickles is cut, however steadily it comes", arguments: [true, false])
    func trickle(inHead: Bool) async throws {
        let metrics = Metrics()
        try await withServer(metrics: metrics, configure: { $0.limits.requestTime = .milliseconds(80) }) { port in
            try await onThread {
                let client = try RawClient(port: port)
                client.send(
                    inHead ? "GET / HTTP/1.1\r\n" : "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n")
                // Never idle: a byte each time the last has left.
                var sent = 0
                while sent < 200_000, client.send("x") {
                    sent += 1
                    var pause = pollfd(fd: -1, events: 0, revents: 0)
                    _ = unsafe poll(&pause, 1, 5)
                }
                #expect(sent < 200_000)
                #expect(try client.readToEnd().isEmpty)
            }
        }
        #expect(metrics.prometheusText.contains(#"skillgate_connections_refused_total{reason="slowRequest"} 1"#))
    }

    @Test("a connection without a request ends after the idle time; one that was used too")
    func idle() async throws {
        try await withServer(configure: { $0.limits.idleTime = .milliseconds(50) }) { port in
            try await onThread {
                let silent = try RawClient(port: port)
                #expect(try silent.answer() == nil)
                let used = try RawClient(port: port)
                used.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try used.answer()?.status == 200)
                #expect(try used.answer() == nil)
            }
        }
    }

    @Test("the handler of a client that vanished is cancelled", arguments: [true, false])
    func vanishedClient(whileReadAhead: Bool) async throws {
        let (started, cancelled) = (Signal(), Signal())
        let responder = Responder { _ in
            started.give()
            if await untilCancelled() { cancelled.give() }
            return HTTPResponse(status: 200)
        }
        try await withServer(responder) { port in
            let client = try RawClient(port: port)
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            if whileReadAhead { client.send("GET /next HTTP/1.1\r\n") }
            await started.wait()
            client.finish()
            await cancelled.wait()
        }
    }

    @Test("at the deadline the late answer leaves, the handler is cancelled, and the connection goes on")
    func deadline() async throws {
        let cancelled = Signal()
        var responder = Responder { request in
            guard request.target == "/slow" else { return HTTPResponse(status: 200) }
            request.lateAnswer.response = HTTPResponse(status: 200, body: Array("sorry".utf8))
            if await untilCancelled() { cancelled.give() }
            return HTTPResponse(status: 500, body: Array("too late".utf8))
        }
        responder.timeLimit = .milliseconds(50)
        let metrics = Metrics()
        try await withServer(responder, metrics: metrics) { port in
            try await onThread {
                let client = try RawClient(port: port)
                client.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\nGET /fast HTTP/1.1\r\nHost: a\r\n\r\n")
                let late = try #require(try client.answer())
                #expect(late.status == 200 && late.text == "sorry")
                let next = try #require(try client.answer())
                #expect(next.status == 200 && next.text.isEmpty)
            }
            await cancelled.wait()
        }
        #expect(metrics.prometheusText.contains("skillgate_late_answers_total"))
    }

    @Test("without a word from the handler, the late answer is 503 with Retry-After") func defaultLateAnswer()
        async throws
    {
        var responder = Responder { _ in
            _ = await untilCancelled()
            return HTTPResponse(status: 200)
        }
        responder.timeLimit = .milliseconds(20)
        try await withServer(responder) { port in
            try await onThread {
                let client = try RawClient(port: port)
                client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                let answer = try client.answer()
                #expect(answer?.status == 503 && answer?.field("Retry-After") == "1")
            }
        }
    }

    @Test("a reader who does not read is cut") func slowReader() async throws {
        let responder = Responder { _ in HTTPResponse(status: 200, body: [UInt8](repeating: 120, count: 30_000_000)) }
        let metrics = Metrics()
        try await withServer(
            responder, metrics: metrics,
            configure: {
                $0.limits.answerTime = .milliseconds(50)
                $0.limits.answerBytesPerSecond = 1 << 30
            }
        ) { port in
            try await onThread {
                let client = try RawClient(port: port, receiveBufferBytes: 4096)
                client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(throws: ClientError.self) { try client.answer() }
            }
        }
        #expect(metrics.prometheusText.contains(#"skillgate_connections_refused_total{reason="slowReader"} 1"#))
    }

    @Test("a large answer arrives whole, and the next request after it") func largeAnswer() async throws {
        let responder = Responder { request in
            HTTPResponse(status: 200, body: [UInt8](repeating: 120, count: request.target == "/large" ? 5_000_000 : 3))
        }
        try await withServer(responder) { port in
            try await onThread {
                let client = try RawClient(port: port)
                client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\nGET /small HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try client.answer()?.body.count == 5_000_000)
                #expect(try client.answer()?.body.count == 3)
            }
        }
    }

    @Test("connections beyond the limit are answered 503, and one that ends makes room") func tooMany() async throws {
        try await withServer(configure: { $0.limits.connections = 3 }) { port in
            try await onThread {
                let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
                var clients = try (0..<3).map { _ in try RawClient(port: port) }
                for client in clients { client.send(request) }
                for client in clients { #expect(try client.answer()?.status == 200) }
                let refused = try RawClient(port: port)
                let answer = try refused.answer()
                #expect(answer?.status == 503 && answer?.field("Retry-After") == "1")
                #expect(try refused.answer() == nil)
                refused.finish()
                clients[0].send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                #expect(try clients[0].readToEnd().contains("200 OK"))
                clients.removeFirst()
                // Room is made a moment after the client's end.
                var status = 503
                for _ in 0..<1000 where status == 503 {
                    let next = try RawClient(port: port)
                    next.send(request)
                    status = (try? next.answer()?.status) ?? 503
                }
                #expect(status == 200)
            }
        }
    }

    @Test("a limit for each peer holds for each peer alone") func tooManyOfOnePeer() async throws {
        try await withServer(configure: { $0.limits.connectionsPerPeer = 1 }) { port in
            try await onThread {
                let first = try RawClient(port: port)
                first.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try first.answer()?.status == 200)
                #expect(try RawClient(port: port).answer()?.status == 503)
            }
        }
    }

    @Test(
        "N4: X-Forwarded-For is believed of trusted proxies alone",
        arguments: [
            (["127.0.0.1"], "203.0.113.9", "203.0.113.9"), (["127.0.0.0/8"], "198.51.100.1, 127.0.0.5", "198.51.100.1"),
            (["127.0.0.1"], "1.1.1.1, 203.0.113.9", "203.0.113.9"), (["10.0.0.0/8"], "203.0.113.9", "127.0.0.1"),
            ([], "203.0.113.9", "127.0.0.1"), (["127.0.0.1"], "unknown", "127.0.0.1"),
        ])
    func forwardedFor(trusted: [String], value: String, peer: String) async throws {
        let responder = Responder { HTTPResponse(status: 200, body: Array($0.peerAddress.utf8)) }
        let proxies = try #require(AddressSet(trusted))
        try await withServer(responder, configure: { $0.trustedProxies = proxies }) { port in
            try await onThread {
                let client = try RawClient(port: port)
                client.send("GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: \(value)\r\n\r\n")
                #expect(try client.answer()?.text == peer)
            }
        }
    }

    @Test("an answer that would break out of its head does not leave") func splitAnswer() async throws {
        let responder = Responder { _ in HTTPResponse(status: 302, fields: ["Location": "/\r\nSet-Cookie: a=b"]) }
        try await withServer(responder) { port in
            try await onThread {
                let client = try RawClient(port: port)
                client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                let answer = try #require(try client.answer())
                #expect(answer.status == 500 && !answer.head.contains("Set-Cookie"))
            }
        }
    }

    @Test("a port that is taken is an error that names it, and so is an address that is none")
    func noPort() async throws {
        try await withServer { port in
            let group = try EventLoopGroup(threads: 1)
            defer { group.shutdown() }
            for (host, port) in [("127.0.0.1", port), ("256.1.1.1", 0)] {
                let second = HTTPServer(
                    group: group, configuration: ServerConfiguration(host: host, port: port), responder: Responder.echo)
                let error = #expect(throws: ServerError.self) { try second.start() }
                #expect(error?.description.contains(host) == true)
            }
        }
    }
}
