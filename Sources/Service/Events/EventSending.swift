import Alexa
import Crypto
import Telemetry
import Time

/// Sends one event and applies the table of the gateway's errors: another token, another region, or nothing.
struct EventSending: Sendable {
    /// How often a skill that was "never enabled" is tried again: Alexa may not know everywhere yet that it is enabled.
    static let unpropagatedAttempts = 3
    /// How long one event may take, whatever it needs.
    private static let timeLimit = Duration.seconds(60)

    let store: any GrantStore
    let refreshing: GrantRefreshing
    let gateway: EventGateway
    let now: @Sendable () -> ContinuousClock.Instant

    /// Tries to send `event` for the grant.
    func send(_ event: Event, for key: GrantKey, attempts: Int) async -> SendVerdict {
        let deadline = Deadline.after(Self.timeLimit, from: now())
        do throws(GrantRefreshingError) {
            let grant = try await refreshing.grant(for: key, by: deadline)
            guard !grant.isSuspended else { return .suspended(reason: "events.suspended") }
            let first = await attempt(event, grant, attempts, by: deadline)
            guard first == .ended(reason: EventGatewayError.invalidAccessToken.reasonCode) else { return first }
            // Once more with a new token; a gateway that refuses that one too says that the user took the right back.
            let fresh = try await refreshing.grant(
                for: key, insteadOf: grant.credentials.accessToken, by: deadline)
            let second = await attempt(event, fresh, attempts, by: deadline)
            guard case .ended = second else { return second }
            return await end(fresh, second, by: deadline)
        } catch {
            return SendVerdict(error)
        }
    }

    /// One try with one token, in the other regions too where the first does not know the user.
    private func attempt(
        _ event: Event, _ grant: Grant, _ attempts: Int, by deadline: Deadline
    ) async -> SendVerdict {
        let region = grant.gatewayRegion ?? grant.key.region
        guard let error = await error(event, to: region, grant, by: deadline) else {
            return await sent(region, grant, by: deadline)
        }
        guard error == .skillDisabled || error == .skillNeverEnabled else {
            return await settled(error, grant, by: deadline)
        }
        var errors = [error]
        for other in AlexaRegion.allCases where other != region {
            guard let error = await self.error(event, to: other, grant, by: deadline) else {
                return await sent(other, grant, by: deadline)
            }
            if error == .cancelled { return .stopped }
            errors.append(error)
        }
        // Only where every region says no, and none of them was merely not to be asked, is the answer believed.
        guard errors.allSatisfy(\.saysThatTheUserIsNotThere) else {
            return .postponed(reason: error.reasonCode, retryAfter: nil, endsLane: true)
        }
        if errors.contains(.skillNeverEnabled), !errors.contains(.skillDisabled), attempts < Self.unpropagatedAttempts {
            return .postponed(reason: error.reasonCode, retryAfter: nil, endsLane: true)
        }
        return await settled(error, grant, by: deadline)
    }

    private func error(
        _ event: Event, to region: AlexaRegion, _ grant: Grant, by deadline: Deadline
    ) async -> EventGatewayError? {
        let token = grant.credentials.accessToken
        do throws(EventGatewayError) {
            try await gateway.send(event.encoded(amazonToken: token), to: region, token: token, by: deadline)
            return nil
        } catch {
            return error
        }
    }

    private func sent(_ region: AlexaRegion, _ grant: Grant, by deadline: Deadline) async -> SendVerdict {
        if region != grant.gatewayRegion {
            // Where that fails, the next event finds the region once more.
            _ = try? await store.rememberGateway(region, grant: grant.key, version: grant.version, by: deadline)
        }
        return .sent(region)
    }

    /// The verdict, and what it means for the grant.
    private func settled(_ error: EventGatewayError, _ grant: Grant, by deadline: Deadline) async -> SendVerdict {
        let verdict = SendVerdict(error)
        guard case .suspended = verdict else { return verdict }
        do throws(GrantStoreError) {
            // A grant that came meanwhile is another one.
            let isOurs = try await store.setSuspended(true, grant: grant.key, version: grant.version, by: deadline)
            return isOurs ? verdict : .postponed(reason: error.reasonCode, retryAfter: nil, endsLane: true)
        } catch {
            return .postponed(reason: "grant.storeUnavailable", retryAfter: nil, endsLane: true)
        }
    }

    private func end(_ grant: Grant, _ verdict: SendVerdict, by deadline: Deadline) async -> SendVerdict {
        do throws(GrantStoreError) {
            let isOurs = try await store.deleteGrant(grant.key, version: grant.version, by: deadline)
            let reason = EventGatewayError.invalidAccessToken.reasonCode
            return isOurs ? verdict : .postponed(reason: reason, retryAfter: nil, endsLane: true)
        } catch {
            return .postponed(reason: "grant.storeUnavailable", retryAfter: nil, endsLane: true)
        }
    }
}

extension EventGatewayError {
    /// Whether a region that may be the wrong one means by it that it does not know the user.
    fileprivate var saysThatTheUserIsNotThere: Bool {
        switch self {
        case .skillDisabled, .skillNeverEnabled, .skillNotFound, .accountNotFound, .invalidAccessToken: true
        default: false
        }
    }
}
