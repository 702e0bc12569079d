import Concurrency
public import HTTP
public import Time

/// The key sets of issuers as they were fetched last, for a bounded number of addresses.
///
/// A set is fresh as long as its `Cache-Control` says, within a minute and an hour; then it is fetched again before
/// it is used. Where that fails it goes on serving for a day after it was fetched. A token with an unknown key id
/// provokes a fetch too, the first at once, later ones at most every 30 seconds. No failed or empty fetch replaces a set.
/// Ages are measured by the wall clock, which goes on while a process is frozen.
public final class KeySetCache: Sendable {
    /// The limits.
    public enum Limits {
        /// How far apart provoked fetches of one address are.
        public static let provokedFetchSeconds: Int64 = 30
        /// How long a set serves after it was fetched where no newer one can be had.
        public static let staleSeconds: Int64 = 86_400
        /// How long after a failed fetch none is tried, where there is a set to go on with.
        public static let retrySeconds: Int64 = 30
        /// How long after a failed fetch none is tried, where there is none.
        public static let retryWithoutKeysSeconds: Int64 = 1
        /// How long one fetch may take.
        public static let fetchDuration: Duration = .seconds(3)
        /// How large a key set may be.
        public static let answerBytes = 256 * 1024
        /// How long a set is fresh where the answer does not say.
        public static let freshSeconds: Int64 = 300
        /// The range that what the answer says is brought into.
        public static let freshSecondsRange: ClosedRange<Int64> = 60...3600
    }

    private struct Held: Sendable {
        var set: JSONWebKeySet
        var fetchedAt: UnixTime
        var freshUntil: UnixTime
    }

    private struct Entry: Sendable {
        var held: Held?
        var failedAt: UnixTime?
        var provokedAt: UnixTime?
        var isFetching = false
        var lastFailed = false

        func serves(at now: UnixTime) -> JSONWebKeySet? {
            guard let held, isRecent(held.fetchedAt, Limits.staleSeconds, at: now) else { return nil }
            return held.set
        }
    }

    private let http: any HTTPClient
    private let clock: WallClock
    private let monotonic: @Sendable () -> ContinuousClock.Instant
    private let observe: @Sendable (TokenEvent) -> Void
    private let entries: Locked<BoundedCache<String, Entry>>
    private let flights = SingleFlight<String, JSONWebKeySet>()

    /// An empty cache that holds the sets of at most `capacity` addresses.
    public init(
        capacity: Int = 16, http: any HTTPClient, clock: @escaping WallClock,
        monotonic: @escaping @Sendable () -> ContinuousClock.Instant,
        observe: @escaping @Sendable (TokenEvent) -> Void = { _ in }
    ) {
        entries = Locked(BoundedCache(capacity: max(1, capacity)))
        self.http = http
        self.clock = clock
        self.monotonic = monotonic
        self.observe = observe
    }

    /// The fresh set of `url`, without waiting; nil where it has to be fetched.
    func fresh(_ url: String) -> JSONWebKeySet? {
        let now = clock()
        return entries.withLock { entries in
            guard let entry = entries.value(for: url), let held = entry.held else { return nil }
            if held.fetchedAt <= now, now < held.freshUntil { return held.set }
            // The last try failed just now: the old set serves without another wait.
            guard let failedAt = entry.failedAt, isRecent(failedAt, Limits.retrySeconds, at: now) else { return nil }
            return entry.serves(at: now)
        }
    }

    /// The set of `url`, fetched where it is not fresh, and whether it was fetched just now.
    ///
    /// - Throws: ``TokenRejection/providerUnreachable`` where there is none to be had.
    func current(
        _ url: String, by deadline: Deadline
    ) async throws(TokenRejection) -> (set: JSONWebKeySet, isNew: Bool) {
        if let set = fresh(url) { return (set, false) }
        let now = clock()
        let rests = entries.withLock { entries in
            guard let entry = entries.value(for: url), let failedAt = entry.failedAt, !entry.isFetching else {
                return false
            }
            return isRecent(failedAt, Limits.retryWithoutKeysSeconds, at: now)
        }
        if !rests, let set = await fetched(url, by: deadline) { return (set, true) }
        guard let set = entries.withLock({ $0.value(for: url)?.serves(at: now) }) else { throw .providerUnreachable }
        return (set, false)
    }

    /// What a fetch that an unknown key provoked came to.
    enum Provoked {
        /// A set that was fetched after the token had been judged.
        case fetched(JSONWebKeySet)
        /// The last fetch is too recent for another; what it brought has been looked at.
        case tooSoon
        /// The provider does not answer, so the key may be one that we have not seen.
        case failed
    }

    /// Fetches the set of `url` again, since a token names a key that is not in the held one.
    func provoked(_ url: String, by deadline: Deadline) async -> Provoked {
        let now = clock()
        let refusal: Provoked? = entries.withLock { entries in
            var entry = entries.value(for: url) ?? Entry()
            if entry.isFetching { return nil }
            if let last = entry.provokedAt, isRecent(last, Limits.provokedFetchSeconds, at: now) {
                return entry.lastFailed ? .failed : .tooSoon
            }
            entry.provokedAt = now
            entries.insert(entry, for: url)
            return nil
        }
        if let refusal { return refusal }
        guard let set = await fetched(url, by: deadline) else { return .failed }
        return .fetched(set)
    }

    private func fetched(_ url: String, by deadline: Deadline) async -> JSONWebKeySet? {
        try? await flights.run(url) { try await self.fetch(url, by: deadline) }
    }

    private struct Failure: Error {
        let reason: String
    }

    private func fetch(_ url: String, by deadline: Deadline) async throws -> JSONWebKeySet {
        change(url) { $0.isFetching = true }
        do {
            let held = try await answer(url, by: deadline)
            change(url) { entry in
                entry.held = held
                entry.failedAt = nil
                entry.isFetching = false
                entry.lastFailed = false
            }
            observe(.keysFetched(usable: held.set.keys.count, faults: held.set.faults))
            return held.set
        } catch {
            let now = clock()
            change(url) { entry in
                entry.failedAt = now
                entry.isFetching = false
                entry.lastFailed = true
            }
            observe(.keysUnavailable(error.reason))
            throw error
        }
    }

    private func answer(_ url: String, by deadline: Deadline) async throws(Failure) -> Held {
        let request = OutgoingRequest(
            url: url, fields: ["Accept": "application/json"], answerLimitBytes: Limits.answerBytes)
        let response: HTTPResponse
        do {
            response = try await http.send(request, by: deadline.limited(to: Limits.fetchDuration, from: monotonic()))
        } catch { throw Failure(reason: "no answer") }
        guard response.status == 200 else { throw Failure(reason: "status \(response.status)") }
        let set: JSONWebKeySet
        do { set = try JSONWebKeySet(parsing: response.body) } catch { throw Failure(reason: error.reason) }
        guard !set.keys.isEmpty else { throw Failure(reason: "no usable key") }
        let now = clock()
        let seconds = maximumAge(response.fields["Cache-Control"]) ?? Limits.freshSeconds
        let range = Limits.freshSecondsRange
        let freshUntil = now.adding(seconds: min(max(seconds, range.lowerBound), range.upperBound))
        return Held(set: set, fetchedAt: now, freshUntil: freshUntil)
    }

    private func change(_ url: String, _ body: (inout Entry) -> Void) {
        entries.withLock { entries in
            var entry = entries.value(for: url) ?? Entry()
            body(&entry)
            entries.insert(entry, for: url)
        }
    }
}

/// Whether `moment` lies less than `seconds` before `now`; a clock that was set back makes nothing recent.
private func isRecent(_ moment: UnixTime, _ seconds: Int64, at now: UnixTime) -> Bool {
    moment <= now && now < moment.adding(seconds: seconds)
}

/// The `max-age` of a `Cache-Control` field (RFC 9111 §5.2.2.1); zero where it forbids keeping.
private func maximumAge(_ value: String?) -> Int64? {
    guard let value else { return nil }
    var seconds: Int64?
    for part in value.split(separator: ",") {
        let directive = part.filter { $0 != " " && $0 != "\t" }
        if equalsIgnoringCase(directive, "no-store") || equalsIgnoringCase(directive, "no-cache") { return 0 }
        guard equalsIgnoringCase(String(directive.prefix(8)), "max-age=") else { continue }
        seconds = Int64(directive.dropFirst(8)) ?? seconds
    }
    return seconds
}
