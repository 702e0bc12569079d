import Concurrency
import HTTP
import TestSupport
import Testing
import Time
import Transport

@Suite("Calls that fail", .timeLimit(.minutes(5)))
struct ClientFailureTests {
    @Sendable static func silent(_ connection: RawConnection) { connection.waitForEnd() }

    @Test("nobody listens: unreachable, so trying again is safe")
    func refused() async throws {
        try await withClient(serve: Self.silent) { client, _, _ in
            let port = try QuietPort()
            let url = "http://127.0.0.1:\(port.number)/"
            #expect(await client.failure(OutgoingRequest(url: url))?.outcome == "unreachable")
            #expect(await client.failure(OutgoingRequest(method: .post, url: url, body: [1]))?.outcome == "unreachable")
            port.release()
        }
    }

    @Test("a name that does not exist: unreachable")
    func noSuchName() async throws {
        try await withClient(serve: Self.silent) { client, _, _ in
            #expect(await client.failure(OutgoingRequest(url: "https://name.invalid/"))?.outcome == "unreachable")
        }
    }

    @Test("a server that takes the request and says nothing: the deadline ends it, and no other call waits for it")
    func silentServer() async throws {
        try await withClient(serve: { connection in
            guard let head = connection.head() else { return }
            if head.hasPrefix("GET /silent ") { connection.waitForEnd() } else { connection.answer("200 OK", "ok") }
        }) { client, server, _ in
            let url = server.url("/silent")
            let stuck = Task { await client.failure(OutgoingRequest(url: url)) }
            for _ in 0..<10 {
                let response = try await client.send(OutgoingRequest(url: server.url()), by: .soon())
                #expect(response.status == 200)
            }
            let begin = ContinuousClock.now
            #expect(await client.failure(OutgoingRequest(url: url), by: .soon(.milliseconds(200))) == .timedOut)
            let took = begin.duration(to: .now)
            #expect(took >= .milliseconds(190) && took < .seconds(60))
            stuck.cancel()
            #expect(await stuck.value == .cancelled)
        }
    }

    @Test("a deadline that has passed sends nothing")
    func late() async throws {
        try await withClient(serve: Self.silent) { client, server, _ in
            for deadline in [Deadline(at: .now), Deadline(at: .now - .seconds(1))] {
                #expect(await client.failure(OutgoingRequest(url: server.url()), by: deadline) == .timedOut)
            }
            #expect(server.connectionCount == 0)
        }
    }

    @Test("a call that waits for a free connection ends at its deadline too")
    func waitingCall() async throws {
        var configuration = ClientConfiguration()
        configuration.connectionsPerHost = 1
        try await withClient(
            configuration,
            serve: { connection in
                while let head = connection.head() {
                    if head.hasPrefix("GET /silent ") { connection.waitForEnd() } else { connection.answer() }
                }
            }
        ) { client, server, _ in
            async let first = client.failure(OutgoingRequest(url: server.url("/silent")), by: .soon(.milliseconds(600)))
            async let second = client.failure(
                OutgoingRequest(url: server.url("/silent")), by: .soon(.milliseconds(100)))
            #expect(await second == .timedOut)
            let firstFailure = await first
            #expect(firstFailure == .timedOut)
            let good = try await client.send(OutgoingRequest(url: server.url()), by: .soon())
            #expect(good.status == 200)
        }
    }

    /// What a server does after the head, and what the call must end with.
    static let breaks: [(name: String, serve: @Sendable (RawConnection) -> Void)] = [
        ("closes", { _ in }),
        ("resets", { $0.reset() }),
        (
            "resets in the head",
            {
                $0.write("HTTP/1.1 200 OK\r\nA: b"); $0.reset()
            }
        ),
        ("closes in the head", { $0.write("HTTP/1.1 200 OK\r\nContent-Le") }),
        (
            "resets in the body",
            {
                $0.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"); $0.reset()
            }
        ),
        ("closes in the body", { $0.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf") }),
        ("closes in a chunk", { $0.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhalf") }),
        ("says no HTTP", { $0.write("220 mail.example ESMTP\r\n") }),
        ("closes after an interim answer", { $0.write("HTTP/1.1 100 Continue\r\n\r\n") }),
    ]

    @Test("a connection that breaks after the request left: broken", arguments: breaks.indices)
    func broken(index: Int) async throws {
        let serve = Self.breaks[index].serve
        try await withClient(serve: { connection in
            _ = connection.head()
            serve(connection)
        }) { client, server, _ in
            for _ in 0..<2 {
                let failure = await client.failure(OutgoingRequest(method: .post, url: server.url(), body: [1, 2]))
                #expect(failure?.outcome == "broken", "\(Self.breaks[index].name): \(String(describing: failure))")
            }
        }
    }

    @Test("the body's limit is exact", arguments: [true, false])
    func bodyLimit(isChunked: Bool) async throws {
        try await withClient(serve: { connection in
            while let head = connection.head() {
                let size = Int(head.dropFirst(5).prefix { $0 != " " }) ?? 0
                let body = String(repeating: "x", count: size)
                if isChunked {
                    connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                    if size > 0 { connection.write(String(size, radix: 16) + "\r\n" + body + "\r\n") }
                    connection.write("0\r\n\r\n")
                } else {
                    connection.answer("200 OK", body)
                }
            }
        }) { client, server, _ in
            for (size, limit, isTaken) in [
                (1000, 1000, true), (999, 1000, true), (0, 0, true), (1001, 1000, false), (500_000, 1000, false),
                (1, 0, false),
            ] {
                let request = OutgoingRequest(url: server.url("/\(size)"), answerLimitBytes: limit)
                switch await client.outcome(request) {
                case .success(let response): #expect(isTaken && response.body.count == size)
                case .failure(let error): #expect(!isTaken && error == .answerTooLarge)
                }
            }
        }
    }

    @Test(
        "an answer that never ends its header is cut", arguments: ["X: " + String(repeating: "y", count: 500), "HTTP"])
    func headerLimit(line: String) async throws {
        try await withClient(serve: { connection in
            guard connection.head() != nil else { return }
            if line == "HTTP" {
                for _ in 0..<5000 where connection.write("HTTP/1.1 103 Early\r\nA: b\r\n\r\n") {}
            } else {
                connection.write("HTTP/1.1 200 OK\r\n")
                for _ in 0..<5000 where connection.write(line + "\r\n") {}
            }
            connection.waitForEnd()
        }) { client, server, _ in
            let failure = await client.failure(OutgoingRequest(url: server.url()))
            #expect(failure == .answerTooLarge || failure?.outcome == "broken")
        }
    }

    @Test("a call whose task is cancelled ends at once, and its connection is closed")
    func cancelled() async throws {
        let (arrived, arrival) = AsyncStream<Void>.makeStream()
        let (ended, end) = AsyncStream<Void>.makeStream()
        try await withClient(serve: { connection in
            guard connection.head() != nil else { return }
            arrival.yield()
            connection.waitForEnd()
            end.yield()
        }) { client, server, _ in
            let url = server.url()
            let task = Task { await client.failure(OutgoingRequest(url: url)) }
            var arrivals = arrived.makeAsyncIterator()
            await arrivals.next()
            task.cancel()
            #expect(await task.value == .cancelled)
            var ends = ended.makeAsyncIterator()
            await ends.next()
        }
    }

    @Test("a task that is cancelled before, while or after it calls gets exactly one outcome")
    func cancelledAnywhere() async throws {
        try await withClient(
            threads: 2,
            serve: { connection in
                while connection.head() != nil { connection.answer("200 OK", "ok") }
            }
        ) { client, server, _ in
            let url = server.url()
            let outcomes = Locked<[String: Int]>([:])
            for _ in 0..<20 {
                await withTaskGroup { group in
                    for number in 0..<10 {
                        let task = Task {
                            let failure = await client.failure(OutgoingRequest(url: url))
                            outcomes.withLock { $0[failure?.outcome ?? "answered", default: 0] += 1 }
                        }
                        group.addTask {
                            for _ in 0..<number * 3 { await Task.yield() }
                            task.cancel()
                            await task.value
                        }
                    }
                }
            }
            let counts = outcomes.withLock { $0 }
            #expect(counts.values.reduce(0, +) == 200)
            #expect(Set(counts.keys).isSubset(of: ["answered", "cancelled"]))
        }
    }

    @Test("a POST whose kept connection dies is not sent again; a GET is")
    func repetition() async throws {
        for method in [HTTPMethod.post, .get, .put, .delete] {
            let requests = Locked(0)
            try await withClient(serve: { connection in
                // The first request of a connection is answered, the second one read and cut off, but for those of
                // the second connection.
                for number in 0... {
                    guard let head = connection.head() else { return }
                    if head.contains("Content-Length: 4") { _ = connection.read(4) }
                    if head.contains(" /call ") { requests.withLock { $0 += 1 } }
                    if number == 1, connection.number == 1 { return }
                    connection.answer("200 OK", "ok")
                }
            }) { client, server, _ in
                let good = try await client.send(OutgoingRequest(url: server.url()), by: .soon())
                #expect(good.status == 200)
                let hasBody = method == .post || method == .put
                let request = OutgoingRequest(
                    method: method, url: server.url("/call"), body: hasBody ? Array("body".utf8) : nil)
                let outcome = await client.outcome(request)
                switch outcome {
                case .success(let response):
                    #expect(method != .post && response.status == 200)
                    #expect(requests.withLock { $0 } == 2)
                case .failure(let error):
                    #expect(method == .post && error.outcome == "broken", "\(method.rawValue) \(error)")
                    #expect(requests.withLock { $0 } == 1)
                }
            }
        }
    }

    @Test("a POST without a body takes a new connection, so it is not sent again either")
    func bodilessPost() async throws {
        try await withClient(serve: { connection in
            while connection.head() != nil { connection.answer("200 OK", "\(connection.number)") }
        }) { client, server, _ in
            for (method, connection) in [(HTTPMethod.get, "1"), (.post, "2")] {
                let response = try await client.send(OutgoingRequest(method: method, url: server.url()), by: .soon())
                #expect(String(decoding: response.body, as: UTF8.self) == connection)
            }
        }
    }

    @Test("shutdown ends what runs, and refuses what comes later")
    func shutdown() async throws {
        let (arrived, arrival) = AsyncStream<Void>.makeStream()
        try await withClient(
            threads: 2,
            serve: { connection in
                guard connection.head() != nil else { return }
                arrival.yield()
                connection.waitForEnd()
            }
        ) { client, server, _ in
            let url = server.url()
            let tasks = (0..<4).map { _ in Task { await client.failure(OutgoingRequest(url: url)) } }
            var arrivals = arrived.makeAsyncIterator()
            for _ in tasks { await arrivals.next() }
            await client.shutdown()
            for task in tasks { #expect(await task.value?.outcome == "broken") }
            #expect(await client.failure(OutgoingRequest(url: url))?.outcome == "unreachable")
            await client.shutdown()
        }
    }
}
