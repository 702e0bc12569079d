public import Alexa
import Concurrency
public import Crypto
public import Telemetry
public import Time

/// Sees to it that an event is sent with a token of Amazon's that is good: refreshes it when it ends soon.
///
/// In this process one refresh a grant is in flight, and all who need it wait for it; among processes a row of the store
/// says who refreshes. What a refresh brings is on disk before anybody uses it, for the old refresh token may be void by
/// then. The work goes on when its callers leave.
public struct GrantRefreshing: Sendable {
    /// A token that has less than this left is refreshed first.
    public static let marginSeconds: Int64 = 300
    /// How often the store is asked whether another process is done.
    private static let pollInterval = Duration.milliseconds(100)
    /// How long one refresh may take, waiting for another process included.
    private static let timeLimit = Duration.seconds(8)
    /// What the store gets of that, so that new tokens are written even where Amazon took long.
    private static let storeShare = Duration.seconds(2)
    /// Longer than any refresh may take: when it is over, the owner is dead.
    private static let lease = Duration.seconds(10)

    /// Who waits for the same refresh.
    private struct Need: Hashable {
        let key: GrantKey
        let rejected: Secret?
    }

    private let store: any GrantStore
    private let clients: [String: AmazonClient]
    private let loginWithAmazon: LoginWithAmazon
    private let clock: WallClock
    private let now: @Sendable () -> ContinuousClock.Instant
    private let log: Log
    private let metrics: Metrics
    private let flights = SingleFlight<Need, Grant>()

    /// Refreshes by the pair that `clients` has for each skill.
    public init(
        store: any GrantStore, clients: [String: AmazonClient], loginWithAmazon: LoginWithAmazon,
        clock: @escaping WallClock, now: @escaping @Sendable () -> ContinuousClock.Instant, log: Log,
        metrics: Metrics
    ) {
        self.store = store
        self.clients = clients
        self.loginWithAmazon = loginWithAmazon
        self.clock = clock
        self.now = now
        self.log = log
        self.metrics = metrics
    }

    /// The grant, with an access token that is good for a while.
    ///
    /// - Parameters:
    ///   - key: whose grant.
    ///   - rejected: an access token that Amazon did not take although it should have been good.
    ///   - deadline: when the caller gives up.
    /// - Returns: the grant as it is stored.
    /// - Throws: ``GrantRefreshingError``.
    public func grant(
        for key: GrantKey, insteadOf rejected: Secret? = nil, by deadline: Deadline
    ) async throws(GrantRefreshingError) -> Grant {
        let stored: Grant?
        do throws(GrantStoreError) { stored = try await store.grant(key, by: deadline) } catch { throw .store(error) }
        guard let stored else { throw .absent }
        if isGood(stored, insteadOf: rejected) { return stored }
        do {
            return try await flights.run(Need(key: key, rejected: rejected)) {
                try await refreshed(key, insteadOf: rejected)
            }
        } catch let error as GrantRefreshingError {
            throw error
        } catch {
            throw .cancelled
        }
    }

    private func isGood(_ grant: Grant, insteadOf rejected: Secret?) -> Bool {
        grant.credentials.accessToken != rejected
            && grant.credentials.expiresAt.milliseconds(since: clock()) >= Self.marginSeconds * 1000
    }

    /// The refresh itself, under the row's lease.
    private func refreshed(
        _ key: GrantKey, insteadOf rejected: Secret?
    ) async throws(GrantRefreshingError) -> Grant {
        let deadline = Deadline.after(Self.timeLimit, from: now())
        let owner = SecureRandom.uuid()
        let grant = try await leased(key, owner, by: deadline)
        do throws(GrantRefreshingError) {
            // Another process may have done it while this one waited.
            if isGood(grant, insteadOf: rejected) {
                await release(key, owner, by: deadline)
                return grant
            }
            guard let client = clients[key.skill] else { throw .unknownSkill }
            return try await exchange(grant, client, owner, by: deadline)
        } catch {
            switch error {
            // Whoever lost the row has no lease to give back, and the others are gone.
            case .revoked, .absent: break
            default: await release(key, owner, by: deadline)
            }
            metrics.counter(.grantRefreshes, error.reasonCode).add()
            throw error
        }
    }

    private func leased(
        _ key: GrantKey, _ owner: String, by deadline: Deadline
    ) async throws(GrantRefreshingError) -> Grant {
        while true {
            let lease: GrantLease
            do throws(GrantStoreError) {
                lease = try await store.leaseGrant(key, owner: owner, for: Self.lease, by: deadline)
            } catch { throw .store(error) }
            switch lease {
            case .owned(let grant): return grant
            case .absent: throw .absent
            case .held:
                guard deadline.remaining(at: now()) > Self.pollInterval else { throw .heldElsewhere }
                do { try await Task.sleep(for: Self.pollInterval) } catch { throw .cancelled }
            }
        }
    }
}

extension GrantRefreshing {
    private func exchange(
        _ grant: Grant, _ client: AmazonClient, _ owner: String, by deadline: Deadline
    ) async throws(GrantRefreshingError) -> Grant {
        let tokens: AmazonTokens
        do throws(LoginWithAmazonError) {
            tokens = try await loginWithAmazon.refresh(
                grant.credentials.refreshToken, client: client,
                by: Deadline(at: deadline.instant.advanced(by: .zero - Self.storeShare)))
        } catch .refused(.invalidGrant, _) {
            return try await ended(grant, by: deadline)
        } catch {
            throw .loginWithAmazon(error)
        }
        let credentials = AmazonCredentials(
            accessToken: tokens.accessToken, refreshToken: tokens.refreshToken ?? grant.credentials.refreshToken,
            expiresAt: clock().adding(seconds: tokens.lifetimeSeconds))
        let isCurrent = try await commit(credentials, grant, owner, by: deadline)
        metrics.counter(.grantRefreshes, isCurrent ? "refreshed" : "overtaken").add()
        // Where the version had gone on, a newer AcceptGrant came meanwhile: its tokens are the ones to use.
        let stored: Grant?
        do throws(GrantStoreError) { stored = try await store.grant(grant.key, by: deadline) } catch {
            throw .store(error)
        }
        guard let stored else { throw .absent }
        return stored
    }

    /// Writes the new tokens; tried again while the lease runs, for the old refresh token may be void by now.
    private func commit(
        _ credentials: AmazonCredentials, _ grant: Grant, _ owner: String, by deadline: Deadline
    ) async throws(GrantRefreshingError) -> Bool {
        while true {
            do throws(GrantStoreError) {
                return try await store.refresh(
                    grant.key, with: credentials, owner: owner, version: grant.version, by: deadline)
            } catch {
                guard deadline.remaining(at: now()) > Self.pollInterval else {
                    log.error("new tokens of Amazon's could not be stored", .skill(grant.key.skill))
                    throw .store(error)
                }
                try? await Task.sleep(for: Self.pollInterval)
            }
        }
    }

    /// Amazon knows the refresh token no more: the user took the consent back, unless a newer grant came meanwhile.
    private func ended(_ grant: Grant, by deadline: Deadline) async throws(GrantRefreshingError) -> Grant {
        let isDeleted: Bool
        do throws(GrantStoreError) {
            isDeleted = try await store.deleteGrant(grant.key, version: grant.version, by: deadline)
            if !isDeleted, let newer = try await store.grant(grant.key, by: deadline) { return newer }
        } catch { throw .store(error) }
        if isDeleted {
            log.notice(
                "a grant ended: Amazon knows its refresh token no more", .skill(grant.key.skill),
                .region(grant.key.region.rawValue), .rejection("grant.revoked"))
        }
        throw .revoked
    }

    private func release(_ key: GrantKey, _ owner: String, by deadline: Deadline) async {
        // Where that fails, the lease ends by itself.
        try? await store.releaseGrant(key, owner: owner, by: deadline)
    }
}

/// Why there is no token to send an event with.
public enum GrantRefreshingError: Error, Hashable, Sendable {
    /// There is no such grant, or no longer.
    case absent
    /// Amazon knows the refresh token no more; the grant and what waited in its lane are deleted.
    case revoked
    /// Login with Amazon gave no tokens this time.
    case loginWithAmazon(LoginWithAmazonError)
    /// The configuration has no pair for the skill.
    case unknownSkill
    /// Another process is refreshing it and takes long.
    case heldElsewhere
    /// The store did not answer.
    case store(GrantStoreError)
    /// The caller left.
    case cancelled

    /// The stable reason code, for logs and metrics.
    public var reasonCode: String {
        switch self {
        case .absent: "grant.absent"
        case .revoked: "grant.revoked"
        case .loginWithAmazon(let error): error.reasonCode
        case .unknownSkill: "grant.unknownSkill"
        case .heldElsewhere: "grant.heldElsewhere"
        case .store(.timedOut): "grant.storeTimedOut"
        case .store(.unavailable): "grant.storeUnavailable"
        case .cancelled: "grant.callerLeft"
        }
    }
}
