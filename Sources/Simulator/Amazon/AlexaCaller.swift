import Crypto
public import HTTP
import JSON
public import Time

/// Alexa as the caller of a service: events of a skill that a customer enabled, and the refreshing of its tokens.
public struct AlexaCaller: Sendable {
    /// An event of a skill (`AlexaSkillEvent`).
    public enum Event: String, Sendable, CaseIterable {
        /// The customer enabled the skill.
        case enabled = "SkillEnabled"
        /// The customer linked the account; the token of ours comes with it.
        case accountLinked = "SkillAccountLinked"
        /// The customer disabled the skill.
        case disabled = "SkillDisabled"
    }

    private let signer: AlexaSigner
    private let endpoint: String
    private let http: any HTTPClient
    private let clock: WallClock

    private static let patience = Duration.seconds(10)

    /// A caller of the service at `endpoint`, its address of custom requests.
    public init(signer: AlexaSigner, endpoint: String, http: any HTTPClient, clock: @escaping WallClock) {
        self.signer = signer
        self.endpoint = endpoint
        self.http = http
        self.clock = clock
    }

    /// Tells the service of an event, signed.
    ///
    /// - Returns: the status of the answer.
    /// - Throws: `CryptoError` where it cannot be signed, `HTTPClientError` where no answer comes.
    public func tell(_ event: Event, of enabled: LinkingEndpoint.Enabled) async throws -> Int {
        let now = JSONValue.string(clock().iso8601())
        var request: JSONObject = [
            "type": .string("AlexaSkillEvent." + event.rawValue),
            "requestId": .string("amzn1.echo-api.request." + SecureRandom.uuid()), "timestamp": now,
            "eventCreationTime": now, "eventPublishingTime": now,
        ]
        if event == .accountLinked { request["body"] = ["accessToken": .string(enabled.accessToken.exposed)] }
        let body: JSONValue = [
            "version": "1.0", "request": .object(request),
            "context": [
                "System": [
                    "application": ["applicationId": .string(enabled.skillID)],
                    "user": ["userId": .string(enabled.userID)], "apiEndpoint": "https://api.amazonalexa.com",
                ]
            ],
        ]
        let bytes = body.encoded()
        let answer = try await http.send(
            OutgoingRequest(
                method: .post, url: endpoint, fields: try signer.headers(for: bytes), body: bytes),
            by: .after(Self.patience, from: .now))
        return answer.status
    }
}
