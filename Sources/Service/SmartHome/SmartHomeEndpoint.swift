public import Alexa
import Crypto
public import HTTP
public import OAuth
public import Telemetry
public import Time

/// Answers `POST /alexa/smart-home`: the directives that a Lambda forwarder hands on.
///
/// From top to bottom: the forwarder's proof, which skill and region, the directive, the account, the answer. Where
/// something fails, one switch decides what is said. AcceptGrant and Discover are taken, with no endpoints yet.
public final class SmartHomeEndpoint: Sendable {
    /// How long an answer may take: Alexa waits eight seconds.
    public static let timeLimit = Duration.seconds(7)
    /// How long taking a grant may take in all.
    public static let grantTimeLimit = Duration.seconds(6)

    /// What a request must prove.
    public enum Proof: Sendable {
        /// That the forwarder sent it.
        case forwarder(ForwarderVerifier)
        /// Nothing, in development alone; the body may be nested that deep.
        case none(maximumDepth: Int = 64)
    }

    private let skills: [SmartHomeSkill]
    private let proof: Proof
    private let validator: TokenValidator
    private let grants: GrantTaking
    private let telemetry: SmartHomeTelemetry
    private let clock: WallClock
    private let now: @Sendable () -> ContinuousClock.Instant
    private let responseLimitBytes: Int

    /// An endpoint for `skills`.
    ///
    /// - Parameters:
    ///   - skills: the skills that take directives, each with a name of its own.
    ///   - proof: what a request must prove.
    ///   - validator: judges the accounts' tokens.
    ///   - loginWithAmazon: where the codes of AcceptGrant are exchanged.
    ///   - store: keeps the grants.
    ///   - clock: the time of day.
    ///   - now: the monotonic clock.
    ///   - log: gets one line a directive.
    ///   - metrics: counts directives and refusals.
    ///   - drift: watches the forwarder's clock.
    ///   - traces: keeps the steps of refused and failed directives.
    ///   - responseLimitBytes: how long an answer may be.
    public init(
        skills: [SmartHomeSkill], proof: Proof, validator: TokenValidator, loginWithAmazon: LoginWithAmazon,
        store: any GrantStore, clock: @escaping WallClock,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }, log: Log, metrics: Metrics,
        drift: ClockDrift, traces: TraceRecorder?, responseLimitBytes: Int = 5 * 1024 * 1024
    ) {
        self.skills = skills
        self.proof = proof
        self.validator = validator
        self.clock = clock
        self.now = now
        self.responseLimitBytes = responseLimitBytes
        grants = GrantTaking(store: store, loginWithAmazon: loginWithAmazon, clock: clock, now: now, log: log)
        telemetry = SmartHomeTelemetry(log: log, metrics: metrics, drift: drift, traces: traces)
    }

    /// The route.
    public var route: Route {
        Route(.post, "/alexa/smart-home", timeLimit: Self.timeLimit, mediaType: "application/json") { request, _ in
            await self.respond(to: request)
        }
    }

    /// The answer to a directive as it arrived.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        var progress = SmartHomeProgress(startedAt: clock(), start: now())
        do throws(SmartHomeFailure) {
            let verified = try verify(request)
            let (skill, region) = try addressee(of: request)
            progress.skill = skill.name
            progress.region = region?.rawValue
            let directive = try decode(verified)
            progress.directive = directive.countedName
            progress.messageID = directive.header.messageID
            request.lateAnswer.response = lateAnswer(to: directive.echo)
            let body = try await answer(to: directive, skill, region, request, &progress).encoded()
            guard body.count <= responseLimitBytes else {
                throw .tooLong(bytes: body.count, limit: responseLimitBytes, directive.echo)
            }
            telemetry.answered(progress, end: now())
            return .skill(body)
        } catch {
            telemetry.failed(error, progress, end: now())
            return response(to: error, progress.trace.id)
        }
    }

    // MARK: - What is said where something fails

    private func response(to failure: SmartHomeFailure, _ traceID: TraceID) -> HTTPResponse {
        switch failure {
        case .unproven(.bodyUnreadable(let reason)):
            return Problem(status: 400, code: failure.reasonCode, detail: reason, traceID: traceID).response
        case .unproven:
            // Whoever cannot prove to be the forwarder learns no reason; the operator finds it in log and trace.
            var response = Problem(status: 401, code: "forwarder.unproven", traceID: traceID).response
            response.fields["WWW-Authenticate"] = "Skillgate-Forwarder"
            return response
        case .query(let fault):
            return Problem(status: 400, code: fault.rawValue, detail: fault.detail, traceID: traceID).response
        case .unreadable(let rejection): return .skill(Event.errorResponse(to: rejection).encoded())
        case .unknown(let echo): return errorResponse(echo, .invalidDirective, failure)
        case .token(let rejection, let echo): return errorResponse(echo, type(of: rejection), failure)
        case .tooLong(_, _, let echo): return errorResponse(echo, .internalError, failure)
        case .grant(_, let echo): return errorResponse(echo, .acceptGrantFailed, failure)
        }
    }

    private func errorResponse(
        _ echo: DirectiveEcho, _ type: SmartHomeErrorType, _ failure: SmartHomeFailure
    ) -> HTTPResponse {
        let type = echo.namespace == SmartHomeErrorType.acceptGrantFailed.namespace ? .acceptGrantFailed : type
        return .skill(Event.errorResponse(to: echo, type, message: failure.reasonCode).encoded())
    }

    private func type(of rejection: TokenRejection) -> SmartHomeErrorType {
        switch rejection {
        // Alexa refreshes the token on this one alone.
        case .expired: .expiredAuthorizationCredential
        // Nothing is known against the token, so Alexa must not drop it.
        case .providerUnreachable: .internalError
        case .missing, .malformed, .algorithm, .badSignature, .unknownKey, .wrongIssuer, .wrongAudience, .wrongClient,
            .notYetValid, .revoked, .lacksScope:
            .invalidAuthorizationCredential
        }
    }

    /// What leaves if the time is up before the answer is there.
    private func lateAnswer(to echo: DirectiveEcho) -> HTTPResponse {
        let isGrant = echo.namespace == SmartHomeErrorType.acceptGrantFailed.namespace
        return .skill(
            Event.errorResponse(to: echo, isGrant ? .acceptGrantFailed : .internalError, message: "time is up")
                .encoded())
    }

    // MARK: - Steps

    private func verify(_ request: HTTPRequest) throws(SmartHomeFailure) -> VerifiedRequest {
        do throws(RequestRejection) {
            switch proof {
            case .forwarder(let verifier): return try verifier.verify(request)
            case .none(let depth): return try VerifiedRequest.invoked(with: request.body, maximumDepth: depth)
            }
        } catch { throw .unproven(error) }
    }

    /// The skill and region that the address names, or that need no naming.
    private func addressee(
        of request: HTTPRequest
    ) throws(SmartHomeFailure) -> (skill: SmartHomeSkill, region: AlexaRegion?) {
        guard let query = Form(decoding: request.query ?? ""), query.values("skill").count <= 1,
            query.values("region").count <= 1
        else { throw .query(.malformed) }
        let skill: SmartHomeSkill
        if let name = query["skill"] {
            guard let named = skills.first(where: { $0.name == name }) else { throw .query(.unknownSkill) }
            skill = named
        } else {
            guard skills.count == 1 else { throw .query(.skillNotNamed) }
            skill = skills[0]
        }
        guard let name = query["region"] else { return (skill, skill.events?.region) }
        guard let region = AlexaRegion(rawValue: name) else { throw .query(.unknownRegion) }
        return (skill, region)
    }

    private func decode(_ verified: VerifiedRequest) throws(SmartHomeFailure) -> Directive {
        do throws(DirectiveRejection) { return try Directive(decoding: verified) } catch { throw .unreadable(error) }
    }

    private func answer(
        to directive: Directive, _ skill: SmartHomeSkill, _ region: AlexaRegion?, _ request: HTTPRequest,
        _ progress: inout SmartHomeProgress
    ) async throws(SmartHomeFailure) -> Event {
        let acceptGrant: AcceptGrant?
        do throws(DirectiveRejection) { acceptGrant = try AcceptGrant(directive) } catch { throw .unreadable(error) }
        if let acceptGrant {
            let deadline = request.deadline.limited(to: Self.grantTimeLimit, from: progress.start)
            try await take(acceptGrant, skill, region, by: deadline, &progress)
            return .acceptGrantResponse()
        }
        if let discover = Discover(directive) {
            _ = try await principal(discover.token, skill, discover.echo, by: request.deadline, progress)
            return .discoverResponse(endpoints: [])
        }
        throw .unknown(directive.echo)
    }

    private func principal(
        _ token: Secret?, _ skill: SmartHomeSkill, _ echo: DirectiveEcho, by deadline: Deadline,
        _ progress: SmartHomeProgress
    ) async throws(SmartHomeFailure) -> Principal {
        let begin = now()
        do throws(TokenRejection) {
            let principal = try await validator.principal(
                for: token, client: skill.providerClient, scopes: skill.scopes, by: deadline)
            progress.trace.step("account", .ok, from: begin, to: now())
            progress.trace.belongs(to: principal.subject)
            return principal
        } catch {
            progress.trace.step("account", .refused, reason: error.reasonCode, from: begin, to: now())
            throw .token(error, echo)
        }
    }

    private func take(
        _ acceptGrant: AcceptGrant, _ skill: SmartHomeSkill, _ region: AlexaRegion?, by deadline: Deadline,
        _ progress: inout SmartHomeProgress
    ) async throws(SmartHomeFailure) {
        let echo = acceptGrant.echo
        progress.codeHash = String(GrantTaking.hash(of: acceptGrant.code).prefix(8))
        let principal = try await principal(acceptGrant.granteeToken, skill, echo, by: deadline, progress)
        guard let events = skill.events else { throw .grant(reasonCode: "grant.eventsNotConfigured", echo) }
        let key = GrantKey(
            source: .events, subject: principal.subject, skill: skill.name, region: region ?? events.region,
            providerGrantID: principal.grantID)
        let outcome = await grants.outcome(
            code: acceptGrant.code, client: events.client, key: key, by: deadline, trace: progress.trace)
        if case .refused(let reasonCode) = outcome { throw .grant(reasonCode: reasonCode, echo) }
    }
}

extension Directive {
    /// Namespace and name as they are counted: those not taken together, since there is no end of them.
    fileprivate var countedName: String {
        switch (header.namespace, header.name) {
        case ("Alexa.Authorization", "AcceptGrant"), ("Alexa.Discovery", "Discover"):
            header.namespace + "." + header.name
        default: "other"
        }
    }
}
