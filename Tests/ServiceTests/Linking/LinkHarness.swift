import Alexa
import Concurrency
import Crypto
import HTTP
import JSON
import OAuth
import Service
import Storage
import Telemetry
import TestSupport
import Testing
import Time

/// The whole service with Amazon played beside it: Login with Amazon, and the three regions' enablement API, which
/// redeems our code at our own token endpoint while the service waits.
final class LinkHarness: Sendable {
    /// How a region answers a call to enable.
    enum Behaviour: Sendable {
        /// As Alexa does for a user who is at home there.
        case home
        /// With that status and body.
        case status(Int, String)
        /// Not at all.
        case silent
        /// As `home`, but the answer is lost on the way.
        case answerLost
    }

    struct World: Sendable {
        var regions: [AlexaRegion: Behaviour] = [
            .northAmerica: .home, .europe: .status(404, "{}"), .farEast: .status(404, "{}"),
        ]
        var endpoints = HTTPResponse(status: 200, body: Array(#"{"endpoints":["api.amazonalexa.com"]}"#.utf8))
        var tokenAnswer: HTTPResponse?
        /// Which Alexa user an Amazon code stands for.
        var users: [String: String] = [:]
        var linked: Set<String> = []
        /// What the regions were asked, with what they were told.
        var enabled: [(region: AlexaRegion, body: JSONValue, token: String)] = []
        var disabled: [AlexaRegion] = []
        var exchanges: [Form] = []
        /// Runs before a region redeems our code, and after it has.
        var meanwhile: (@Sendable () async -> Void)?
        var afterwards: (@Sendable () async -> Void)?
    }

    static let redirectURL = "http://127.0.0.1:8080/link/alexa/callback"
    let running: ServiceTests.Running
    let world: Locked<World>

    init(_ change: @Sendable (inout Configuration) -> Void = { _ in }) async throws {
        let world = Locked(World())
        let router = Locked<Router?>(nil)
        running = try await ServiceTests.start(change) { request, deadline throws(HTTPClientError) in
            try await Self.answer(request, deadline, world, router.withLock { $0 })
        }
        self.world = world
        let made = running.service.router
        router.withLock { $0 = made }
    }

    private static func answer(
        _ request: OutgoingRequest, _ deadline: Deadline, _ world: Locked<World>, _ router: Router?
    ) async throws(HTTPClientError) -> HTTPResponse {
        if request.url == LoginWithAmazon.usualTokenURL { return exchange(request, world) }
        for (region, address) in SkillEnablement.usualAddresses where request.url.hasPrefix(address) {
            let token = String(request.fields["Authorization"]?.dropFirst("Bearer Atza|".count) ?? "")
            switch request.method {
            case .get where request.url.hasSuffix("/v1/alexaApiEndpoint"): return world.withLock { $0.endpoints }
            case .post: return try await enable(request, region, token, deadline, world, router)
            case .delete:
                world.withLock { world in
                    world.disabled.append(region)
                    world.linked.remove(token)
                }
                return HTTPResponse(status: 204)
            default:
                return world.withLock { world in
                    world.linked.contains(token) ? linkedAnswer(token, world, status: 200) : HTTPResponse(status: 404)
                }
            }
        }
        throw .unreachable("nobody is at \(request.url)")
    }

    private static func exchange(_ request: OutgoingRequest, _ world: Locked<World>) -> HTTPResponse {
        guard let form = Form(decoding: String(decoding: request.body ?? [], as: UTF8.self)) else {
            return HTTPResponse(status: 400)
        }
        return world.withLock { world in
            world.exchanges.append(form)
            if let answer = world.tokenAnswer { return answer }
            let name = form["code"] ?? form["refresh_token"].map { String($0.dropFirst(5)) } ?? ""
            let body =
                #"{"access_token":"Atza|\#(name)","refresh_token":"Atzr|\#(name)","token_type":"bearer","expires_in":3600}"#
            return HTTPResponse(status: 200, body: Array(body.utf8))
        }
    }

    private static func enable(
        _ request: OutgoingRequest, _ region: AlexaRegion, _ token: String, _ deadline: Deadline,
        _ world: Locked<World>, _ router: Router?
    ) async throws(HTTPClientError) -> HTTPResponse {
        let body = (try? JSONValue(parsing: request.body ?? [])) ?? .null
        let (behaviour, meanwhile) = world.withLock { world in
            world.enabled.append((region, body, token))
            return (world.regions[region] ?? .silent, world.meanwhile)
        }
        await meanwhile?()
        switch behaviour {
        case .status(let status, let text):
            return HTTPResponse(status: status, fields: ["Content-Type": "application/json"], body: Array(text.utf8))
        case .silent: throw .timedOut
        case .home, .answerLost: break
        }
        var form = Form()
        form.append("grant_type", "authorization_code")
        form.append("code", body["accountLinkRequest"]?["authCode"]?.string)
        form.append("redirect_uri", body["accountLinkRequest"]?["redirectUri"]?.string)
        let answer = await router?.respond(
            to: HTTPRequest(
                method: .post, target: "/oauth/token",
                fields: [
                    "Content-Type": "application/x-www-form-urlencoded",
                    "Authorization": TokenHarness.basic("alexa", "alexa-secret"),
                ], body: Array(form.encodedText.utf8), peerAddress: "203.0.113.9", deadline: deadline))
        guard answer?.status == 200 else {
            return HTTPResponse(status: 400, body: Array(#"{"message":"Invalid account linking credentials"}"#.utf8))
        }
        let linked = world.withLock { world in
            world.linked.insert(token)
            return linkedAnswer(token, world, status: 201)
        }
        await world.withLock { $0.afterwards }?()
        if case .answerLost = behaviour { throw .timedOut }
        return linked
    }

    private static func linkedAnswer(_ token: String, _ world: World, status: Int) -> HTTPResponse {
        let user = world.users[token] ?? "amzn1.ask.account.\(token)"
        let body =
            #"{"skill":{"stage":"development","id":"s"},"user":{"id":"\#(user)"},"#
            + #""accountLink":{"status":"LINKED"},"status":"ENABLED"}"#
        return HTTPResponse(status: status, body: Array(body.utf8))
    }

    // MARK: - The app

    /// A token that the company's app has for a user.
    func token(_ subject: String = "u1001", client: String? = "app") throws -> Secret {
        let provider = try #require(running.service.provider)
        return try provider.accessToken(
            AccessTokenMinter.Claims(
                subject: subject, clientID: client ?? "app", scopes: ["profile"],
                grantID: SecureRandom.token(bytes: 16)), lifetimeSeconds: 3600)
    }

    struct Answer: Sendable {
        let response: HTTPResponse
        var status: Int { response.status }
        var json: JSONValue { (try? JSONValue(parsing: response.body)) ?? .null }
        var code: String? { json["code"]?.string }
        var text: String { String(decoding: response.body, as: UTF8.self) }
    }

    func call(
        _ method: HTTPMethod, _ target: String, _ body: JSONValue? = nil, token: Secret? = nil,
        language: String? = nil
    ) async throws -> Answer {
        var fields: HTTPFields = ["Authorization": "Bearer " + (try token ?? self.token()).exposed]
        if body != nil { fields["Content-Type"] = "application/json" }
        fields["Accept-Language"] = language
        return Answer(
            response: await running.service.router.respond(
                to: HTTPRequest(
                    method: method, target: target, fields: fields, body: body?.encoded() ?? [],
                    peerAddress: "192.0.2.1", deadline: running.clock.deadline())))
    }

    /// Begins an attempt and gives its state.
    func state(token: Secret? = nil, query: String = "") async throws -> String {
        let answer = try await call(.get, "/alexaurl" + query, token: token)
        #expect(answer.status == 200, "\(answer.text)")
        return try #require(answer.json["state"]?.string)
    }

    /// Begins an attempt and ends it with that code of Amazon's.
    func link(code: String = "amz-1", token: Secret? = nil) async throws -> Answer {
        let state = try await state(token: token)
        return try await call(
            .post, "/alexa/link", ["amazonAuthCode": .string(code), "state": .string(state)], token: token)
    }

    func links(of subject: String = "u1001") async throws -> [Link] {
        try await running.store.links(of: subject, by: running.clock.deadline())
    }

    /// What Alexa could redeem or use at our provider for the user.
    func grants(of subject: String = "u1001") async throws -> [ProviderGrant] {
        try await running.service.authorization.grants(of: subject, by: running.clock.deadline())
    }

    func amazonGrants(of subject: String = "u1001") async throws -> [Grant] {
        try await running.store.grants(of: subject, by: running.clock.deadline())
    }

    /// How many links, grants of ours and grants of Amazon's the user has.
    func leftovers(of subject: String = "u1001") async throws -> [Int] {
        [
            try await links(of: subject).count, try await grants(of: subject).count,
            try await amazonGrants(of: subject).count,
        ]
    }
}
