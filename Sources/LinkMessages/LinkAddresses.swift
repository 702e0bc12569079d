/// The two addresses that a link starts with: the Alexa app's and, where that app is missing, Login with Amazon's.
public enum LinkAddresses {
    /// What the user is asked to allow.
    public static let scope = "alexa::skills:account_linking"
    /// The Alexa app's universal link.
    public static let alexaAppBase = "https://alexa.amazon.com/spa/skill-account-linking-consent"
    /// Login with Amazon's consent page.
    public static let loginWithAmazonBase = "https://www.amazon.com/ap/oa"

    private static let fragment = "skill-account-linking-consent"

    /// What opens the Alexa app.
    ///
    /// - Parameters:
    ///   - base: The app's universal link; it may have a query already.
    ///   - clientID: The id that the developer console shows for app-to-app linking.
    ///   - stage: `development` or `live`. The name of the parameter differs from the one of the enablement call.
    ///   - redirectURI: Where the user comes back: one of the skill's redirect URLs.
    ///   - state: What must come back unchanged.
    ///   - challenge: The S256 challenge, where codes are bound to a verifier (RFC 7636).
    /// - Returns: The address.
    public static func alexaApp(
        base: String = alexaAppBase, clientID: String, stage: String, redirectURI: String, state: String,
        challenge: String?
    ) -> String {
        let isNamed = (queryParameters(of: base) ?? []).contains { $0.name == "fragment" }
        let start = isNamed ? base : address(base, adding: [("fragment", fragment)])
        return request(
            to: start, clientID: clientID, stage: stage, redirectURI: redirectURI, state: state, challenge: challenge)
    }

    /// What opens Login with Amazon in a browser.
    ///
    /// - Parameters:
    ///   - base: The consent page; it may have a query already.
    ///   - clientID: The id that the developer console shows for app-to-app linking.
    ///   - redirectURI: Where the user comes back: one of the skill's redirect URLs.
    ///   - state: What must come back unchanged.
    ///   - challenge: The S256 challenge, where codes are bound to a verifier (RFC 7636).
    /// - Returns: The address.
    public static func loginWithAmazon(
        base: String = loginWithAmazonBase, clientID: String, redirectURI: String, state: String, challenge: String?
    ) -> String {
        request(
            to: base, clientID: clientID, stage: nil, redirectURI: redirectURI, state: state, challenge: challenge)
    }

    private static func request(
        to base: String, clientID: String, stage: String?, redirectURI: String, state: String, challenge: String?
    ) -> String {
        var result = address(base, adding: [("client_id", clientID)])
        // Colons are legal in a query, and all of Amazon's pages write this value so.
        result = address(result, adding: [("scope", scope)], keeping: ":")
        if let stage { result = address(result, adding: [("skill_stage", stage)]) }
        result = address(
            result, adding: [("response_type", "code"), ("redirect_uri", redirectURI), ("state", state)])
        guard let challenge else { return result }
        return address(result, adding: [("code_challenge", challenge), ("code_challenge_method", "S256")])
    }
}
