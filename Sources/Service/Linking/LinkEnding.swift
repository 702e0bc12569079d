import Alexa
import Crypto
import OAuth
import Telemetry
import Time

/// Ends links: the user unlinks, an operator revokes, or Alexa says that the skill was disabled.
///
/// The provider's tokens go first, then Alexa is told, then Amazon's tokens and the link go; what is interrupted can be
/// done again. The user's account stays.
struct LinkEnding: Sendable {
    /// How long Alexa may take to disable the skill.
    private static let patience = Duration.seconds(6)

    let store: any LinkStore & GrantStore
    let skills: LinkSkills
    let revoking: any LinkRevoking
    let refreshing: GrantRefreshing
    let enablement: SkillEnablement
    /// Forgets what is kept of a user's tokens and resources.
    let forget: @Sendable (_ subject: String) -> Void
    let now: @Sendable () -> ContinuousClock.Instant
    let log: Log

    /// Where a link's tokens of Amazon's are kept.
    static func key(of link: Link) -> GrantKey {
        GrantKey(
            source: .linking, subject: link.subject, skill: link.skill,
            region: link.region ?? link.candidates.first?.region ?? .northAmerica,
            amazonUserID: link.alexaUserID ?? "link." + link.id)
    }

    /// Ends a link; `tellsAlexa` is false where Alexa said so itself.
    ///
    /// - Returns: whether Alexa has disabled the skill, as far as it had to be told.
    @discardableResult
    func end(
        _ link: Link, tellsAlexa: Bool, token: Secret? = nil, by deadline: Deadline
    ) async throws(LinkFault) -> Bool {
        let others = try await stored { () async throws(LinkStoreError) in
            try await store.links(of: link.subject, by: deadline)
        }.filter { $0.id != link.id }
        let skill = skills[link.skill]
        let sharing = Set([link.skill] + (skill.map { skills.others(withClientOf: $0).map(\.name) } ?? []))
        let isLast = !others.contains { sharing.contains($0.skill) }
        if let client = skill?.providerClient {
            await revoking.revoke(link, client: client, isLast: isLast, token: token, by: deadline)
        }
        forget(link.subject)
        let isDisabled = tellsAlexa ? await disable(link, skill, by: deadline) : true
        try await deleteTokens(of: link, isLastOfSkill: !others.contains { $0.skill == link.skill }, by: deadline)
        try await stored { () async throws(LinkStoreError) in
            try await store.deleteLink(id: link.id, by: deadline)
            if let user = link.alexaUserID {
                try await store.deleteJoin(skill: link.skill, alexaUserID: user, by: deadline)
            }
        }
        log.info("a link ended", .skill(link.skill), .outcome(isDisabled ? "disabled" : "Alexa was not told"))
        return isDisabled
    }

    /// Revokes what the codes of a link would have brought, or brought, that was never made.
    func revoke(_ link: Link, by deadline: Deadline) async {
        guard let skill = skills[link.skill] else { return }
        await revoking.revoke(link, client: skill.providerClient, isLast: false, token: nil, by: deadline)
    }

    /// Revokes what an earlier link of the same Alexa user had, after the later one is confirmed (LNK-10).
    func replaced(_ earlier: Link, by link: Link, deadline: Deadline) async {
        guard earlier.providerGrantID != link.providerGrantID, let skill = skills[link.skill] else { return }
        await revoking.revoke(earlier, client: skill.providerClient, isLast: false, token: nil, by: deadline)
        if Self.key(of: earlier) != Self.key(of: link) {
            _ = try? await store.deleteGrant(Self.key(of: earlier), by: deadline)
        }
    }

    /// Has Alexa disable the skill with the tokens that it was enabled by.
    private func disable(_ link: Link, _ skill: LinkSkill?, by deadline: Deadline) async -> Bool {
        guard let skill else { return false }
        let deadline = deadline.limited(to: Self.patience, from: now())
        let regions = link.region.map { [$0] } ?? link.candidates.map(\.region)
        var isDisabled = false
        do throws(GrantRefreshingError) {
            let grant = try await refreshing.grant(for: Self.key(of: link), by: deadline)
            for region in regions {
                do throws(SkillEnablementError) {
                    try await enablement.disable(
                        skillID: skill.id, token: grant.credentials.accessToken, in: region, by: deadline)
                    isDisabled = true
                } catch {
                    log.notice(
                        "Alexa does not disable the skill", .rejection(error.reasonCode), .skill(link.skill),
                        .region(region.rawValue))
                }
            }
        } catch {
            // Links from the Alexa app have no tokens of Amazon's: there the user, or Alexa's next refresh, ends it.
            log.info("Alexa cannot be told that a link ended", .rejection(error.reasonCode), .skill(link.skill))
        }
        return isDisabled
    }

    private func deleteTokens(
        of link: Link, isLastOfSkill: Bool, by deadline: Deadline
    ) async throws(LinkFault) {
        do throws(GrantStoreError) {
            try await store.deleteGrant(Self.key(of: link), by: deadline)
            for grant in try await store.grants(of: link.subject, by: deadline) {
                guard grant.key.skill == link.skill, grant.key.source == .events || isLastOfSkill else { continue }
                let isOfLink = grant.key.providerGrantID != nil && grant.key.providerGrantID == link.providerGrantID
                if isOfLink || isLastOfSkill { try await store.deleteGrant(grant.key, by: deadline) }
            }
        } catch {
            log.error("Amazon's tokens of a link cannot be deleted", .detail("\(error)"))
            throw .store
        }
    }

    private func stored<Value>(
        _ work: () async throws(LinkStoreError) -> Value
    ) async throws(LinkFault) -> Value {
        do throws(LinkStoreError) { return try await work() } catch {
            log.error("the store of links does not answer", .detail("\(error)"))
            throw .store
        }
    }
}
