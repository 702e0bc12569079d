import Alexa
import Crypto
import LinkMessages
import Telemetry
import Time

/// Ends an attempt: what came back from Amazon becomes a link, or a reason why not.
///
/// From top to bottom: the state, Amazon's tokens, the regions, a pending link in the store, and then what
/// ``LinkEnabling`` does with it. The work goes on when the app leaves, since Amazon's code is spent by then.
struct LinkFinishing: Sendable {
    /// How long Login with Amazon, the regions and the store may take; enablement has time of its own.
    static let preparingTime = Duration.seconds(12)

    /// From where an attempt is ended.
    enum Place: Sendable, Hashable {
        /// The company's app, which proved its user by a token.
        case app
        /// A browser at the attempt's redirect URL, known by its mark.
        case browser(mark: String)
    }

    /// What became of an attempt.
    struct Ending: Sendable {
        let traceID: TraceID
        /// The link, which may be pending still.
        let outcome: Result<Link, LinkFault>
    }

    let store: any LinkStore & GrantStore & TraceStore
    let skills: LinkSkills
    let loginWithAmazon: LoginWithAmazon
    let enabling: LinkEnabling
    let clock: WallClock
    let now: @Sendable () -> ContinuousClock.Instant
    let log: Log
    let traces: TraceRecorder

    /// The attempt of a state, provided that it is good for this user at this place; it stays unused.
    func attempt(
        of state: String, subject: String, place: Place, by deadline: Deadline
    ) async throws(LinkFault) -> LinkAttempt {
        let stored: LinkAttempt?
        do throws(LinkStoreError) {
            stored = try await store.attempt(stateHash: linkStateHash(state), by: deadline)
        } catch { throw unavailable(error) }
        guard let attempt = stored else { throw .stateUnknown }
        // Nobody learns of another user's attempt more than that it is another's, and it stays good for its user.
        guard attempt.subject == subject else { throw .stateOfOtherUser }
        if case .browser(let mark) = place, let browser = attempt.browser, browser != mark {
            throw .stateOfOtherBrowser
        }
        guard attempt.usedAt == nil else { throw .stateReused }
        guard clock() < attempt.expiresAt else { throw .stateExpired }
        return attempt
    }

    /// Ends the attempt that `redirect` belongs to; `pending` is called once it is stored what is tried.
    ///
    /// Nothing ends it early: a caller that cannot wait leaves, and asks for the status later.
    func finish(
        _ redirect: LinkRedirect, user: LinkUser, place: Place, expected: String? = nil,
        pending: @escaping @Sendable (Link, TraceID) -> Void = { _, _ in }
    ) async -> Ending {
        await Task {
            await ended(redirect, user: user, place: place, expected: expected, pending: pending)
        }.value
    }

    private func ended(
        _ redirect: LinkRedirect, user: LinkUser, place: Place, expected: String?,
        pending: @Sendable (Link, TraceID) -> Void
    ) async -> Ending {
        let startedAt = clock()
        let start = now()
        let deadline = Deadline.after(Self.preparingTime, from: start)
        let attempt: LinkAttempt
        do throws(LinkFault) {
            attempt = try await self.attempt(of: redirect.state, subject: user.subject, place: place, by: deadline)
            // The whole address that came back must be the one that the attempt was made for.
            if let expected, !LinkRedirect.isReturn(expected, to: attempt.redirectURI) { throw .stateOfOtherSkill }
        } catch {
            let trace = Trace(.link, startedAt: startedAt, start: start)
            trace.belongs(to: user.subject)
            trace.step("state", .refused, reason: error.code, from: start, to: now())
            return await close(trace, earlier: nil, .failure(error))
        }
        let trace = Trace(.link, id: TraceID(attempt.traceID), startedAt: startedAt, start: start)
        trace.belongs(to: user.subject)
        let earlier = (try? await store.trace(id: attempt.traceID)) ?? nil
        do throws(LinkFault) {
            let link = try await link(
                redirect, attempt, user, LinkTrace(trace: trace, now: now), by: deadline
            ) { pending($0, trace.id) }
            return await close(trace, earlier: earlier, .success(link))
        } catch {
            return await close(trace, earlier: earlier, .failure(error))
        }
    }

    private func link(
        _ redirect: LinkRedirect, _ attempt: LinkAttempt, _ user: LinkUser, _ trace: LinkTrace,
        by deadline: Deadline, pending: (Link) -> Void
    ) async throws(LinkFault) -> Link {
        guard let skill = skills[attempt.skill] else { throw .noSuchSkill }
        try await trace.step("state") { () async throws(LinkFault) in
            let isFirst: Bool
            do throws(LinkStoreError) {
                isFirst = try await store.spend(stateHash: attempt.stateHash, at: clock(), by: deadline)
            } catch { throw unavailable(error) }
            guard isFirst else { throw .stateReused }
        }
        let code: AmazonCode
        switch redirect {
        case .error(let error, _, _):
            return try await trace.step("redirect") { () async throws(LinkFault) in throw .returned(error) }
        case .code(let text, _, _):
            trace.mark("redirect")
            code = AmazonCode(Secret(text))
        }
        let tokens = try await trace.step("exchange") { () async throws(LinkFault) in
            try await exchange(code, attempt, skill, by: deadline)
        }
        let link = try await enabling.begin(attempt, skill, user, tokens, trace, by: deadline)
        pending(link.link)
        return try await enabling.enable(link, trace)
    }

    private func exchange(
        _ code: AmazonCode, _ attempt: LinkAttempt, _ skill: LinkSkill, by deadline: Deadline
    ) async throws(LinkFault) -> AmazonCredentials {
        let tokens: AmazonTokens
        do throws(LoginWithAmazonError) {
            tokens = try await loginWithAmazon.exchange(
                code: code, client: skill.amazonClient, redirectURI: attempt.redirectURI,
                codeVerifier: attempt.verifier, by: deadline)
        } catch { throw .exchange(error) }
        guard let refreshToken = tokens.refreshToken else { throw .noRefreshToken }
        return AmazonCredentials(
            accessToken: tokens.accessToken, refreshToken: refreshToken,
            expiresAt: clock().adding(seconds: tokens.lifetimeSeconds))
    }

    /// Notes that a browser was turned away before any attempt was gone on with, at that step; gives the id for support.
    func turnedAway(_ fault: LinkFault, at step: StaticString, subject: String?) -> TraceID {
        let start = now()
        // What a stranger can bring about is not kept among the links.
        let trace = Trace(subject == nil ? .other : .link, startedAt: clock(), start: start)
        if let subject { trace.belongs(to: subject) }
        let outcome: TraceOutcome = fault.status >= 500 ? .failed : .refused
        trace.step(step, outcome, reason: fault.code, from: start, to: start)
        traces.finish(trace.record(outcome, reason: fault.code, end: start))
        log.notice("a page of linking is refused", .traceID(trace.id), .rejection(fault.code))
        return trace.id
    }

    private func close(
        _ trace: Trace, earlier: TraceRecord?, _ outcome: Result<Link, LinkFault>
    ) async -> Ending {
        let fault: LinkFault? = if case .failure(let fault) = outcome { fault } else { nil }
        let isFault = fault.map { $0.status >= 500 } ?? false
        let record = trace.record(
            fault == nil ? .ok : isFault ? .failed : .refused, reason: fault?.code, end: now())
        traces.finish(earlier.map { record.following($0) } ?? record)
        if let fault {
            log.write(
                isFault ? .error : .notice, "accounts are not linked", [.traceID(trace.id), .rejection(fault.code)])
        } else if case .success(let link) = outcome {
            log.info("accounts are linked", .traceID(trace.id), .skill(link.skill), .outcome(link.status.rawValue))
        }
        return Ending(traceID: trace.id, outcome: outcome)
    }

    private func unavailable(_ error: LinkStoreError) -> LinkFault {
        log.error("the store of links does not answer", .detail("\(error)"))
        return .store
    }
}

/// Notes the steps of an attempt as they are done.
struct LinkTrace: Sendable {
    let trace: Trace
    let now: @Sendable () -> ContinuousClock.Instant

    /// Runs a step and notes how it ended.
    func step<Value>(
        _ name: StaticString, _ work: () async throws(LinkFault) -> Value
    ) async throws(LinkFault) -> Value {
        let begin = now()
        do throws(LinkFault) {
            let value = try await work()
            trace.step(name, .ok, from: begin, to: now())
            return value
        } catch {
            trace.step(name, error.status >= 500 ? .failed : .refused, reason: error.code, from: begin, to: now())
            throw error
        }
    }

    /// Notes a step that takes no time.
    func mark(_ name: StaticString, _ outcome: TraceOutcome = .ok, reason: String? = nil) {
        trace.step(name, outcome, reason: reason, from: now(), to: now())
    }
}
