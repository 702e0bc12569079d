import Crypto
public import HTTP
public import Time

/// Sends what Amazon's certification sends to an endpoint, and judges the answers.
public struct Certification: Sendable {
    /// How a case went.
    public struct Result: Sendable {
        /// The case.
        public let item: CertificationCase
        /// The status that was answered; nil where none came, or nothing was sent.
        public let status: Int?
        /// Why there is no status, in words.
        public let reason: String?
        /// Whether the case was left out.
        public let isLeftOut: Bool
        /// How long the answer took.
        public let seconds: Double

        /// Whether the answer is right; false too where none came.
        public var isRight: Bool { status.map { item.statuses.contains($0) } ?? false }
    }

    private let url: String
    private let sender: CertificationSender
    private let isTrusted: Bool

    /// Cases for the endpoint at `url`.
    ///
    /// - Parameters:
    ///   - url: where Alexa's requests are posted.
    ///   - skillID: the skill that the endpoint serves.
    ///   - hosts: who signs; they serve the certificates too, where Alexa never puts them as well, so that an endpoint
    ///     that looks there finds them.
    ///   - isTrusted: whether the endpoint trusts the hosts' authority and reaches them.
    ///   - clock: the endpoint's time of day.
    public init(url: String, skillID: String, hosts: AmazonHosts, isTrusted: Bool, clock: @escaping WallClock) {
        self.url = url
        self.isTrusted = isTrusted
        sender = CertificationSender(hosts: hosts, skillID: skillID, clock: clock)
        for folder in ["/", "/invalid.path/", "/EcHo.aPi/"] {
            hosts.serve(chain: hosts.authority.signing.pem, atPath: folder + AlexaSigner.chainFile)
        }
    }

    /// Sends one case by `send`, which says in words why an answer did not come.
    public func result(
        of item: CertificationCase,
        send: (OutgoingRequest) async throws(CertificationFailure) -> HTTPResponse
    ) async -> Result {
        let begin = ContinuousClock.now
        guard isTrusted || !item.needsTrust else {
            let reason = "needs an endpoint that trusts the simulator's authority"
            return Result(item: item, status: nil, reason: reason, isLeftOut: true, seconds: 0)
        }
        do throws(CertificationFailure) {
            let request = try request(item)
            let answer = try await send(request)
            return Result(
                item: item, status: answer.status, reason: nil, isLeftOut: false,
                seconds: (ContinuousClock.now - begin) / .seconds(1))
        } catch {
            return Result(
                item: item, status: nil, reason: error.reason, isLeftOut: false,
                seconds: (ContinuousClock.now - begin) / .seconds(1))
        }
    }

    private func request(_ item: CertificationCase) throws(CertificationFailure) -> OutgoingRequest {
        do throws(CryptoError) {
            let made = try item.make(sender)
            return OutgoingRequest(
                method: made.method, url: url, fields: made.fields, body: made.body, answerLimitBytes: 1 << 20)
        } catch { throw CertificationFailure(reason: "it cannot be signed: \(error.reason)") }
    }
}

/// Why a case brought no answer.
public struct CertificationFailure: Error, Hashable, Sendable {
    /// In words.
    public let reason: String

    /// A failure for that reason.
    public init(reason: String) { self.reason = reason }
}
