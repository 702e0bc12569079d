import Alexa
import HTTP
import OAuth
import Telemetry
import Time

/// Account linking of a configured service: everything that its routes, pages, commands and workers share.
struct LinkService: Sendable {
    let skills: LinkSkills
    let store: any LinkStore
    /// Where Amazon's tokens are.
    let grants: any GrantStore
    let starting: LinkStarting
    let finishing: LinkFinishing
    let status: LinkStatus
    let ending: LinkEnding
    let joining: LinkJoining
    let worker: LinkWorker
    let texts: LinkTexts

    init(
        _ configuration: Configuration, _ parts: ServiceParts, codes: any LinkCodes, revoking: any LinkRevoking,
        traces: TraceRecorder, forget: @escaping @Sendable (String) -> Void
    ) {
        let skills = LinkSkills(configuration)
        let (store, clock, now, log) = (parts.store, parts.clock, parts.monotonic, parts.log)
        let amazon = LoginWithAmazon(
            http: parts.http, tokenURL: configuration.amazon.lwaTokenURL,
            timeLimit: .seconds(configuration.limits.lwaSeconds), monotonic: now)
        let refreshing = GrantRefreshing(
            store: store, clients: Dictionary(uniqueKeysWithValues: skills.all.map { ($0.name, $0.amazonClient) }),
            loginWithAmazon: amazon, clock: clock, now: now, log: log, metrics: parts.metrics)
        var addresses: [AlexaRegion: String] = [:]
        for (region, url) in configuration.amazon.apiURLs {
            if let region = AlexaRegion(rawValue: region.rawValue) { addresses[region] = url }
        }
        let enablement = SkillEnablement(http: parts.http, apiURLs: addresses)
        let ending = LinkEnding(
            store: store, skills: skills, revoking: revoking, refreshing: refreshing, enablement: enablement,
            forget: forget, now: now, log: log)
        let keeping = LinkKeeping(store: store, ending: ending, clock: clock, log: log)
        self.skills = skills
        self.store = store
        grants = store
        self.ending = ending
        texts = LinkTexts(ofCompany: configuration.texts.linkErrors)
        starting = LinkStarting(
            store: store, amazon: configuration.amazon, clock: clock, now: now, log: log, traces: traces)
        finishing = LinkFinishing(
            store: store, skills: skills, loginWithAmazon: amazon,
            enabling: LinkEnabling(
                links: keeping, codes: codes, enablement: enablement, loginWithAmazon: amazon, clock: clock, now: now,
                log: log), clock: clock, now: now, log: log, traces: traces)
        status = LinkStatus(
            store: store, skills: skills, refreshing: refreshing, enablement: enablement, ending: ending,
            clock: clock, now: now)
        joining = LinkJoining(
            store: store, keeping: keeping, skills: configuration.skills, clock: clock, now: now, log: log)
        worker = LinkWorker(
            store: store, skills: skills, keeping: keeping, refreshing: refreshing, enablement: enablement,
            clock: clock, now: now, log: log)
    }

    /// The routes of the company's app; none where no skill can be linked.
    func appRoutes(bearer: BearerGuard, clients: ClientRule, log: Log) -> [Route] {
        guard !skills.all.isEmpty else { return [] }
        return LinkRoutes(
            skills: skills, starting: starting, finishing: finishing, status: status, ending: ending, store: store,
            bearer: bearer, clients: clients, texts: texts, log: log
        ).routes
    }
}
