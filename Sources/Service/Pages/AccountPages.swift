import Crypto
import HTTP
import OAuth
import Telemetry
import Time

/// `/account/sign-in`, `/account/links` and `/account/sign-out`: where a user sees and ends what may use the account.
///
/// No address is taken from a request to lead the browser to (RFC 9700 §4.11).
struct AccountPages: Sendable {
    static let signInPath = "/account/sign-in"
    static let linksPath = "/account/links"
    static let signOutPath = "/account/sign-out"

    let pages: AuthorizationPages
    private var sessions: Sessions { pages.sessions }
    private var answers: PageAnswers { pages.answers }

    var routes: [Route] {
        let limit = AuthorizationPages.timeLimit
        // Every page needs to know who is signed in, and the store may know.
        func route(
            _ method: HTTPMethod, _ path: String, mediaType: String? = nil,
            _ answer: @escaping @Sendable (HTTPRequest) async throws(ProviderStoreError) -> HTTPResponse
        ) -> Route {
            Route(method, path, timeLimit: limit, mediaType: mediaType) { request, _ in
                request.lateAnswer.response = pages.busy(pages.language([], request))
                return await pages.withStore(request) { () async throws(ProviderStoreError) in
                    try await answer(request)
                }
            }
        }
        func post(
            _ path: String,
            _ take: @escaping @Sendable (Form, HTTPRequest) async throws(ProviderStoreError) -> HTTPResponse
        ) -> Route {
            route(.post, path, mediaType: TokenRoutes.form) { (request) async throws(ProviderStoreError) in
                let language = pages.language([], request)
                guard let text = String(validating: request.body, as: UTF8.self), let form = Form(decoding: text),
                    let session = try await sessions.session(of: request),
                    sessions.isGood(formToken: form["token"], for: session)
                else {
                    // Whoever has no session is asked to sign in where the link leads.
                    return pages.message(.expiredTitle, .expiredLead, status: 403, goOn: Self.linksPath, language)
                }
                return try await take(form, request)
            }
        }
        return [
            route(.get, Self.signInPath) { (request) async throws(ProviderStoreError) in
                let session = try await sessions.session(of: request)
                guard session?.subject == nil else { return answers.redirect(to: Self.linksPath) }
                return signIn(session ?? sessions.start(), request)
            },
            post(Self.signInPath, signIn),
            route(.get, Self.linksPath, links),
            post(Self.linksPath, revoke),
            route(.get, Self.signOutPath) { (request) async throws(ProviderStoreError) in
                guard let session = try await sessions.session(of: request), session.subject != nil else {
                    return answers.page(pages.language([], request)) {
                        $0.message(.signedOutTitle, .signedOutLead, goOn: Self.signInPath)
                    }
                }
                return answers.redirect(to: Self.linksPath)
            },
            // Links go on working: they do not hang on the browser's session (PRO-8).
            post(Self.signOutPath) { _, _ in
                answers.redirect(to: Self.signOutPath, cookie: sessions.cookie(sessions.start()))
            },
        ]
    }

    private func signIn(
        _ session: Sessions.Session, _ request: HTTPRequest, username: String = "",
        _ refusal: AuthorizationPages.SignInRefusal? = nil
    ) -> HTTPResponse {
        answers.page(
            pages.language([], request), status: refusal?.status ?? 200, cookie: sessions.cookie(session),
            retryAfter: refusal?.retryAfter
        ) {
            $0.signIn(
                form(Self.signInPath, session), username: username, faults: refusal?.faults ?? [])
        }
    }

    @Sendable private func signIn(
        _ form: Form, _ request: HTTPRequest
    ) async throws(ProviderStoreError) -> HTTPResponse {
        switch try await pages.judge(form, request) {
        case .busy: return pages.busy(pages.language([], request))
        case .refused(let refusal):
            return signIn(
                try await sessions.session(of: request) ?? sessions.start(), request, username: form["username"] ?? "",
                refusal)
        case .right(let user):
            return answers.redirect(to: Self.linksPath, cookie: sessions.cookie(sessions.start(user)))
        }
    }

    private func form(_ path: String, _ session: Sessions.Session, _ more: [(String, String)] = []) -> Screens.Form {
        Screens.Form(action: path, hidden: [("token", sessions.formToken(session))] + more)
    }

    @Sendable private func links(_ request: HTTPRequest) async throws(ProviderStoreError) -> HTTPResponse {
        guard let session = try await sessions.session(of: request), let subject = session.subject else {
            return answers.redirect(to: Self.signInPath)
        }
        let grants = try await pages.server.grants(of: subject, by: request.deadline)
        let ids = grants.reduce(into: [String]()) { if !$0.contains($1.clientID) { $0.append($1.clientID) } }
        let shown = ids.map { id in
            Screens.Link(
                client: pages.server.clients[id].map(pages.words.client) ?? id,
                date: String((grants.last { $0.clientID == id }?.createdAt ?? sessions.clock()).iso8601().prefix(10)),
                form: form(Self.linksPath, session, [("client", id)]))
        }
        return answers.page(pages.language([], request)) {
            $0.links(shown, signOut: form(Self.signOutPath, session))
        }
    }

    @Sendable private func revoke(
        _ form: Form, _ request: HTTPRequest
    ) async throws(ProviderStoreError) -> HTTPResponse {
        let subject = try await sessions.session(of: request)?.subject
        guard let subject, let client = form["client"], !client.isEmpty else {
            return answers.redirect(to: Self.linksPath)
        }
        let count = try await pages.server.revoke(subject: subject, client: client, by: request.deadline)
        pages.log.info("a user ended a link", .detail(client), .count(count))
        return answers.redirect(to: Self.linksPath)
    }
}
