import Alexa
import LinkMessages
import OAuth

/// Why a link did not come about, or cannot be shown or ended: for the app, its user and the operator.
struct LinkFault: Error, Hashable, Sendable {
    /// Whether trying again helps.
    enum Retry: String, Hashable, Sendable {
        /// The same will fail until somebody mends something.
        case never
        /// Alexa or we are unwell at present.
        case later
        /// Starting anew will do.
        case now
    }

    /// The stable reason code.
    let code: String
    /// The status of the answer to the app.
    let status: Int
    /// What the user is told; nil where the user decided.
    let message: LinkText?
    let retry: Retry
    /// What is wrong, for the app's developer; never anything secret.
    let detail: String
    var retryAfterSeconds: Int64?

    init(
        _ code: String, _ status: Int, _ message: LinkText?, _ retry: Retry, _ detail: String,
        retryAfterSeconds: Int64? = nil
    ) {
        self.code = code
        self.status = status
        self.message = message
        self.retry = retry
        self.detail = detail
        self.retryAfterSeconds = retryAfterSeconds
    }
}

// MARK: - What the caller did

extension LinkFault {
    static let noSuchSkill = LinkFault(
        "link.noSuchSkill", 404, .problem, .never, "No skill of that name can be linked")
    static let skillNeeded = LinkFault(
        "link.skillNeeded", 400, .problem, .never, "There are several skills: name one by skill=NAME")
    static let redirectNotAllowed = LinkFault(
        "link.redirectNotAllowed", 400, .problem, .never, "That address is none of the skill's redirectURLs")
    static let returnNotAllowed = LinkFault(
        "link.returnNotAllowed", 400, .problem, .never, "That address is none of the skill's returnURLs")
    static let stateMissing = LinkFault("link.stateMissing", 400, .problem, .now, "state is missing")
    static let stateMalformed = LinkFault(
        "link.stateMalformed", 400, .problem, .now,
        "state has characters that Alexa does not carry, or is shorter than 8 or longer than 255 characters")
    static let stateTaken = LinkFault(
        "link.stateReused", 400, .startAgain, .now, "That state was given before: make a new one for each attempt")
    static let stateUnknown = LinkFault(
        "link.stateUnknown", 400, .startAgain, .now,
        "No attempt has that state. Send the state of the redirect, not one that was made after it")
    static let stateReused = LinkFault(
        "link.stateReused", 400, .startAgain, .now, "That state was used already: each is good once")
    static let stateExpired = LinkFault(
        "link.stateExpired", 400, .startAgain, .now, "That state is older than an hour")
    static let stateOfOtherUser = LinkFault(
        "link.stateOtherUser", 403, .otherUser, .now, "Another user began that attempt")
    static let stateOfOtherSkill = LinkFault(
        "link.stateOtherSkill", 400, .startAgain, .now, "That attempt is of another skill or another redirect URL")
    static let stateOfOtherBrowser = LinkFault(
        "link.stateOtherBrowser", 403, .otherUser, .now, "Another browser began that attempt")

    static func malformed(_ detail: String) -> LinkFault {
        LinkFault("link.requestMalformed", 400, .problem, .never, detail)
    }

    static func redirect(_ fault: LinkRedirectFault) -> LinkFault {
        LinkFault(fault.reasonCode, 400, .problem, .now, "What came back cannot be taken: \(fault.detail)")
    }
}

// MARK: - What Amazon said

extension LinkFault {
    /// An error that came back in place of a code (RFC 6749 §4.1.2.1).
    static func returned(_ error: String) -> LinkFault {
        switch error {
        case "access_denied": LinkFault("link.accessDenied", 400, nil, .now, "The user said no")
        case "invalid_request":
            LinkFault("link.amazonInvalidRequest", 502, .problem, .never, "Amazon calls the request invalid")
        case "unauthorized_client":
            LinkFault(
                "link.amazonUnauthorizedClient", 502, .problem, .never, "linking.clientID may not ask for consent")
        case "unsupported_response_type":
            LinkFault(
                "link.amazonResponseType", 502, .problem, .never, "Amazon does not take the response type")
        case "invalid_scope":
            LinkFault("link.amazonInvalidScope", 502, .problem, .never, "Amazon does not take the scope")
        case "server_error":
            LinkFault("link.amazonServerError", 502, .unexpected, .now, "Amazon failed")
        case "temporarily_unavailable":
            LinkFault("link.amazonUnavailable", 503, .momentary, .later, "Amazon is unavailable for a while")
        default: LinkFault("link.amazonUnknownError", 502, .problem, .later, "Amazon sent an error that is not known")
        }
    }

    /// What the exchange of Amazon's code brought instead of tokens.
    static func exchange(_ error: LoginWithAmazonError) -> LinkFault {
        switch error {
        case .refused(.invalidGrant, _):
            LinkFault(error.reasonCode, 502, .problem, .now, "Login with Amazon does not take the code")
        case .refused, .noTokens:
            LinkFault(error.reasonCode, 502, .problem, .never, "Login with Amazon refuses the exchange")
        case .unavailable, .unreachable, .tls, .timedOut, .broken, .cancelled:
            LinkFault(error.reasonCode, 503, .momentary, .later, "Login with Amazon cannot be asked now")
        }
    }

    static let noRefreshToken = LinkFault(
        "grant.lwaNoRefreshToken", 502, .problem, .now, "Login with Amazon gave no refresh token")

    /// Why the skill was not enabled.
    static func enablement(_ error: SkillEnablementError) -> LinkFault {
        let code = error.reasonCode
        return switch error {
        case .credentialsRefused:
            LinkFault(
                code, 502, .problem, .now,
                "Alexa could not redeem our code: look at /oauth/token, its client and the redirect URI")
        case .invalidRequest:
            LinkFault(code, 502, .problem, .never, "Alexa calls the request invalid: look at the skill's id and stage")
        case .tokenRefused: LinkFault(code, 502, .problem, .now, "Alexa does not take Amazon's token")
        case .notAllowed:
            LinkFault(
                code, 502, .problem, .never,
                "This user may not use the skill in this stage or country, or linking.clientID lacks the scope")
        case .skillUnknown: LinkFault(code, 502, .problem, .never, "Alexa does not know the skill")
        case .conflict: LinkFault(code, 502, .problem, .never, "The user has another stage of the skill enabled")
        case .throttled(let after):
            LinkFault(
                code, 503, .momentary, .later, "Alexa gets too many calls", retryAfterSeconds: seconds(after))
        case .alexaFault: LinkFault(code, 502, .unexpected, .now, "Alexa failed")
        case .unavailable(_, let after):
            LinkFault(
                code, 503, .momentary, .later, "Alexa is unavailable", retryAfterSeconds: seconds(after))
        case .unexpectedAnswer, .foreignHost:
            LinkFault(code, 502, .momentary, .later, "Alexa answered with what is no answer")
        case .unreachable, .tls, .timedOut, .broken, .cancelled:
            LinkFault(code, 503, .momentary, .later, "Alexa cannot be asked now")
        }
    }

    /// How long the app is asked to wait.
    private static func seconds(_ after: RetryAfter?) -> Int64 {
        if case .seconds(let seconds) = after { return max(1, seconds) }
        return 30
    }

    static let notLinked = LinkFault(
        "link.notLinked", 502, .problem, .now, "Alexa enabled the skill and did not link the account")
}

// MARK: - What we could not do

extension LinkFault {
    static let noCode = LinkFault(
        "link.codeUnavailable", 503, .momentary, .later, "The provider made no code for this user")
    static let codeRefused = LinkFault(
        "link.codeRefused", 502, .problem, .never, "The provider refuses to make a code for this user")
    static let noCodeSource = LinkFault(
        "link.noCodeSource", 502, .problem, .never, "provider.external.code is not configured")
    static let store = LinkFault(
        "link.storeUnavailable", 503, .momentary, .later, "Nothing can be stored now", retryAfterSeconds: 5)
    static let late = LinkFault(
        "link.timedOut", 503, .momentary, .now, "It took too long; the attempt goes on, ask for the status")
    static let unlinkedMeanwhile = LinkFault(
        "link.unlinkedMeanwhile", 409, .startAgain, .now, "The link was removed while it was made")
    static let noSuchLink = LinkFault("link.noSuchLink", 404, .gone, .never, "The user has no link of that id")
}
