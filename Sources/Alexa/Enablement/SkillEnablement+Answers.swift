import Crypto
import HTTP
import JSON
import Time

extension SkillEnablement {
    func path(_ skillID: String) -> String { "/v1/users/~current/skills/\(percentEncoded(skillID))/enablement" }

    func check(_ response: HTTPResponse) throws(SkillEnablementError) {
        guard !(200...299).contains(response.status) else { return }
        throw SkillEnablementError(response)
    }
}

extension Enablement {
    /// Longer texts of Alexa's are cut to so many characters.
    private static let textLimit = 64
    /// A longer user id is none.
    private static let userIDLimit = 512

    /// Reads an answer of success; whatever is missing or of another kind is nil.
    init(_ response: HTTPResponse) throws(SkillEnablementError) {
        guard let root = (try? JSONDocument(parsing: response.body))?.root, root.kind == .object else {
            throw .unexpectedAnswer(status: response.status)
        }
        switch root.object("accountLink")?.string("status") {
        case nil: accountLink = nil
        case "LINKED"?: accountLink = .linked
        case "NOT_LINKED"?: accountLink = .notLinked
        case let other?: accountLink = .other(String(other.prefix(Self.textLimit)))
        }
        status = root.string("status").map { String($0.prefix(Self.textLimit)) }
        alexaUserID = root.object("user")?.string("id").flatMap {
            $0.isEmpty || $0.utf8.count > Self.userIDLimit ? nil : $0
        }
        stage = root.object("skill")?.string("stage").map { String($0.prefix(Self.textLimit)) }
    }
}

extension SkillEnablementError: AmazonCallError {
    /// Reads an answer that is no success: the status decides, whatever the body is; only 400 has two meanings.
    init(_ response: HTTPResponse) {
        let retryAfter = response.fields["Retry-After"].flatMap(RetryAfter.init)
        switch response.status {
        case 400: self = Self.isAboutCredentials(response.body) ? .credentialsRefused : .invalidRequest
        case 401: self = .tokenRefused
        case 403: self = .notAllowed
        case 404: self = .skillUnknown
        case 409: self = .conflict
        case 429: self = .throttled(retryAfter)
        case 502, 503, 504: self = .unavailable(status: response.status, retryAfter)
        case 500...599: self = .alexaFault(status: response.status)
        case let status: self = .unexpectedAnswer(status: status)
        }
    }

    /// Whether an error's `message` is that of a code that was refused.
    private static func isAboutCredentials(_ body: [UInt8]) -> Bool {
        guard let message = (try? JSONDocument(parsing: body))?.root.string("message") else { return false }
        return message.lowercased().contains("account linking credentials")
    }
}
