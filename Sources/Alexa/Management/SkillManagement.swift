public import Crypto
public import HTTP
import JSON
public import Time

/// Amazon's skill management API, as far as account linking is set up by it.
public struct SkillManagement: Sendable {
    private static let answerLimitBytes = 64 * 1024

    private let http: any HTTPClient
    private let apiURL: String

    /// The API at `apiURL`, which is the one of North America whatever the skill's region.
    public init(http: any HTTPClient, apiURL: String) {
        self.http = http
        self.apiURL = apiURL
    }

    /// Puts the account linking of a skill's stage in place of what it has.
    ///
    /// - Parameters:
    ///   - request: what it shall be.
    ///   - secret: the secret of the provider's client that Alexa is.
    ///   - skillID: the skill's application id.
    ///   - stage: `development` or `live`.
    ///   - token: the developer's token, with the scope `alexa::ask:skills:readwrite`.
    ///   - deadline: when the answer must be there.
    /// - Throws: why nothing was changed, or may not have been.
    public func putAccountLinking(
        _ request: AccountLinkingRequest, secret: Secret, skillID: String, stage: String, token: Secret,
        by deadline: Deadline
    ) async throws(SkillManagementError) {
        let outgoing = OutgoingRequest(
            method: .put,
            url: "\(apiURL)/v1/skills/\(percentEncoded(skillID))/stages/\(percentEncoded(stage))/accountLinkingClient",
            fields: [
                "Authorization": "Bearer \(token.exposed)", "Content-Type": "application/json",
                "Accept": "application/json",
            ], body: request.sent(secret), answerLimitBytes: Self.answerLimitBytes)
        let response: HTTPResponse
        do throws(HTTPClientError) { response = try await http.send(outgoing, by: deadline) } catch {
            throw SkillManagementError(error)
        }
        guard response.status != 204 else { return }
        throw SkillManagementError(response, hiding: [secret, token])
    }
}
