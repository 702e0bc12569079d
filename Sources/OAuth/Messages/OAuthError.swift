/// The error codes that OAuth defines for what the provider answers.
public enum OAuthErrorCode: String, Sendable, Hashable, CaseIterable {
    /// A parameter is missing, repeated or of no use (RFC 6749 §4.1.2.1, §5.2).
    case invalidRequest = "invalid_request"
    /// The client is unknown or has not proved itself (RFC 6749 §5.2).
    case invalidClient = "invalid_client"
    /// The code or refresh token is not good, or not this client's (RFC 6749 §5.2).
    case invalidGrant = "invalid_grant"
    /// The client may not ask in this way (RFC 6749 §4.1.2.1, §5.2).
    case unauthorizedClient = "unauthorized_client"
    /// No such grant type is taken here (RFC 6749 §5.2).
    case unsupportedGrantType = "unsupported_grant_type"
    /// A scope is unknown or not the client's (RFC 6749 §3.3).
    case invalidScope = "invalid_scope"
    /// The user said no (RFC 6749 §4.1.2.1).
    case accessDenied = "access_denied"
    /// Only codes are given out (RFC 6749 §4.1.2.1).
    case unsupportedResponseType = "unsupported_response_type"
    /// Something failed here (RFC 6749 §4.1.2.1).
    case serverError = "server_error"
    /// Something is out of reach now (RFC 6749 §4.1.2.1).
    case temporarilyUnavailable = "temporarily_unavailable"
    /// The tokens of this provider are for another resource (RFC 8707 §2).
    case invalidTarget = "invalid_target"
    /// A token of that kind cannot be revoked (RFC 7009 §2.2.1).
    case unsupportedTokenType = "unsupported_token_type"
}

/// The characters that `error_description` may hold; everything else becomes `?` (RFC 6749 §4.1.2.1, §5.2).
func errorDescription(_ text: String) -> String {
    String(
        decoding: text.unicodeScalars.map { scalar -> UInt8 in
            switch scalar.value {
            case 0x20, 0x21, 0x23...0x5B, 0x5D...0x7E: UInt8(scalar.value)
            case 0x22, 0x5C: UInt8(ascii: "'")
            default: UInt8(ascii: "?")
            }
        }, as: UTF8.self)
}
