import Alexa
import OAuth

/// Why a directive is not answered as Alexa wishes.
enum SmartHomeFailure: Error {
    /// Nothing proves that the forwarder sent it, or it is no JSON.
    case unproven(RequestRejection)
    /// The address does not say which skill or region is meant.
    case query(QueryFault)
    /// It cannot be read.
    case unreadable(DirectiveRejection)
    /// It is of a kind that this skill does not take.
    case unknown(DirectiveEcho)
    /// The account's token is not good.
    case token(TokenRejection, DirectiveEcho)
    /// The grant was not taken, for the reason of that code.
    case grant(reasonCode: String, DirectiveEcho)
    /// The answer is longer than Alexa takes.
    case tooLong(bytes: Int, limit: Int, DirectiveEcho)

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
        case .unreadable(let rejection): rejection.reasonCode
        case .unknown: "directive.unknown"
        case .token(let rejection, _): rejection.reasonCode
        case .grant(let reasonCode, _): reasonCode
        case .tooLong: "response.tooLong"
        }
    }

    /// What the operator needs besides the code; nothing in it is secret.
    var detail: String? {
        switch self {
        case .unproven(let rejection): rejection.detail
        case .query(let fault): fault.detail
        case .unreadable(let rejection): rejection.detail
        case .token(let rejection, _): rejection.detail
        case .tooLong(let bytes, let limit, _): "\(bytes) bytes of \(limit)"
        case .unknown, .grant: nil
        }
    }

    /// Whether something of ours or behind us is broken, rather than the request.
    var isFault: Bool {
        switch self {
        case .token(.providerUnreachable, _), .grant, .tooLong: true
        case .unproven, .query, .unreadable, .unknown, .token: false
        }
    }
}
