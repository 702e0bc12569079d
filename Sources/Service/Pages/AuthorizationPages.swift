import Crypto
import HTTP
import OAuth
import Telemetry
import Time

/// `/oauth/authorize`: sign-in, consent, and the way back to the client.
///
/// The client's request travels signed in our forms, so that tabs know nothing of each other, and is judged anew each
/// time it comes back.
final class AuthorizationPages: Sendable {
    static let path = "/oauth/authorize"
    /// A password may wait for some others.
    static let timeLimit: Duration = .seconds(10)

    /// What clients are called, and what their scopes mean, to users.
    struct Words: Sendable {
        let company: String
        let client: @Sendable (ProviderClient) -> String
        let isGoogle: @Sendable (ProviderClient) -> Bool
        /// Where the client's own privacy policy is; nil for whom it is not known, and for the company's own apps.
        let privacyURL: @Sendable (ProviderClient) -> String?
        let scope: @Sendable (String, PageLanguage) -> String
    }

    let server: AuthorizationServer
    let sessions: Sessions
    let answers: PageAnswers
    let words: Words
    let log: Log
    private let traces: TraceRecorder
    private let monotonic: @Sendable () -> ContinuousClock.Instant
    let passwords = PasswordChecks()
    let attempts: SignInAttempts

    init(
        server: AuthorizationServer, sessions: Sessions, answers: PageAnswers, words: Words,
        monotonic: @escaping @Sendable () -> ContinuousClock.Instant, log: Log, traces: TraceRecorder
    ) {
        self.server = server
        self.sessions = sessions
        self.answers = answers
        self.words = words
        self.log = log
        self.traces = traces
        self.monotonic = monotonic
        attempts = SignInAttempts(now: monotonic)
    }

    var routes: [Route] {
        [
            Route(.get, Self.path, timeLimit: Self.timeLimit) { request, _ in
                request.lateAnswer.response = self.busy(self.language([], request))
                return await self.withStore(request) { () async throws(ProviderStoreError) in
                    try await self.show(request)
                }
            },
            Route(.post, Self.path, timeLimit: Self.timeLimit, mediaType: TokenRoutes.form) { request, _ in
                request.lateAnswer.response = self.busy(self.language([], request))
                return await self.withStore(request) { () async throws(ProviderStoreError) in
                    try await self.take(request)
                }
            },
        ]
    }

    func language(_ wished: [String], _ request: HTTPRequest) -> PageLanguage {
        PageLanguage(wished: wished, acceptLanguage: request.fields["Accept-Language"])
    }

    func decision(_ query: some StringProtocol) -> AuthorizationDecision {
        AuthorizationDecision(query: query, clients: server.clients, resource: server.resource)
    }

    /// The answer of `work`, or that it has to wait where the store does not answer.
    func withStore(
        _ request: HTTPRequest, _ work: () async throws(ProviderStoreError) -> HTTPResponse
    ) async -> HTTPResponse {
        do throws(ProviderStoreError) { return try await work() } catch {
            log.error("a page needs the store, which does not answer", .detail("\(error)"))
            return busy(language([], request))
        }
    }

    // MARK: What a browser sees

    /// The page for the request in the query: a fault, the sign-in or the consent.
    private func show(_ request: HTTPRequest) async throws(ProviderStoreError) -> HTTPResponse {
        let query = String(request.query ?? "")
        let decision = decision(query)
        if case .page(let fault) = decision { return faulty(fault, Form(decoding: query), request) }
        let session = try await sessions.session(of: request)
        guard let session, let user = session.user else {
            return signIn(decision, query, session ?? sessions.start(), request)
        }
        switch decision {
        case .page(let fault): return faulty(fault, Form(decoding: query), request)
        // The user is known by now, so the link cannot be a stranger's way to lead people elsewhere (PRO-4).
        case .refuse(let error, let target):
            _ = turnedAway(
                "authorize.refused", Form(decoding: query), subject: user.subject,
                "\(error.code.rawValue): \(error.description)")
            return answers.redirect(to: target.failure(error.code, error.description))
        case .ask(let asked): return consent(asked, query, user, session, request)
        }
    }

    func form(_ query: String, _ session: Sessions.Session) -> Screens.Form {
        let end = sessions.clock().adding(seconds: Sessions.formSeconds)
        return Screens.Form(
            action: Self.path,
            hidden: [
                ("request", sessions.values.sign(query, for: .request, until: end)),
                ("token", sessions.formToken(session)),
            ])
    }

    func signIn(
        _ decision: AuthorizationDecision, _ query: String, _ session: Sessions.Session, _ request: HTTPRequest,
        username: String = "", _ refusal: SignInRefusal? = nil
    ) -> HTTPResponse {
        answers.page(
            language(decision.locales, request), status: refusal?.status ?? 200, form: decision.target?.origin,
            cookie: sessions.cookie(session), retryAfter: refusal?.retryAfter
        ) { $0.signIn(form(query, session), username: username, faults: refusal?.faults ?? []) }
    }

    private func consent(
        _ asked: AuthorizationRequest, _ query: String, _ user: Users.User, _ session: Sessions.Session,
        _ request: HTTPRequest
    ) -> HTTPResponse {
        let language = language(asked.uiLocales, request)
        let shown = Screens.Consent(
            client: words.client(asked.client), scopes: asked.scopes.map { words.scope($0, language) },
            user: "\(user.name) (\(user.username))", isGoogle: words.isGoogle(asked.client),
            privacyURL: words.privacyURL(asked.client))
        return answers.page(language, form: asked.target.origin) { $0.consent(shown, form: form(query, session)) }
    }

    /// The page about a request that leads nowhere, with what its sender needs to find out why.
    func faulty(_ fault: AuthorizationFault, _ asked: Form?, _ request: HTTPRequest) -> HTTPResponse {
        let traceID = turnedAway(fault.reasonCode, asked)
        // Such an address was put together in a console, by somebody who looks at this page now.
        let name: String? = if case .repeated(let name) = fault { name } else { nil }
        return answers.page(language([], request), status: 400) {
            $0.message(
                .faultTitle, .faultLead, hint: name == nil ? nil : .repeatedLead,
                values: ["company": words.company, "name": name ?? ""],
                reference: "\(fault.reasonCode) · \(traceID.text)")
        }
    }

    /// Notes why a client's request is refused, and what it asked for: whoever entered it in a console looks for that.
    private func turnedAway(
        _ reason: String, _ asked: Form?, subject: String? = nil, _ detail: String? = nil
    ) -> TraceID {
        let start = monotonic()
        let trace = Trace(.other, startedAt: sessions.clock(), start: start)
        if let subject { trace.belongs(to: subject) }
        if let client = asked?["client_id"] { trace.note("client", client) }
        // What follows in an address may be a secret of somebody's.
        if let address = asked?["redirect_uri"] {
            trace.note("redirectURI", String(address.prefix { $0 != "?" && $0 != "#" }))
        }
        if let detail { trace.note("detail", detail) }
        trace.step("authorize", .refused, reason: reason, from: start, to: start)
        traces.finish(trace.record(.refused, reason: reason, end: start))
        log.notice("a request for consent is refused", .traceID(trace.id), .rejection(reason))
        return trace.id
    }

    func message(
        _ title: PageText, _ lead: PageText, status: Int, goOn: String? = nil, retryAfter: Int64? = nil,
        _ language: PageLanguage
    ) -> HTTPResponse {
        answers.page(language, status: status, retryAfter: retryAfter) {
            $0.message(title, lead, values: ["company": words.company], goOn: goOn)
        }
    }

    func busy(_ language: PageLanguage) -> HTTPResponse {
        message(.busyTitle, .busyLead, status: 503, retryAfter: 5, language)
    }
}
