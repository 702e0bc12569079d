import Crypto
public import HTTP
import JSON
import Time

extension AuthorizationServer {
    /// What `POST /oauth/token` answers (RFC 6749 §3.2).
    public func answerToken(_ request: HTTPRequest) async -> HTTPResponse {
        await answer(request) { (client, parameters) throws(OAuthRefusal) in
            guard let name = parameters["grant_type"] else { throw .parameter("grant_type is missing") }
            guard let grant = ProviderClient.Grant(rawValue: name) else {
                throw OAuthRefusal(
                    .unsupportedGrantType, "oauth.grantType",
                    "grant_type is none of authorization_code, refresh_token, client_credentials")
            }
            guard client.grants.contains(grant) else {
                throw OAuthRefusal(
                    .unauthorizedClient, "oauth.grantNotAllowed", "this client may not use that grant_type")
            }
            guard parameters.values("resource").allSatisfy({ $0 == self.resource }) else {
                throw OAuthRefusal(.invalidTarget, "oauth.resource", "tokens here are for \(self.resource) alone")
            }
            let body: Secret
            switch grant {
            case .authorizationCode: body = try await self.redeem(parameters, client, by: request.deadline)
            case .refreshToken: body = try await self.refresh(parameters, client, by: request.deadline)
            case .clientCredentials: body = try self.backEndToken(parameters, client)
            }
            self.parts.observe(.issued(grant, client: client.id))
            return HTTPResponse(tokenText: body)
        }
    }

    /// Reads the form, proves the client, and words what `work` refuses.
    func answer(
        _ request: HTTPRequest,
        _ work: (ProviderClient, Parameters) async throws(OAuthRefusal) -> HTTPResponse
    ) async -> HTTPResponse {
        var client: String?
        do throws(OAuthRefusal) {
            let parameters = try Self.parameters(of: request)
            let proven: ProviderClient
            do throws(ClientRefusal) { proven = try authenticator.client(of: request, parameters) } catch {
                client = authenticator.claimedID(of: request, parameters)
                throw OAuthRefusal(error)
            }
            client = proven.id
            return try await work(proven, parameters)
        } catch {
            parts.observe(.refused(error, client: client))
            return error.response(realm: parts.issuer)
        }
    }

    /// The parameters of the body; none may stand in the address, where they end in logs (RFC 6749 §2.3.1, §3.2).
    private static func parameters(of request: HTTPRequest) throws(OAuthRefusal) -> Parameters {
        if let query = request.query {
            guard let form = Form(decoding: query), Parameters(form).firstKnown == nil else {
                throw .parameter("parameters are taken in the body alone")
            }
        }
        guard let text = String(validating: request.body, as: UTF8.self), let form = Form(decoding: text) else {
            throw OAuthRefusal(.invalidRequest, "oauth.form", "the form is not encoded rightly, or not in UTF-8")
        }
        let parameters = Parameters(form)
        if let name = parameters.repeated(but: "resource") { throw .parameter("\(name) is given twice") }
        return parameters
    }

    // MARK: authorization_code

    private func redeem(
        _ parameters: Parameters, _ client: ProviderClient, by deadline: Deadline
    ) async throws(OAuthRefusal) -> Secret {
        guard let text = parameters["code"] else { throw .parameter("code is missing") }
        let hash = tokenHash(Secret(text))
        let found = try await stored { () async throws(ProviderStoreError) in
            try await self.parts.store.code(hash: hash, by: deadline)
        }
        guard let found, found.grant.clientID == client.id else {
            throw .grant("oauth.codeUnknown", "no such code was given to this client")
        }
        if found.code.usedAt != nil { throw try await replayed(found, client, by: deadline) }
        try await judge(found, parameters, client, hash: hash, by: deadline)
        let refreshToken = client.grants.contains(.refreshToken) ? Secret(SecureRandom.token()) : nil
        // Signed first: a code must not be spent where no key signs.
        let answer = try userAnswer(found.grant, scopes: found.grant.scopes, refreshToken: refreshToken)
        let now = parts.clock()
        let outcome = try await stored { () async throws(ProviderStoreError) in
            try await self.parts.store.redeem(
                codeHash: hash, refreshTokenHash: refreshToken.map(tokenHash), at: now, by: deadline)
        }
        switch outcome {
        case .redeemed: return answer
        case .usedBefore: throw try await replayed(found, client, by: deadline)
        case .gone: throw .grant("oauth.codeUnknown", "the code is not good any more")
        }
    }

    private func judge(
        _ found: StoredCode, _ parameters: Parameters, _ client: ProviderClient, hash: String, by deadline: Deadline
    ) async throws(OAuthRefusal) {
        guard found.code.expiresAt > parts.clock() else { throw .grant("oauth.codeExpired", "the code has expired") }
        guard found.grant.revokedAt == nil else { throw .grant("oauth.grantRevoked", "the grant was revoked") }
        try await checkSubject(found.grant, by: deadline)
        let sent = parameters["redirect_uri"]
        let bound = found.code.redirectURI
        if sent.map({ Array($0.utf8) != Array(bound.utf8) }) ?? true {
            let isTaken = client.takes(redirectURI: sent, insteadOf: bound)
            parts.observe(
                .redirectMismatch(client: client.id, bound: bound, sent: sent ?? "none", isTaken: isTaken))
            guard isTaken else {
                throw .grant("oauth.redirectMismatch", "redirect_uri is not the one that the code was sent to")
            }
        }
        switch (found.code.challenge, parameters["code_verifier"]) {
        case (nil, nil): return
        case (let challenge?, let verifier?) where ProofKey.matches(verifier, challenge): return
        case (nil, .some):
            throw .grant("oauth.verifier", "code_verifier was sent although the code was asked for without a challenge")
        case (.some, _):
            // Spent: whoever guesses gets one guess (RFC 7636 §4.6).
            let now = parts.clock()
            try await stored { () async throws(ProviderStoreError) in
                try await self.parts.store.spend(codeHash: hash, at: now, by: deadline)
            }
            throw .grant("oauth.verifier", "code_verifier is missing, or not the one of the challenge")
        }
    }

    /// RFC 6749 §4.1.2: what came of a code that somebody else has too is good no more.
    private func replayed(
        _ found: StoredCode, _ client: ProviderClient, by deadline: Deadline
    ) async throws(OAuthRefusal) -> OAuthRefusal {
        try await stored { () async throws(ProviderStoreError) in
            _ = try await self.revoke(grantID: found.grant.id, by: deadline)
        }
        parts.observe(.codeReplayed(client: client.id, grantID: found.grant.id))
        return .grant("oauth.codeReplayed", "the code was used before; what it brought is revoked")
    }

    // MARK: client_credentials

    /// A token for a back end itself: there is no grant and no refresh token (RFC 6749 §4.4.3).
    private func backEndToken(_ parameters: Parameters, _ client: ProviderClient) throws(OAuthRefusal) -> Secret {
        guard !client.isPublic else {
            throw OAuthRefusal(.unauthorizedClient, "oauth.grantNotAllowed", "only a client with a secret may do this")
        }
        let scopes = try self.scopes(parameters, among: client.scopes)
        let claims = AccessTokenMinter.Claims(subject: client.id, clientID: client.id, scopes: Set(scopes))
        return try answer(claims, scopes, audience: Self.backEndAudience(issuer: parts.issuer), refreshToken: nil)
    }

    // MARK: What they share

    func scopes(_ parameters: Parameters, among allowed: [String]) throws(OAuthRefusal) -> [String] {
        do throws(ScopeFault) { return try requestedScopes(parameters["scope"], among: allowed) } catch {
            throw .scope(error)
        }
    }

    func checkSubject(_ grant: ProviderGrant, by deadline: Deadline) async throws(OAuthRefusal) {
        let isSubject = try await stored { () async throws(ProviderStoreError) in
            try await self.parts.isSubject(grant.subject, deadline)
        }
        guard isSubject else {
            throw .grant("oauth.userDisabled", "the user may not use this any more")
        }
    }

    func userAnswer(
        _ grant: ProviderGrant, scopes: [String], refreshToken: Secret?
    ) throws(OAuthRefusal) -> Secret {
        let claims = AccessTokenMinter.Claims(
            subject: grant.subject, clientID: grant.clientID, scopes: Set(scopes), grantID: grant.id)
        return try answer(claims, scopes, audience: parts.issuer, refreshToken: refreshToken)
    }

    /// The body of a good answer (RFC 6749 §5.1), its scopes always named.
    private func answer(
        _ claims: AccessTokenMinter.Claims, _ scopes: [String], audience: String, refreshToken: Secret?
    ) throws(OAuthRefusal) -> Secret {
        guard let key = try? parts.keys.current(),
            let token = try? AccessTokenMinter(issuer: parts.issuer, audience: audience, key: key)
                .token(claims, lifetimeSeconds: parts.accessTokenSeconds, now: parts.clock())
        else { throw .keys }
        var object: JSONObject = [
            "access_token": .string(token.exposed), "token_type": "Bearer",
            "expires_in": .integer(parts.accessTokenSeconds),
        ]
        object["refresh_token"] = refreshToken.map { .string($0.exposed) }
        if !scopes.isEmpty { object["scope"] = .string(scopes.joined(separator: " ")) }
        return Secret(String(decoding: JSONValue.object(object).encoded(), as: UTF8.self))
    }

    @discardableResult
    func stored<Value>(
        _ work: () async throws(ProviderStoreError) -> Value
    ) async throws(OAuthRefusal) -> Value {
        do throws(ProviderStoreError) { return try await work() } catch {
            parts.observe(.storeUnavailable("\(error)"))
            throw .store
        }
    }
}

extension HTTPResponse {
    /// A good answer whose body is ready.
    init(tokenText text: Secret) {
        self.init(tokenAnswer: [:])
        body = Array(text.exposed.utf8)
    }
}
