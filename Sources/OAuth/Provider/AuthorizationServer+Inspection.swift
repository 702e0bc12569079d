import Crypto
public import HTTP
import JSON
import Time

extension AuthorizationServer {
    /// What `POST /oauth/revoke` answers (RFC 7009).
    ///
    /// A token and its grant end together: an access token alone cannot, and whoever unlinks means all of it.
    public func answerRevocation(_ request: HTTPRequest) async -> HTTPResponse {
        await answer(request) { (client, parameters) throws(OAuthRefusal) in
            guard let text = parameters["token"] else { throw .parameter("token is missing") }
            let token = Secret(text)
            // The hint is not needed: what is asked of the store first is found or not, whatever its kind.
            let found = try await self.stored { () async throws(ProviderStoreError) in
                try await self.parts.store.refreshToken(hash: tokenHash(token), by: request.deadline)
            }
            if let found {
                try await self.end(found.grant.id, of: found.grant.clientID, for: client, by: request.deadline)
            } else if let principal = try await self.user(of: token, by: request.deadline) {
                if let id = principal.grantID {
                    try await self.end(id, of: principal.clientID, for: client, by: request.deadline)
                }
            } else if try await self.backEnd(of: token, by: request.deadline) != nil {
                throw OAuthRefusal(
                    .unsupportedTokenType, "oauth.tokenType", "a back end's token cannot be revoked; it ends by itself")
            }
            return HTTPResponse(status: 200, fields: ["Cache-Control": "no-store"])
        }
    }

    private func end(
        _ grantID: String, of owner: String?, for client: ProviderClient, by deadline: Deadline
    ) async throws(OAuthRefusal) {
        guard owner == client.id else {
            throw OAuthRefusal(.unauthorizedClient, "oauth.tokenOfAnother", "the token is another client's")
        }
        try await stored { () async throws(ProviderStoreError) in
            _ = try await self.revoke(grantID: grantID, by: deadline)
        }
    }

    /// What `POST /oauth/introspect` answers (RFC 7662): a client learns of its own tokens, an operator of all.
    public func answerIntrospection(_ request: HTTPRequest) async -> HTTPResponse {
        await answer(request) { (client, parameters) throws(OAuthRefusal) in
            guard !client.isPublic else { throw OAuthRefusal(.wrong) }
            guard let text = parameters["token"] else { throw .parameter("token is missing") }
            let facts = try await self.facts(of: Secret(text), by: request.deadline)
            guard let facts, facts.clientID == client.id || client.role == .operator else {
                return HTTPResponse(tokenAnswer: ["active": false])
            }
            return HTTPResponse(tokenAnswer: facts.answer)
        }
    }

    private struct Facts {
        let clientID: String?
        let answer: JSONObject
    }

    private func facts(of token: Secret, by deadline: Deadline) async throws(OAuthRefusal) -> Facts? {
        let found = try await stored { () async throws(ProviderStoreError) in
            try await self.parts.store.refreshToken(hash: tokenHash(token), by: deadline)
        }
        if let found { return try await facts(of: found, by: deadline) }
        if let principal = try await user(of: token, by: deadline) {
            return facts(of: principal, username: try await username(of: principal.subject, by: deadline))
        }
        return try await backEnd(of: token, by: deadline).map { facts(of: $0, username: nil) }
    }

    private func facts(
        of found: StoredRefreshToken, by deadline: Deadline
    ) async throws(OAuthRefusal) -> Facts? {
        let grant = found.grant
        guard found.replacedAt == nil, grant.revokedAt == nil, let client = clients[grant.clientID],
            !client.rotatesRefreshTokens || parts.clock() < found.issuedAt.adding(seconds: Self.idleSeconds)
        else { return nil }
        let isSubject = try await stored { () async throws(ProviderStoreError) in
            try await self.parts.isSubject(grant.subject, deadline)
        }
        guard isSubject else { return nil }
        var answer: JSONObject = [
            "active": true, "client_id": .string(grant.clientID), "sub": .string(grant.subject),
            "iss": .string(parts.issuer), "iat": .integer(found.issuedAt.seconds),
        ]
        if !grant.scopes.isEmpty { answer["scope"] = .string(grant.scopes.joined(separator: " ")) }
        answer["username"] = try await username(of: grant.subject, by: deadline).map { .string($0) }
        return Facts(clientID: grant.clientID, answer: answer)
    }

    private func facts(of principal: Principal, username: String?) -> Facts {
        var answer: JSONObject = ["active": true, "token_type": "Bearer"]
        let claims = principal.claims
        for name in ["scope", "client_id", "exp", "iat", "nbf", "sub", "aud", "iss", "jti"] {
            answer[name] = claims[name]
        }
        answer["username"] = username.map { .string($0) }
        return Facts(clientID: principal.clientID, answer: answer)
    }

    private func username(of subject: String, by deadline: Deadline) async throws(OAuthRefusal) -> String? {
        try await stored { () async throws(ProviderStoreError) in try await self.parts.username(subject, deadline) }
    }

    /// Whom a user's token stands for; nil where the token is not good.
    private func user(of token: Secret, by deadline: Deadline) async throws(OAuthRefusal) -> Principal? {
        try await principal(of: token, parts.validator, by: deadline)
    }

    private func backEnd(of token: Secret, by deadline: Deadline) async throws(OAuthRefusal) -> Principal? {
        try await principal(of: token, parts.backEndValidator, by: deadline)
    }

    private func principal(
        of token: Secret, _ validator: TokenValidator?, by deadline: Deadline
    ) async throws(OAuthRefusal) -> Principal? {
        do throws(TokenRejection) {
            return try await validator?.principal(for: token, clients: .any, scopes: [], by: deadline)
        } catch .providerUnreachable {
            throw .keys
        } catch {
            return nil
        }
    }
}
