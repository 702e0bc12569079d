public import Alexa
import Concurrency
import OAuth
import Telemetry
import Time

/// Settles links whose outcome nobody heard, by asking Alexa for their status, and clears up old attempts.
///
/// ``run()`` is the loop of `serve`; ``flush()`` is one pass, for places where no timer runs.
public final class LinkWorker: Sendable {
    /// How many links are looked at in one pass.
    private static let batch = 16
    /// For how long a look reserves a link.
    private static let lease = Duration.seconds(30)
    private static let patience = Duration.seconds(10)
    /// How often the store is asked at least.
    private static let pause = Duration.seconds(5)
    private static let pruneInterval = Duration.seconds(3600)
    /// How long an attempt is remembered after its end, so that what comes late is told why it is refused.
    private static let rememberedSeconds: Int64 = 86_400
    /// From when on a link that Alexa knows nothing of was never made.
    private static let decidedSeconds: Int64 = 60
    /// From when on nobody asks any more.
    private static let givenUpSeconds: Int64 = 86_400

    private let store: any LinkStore & GrantStore
    private let skills: LinkSkills
    private let keeping: LinkKeeping
    private let refreshing: GrantRefreshing
    private let enablement: SkillEnablement
    private let clock: WallClock
    private let now: @Sendable () -> ContinuousClock.Instant
    private let log: Log

    init(
        store: any LinkStore & GrantStore, skills: LinkSkills, keeping: LinkKeeping, refreshing: GrantRefreshing,
        enablement: SkillEnablement, clock: @escaping WallClock,
        now: @escaping @Sendable () -> ContinuousClock.Instant, log: Log
    ) {
        self.store = store
        self.skills = skills
        self.keeping = keeping
        self.refreshing = refreshing
        self.enablement = enablement
        self.clock = clock
        self.now = now
        self.log = log
    }

    /// Looks every few seconds, until the task is cancelled.
    public func run() async {
        guard !skills.all.isEmpty else { return }
        var pruneAt = now()
        var failed = false
        while !Task.isCancelled {
            do throws(LinkStoreError) {
                try await flush()
                if now() >= pruneAt {
                    pruneAt = now().advanced(by: Self.pruneInterval)
                    try await prune()
                }
                failed = false
            } catch {
                if !failed { log.error("pending links cannot be looked at", .detail("\(error)")) }
                failed = true
            }
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// Looks at the pending links that are due, until none is.
    ///
    /// - Returns: how many were looked at.
    /// - Throws: `LinkStoreError` where the store does not answer.
    @discardableResult
    public func flush() async throws(LinkStoreError) -> Int {
        var count = 0
        while !Task.isCancelled {
            let due = try await store.leaseDueLinks(limit: Self.batch, for: Self.lease, by: deadline)
            if due.isEmpty { break }
            await withTaskGroup(of: Void.self) { group in
                for link in due { group.addTask { await self.look(at: link) } }
            }
            count += due.count
        }
        return count
    }

    private func prune() async throws(LinkStoreError) {
        let count = try await store.pruneAttempts(
            before: clock().adding(seconds: -Self.rememberedSeconds), by: deadline)
        if count > 0 { log.info("old attempts to link were dropped", .count(count)) }
    }

    private var deadline: Deadline { .after(Self.patience, from: now()) }

    private func look(at link: Link) async {
        guard let skill = skills[link.skill] else { return await keeping.drop(link, by: deadline) }
        let age = clock().milliseconds(since: link.linkedAt) / 1000
        var isAnswered = true
        do throws(GrantRefreshingError) {
            let grant = try await refreshing.grant(for: LinkEnding.key(of: link), by: deadline)
            for candidate in link.candidates {
                do throws(SkillEnablementError) {
                    let status = try await enablement.status(
                        skillID: skill.id, token: grant.credentials.accessToken, in: candidate.region, by: deadline)
                    guard status.accountLink == .linked else { continue }
                    return await settle(link, status, candidate)
                } catch {
                    isAnswered = false
                    log.info(
                        "a region does not tell whether a link was made", .rejection(error.reasonCode),
                        .region(candidate.region.rawValue))
                }
            }
        } catch {
            switch error {
            // Without tokens nobody can ask; what Alexa made of it is learned from its requests.
            case .absent, .revoked, .unknownSkill: return await giveUp(link)
            default: isAnswered = false
            }
        }
        if (isAnswered && age >= Self.decidedSeconds) || age >= Self.givenUpSeconds { return await giveUp(link) }
        await postpone(link)
    }

    private func settle(_ link: Link, _ status: Enablement, _ candidate: Link.Candidate) async {
        do throws(LinkFault) {
            let settled = try await keeping.settle(
                link, status, in: candidate.region, grantID: candidate.providerGrantID, tokens: nil, by: deadline)
            log.info("a pending link is settled", .skill(link.skill), .outcome(settled.status.rawValue))
        } catch { log.notice("a pending link was removed meanwhile", .skill(link.skill)) }
    }

    private func giveUp(_ link: Link) async {
        log.notice("a pending link was not made", .skill(link.skill), .rejection("link.neverConfirmed"))
        await keeping.ending.revoke(link, by: deadline)
        await keeping.drop(link, by: deadline)
    }

    /// The next look comes after 5, 10, 20 … 600 seconds.
    private func postpone(_ link: Link) async {
        var later = link
        later.attempts += 1
        later.dueAt = clock().adding(seconds: min(600, 5 << Int64(min(later.attempts - 1, 7))))
        do throws(LinkStoreError) { _ = try await store.update(later, by: deadline) } catch {
            log.error("a pending link is looked at again when its lease is over", .detail("\(error)"))
        }
    }
}
