import Alexa
import JSON
import OAuth

/// Why a directive is not answered as Alexa wishes.
enum SmartHomeFailure: Error {
    /// Nothing proves that the forwarder sent it, or it is no JSON.
    case unproven(RequestRejection)
    /// The address does not say which skill or region is meant.
    case query(QueryFault)
    /// It cannot be read, or is none that Alexa's interfaces have.
    case refused(DirectiveRejection)
    /// The account's token is not good.
    case token(TokenRejection)
    /// The provider's server did not do what was asked; `isTokenExpired` where the token has ended meanwhile.
    case resource(ResourceFailure, isTokenExpired: Bool)
    /// The endpoint's id stands for a device whose own id is kept nowhere.
    case endpointUnknown
    /// The store did not answer.
    case store
    /// The grant was not taken, for the reason of that code.
    case grant(reasonCode: String)
    /// The answer would break Alexa's schema.
    case schema(EventViolation)
    /// The answer is longer than Alexa takes.
    case tooLong(bytes: Int, limit: Int)

    enum QueryFault: String {
        case malformed = "smartHome.query"
        case unknownSkill = "smartHome.unknownSkill"
        case skillNotNamed = "smartHome.skillNotNamed"
        case unknownRegion = "smartHome.unknownRegion"

        var detail: String {
            switch self {
            case .malformed: "the query cannot be decoded, or names skill or region twice"
            case .unknownSkill: "no smart-home skill has that name"
            case .skillNotNamed: "there are several smart-home skills, so the query must name one"
            case .unknownRegion: "region is one of NA, EU and FE"
            }
        }
    }

    var reasonCode: String {
        switch self {
        case .unproven(let rejection): rejection.reasonCode
        case .query(let fault): fault.rawValue
        case .refused(let rejection): rejection.reasonCode
        case .token(let rejection): rejection.reasonCode
        case .resource(let failure, _): failure.reasonCode
        case .endpointUnknown: "directive.endpointUnknown"
        case .store: "smartHome.storeUnavailable"
        case .grant(let reasonCode): reasonCode
        case .schema: "response.schema"
        case .tooLong: "response.tooLong"
        }
    }

    /// What the operator needs besides the code; nothing in it is secret.
    var detail: String? {
        switch self {
        case .unproven(let rejection): rejection.detail
        case .query(let fault): fault.detail
        case .refused(let rejection): rejection.detail
        case .token(let rejection): rejection.detail
        case .resource(let failure, _): failure.detail
        case .schema(let violation): violation.detail
        case .tooLong(let bytes, let limit): "\(bytes) bytes of \(limit)"
        case .endpointUnknown, .store, .grant: nil
        }
    }

    /// Whether something of ours or behind us is broken, rather than the request or the device.
    var isFault: Bool {
        switch self {
        case .token(.providerUnreachable), .grant, .schema, .tooLong, .store: true
        case .resource(let failure, _): failure.isFault
        case .unproven, .query, .refused, .token, .endpointUnknown: false
        }
    }
}

extension SmartHomeFailure {
    /// The error that Alexa is told; nil where the answer is none of Alexa's.
    var error: DeclaredError? {
        switch self {
        case .unproven, .query: nil
        case .refused(let rejection):
            DeclaredError(
                rejection.errorType,
                message: [rejection.reasonCode, rejection.detail].compactMap(\.self).joined(separator: ": "),
                details: rejection.errorDetails)
        case .token(let rejection): DeclaredError(Self.type(of: rejection))
        case .resource(let failure, let isTokenExpired): failure.error(isTokenExpired: isTokenExpired)
        case .endpointUnknown: DeclaredError(.noSuchEndpoint)
        case .store, .schema, .tooLong: DeclaredError(.internalError)
        case .grant: DeclaredError(.acceptGrantFailed)
        }
    }

    /// Whether the provider's server did not take the account's token.
    var refusesToken: Bool {
        guard case .resource(.tokenRefused, _) = self else { return false }
        return true
    }

    private static func type(of rejection: TokenRejection) -> SmartHomeErrorType {
        switch rejection {
        // Alexa refreshes the token on this one alone.
        case .expired: .expiredAuthorizationCredential
        // Nothing is known against the token, so Alexa must not drop it.
        case .providerUnreachable: .internalError
        case .missing, .malformed, .algorithm, .badSignature, .unknownKey, .wrongIssuer, .wrongAudience, .wrongClient,
            .notYetValid, .revoked, .lacksScope:
            .invalidAuthorizationCredential
        }
    }
}

extension ResourceFailure {
    /// The error that stands for it in an answer to a directive.
    fileprivate func error(isTokenExpired: Bool) -> DeclaredError {
        switch self {
        case .declared(let error): error
        case .tokenRefused(let isExpired):
            DeclaredError(
                isExpired || isTokenExpired ? .expiredAuthorizationCredential : .invalidAuthorizationCredential)
        case .forbidden: DeclaredError(.insufficientPermissions)
        case .notFound: DeclaredError(.noSuchEndpoint)
        case .busy: DeclaredError(.endpointBusy)
        case .rateLimited: DeclaredError(.rateLimitExceeded)
        case .unreachable, .timedOut, .cancelled: DeclaredError(.bridgeUnreachable)
        case .status, .notJSON, .malformed, .tooLarge, .address: DeclaredError(.internalError)
        }
    }

    /// Whether the provider's server is broken, rather than that it says no.
    fileprivate var isFault: Bool {
        switch self {
        case .unreachable, .timedOut, .cancelled, .status, .notJSON, .malformed, .tooLarge, .address: true
        case .declared, .tokenRefused, .forbidden, .notFound, .busy, .rateLimited: false
        }
    }
}
