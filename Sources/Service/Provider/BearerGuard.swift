import Crypto
import HTTP
import OAuth
import Telemetry

/// Lets requests through whose Bearer token is good, and words the refusal of the others (RFC 6750).
struct BearerGuard: Sendable {
    let validator: TokenValidator
    let realm: String
    let log: Log

    enum Outcome: Sendable {
        case principal(Principal)
        case refusal(HTTPResponse)
    }

    /// Whom the request stands for; client and scopes are judged on every call.
    func outcome(for request: HTTPRequest, clients: ClientRule = .any, scopes: Set<String>) async -> Outcome {
        do throws(TokenRejection) {
            switch BearerCredentials(of: request) {
            case .malformed(let reason):
                return .refusal(refusal(400, "request.credentials", reason, error: "invalid_request"))
            case .none: throw .missing
            case .token(let token):
                let principal = try await validator.principal(
                    for: token, clients: clients, scopes: scopes, by: request.deadline)
                return .principal(principal)
            }
        } catch {
            return .refusal(refusal(for: error, scopes: scopes))
        }
    }

    /// The answer to a token that is refused.
    func refusal(for rejection: TokenRejection, scopes: Set<String>) -> HTTPResponse {
        let code = rejection.reasonCode
        switch rejection {
        case .missing: return refusal(401, code, "An access token is needed")
        case .expired: return refusal(401, code, "The access token expired", error: "invalid_token")
        case .revoked: return refusal(401, code, "The access token was revoked", error: "invalid_token")
        case .malformed, .algorithm, .badSignature, .unknownKey, .wrongIssuer, .wrongAudience, .wrongClient,
            .notYetValid:
            return refusal(401, code, "The access token is not valid here", error: "invalid_token")
        case .lacksScope:
            return refusal(
                403, code, "The access token does not reach that far", error: "insufficient_scope", scopes: scopes)
        case .providerUnreachable:
            var response = problem(503, code, "The token cannot be judged now")
            response.fields["Retry-After"] = "5"
            return response
        }
    }

    /// RFC 6750 §3: no error code where there were no credentials; values quoted, each attribute once.
    private func refusal(
        _ status: Int, _ code: String, _ detail: String, error: String? = nil, scopes: Set<String> = []
    ) -> HTTPResponse {
        var challenge = "Bearer realm=\(quoted(realm))"
        if let error { challenge += ", error=\(quoted(error)), error_description=\(quoted(detail))" }
        if !scopes.isEmpty { challenge += ", scope=\(quoted(scopes.sorted().joined(separator: " ")))" }
        var response = problem(status, code, detail)
        response.fields["WWW-Authenticate"] = challenge
        return response
    }

    private func problem(_ status: Int, _ code: String, _ detail: String) -> HTTPResponse {
        let traceID = TraceID.random()
        log.info("a request for a user's resource is refused", .traceID(traceID), .rejection(code))
        return Problem(status: status, code: code, detail: detail, traceID: traceID).response
    }

    private func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars where scalar.value >= 0x20 && scalar.value < 0x7F {
            if scalar == "\"" || scalar == "\\" { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }
}

/// The access token of a request, by the one way that we take: the `Authorization` field (RFC 6750 §2.1).
enum BearerCredentials: Sendable, Hashable {
    case none
    case token(Secret)
    case malformed(String)

    init(of request: HTTPRequest) {
        let fields = request.fields.values("Authorization")
        // RFC 6750 §2.3: tokens in addresses end in logs; §2.2 is left out as it may be.
        if Self.hasTokenParameter(request) {
            self = .malformed(
                fields.isEmpty
                    ? "A token is taken in the Authorization field alone" : "Two ways of sending a token at once")
            return
        }
        guard fields.count <= 1 else {
            self = .malformed("Several Authorization fields")
            return
        }
        guard let field = fields.first else {
            self = .none
            return
        }
        let scheme = field.prefix { $0 != " " }
        guard equalsIgnoringCase(String(scheme), "Bearer") else {
            self = .none
            return
        }
        let token = field.dropFirst(scheme.count).drop { $0 == " " }
        self = Self.isToken(token) ? .token(Secret(String(token))) : .malformed("Not a Bearer token")
    }

    /// `b64token` of RFC 6750 §2.1.
    private static func isToken(_ text: Substring) -> Bool {
        let characters = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        return !characters.isEmpty
            && characters.allSatisfy { byte in
                switch byte {
                case 48...57, 65...90, 97...122: true
                default: "-._~+/".utf8.contains(byte)
                }
            }
    }

    private static func hasTokenParameter(_ request: HTTPRequest) -> Bool {
        if let query = request.query, named(query) { return true }
        guard let type = request.fields["Content-Type"]?.prefix(while: { $0 != ";" }),
            equalsIgnoringCase(String(type), "application/x-www-form-urlencoded")
        else { return false }
        return named(String(decoding: request.body, as: UTF8.self))
    }

    private static func named(_ text: some StringProtocol) -> Bool {
        text.split(separator: "&").contains { $0.prefix { $0 != "=" } == "access_token" }
    }
}
