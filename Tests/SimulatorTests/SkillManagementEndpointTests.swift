import Crypto
import HTTP
import JSON
import Simulator
import Testing
import Time

@Suite("Simulated skill management", .timeLimit(.minutes(5))) struct SkillManagementEndpointTests {
    static let good: JSONObject = [
        "type": "AUTH_CODE", "authorizationUrl": "https://a.example/x", "accessTokenUrl": "https://a.example/t",
        "clientId": "alexa", "clientSecret": "s", "scopes": ["profile"], "domains": [], "skipOnEnablement": false,
        "accessTokenScheme": "HTTP_BASIC", "defaultTokenExpirationInSeconds": 3600,
        "redirectUrls": ["https://a.example/cb"],
    ]

    private func status(
        _ body: JSONValue, method: HTTPMethod = .put, target: String = "/v1/skills/S/stages/live/accountLinkingClient",
        fields: HTTPFields = ["Authorization": "Bearer t", "Content-Type": "application/json"]
    ) async -> Int {
        let api = SkillManagementEndpoint(token: Secret("t"), skills: ["S": ["live"]])
        let answer = await api.respond(
            to: HTTPRequest(
                method: method, target: target, fields: fields, body: body.encoded(),
                deadline: .after(.seconds(240), from: .now)))
        #expect((api.accountLinking(of: "S", stage: "live") != nil) == (answer.status == 204))
        return answer.status
    }

    private func wrapped(_ name: String? = nil, _ value: JSONValue? = nil) -> JSONValue {
        var request = Self.good
        if let name { request[name] = value }
        return ["accountLinkingRequest": .object(request)]
    }

    @Test("only a wrapped request is taken, by PUT, with the token, for a stage that is there")
    func envelope() async {
        #expect(await status(wrapped()) == 204)
        #expect(await status(.object(Self.good)) == 400)
        #expect(await status(["accountLinkingRequest": .object(Self.good), "more": 1]) == 400)
        #expect(await status([]) == 400)
        #expect(await status(wrapped(), method: .post) == 405)
        #expect(await status(wrapped(), target: "/v1/skills/S/stages/development/accountLinkingClient") == 404)
        #expect(await status(wrapped(), target: "/v1/skills/T/stages/live/accountLinkingClient") == 404)
        #expect(await status(wrapped(), target: "/v1/skills/S/stages/live/accountLinking") == 404)
        #expect(await status(wrapped(), fields: ["Content-Type": "application/json"]) == 401)
        #expect(
            await status(wrapped(), fields: ["Authorization": "Bearer T", "Content-Type": "application/json"]) == 401)
        #expect(await status(wrapped(), fields: ["Authorization": "Bearer t"]) == 415)
    }

    @Test(
        "a member that is missing, of another kind or unknown is refused",
        arguments: [
            ("type", nil), ("type", "CODE"), ("authorizationUrl", "ftp://a"), ("accessTokenUrl", nil),
            ("clientId", ""), ("clientSecret", nil), ("scopes", "profile"), ("scopes", ["a", "a"]),
            ("scopes", .array((0..<16).map { .string("\($0)") })), ("redirectUrls", ["app://cb"]),
            ("skipOnEnablement", "false"), ("defaultTokenExpirationInSeconds", "3600"),
            ("accessTokenScheme", "BASIC"), ("accessTokenURL", "https://a.example/t"),
        ] as [(String, JSONValue?)])
    func members(name: String, value: JSONValue?) async {
        #expect(await status(wrapped(name, value)) == 400)
    }
}
