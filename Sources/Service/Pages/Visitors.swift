import Crypto
import HTTP
import OAuth
import Telemetry
import Time

/// Who uses a browser, wherever the users are known.
struct Visitor: Sendable {
    /// Binds forms to the session; another one after each sign-in.
    let session: String
    /// The user's id.
    let subject: String
    /// What the user is shown of who is signed in; nil where nothing but the id is known.
    let name: String?
    /// The user's own access token, where the company's provider gave one.
    let token: Secret?
}

/// Knows who uses a browser, and has users sign in.
protocol Visitors: Sendable {
    /// Who is signed in.
    ///
    /// - Throws: `ProviderStoreError` where that cannot be found out now.
    func visitor(of request: HTTPRequest) async throws(ProviderStoreError) -> Visitor?

    /// Has the user sign in and come back to `way`, a path of ours; `anew` asks for another account.
    func signIn(_ request: HTTPRequest, backTo way: String, anew: Bool) async -> HTTPResponse

    /// The `Set-Cookie` that signs out; the session ends wherever its cookie was copied to.
    ///
    /// - Throws: `ProviderStoreError` where that cannot be kept.
    func signOut(_ request: HTTPRequest) async throws(ProviderStoreError) -> String

    /// The token that a form of that visitor carries.
    func formToken(_ visitor: Visitor) -> String

    /// Whether a form with that token was made for the visitor.
    func isGood(formToken: String?, for visitor: Visitor) -> Bool

    /// The pages of the sign-in.
    var routes: [Route] { get }
}

/// The users of the embedded provider, who type their password on a page of ours.
struct EmbeddedVisitors: Visitors {
    static let path = "/account/sign-in"

    let pages: AuthorizationPages
    private var sessions: Sessions { pages.sessions }
    private var answers: PageAnswers { pages.answers }

    func visitor(of request: HTTPRequest) async throws(ProviderStoreError) -> Visitor? {
        guard let session = try await sessions.session(of: request), let user = session.user else { return nil }
        return Visitor(
            session: session.id, subject: user.subject, name: "\(user.name) (\(user.username))", token: nil)
    }

    func signIn(_ request: HTTPRequest, backTo way: String, anew: Bool) async -> HTTPResponse {
        await pages.withStore(request) { () async throws(ProviderStoreError) in
            // By an address of its own, so that a form that is sent twice shows the page, and nothing stays of the old user.
            if anew { return answers.redirect(to: way, cookie: try await sessions.signOut(request)) }
            let session = try await sessions.session(of: request)
            return page(session ?? sessions.start(), request, way)
        }
    }

    func signOut(_ request: HTTPRequest) async throws(ProviderStoreError) -> String {
        try await sessions.signOut(request)
    }

    func formToken(_ visitor: Visitor) -> String {
        sessions.formToken(Sessions.Session(id: visitor.session, user: nil, mark: ""))
    }

    func isGood(formToken: String?, for visitor: Visitor) -> Bool {
        sessions.isGood(formToken: formToken, for: Sessions.Session(id: visitor.session, user: nil, mark: ""))
    }

    var routes: [Route] {
        [
            Route(.get, Self.path, timeLimit: AuthorizationPages.timeLimit) { request, _ in
                await answer(request) { () async throws(ProviderStoreError) in
                    guard try await visitor(of: request) == nil else {
                        return answers.redirect(to: AccountPages.linksPath)
                    }
                    return await signIn(request, backTo: AccountPages.linksPath, anew: false)
                }
            },
            Route(.post, Self.path, timeLimit: AuthorizationPages.timeLimit, mediaType: TokenRoutes.form) {
                request, _ in
                await answer(request) { () async throws(ProviderStoreError) in try await take(request) }
            },
        ]
    }

    private func answer(
        _ request: HTTPRequest, _ work: () async throws(ProviderStoreError) -> HTTPResponse
    ) async -> HTTPResponse {
        request.lateAnswer.response = pages.busy(pages.language([], request))
        return await pages.withStore(request, work)
    }

    /// The way back travels signed, so that no link of a stranger's leads a user anywhere (RFC 9700 §4.11).
    private func page(
        _ session: Sessions.Session, _ request: HTTPRequest, _ way: String, username: String = "",
        _ refusal: AuthorizationPages.SignInRefusal? = nil
    ) -> HTTPResponse {
        let end = sessions.clock().adding(seconds: Sessions.formSeconds)
        let form = Screens.Form(
            action: Self.path,
            hidden: [
                ("token", sessions.formToken(session)), ("way", sessions.values.sign(way, for: .way, until: end)),
            ])
        return answers.page(
            pages.language([], request), status: refusal?.status ?? 200, cookie: sessions.cookie(session),
            retryAfter: refusal?.retryAfter
        ) { $0.signIn(form, username: username, faults: refusal?.faults ?? []) }
    }

    private func take(_ request: HTTPRequest) async throws(ProviderStoreError) -> HTTPResponse {
        let language = pages.language([], request)
        let form = String(validating: request.body, as: UTF8.self).flatMap { Form(decoding: $0) }
        let session = try await sessions.session(of: request)
        let way = form?["way"].flatMap { sessions.values.contentOfAnyAge($0, for: .way) } ?? AccountPages.linksPath
        // Whoever has no session is asked to sign in where the link leads.
        guard let form, let session, sessions.isGood(formToken: form["token"], for: session) else {
            return pages.message(.expiredTitle, .expiredLead, status: 403, goOn: way, language)
        }
        switch try await pages.judge(form, request) {
        case .busy: return pages.busy(language)
        case .refused(let refusal): return page(session, request, way, username: form["username"] ?? "", refusal)
        case .right(let user): return answers.redirect(to: way, cookie: sessions.cookie(sessions.start(user)))
        }
    }
}
