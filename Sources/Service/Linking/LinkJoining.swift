import Alexa
import Concurrency
import Crypto
import OAuth
import Telemetry
import Time

/// Learns from Alexa's requests which Alexa user is which of ours, so that links that began in the Alexa app are listed
/// and ended as the others are.
///
/// What is learned is written after the answer; what is stored already is remembered, so that a request costs a look
/// into a map.
final class LinkJoining: AlexaUserJoins {
    /// For how many Alexa users it is remembered that they are stored.
    private static let userLimit = 20_000
    private static let patience = Duration.seconds(5)

    private struct AlexaUser: Hashable {
        let skill: String
        let id: String
    }

    private struct Seen: Hashable {
        let subject: String
        let grantID: String?
        /// Alexa's latest token; a company's own server is told to revoke it.
        var token: Secret
    }

    private let store: any LinkStore
    private let keeping: LinkKeeping
    private let skills: [String: Configuration.Skill]
    private let clock: WallClock
    private let now: @Sendable () -> ContinuousClock.Instant
    private let log: Log
    private let seen = Locked(BoundedCache<AlexaUser, Seen>(capacity: userLimit))

    init(
        store: any LinkStore, keeping: LinkKeeping, skills: [Configuration.Skill], clock: @escaping WallClock,
        now: @escaping @Sendable () -> ContinuousClock.Instant, log: Log
    ) {
        self.store = store
        self.keeping = keeping
        self.skills = Dictionary(skills.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.clock = clock
        self.now = now
        self.log = log
    }

    private var deadline: Deadline { .after(Self.patience, from: now()) }

    /// A request of that Alexa user came with a good token of `principal`.
    func saw(_ userID: String, of skill: String, as principal: Principal, region: AlexaRegion?) {
        let user = AlexaUser(skill: skill, id: userID)
        let isNew = seen.withLock { seen in
            let known = seen.value(for: user)
            if let known, known.token == principal.token { return false }
            seen.insert(Seen(subject: principal.subject, grantID: principal.grantID, token: principal.token), for: user)
            return known?.subject != principal.subject || known?.grantID != principal.grantID
        }
        guard isNew else { return }
        let join = LinkJoin(
            skill: skill, alexaUserID: userID, subject: principal.subject, providerGrantID: principal.grantID,
            region: region, seenAt: clock())
        Task {
            do throws(LinkStoreError) { try await learn(join) } catch {
                // The next request of that user teaches it again.
                forget(user, of: principal.subject)
                log.error("who is linked cannot be stored", .detail("\(error)"))
            }
        }
    }

    private func forget(_ user: AlexaUser, of subject: String) {
        seen.withLock { seen in
            if seen.value(for: user)?.subject == subject { _ = seen.remove(user) }
        }
    }

    /// Stores what a request taught: a link that nobody settled, a link of the Alexa app, or another grant.
    func learn(_ join: LinkJoin) async throws(LinkStoreError) {
        try await store.put(join, by: deadline)
        let links = try await store.links(of: join.subject, by: deadline).filter { $0.skill == join.skill }
        if let known = links.first(where: { $0.alexaUserID == join.alexaUserID && $0.status == .linked }) {
            // Alexa got other tokens, by linking anew in its own app.
            guard let grantID = join.providerGrantID, known.providerGrantID != grantID else { return }
            var changed = known
            changed.providerGrantID = grantID
            _ = try await store.update(changed, by: deadline)
            return
        }
        if let pending = links.first(where: { $0.isFulfilled(by: join) }) {
            let region = pending.region(of: join) ?? join.region ?? .northAmerica
            _ = try? await keeping.settle(
                pending, Enablement(accountLink: .linked, alexaUserID: join.alexaUserID), in: region,
                grantID: join.providerGrantID, tokens: nil, by: deadline)
            return
        }
        let link = Link(
            id: SecureRandom.uuid(), subject: join.subject, skill: join.skill,
            stage: skills[join.skill]?.stage.rawValue ?? "", flow: .alexa, status: .linked, region: join.region,
            alexaUserID: join.alexaUserID, providerGrantID: join.providerGrantID, linkedAt: join.seenAt)
        try await store.add(link, by: deadline)
    }

    /// Alexa says that the user disabled the skill at that time: links begun before it end, the account stays.
    func disabled(_ userID: String, of skill: String, at moment: UnixTime, token: Secret?) async throws(LinkFault) {
        let user = AlexaUser(skill: skill, id: userID)
        let known = seen.withLock { $0.remove(user) }
        let links: [Link]
        do throws(LinkStoreError) {
            links = try await store.links(alexaUserID: userID, skill: skill, by: deadline)
        } catch {
            log.error("a disabled skill's links cannot be found", .detail("\(error)"))
            throw .store
        }
        // Events come in any order: one from before the link says nothing of it. Alexa's times have no fractions of seconds.
        for link in links where link.linkedAt.seconds <= moment.seconds {
            try await keeping.ending.end(link, tellsAlexa: false, token: token ?? known?.token, by: deadline)
        }
    }
}

extension Link {
    /// Whether this pending link is what a request shows to be linked.
    fileprivate func isFulfilled(by join: LinkJoin) -> Bool {
        if status == .linked { return alexaUserID == nil && providerGrantID == join.providerGrantID }
        guard let grantID = join.providerGrantID else { return false }
        return candidates.contains { $0.providerGrantID == grantID }
    }

    fileprivate func region(of join: LinkJoin) -> AlexaRegion? {
        region ?? candidates.first { $0.providerGrantID == join.providerGrantID }?.region
    }
}
