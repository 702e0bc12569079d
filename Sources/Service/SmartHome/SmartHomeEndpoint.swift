public import Alexa
import Crypto
public import HTTP
import JSON
public import OAuth
public import Telemetry
public import Time

/// Answers `POST /alexa/smart-home`: the directives that a Lambda forwarder hands on.
///
/// From top to bottom: the forwarder's proof, which skill and region, the directive, the account, what the provider's
/// server says, the event. Where something fails, `SmartHomeFailure` knows which error stands for it.
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
    private let devices: DeviceAnswers
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
    ///   - grants: keeps the grants.
    ///   - endpointIDs: keeps those ids of devices that are too long for Alexa.
    ///   - devices: the provider's server of devices.
    ///   - reporting: is told what directives bring to light.
    ///   - clock: the time of day.
    ///   - now: the monotonic clock.
    ///   - log: gets one line a directive.
    ///   - metrics: counts directives and refusals.
    ///   - drift: watches the forwarder's clock.
    ///   - traces: keeps the steps of refused and failed directives.
    ///   - endpointLimit: how many endpoints a discovery may have.
    ///   - responseLimitBytes: how long an answer may be.
    public init(
        skills: [SmartHomeSkill], proof: Proof, validator: TokenValidator, loginWithAmazon: LoginWithAmazon,
        grants: any GrantStore, endpointIDs: any EndpointIDStore, devices: DeviceClient,
        reporting: (any DeviceReporting)? = nil,
        clock: @escaping WallClock, now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now },
        log: Log, metrics: Metrics, drift: ClockDrift, traces: TraceRecorder?, endpointLimit: Int = 300,
        responseLimitBytes: Int = 5 * 1024 * 1024
    ) {
        self.skills = skills
        self.proof = proof
        self.validator = validator
        self.clock = clock
        self.now = now
        self.responseLimitBytes = responseLimitBytes
        self.grants = GrantTaking(store: grants, loginWithAmazon: loginWithAmazon, clock: clock, now: now, log: log)
        self.devices = DeviceAnswers(
            client: devices, endpointIDs: endpointIDs, reporting: reporting, endpointLimit: endpointLimit,
            answerLimitBytes: responseLimitBytes, clock: clock, now: now, log: log)
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
            let (directive, wish) = try decode(verified, &progress)
            request.lateAnswer.response = lateAnswer(to: progress.echo)
            let deadline = deadline(of: wish, request, progress)
            let principal = try await principal(directive.token, skill, by: deadline, progress)
            let call = DirectiveCall(
                echo: progress.echo, skill: skill, region: region, principal: principal, start: progress.start,
                deadline: deadline, trace: progress.trace)
            let event = try await answer(to: wish, call)
            let body = try encode(event)
            telemetry.answered(progress, end: now())
            return .skill(body)
        } catch {
            telemetry.failed(error, progress, end: now())
            return response(to: error, progress)
        }
    }

    // MARK: - What is said where something fails

    private func response(to failure: SmartHomeFailure, _ progress: SmartHomeProgress) -> HTTPResponse {
        let traceID = progress.trace.id
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
        case .refused, .token, .resource, .endpointUnknown, .store, .grant, .schema, .tooLong:
            let error = failure.error ?? DeclaredError(.internalError)
            return errorResponse(to: progress.echo, error, message: error.message ?? failure.reasonCode)
        }
    }

    private func errorResponse(to echo: DirectiveEcho, _ error: DeclaredError, message: String) -> HTTPResponse {
        // The interface of grants has one error of its own, and no other.
        let isGrant = echo.namespace == SmartHomeErrorType.acceptGrantFailed.namespace
        let type = isGrant ? .acceptGrantFailed : error.type
        return .skill(
            Event.errorResponse(to: echo, type, message: message, details: isGrant ? [:] : error.details).encoded())
    }

    /// What leaves if the time is up before the answer is there.
    private func lateAnswer(to echo: DirectiveEcho) -> HTTPResponse {
        errorResponse(to: echo, DeclaredError(.bridgeUnreachable), message: "time is up")
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

    private func decode(
        _ verified: VerifiedRequest, _ progress: inout SmartHomeProgress
    ) throws(SmartHomeFailure) -> (Directive, Wish) {
        do throws(DirectiveRejection) {
            let directive = try Directive(decoding: verified)
            progress.echo = directive.echo
            progress.directive = directive.countedName
            progress.messageID = directive.header.messageID
            let wish = try Wish(directive)
            if case .acceptGrant(let grant) = wish {
                progress.codeHash = String(GrantTaking.hash(of: grant.code).prefix(8))
            }
            return (directive, wish)
        } catch {
            progress.echo = error.echo
            throw .refused(error)
        }
    }

    private func deadline(of wish: Wish, _ request: HTTPRequest, _ progress: SmartHomeProgress) -> Deadline {
        guard case .acceptGrant = wish else { return request.deadline }
        return request.deadline.limited(to: Self.grantTimeLimit, from: progress.start)
    }

    private func principal(
        _ token: Secret?, _ skill: SmartHomeSkill, by deadline: Deadline, _ progress: SmartHomeProgress
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
            throw .token(error)
        }
    }

    private func answer(to wish: Wish, _ call: DirectiveCall) async throws(SmartHomeFailure) -> Event {
        do throws(SmartHomeFailure) {
            switch wish {
            case .acceptGrant(let grant): return try await take(grant, call)
            case .discover: return try await devices.discover(call)
            case .device(let checked): return try await devices.answer(checked, call)
            }
        } catch {
            // The server that the token was made for does not take it: it is judged anew the next time.
            if error.refusesToken { validator.forget(token: call.principal.token) }
            throw error
        }
    }

    private func take(
        _ grant: AcceptGrant, _ call: DirectiveCall
    ) async throws(SmartHomeFailure) -> Event {
        guard let events = call.skill.events else { throw .grant(reasonCode: "grant.eventsNotConfigured") }
        let key = GrantKey(
            source: .events, subject: call.principal.subject, skill: call.skill.name,
            region: call.region ?? events.region, providerGrantID: call.principal.grantID)
        let outcome = await grants.outcome(
            code: grant.code, client: events.client, key: key, by: call.deadline, trace: call.trace)
        if case .refused(let reasonCode) = outcome { throw .grant(reasonCode: reasonCode) }
        return .acceptGrantResponse()
    }

    /// The event's bytes, unless they would break Alexa's schema or be longer than Alexa takes.
    ///
    /// What is repeated of the directive is not judged: it is right because Alexa sent it.
    private func encode(_ event: Event) throws(SmartHomeFailure) -> [UInt8] {
        var judged = event
        judged.correlationToken = nil
        if event.endpointID != nil { judged.endpointID = "e" }
        // Endpoints were judged one by one, when they joined the list.
        if let violation = judged.violation(endpointsAreJudged: true) { throw .schema(violation) }
        let body = event.encoded()
        guard body.count <= responseLimitBytes else { throw .tooLong(bytes: body.count, limit: responseLimitBytes) }
        return body
    }
}

extension Directive {
    /// Namespace and name as they are counted: those that no interface has together, since there is no end of them.
    fileprivate var countedName: String {
        guard let interface = AlexaInterface.named(header.namespace), interface.directive(header.name) != nil
        else { return "other" }
        return header.namespace + "." + header.name
    }
}
