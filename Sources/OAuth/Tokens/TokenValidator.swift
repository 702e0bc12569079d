import Concurrency
public import Crypto
public import HTTP
import JSON
public import Time

/// Judges access tokens: by the provider's keys, by asking the provider, or by both.
///
/// A token that was found good is kept by its digest until its end (introspected ones for 30 seconds), with what it
/// says and not with what was decided: client and scopes are judged on every call. A kept token, and a new one whose
/// keys are at hand, are judged without waiting and without leaving the thread.
public final class TokenValidator: Sendable {
    private let validation: TokenValidation
    private let keySets: KeySetCache
    private let introspector: Introspector?
    private let kept: KeptTokens
    private let revokedGrants: RevokedGrants
    private let subjects: SubjectCheck
    private let clock: WallClock
    private let observe: @Sendable (TokenEvent) -> Void

    /// A validator; `monotonic` tells how much of a deadline is left, `keySets` may be shared with others, and tokens of
    /// whom `subjects` denies count as revoked.
    public init(
        _ validation: TokenValidation, http: any HTTPClient, clock: @escaping WallClock,
        monotonic: @escaping @Sendable () -> ContinuousClock.Instant,
        revokedGrants: RevokedGrants = RevokedGrants(), subjects: SubjectCheck = .everyone,
        keySets: KeySetCache? = nil,
        observe: @escaping @Sendable (TokenEvent) -> Void = { _ in }
    ) {
        self.validation = validation
        self.clock = clock
        self.revokedGrants = revokedGrants
        self.subjects = subjects
        self.observe = observe
        self.keySets =
            keySets
            ?? KeySetCache(
                capacity: validation.keptKeySetLimit, http: http, clock: clock, monotonic: monotonic, observe: observe)
        introspector = validation.introspection.map {
            Introspector($0, http: http, monotonic: monotonic, observe: observe)
        }
        kept = KeptTokens(capacity: max(1, validation.keptTokenLimit))
    }

    /// Whom `token` stands for, where it is good for that client and has all of `scopes`.
    ///
    /// - Throws: ``TokenRejection``; ``TokenRejection/providerUnreachable`` where nothing is known against the token.
    public func principal(
        for token: Secret?, client: String?, scopes: Set<String>, by deadline: Deadline
    ) async throws(TokenRejection) -> Principal {
        try await principal(for: token, clients: client.map { .issuedTo($0) } ?? .any, scopes: scopes, by: deadline)
    }

    /// Whom `token` stands for, where it is of one of those clients and has all of `scopes`.
    ///
    /// - Throws: ``TokenRejection``; ``TokenRejection/providerUnreachable`` where nothing is known against the token.
    public func principal(
        for token: Secret?, clients: ClientRule, scopes: Set<String>, by deadline: Deadline
    ) async throws(TokenRejection) -> Principal {
        var step = try begin(token)
        while true {
            switch step {
            case .good(let facts, let token):
                try admit(facts, clients, scopes, isSubject: try await isSubject(facts.subject, by: deadline))
                return Principal(facts: facts, token: token)
            case .wait(let pending):
                step = try await next(pending, by: deadline)
            }
        }
    }

    /// The same without waiting: nil where the provider would have to be asked first.
    ///
    /// - Throws: ``TokenRejection``.
    public func principalWithoutWaiting(
        for token: Secret?, clients: ClientRule, scopes: Set<String>
    ) throws(TokenRejection) -> Principal? {
        guard case .good(let facts, let token) = try begin(token), let isSubject = subjects.known(facts.subject) else {
            return nil
        }
        try admit(facts, clients, scopes, isSubject: isSubject)
        return Principal(facts: facts, token: token)
    }

    /// Forgets what is known of `token`, after a revocation: the provider is asked again.
    public func forget(token: Secret) { kept.forget(TokenDigest(of: Array(token.exposed.utf8))) }

    /// Forgets what is known of every token of `subject`, after an unlinking or a disabled skill.
    public func forget(subject: String) { kept.forget(subject: subject) }

    // MARK: - Steps

    private enum Step {
        case good(TokenFacts, Secret)
        case wait(Pending)
    }

    private struct Pending {
        enum Need {
            /// The key set is not at hand.
            case keys(url: String)
            /// The held keys do not fit; newer ones may.
            case newerKeys(url: String, instead: TokenRejection)
            /// The provider has to say whether the token is active.
            case introspection
        }

        let token: Secret
        let digest: TokenDigest
        let mark: UInt64
        var need: Need = .introspection
        var signature: JSONWebSignature?
        var claims: TokenClaims?
        /// When the token ends, where an earlier answer said so.
        var knownEnd: UnixTime?
    }

    private func begin(_ token: Secret?) throws(TokenRejection) -> Step {
        guard let token, !token.exposed.isEmpty else { throw .missing }
        let bytes = Array(token.exposed.utf8)
        guard bytes.count <= JSONWebSignature.lengthLimit else {
            throw .malformed("longer than \(JSONWebSignature.lengthLimit) characters")
        }
        let now = clock()
        var pending = Pending(token: token, digest: TokenDigest(of: bytes), mark: kept.mark)
        switch kept.kept(pending.digest) {
        case .good(let facts, let end):
            if now < end { return .good(facts, token) }
            pending.knownEnd = facts.expiresAt
        case .inactive(let end, let expiresAt):
            if now < end { throw inactive(expiresAt: expiresAt, at: now) }
            pending.knownEnd = expiresAt
        case nil: break
        }
        if let end = pending.knownEnd, isOver(end, at: now) { throw .expired }
        // RFC 6749 A.12: nothing but printable ASCII.
        guard bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { throw .malformed("characters that no token has") }
        if case .none = validation.keys { return .wait(pending) }
        let signature = try JSONWebSignature(compact: token.exposed)
        try checkType(signature.header)
        pending.signature = signature
        switch validation.keys {
        case .none: return .wait(pending)
        case .fixed(let set): return try judged(pending, signature, by: set, fetchable: nil)
        case .fetched(let url):
            if let set = keySets.fresh(url) { return try judged(pending, signature, by: set, fetchable: url) }
            pending.need = .keys(url: url)
            return .wait(pending)
        }
    }

    private func next(_ pending: Pending, by deadline: Deadline) async throws(TokenRejection) -> Step {
        guard let signature = pending.signature else { return try await introspected(pending, by: deadline) }
        switch pending.need {
        case .keys(let url):
            let (set, isNew) = try await keySets.current(url, by: deadline)
            return try judged(pending, signature, by: set, fetchable: isNew ? nil : url)
        case .newerKeys(let url, let rejection):
            switch await keySets.provoked(url, by: deadline) {
            case .fetched(let set): return try judged(pending, signature, by: set, fetchable: nil)
            case .tooSoon:
                // Another token may have brought newer keys since this one was judged.
                guard let set = keySets.fresh(url) else { throw rejection }
                return try judged(pending, signature, by: set, fetchable: nil)
            case .failed: throw rejection == .unknownKey ? .providerUnreachable : rejection
            }
        case .introspection: return try await introspected(pending, by: deadline)
        }
    }

    /// Judges signature and claims; `fetchable` is where newer keys can be had, nil where they were fetched just now.
    private func judged(
        _ pending: Pending, _ signature: JSONWebSignature, by set: JSONWebKeySet, fetchable url: String?
    ) throws(TokenRejection) -> Step {
        var pending = pending
        let verdict = signature.verdict(with: set)
        if let rejection = verdict.rejection {
            if verdict.newerKeysMayHelp, let url {
                pending.need = .newerKeys(url: url, instead: rejection)
                return .wait(pending)
            }
            if rejection == .unknownKey, case .text(let id) = signature.header.keyID {
                observe(.unknownKey(id: String(id.prefix(64)).debugDescription))
            }
            throw rejection
        }
        let document: JSONDocument
        do { document = try JSONDocument(parsing: signature.payload) } catch {
            throw .malformed("the claims are not JSON")
        }
        let claims = try TokenClaims(document.root)
        try checkClaims(claims)
        if introspector != nil {
            pending.claims = claims
            pending.need = .introspection
            return .wait(pending)
        }
        return try good(
            pending, claims, signature.payload, believedFor: claims.expiresAt == nil ? validation.activeSeconds : nil)
    }

    private func introspected(_ pending: Pending, by deadline: Deadline) async throws(TokenRejection) -> Step {
        guard let introspector else { throw .providerUnreachable }
        let answer = try await introspector.answer(for: pending.token.exposed, pending.digest, by: deadline)
        let now = clock()
        guard case .active(let body) = answer else {
            let end = pending.claims?.expiresAt ?? pending.knownEnd
            let until = now.adding(seconds: validation.inactiveSeconds)
            kept.keep(.inactive(until: until, expiresAt: end), for: pending.digest, since: pending.mark)
            throw inactive(expiresAt: end, at: now)
        }
        let document: JSONDocument
        do { document = try JSONDocument(parsing: body) } catch { throw .providerUnreachable }
        var claims = try TokenClaims(document.root)
        try checkAnswer(claims)
        if let own = pending.claims { claims = try merged(own, with: claims) }
        let all = pending.signature == nil ? body : pending.signature?.payload ?? body
        return try good(pending, claims, all, believedFor: validation.activeSeconds)
    }

    private func good(
        _ pending: Pending, _ claims: TokenClaims, _ json: [UInt8], believedFor seconds: Int64?
    ) throws(TokenRejection) -> Step {
        guard let subject = claims.subject, !subject.isEmpty else { throw .malformed("no sub") }
        let now = clock()
        if let end = claims.expiresAt, isOver(end, at: now) { throw .expired }
        let facts = TokenFacts(
            subject: subject, scopes: claims.scopes ?? [], clientID: claims.clientID, expiresAt: claims.expiresAt,
            grantID: claims.grantID, issuer: claims.issuer, claims: json)
        var end = seconds.map { now.adding(seconds: $0) } ?? UnixTime(milliseconds: .max)
        if let expiry = claims.expiresAt { end = min(end, expiry) }
        if now < end { kept.keep(.good(facts, until: end), for: pending.digest, since: pending.mark) }
        return .good(facts, pending.token)
    }
}

// MARK: - Rules

extension TokenValidator {
    /// RFC 9068 §4; media types compare without regard to case, and `application/` may be left out (RFC 7515 §4.1.9).
    private func checkType(_ header: JSONWebSignature.Header) throws(TokenRejection) {
        let isAccessToken =
            header.type.map { equalsIgnoringCase($0, "at+jwt") || equalsIgnoringCase($0, "application/at+jwt") }
            ?? false
        let isPlain = header.type.map { equalsIgnoringCase($0, "JWT") } ?? true
        guard isAccessToken || (isPlain && !validation.strictType) else {
            throw .malformed("typ is not that of an access token")
        }
    }

    private func checkClaims(_ claims: TokenClaims) throws(TokenRejection) {
        if let issuer = validation.issuer {
            guard let named = claims.issuer, isSame(named, issuer) else { throw .wrongIssuer }
        }
        if let audience = validation.audience {
            guard claims.audience?.contains(where: { isSame($0, audience) }) ?? false else { throw .wrongAudience }
        }
        if validation.requiresExpiry, claims.expiresAt == nil { throw .malformed("no exp") }
        try checkTimes(claims)
        guard let subject = claims.subject, !subject.isEmpty else { throw .malformed("no sub") }
    }

    /// An introspection answer may leave out issuer and audience (RFC 7662 §2.2), but not name others.
    private func checkAnswer(_ claims: TokenClaims) throws(TokenRejection) {
        if let issuer = validation.issuer, let named = claims.issuer, !isSame(named, issuer) { throw .wrongIssuer }
        if let audience = validation.audience, let named = claims.audience,
            !named.contains(where: { isSame($0, audience) })
        {
            throw .wrongAudience
        }
        try checkTimes(claims)
    }

    private func checkTimes(_ claims: TokenClaims) throws(TokenRejection) {
        let now = clock()
        for start in [claims.notBefore, claims.issuedAt] {
            if let start, now < start.adding(seconds: -validation.leewaySeconds) { throw .notYetValid }
        }
        if let end = claims.expiresAt, isOver(end, at: now) { throw .expired }
    }

    private func isOver(_ end: UnixTime, at now: UnixTime) -> Bool {
        now >= end.adding(seconds: validation.leewaySeconds)
    }

    /// An inactive token has ended, was revoked or is unknown; only an end that we know tells the first apart.
    private func inactive(expiresAt: UnixTime?, at now: UnixTime) -> TokenRejection {
        expiresAt.map { $0 <= now } ?? false ? .expired : .revoked
    }

    /// What a token and the answer about it say together: the narrower of the two.
    private func merged(_ token: TokenClaims, with answer: TokenClaims) throws(TokenRejection) -> TokenClaims {
        var claims = token
        if let subject = answer.subject, !isSame(subject, token.subject ?? "") {
            throw .malformed("the provider names another sub")
        }
        if let client = answer.clientID {
            if let named = token.clientID, !isSame(named, client) {
                throw .malformed("the provider names another client")
            }
            claims.clientID = client
        }
        if let scopes = answer.scopes { claims.scopes = token.scopes?.intersection(scopes) ?? scopes }
        if let end = answer.expiresAt { claims.expiresAt = token.expiresAt.map { min($0, end) } ?? end }
        return claims
    }

    /// Whether tokens of the user are taken; the call does not suspend where that is known.
    private func isSubject(_ subject: String, by deadline: Deadline) async throws(TokenRejection) -> Bool {
        if let known = subjects.known(subject) { return known }
        do throws(ProviderStoreError) { return try await subjects.ask(subject, deadline) } catch {
            observe(.usersUnavailable("\(error)"))
            throw .providerUnreachable
        }
    }

    /// The decision that is made on every call.
    private func admit(
        _ facts: TokenFacts, _ clients: ClientRule, _ scopes: Set<String>, isSubject: Bool
    ) throws(TokenRejection) {
        if let grantID = facts.grantID, revokedGrants.contains(grantID) { throw .revoked }
        guard isSubject else { throw .revoked }
        guard clients.admits(facts.clientID) else { throw .wrongClient }
        guard scopes.isSubset(of: facts.scopes) else {
            throw .lacksScope(scopes.subtracting(facts.scopes).min() ?? "")
        }
    }
}
