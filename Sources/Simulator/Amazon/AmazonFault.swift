public import Alexa

/// What a simulated host does wrong with one request.
public enum AmazonFault: Hashable, Sendable {
    /// Answers with that status and body.
    case status(Int, body: String = "")
    /// Answers as the event gateway refuses, with that status and code, and with `Retry-After` where it is given.
    case gateway(Int, code: String, retryAfter: String? = nil)
    /// Answers 200 with a body that is nothing that was asked for.
    case garbage
    /// Answers rightly, but so much later.
    case delay(Duration)
    /// Does what it is asked, and then never answers.
    case lostAnswer
    /// Never answers; the connection ends when the caller gives up or the hosts stop.
    case silence
}

/// What the simulated hosts offer, each with faults of its own.
public enum AmazonEndpoint: Hashable, Sendable, CaseIterable {
    /// The certificate chains at `s3.amazonaws.com`.
    case certificates
    /// Login with Amazon's token endpoint at `api.amazon.com`.
    case token
    /// A region's event gateway.
    case events(AlexaRegion)
    /// Where customers learn their region's host.
    case regions
    /// A region's enablement API.
    case enablement(AlexaRegion)

    /// Every one of them.
    public static var allCases: [AmazonEndpoint] {
        [.certificates, .token, .regions] + AlexaRegion.allCases.map(AmazonEndpoint.events)
            + AlexaRegion.allCases.map(AmazonEndpoint.enablement)
    }
}

/// A request that a simulated host got.
public struct ReceivedRequest: Sendable {
    /// The host that it asked, in lower case and without port.
    public let host: String
    /// The method.
    public let method: String
    /// Path and query.
    public let target: String
    /// Names and values of the header lines.
    public let fields: [(name: String, value: String)]
    /// The body.
    public let body: [UInt8]
}
