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
        return try await send(body).status
    }

    /// What a customer hears and sees who says "Alexa, open" and the skill's name.
    public struct Opening: Sendable {
        /// The status of the answer.
        public let status: Int
        /// What Alexa says; nil where she says nothing.
        public let speech: String?
        /// The type of the card in the Alexa app, `LinkAccount` for example.
        public let card: String?
    }

    /// A customer opens a skill; `enabled` is nil for one who has not linked it.
    ///
    /// - Throws: as ``tell(_:of:)``.
    public func open(skillID: String, enabled: LinkingEndpoint.Enabled?) async throws -> Opening {
        var user: JSONObject = ["userId": .string(enabled?.userID ?? "amzn1.ask.account.NOBODYLINKED")]
        user["accessToken"] = enabled.map { .string($0.accessToken.exposed) }
        let application: JSONValue = ["applicationId": .string(skillID)]
        let body: JSONValue = [
            "version": "1.0",
            "session": [
                "new": true, "sessionId": .string("amzn1.echo-api.session." + SecureRandom.uuid()),
                "application": application, "user": .object(user),
            ],
            "context": [
                "System": [
                    "application": application, "user": .object(user), "device": ["supportedInterfaces": [:]],
                    "apiEndpoint": "https://api.amazonalexa.com",
                ]
            ],
            "request": [
                "type": "LaunchRequest", "requestId": .string("amzn1.echo-api.request." + SecureRandom.uuid()),
                "timestamp": .string(clock().iso8601()), "locale": "en-US",
            ],
        ]
        let answer = try await send(body)
        let response = (try? JSONValue(parsing: answer.body))?["response"]
        let speech = response?["outputSpeech"]
        return Opening(
            status: answer.status, speech: speech?["text"]?.string ?? speech?["ssml"]?.string,
            card: response?["card"]?["type"]?.string)
    }

    private func send(_ body: JSONValue) async throws -> HTTPResponse {
        let bytes = body.encoded()
        return try await http.send(
            OutgoingRequest(method: .post, url: endpoint, fields: try signer.headers(for: bytes), body: bytes),
            by: .after(Self.patience, from: .now))
    }
}
