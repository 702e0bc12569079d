public import Crypto
public import HTTP
public import JSON
public import Time

/// Bytes that Alexa is proved to have sent.
///
/// Only ``RequestVerifier``, ``ForwarderVerifier`` and the runtime that is invoked by AWS can make one.
public struct VerifiedRequest: Sendable {
    /// What proves that Alexa sent it.
    public enum Proof: Hashable, Sendable {
        /// Alexa's signature over the body.
        case signature
        /// AWS invoked us, which only the skill may have done.
        case invocation
        /// The forwarder's code over time, path and body.
        case forwarder
    }

    /// The body as it arrived.
    public let body: [UInt8]
    /// The body as JSON.
    public let document: JSONDocument
    /// What proves it.
    public let proof: Proof

    fileprivate init(body: [UInt8], proof: Proof, maximumDepth: Int) throws(RequestRejection) {
        do { document = try JSONDocument(parsing: body, maximumDepth: maximumDepth) } catch {
            throw .bodyUnreadable(error.reason)
        }
        self.body = body
        self.proof = proof
    }

    /// An event that AWS handed to the runtime.
    package static func invoked(
        with body: [UInt8], maximumDepth: Int = 64
    ) throws(RequestRejection) -> VerifiedRequest {
        try VerifiedRequest(body: body, proof: .invocation, maximumDepth: maximumDepth)
    }
}

/// Proves that Alexa sent a custom-skill request, and lately.
public final class RequestVerifier: Sendable {
    private let skillIDs: Set<String>
    private let chains: CertificateChains
    private let clock: WallClock
    private let maximumDepth: Int

    /// A verifier for the skills of those ids; `maximumDepth` is how deep a body may be nested.
    public init(
        skillIDs: Set<String>, chains: CertificateChains, clock: @escaping WallClock, maximumDepth: Int = 64
    ) {
        self.maximumDepth = maximumDepth
        self.skillIDs = skillIDs
        self.chains = chains
        self.clock = clock
    }

    /// Proves that Alexa sent `request`, and lately.
    ///
    /// The signature is checked over the bytes as received, before anything decodes them. Where the chain is kept
    /// already, this never waits.
    ///
    /// - Throws: the first check that failed.
    public func verify(_ request: HTTPRequest) async throws(RequestRejection) -> VerifiedRequest {
        let evidence = try RequestChecks.headers(request.fields)
        let url = try RequestChecks.url(evidence.chainURL)
        let signature = try RequestChecks.signatureBytes(evidence.signature)
        let now = clock()
        let chain: SigningChain
        if let kept = chains.kept(for: url, at: now) {
            chain = kept
        } else {
            chain = try await chains.chain(for: url, by: request.deadline)
        }
        try RequestChecks.signature(signature, of: request.body, by: chain.publicKey)
        let verified = try VerifiedRequest(body: request.body, proof: .signature, maximumDepth: maximumDepth)
        try RequestChecks.timestamp(of: verified.document.root, at: now)
        try RequestChecks.skill(of: verified.document.root, isOneOf: skillIDs)
        return verified
    }
}

/// Proves that our own forwarder sent a smart-home directive, and lately.
///
/// The header is `X-Skillgate-Forwarder: t=EPOCH,v1=HEX`, where HEX is the HMAC-SHA256 of time, path with query and
/// body, joined by full stops.
public struct ForwarderVerifier: Sendable {
    /// The header's name.
    public static let headerName = "X-Skillgate-Forwarder"
    /// How far the forwarder's time may lie from our clock, in either direction.
    public static let windowMilliseconds: Int64 = 60_000

    private let key: [UInt8]
    private let clock: WallClock
    private let maximumDepth: Int

    /// A verifier for the forwarder that holds `secret`; `maximumDepth` is how deep a body may be nested.
    public init(secret: Secret, clock: @escaping WallClock, maximumDepth: Int = 64) {
        self.maximumDepth = maximumDepth
        key = Array(secret.exposed.utf8)
        self.clock = clock
    }

    /// The header's value for a request of our own, as the forwarder makes it.
    public static func headerValue(secret: Secret, at now: UnixTime, target: String, body: [UInt8]) -> String {
        let seconds = String(now.seconds)
        let code = code(key: Array(secret.exposed.utf8), seconds: seconds[...], target: target, body: body)
        return "t=\(seconds),v1=\(Hex.encode(code))"
    }

    /// Proves that the forwarder sent `request`, and lately.
    ///
    /// - Throws: the first check that failed; code and time are judged before the body is read.
    public func verify(_ request: HTTPRequest) throws(RequestRejection) -> VerifiedRequest {
        let header = try onlyValue(of: Self.headerName, in: request.fields)
        let parts = header.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].hasPrefix("t="), parts[1].hasPrefix("v1="),
            let given = Hex.decode(parts[1].dropFirst(3)), given.count == 32
        else { throw .forwarderMalformed }
        let text = parts[0].dropFirst(2)
        guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }),
            let seconds = Int64(text)
        else { throw .forwarderMalformed }
        let expected = Self.code(key: key, seconds: text, target: request.target, body: request.body)
        guard constantTimeEquals(expected, given) else { throw .forwarderWrong }
        // The forwarder's time has no fraction, so it is compared with our clock in whole seconds.
        let now = UnixTime(seconds: clock().seconds)
        let difference = UnixTime(seconds: seconds).milliseconds(since: now)
        guard difference >= -Self.windowMilliseconds, difference <= Self.windowMilliseconds else {
            throw .forwarderStale(clockDifferenceMilliseconds: difference)
        }
        return try VerifiedRequest(body: request.body, proof: .forwarder, maximumDepth: maximumDepth)
    }

    private static func code(key: [UInt8], seconds: Substring, target: String, body: [UInt8]) -> [UInt8] {
        HMACSHA256.code(Array("\(seconds).\(target).".utf8) + body, key: key)
    }
}
