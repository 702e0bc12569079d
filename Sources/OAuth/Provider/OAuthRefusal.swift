public import HTTP
import JSON

/// Why the token, revocation or introspection endpoint refuses a request.
public struct OAuthRefusal: Error, Sendable, Hashable {
    /// The status.
    public let status: Int
    /// What the client is told.
    public let error: OAuthErrorCode
    /// What is wrong, for the client's developer; never a code, a token or a secret.
    public let detail: String
    /// What the operator is told.
    public let reasonCode: String
    /// After how many seconds the client may try again.
    public var retryAfterSeconds: Int64?

    init(
        _ error: OAuthErrorCode, _ reasonCode: String, _ detail: String, status: Int = 400,
        retryAfterSeconds: Int64? = nil
    ) {
        self.error = error
        self.detail = detail
        self.reasonCode = reasonCode
        self.status = status
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// The answer in the form of RFC 6749 §5.2.
    public func response(realm: String) -> HTTPResponse {
        var response = HTTPResponse(
            tokenAnswer: ["error": .string(error.rawValue), "error_description": .string(errorDescription(detail))],
            status: status)
        if status == 401 { response.fields["WWW-Authenticate"] = "Basic realm=\"\(realm)\", charset=\"UTF-8\"" }
        response.fields["Retry-After"] = retryAfterSeconds.map { String($0) }
        return response
    }
}

extension HTTPResponse {
    /// An answer in JSON that nobody may keep (RFC 6749 §5.1).
    init(tokenAnswer object: JSONObject, status: Int = 200) {
        self.init(
            status: status,
            fields: ["Content-Type": "application/json", "Cache-Control": "no-store", "Pragma": "no-cache"],
            body: JSONValue.object(object).encoded())
    }
}

extension OAuthRefusal {
    init(_ refusal: ClientRefusal) {
        switch refusal {
        case .missing: self.init(.invalidClient, "client.missing", "A client has to prove itself", status: 401)
        case .scheme: self.init(.invalidClient, "client.scheme", "Clients prove themselves by Basic", status: 401)
        case .malformed(let reason): self.init(.invalidRequest, "client.malformed", reason)
        case .twoMethods:
            self.init(.invalidRequest, "client.twoMethods", "Two ways of proving oneself in one request")
        case .wrong: self.init(.invalidClient, "client.wrongSecret", "Unknown client, or wrong secret", status: 401)
        case .tooMany(let seconds):
            self.init(
                .invalidClient, "client.tooManyWrongSecrets", "Too many wrong secrets", status: 429,
                retryAfterSeconds: seconds)
        }
    }

    static func parameter(_ detail: String) -> OAuthRefusal { .init(.invalidRequest, "oauth.parameter", detail) }

    static func grant(_ reasonCode: String, _ detail: String) -> OAuthRefusal {
        .init(.invalidGrant, reasonCode, detail)
    }

    /// A scope that may not be had.
    static func scope(_ fault: ScopeFault) -> OAuthRefusal { .init(.invalidScope, "oauth.scope", fault.description) }

    static var store: OAuthRefusal {
        .init(
            .temporarilyUnavailable, "oauth.store", "Nothing can be stored now", status: 503, retryAfterSeconds: 5)
    }

    static var keys: OAuthRefusal {
        .init(
            .temporarilyUnavailable, "oauth.noKeys", "No key signs now", status: 503, retryAfterSeconds: 5)
    }
}
