import Alexa
import Concurrency
import Crypto
import HTTP
import JSON
import OAuth
import Service
import TestSupport
import Testing
import Time

@Suite("Resource client") struct ResourceClientTests {
    let clock = ManualClock()
    let key: SigningKey

    init() throws { key = SigningKey(try PrivateKey.generate(.p256), algorithm: .es256, id: "k1") }

    func principal(_ subject: String = "u1", lifetimeSeconds: Int64 = 3600) async throws -> Principal {
        let validator = TokenValidator(
            TokenValidation(issuer: nil, audience: nil, keys: .fixed(JSONWebKeySet([key.publicKey]))),
            http: RecordingHTTPClient(inTurn: []), clock: clock.wall, monotonic: clock.monotonic)
        let token = try AccessTokenMinter(issuer: "i", audience: "a", key: key).token(
            .init(subject: subject, clientID: "alexa", scopes: []), lifetimeSeconds: lifetimeSeconds, now: clock.now)
        return try await validator.principal(for: token, client: nil, scopes: [], by: clock.deadline())
    }

    func client(_ http: RecordingHTTPClient, limits: ResourceClient.Limits = .init()) -> ResourceClient {
        ResourceClient(baseURL: "https://api.example.com/v1/", http: http, limits: limits, now: clock.monotonic)
    }

    static func failure(_ body: () async throws(ResourceFailure) -> JSONDocument) async -> ResourceFailure? {
        do {
            _ = try await body()
            return nil
        } catch { return error }
    }

    @Test("a call carries the user's token, asks for JSON, and is limited in size and time")
    func call() async throws {
        let http = RecordingHTTPClient(inTurn: [.success(.json(#"{"name":"Ann"}"#))])
        let principal = try await principal()
        let document = try await client(http).resource("/me?x=%2F", for: principal, by: clock.deadline())
        #expect(document.root.string("name") == "Ann")
        let request = try #require(http.requests.first)
        #expect(request.method == .get)
        #expect(request.url == "https://api.example.com/v1/me?x=%2F")
        #expect(request.fields["Authorization"] == "Bearer " + principal.token.exposed)
        #expect(request.fields["Accept"] == "application/json")
        #expect(request.answerLimitBytes == 1 << 20)
        #expect(http.deadlines == [clock.deadline(in: .seconds(4))])
        _ = try await client(http).resource("/me", for: principal, by: clock.deadline(in: .seconds(1)))
        #expect(http.deadlines.last == clock.deadline(in: .seconds(1)))
    }

    static let statuses: [(Int, HTTPFields, ResourceFailure?)] = [
        (200, [:], nil), (201, [:], nil), (299, [:], nil), (302, [:], .status(302)),
        (401, [:], .tokenRefused(isExpired: false)),
        (401, ["WWW-Authenticate": #"Bearer error="invalid_token""#], .tokenRefused(isExpired: false)),
        (
            401, ["WWW-Authenticate": #"Bearer error="invalid_token", error_description="The token expired""#],
            .tokenRefused(isExpired: true)
        ),
        (403, [:], .forbidden), (404, [:], .notFound), (409, [:], .busy), (429, [:], .rateLimited),
        (400, [:], .status(400)), (500, [:], .status(500)), (503, [:], .status(503)),
    ]

    @Test(
        "each status has one meaning, whatever the body", arguments: statuses,
        ["{}", "", "<html>", #"{"error":"invalid_token"}"#])
    func status(row: (Int, HTTPFields, ResourceFailure?), body: String) async throws {
        let (status, fields, expected) = row
        if expected == nil, body == "" || body == "<html>" { return }
        let http = RecordingHTTPClient(inTurn: [.success(.json(body, status: status, fields: fields))])
        let principal = try await principal()
        let failure = await Self.failure { () throws(ResourceFailure) in
            try await client(http).resource("/me", for: principal, by: clock.deadline())
        }
        #expect(failure == expected)
    }

    @Test("an answer is nested as deep as the limit allows, and no deeper")
    func depth() async throws {
        let principal = try await principal()
        let nested = String(repeating: "[", count: 20) + String(repeating: "]", count: 20)
        for (depth, isTaken) in [(64, true), (24, true), (16, false)] {
            let client = client(
                RecordingHTTPClient(inTurn: [.success(.json(nested))]), limits: .init(answerDepth: depth))
            let failure = await Self.failure { () async throws(ResourceFailure) in
                try await client.resource("/me", for: principal, by: clock.deadline())
            }
            #expect((failure == nil) == isTaken)
        }
    }

    @Test("an error type of Alexa's in the body says more than the status")
    func declaredError() async throws {
        let body = #"{"error":"ENDPOINT_UNREACHABLE","message":"asleep"}"#
        let http = RecordingHTTPClient(inTurn: [.success(.json(body, status: 503))])
        let principal = try await principal()
        let failure = await Self.failure { () throws(ResourceFailure) in
            try await client(http).resource("/me", for: principal, by: clock.deadline())
        }
        #expect(failure == .declared(DeclaredError(.endpointUnreachable, message: "asleep")))
    }

    @Test(
        "what the network does has a meaning too",
        arguments: [
            (.timedOut, .timedOut), (.unreachable("x"), .unreachable), (.tls("x"), .unreachable),
            (.broken("x"), .unreachable), (.circuitOpen, .unreachable), (.answerTooLarge, .tooLarge),
            (.address, .address), (.cancelled, .cancelled),
        ] as [(HTTPClientError, ResourceFailure)])
    func network(error: HTTPClientError, expected: ResourceFailure) async throws {
        let http = RecordingHTTPClient(inTurn: [.failure(error)])
        let principal = try await principal()
        let failure = await Self.failure { () throws(ResourceFailure) in
            try await client(http).resource("/me", for: principal, by: clock.deadline())
        }
        #expect(failure == expected)
    }

    static let latin: [UInt8] =
        Array(#"{"name":"K"#.utf8) + [0xFC] + Array(#"che "#.utf8) + [0xA4, 0x80] + Array(#""}"#.utf8)

    @Test(
        "SHR-9: an answer is read in the charset that it names",
        arguments: [
            ("application/json; charset=ISO-8859-1", "Küche ¤\u{80}"),
            ("application/json;charset=\"iso-8859-1\"", "Küche ¤\u{80}"),
            ("application/hal+json; profile=x; Charset=latin1", "Küche ¤\u{80}"),
            ("application/json; charset=iso-8859-15", "Küche €\u{80}"),
            ("application/json; charset=windows-1252", "Küche ¤€"),
        ])
    func charset(contentType: String, name: String) async throws {
        let answer = HTTPResponse(status: 200, fields: ["Content-Type": contentType], body: Self.latin)
        let principal = try await principal()
        let document = try await client(RecordingHTTPClient(inTurn: [.success(answer)])).resource(
            "/me", for: principal, by: clock.deadline())
        #expect(document.root.string("name") == name)
    }

    @Test(
        "an answer that is no JSON in a known charset is refused",
        arguments: [
            ("application/json", latin), ("application/json; charset=utf-8", latin),
            ("application/json; charset=utf-16", Array("{}".utf8)), ("text/html", Array("{}".utf8)),
            ("", Array("{}".utf8)), ("application/jsonp", Array("{}".utf8)), ("application/json", Array("{} x".utf8)),
            ("application/json", []),
        ] as [(String, [UInt8])])
    func notJSON(contentType: String, body: [UInt8]) async throws {
        let answer = HTTPResponse(status: 200, fields: ["Content-Type": contentType], body: body)
        let principal = try await principal()
        let failure = await Self.failure { () throws(ResourceFailure) in
            try await client(RecordingHTTPClient(inTurn: [.success(answer)])).resource(
                "/me", for: principal, by: clock.deadline())
        }
        guard case .notJSON = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    static let cacheRows: [(HTTPFields, Int?)] = [
        (["Cache-Control": "max-age=60"], 60), (["Cache-Control": "private, max-age=60"], 60),
        (["Cache-Control": "Private , Max-Age=\"60\""], 60), (["Cache-Control": "public, s-maxage=5, max-age=60"], 60),
        (["Cache-Control": "max-age=100", "Age": "40"], 60), (["Cache-Control": "max-age=999999"], 3600),
        ([:], nil), (["Cache-Control": "private"], nil), (["Cache-Control": "max-age=0"], nil),
        (["Cache-Control": "max-age=-5"], nil), (["Cache-Control": "max-age=60, no-store"], nil),
        (["Cache-Control": "no-cache, max-age=60"], nil), (["Cache-Control": "max-age=60, max-age=90"], nil),
        (["Cache-Control": "max-age=60", "Vary": "*"], nil), (["Cache-Control": "s-maxage=60"], nil),
        (["Cache-Control": "max-age=60", "Age": "60"], nil), (["Expires": "Thu, 01 Jan 2026 00:00:00 GMT"], nil),
    ]

    @Test("an answer is kept as long as Cache-Control allows, and no longer", arguments: cacheRows)
    func cache(fields: HTTPFields, seconds: Int?) async throws {
        let http = RecordingHTTPClient(inTurn: [.success(.json("{}", fields: fields))])
        let client = client(http)
        let principal = try await principal(lifetimeSeconds: 86_400)
        _ = try await client.resource("/me", for: principal, by: clock.deadline())
        if let seconds {
            clock.advance(by: .seconds(seconds - 1))
            _ = try await client.resource("/me", for: principal, by: clock.deadline())
            #expect(http.requests.count == 1)
            clock.advance(by: .seconds(1))
        }
        _ = try await client.resource("/me", for: principal, by: clock.deadline())
        #expect(http.requests.count == 2)
    }

    @Test("what is kept belongs to one token and one path, is dropped on forgetting, and is never a failure or large")
    func keptFor() async throws {
        let kept: HTTPFields = ["Cache-Control": "max-age=60"]
        let http = RecordingHTTPClient { request, _ in
            if request.url.hasSuffix("/large") {
                return .json("\"" + String(repeating: "x", count: 300_000) + "\"", fields: kept)
            }
            return request.url.hasSuffix("/gone") ? .json("{}", status: 404, fields: kept) : .json("{}", fields: kept)
        }
        let client = client(http)
        let (ann, bob) = (try await principal("ann"), try await principal("bob"))
        for (principal, path, count) in [
            (ann, "/me", 1), (ann, "/me", 1), (bob, "/me", 2), (ann, "/me?x", 3), (ann, "/me", 3), (ann, "/large", 4),
            (ann, "/large", 5), (ann, "/gone", 6), (ann, "/gone", 7),
        ] {
            _ = try? await client.resource(path, for: principal, by: clock.deadline())
            #expect(http.requests.count == count, "\(path)")
        }
        client.forget(subject: "ann")
        _ = try await client.resource("/me", for: bob, by: clock.deadline())
        #expect(http.requests.count == 7)
        _ = try await client.resource("/me", for: ann, by: clock.deadline())
        #expect(http.requests.count == 8)
    }

    @Test("several resources are fetched side by side", .timeLimit(.minutes(5)))
    func sideBySide() async throws {
        // Each answer waits until both calls have come.
        let waiting = Locked<[CheckedContinuation<Void, Never>]>([])
        let http = RecordingHTTPClient { request, _ in
            await withCheckedContinuation { continuation in
                let all = waiting.withLock { waiting -> [CheckedContinuation<Void, Never>] in
                    waiting.append(continuation)
                    defer { if waiting.count == 2 { waiting = [] } }
                    return waiting.count == 2 ? waiting : []
                }
                for continuation in all { continuation.resume() }
            }
            return .json("{\"url\":\"\(request.url)\"}")
        }
        let principal = try await principal()
        let found = try await client(http).resources(
            [("a", "/a"), ("b", "/b")], for: principal, by: clock.deadline())
        #expect(found["a"]?.root.string("url") == "https://api.example.com/v1/a")
        #expect(found["b"]?.root.string("url") == "https://api.example.com/v1/b")
    }

    @Test("one failure of several ends the others", .timeLimit(.minutes(5)))
    func oneFails() async throws {
        let http = RecordingHTTPClient { request, _ throws(HTTPClientError) in
            if request.url.hasSuffix("/a") { return .json("{}", status: 404) }
            await untilCancelled()
            throw .cancelled
        }
        let principal = try await principal()
        do throws(ResourceFailure) {
            _ = try await client(http).resources([("a", "/a"), ("b", "/b")], for: principal, by: clock.deadline())
            Issue.record("nothing failed")
        } catch {
            #expect(error == .notFound)
        }
    }
}

/// Waits until the task is cancelled, as a call does whose server never answers.
func untilCancelled() async {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    await withTaskCancellationHandler {
        for await _ in stream {}
    } onCancel: {
        continuation.finish()
    }
}
