import Crypto
import HTTP
import OAuth
import Telemetry
import Time

extension AuthorizationPages {
    /// What a browser sent: a form of ours, or a client's request by POST (RFC 6749 §3.1).
    func take(_ request: HTTPRequest) async throws(ProviderStoreError) -> HTTPResponse {
        if let answer = server.answerMisplacedTokenRequest(request) { return answer }
        guard let text = String(validating: request.body, as: UTF8.self), let form = Form(decoding: text) else {
            return faulty(.malformed, nil, request)
        }
        guard let carried = form["request"] else {
            let decision = AuthorizationDecision(form: form, clients: server.clients, resource: server.resource)
            if case .page(let fault) = decision { return faulty(fault, form, request) }
            // Browsers send our cookie along with a GET from elsewhere and not with a POST (RFC 6265bis §5.2).
            return answers.redirect(to: Self.path + "?" + form.encodedText)
        }
        guard let query = sessions.values.contentOfAnyAge(carried, for: .request) else {
            return faulty(.malformed, nil, request)
        }
        let decision = decision(query)
        if case .page(let fault) = decision { return faulty(fault, Form(decoding: query), request) }
        let here = Self.path + "?" + query
        let language = language(decision.locales, request)
        let session = try await sessions.session(of: request)
        if form["username"] != nil {
            // Somebody signed in on another tab: this one goes on, without a second sign-in (PRO-6).
            if session?.subject != nil { return answers.redirect(to: here) }
        }
        guard let session else {
            return message(.cookieTitle, .cookieLead, status: 403, goOn: here, language)
        }
        guard sessions.isGood(formToken: form["token"], for: session),
            sessions.values.content(of: carried, for: .request, at: sessions.clock()) != nil
        else { return message(.expiredTitle, .expiredLead, status: 403, goOn: here, language) }
        if form["username"] != nil { return try await signIn(form, decision, query, session, request) }
        return try await decide(form["decision"] ?? "", decision, here, session, request, language)
    }

    private func signIn(
        _ form: Form, _ decision: AuthorizationDecision, _ query: String, _ session: Sessions.Session,
        _ request: HTTPRequest
    ) async throws(ProviderStoreError) -> HTTPResponse {
        switch try await judge(form, request) {
        case .busy: busy(language(decision.locales, request))
        case .refused(let refusal):
            signIn(decision, query, session, request, username: form["username"] ?? "", refusal)
        case .right(let user):
            answers.redirect(to: Self.path + "?" + query, cookie: sessions.cookie(sessions.start(user)))
        }
    }

    /// What became of a sign-in.
    enum SignInOutcome: Sendable {
        case right(Users.User)
        case refused(SignInRefusal)
        case busy
    }

    /// Why a sign-in is sent back, and how that is answered.
    struct SignInRefusal: Sendable {
        let faults: [Screens.SignInFault]
        let status: Int
        var retryAfter: Int64?
    }

    /// Judges what the sign-in form of any page was filled in with.
    ///
    /// - Throws: `ProviderStoreError` where the user may be one of the store, and it does not answer.
    func judge(_ form: Form, _ request: HTTPRequest) async throws(ProviderStoreError) -> SignInOutcome {
        let (username, password) = (form["username"] ?? "", form["password"] ?? "")
        var missing: [Screens.SignInFault] = []
        if username.isEmpty { missing.append(.usernameMissing) }
        if password.isEmpty { missing.append(.passwordMissing) }
        guard missing.isEmpty else { return .refused(SignInRefusal(faults: missing, status: 400)) }
        guard username.utf8.count <= 255, password.utf8.count <= 1024 else {
            return .refused(SignInRefusal(faults: [.wrong], status: 400))
        }
        if let wait = attempts.begin(username: username, address: request.peerAddress) {
            log.notice("sign-ins come too often", .peer(request.peerAddress))
            return .refused(
                SignInRefusal(faults: [.tooMany], status: 429, retryAfter: max(1, wait.components.seconds)))
        }
        let user: Users.User?
        do throws(ProviderStoreError) {
            user = try await sessions.users.user(named: username, by: request.deadline)
        } catch {
            attempts.forgive(username: username, address: request.peerAddress, isRight: false)
            throw error
        }
        switch await passwords.outcome(of: Secret(password), for: user?.credential) {
        case .busy:
            attempts.forgive(username: username, address: request.peerAddress, isRight: false)
            return .busy
        case .wrong:
            log.info("a sign-in is refused", .outcome("wrong"), .peer(request.peerAddress))
            return .refused(SignInRefusal(faults: [.wrong], status: 400))
        case .right:
            attempts.forgive(username: username, address: request.peerAddress, isRight: true)
            // The password was right, so that this says nothing to a stranger.
            guard let user, !user.isDisabled else { return .refused(SignInRefusal(faults: [.locked], status: 403)) }
            return .right(user)
        }
    }

    private func decide(
        _ choice: String, _ decision: AuthorizationDecision, _ here: String, _ session: Sessions.Session,
        _ request: HTTPRequest, _ language: PageLanguage
    ) async throws(ProviderStoreError) -> HTTPResponse {
        guard let subject = session.subject, case .ask(let asked) = decision else {
            return answers.redirect(to: here)
        }
        switch choice {
        case "agree":
            let code = try await server.code(for: asked, subject: subject, by: request.deadline)
            return answers.redirect(to: asked.target.success(code: code))
        case "deny": return answers.redirect(to: asked.target.failure(.accessDenied, "the user said no"))
        case "switch": return answers.redirect(to: here, cookie: try await sessions.signOut(request))
        default: return message(.expiredTitle, .expiredLead, status: 400, goOn: here, language)
        }
    }
}

extension AuthorizationDecision {
    /// The languages that the request wishes for.
    var locales: [String] {
        if case .ask(let request) = self { return request.uiLocales }
        return []
    }

    /// Where the answer goes; nil where it goes nowhere.
    var target: RedirectTarget? {
        switch self {
        case .page: nil
        case .refuse(_, let target): target
        case .ask(let request): request.target
        }
    }
}

extension AuthorizationFault {
    /// The code in the log.
    var reasonCode: String {
        switch self {
        case .malformed: "authorize.malformed"
        case .repeated: "authorize.repeated"
        case .clientMissing: "authorize.clientMissing"
        case .clientUnknown: "authorize.clientUnknown"
        case .redirectMissing: "authorize.redirectMissing"
        case .redirectUnknown: "authorize.redirectUnknown"
        case .stateTooLong: "authorize.stateTooLong"
        }
    }
}
