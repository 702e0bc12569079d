import Alexa
import Concurrency
import JSON
import OAuth
import Time

/// What an app shows of a user's links.
struct LinkReport: Sendable, Hashable {
    /// One word for all links, or for one.
    enum Status: String, Sendable, Hashable {
        /// Alexa may use the account.
        case linked = "LINKED"
        /// There is no link.
        case notLinked = "NOT_LINKED"
        /// Alexa has not confirmed it yet.
        case pending = "PENDING"
        /// Alexa cannot be asked now.
        case unknown = "UNKNOWN"
    }

    /// One link and how it stands.
    struct Entry: Sendable, Hashable {
        let link: Link
        let status: Status
    }

    let entries: [Entry]

    /// The best that is known: one good link is what the user asked for.
    var status: Status {
        for status in [Status.linked, .unknown, .pending] where entries.contains(where: { $0.status == status }) {
            return status
        }
        return .notLinked
    }

    var json: JSONValue {
        [
            "status": .string(status.rawValue),
            "links": .array(
                entries.map { entry in
                    var object: JSONObject = [
                        "id": .string(entry.link.id), "status": .string(entry.status.rawValue),
                        "skill": .string(entry.link.skill), "stage": .string(entry.link.stage),
                        "flow": .string(entry.link.flow.rawValue),
                        "linkedAt": .string(entry.link.linkedAt.iso8601()),
                    ]
                    object["region"] = entry.link.region.map { .string($0.rawValue) } ?? .null
                    return .object(object)
                }),
        ]
    }
}

/// Finds out how a user's links stand, and asks Alexa of those that nobody has asked of for a while.
final class LinkStatus: Sendable {
    /// For how long an answer of Alexa's is believed.
    private static let freshness = Duration.seconds(60)
    private static let patience = Duration.seconds(4)
    /// How many links Alexa is asked of for one user.
    private static let askLimit = 8

    private let store: any LinkStore
    private let skills: LinkSkills
    private let refreshing: GrantRefreshing
    private let enablement: SkillEnablement
    private let ending: LinkEnding
    private let clock: WallClock
    private let now: @Sendable () -> ContinuousClock.Instant
    private let asked = Locked(BoundedCache<String, ContinuousClock.Instant>(capacity: 10_000))

    init(
        store: any LinkStore, skills: LinkSkills, refreshing: GrantRefreshing, enablement: SkillEnablement,
        ending: LinkEnding, clock: @escaping WallClock, now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.store = store
        self.skills = skills
        self.refreshing = refreshing
        self.enablement = enablement
        self.ending = ending
        self.clock = clock
        self.now = now
    }

    /// How the user's links stand; what Alexa says is gone is ended here as well.
    func report(of subject: String, by deadline: Deadline) async throws(LinkFault) -> LinkReport {
        let links: [Link]
        do throws(LinkStoreError) { links = try await store.links(of: subject, by: deadline) } catch { throw .store }
        let limit = deadline.limited(to: Self.patience, from: now())
        let states = await withTaskGroup(of: (String, LinkReport.Status).self) { group in
            for link in links.prefix(Self.askLimit) {
                group.addTask { (link.id, await self.state(of: link, by: limit)) }
            }
            var states: [String: LinkReport.Status] = [:]
            for await (id, state) in group { states[id] = state }
            return states
        }
        var entries: [LinkReport.Entry] = []
        for link in links {
            let status = states[link.id] ?? Self.stored(link)
            if status == .notLinked {
                try await ending.end(link, tellsAlexa: false, by: deadline)
            } else {
                entries.append(LinkReport.Entry(link: link, status: status))
            }
        }
        return LinkReport(entries: entries)
    }

    private static func stored(_ link: Link) -> LinkReport.Status { link.status == .linked ? .linked : .pending }

    private func state(of link: Link, by deadline: Deadline) async -> LinkReport.Status {
        let stored = Self.stored(link)
        // The worker settles what is pending; links of the Alexa app have no token to ask with.
        guard stored == .linked, link.flow != .alexa, let region = link.region, let skill = skills[link.skill],
            clock().milliseconds(since: link.linkedAt) >= 60_000, !wasAsked(link)
        else { return stored }
        do {
            let grant = try await refreshing.grant(for: LinkEnding.key(of: link), by: deadline)
            let answer = try await enablement.status(
                skillID: skill.id, token: grant.credentials.accessToken, in: region, by: deadline)
            asked.withLock { $0.insert(now(), for: link.id) }
            return answer.accountLink == .notLinked ? .notLinked : .linked
        } catch {
            // Amazon's tokens may be gone while the link lives on; silence alone leaves it open.
            if let error = error as? SkillEnablementError { return error.isTransient ? .unknown : stored }
            if case .loginWithAmazon(let error)? = error as? GrantRefreshingError, error.isRetryable { return .unknown }
            return stored
        }
    }

    private func wasAsked(_ link: Link) -> Bool {
        asked.withLock { $0.value(for: link.id) }.map { now() < $0.advanced(by: Self.freshness) } ?? false
    }
}
