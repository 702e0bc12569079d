import Crypto
import HTTP
import JSON

/// Why the skill management API did not do what it was asked; nothing in it is secret.
public enum SkillManagementError: Error, Hashable, Sendable {
    /// 400: Amazon refuses a value, in its own words.
    case invalid([String])
    /// 401: the token is missing, expired or unknown.
    case tokenRefused
    /// 403: the token's account may not change this skill.
    case notAllowed([String])
    /// 404: no such skill, or it has no such stage.
    case skillUnknown
    /// 412: it was changed at the same time by somebody else.
    case changedMeanwhile
    /// 429: too many calls.
    case throttled(seconds: Int?)
    /// 500 and other faults of Amazon's.
    case fault(status: Int)
    /// 502, 503, 504: Amazon cannot answer now.
    case unavailable(status: Int)
    /// An answer of a status that is in no table.
    case unexpectedAnswer(status: Int)
    /// No connection, or TLS failed: nothing was sent.
    case unreachable(String)
    /// No answer in time; what was sent may have been taken.
    case timedOut
    /// The connection broke; what was sent may have been taken.
    case broken

    /// The stable reason code.
    public var reasonCode: String {
        switch self {
        case .invalid: "smapi.invalid"
        case .tokenRefused: "smapi.tokenRefused"
        case .notAllowed: "smapi.notAllowed"
        case .skillUnknown: "smapi.skillUnknown"
        case .changedMeanwhile: "smapi.changedMeanwhile"
        case .throttled: "smapi.throttled"
        case .fault: "smapi.fault"
        case .unavailable: "smapi.unavailable"
        case .unexpectedAnswer: "smapi.unexpectedAnswer"
        case .unreachable: "smapi.unreachable"
        case .timedOut: "smapi.timedOut"
        case .broken: "smapi.broken"
        }
    }

    /// What happened and what to do, in one or two sentences.
    public var advice: String {
        switch self {
        case .invalid:
            "Amazon refuses a value (400). Mend what it names in the configuration, and push again."
        case .tokenRefused:
            "Amazon does not take smapi.token (401): it is wrong or older than an hour. Make a new one with "
                + "\"ask util generate-lwa-tokens\", scope alexa::ask:skills:readwrite."
        case .notAllowed:
            "The account of smapi.token may not change this skill (403). Make the token with an account that is "
                + "administrator or developer of the skill's vendor, with scope alexa::ask:skills:readwrite."
        case .skillUnknown:
            "Amazon knows no such skill in this stage (404). Compare skills[].id and skills[].stage with the console: "
                + "a skill that was never published has no stage live."
        case .changedMeanwhile:
            "The account linking was changed at the same time (412). Look at it in the console, and push again."
        case .throttled(let seconds):
            "Too many calls (429). Push again in \(seconds.map { "\($0) seconds" } ?? "a minute")."
        case .fault(let status): "Amazon failed (\(status)). Push again in a few minutes."
        case .unavailable(let status): "Amazon cannot answer now (\(status)). Push again in a few minutes."
        case .unexpectedAnswer(let status):
            "Amazon answered \(status), where 204 is expected. Look at amazon.endpoints.api.NA and http.proxy."
        case .unreachable(let reason):
            "Amazon cannot be reached: \(reason). Look at the network, http.proxy and amazon.endpoints.api.NA."
        case .timedOut: "No answer came in time; it may have been taken. Push again: that changes nothing twice."
        case .broken: "The connection broke; it may have been taken. Push again: that changes nothing twice."
        }
    }

    /// Amazon's own words, bounded, without secrets and control characters.
    public var details: [String] {
        switch self {
        case .invalid(let details), .notAllowed(let details): details
        default: []
        }
    }

    init(_ error: HTTPClientError) {
        switch error {
        case .unreachable(let reason), .tls(let reason): self = .unreachable(reason)
        case .address: self = .unreachable("the address cannot be used")
        case .circuitOpen: self = .unreachable("it failed a moment ago")
        case .timedOut: self = .timedOut
        case .broken, .answerTooLarge, .cancelled: self = .broken
        }
    }

    /// Reads an answer that is no success; `secrets` are taken out wherever Amazon repeats them.
    init(_ response: HTTPResponse, hiding secrets: [Secret]) {
        switch response.status {
        case 400: self = .invalid(Self.details(response.body, hiding: secrets))
        case 401: self = .tokenRefused
        case 403: self = .notAllowed(Self.details(response.body, hiding: secrets))
        case 404: self = .skillUnknown
        case 412: self = .changedMeanwhile
        case 429: self = .throttled(seconds: response.fields["Retry-After"].flatMap { Int($0) })
        case 502, 503, 504: self = .unavailable(status: response.status)
        case 500...599: self = .fault(status: response.status)
        case let status: self = .unexpectedAnswer(status: status)
        }
    }

    /// `message`, and the messages of `violations`.
    private static func details(_ body: [UInt8], hiding secrets: [Secret]) -> [String] {
        guard let root = (try? JSONDocument(parsing: body))?.root else { return [] }
        let violations = root.member("violations")?.elements ?? []
        let texts = [root.string("message")] + violations.prefix(20).map { $0.string("message") }
        return texts.compactMap(\.self).map { text in
            var text = text
            for secret in secrets { text = text.replacing(secret.exposed, with: "<redacted>") }
            var shown = String.UnicodeScalarView()
            for scalar in text.unicodeScalars.prefix(300) {
                shown.append(scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? " " : scalar)
            }
            return String(shown)
        }
    }
}
