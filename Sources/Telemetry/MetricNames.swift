/// What is counted; each is a Prometheus counter of that name.
public enum CounterName: String, Sendable, Hashable, CaseIterable {
    /// Requests answered, by route and status.
    case requests = "skillgate_requests_total"
    /// Requests whose deadline passed before their handler was done, by route.
    case lateAnswers = "skillgate_late_answers_total"
    /// Connections accepted.
    case connections = "skillgate_connections_total"
    /// Connections refused or cut, by reason.
    case connectionsRefused = "skillgate_connections_refused_total"
    /// Messages that are not HTTP, by reason.
    case malformedRequests = "skillgate_malformed_requests_total"
    /// Requests that could not prove whence they came, by reason code.
    case rejections = "skillgate_rejections_total"
    /// Requests whose timestamp lies too far from our clock, by direction (`ahead` or `behind` our clock).
    case timestampRejections = "skillgate_timestamp_rejections_total"
    /// Verified requests, by skill and request type.
    case skillRequests = "skillgate_skill_requests_total"
    /// Verified requests of a type that this version does not know.
    case unknownRequestTypes = "skillgate_unknown_request_types_total"
    /// Answers that would have broken Alexa's rules and did not leave, by reason.
    case invalidAnswers = "skillgate_invalid_answers_total"
    /// Tokens refused, by reason code.
    case tokenRejections = "skillgate_token_rejections_total"
    /// Look-ups in caches, by cache and result (`hit` or `miss`).
    case cacheLookups = "skillgate_cache_lookups_total"
    /// Calls to other servers, by origin and outcome.
    case upstreamCalls = "skillgate_upstream_calls_total"
    /// Calls made once more, by origin.
    case upstreamRetries = "skillgate_upstream_retries_total"
    /// How often a circuit breaker opened, by origin.
    case circuitsOpened = "skillgate_circuits_opened_total"
    /// Log lines that found no room.
    case logLinesDropped = "skillgate_log_lines_dropped_total"
    /// Traces that were to be stored and found no room, or whose storing failed.
    case tracesDropped = "skillgate_traces_dropped_total"
    /// Refreshes of Amazon's tokens, by outcome.
    case grantRefreshes = "skillgate_grant_refreshes_total"
    /// Events that the gateway took, by region.
    case eventsSent = "skillgate_events_sent_total"
    /// Tries to send an event that will be made again, by reason code.
    case eventsPostponed = "skillgate_events_postponed_total"
    /// Events that were given up, by reason code.
    case eventsDropped = "skillgate_events_dropped_total"
    /// Answers of the provider with tokens, by grant type.
    case tokensIssued = "skillgate_tokens_issued_total"
    /// Requests of clients that the provider refused, by reason code.
    case oauthRefusals = "skillgate_oauth_refusals_total"

    /// What it says, in the metrics page.
    var help: StaticString {
        switch self {
        case .requests: "Requests answered."
        case .lateAnswers: "Requests whose deadline passed before their handler was done."
        case .connections: "Connections accepted."
        case .connectionsRefused: "Connections refused or cut."
        case .malformedRequests: "Messages that are not HTTP."
        case .rejections: "Requests that could not prove whence they came."
        case .timestampRejections: "Requests whose timestamp lies too far from our clock."
        case .skillRequests: "Verified requests."
        case .unknownRequestTypes: "Verified requests of a type unknown to this version."
        case .invalidAnswers: "Answers that would have broken Alexa's rules."
        case .tokenRejections: "Tokens refused."
        case .cacheLookups: "Look-ups in caches."
        case .upstreamCalls: "Calls to other servers."
        case .upstreamRetries: "Calls to other servers made once more."
        case .circuitsOpened: "Circuit breakers that opened."
        case .logLinesDropped: "Log lines that found no room."
        case .tracesDropped: "Traces that could not be stored."
        case .grantRefreshes: "Refreshes of Amazon's tokens."
        case .eventsSent: "Events that Alexa's gateway took."
        case .eventsPostponed: "Tries to send an event that will be made again."
        case .eventsDropped: "Events that were given up."
        case .tokensIssued: "Answers with tokens."
        case .oauthRefusals: "Requests of clients that the provider refused."
        }
    }

    /// The names of its labels.
    var labels: [StaticString] {
        switch self {
        case .requests: ["route", "status"]
        case .lateAnswers: ["route"]
        case .connectionsRefused, .malformedRequests, .rejections, .tokenRejections, .invalidAnswers,
            .eventsPostponed, .eventsDropped, .oauthRefusals:
            ["reason"]
        case .tokensIssued: ["grant"]
        case .grantRefreshes: ["outcome"]
        case .eventsSent: ["region"]
        case .timestampRejections: ["direction"]
        case .skillRequests: ["skill", "type"]
        case .cacheLookups: ["cache", "result"]
        case .upstreamCalls: ["origin", "outcome"]
        case .upstreamRetries, .circuitsOpened: ["origin"]
        case .connections, .unknownRequestTypes, .logLinesDropped, .tracesDropped: []
        }
    }
}

/// What is measured as it stands now; each is a Prometheus gauge of that name.
public enum GaugeName: String, Sendable, Hashable, CaseIterable {
    /// Connections open.
    case connectionsOpen = "skillgate_connections_open"
    /// Requests whose answer has not left.
    case requestsRunning = "skillgate_requests_running"
    /// Calls to other servers under way.
    case upstreamCallsRunning = "skillgate_upstream_calls_running"
    /// 1 while the circuit breaker of an origin is open, by origin.
    case circuitOpen = "skillgate_circuit_open"
    /// Median of request timestamps minus our clock, among the latest requests.
    case clockDifferenceMedianSeconds = "skillgate_clock_difference_median_seconds"
    /// When the program started, by its own clock.
    case startTimeSeconds = "skillgate_start_time_seconds"
    /// Events that wait to be sent.
    case eventsWaiting = "skillgate_events_waiting"

    /// What it says, in the metrics page.
    var help: StaticString {
        switch self {
        case .connectionsOpen: "Connections open."
        case .requestsRunning: "Requests whose answer has not left."
        case .upstreamCallsRunning: "Calls to other servers under way."
        case .circuitOpen: "1 while the circuit breaker of the origin is open."
        case .clockDifferenceMedianSeconds: "Median of request timestamps minus our clock."
        case .startTimeSeconds: "When the program started, in seconds since 1970."
        case .eventsWaiting: "Events that wait to be sent."
        }
    }

    /// The names of its labels.
    var labels: [StaticString] {
        switch self {
        case .circuitOpen: ["origin"]
        case .connectionsOpen, .requestsRunning, .upstreamCallsRunning, .clockDifferenceMedianSeconds,
            .startTimeSeconds, .eventsWaiting:
            []
        }
    }
}

/// What is measured as a distribution; each is a Prometheus histogram of that name.
public enum HistogramName: String, Sendable, Hashable, CaseIterable {
    /// From the whole request to its answer, by route.
    case requestDurationSeconds = "skillgate_request_duration_seconds"
    /// From call to whole answer, by origin.
    case upstreamDurationSeconds = "skillgate_upstream_duration_seconds"
    /// Timestamp minus our clock, of requests refused for it.
    case timestampRejectionDifferenceSeconds = "skillgate_timestamp_rejection_difference_seconds"

    /// What it says, in the metrics page.
    var help: StaticString {
        switch self {
        case .requestDurationSeconds: "From the whole request to its answer."
        case .upstreamDurationSeconds: "From a call to another server to its whole answer."
        case .timestampRejectionDifferenceSeconds: "Timestamp minus our clock, of requests refused for it."
        }
    }

    /// The names of its labels.
    var labels: [StaticString] {
        switch self {
        case .requestDurationSeconds: ["route"]
        case .upstreamDurationSeconds: ["origin"]
        case .timestampRejectionDifferenceSeconds: []
        }
    }

    /// The upper bounds of its buckets but the last, which takes everything.
    var bounds: [Double] {
        switch self {
        case .requestDurationSeconds, .upstreamDurationSeconds:
            [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 7]
        case .timestampRejectionDifferenceSeconds:
            [-86_400, -3600, -600, -300, -200, -150, 0, 150, 200, 300, 600, 3600, 86_400]
        }
    }
}
