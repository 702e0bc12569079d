import Crypto
import Time

extension AuthorizationServer {
    /// Answers a refresh token: itself again for confidential clients, replaced for those that rotate.
    ///
    /// Linking clients keep theirs, since an answer that gets lost on the way would else unlink the user.
    func refresh(
        _ parameters: Parameters, _ client: ProviderClient, by deadline: Deadline
    ) async throws(OAuthRefusal) -> Secret {
        guard let text = parameters["refresh_token"] else { throw .parameter("refresh_token is missing") }
        let hash = tokenHash(Secret(text))
        let found = try await stored { () async throws(ProviderStoreError) in
            try await self.parts.store.refreshToken(hash: hash, by: deadline)
        }
        guard let found else {
            parts.observe(.unknownRefreshToken(client: client.id))
            throw .grant("oauth.refreshUnknown", "no such refresh token was given out")
        }
        let grant = found.grant
        guard grant.clientID == client.id else {
            throw .grant("oauth.refreshUnknown", "the refresh token is another client's")
        }
        guard grant.revokedAt == nil else { throw .grant("oauth.grantRevoked", "the grant was revoked") }
        try await checkSubject(grant, by: deadline)
        let now = parts.clock()
        let scopes = try scopes(parameters, among: grant.scopes)
        guard client.rotatesRefreshTokens else {
            // A client that rotated once and does no more: what was replaced stays replaced.
            guard found.replacedAt == nil else { throw .grant("oauth.refreshReplaced", "the token was replaced") }
            let answer = try userAnswer(grant, scopes: scopes, refreshToken: nil)
            try await touch(grant, at: now, by: deadline)
            return answer
        }
        guard found.replacedAt != nil || now < found.issuedAt.adding(seconds: Self.idleSeconds) else {
            throw .grant("oauth.refreshIdle", "the refresh token was not used for too long")
        }
        let next = Secret(SecureRandom.token())
        let answer = try userAnswer(grant, scopes: scopes, refreshToken: next)
        let outcome = try await stored { () async throws(ProviderStoreError) in
            try await self.parts.store.rotate(
                refreshTokenHash: hash, to: tokenHash(next), answer: answer, graceSeconds: Self.graceSeconds, at: now,
                by: deadline)
        }
        switch outcome {
        case .rotated: return answer
        case .repeated(let earlier): return earlier
        case .gone: throw .grant("oauth.grantRevoked", "the grant was revoked")
        case .replayed:
            try await stored { () async throws(ProviderStoreError) in
                _ = try await self.revoke(grantID: grant.id, by: deadline)
            }
            parts.observe(.refreshReplayed(client: client.id, grantID: grant.id))
            throw .grant("oauth.refreshReplayed", "the refresh token was replaced before; its family is revoked")
        }
    }

    /// One write a day and grant tells which links are in use.
    private func touch(
        _ grant: ProviderGrant, at now: UnixTime, by deadline: Deadline
    ) async throws(OAuthRefusal) {
        if let usedAt = grant.usedAt, now < usedAt.adding(seconds: 86_400) { return }
        try await stored { () async throws(ProviderStoreError) in
            try await self.parts.store.touchProviderGrant(grant.id, at: now, by: deadline)
        }
    }
}
