import Alexa
import Concurrency
import Crypto
import HTTP
import JSON
import OAuth
import Service
import Simulator
import Storage
import Telemetry
import TestSupport
import Testing
import Time

/// `POST /oauth/reciprocal`, in the whole service.
@Suite("Reciprocal authorization", .timeLimit(.minutes(5))) struct ReciprocalTests {
    private static let good = "grant_type=reciprocal_authorization_code&code=amazon-code&client_id=alexa"

    private func start(
        pair: Configuration.Linking.ReciprocalPair = .linking, isOn: Bool = true,
        answer: String = #"{"access_token":"Atza|a","refresh_token":"Atzr|r","token_type":"bearer","expires_in":3600}"#,
        status: Int = 200
    ) async throws -> ServiceTests.Running {
        try await ServiceTests.start {
            $0.skills[0].linking?.reciprocal = isOn
            $0.skills[0].linking?.reciprocalPair = pair
        } world: { _, _ throws(HTTPClientError) in
            HTTPResponse(status: status, body: Array(answer.utf8))
        }
    }

    private func post(
        _ running: ServiceTests.Running, _ body: String = good, token: Secret? = nil,
        type: String = "application/x-www-form-urlencoded"
    ) async throws -> (status: Int, json: JSONValue) {
        let token = try token ?? running.token(.linked)
        let response = await running.service.router.respond(
            to: HTTPRequest(
                method: .post, target: "/oauth/reciprocal",
                fields: ["Content-Type": type, "Authorization": "Bearer " + token.exposed], body: Array(body.utf8),
                peerAddress: "127.0.0.1", deadline: running.clock.deadline()))
        #expect(response.fields["Cache-Control"] == "no-store" || response.status == 404)
        return (response.status, (try? JSONValue(parsing: response.body)) ?? .null)
    }

    private func stored(_ running: ServiceTests.Running) async throws -> [Grant] {
        try await running.store.grants(of: "u1001", by: running.clock.deadline())
    }

    @Test(
        "a code of Amazon's becomes the user's one grant, by the pair that is configured",
        arguments: [
            (Configuration.Linking.ReciprocalPair.linking, "amzn1.application-oa2-client.linking"),
            (.events, "amzn1.application-oa2-client.events"),
        ])
    func taken(pair: Configuration.Linking.ReciprocalPair, client: String) async throws {
        let running = try await start(pair: pair)
        #expect(try await post(running).status == 200)
        let form = try #require(
            running.http.requests.last.flatMap { Form(decoding: String(decoding: $0.body ?? [], as: UTF8.self)) })
        #expect(form["code"] == "amazon-code" && form["client_id"] == client && form["redirect_uri"] == nil)
        // A second code of the same user takes the place of the first one's grant.
        #expect(try await post(running, Self.good.replacing("amazon-code", with: "another-code")).status == 200)
        let grants = try await stored(running)
        #expect(
            grants.map(\.key) == [
                GrantKey(source: .reciprocal, subject: "u1001", skill: "ride-hailer", region: .northAmerica)
            ])
        #expect(grants.first?.credentials.refreshToken == Secret("Atzr|r"))
    }

    @Test("the same code again gets the first outcome and is not presented again")
    func repeated() async throws {
        let running = try await start()
        #expect(try await post(running).status == 200)
        #expect(try await post(running).status == 200)
        #expect(running.http.requests.count == 1)
    }

    @Test("a secret is judged where one is sent")
    func secret() async throws {
        let running = try await start()
        #expect(try await post(running, Self.good + "&client_secret=alexa-secret").status == 200)
        for wrong in ["wrong", "operator-secret", "alexa-secret "] {
            let answer = try await post(running, Self.good + "&client_secret=" + percentEncoded(wrong))
            #expect(answer.status == 401 && answer.json["error"] == "invalid_client")
        }
    }

    @Test(
        "what is not such a request is refused before Amazon hears of the code",
        arguments: [
            ("grant_type=authorization_code&code=c", 400, "unsupported_grant_type"),
            ("code=c", 400, "unsupported_grant_type"),
            ("grant_type=reciprocal_authorization_code", 400, "invalid_request"),
            ("grant_type=reciprocal_authorization_code&code=", 400, "invalid_request"),
            ("grant_type=reciprocal_authorization_code&code=c&code=d", 400, "invalid_request"),
            ("grant_type=reciprocal_authorization_code&code=%FF", 400, "invalid_request"),
            ("grant_type=reciprocal_authorization_code&code=c&client_id=app", 401, "invalid_client"),
        ])
    func refused(body: String, status: Int, error: String) async throws {
        let running = try await start()
        let answer = try await post(running, body)
        #expect(answer.status == status && answer.json["error"] == .string(error))
        #expect(running.http.requests.isEmpty)
        #expect(try await stored(running).isEmpty)
    }

    @Test(
        "a token that is not Alexa's, expired or revoked is refused",
        arguments: [TokenState.foreign, .expired, .revoked])
    func tokens(state: TokenState) async throws {
        let running = try await start()
        #expect(try await post(running, token: try running.token(state)).status == 401)
        #expect(running.http.requests.isEmpty)
    }

    @Test(
        "what Amazon says of the code decides the answer",
        arguments: [
            (#"{"error":"invalid_grant"}"#, 400, 400, "invalid_grant"),
            (#"{"error":"invalid_client"}"#, 401, 503, "temporarily_unavailable"),
            ("<html>", 503, 503, "temporarily_unavailable"),
        ])
    func amazon(answer: String, status: Int, expected: Int, error: String) async throws {
        let running = try await start(answer: answer, status: status)
        let refusal = try await post(running)
        #expect(refusal.status == expected && refusal.json["error"] == .string(error))
        #expect(try await stored(running).isEmpty)
        running.log.flush()
        #expect(running.lines.lines.contains { $0.contains("reciprocal") })
        #expect(!running.lines.lines.contains { $0.contains("amazon-code") })
    }

    @Test("without the setting the address does not exist, and another media type is refused")
    func absent() async throws {
        #expect(try await post(try await start(isOn: false)).status == 404)
        #expect(try await post(try await start(), type: "application/json").status == 415)
    }
}
