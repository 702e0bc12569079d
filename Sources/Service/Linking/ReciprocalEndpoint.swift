import Alexa
import Crypto
import HTTP
import JSON
import OAuth
import Telemetry
import Time

/// `POST /oauth/reciprocal`: Alexa brings a code of Amazon's for the user whose token comes with it.
///
/// The code is exchanged as that of an AcceptGrant is: once, whoever presents it and how often. One grant a user and
/// skill is kept, the newest. Whether Alexa proves itself besides is not documented, so a secret is judged where one is
/// sent.
struct ReciprocalEndpoint: Sendable {
    static let path = "/oauth/reciprocal"
    /// What the form has to say.
    static let grantType = "reciprocal_authorization_code"
    private static let timeLimit = Duration.seconds(7)

    /// A skill whose users' codes are taken.
    struct Member: Sendable {
        let name: String
        let providerClient: String
        /// The pair that the code is exchanged by.
        let amazonClient: AmazonClient
        /// The region that the grant is kept under.
        let region: AlexaRegion
    }

    let members: [Member]
    let bearer: BearerGuard
    let authenticator: ClientAuthenticator
    let grants: GrantTaking
    let clock: WallClock
    let now: @Sendable () -> ContinuousClock.Instant
    let log: Log
    let traces: TraceRecorder

    var route: Route {
        Route(.post, Self.path, timeLimit: Self.timeLimit, mediaType: TokenRoutes.form) { request, _ in
            request.lateAnswer.response = Self.refusal(503, .temporarilyUnavailable, "Amazon did not answer in time")
            return await respond(to: request)
        }
    }

    private func respond(to request: HTTPRequest) async -> HTTPResponse {
        let trace = Trace(.other, startedAt: clock(), start: now())
        let clients = ClientRule.oneOf(Set(members.map(\.providerClient)))
        let principal: Principal
        switch await bearer.outcome(for: request, clients: clients, scopes: []) {
        case .refusal(let response): return response
        case .principal(let known): principal = known
        }
        trace.belongs(to: principal.subject)
        guard let member = members.first(where: { $0.providerClient == principal.clientID }) else {
            return bearer.refusal(for: .wrongClient, scopes: [])
        }
        do throws(Refusal) {
            let code = try code(in: request, of: member)
            try await take(code, member, principal, by: request.deadline, trace)
            log.info("a reciprocal code was exchanged", .skill(member.name), .codeHash(Self.shortHash(code)))
            return HTTPResponse(json: .object([:]))
        } catch {
            log.notice(
                "a reciprocal code is refused", .traceID(trace.id), .rejection(error.reasonCode), .skill(member.name))
            trace.note("skill", member.name)
            traces.finish(trace.record(.refused, reason: error.reasonCode, end: now()))
            return Self.refusal(error.status, error.error, error.detail)
        }
    }

    private struct Refusal: Error {
        let error: OAuthErrorCode
        let reasonCode: String
        let detail: String
        var status = 400
    }

    /// The code of the form, once everything else in it is right.
    private func code(in request: HTTPRequest, of member: Member) throws(Refusal) -> Secret {
        func faulty(_ error: OAuthErrorCode, _ detail: String) -> Refusal {
            Refusal(error: error, reasonCode: "reciprocal.parameter", detail: detail)
        }
        guard let text = String(validating: request.body, as: UTF8.self), let form = Form(decoding: text) else {
            throw faulty(.invalidRequest, "The form cannot be decoded")
        }
        for name in ["grant_type", "code", "client_id", "client_secret"]
        where form.items.count(where: { $0.name == name }) > 1 {
            throw faulty(.invalidRequest, "\(name) is given twice")
        }
        guard form["grant_type"] == Self.grantType else {
            throw faulty(.unsupportedGrantType, "grant_type must be \(Self.grantType)")
        }
        let wrong = Refusal(
            error: .invalidClient, reasonCode: "client.wrongSecret", detail: "Not the client that the token is of",
            status: 401)
        if let id = form["client_id"], !id.isEmpty, id != member.providerClient { throw wrong }
        if let secret = form["client_secret"], !secret.isEmpty {
            do throws(ClientRefusal) {
                try authenticator.prove(member.providerClient, by: Secret(secret), from: request.peerAddress)
            } catch { throw wrong }
        }
        guard let code = form["code"], !code.isEmpty, code.utf8.count <= 2048 else {
            throw faulty(.invalidRequest, "code is missing, or longer than 2048 bytes")
        }
        return Secret(code)
    }

    private func take(
        _ code: Secret, _ member: Member, _ principal: Principal, by deadline: Deadline, _ trace: Trace
    ) async throws(Refusal) {
        let key = GrantKey(
            source: .reciprocal, subject: principal.subject, skill: member.name, region: member.region)
        let outcome = await grants.outcome(
            code: code, client: member.amazonClient, key: key, by: deadline, trace: trace)
        guard case .refused(let reason) = outcome else { return }
        // A code that Amazon does not take will not become good; what was out of reach may come back.
        let isFinal = reason == "grant.lwaInvalidGrant" || reason == "grant.codeOfAnotherUser"
        throw Refusal(
            error: isFinal ? .invalidGrant : .temporarilyUnavailable, reasonCode: reason,
            detail: isFinal ? "Login with Amazon does not take the code" : "The code cannot be exchanged now",
            status: isFinal ? 400 : 503)
    }

    private static func shortHash(_ code: Secret) -> String { String(GrantTaking.hash(of: code).prefix(8)) }

    private static func refusal(_ status: Int, _ error: OAuthErrorCode, _ detail: String) -> HTTPResponse {
        var response = HTTPResponse(
            json: ["error": .string(error.rawValue), "error_description": .string(detail)], status: status)
        response.fields["Pragma"] = "no-cache"
        if status == 503 { response.fields["Retry-After"] = "5" }
        return response
    }
}

extension ReciprocalEndpoint {
    /// The endpoint of the skills that ask for one; nil where none does.
    init?(
        _ configuration: Configuration, _ parts: ServiceParts, validator: TokenValidator,
        server: AuthorizationServer, traces: TraceRecorder
    ) {
        let members = configuration.skills.compactMap { skill -> Member? in
            guard let linking = skill.linking, linking.reciprocal else { return nil }
            let pair: (id: String, secret: Secret)
            if case .events = linking.reciprocalPair, let events = skill.events {
                pair = (events.clientID, events.clientSecret)
            } else {
                pair = (linking.clientID, linking.clientSecret)
            }
            return Member(
                name: skill.name, providerClient: skill.providerClient,
                amazonClient: AmazonClient(id: pair.id, secret: pair.secret),
                region: skill.events.flatMap { AlexaRegion(rawValue: $0.region.rawValue) } ?? .northAmerica)
        }
        guard !members.isEmpty else { return nil }
        let amazon = LoginWithAmazon(
            http: parts.http, tokenURL: configuration.amazon.lwaTokenURL,
            timeLimit: .seconds(configuration.limits.lwaSeconds), monotonic: parts.monotonic)
        self.init(
            members: members,
            bearer: BearerGuard(validator: validator, realm: "skillgate", log: parts.log),
            authenticator: server.authenticator,
            grants: GrantTaking(
                store: parts.store, loginWithAmazon: amazon, clock: parts.clock, now: parts.monotonic, log: parts.log),
            clock: parts.clock, now: parts.monotonic, log: parts.log, traces: traces)
    }
}
