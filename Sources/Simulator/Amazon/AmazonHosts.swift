public import Alexa
import Concurrency
public import Crypto
public import HTTP
public import Time

/// Plays Amazon's hosts: the request's `Host` decides which.
///
/// `s3.amazonaws.com` serves certificate chains under `/echo.api/`: that of the authority, and one for each
/// ``ChainFault`` by its name. `api.amazon.com` is Login with Amazon's token endpoint; `api.amazonalexa.com`,
/// `api.eu.amazonalexa.com` and `api.fe.amazonalexa.com` are the regions' event gateways and enablement APIs; `/ap/oa` at
/// whatever host is the page of consent. Whatever else is asked is answered with 404 and recorded, so that a test sees it.
public final class AmazonHosts: HTTPResponder, Sendable {
    /// How many requests are remembered.
    public static let recordLimit = 10_000

    private struct State {
        var faults: [AmazonEndpoint: [AmazonFault]] = [:]
        var standing: [AmazonEndpoint: AmazonFault] = [:]
        var received: [ReceivedRequest] = []
        var chains: [String: [UInt8]] = [:]
        var strayChains: [String: [UInt8]] = [:]
        var signers: [ChainFault: AlexaSigner] = [:]
    }

    /// The authority whose certificates are served.
    public let authority: Authority
    /// Login with Amazon's token endpoint.
    public let tokens: TokenEndpoint
    /// The regions' event gateways.
    public let events: EventEndpoint
    /// Account linking: the users' consent, and the regions' enablement API.
    public let linking: LinkingEndpoint
    private let clock: WallClock
    private let state: Locked<State>

    /// Hosts of an authority, with a token endpoint that knows `clients`.
    public init(authority: Authority, clients: [TokenEndpoint.Client], clock: @escaping WallClock) {
        self.authority = authority
        self.clock = clock
        tokens = TokenEndpoint(clients: clients, clock: clock)
        events = EventEndpoint(tokens: tokens)
        linking = LinkingEndpoint(tokens: tokens)
        state = Locked(State(chains: [AlexaSigner.chainFile: authority.signing.pem]))
    }

    /// A code as AcceptGrant brings it, which the token endpoint will take once.
    public func issueGrantCode() -> String { tokens.issueGrantCode() }

    /// Tokens as the exchange of such a code brings them, good for the event gateways.
    public func issueEventTokens() -> AmazonTokens { tokens.issueEventTokens() }

    /// The next requests to `endpoint` go wrong so, one after another; then it is right again.
    public func script(_ endpoint: AmazonEndpoint, _ faults: [AmazonFault]) {
        state.withLock { $0.faults[endpoint] = faults }
    }

    /// Every request to `endpoint` goes wrong so from now on, after what was scripted; nil ends that.
    public func always(_ endpoint: AmazonEndpoint, _ fault: AmazonFault?) {
        state.withLock { $0.standing[endpoint] = fault }
    }

    /// What was asked so far, oldest first.
    public var received: [ReceivedRequest] { state.withLock { $0.received } }

    /// Forgets what was asked so far.
    public func forget() { state.withLock { $0.received = [] } }

    /// Serves a chain as one more file under `/echo.api/`.
    public func serve(chain: [UInt8], as file: String) { state.withLock { $0.chains[file] = chain } }

    /// Serves a chain at a path of the certificate host where Alexa would never put one.
    public func serve(chain: [UInt8], atPath path: String) { state.withLock { $0.strayChains[path] = chain } }

    /// A signer whose chain has a fault and is served here.
    ///
    /// - Throws: `CryptoError` where OpenSSL makes no key or certificate.
    public func signer(with fault: ChainFault) throws(CryptoError) -> AlexaSigner {
        if let kept = state.withLock({ $0.signers[fault] }) { return kept }
        let identity = try authority.signing(with: fault, now: clock())
        let file = "echo-api-cert-\(fault.rawValue).pem"
        let signer = AlexaSigner(key: identity.key, chainURL: AlexaSigner.chainFolder + file)
        let pem = identity.pem
        state.withLock { state in
            state.signers[fault] = signer
            state.chains[file] = pem
        }
        return signer
    }

    /// Thirty seconds: the callers' own limits are what is tested here.
    public func timeLimit(for method: HTTPMethod, target: String) -> Duration { .seconds(30) }

    /// Answers as the host that the request names.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        let host = (request.fields["Host"] ?? "").prefix { $0 != ":" }.lowercased()
        record(request, host)
        switch (host, request.path) {
        case ("s3.amazonaws.com", let path) where path.hasPrefix("/echo.api/"):
            return await answer(.certificates) { self.chain(request, String(path.dropFirst("/echo.api/".count))) }
        case ("api.amazon.com", "/auth/o2/token"):
            return await answer(.token) { self.tokens.answer(request) }
        case (_, let path) where LinkingEndpoint.isConsent(path): return ConsentPage(linking: linking).answer(request)
        case ("s3.amazonaws.com", let path):
            guard let chain = state.withLock({ $0.strayChains[String(path)] }) else { return HTTPResponse(status: 404) }
            return HTTPResponse(status: 200, body: chain)
        default:
            guard let region = EventEndpoint.hosts[host] else { return HTTPResponse(status: 404) }
            if request.path == "/v3/events" {
                return await answer(.events(region)) { self.events.answer(request, region: region) }
            }
            if request.path == LinkingEndpoint.regionsPath {
                return await answer(.regions) { self.linking.regions(request) }
            }
            guard LinkingEndpoint.answers(request.path) else { return HTTPResponse(status: 404) }
            return await answer(.enablement(region)) { await self.linking.answer(request, region: region) }
        }
    }

    private func answer(_ endpoint: AmazonEndpoint, rightly: () async -> HTTPResponse) async -> HTTPResponse {
        let fault: AmazonFault? = state.withLock { state in
            guard let first = state.faults[endpoint]?.first else { return state.standing[endpoint] }
            state.faults[endpoint]?.removeFirst()
            return first
        }
        switch fault {
        case nil: return await rightly()
        case .status(let status, let body)?: return HTTPResponse(status: status, body: Array(body.utf8))
        case .gateway(let status, let code, let retryAfter)?:
            var answer = EventEndpoint.answer(to: EventRefusal(status: status, code: code, description: "as scripted"))
            if let retryAfter { answer.fields.append("Retry-After", retryAfter) }
            return answer
        case .garbage?: return HTTPResponse(status: 200, body: Array("<html>something else</html>".utf8))
        case .delay(let duration)?:
            try? await Task.sleep(for: duration)
            return await rightly()
        case .lostAnswer?, .silence?:
            if case .lostAnswer? = fault { _ = await rightly() }
            // Ends with the task, which the server cancels when the caller leaves or its limit is reached.
            try? await Task.sleep(for: .seconds(3600))
            return HTTPResponse(status: 503)
        }
    }

    private func chain(_ request: HTTPRequest, _ file: String) -> HTTPResponse {
        guard request.method == .get else { return HTTPResponse(status: 405, fields: ["Allow": "GET"]) }
        guard request.query == nil, let chain = state.withLock({ $0.chains[file] }) else {
            return HTTPResponse(status: 404)
        }
        return HTTPResponse(status: 200, fields: ["Content-Type": "application/octet-stream"], body: chain)
    }

    private func record(_ request: HTTPRequest, _ host: String) {
        let received = ReceivedRequest(
            host: host, method: request.method.rawValue, target: request.target,
            fields: request.fields.lines.map { ($0.name, $0.value) }, body: request.body)
        state.withLock { state in
            if state.received.count == Self.recordLimit { state.received.removeFirst(Self.recordLimit / 10) }
            state.received.append(received)
        }
    }
}
