import HTTP
import JSON
import OAuth
import Service
import TestSupport
import Testing

extension ResourceClientTests {
    /// Answers 304 to whom knows the tag, otherwise `body` with it.
    static func tagged(
        _ tag: String, _ fields: HTTPFields = [:], body: String = #"{"n":1}"#
    ) -> RecordingHTTPClient {
        RecordingHTTPClient { request, _ in
            var fields = fields
            fields["ETag"] = tag
            guard request.fields["If-None-Match"] == tag else { return .json(body, fields: fields) }
            return HTTPResponse(status: 304, fields: fields)
        }
    }

    @Test("an answer with a tag is asked for by it, and 304 brings it back", arguments: [#""v1""#, #"W/"v1""#, #""""#])
    func tag(tag: String) async throws {
        let http = Self.tagged(tag)
        let (client, principal) = (client(http), try await principal())
        for _ in 0..<3 {
            let document = try await client.resource("/me", for: principal, by: clock.deadline())
            #expect(document.root.member("n")?.integer == 1)
        }
        #expect(http.requests.map { $0.fields["If-None-Match"] } == [nil, tag, tag])
    }

    @Test("a tag that is none, or an answer that must not be kept, is not asked for by it")
    func noTag() async throws {
        let principal = try await principal()
        for (tag, fields) in [
            ("v1", [:]), (#"w/"v1""#, [:]), (#""a b""#, [:]), (#""a"b""#, [:]), (#"""#, [:]),
            ("\"" + String(repeating: "x", count: 300) + "\"", [:]), (#""v1""#, ["Cache-Control": "No-Store"]),
            (#""v1""#, ["Vary": "*"]),
        ] as [(String, HTTPFields)] {
            let http = Self.tagged(tag, fields)
            let client = client(http)
            for _ in 0..<2 { _ = try await client.resource("/me", for: principal, by: clock.deadline()) }
            #expect(http.requests.allSatisfy { $0.fields["If-None-Match"] == nil }, "\(tag)")
            #expect(http.requests.count == 2)
        }
    }

    @Test("within max-age nothing is asked; afterwards the tag is, and 304 begins a new age")
    func tagAndAge() async throws {
        let http = Self.tagged(#""v1""#, ["Cache-Control": "private, max-age=60"])
        let (client, principal) = (client(http), try await principal(lifetimeSeconds: 86_400))
        for (seconds, count) in [(0, 1), (59, 1), (1, 2), (59, 2), (1, 3)] {
            clock.advance(by: .seconds(seconds))
            _ = try await client.resource("/me", for: principal, by: clock.deadline())
            #expect(http.requests.count == count)
        }
        #expect(http.requests.last?.fields["If-None-Match"] == #""v1""#)
    }

    @Test("no-cache allows the tag alone; a changed resource replaces what was kept")
    func changed() async throws {
        let fields: HTTPFields = ["Cache-Control": "no-cache", "ETag": #""v1""#]
        let http = RecordingHTTPClient(inTurn: [
            .success(.json(#"{"n":1}"#, fields: fields)),
            .success(.json(#"{"n":2}"#, fields: ["ETag": #""v2""#])), .success(HTTPResponse(status: 304)),
        ])
        let (client, principal) = (client(http), try await principal())
        for number in [1, 2, 2] as [Int64] {
            let document = try await client.resource("/me", for: principal, by: clock.deadline())
            #expect(document.root.member("n")?.integer == number)
        }
        #expect(http.requests.map { $0.fields["If-None-Match"] } == [nil, #""v1""#, #""v2""#])
    }

    @Test("a tag belongs to one token and one path, and a 304 that nobody asked for is a failure")
    func tagOwner() async throws {
        let http = Self.tagged(#""v1""#)
        let client = client(http)
        let (ann, bob) = (try await principal("ann"), try await principal("bob"))
        for (principal, path) in [(ann, "/me"), (bob, "/me"), (ann, "/other")] {
            _ = try await client.resource(path, for: principal, by: clock.deadline())
        }
        client.forget(subject: "ann")
        _ = try await client.resource("/me", for: ann, by: clock.deadline())
        #expect(http.requests.allSatisfy { $0.fields["If-None-Match"] == nil })
        let odd = self.client(RecordingHTTPClient(inTurn: [.success(HTTPResponse(status: 304))]))
        let failure = await Self.failure { () async throws(ResourceFailure) in
            try await odd.resource("/me", for: ann, by: clock.deadline())
        }
        #expect(failure == .status(304))
    }

    @Test("large answers have a room of their own, and the largest are not kept")
    func large() async throws {
        let http = RecordingHTTPClient { request, _ in
            let count = request.url.hasSuffix("/huge") ? 300_000 : request.url.hasSuffix("/me") ? 1 : 20_000
            return .json("\"" + String(repeating: "x", count: count) + "\"", fields: ["Cache-Control": "max-age=60"])
        }
        let client = client(http, limits: .init(keptAnswers: 1, keptLargeAnswers: 2))
        let principal = try await principal()
        for (path, count) in [
            ("/me", 1), ("/a", 2), ("/b", 3), ("/me", 3), ("/a", 3), ("/b", 3), ("/c", 4), ("/me", 4), ("/a", 5),
            ("/huge", 6), ("/huge", 7),
        ] {
            _ = try await client.resource(path, for: principal, by: clock.deadline())
            #expect(http.requests.count == count, "\(path)")
        }
    }
}
