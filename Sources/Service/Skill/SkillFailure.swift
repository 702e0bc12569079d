import Alexa
import OAuth

/// Why a verified request cannot be answered as it should.
///
/// The cases say what happened; ``CustomSkillEndpoint`` alone decides what is said.
enum SkillFailure: Error, Sendable {
    /// The account is needed, and there is no token or not a good one.
    case token(TokenRejection)
    /// Permissions of the Alexa app are missing.
    case permissions([String])
    /// A resource could not be had.
    case resource(ResourceFailure)
    /// The answer needs a slot that the user did not fill, or filled with what no address can hold.
    case slotMissing(String)
    /// The answer names a member that the resource does not have.
    case valueMissing(String)
    /// A handler threw an error of that type.
    case handler(type: String)
    /// What a disabled skill's user had could not be ended.
    case joins
    /// The answer breaks one of Alexa's rules.
    case answer(ResponseViolation)

    /// The stable name in logs and traces.
    var reasonCode: String {
        switch self {
        case .token(let rejection): rejection.reasonCode
        case .permissions: "skill.permissionMissing"
        case .resource(let failure): failure.reasonCode
        case .slotMissing: "skill.slotMissing"
        case .valueMissing: "skill.valueMissing"
        case .handler: "skill.handlerFailed"
        case .joins: "link.storeUnavailable"
        case .answer(let violation): violation.reasonCode
        }
    }

    /// What an operator needs besides; nothing of it was said by the user or sent by another server.
    var detail: String? {
        switch self {
        case .token(let rejection): rejection.detail
        case .permissions(let scopes): scopes.joined(separator: " ")
        case .resource(let failure): failure.detail
        case .slotMissing(let name), .valueMissing(let name): name
        case .handler(let type): type
        case .joins: nil
        case .answer(let violation): violation.detail
        }
    }

    /// What the resource server holds against the token; nil where something else failed.
    var refusedToken: TokenRejection? {
        guard case .resource(let failure) = self else { return nil }
        switch failure {
        case .tokenRefused(let isExpired): return isExpired ? .expired : .revoked
        case .declared(let error) where error.type == .expiredAuthorizationCredential: return .expired
        case .declared(let error) where error.type == .invalidAuthorizationCredential: return .revoked
        default: return nil
        }
    }

    /// Whether what the request asked for may not have happened, and may when it comes again.
    var isWorthRepeating: Bool {
        // The handler has done its work; what it answered would be wrong again.
        if case .answer = self { return false }
        return isFault
    }

    /// Whether something of ours or of the provider's is broken, rather than a rule was kept.
    var isFault: Bool {
        switch self {
        case .token(let rejection): rejection == .providerUnreachable
        case .permissions, .slotMissing: false
        case .resource, .valueMissing, .handler, .joins, .answer: true
        }
    }
}
