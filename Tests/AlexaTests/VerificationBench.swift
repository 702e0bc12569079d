import Alexa
import Concurrency
import Crypto
import HTTP
import JSON
import TestSupport
import Time

/// A verifier, the certificate host that it asks, and the clock that both stand by.
final class VerificationBench: Sendable {
    static let skillID = "amzn1.ask.skill.TEST"
    /// Made once, since keys take long to make.
    static let authority = Result { try TestAuthority() }
    static let signer = Result { try authority.get().signer() }

    let clock = ManualClock()
    let host: CertificateHost
    let http: RecordingHTTPClient
    let chains: CertificateChains
    let verifier: RequestVerifier

    /// A bench where the certificate host serves `files`, by address.
    init(
        _ files: [String: HTTPResponse], anchors: TrustAnchors, limits: CertificateChains.Limits = .init()
    ) {
        let host = CertificateHost(files)
        self.host = host
        http = RecordingHTTPClient { request, _ in host.response(to: request.url) }
        chains = CertificateChains(
            http: http, anchors: anchors, clock: clock.wall, monotonic: clock.monotonic, limits: limits)
        verifier = RequestVerifier(skillIDs: [Self.skillID], chains: chains, clock: clock.wall)
    }

    /// A bench whose host serves the usual chain at the usual address.
    convenience init() throws {
        let signer = try Self.signer.get()
        self.init(
            [TestSigner.usualURL: HTTPResponse(status: 200, body: signer.pem)],
            anchors: try Self.authority.get().anchors)
    }

    func request(_ body: [UInt8], url: String = TestSigner.usualURL) throws -> HTTPRequest {
        try Self.signer.get().request(body, url: url, deadline: clock.deadline())
    }

    /// The reason why `request` is refused; nil where it is accepted.
    func rejection(of request: HTTPRequest) async -> RequestRejection? {
        do {
            _ = try await verifier.verify(request)
            return nil
        } catch {
            return error
        }
    }

    /// The reason why a signed request of that type and time is refused.
    func rejection(type: String = "IntentRequest", timestamp: String) async throws -> RequestRejection? {
        await rejection(of: try request(envelope(type: type, timestamp: timestamp)))
    }
}

/// A certificate host whose files the test changes.
final class CertificateHost: Sendable {
    private let files: Locked<[String: HTTPResponse]>

    init(_ files: [String: HTTPResponse]) { self.files = Locked(files) }

    func response(to url: String) -> HTTPResponse { files.withLock { $0[url] } ?? HTTPResponse(status: 403) }

    func serve(_ response: HTTPResponse, at url: String) { files.withLock { $0[url] = response } }
}

/// A request's body; `timestamp` is JSON as it stands.
func envelope(
    type: String = "LaunchRequest", timestamp: String = "\"2025-01-15T10:00:00Z\"", more: String = "",
    context: String = #"{"System":{"application":{"applicationId":"amzn1.ask.skill.TEST"}}}"#, session: String? = nil
) -> [UInt8] {
    let session = session.map { #""session":\#($0),"# } ?? ""
    let text = #"""
        {"version":"1.0",\#(session)"context":\#(context),
        "request":{"type":"\#(type)","requestId":"r1","locale":"en-US","timestamp":\#(timestamp)\#(more)}}
        """#
    return Array(text.utf8)
}

/// A door that stays shut until the test opens it.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var arrivals = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    /// Waits for the door to open.
    func pass() async {
        await withCheckedContinuation { continuation in
            let (isOpen, watchers) = state.withLock { state in
                state.arrivals += 1
                if !state.isOpen { state.waiting.append(continuation) }
                let arrivals = state.arrivals
                let due = state.watchers.filter { $0.count <= arrivals }.map(\.continuation)
                state.watchers.removeAll { $0.count <= arrivals }
                return (state.isOpen, due)
            }
            if isOpen { continuation.resume() }
            for watcher in watchers { watcher.resume() }
        }
    }

    /// Waits until `count` have come to the door.
    func arrivals(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state in
                if state.arrivals >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isDue { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
