/// Why the service did not do what the app asked, in what an app needs of it.
public struct LinkClientError: Error, Hashable, Sendable {
    /// What happened.
    public enum Kind: Hashable, Sendable {
        /// The app has no token of the user's, or the service does not take it: let the user sign in again.
        case signInNeeded
        /// The service refused, for the reason of this stable code such as `link.stateExpired`.
        case refused(code: String?)
        /// The service could not be reached.
        case unreachable
        /// The service took too long. A link may have come about all the same: ask for the status.
        case timedOut
        /// The task was cancelled.
        case cancelled
        /// The answer is none of the service's.
        case unexpectedAnswer
    }

    /// What happened.
    public let kind: Kind
    /// The status of the answer; nil where none came.
    public let status: Int?
    /// What to tell the user; nil where the user decided and knows.
    public let userMessage: String?
    /// Whether trying again helps, and when.
    public let retry: LinkRetry
    /// What support finds the attempt by.
    public let traceID: String?
}

/// The service's `application/problem+json` (RFC 9457) on the linking routes.
struct LinkProblem: Decodable {
    var code: String?
    var userMessage: String?
    var retry: String?
    var traceID: String?
}
