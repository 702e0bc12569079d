public import HTTP

extension AuthorizationServer {
    /// What is answered to a token request that came to the authorization address; nil where it is none.
    ///
    /// Whoever swapped the two addresses in a console learns it at once, instead of hearing that `response_type` is
    /// missing or getting a page to sign in.
    public func answerMisplacedTokenRequest(_ request: HTTPRequest) -> HTTPResponse? {
        guard request.method == .post, let text = String(validating: request.body, as: UTF8.self),
            let form = Form(decoding: text)
        else { return nil }
        let parameters = Parameters(form)
        guard parameters["grant_type"] != nil, parameters["response_type"] == nil else { return nil }
        let refusal = OAuthRefusal(
            .invalidRequest, "oauth.misplaced",
            "this address asks users; tokens are at \(parts.issuer)/oauth/token: swap the two addresses")
        parts.observe(.refused(refusal, client: nil))
        return refusal.response(realm: parts.issuer)
    }
}
