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

@Suite("Device client", .timeLimit(.minutes(5))) struct DeviceClientTests {
    let clock = ManualClock()
    let key: SigningKey

    init() throws { key = SigningKey(try PrivateKey.generate(.p256), algorithm: .es256, id: "k1") }

    func principal(_ subject: String = "u1") async throws -> Principal {
        let validator = TokenValidator(
            TokenValidation(issuer: nil, audience: nil, keys: .fixed(JSONWebKeySet([key.publicKey]))),
            http: RecordingHTTPClient(inTurn: []), clock: clock.wall, monotonic: clock.monotonic)
        let token = try AccessTokenMinter(issuer: "i", audience: "a", key: key).token(
            .init(subject: subject, clientID: "alexa", scopes: []), lifetimeSeconds: 86_400, now: clock.now)
        return try await validator.principal(for: token, client: nil, scopes: [], by: clock.deadline())
    }

    func client(_ http: RecordingHTTPClient) -> DeviceClient {
        DeviceClient(ResourceClient(baseURL: "https://api.example.com/v1", http: http, now: clock.monotonic))
    }

    static func command(_ arguments: String = "{}", messageID: String = "m1", token: String? = "ct+/=1") throws
        -> DeviceClient.Command
    {
        DeviceClient.Command(
            interface: "BrightnessController", name: "SetBrightness", instance: nil,
            arguments: try JSONDocument(parsing: Array(arguments.utf8)).root, messageID: messageID,
            correlationToken: token)
    }

    static func failure<Answer>(_ body: () async throws(ResourceFailure) -> Answer) async -> ResourceFailure? {
        do {
            _ = try await body()
            return nil
        } catch { return error }
    }

    @Test("a page of devices is asked for by its cursor, which is one value of the query")
    func pages() async throws {
        let http = RecordingHTTPClient(inTurn: [
            .success(.json(#"{"devices":[{"id":"1"},{"id":"2"}],"cursor":"a b&c/é"}"#)),
            .success(.json(#"{"devices":[{"id":"3"}]}"#)),
        ])
        let (client, principal) = (client(http), try await principal())
        let first = try await client.page(from: nil, for: principal, by: clock.deadline())
        #expect(first.devices.map { $0.string("id") } == ["1", "2"])
        let second = try await client.page(from: first.next, for: principal, by: clock.deadline())
        #expect(second.devices.map { $0.string("id") } == ["3"])
        #expect(second.next == nil)
        #expect(
            http.requests.map(\.url) == [
                "https://api.example.com/v1/devices", "https://api.example.com/v1/devices?cursor=a%20b%26c%2F%C3%A9",
            ])
        #expect(http.requests.allSatisfy { $0.fields["Authorization"] == "Bearer " + principal.token.exposed })
        // A server without pages may send as much as Alexa takes.
        #expect(http.requests.allSatisfy { $0.answerLimitBytes == 5 << 20 })
    }

    @Test("no cursor, null and an empty one end the list", arguments: ["", #","cursor":null"#, #","cursor":"""#])
    func lastPage(member: String) async throws {
        let http = RecordingHTTPClient(inTurn: [.success(.json(#"{"devices":[]\#(member)}"#))])
        #expect(try await client(http).page(from: nil, for: principal(), by: clock.deadline()).next == nil)
    }

    @Test(
        "an answer without the members of the contract is malformed",
        arguments: [
            ("{}", "devices"), ("[]", "devices"), (#"{"devices":{}}"#, "devices"), (#"{"devices":null}"#, "devices"),
            (#"{"devices":[],"cursor":7}"#, "cursor"),
            (#"{"devices":[],"cursor":"\#(String(repeating: "c", count: 2049))"}"#, "cursor"),
            (#"{"error":"invalid_token"}"#, "devices"),
        ])
    func malformedPage(body: String, path: String) async throws {
        let principal = try await principal()
        let http = RecordingHTTPClient(inTurn: [.success(.json(body))])
        let failure = await Self.failure { () async throws(ResourceFailure) in
            try await client(http).page(from: nil, for: principal, by: clock.deadline())
        }
        #expect(failure == .malformed(path: path))
    }

    @Test(
        "a device's id is one segment of the path",
        arguments: [
            ("lamp-1", "lamp-1"), ("a/b", "a%2Fb"), ("küche?x#y", "k%C3%BCche%3Fx%23y"), ("%2e%2e", "%252e%252e"),
            ("...", "..."), ("a\r\nb", "a%0D%0Ab"),
        ])
    func deviceID(id: String, segment: String) async throws {
        let http = RecordingHTTPClient(inTurn: [.success(.json(#"{"properties":[]}"#))])
        let (client, principal) = (client(http), try await principal())
        _ = try await client.state(of: id, for: principal, by: clock.deadline())
        _ = try await client.command(Self.command(), to: id, for: principal, by: clock.deadline())
        #expect(
            http.requests.map(\.url) == [
                "https://api.example.com/v1/devices/\(segment)/state",
                "https://api.example.com/v1/devices/\(segment)/commands",
            ])
    }

    @Test("an id that would be another path is no device's, and nothing is sent", arguments: ["", ".", ".."])
    func pathID(id: String) async throws {
        let http = RecordingHTTPClient(inTurn: [.success(.json(#"{"properties":[]}"#))])
        let (client, principal) = (client(http), try await principal())
        let command = try Self.command()
        let state = await Self.failure { () async throws(ResourceFailure) in
            try await client.state(of: id, for: principal, by: clock.deadline())
        }
        let commanded = await Self.failure { () async throws(ResourceFailure) in
            try await client.command(command, to: id, for: principal, by: clock.deadline())
        }
        #expect(state == .notFound)
        #expect(commanded == .notFound)
        #expect(http.requests.isEmpty)
    }

    @Test("a command has the members of the contract, its arguments without loss, and two fields of its own")
    func command() async throws {
        let http = RecordingHTTPClient(inTurn: [.success(.json(#"{"properties":[]}"#))])
        let (client, principal) = (client(http), try await principal())
        let arguments = #"{"a":21.5,"b":9007199254740993,"c":-0.0,"d":[true,null,"ü"],"e":{"f":1e-7}}"#
        var command = try Self.command(arguments)
        _ = try await client.command(command, to: "e1", for: principal, by: clock.deadline())
        let request = try #require(http.requests.first)
        #expect(request.method == .post)
        #expect(request.fields["Content-Type"] == "application/json")
        #expect(request.fields["Authorization"] == "Bearer " + principal.token.exposed)
        #expect(request.fields["Skillgate-Message-ID"] == "m1")
        #expect(request.fields["Skillgate-Correlation-Token"] == "ct+/=1")
        #expect(
            String(decoding: request.body ?? [], as: UTF8.self)
                == #"{"interface":"BrightnessController","command":"SetBrightness","arguments":"#
                + #"{"a":21.5,"b":9007199254740993,"c":0,"d":[true,null,"ü"],"e":{"f":1e-07}}}"#)
        #expect(http.deadlines == [clock.deadline(in: .seconds(4))])
        #expect(request.answerLimitBytes == 1 << 20)
        command.instance = "Fan.Speed"
        _ = try await client.command(command, to: "e1", for: principal, by: clock.deadline(in: .seconds(1)))
        let body = try JSONValue(parsing: try #require(http.requests.last?.body))
        #expect(body.object?.names == ["interface", "command", "instance", "arguments"])
        #expect(body["instance"] == "Fan.Speed")
        #expect(http.deadlines.last == clock.deadline(in: .seconds(1)))
    }

    @Test("what no header field may hold is left out", arguments: ["a b", "a\r\nX: y", "ü", "\u{7F}"])
    func fields(text: String) async throws {
        let http = RecordingHTTPClient(inTurn: [.success(.json(#"{"properties":[]}"#))])
        let principal = try await principal()
        let command = try Self.command(messageID: text, token: text)
        _ = try await client(http).command(command, to: "e1", for: principal, by: clock.deadline())
        let request = try #require(http.requests.first)
        #expect(request.fields["Skillgate-Message-ID"] == nil)
        #expect(request.fields["Skillgate-Correlation-Token"] == nil)
    }

    @Test(
        "202 is a promise, with the seconds where they are sane",
        arguments: [
            (#"{"deferSeconds":15}"#, 15), (#"{"deferSeconds":0}"#, 0), ("{}", nil), (#"{"deferSeconds":-1}"#, nil),
            (#"{"deferSeconds":"15"}"#, nil), (#"{"deferSeconds":1.5}"#, nil),
        ] as [(String, Int64?)])
    func deferred(body: String, seconds: Int64?) async throws {
        let http = RecordingHTTPClient(inTurn: [.success(.json(body, status: 202))])
        let principal = try await principal()
        let outcome = try await client(http).command(
            Self.command(), to: "e1", for: principal, by: clock.deadline())
        guard case .deferred(let found) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(found == seconds)
    }

    static let failures: [(Result<HTTPResponse, HTTPClientError>, ResourceFailure)] = [
        (.success(.json("{}")), .malformed(path: "properties")),
        (.success(.json(#"{"properties":{}}"#)), .malformed(path: "properties")),
        (.success(.json(#"{"properties":[],"payload":[]}"#)), .malformed(path: "payload")),
        (.success(.json("[]", status: 202)), .malformed(path: "")),
        (.success(.json(#"{"error":"ENDPOINT_BUSY"}"#)), .declared(DeclaredError(.endpointBusy))),
        (
            .success(.json(#"{"error":"VALUE_OUT_OF_RANGE","message":"no","validRange":{"x":1}}"#, status: 422)),
            .declared(DeclaredError(.valueOutOfRange, message: "no", details: ["validRange": ["x": 1]]))
        ),
        (.success(.json(#"{"error":"ACCEPT_GRANT_FAILED"}"#, status: 503)), .status(503)),
        (.success(.json(#"{"error":"NO_TYPE_OF_ALEXAS"}"#, status: 409)), .busy),
        (.success(.json("<html>", status: 503)), .status(503)), (.success(.json("", status: 500)), .status(500)),
        (.success(.json("{}", status: 302)), .status(302)), (.success(.json("{}", status: 304)), .status(304)),
        (.failure(.timedOut), .timedOut), (.failure(.unreachable("x")), .unreachable),
        (.failure(.broken("x")), .unreachable), (.failure(.answerTooLarge), .tooLarge),
        (.failure(.circuitOpen), .unreachable), (.failure(.cancelled), .cancelled),
    ]

    @Test("a command that fails is not sent again, and the failure has a name", arguments: failures)
    func commandFails(outcome: Result<HTTPResponse, HTTPClientError>, expected: ResourceFailure) async throws {
        let http = RecordingHTTPClient(inTurn: [outcome])
        let (principal, command) = (try await principal(), try Self.command())
        let failure = await Self.failure { () async throws(ResourceFailure) in
            try await client(http).command(command, to: "e1", for: principal, by: clock.deadline())
        }
        #expect(failure == expected)
        #expect(http.requests.count == 1)
    }

    @Test("a message of the server's is bounded, and a message of another kind is none")
    func message() async throws {
        let principal = try await principal()
        for (member, message) in [
            ("\"" + String(repeating: "ä", count: 1000) + "\"", String(repeating: "ä", count: 256)), ("7", nil),
        ] {
            let http = RecordingHTTPClient(inTurn: [
                .success(.json(#"{"error":"ENDPOINT_BUSY","message":\#(member)}"#, status: 400))
            ])
            let failure = await Self.failure { () async throws(ResourceFailure) in
                try await client(http).state(of: "e1", for: principal, by: clock.deadline())
            }
            #expect(failure == .declared(DeclaredError(.endpointBusy, message: message)))
        }
    }

    @Test("after a command the device's kept state is forgotten, that of others is not")
    func stateForgotten() async throws {
        let http = RecordingHTTPClient { request, _ in
            request.method == .get
                ? .json(#"{"properties":[]}"#, fields: ["Cache-Control": "max-age=60"]) : .json("{}", status: 500)
        }
        let (client, principal) = (client(http), try await principal())
        for id in ["e1", "e2", "e1", "e2"] { _ = try await client.state(of: id, for: principal, by: clock.deadline()) }
        #expect(http.requests.count == 2)
        // Even a command that failed may have been obeyed.
        _ = try? await client.command(Self.command(), to: "e1", for: principal, by: clock.deadline())
        for id in ["e1", "e2"] { _ = try await client.state(of: id, for: principal, by: clock.deadline()) }
        #expect(http.requests.map(\.url).filter { $0.hasSuffix("e1/state") }.count == 2)
        #expect(http.requests.map(\.url).filter { $0.hasSuffix("e2/state") }.count == 1)
    }
}
