public import Alexa
import HTTP
public import JSON

/// Why the provider's server gave no resource.
public enum ResourceFailure: Error, Hashable, Sendable {
    /// 401: the token is not good there; `isExpired` where the server says that it has expired.
    case tokenRefused(isExpired: Bool)
    /// 403: the token is good and does not allow it.
    case forbidden
    /// 404.
    case notFound
    /// 409.
    case busy
    /// 429.
    case rateLimited
    /// No connection, or a broken one.
    case unreachable
    /// No answer in time.
    case timedOut
    /// A body `{"error":TYPE,…}` with an error type of Alexa's smart-home interfaces.
    case declared(DeclaredError)
    /// Any other status than 200 to 299.
    case status(Int)
    /// The answer is no JSON in a charset that is known; the text says what is wrong with it.
    case notJSON(String)
    /// The member of that path is missing or of the wrong kind.
    case malformed(path: String)
    /// The answer is larger than the limit.
    case tooLarge
    /// The address of the resource cannot be used.
    case address
    /// The caller went away, or its time was up.
    case cancelled

    /// The stable name in logs and traces.
    public var reasonCode: String {
        switch self {
        case .tokenRefused(let isExpired): isExpired ? "resource.tokenExpired" : "resource.tokenRefused"
        case .forbidden: "resource.forbidden"
        case .notFound: "resource.notFound"
        case .busy: "resource.busy"
        case .rateLimited: "resource.rateLimited"
        case .unreachable: "resource.unreachable"
        case .timedOut: "resource.timedOut"
        case .declared: "resource.declared"
        case .status: "resource.status"
        case .notJSON: "resource.notJSON"
        case .malformed: "resource.malformed"
        case .tooLarge: "resource.tooLarge"
        case .address: "resource.address"
        case .cancelled: "resource.cancelled"
        }
    }

    /// What an operator needs besides; nothing of the answer itself but an error type of Alexa's.
    public var detail: String? {
        switch self {
        case .declared(let error): error.type.rawValue
        case .status(let status): "status \(status)"
        case .notJSON(let reason): reason
        case .malformed(let path): path
        default: nil
        }
    }

    init(_ error: HTTPClientError) {
        switch error {
        case .address: self = .address
        case .unreachable, .tls, .broken, .circuitOpen: self = .unreachable
        case .timedOut: self = .timedOut
        case .answerTooLarge: self = .tooLarge
        case .cancelled: self = .cancelled
        }
    }

    /// What a status says where no body says more; nil for success.
    init?(status: Int, challenge: String?) {
        switch status {
        case 200..<300: return nil
        case 401: self = .tokenRefused(isExpired: challenge.map(saysExpired) ?? false)
        case 403: self = .forbidden
        case 404: self = .notFound
        case 409: self = .busy
        case 429: self = .rateLimited
        default: self = .status(status)
        }
    }
}

/// What the provider's server says of a failure in Alexa's own terms.
public struct DeclaredError: Hashable, Sendable {
    /// How much of a message is taken.
    public static let messageLimit = 256

    /// The type.
    public var type: SmartHomeErrorType
    /// The words for developers; nil where there are none.
    public var message: String?
    /// Every other member, as it came.
    public var details: JSONObject

    /// An error.
    public init(_ type: SmartHomeErrorType, message: String? = nil, details: JSONObject = [:]) {
        self.type = type
        self.message = message
        self.details = details
    }

    /// Reads a body; nil where it names no type that a device's answer may have.
    ///
    /// A grant's error is none of them.
    init?(decoding body: JSONElement) {
        guard let type = body.string("error").flatMap(SmartHomeErrorType.init(rawValue:)), type != .acceptGrantFailed
        else { return nil }
        self.type = type
        message = body.string("message").flatMap { $0.isEmpty ? nil : String($0.prefix(Self.messageLimit)) }
        details = [:]
        for (name, value) in body.members ?? [] where name != "error" && name != "message" {
            details[name] = value.value
        }
    }
}

/// Whether a `WWW-Authenticate` value (RFC 6750 §3) tells an expired token from any other bad one.
private func saysExpired(_ challenge: String) -> Bool {
    let words = challenge.lowercased().split { !$0.isLetter }
    return words.contains("expired")
}
