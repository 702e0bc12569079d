public import Alexa
import Concurrency
public import HTTP
import JSON
public import OAuth
public import Telemetry
public import Time

/// Answers `POST /alexa/custom`: signed custom-skill requests and skill events.
///
/// From top to bottom: the request is verified, decoded, given to its skill; the account's token is judged, resources
/// are fetched, the answer is held against Alexa's limits. Where something fails, one switch decides what is said.
/// A request whose chain and token are kept and that needs no resource is answered without leaving its thread.
public final class CustomSkillEndpoint: Sendable {
    /// How long an answer may take: Alexa waits eight seconds.
    public static let timeLimit = Duration.seconds(7)

    private let verifier: RequestVerifier
    private let skills: [String: MountedSkill]
    private let validator: TokenValidator
    private let resources: ResourceClient
    private let telemetry: SkillTelemetry
    private let events: SkillEvents
    private let clock: WallClock
    private let now: @Sendable () -> ContinuousClock.Instant
    private let responseLimitBytes: Int
    private let joins: (any AlexaUserJoins)?

    /// An endpoint for `skills`.
    ///
    /// - Parameters:
    ///   - skills: the skills, each with an id of its own.
    ///   - verifier: proves that Alexa sent a request, for the ids of those skills.
    ///   - validator: judges the accounts' tokens.
    ///   - resources: fetches what the provider holds.
    ///   - texts: what the service says by itself.
    ///   - clock: the time of day.
    ///   - now: the monotonic clock.
    ///   - log: gets one line a request.
    ///   - metrics: counts requests and refusals.
    ///   - drift: watches the requests' timestamps.
    ///   - traces: keeps the steps of refused and failed requests.
    ///   - joins: keeps which Alexa user is which user of the provider.
    ///   - responseLimitBytes: how long an answer may be.
    public init(
        skills: [Skill], verifier: RequestVerifier, validator: TokenValidator, resources: ResourceClient,
        texts: ServiceTexts = ServiceTexts(), clock: @escaping WallClock,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }, log: Log, metrics: Metrics,
        drift: ClockDrift, traces: TraceRecorder?, joins: (any AlexaUserJoins)? = nil,
        responseLimitBytes: Int = 24 * 1024
    ) {
        self.joins = joins
        self.verifier = verifier
        self.validator = validator
        self.resources = resources
        self.clock = clock
        self.now = now
        self.responseLimitBytes = responseLimitBytes
        telemetry = SkillTelemetry(log: log, metrics: metrics, drift: drift, traces: traces)
        events = SkillEvents(validator: validator, resources: resources)
        self.skills = Dictionary(
            skills.map { ($0.id, MountedSkill($0, texts: texts)) }, uniquingKeysWith: { first, _ in first })
    }

    /// The path.
    static let path = "/alexa/custom"

    /// The route.
    public var route: Route {
        Route(.post, Self.path, timeLimit: Self.timeLimit, mediaType: "application/json") { request, _ in
            await self.respond(to: request)
        }
    }

    /// The answer to a request as it arrived.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        var progress = SkillProgress(startedAt: clock(), start: now())
        do throws(RequestRejection) {
            let verified = try await verifier.verify(request)
            progress.verified = now()
            let envelope = try RequestEnvelope(decoding: verified)
            progress.decoded = now()
            guard let skill = envelope.applicationID.flatMap({ skills[$0] }) else { throw .skillUnknown }
            request.lateAnswer.response = skill.lateAnswer(to: envelope)
            return await respond(to: envelope, of: skill, by: request.deadline, &progress)
        } catch {
            // Whoever is refused learns nothing; the operator finds the reason in log and trace.
            telemetry.rejected(error, progress, end: now())
            return HTTPResponse(status: 400)
        }
    }

    private func respond(
        to envelope: RequestEnvelope, of skill: MountedSkill, by deadline: Deadline, _ progress: inout SkillProgress
    ) async -> HTTPResponse {
        telemetry.drift.accepted(
            differenceSeconds: Int(envelope.header.timestamp.milliseconds(since: progress.startedAt) / 1000))
        let permitted = envelope.permittedAnswer
        let body: [UInt8]
        do throws(SkillFailure) {
            let response: SkillResponse
            switch permitted {
            case .full: response = try await spoken(envelope, skill, deadline, &progress)
            case .limited(.canFulfillIntent): response = canFulfill(envelope, skill)
            case .limited(.directives), .empty: response = try await silent(envelope, skill, deadline, &progress)
            }
            do { body = try response.encoded(limitBytes: responseLimitBytes, permitted: permitted) } catch {
                throw .answer(error)
            }
            telemetry.answered(envelope, skill.skill, progress, end: now())
        } catch {
            telemetry.failed(error, envelope, skill.skill, progress, end: now())
            if case .skillEvent = envelope.request, error.isWorthRepeating {
                events.failed(envelope.header.requestID)
                return .eventNotTaken
            }
            return skill.answer(permitted == .full ? response(to: error, skill, envelope) : .empty)
        }
        return .skill(body)
    }

    // MARK: - What is said where something fails

    private func response(to failure: SkillFailure, _ skill: MountedSkill, _ envelope: RequestEnvelope) -> SkillResponse
    {
        let builtIn = skill.builtIn
        let locale = envelope.locale
        switch failure {
        case .token(let rejection):
            switch rejection {
            case .missing: return builtIn.closing(.linkNeeded, locale, card: .linkAccount)
            case .lacksScope: return builtIn.closing(.scopeNeeded, locale, card: .linkAccount)
            // Nothing is known against the token, so linking again would help nobody.
            case .providerUnreachable: return builtIn.closing(.apology, locale)
            case .malformed, .algorithm, .badSignature, .unknownKey, .wrongIssuer, .wrongAudience, .wrongClient,
                .notYetValid, .expired, .revoked:
                return builtIn.closing(.tokenExpired, locale, card: .linkAccount)
            }
        case .permissions(let scopes):
            return builtIn.closing(.permissionNeeded, locale, card: .askForPermissionsConsent(scopes))
        // The provider's own server refuses the token, so only linking again helps.
        case .resource where failure.refusedToken != nil:
            return builtIn.closing(.tokenExpired, locale, card: .linkAccount)
        case .slotMissing: return keepingAttributes(builtIn.help(locale), envelope)
        case .resource, .valueMissing, .handler, .joins, .answer: return builtIn.closing(.apology, locale)
        }
    }

    // MARK: - Requests that take speech

    private func spoken(
        _ envelope: RequestEnvelope, _ skill: MountedSkill, _ deadline: Deadline, _ progress: inout SkillProgress
    ) async throws(SkillFailure) -> SkillResponse {
        let answerer = skill.skill.answerer(for: envelope)
        var principal: Principal?
        var rejection: TokenRejection?
        if answerer.account != .ignored {
            do throws(TokenRejection) {
                principal = try await self.principal(envelope, skill.skill, deadline)
            } catch {
                // Asked for a card, the user could link; with an optional account there is an answer without it.
                if answerer.account == .required { throw .token(error) }
                rejection = error
                telemetry.tokenPassedOver(error)
            }
            progress.judged = now()
            progress.subject = principal?.subject
        }
        switch answerer {
        case .builtIn:
            let response = skill.builtIn.answer(to: envelope.request, locale: envelope.locale)
            return keepingAttributes(response, envelope)
        case .rule(let rule):
            let response: SkillResponse
            do throws(SkillFailure) {
                response = try await answer(of: rule, envelope, skill, principal, rejection, deadline)
            } catch {
                forgetRefusedToken(error, principal)
                guard rule.account == .optional, let refusal = error.refusedToken else { throw error }
                // The account is as good as not linked, and the rule has an answer for that.
                telemetry.tokenPassedOver(refusal)
                response = try await answer(of: rule, envelope, skill, nil, refusal, deadline)
            }
            return keepingAttributes(response, envelope)
        case .handler(let handler):
            return try await answer(of: handler, envelope, principal, deadline)
        }
    }

    private func principal(
        _ envelope: RequestEnvelope, _ skill: Skill, _ deadline: Deadline
    ) async throws(TokenRejection) -> Principal {
        let principal = try await validator.principal(
            for: envelope.accessToken, client: skill.providerClient, scopes: skill.scopes, by: deadline)
        if let userID = envelope.userID {
            events.saw(userID, as: principal.subject)
            joins?.saw(userID, of: skill.name, as: principal, region: envelope.region)
        }
        return principal
    }

    private func answer(
        of rule: RequestRule, _ envelope: RequestEnvelope, _ skill: MountedSkill, _ principal: Principal?,
        _ rejection: TokenRejection?, _ deadline: Deadline
    ) async throws(SkillFailure) -> SkillResponse {
        let call = SkillCall(envelope: envelope, principal: principal, deadline: deadline, resources: resources)
        return try await rule.answer(
            to: call, defaultLocale: skill.builtIn.defaultLocale, tokenRejection: rejection)
    }

    private func answer(
        of handler: any SkillHandler, _ envelope: RequestEnvelope, _ principal: Principal?, _ deadline: Deadline
    ) async throws(SkillFailure) -> SkillResponse {
        let call = SkillCall(envelope: envelope, principal: principal, deadline: deadline, resources: resources)
        do { return try await handler.respond(to: call) } catch {
            // An error may hold anything, so its type alone is noted.
            let failure =
                (error as? ResourceFailure).map(SkillFailure.resource)
                ?? (error as? TokenRejection).map(SkillFailure.token)
                ?? .handler(type: String(describing: type(of: error)))
            forgetRefusedToken(failure, principal)
            throw failure
        }
    }

    /// A token that the resource server refuses is not good any more, whatever was found before.
    private func forgetRefusedToken(_ failure: SkillFailure, _ principal: Principal?) {
        guard failure.refusedToken != nil, let principal else { return }
        validator.forget(token: principal.token)
    }

    /// Attributes are lost unless an answer brings them back, so a declared answer that goes on listening does.
    private func keepingAttributes(_ response: SkillResponse, _ envelope: RequestEnvelope) -> SkillResponse {
        guard response.shouldEndSession == false, let attributes = envelope.session?.attributes else { return response }
        var response = response
        response.sessionAttributes = attributes
        return response
    }

    // MARK: - Requests that take none

    private func canFulfill(_ envelope: RequestEnvelope, _ skill: MountedSkill) -> SkillResponse {
        guard case .canFulfillIntent(let request) = envelope.request else { return .empty }
        return SkillResponse(
            canFulfillIntent: skill.skill.canFulfill(request, hasToken: envelope.accessToken != nil))
    }

    /// What an event says of who is linked.
    private func join(
        _ event: SkillEvent, _ envelope: RequestEnvelope, _ skill: Skill, _ deadline: Deadline
    ) async throws(SkillFailure) {
        guard let joins, let userID = envelope.userID else { return }
        if event.kind == .disabled {
            do {
                try await joins.disabled(
                    userID, of: skill.name, at: event.createdAt ?? envelope.header.timestamp,
                    token: envelope.accessToken)
            } catch { throw .joins }
            return
        }
        guard let token = event.accessToken ?? envelope.accessToken else { return }
        do throws(TokenRejection) {
            let principal = try await validator.principal(
                for: token, client: skill.providerClient, scopes: [], by: deadline)
            joins.saw(userID, of: skill.name, as: principal, region: envelope.region)
        } catch { telemetry.tokenPassedOver(error) }
    }

    private func silent(
        _ envelope: RequestEnvelope, _ skill: MountedSkill, _ deadline: Deadline, _ progress: inout SkillProgress
    ) async throws(SkillFailure) -> SkillResponse {
        switch envelope.request {
        case .skillEvent(let event):
            // Events are delivered at least once: a second copy is acknowledged and does nothing.
            guard events.isFirst(envelope.header.requestID) else { return .empty }
            events.received(event, in: envelope)
            try await join(event, envelope, skill.skill, deadline)
        case .other: telemetry.unknownType()
        default: break
        }
        guard let handler = skill.skill.handlers[envelope.header.type] else { return .empty }
        var principal: Principal?
        if handler.account != .ignored {
            do throws(TokenRejection) {
                principal = try await self.principal(envelope, skill.skill, deadline)
            } catch {
                if handler.account == .required { throw .token(error) }
            }
            progress.judged = now()
        }
        return try await answer(of: handler, envelope, principal, deadline)
    }
}

extension HTTPResponse {
    /// What is said to an event that must come again: Alexa repeats what is not acknowledged by a 200.
    static let eventNotTaken = HTTPResponse(status: 503)

    /// An answer to Alexa.
    static func skill(_ body: [UInt8]) -> HTTPResponse {
        HTTPResponse(status: 200, fields: skillFields, body: body)
    }

    private static let skillFields: HTTPFields = ["Content-Type": "application/json;charset=UTF-8"]
}

extension RequestEnvelope {
    /// The region that the request came from, by the API that it names for answers.
    fileprivate var region: AlexaRegion? {
        guard let endpoint = context.apiEndpoint else { return nil }
        return SkillEnablement.usualAddresses.first { $0.value == endpoint }?.key
    }
}
