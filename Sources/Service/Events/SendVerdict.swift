import Alexa
import Time

/// What becomes of an event after a try to send it.
enum SendVerdict: Hashable, Sendable {
    /// The gateway took it.
    case sent(AlexaRegion)
    /// It never will be taken.
    case dropped(reason: String)
    /// It will be tried again; where `endsLane` says so, nothing else of the lane is tried before.
    case postponed(reason: String, retryAfter: RetryAfter?, endsLane: Bool)
    /// The user disabled the skill: nothing more is sent until the next AcceptGrant.
    case suspended(reason: String)
    /// Amazon takes the user's tokens no more: grant and lane are deleted.
    case ended(reason: String)
    /// There is no such grant, or no longer.
    case grantGone
    /// Whoever sends was told to stop.
    case stopped

    /// What the table of the gateway's errors says of an error that no other token, region or time has mended.
    init(_ error: EventGatewayError) {
        let reason = error.reasonCode
        switch error {
        case .invalidRequest, .accountNotFound, .tooLarge: self = .dropped(reason: reason)
        case .skillNotFound, .skillDisabled, .skillNeverEnabled: self = .suspended(reason: reason)
        case .invalidAccessToken: self = .ended(reason: reason)
        case .insufficientPermission, .throttled:
            self = .postponed(reason: reason, retryAfter: error.retryAfter, endsLane: true)
        case .internalService, .serviceUnavailable:
            self = .postponed(reason: reason, retryAfter: error.retryAfter, endsLane: error.retryAfter != nil)
        case .other, .unreachable, .tls, .timedOut, .broken:
            self = .postponed(reason: reason, retryAfter: nil, endsLane: false)
        case .cancelled: self = .stopped
        }
    }

    init(_ error: GrantRefreshingError) {
        switch error {
        case .absent, .revoked: self = .grantGone
        case .cancelled: self = .stopped
        case .loginWithAmazon, .unknownSkill, .heldElsewhere, .store:
            self = .postponed(reason: error.reasonCode, retryAfter: nil, endsLane: true)
        }
    }
}

/// How long something waits before it is tried again.
enum Backoff {
    private static let longestSeconds = 48.0

    /// 1, 2, 4 … 48 seconds after so many tries, and up to a quarter more by `jitter` from 0 to 1, so that not all come
    /// back at once.
    static func milliseconds(attempts: Int, jitter: Double) -> Int64 {
        var seconds = 1.0
        for _ in 0..<max(0, attempts) where seconds < longestSeconds { seconds = min(seconds * 2, longestSeconds) }
        return Int64(seconds * (1 + jitter / 4) * 1000)
    }
}
