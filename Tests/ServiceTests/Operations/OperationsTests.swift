import Alexa
import Concurrency
import Crypto
import FoundationEssentials
import HTTP
import JSON
import Service
import Storage
import Telemetry
import TestSupport
import Testing
import Time

@Suite("The operator's addresses", .timeLimit(.minutes(5))) struct OperationsTests {
    private struct Made {
        let router: Router
        let metrics: Metrics
        let drift: ClockDrift
        let log: Log
        let lines: LogLines

        func get(_ path: String, peer: String = "127.0.0.1", fields: HTTPFields = [:]) async -> HTTPResponse {
            await router.respond(
                to: HTTPRequest(
                    method: .get, target: path, fields: fields, peerAddress: peer,
                    deadline: .after(.seconds(5), from: .now)))
        }

        func json(_ path: String) async throws -> JSONValue { try JSONValue(parsing: await get(path).body) }
    }

    private func make(storeIsWritable: @escaping @Sendable (Deadline) async -> Bool = { _ in true }) -> Made {
        let lines = LogLines()
        let log = Log(level: .debug, format: .json, clock: { UnixTime(seconds: 0) }, sink: lines)
        let metrics = Metrics()
        let drift = ClockDrift(log: log, metrics: metrics)
        let operations = Operations(
            metrics: metrics, clockDrift: drift, log: log, storeIsWritable: storeIsWritable)
        return Made(
            router: Router(operations.routes, refuse: { HTTPResponse(problemOf: $0, log: log) }), metrics: metrics,
            drift: drift, log: log, lines: lines)
    }

    @Test("OPS-4: the health address shows the median clock difference, and says to check the clock beyond a minute")
    func clock() async throws {
        let made = make()
        #expect(
            try await made.json("/healthz")
                == ["status": "ok", "clock": "ok", "clockDifferenceMedianSeconds": nil])
        for _ in 0..<50 { made.drift.refused(differenceSeconds: 160, at: .now) }
        #expect(
            try await made.json("/healthz")
                == ["status": "ok", "clock": "check the clock", "clockDifferenceMedianSeconds": 160])
        let metrics = String(decoding: await made.get("/metrics").body, as: UTF8.self)
        #expect(metrics.contains(#"skillgate_timestamp_rejections_total{direction="ahead"} 50"#))
        #expect(metrics.contains("skillgate_clock_difference_median_seconds 160"))
        made.log.flush()
        #expect(made.lines.lines.filter { $0.contains("check the clock") }.count == 1)
    }

    @Test("ready is who can write to the store; otherwise 503, and one log line says so")
    func ready() async throws {
        #expect(await make().get("/readyz").status == 200)
        let made = make { _ in false }
        for _ in 0..<3 { #expect(await made.get("/readyz").status == 503) }
        #expect(try await made.json("/readyz") == ["status": "not ready"])
        made.log.flush()
        #expect(made.lines.lines.filter { $0.contains("store cannot be written") }.count == 1)
    }

    @Test("the store is asked once for many who ask at once")
    func readyOnce() async throws {
        let asked = Locked(0)
        let made = make { _ in
            asked.withLock { $0 += 1 }
            return true
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { #expect(await made.get("/readyz").status == 200) } }
        }
        #expect(asked.withLock { $0 } <= 2)
    }

    @Test("the measures are for loopback peers", arguments: ["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"])
    func metricsLocal(peer: String) async throws {
        let response = await make().get("/metrics", peer: peer)
        #expect(response.status == 200)
        #expect(response.fields["Content-Type"]?.hasPrefix("text/plain; version=0.0.4") == true)
        #expect(String(decoding: response.body, as: UTF8.self).contains("# TYPE skillgate_requests_total counter"))
    }

    @Test(
        "everybody else finds no such address",
        arguments: [
            "192.0.2.1", "10.0.0.1", "128.0.0.1", "1270.0.0.1", "127.0.0.1.example.com", "127", "", "2001:db8::1",
            "::ffff:10.0.0.1",
        ])
    func metricsForeign(peer: String) async throws {
        let made = make()
        let response = await made.get("/metrics", peer: peer)
        #expect(response.status == 404)
        var answers = try [response, await made.get("/nothing", peer: peer)].map { try JSONValue(parsing: $0.body) }
        #expect(answers[0]["traceID"] != answers[1]["traceID"])
        for index in answers.indices {
            guard case .object(var object) = answers[index] else { continue }
            object["traceID"] = nil
            answers[index] = .object(object)
        }
        #expect(answers[0] == answers[1])
    }

    @Test(
        "who was forwarded by a proxy on this machine is not local",
        arguments: ["X-Forwarded-For", "x-forwarded-host", "Forwarded", "Via", "X-Real-IP"])
    func metricsForwarded(field: String) async throws {
        var fields = HTTPFields()
        fields.append(field, "127.0.0.1")
        #expect(await make().get("/metrics", fields: fields).status == 404)
    }

    @Test("OPS-6: with dead refresh tokens and Amazon out of reach the service is ready at once, and asks nobody")
    func deadTokens() async throws {
        let clock = ManualClock()
        let store = MemoryStore(clock: clock.wall)
        for number in 0..<50 {
            try await store.put(
                AmazonCredentials(
                    accessToken: Secret("Atza|\(number)"), refreshToken: Secret("Atzr|dead"),
                    expiresAt: UnixTime(seconds: 0)),
                for: GrantKey(source: .events, subject: "u\(number)", skill: "home", region: .europe),
                sequence: Int64(number), by: clock.deadline())
        }
        let http = RecordingHTTPClient(inTurn: [])
        let service = try await makeService(
            try ConfigurationDraft.production.configuration(),
            ServiceParts(
                store: store, http: http, clock: clock.wall, monotonic: clock.monotonic, log: .silent,
                metrics: Metrics()))
        let response = await service.router.respond(
            to: HTTPRequest(method: .get, target: "/readyz", deadline: .after(.seconds(5), from: .now)))
        #expect(response.status == 200)
        // Nobody was asked, so there was nothing to wait for.
        #expect(http.requests.isEmpty)
    }
}

@Suite("Problems") struct ProblemTests {
    @Test("a problem has the members of RFC 9457 and ours, and leaves out what is not known")
    func members() throws {
        let traceID = TraceID.random()
        let bare = Problem(status: 404, code: "http.notFound", traceID: traceID).response
        #expect(bare.status == 404)
        #expect(bare.fields["Content-Type"] == "application/problem+json")
        #expect(
            try JSONValue(parsing: bare.body) == [
                "type": "about:blank", "title": "Not Found", "status": 404, "code": "http.notFound",
                "traceID": .string(traceID.text),
            ])
        let full = Problem(status: 409, code: "link.stateReused", detail: "d", traceID: traceID)
        #expect(
            try JSONValue(parsing: full.response.body) == [
                "type": "about:blank", "title": "Conflict", "status": 409, "code": "link.stateReused", "detail": "d",
                "traceID": .string(traceID.text),
            ])
    }

    @Test("what no route takes is answered as a problem, 405 with Allow")
    func refusals() throws {
        for (refusal, status, code) in [
            (Router.Refusal.notFound, 404, "http.notFound"),
            (.methodNotAllowed(allow: "GET, HEAD"), 405, "http.methodNotAllowed"),
            (.unsupportedMediaType(expected: "application/json"), 415, "http.unsupportedMediaType"),
            (.malformedPath, 400, "http.malformedPath"),
        ] {
            let response = HTTPResponse(problemOf: refusal, log: .silent)
            #expect(response.status == status)
            #expect(try JSONValue(parsing: response.body)["code"]?.string == code)
            #expect(response.fields["Allow"] == (status == 405 ? "GET, HEAD" : nil))
        }
    }
}
