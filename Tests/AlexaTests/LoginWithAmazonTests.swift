import Alexa
import Concurrency
import Crypto
import HTTP
import JSON
import TestSupport
import Testing
import Time

private let tokensBody =
    #"{"access_token":"Atza|1","refresh_token":"Atzr|1","token_type":"bearer","expires_in":3600}"#

private func answer(_ status: Int, _ body: String) -> Result<HTTPResponse, HTTPClientError> {
    .success(HTTPResponse(status: status, body: Array(body.utf8)))
}

@Suite("Login with Amazon") struct LoginWithAmazonTests {
    let clock = ManualClock()
    let client = AmazonClient(id: "amzn1.application-oa2-client.x", secret: Secret("s%c+t&"))

    private func login(_ http: any HTTPClient) -> LoginWithAmazon {
        LoginWithAmazon(http: http, monotonic: clock.monotonic)
    }

    private func exchange(_ http: RecordingHTTPClient) async -> Result<AmazonTokens, LoginWithAmazonError> {
        do {
            return .success(
                try await login(http).exchange(
                    code: AmazonCode(Secret("a+b/c=&d")), client: client, by: clock.deadline()))
        } catch { return .failure(error) }
    }

    @Test("AG-2: the exchange is a form in the body, each value encoded once, nothing in the address")
    func form() async throws {
        let http = RecordingHTTPClient(inTurn: [answer(200, tokensBody)])
        #expect(
            await exchange(http)
                == .success(
                    AmazonTokens(
                        accessToken: Secret("Atza|1"), refreshToken: Secret("Atzr|1"), lifetimeSeconds: 3600)))
        let request = try #require(http.requests.first)
        #expect(request.method == .post)
        #expect(request.url == "https://api.amazon.com/auth/o2/token")
        #expect(request.fields["Content-Type"] == "application/x-www-form-urlencoded;charset=UTF-8")
        #expect(request.fields["Authorization"] == nil)
        let body = String(decoding: try #require(request.body), as: UTF8.self)
        #expect(
            body == "grant_type=authorization_code&code=a%2Bb%2Fc%3D%26d"
                + "&client_id=amzn1.application-oa2-client.x&client_secret=s%25c%2Bt%26")
        let decoded = try #require(Form(decoding: body))
        #expect(decoded["code"] == "a+b/c=&d")
        #expect(decoded["client_secret"] == "s%c+t&")
        #expect(decoded["redirect_uri"] == nil)
    }

    @Test("An app's code goes with redirect address and verifier; a refresh with its token")
    func otherForms() async throws {
        let http = RecordingHTTPClient(inTurn: [answer(200, tokensBody)])
        _ = try await login(http).exchange(
            code: AmazonCode(Secret("c")), client: client, redirectURI: "https://a.test/x", codeVerifier: Secret("v"),
            by: clock.deadline())
        _ = try await login(http).refresh(Secret("Atzr|0"), client: client, by: clock.deadline())
        let forms = http.requests.compactMap { Form(decoding: String(decoding: $0.body ?? [], as: UTF8.self)) }
        #expect(forms.map { $0["grant_type"] } == ["authorization_code", "refresh_token"])
        #expect(forms[0]["redirect_uri"] == "https://a.test/x")
        #expect(forms[0]["code_verifier"] == "v")
        #expect(forms[1]["refresh_token"] == "Atzr|0")
        #expect(forms[1]["code"] == nil)
        #expect(forms.allSatisfy { $0["client_id"] == client.id && $0["client_secret"] == "s%c+t&" })
    }

    static let retries: [([Result<HTTPResponse, HTTPClientError>], Int, LoginWithAmazonError?)] = [
        (
            [answer(400, #"{"error":"invalid_request"}"#), answer(200, tokensBody)], 1,
            .refused(.invalidRequest, status: 400)
        ),
        ([.failure(.unreachable("refused")), answer(200, tokensBody)], 2, nil),
        ([.failure(.unreachable("")), .failure(.unreachable("")), answer(200, tokensBody)], 2, .unreachable),
        ([.failure(.unreachable("")), answer(503, "")], 2, .unavailable(status: 503)),
        ([.failure(.timedOut), answer(200, tokensBody)], 1, .timedOut),
        ([.failure(.broken("")), answer(200, tokensBody)], 1, .broken),
        ([.failure(.tls("")), answer(200, tokensBody)], 1, .tls),
        ([.failure(.answerTooLarge), answer(200, tokensBody)], 1, .broken),
        ([.failure(.cancelled), answer(200, tokensBody)], 1, .cancelled),
        ([answer(500, "{}"), answer(200, tokensBody)], 1, .unavailable(status: 500)),
        ([answer(429, "{}"), answer(200, tokensBody)], 1, .unavailable(status: 429)),
    ]

    @Test(
        "AG-3: there is one more try where no connection came about, and none after anything was sent",
        arguments: retries)
    func retry(
        outcomes: [Result<HTTPResponse, HTTPClientError>], calls: Int, expected: LoginWithAmazonError?
    ) async {
        let http = RecordingHTTPClient(inTurn: outcomes)
        let result = await exchange(http)
        if let expected {
            #expect(result == .failure(expected))
        } else {
            #expect(throws: Never.self) { try result.get() }
        }
        #expect(http.requests.count == calls)
    }

    @Test("AG-3: a call gets three seconds, never more than the deadline leaves, and no second try after it")
    func deadlines() async {
        let http = RecordingHTTPClient(inTurn: [answer(200, tokensBody)])
        _ = await exchange(http)
        _ = try? await login(http).refresh(Secret("r"), client: client, by: clock.deadline(in: .milliseconds(700)))
        #expect(http.deadlines.map { $0.remaining(at: clock.instant) } == [.seconds(3), .milliseconds(700)])

        let hands = clock
        let slow = RecordingHTTPClient { _, _ throws(HTTPClientError) in
            hands.advance(by: .seconds(7))
            throw .unreachable("")
        }
        #expect(await exchange(slow) == .failure(.unreachable))
        #expect(slow.requests.count == 1)
    }

    static let bodies: [(String, Int64?)] = [
        (#"{"access_token":"A","refresh_token":"R","token_type":"bearer","expires_in":3600}"#, 3600),
        (#"{"access_token":"A","refresh_token":"R","token_type":"Bearer","expires_in":"1800"}"#, 1800),
        (#"{"access_token":"A","expires_in":60.0}"#, 60), (#"{"access_token":"A"}"#, 3600),
        (#"{"access_token":"A","expires_in":null,"token_type":null}"#, 3600),
        (#"{"access_token":"A","expires_in":"soon"}"#, nil), (#"{"access_token":"A","expires_in":0}"#, nil),
        (#"{"access_token":"A","expires_in":-1}"#, nil), (#"{"access_token":"A","token_type":"mac"}"#, nil),
        (#"{"access_token":"A","token_type":7}"#, nil), (#"{"access_token":""}"#, nil),
        (#"{"access_token":7}"#, nil), ("{}", nil), ("[]", nil), ("", nil), ("<html>ok</html>", nil), ("null", nil),
    ]

    @Test("DEC-11: success needs a token that can be read; its lifetime is a number or text", arguments: bodies)
    func success(body: String, lifetime: Int64?) async {
        let result = await exchange(RecordingHTTPClient(inTurn: [answer(200, body)]))
        if let lifetime {
            #expect((try? result.get())?.lifetimeSeconds == lifetime)
            #expect((try? result.get())?.accessToken == Secret("A"))
        } else {
            #expect(result == .failure(.noTokens(status: 200)))
        }
    }

    static let refusals: [(Int, String, LoginWithAmazonError, Bool)] = [
        (429, #"{"message":"try later"}"#, .unavailable(status: 429), true),
        (503, "<html>busy</html>", .unavailable(status: 503), true),
        (500, #"{"error":"invalid_grant"}"#, .unavailable(status: 500), true),
        (500, #"{"error":"ServerError"}"#, .unavailable(status: 500), true),
        (400, "", .refused(.other, status: 400), false), (400, "<html></html>", .refused(.other, status: 400), false),
        (400, #"{"error":"invalid_grant","error_description":"d"}"#, .refused(.invalidGrant, status: 400), false),
        (400, #"{"error":"invalid_client"}"#, .refused(.invalidClient, status: 400), false),
        (401, #"{"error":"invalid_client"}"#, .refused(.invalidClient, status: 401), false),
        (400, #"{"error":"unauthorized_client"}"#, .refused(.unauthorizedClient, status: 400), false),
        (400, #"{"error":["invalid_grant"]}"#, .refused(.other, status: 400), false),
        (302, tokensBody, .refused(.other, status: 302), false),
        (404, tokensBody, .refused(.other, status: 404), false),
    ]

    @Test("DEC-11: the class of the status decides, whatever the body is", arguments: refusals)
    func refusal(status: Int, body: String, expected: LoginWithAmazonError, isRetryable: Bool) async {
        let result = await exchange(RecordingHTTPClient(inTurn: [answer(status, body)]))
        #expect(result == .failure(expected))
        #expect(expected.status == status)
        #expect(expected.isRetryable == isRetryable)
    }

    @Test("Reason codes are distinct, and what Amazon sends never shows in an error")
    func reasonCodes() async {
        var all: [LoginWithAmazonError] = [
            .unavailable(status: 500), .noTokens(status: 200), .unreachable, .tls, .timedOut, .broken, .cancelled,
        ]
        all += LoginWithAmazonError.Code.allCases.map { .refused($0, status: 400) }
        #expect(Set(all.map(\.reasonCode)).count == all.count)
        #expect(all.allSatisfy { $0.reasonCode.hasPrefix("grant.lwa") })
        #expect(LoginWithAmazonError.refused(.invalidGrant, status: 400).reasonCode == "grant.lwaInvalidGrant")

        let leak = #"{"error":"hidden-code","error_description":"code a+b/c=&d is spent"}"#
        guard case .failure(let error) = await exchange(RecordingHTTPClient(inTurn: [answer(400, leak)])) else {
            Issue.record("no failure")
            return
        }
        let printed = "\(error) \(String(reflecting: error)) \(error.reasonCode)"
        #expect(!printed.contains("hidden-code"))
        #expect(!printed.contains("a+b"))
    }

    @Test("AG-5: tokens and secrets do not show in what is printed")
    func secrets() {
        let tokens = AmazonTokens(accessToken: Secret("Atza|9"), refreshToken: Secret("Atzr|9"), lifetimeSeconds: 1)
        var dumped = "\(tokens) \(String(reflecting: tokens)) \(client) \(String(reflecting: client))"
        dump(tokens, to: &dumped)
        dump(client, to: &dumped)
        for secret in ["Atza|9", "Atzr|9", "s%c+t&"] { #expect(!dumped.contains(secret)) }
    }
}
