import Alexa
import Crypto
import LinkMessages
import Telemetry
import Time

/// Begins an attempt: makes or takes the state, binds it to its user, and gives out the two addresses.
struct LinkStarting: Sendable {
    /// How long a state is good.
    static let seconds: Int64 = 3600

    /// What an attempt begins with.
    struct Wish: Sendable {
        let subject: String
        let skill: LinkSkill
        let flow: Link.Flow
        /// The app's own state; nil has one made.
        var state: String?
        /// One of the skill's; nil takes the first.
        var redirectURI: String?
        /// The mark of the browser that begins, on the web.
        var browser: String?
        var returnURL: String?
    }

    /// Where the user goes now.
    struct Start: Sendable {
        let state: String
        let alexaAppURL: String
        let loginWithAmazonURL: String
        let traceID: String
    }

    let store: any LinkStore
    let amazon: Configuration.Amazon
    let clock: WallClock
    let now: @Sendable () -> ContinuousClock.Instant
    let log: Log
    let traces: TraceRecorder

    /// Begins an attempt.
    func start(_ wish: Wish, by deadline: Deadline) async throws(LinkFault) -> Start {
        let trace = Trace(.link, startedAt: clock(), start: now())
        let begin = now()
        trace.belongs(to: wish.subject)
        trace.note("skill", wish.skill.name)
        trace.note("flow", wish.flow.rawValue)
        do throws(LinkFault) {
            let start = try await begun(wish, trace, by: deadline)
            trace.step("start", .ok, from: begin, to: now())
            traces.finish(trace.record(.ok, end: now()))
            return start
        } catch {
            trace.step("start", .refused, reason: error.code, from: begin, to: now())
            traces.finish(trace.record(.refused, reason: error.code, end: now()))
            log.notice("a link is not begun", .traceID(trace.id), .rejection(error.code), .skill(wish.skill.name))
            throw error
        }
    }

    private func begun(_ wish: Wish, _ trace: Trace, by deadline: Deadline) async throws(LinkFault) -> Start {
        let skill = wish.skill
        guard let redirectURI = wish.redirectURI ?? skill.redirectURLs.first,
            skill.redirectURLs.contains(where: { Array($0.utf8) == Array(redirectURI.utf8) })
        else { throw .redirectNotAllowed }
        if let url = wish.returnURL, !skill.returnURLs.contains(url) { throw .returnNotAllowed }
        let time = clock()
        let state = try state(wish, at: time)
        let verifier = skill.usesPKCE ? Secret(SecureRandom.token()) : nil
        let attempt = LinkAttempt(
            stateHash: linkStateHash(state), subject: wish.subject, skill: skill.name, redirectURI: redirectURI,
            verifier: verifier, flow: wish.flow, browser: wish.browser, returnURL: wish.returnURL,
            traceID: trace.id.text, createdAt: time, expiresAt: time.adding(seconds: Self.seconds))
        let isNew: Bool
        do throws(LinkStoreError) { isNew = try await store.add(attempt, by: deadline) } catch { throw tell(error) }
        guard isNew else { throw .stateTaken }
        let challenge = verifier.map { Base64URL.encode(SHA256.digest($0.exposed)) }
        return Start(
            state: state,
            alexaAppURL: LinkAddresses.alexaApp(
                base: amazon.alexaAppURL, clientID: skill.amazonClient.id, stage: skill.stage,
                redirectURI: redirectURI, state: state, challenge: challenge),
            loginWithAmazonURL: LinkAddresses.loginWithAmazon(
                base: amazon.lwaAuthorizeURL, clientID: skill.amazonClient.id, redirectURI: redirectURI,
                state: state, challenge: challenge), traceID: trace.id.text)
    }

    private func state(_ wish: Wish, at time: UnixTime) throws(LinkFault) -> String {
        guard let state = wish.state, !state.isEmpty else {
            return LinkState.make(
                prefix: wish.flow == .web ? "web" : "srv", at: time.seconds, random: SecureRandom.bytes(30))
        }
        guard (LinkState.minimumLength...LinkState.maximumLength).contains(state.utf8.count),
            LinkState.isAllowed(state)
        else { throw .stateMalformed }
        return state
    }

    private func tell(_ error: LinkStoreError) -> LinkFault {
        log.error("an attempt to link cannot be stored", .detail("\(error)"))
        return .store
    }
}

/// The hash that a state is stored by.
func linkStateHash(_ state: String) -> String { Hex.encode(SHA256.digest(state)) }
