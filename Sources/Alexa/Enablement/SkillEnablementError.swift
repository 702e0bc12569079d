/// Why a call to the skill enablement API brought nothing; nothing in it is secret, and nothing is text of Alexa's.
public enum SkillEnablementError: Error, Hashable, Sendable {
    /// 400 with the message about account linking: our code was refused at our token endpoint, or that failed.
    case credentialsRefused
    /// 400 otherwise: the body, the skill's id or its stage is wrong.
    case invalidRequest
    /// 401: Amazon's token is missing, expired or unknown.
    case tokenRefused
    /// 403: the token lacks the scope, or this user may not use the skill in this stage or country.
    case notAllowed
    /// 404: no such skill; asked for a status, the user has not enabled it.
    case skillUnknown
    /// 409: another stage is enabled.
    case conflict
    /// 429: too many calls.
    case throttled(RetryAfter?)
    /// Alexa failed, with that status.
    case alexaFault(status: Int)
    /// Alexa cannot answer now: 502, 503 or 504.
    case unavailable(status: Int, RetryAfter?)
    /// An answer that cannot be read, or of a status that is in no table.
    case unexpectedAnswer(status: Int)
    /// Every host that was named as the user's lies outside of the allowed ones.
    case foreignHost
    /// No connection came about; nothing was sent.
    case unreachable
    /// TLS failed; nothing was sent.
    case tls
    /// No answer in time. What was sent may have been taken.
    case timedOut
    /// The connection broke, or the answer was cut. What was sent may have been taken.
    case broken
    /// The caller left. What was sent may have been taken.
    case cancelled

    /// The stable reason code, for logs, traces and metrics.
    public var reasonCode: String {
        switch self {
        case .credentialsRefused: "link.credentialsRefused"
        case .invalidRequest: "link.enablementInvalid"
        case .tokenRefused: "link.amazonTokenRefused"
        case .notAllowed: "link.notAllowed"
        case .skillUnknown: "link.skillUnknown"
        case .conflict: "link.stageConflict"
        case .throttled: "link.throttled"
        case .alexaFault: "link.alexaFault"
        case .unavailable: "link.alexaUnavailable"
        case .unexpectedAnswer: "link.unexpectedAnswer"
        case .foreignHost: "link.foreignHost"
        case .unreachable: "link.alexaUnreachable"
        case .tls: "link.alexaTLS"
        case .timedOut: "link.alexaTimedOut"
        case .broken: "link.alexaBroken"
        case .cancelled: "link.cancelled"
        }
    }

    /// The status of the answer; nil where there was none, or where it was one of success.
    public var status: Int? {
        switch self {
        case .credentialsRefused, .invalidRequest: 400
        case .tokenRefused: 401
        case .notAllowed: 403
        case .skillUnknown: 404
        case .conflict: 409
        case .throttled: 429
        case .alexaFault(let status), .unavailable(let status, _), .unexpectedAnswer(let status): status
        case .foreignHost, .unreachable, .tls, .timedOut, .broken, .cancelled: nil
        }
    }

    /// Whether the same might succeed later.
    public var isTransient: Bool {
        switch self {
        case .throttled, .alexaFault, .unavailable, .unreachable, .tls, .timedOut, .broken, .cancelled: true
        case .credentialsRefused, .invalidRequest, .tokenRefused, .notAllowed, .skillUnknown, .conflict,
            .unexpectedAnswer, .foreignHost:
            false
        }
    }

    /// Whether Alexa may have done what was asked in spite of this, so that only its status tells.
    public var mayHaveBeenTaken: Bool {
        switch self {
        case .timedOut, .broken, .cancelled, .alexaFault, .unavailable: true
        case .unexpectedAnswer(let status): (200...299).contains(status)
        default: false
        }
    }
}
