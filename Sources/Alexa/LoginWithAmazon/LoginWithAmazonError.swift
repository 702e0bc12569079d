/// Why Login with Amazon gave no tokens; nothing in it is secret.
public enum LoginWithAmazonError: Error, Hashable, Sendable {
    /// It refused, with the error code of RFC 6749 §5.2 where it sent one that is known.
    case refused(Code, status: Int)
    /// It cannot answer now: 429, or 5xx.
    case unavailable(status: Int)
    /// It answered success, but with no tokens that can be read.
    case noTokens(status: Int)
    /// No connection came about, twice; nothing was sent.
    case unreachable
    /// TLS failed.
    case tls
    /// No answer in time. What was sent may have been taken.
    case timedOut
    /// The connection broke, or the answer was cut. What was sent may have been taken.
    case broken
    /// The caller left.
    case cancelled

    /// The error codes that it may send.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// A parameter is missing or bad.
        case invalidRequest = "invalid_request"
        /// Wrong id or secret.
        case invalidClient = "invalid_client"
        /// The code or refresh token is unknown, used, expired, revoked or of another client.
        case invalidGrant = "invalid_grant"
        /// This client may not use this grant.
        case unauthorizedClient = "unauthorized_client"
        /// The grant type is not known there.
        case unsupportedGrantType = "unsupported_grant_type"
        /// The scope is not known there.
        case invalidScope = "invalid_scope"
        /// Another code, or none.
        case other = ""
    }

    /// The stable reason code, for logs, traces and metrics.
    public var reasonCode: String {
        switch self {
        case .refused(.invalidRequest, _): "grant.lwaInvalidRequest"
        case .refused(.invalidClient, _): "grant.lwaInvalidClient"
        case .refused(.invalidGrant, _): "grant.lwaInvalidGrant"
        case .refused(.unauthorizedClient, _): "grant.lwaUnauthorizedClient"
        case .refused(.unsupportedGrantType, _): "grant.lwaUnsupportedGrantType"
        case .refused(.invalidScope, _): "grant.lwaInvalidScope"
        case .refused(.other, _): "grant.lwaRefused"
        case .unavailable: "grant.lwaUnavailable"
        case .noTokens: "grant.lwaNoTokens"
        case .unreachable: "grant.lwaUnreachable"
        case .tls: "grant.lwaTLS"
        case .timedOut: "grant.lwaTimedOut"
        case .broken: "grant.lwaBroken"
        case .cancelled: "grant.lwaCancelled"
        }
    }

    /// The status of the answer; nil where there was none.
    public var status: Int? {
        switch self {
        case .refused(_, let status), .unavailable(let status), .noTokens(let status): status
        case .unreachable, .tls, .timedOut, .broken, .cancelled: nil
        }
    }

    /// Whether the same might succeed later; a code is spent once it was sent, so that holds for refresh tokens only.
    public var isRetryable: Bool {
        switch self {
        case .unavailable, .unreachable, .tls, .timedOut, .broken, .cancelled: true
        case .refused, .noTokens: false
        }
    }
}
