public import Crypto
import HTTP

/// The address of a client that an answer of the authorization endpoint goes to.
///
/// Only ``AuthorizationDecision`` makes one of a request, after the address was found among the client's own.
public struct RedirectTarget: Sendable, Hashable {
    /// The client's address, as it is registered.
    public let redirectURI: String
    /// What the client wants back unchanged; nil where it sent none.
    public let state: String?

    /// An address that is known to be the client's own.
    public init(redirectURI: String, state: String?) {
        self.redirectURI = redirectURI
        self.state = state
    }

    /// Where the browser goes with a code.
    public func success(code: Secret) -> String {
        var form = Form()
        form.append("code", code.exposed)
        form.append("state", state)
        return address(with: form)
    }

    /// Where the browser goes with an error.
    public func failure(_ error: OAuthErrorCode, _ description: String? = nil) -> String {
        failure(named: error.rawValue, description)
    }

    /// Where the browser goes with an error that OAuth does not define: App Flip knows a few of its own.
    public func failure(named error: String, _ description: String? = nil) -> String {
        var form = Form()
        form.append("error", errorDescription(error))
        form.append("error_description", description.map(errorDescription))
        form.append("state", state)
        return address(with: form)
    }

    /// A query that the address has stays, and ours follows it (RFC 6749 §3.1.2, §4.1.2).
    private func address(with form: Form) -> String {
        guard redirectURI.contains("?") else { return redirectURI + "?" + form.encodedText }
        let isOpen = redirectURI.hasSuffix("?") || redirectURI.hasSuffix("&")
        return redirectURI + (isOpen ? "" : "&") + form.encodedText
    }

    /// Scheme, host and port, as a content security policy names them; the scheme alone for an app's own scheme.
    public var origin: String {
        guard let scheme = redirectURI.firstIndex(of: ":") else { return "" }
        let rest = redirectURI[redirectURI.index(after: scheme)...]
        guard rest.hasPrefix("//") else { return String(redirectURI[...scheme]) }
        let host = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return redirectURI[...scheme] + "//" + host
    }
}
