/// Every limit that can be set, with its default.
///
/// What a limit may be stands in the table of keys.
public struct Limits: Sendable, Hashable {
    /// How long the body of a request may be.
    public var bodyBytes = 256 * 1024
    /// How long the head of a request may be.
    public var headerBytes = 32 * 1024
    /// For how long a client may send one request.
    public var requestSeconds = 30
    /// For how long a connection may stay without a request.
    public var idleSeconds = 75
    /// How many connections there are at once.
    public var connections = 10_000
    /// How many of them one peer may have; 0 means any number.
    public var connectionsPerPeer = 0
    /// How long the answer to a custom skill's request may be.
    public var customResponseBytes = 24 * 1024
    /// How long the answer to a directive may be.
    public var smartHomeResponseBytes = 5 * 1024 * 1024
    /// For how long Login with Amazon may take.
    public var lwaSeconds = 3
    /// For how long the resource server may take.
    public var resourceSeconds = 4
    /// For how long Alexa's certificate chain may take.
    public var certificateSeconds = 2
    /// How many certificate chains are kept.
    public var keptChains = 64
    /// How many judged tokens are kept.
    public var keptTokens = 100_000
    /// Of how many issuers key sets are kept.
    public var keptKeySets = 16
    /// How deep a JSON document may be nested.
    public var jsonDepth = 64
    /// How long a `state` of a client may be.
    public var stateCharacters = 4096
    /// How many endpoints one discovery answers.
    public var discoveryEndpoints = 300

    /// The defaults.
    public init() {}
}

extension Limits {
    /// Each limit by its key below `limits`.
    static var keys: [(name: String, key: WritableKeyPath<Limits, Int>)] {
        [
            ("bodyBytes", \.bodyBytes),
            ("headerBytes", \.headerBytes),
            ("requestSeconds", \.requestSeconds),
            ("idleSeconds", \.idleSeconds),
            ("connections", \.connections),
            ("connectionsPerPeer", \.connectionsPerPeer),
            ("customResponseBytes", \.customResponseBytes),
            ("smartHomeResponseBytes", \.smartHomeResponseBytes),
            ("lwaSeconds", \.lwaSeconds),
            ("resourceSeconds", \.resourceSeconds),
            ("certificateSeconds", \.certificateSeconds),
            ("keptChains", \.keptChains),
            ("keptTokens", \.keptTokens),
            ("keptKeySets", \.keptKeySets),
            ("jsonDepth", \.jsonDepth),
            ("stateCharacters", \.stateCharacters),
            ("discoveryEndpoints", \.discoveryEndpoints),
        ]
    }
}
