import Alexa
import Crypto
import HTTP
import TestSupport
import Testing
import Time

private func answer(
    _ status: Int, code: String? = nil, retryAfter: String? = nil
) -> Result<HTTPResponse, HTTPClientError> {
    var fields: HTTPFields = ["Content-Type": "application/json"]
    if let retryAfter { fields.append("Retry-After", retryAfter) }
    let body = code.map { code in
        #"{"header":{"namespace":"System","name":"Exception","messageId":"m"},"payload":{"code":"\#(code)","#
            + #""description":"Atza|quoted"}}"#
    }
    return .success(HTTPResponse(status: status, fields: fields, body: Array((body ?? "<html>").utf8)))
}

@Suite("The event gateway's client") struct EventGatewayTests {
    let clock = ManualClock()
    let token = Secret("Atza|t")
    let event = Array(#"{"event":{}}"#.utf8)

    private func outcome(_ result: Result<HTTPResponse, HTTPClientError>) async -> EventGatewayError? {
        let gateway = EventGateway(http: RecordingHTTPClient(inTurn: [result]), monotonic: clock.monotonic)
        do {
            try await gateway.send(event, to: .europe, token: token, by: clock.deadline())
            return nil
        } catch { return error }
    }

    @Test("the event goes to its region's gateway as it is, with the token in the header")
    func request() async throws {
        let urls: [AlexaRegion: String] = [
            .northAmerica: "https://api.amazonalexa.com/v3/events",
            .europe: "https://api.eu.amazonalexa.com/v3/events",
            .farEast: "https://api.fe.amazonalexa.com/v3/events",
        ]
        for region in AlexaRegion.allCases {
            let http = RecordingHTTPClient(inTurn: [answer(202)])
            try await EventGateway(http: http, monotonic: clock.monotonic).send(
                event, to: region, token: token, by: clock.deadline())
            let request = try #require(http.requests.first)
            #expect(http.requests.count == 1)
            #expect(request.method == .post)
            #expect(request.url == urls[region])
            #expect(request.fields["Authorization"] == "Bearer Atza|t")
            #expect(request.fields["Content-Type"] == "application/json")
            #expect(request.body == event)
        }
    }

    @Test("another address of a region counts, with or without a slash at its end", arguments: ["", "/"])
    func addresses(end: String) async throws {
        let http = RecordingHTTPClient(inTurn: [answer(202)])
        let addresses: [AlexaRegion: String] = [.europe: "http://127.0.0.1:9" + end]
        try await EventGateway(http: http, addresses: addresses, monotonic: clock.monotonic).send(
            event, to: .europe, token: token, by: clock.deadline())
        #expect(http.requests.first?.url == "http://127.0.0.1:9/v3/events")
    }

    static let rows: [(Int, String, EventGatewayError)] = [
        (400, "INVALID_REQUEST_EXCEPTION", .invalidRequest),
        (401, "INVALID_ACCESS_TOKEN_EXCEPTION", .invalidAccessToken),
        (403, "SKILL_DISABLED_EXCEPTION", .skillDisabled),
        (403, "SKILL_NEVER_ENABLED_EXCEPTION", .skillNeverEnabled),
        (403, "INSUFFICIENT_PERMISSION_EXCEPTION", .insufficientPermission),
        (404, "SKILL_NOT_FOUND_EXCEPTION", .skillNotFound),
        (404, "ACCOUNT_NOT_FOUND_EXCEPTION", .accountNotFound),
        // The numbers of these two are not sure.
        (403, "SKILL_NOT_FOUND_EXCEPTION", .skillNotFound),
        (400, "ACCOUNT_NOT_FOUND_EXCEPTION", .accountNotFound),
        (413, "REQUEST_ENTITY_TOO_LARGE_EXCEPTION", .tooLarge),
        (429, "THROTTLING_EXCEPTION", .throttled(nil)),
        (500, "INTERNAL_SERVICE_EXCEPTION", .internalService(nil)),
        (503, "SERVICE_UNAVAILABLE_EXCEPTION", .serviceUnavailable(nil)),
    ]

    @Test("each row of the table of errors is an error of its own", arguments: rows.indices)
    func table(index: Int) async {
        let (status, code, error) = Self.rows[index]
        #expect(await outcome(answer(status, code: code)) == error)
        #expect(!"\(error)".contains("Atza"))
    }

    static let bare: [(Int, EventGatewayError?)] = [
        (200, nil), (202, nil), (204, nil), (400, .invalidRequest), (401, .invalidAccessToken),
        (403, .other(status: 403)), (404, .other(status: 404)), (413, .tooLarge), (429, .throttled(nil)),
        (500, .internalService(nil)), (502, .serviceUnavailable(nil)), (503, .serviceUnavailable(nil)),
        (302, .other(status: 302)), (408, .other(status: 408)),
    ]

    @Test("EVG-5: where the body says nothing the status decides, and only success is success", arguments: bare.indices)
    func statusAlone(index: Int) async {
        #expect(await outcome(answer(Self.bare[index].0)) == Self.bare[index].1)
        #expect(await outcome(answer(Self.bare[index].0, code: "OF_TOMORROW")) == Self.bare[index].1)
    }

    @Test("EVG-5: a failure of the gateway stays one, whatever code its body names")
    func statusFirst() async {
        #expect(await outcome(answer(500, code: "SKILL_DISABLED_EXCEPTION")) == .internalService(nil))
        #expect(await outcome(answer(503, code: "INVALID_ACCESS_TOKEN_EXCEPTION")) == .serviceUnavailable(nil))
    }

    @Test("Retry-After is read in seconds and as a date, and nothing else is taken for it")
    func retryAfter() async {
        let date = UnixTime(seconds: 784_111_777)
        #expect(await outcome(answer(429, retryAfter: "7")) == .throttled(.seconds(7)))
        #expect(await outcome(answer(503, retryAfter: "0")) == .serviceUnavailable(.seconds(0)))
        #expect(await outcome(answer(500, retryAfter: date.httpDate)) == .internalService(.date(date)))
        let code = "THROTTLING_EXCEPTION"
        #expect(await outcome(answer(429, code: code, retryAfter: "9"))?.retryAfter == .seconds(9))
        for text in ["", "-1", "1.5", "soon", "1 s", "+3"] {
            #expect(await outcome(answer(429, retryAfter: text)) == .throttled(nil), "\(text)")
        }
        #expect(await outcome(answer(400, retryAfter: "7"))?.retryAfter == nil)
    }

    @Test("a wait is an hour at most and never in the past")
    func moments() {
        let now = ManualClock.start
        #expect(RetryAfter("30")?.moment(from: now) == now.adding(seconds: 30))
        #expect(RetryAfter(now.adding(seconds: 30).httpDate)?.moment(from: now) == now.adding(seconds: 30))
        #expect(RetryAfter("86400")?.moment(from: now) == now.adding(seconds: 3600))
        #expect(RetryAfter("99999999999999999999")?.moment(from: now) == now.adding(seconds: 3600))
        #expect(RetryAfter(now.adding(seconds: 86_400).httpDate)?.moment(from: now) == now.adding(seconds: 3600))
        #expect(RetryAfter(now.adding(seconds: -5).httpDate)?.moment(from: now) == now)
    }

    static let failures: [(HTTPClientError, EventGatewayError)] = [
        (.unreachable("x"), .unreachable), (.circuitOpen, .unreachable), (.address, .unreachable), (.tls("x"), .tls),
        (.timedOut, .timedOut), (.broken("x"), .broken), (.answerTooLarge, .broken), (.cancelled, .cancelled),
    ]

    @Test("what kept an answer from coming is told apart", arguments: failures.indices)
    func failed(index: Int) async {
        #expect(await outcome(.failure(Self.failures[index].0)) == Self.failures[index].1)
    }
}
