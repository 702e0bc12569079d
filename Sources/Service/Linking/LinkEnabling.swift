import Alexa
import Crypto
import Telemetry
import Time

/// Has Alexa enable the skill and link the accounts, in the user's region or in all of them at once.
///
/// Each region that is asked has a code of its own, since Alexa redeems it while we wait; no transaction is open and no
/// lock held meanwhile. What is tried stands in the store as a pending link, so that nothing is lost if this process
/// dies.
struct LinkEnabling: Sendable {
    /// How long Alexa may take to enable the skill, whatever the app's own deadline is.
    static let patience = Duration.seconds(25)
    /// How long Alexa may take to say where the user is.
    private static let regionPatience = Duration.seconds(2)
    /// How long the store and withdrawn codes may take.
    private static let storePatience = Duration.seconds(5)
    /// When a link that nobody settled is looked at first: after its own time is over.
    private static let firstLookSeconds: Int64 = 40

    /// A link that is about to be asked of Alexa, with a code for each region.
    struct Begun: Sendable {
        let link: Link
        let skill: LinkSkill
        let redirectURI: String
        let tokens: AmazonCredentials
        let codes: [Offer]
    }

    /// A region and its code.
    struct Offer: Sendable {
        let region: AlexaRegion
        let code: LinkCode
    }

    let links: LinkKeeping
    let codes: any LinkCodes
    let enablement: SkillEnablement
    let loginWithAmazon: LoginWithAmazon
    let clock: WallClock
    let now: @Sendable () -> ContinuousClock.Instant
    let log: Log

    private var storeDeadline: Deadline { .after(Self.storePatience, from: now()) }

    /// Stores what is about to be tried.
    func begin(
        _ attempt: LinkAttempt, _ skill: LinkSkill, _ user: LinkUser, _ tokens: AmazonCredentials, _ trace: LinkTrace,
        by deadline: Deadline
    ) async throws(LinkFault) -> Begun {
        let regions = await regions(tokens, trace, by: deadline)
        let offers = try await trace.step("code") { () async throws(LinkFault) in
            var offers: [Offer] = []
            for region in regions {
                do throws(LinkFault) {
                    let code = try await codes.code(
                        for: user, client: skill.providerClient, redirectURI: attempt.redirectURI, by: deadline)
                    offers.append(Offer(region: region, code: code))
                } catch {
                    await withdraw(offers)
                    throw error
                }
            }
            return offers
        }
        let link = Link(
            id: SecureRandom.uuid(), subject: user.subject, skill: skill.name, stage: skill.stage, flow: attempt.flow,
            status: .pending,
            candidates: offers.map { Link.Candidate(region: $0.region, providerGrantID: $0.code.grantID) },
            linkedAt: clock(), traceID: trace.trace.id.text, dueAt: clock().adding(seconds: Self.firstLookSeconds))
        do throws(LinkFault) {
            try await links.begin(link, tokens, by: deadline)
        } catch {
            await withdraw(offers)
            throw error
        }
        return Begun(link: link, skill: skill, redirectURI: attempt.redirectURI, tokens: tokens, codes: offers)
    }

    /// Asks Alexa, and writes what came of it.
    ///
    /// - Returns: the link; pending where a region said nothing and the others refused.
    func enable(_ begun: Begun, _ trace: LinkTrace) async throws(LinkFault) -> Link {
        var begun = begun
        var answers = await ask(begun, trace)
        if answers.winner == nil, !answers.errors.isEmpty,
            answers.errors.allSatisfy({ $0.error == .tokenRefused }), let fresh = await refreshed(begun)
        {
            // Amazon's token was not taken anywhere: once more with a fresh one.
            begun = fresh
            answers = await ask(begun, trace)
        }
        if let winner = answers.winner {
            await withdraw(begun.codes.filter { $0.region != winner.offer.region })
            return try await trace.step("stored") { () async throws(LinkFault) in
                try await links.settle(
                    begun.link, winner.enablement, in: winner.offer.region, grantID: winner.offer.code.grantID,
                    tokens: begun.tokens, by: storeDeadline)
            }
        }
        // A region that said nothing may have done it; the worker asks later.
        if answers.errors.contains(where: { $0.error == .timedOut || $0.error == .broken }) {
            trace.mark("stored", .skipped, reason: "link.pending")
            return begun.link
        }
        await withdraw(begun.codes)
        await links.drop(begun.link, by: storeDeadline)
        if let error = Self.mostTelling(answers.errors.map(\.error)) { throw .enablement(error) }
        throw .notLinked
    }

    // MARK: - Regions

    private func regions(
        _ tokens: AmazonCredentials, _ trace: LinkTrace, by deadline: Deadline
    ) async -> [AlexaRegion] {
        let begin = now()
        do throws(SkillEnablementError) {
            let regions = try await enablement.regions(
                token: tokens.accessToken, by: deadline.limited(to: Self.regionPatience, from: begin))
            trace.trace.step("region", .ok, from: begin, to: now())
            return regions.isEmpty ? AlexaRegion.allCases : regions
        } catch {
            // Nothing is lost: each of the three is asked.
            trace.trace.step("region", .failed, reason: error.reasonCode, from: begin, to: now())
            return AlexaRegion.allCases
        }
    }

    private struct Answers: Sendable {
        struct Winner: Sendable {
            let offer: Offer
            let enablement: Enablement
        }
        struct Failure: Sendable {
            let region: AlexaRegion
            let error: SkillEnablementError
        }
        var winner: Winner?
        var errors: [Failure] = []
    }

    /// Asks each region at once; the first that links ends the others' calls.
    private func ask(_ begun: Begun, _ trace: LinkTrace) async -> Answers {
        let deadline = Deadline.after(Self.patience, from: now())
        return await withTaskGroup(of: (Offer, Result<Enablement, SkillEnablementError>).self) { group in
            for offer in begun.codes {
                group.addTask { (offer, await answer(of: offer, begun, trace, by: deadline)) }
            }
            var answers = Answers()
            for await (offer, result) in group {
                switch result {
                // A success that says in so many words that nothing is linked is none.
                case .success(let enablement) where enablement.accountLink != .notLinked:
                    if answers.winner == nil { answers.winner = .init(offer: offer, enablement: enablement) }
                    group.cancelAll()
                case .success: break
                case .failure(let error):
                    if answers.winner == nil { answers.errors.append(.init(region: offer.region, error: error)) }
                }
            }
            return answers
        }
    }

    private func answer(
        of offer: Offer, _ begun: Begun, _ trace: LinkTrace, by deadline: Deadline
    ) async -> Result<Enablement, SkillEnablementError> {
        let begin = now()
        do throws(SkillEnablementError) {
            let enablement = try await enablement.enable(
                skillID: begun.skill.id, stage: begun.skill.stage, redirectURI: begun.redirectURI,
                code: offer.code.code, token: begun.tokens.accessToken, in: offer.region, by: deadline)
            let isLinked = enablement.accountLink != .notLinked
            trace.trace.step(
                Self.stepName(offer.region), isLinked ? .ok : .failed, reason: isLinked ? nil : "link.notLinked",
                from: begin, to: now())
            return .success(enablement)
        } catch {
            let outcome: TraceOutcome = error == .cancelled ? .skipped : .failed
            trace.trace.step(Self.stepName(offer.region), outcome, reason: error.reasonCode, from: begin, to: now())
            log.notice(
                "a region does not enable the skill", .traceID(trace.trace.id), .rejection(error.reasonCode),
                .region(offer.region.rawValue), .skill(begun.skill.name),
                .detail("stage \(begun.skill.stage), status \(error.status.map { String($0) } ?? "none")"))
            return .failure(error)
        }
    }

    private static func stepName(_ region: AlexaRegion) -> StaticString {
        switch region {
        case .northAmerica: "enablement.NA"
        case .europe: "enablement.EU"
        case .farEast: "enablement.FE"
        }
    }

    /// Of several regions' errors the one that says most: two of three refuse every user who is at home in the third.
    private static func mostTelling(_ errors: [SkillEnablementError]) -> SkillEnablementError? {
        func rank(_ error: SkillEnablementError) -> Int {
            switch error {
            case .credentialsRefused: 0
            case .conflict: 1
            case .throttled: 2
            case .alexaFault: 3
            case .unavailable: 4
            case .unexpectedAnswer, .foreignHost: 5
            case .unreachable, .tls, .timedOut, .broken: 6
            case .notAllowed: 7
            case .invalidRequest: 8
            case .tokenRefused: 9
            case .skillUnknown: 10
            case .cancelled: 11
            }
        }
        return errors.min { rank($0) < rank($1) }
    }

    private func refreshed(_ begun: Begun) async -> Begun? {
        let deadline = storeDeadline
        guard
            let tokens = try? await loginWithAmazon.refresh(
                begun.tokens.refreshToken, client: begun.skill.amazonClient, by: deadline)
        else { return nil }
        let credentials = AmazonCredentials(
            accessToken: tokens.accessToken, refreshToken: tokens.refreshToken ?? begun.tokens.refreshToken,
            expiresAt: clock().adding(seconds: tokens.lifetimeSeconds))
        // Amazon's newest tokens are on disk before they are used.
        guard await links.renew(begun.link, credentials, by: deadline) else { return nil }
        return Begun(
            link: begun.link, skill: begun.skill, redirectURI: begun.redirectURI, tokens: credentials,
            codes: begun.codes)
    }

    private func withdraw(_ offers: [Offer]) async {
        for offer in offers { await codes.withdraw(offer.code, by: storeDeadline) }
    }
}
