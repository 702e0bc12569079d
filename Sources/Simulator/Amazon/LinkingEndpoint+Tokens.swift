import Crypto
import HTTP
import JSON
import Time

/// Alexa as the client of the skill's own provider: codes are redeemed, tokens refreshed.
extension LinkingEndpoint {
    /// Alexa's patience with a token endpoint, and the least life of a token that she takes.
    private static let patience = Duration.milliseconds(4500)
    private static let leastSeconds: Int64 = 360

    /// Refreshes the token of a link, as Alexa does before the old one ends; nil where that is refused, and the user has to
    /// link again.
    public func refresh(_ enabled: Enabled) async -> Enabled? {
        guard let skill = skill(id: enabled.skillID) else { return nil }
        var form = Form()
        form.append("grant_type", "refresh_token")
        form.append("refresh_token", enabled.refreshToken.exposed)
        guard let tokens = await ask(skill, form) else { return nil }
        // A provider may keep the refresh token as it is (RFC 6749 §6).
        let fresh = Enabled(
            skillID: enabled.skillID, stage: enabled.stage, account: enabled.account, userID: enabled.userID,
            accessToken: tokens.access, refreshToken: tokens.refresh ?? enabled.refreshToken)
        replace(fresh)
        return fresh
    }

    /// Redeems our code; nil where Alexa gets no tokens that she can use.
    func redeem(_ code: Secret, _ redirectURI: String, _ skill: Skill) async -> (access: Secret, refresh: Secret)? {
        var form = Form()
        form.append("grant_type", "authorization_code")
        form.append("code", code.exposed)
        form.append("redirect_uri", redirectURI)
        guard let tokens = await ask(skill, form), let refresh = tokens.refresh else { return nil }
        return (tokens.access, refresh)
    }

    private func ask(_ skill: Skill, _ asked: Form) async -> (access: Secret, refresh: Secret?)? {
        guard let http = redeemer else { return nil }
        var form = asked
        form.append("client_id", skill.providerClientID)
        var fields: HTTPFields = ["Content-Type": "application/x-www-form-urlencoded"]
        if skill.usesBasic {
            // Alexa encodes neither part.
            let pair = skill.providerClientID + ":" + skill.providerClientSecret.exposed
            fields.append("Authorization", "Basic " + Base64.encode(Array(pair.utf8)))
        } else {
            form.append("client_secret", skill.providerClientSecret.exposed)
        }
        let request = OutgoingRequest(
            method: .post, url: skill.tokenURL, fields: fields, body: Array(form.encodedText.utf8),
            answerLimitBytes: 64 * 1024)
        guard let response = try? await http.send(request, by: .after(Self.patience, from: .now)),
            response.status == 200, let answer = try? JSONValue(parsing: response.body),
            let access = answer["access_token"]?.string, !access.isEmpty,
            answer["expires_in"]?.integer ?? 0 >= Self.leastSeconds,
            equalsIgnoringCase(answer["token_type"]?.string ?? "", "bearer")
        else { return nil }
        return (Secret(access), answer["refresh_token"]?.string.map { Secret($0) })
    }
}
