import HTTP
import JSON
public import Time

/// Why the event gateway did not take an event; nothing in it is secret, and nothing is text of the gateway's.
public enum EventGatewayError: Error, Hashable, Sendable {
    /// The message is wrong.
    case invalidRequest
    /// The token is expired, revoked or unknown.
    case invalidAccessToken
    /// The skill is disabled for this user, or the region is the wrong one.
    case skillDisabled
    /// The skill was never enabled by this user, or the region is the wrong one, or Alexa does not know it yet.
    case skillNeverEnabled
    /// The skill lacks "Send Alexa Events".
    case insufficientPermission
    /// The token was made while the skill was in another stage.
    case skillNotFound
    /// The id in the message is unknown or expired, or the event came too late.
    case accountNotFound
    /// More endpoints than one message takes, or too many bytes.
    case tooLarge
    /// Too many events.
    case throttled(RetryAfter?)
    /// The gateway failed.
    case internalService(RetryAfter?)
    /// The gateway cannot answer now.
    case serviceUnavailable(RetryAfter?)
    /// An answer that the table of errors does not know.
    case other(status: Int)
    /// No connection came about; nothing was sent.
    case unreachable
    /// TLS failed.
    case tls
    /// No answer in time. The event may have been taken.
    case timedOut
    /// The connection broke, or the answer was cut. The event may have been taken.
    case broken
    /// The caller left.
    case cancelled

    /// The stable reason code, for logs and metrics.
    public var reasonCode: String {
        switch self {
        case .invalidRequest: "gateway.invalidRequest"
        case .invalidAccessToken: "gateway.invalidAccessToken"
        case .skillDisabled: "gateway.skillDisabled"
        case .skillNeverEnabled: "gateway.skillNeverEnabled"
        case .insufficientPermission: "gateway.insufficientPermission"
        case .skillNotFound: "gateway.skillNotFound"
        case .accountNotFound: "gateway.accountNotFound"
        case .tooLarge: "gateway.tooLarge"
        case .throttled: "gateway.throttled"
        case .internalService: "gateway.internalService"
        case .serviceUnavailable: "gateway.serviceUnavailable"
        case .other: "gateway.other"
        case .unreachable: "gateway.unreachable"
        case .tls: "gateway.tls"
        case .timedOut: "gateway.timedOut"
        case .broken: "gateway.broken"
        case .cancelled: "gateway.cancelled"
        }
    }

    /// How long the gateway asks to be left alone; nil where it does not say.
    public var retryAfter: RetryAfter? {
        switch self {
        case .throttled(let retryAfter), .internalService(let retryAfter), .serviceUnavailable(let retryAfter):
            retryAfter
        default: nil
        }
    }
}

/// When to ask again, as an answer says (RFC 9110 §10.2.3).
public enum RetryAfter: Hashable, Sendable {
    /// So many seconds after the answer.
    case seconds(Int64)
    /// At that time.
    case date(UnixTime)

    /// How long somebody is left alone at most, whatever the answer says.
    public static let limitSeconds: Int64 = 3600

    /// Reads the header's value; nil for anything that is neither seconds nor a date.
    public init?(_ text: String) {
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
            // More digits than an integer holds are still seconds.
            self = .seconds(min(Int64(text) ?? Self.limitSeconds, Self.limitSeconds))
        } else if let date = UnixTime(httpDate: text) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// The moment that is meant in an answer of `now`, not before it and not more than an hour after it.
    public func moment(from now: UnixTime) -> UnixTime {
        let latest = now.adding(seconds: Self.limitSeconds)
        switch self {
        case .seconds(let seconds): return min(now.adding(seconds: max(0, seconds)), latest)
        case .date(let date): return min(max(date, now), latest)
        }
    }
}

extension EventGatewayError: AmazonCallError {
    /// Reads an answer that is no success.
    ///
    /// Between 400 and 499 the code decides where it is one of the table's, since some of its numbers are not sure;
    /// otherwise the status does, so that a body which is no JSON says enough.
    init(_ response: HTTPResponse) {
        let retryAfter = response.fields["Retry-After"].flatMap(RetryAfter.init)
        let code = (try? JSONDocument(parsing: response.body))?.root.member("payload")?.string("code")
        if (400...499).contains(response.status), let code, let error = Self.named(code, retryAfter) {
            self = error
            return
        }
        switch response.status {
        case 400: self = .invalidRequest
        case 401: self = .invalidAccessToken
        case 413: self = .tooLarge
        case 429: self = .throttled(retryAfter)
        case 500: self = .internalService(retryAfter)
        case 501...599: self = .serviceUnavailable(retryAfter)
        case let status: self = .other(status: status)
        }
    }

    private static func named(_ code: String, _ retryAfter: RetryAfter?) -> EventGatewayError? {
        switch code {
        case "INVALID_REQUEST_EXCEPTION": .invalidRequest
        case "INVALID_ACCESS_TOKEN_EXCEPTION": .invalidAccessToken
        case "SKILL_DISABLED_EXCEPTION": .skillDisabled
        case "SKILL_NEVER_ENABLED_EXCEPTION": .skillNeverEnabled
        case "INSUFFICIENT_PERMISSION_EXCEPTION": .insufficientPermission
        case "SKILL_NOT_FOUND_EXCEPTION": .skillNotFound
        case "ACCOUNT_NOT_FOUND_EXCEPTION": .accountNotFound
        case "REQUEST_ENTITY_TOO_LARGE_EXCEPTION": .tooLarge
        case "THROTTLING_EXCEPTION": .throttled(retryAfter)
        default: nil
        }
    }
}
