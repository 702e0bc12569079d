import LinkMessages
import Testing

@Suite("Addresses that a link starts with") struct LinkAddressTests {
    static let redirect = "https://app.example/alexa/cb?tenant=1&x=ä"

    @Test("the Alexa app's address names the stage as skill_stage, and its fragment parameter")
    func alexaApp() {
        #expect(
            LinkAddresses.alexaApp(
                clientID: "amzn1.client", stage: "live", redirectURI: Self.redirect, state: "aU9T.-_", challenge: nil)
                == "https://alexa.amazon.com/spa/skill-account-linking-consent?fragment=skill-account-linking-consent"
                + "&client_id=amzn1.client&scope=alexa::skills:account_linking&skill_stage=live&response_type=code"
                + "&redirect_uri=https%3A%2F%2Fapp.example%2Falexa%2Fcb%3Ftenant%3D1%26x%3D%C3%A4&state=aU9T.-_")
    }

    @Test("Login with Amazon's address has neither, and both take a challenge")
    func loginWithAmazon() {
        #expect(
            LinkAddresses.loginWithAmazon(
                clientID: "a b", redirectURI: "https://app.example/cb", state: "S+1", challenge: "ch-_")
                == "https://www.amazon.com/ap/oa?client_id=a%20b&scope=alexa::skills:account_linking&response_type=code"
                + "&redirect_uri=https%3A%2F%2Fapp.example%2Fcb&state=S%2B1&code_challenge=ch-_"
                + "&code_challenge_method=S256")
        let app = LinkAddresses.alexaApp(
            clientID: "c", stage: "development", redirectURI: "https://app.example/cb", state: "S", challenge: "ch")
        #expect(app.hasSuffix("&state=S&code_challenge=ch&code_challenge_method=S256"))
        #expect(app.contains("&skill_stage=development&"))
    }

    @Test(
        "a base with a query is added to, and a fragment parameter that it has stays its own",
        arguments: [
            ("https://a.example/p", "https://a.example/p?fragment=skill-account-linking-consent&client_id="),
            ("https://a.example/p?", "https://a.example/p?fragment=skill-account-linking-consent&client_id="),
            ("https://a.example/p?x=1", "https://a.example/p?x=1&fragment=skill-account-linking-consent&client_id="),
            ("https://a.example/p?x=1&", "https://a.example/p?x=1&fragment=skill-account-linking-consent&client_id="),
            ("https://a.example/p?fragment=own", "https://a.example/p?fragment=own&client_id="),
        ])
    func bases(base: String, start: String) {
        let url = LinkAddresses.alexaApp(
            base: base, clientID: "c", stage: "live", redirectURI: "https://r.example", state: "S", challenge: nil)
        #expect(url.hasPrefix(start))
    }
}
