import Crypto
import HTTP
import JSON
import OAuth
import Telemetry
import Time

/// The users of the company's own provider, who sign in there.
///
/// Their token waits in a cookie that only we can read: codes for Alexa are asked for in their name.
struct ExternalVisitors: Visitors {
    private static let timeLimit = Duration.seconds(20)
    /// How long the user may take at the provider.
    private static let signInSeconds: Int64 = 1800
    /// The longest time that nobody has to sign in again.
    private static let sessionSeconds: Int64 = 3600
    private static let formSeconds: Int64 = 7200
    private static let nameLimit = 200
    /// Browsers drop larger cookies (RFC 6265 §6.1).
    private static let cookieLimitBytes = 4000
    private static let sessionCookie = "session"
    private static let signInCookie = "sign-in"

    let provider: ExternalSignIn
    let resources: ResourceClient
    let cookies: SealedCookies
    let ended: EndedSessions
    /// Signs the tokens of forms.
    let values: SignedValues
    let answers: PageAnswers
    let clock: WallClock
    let log: Log

    // MARK: - Who is signed in

    func visitor(of request: HTTPRequest) async throws(ProviderStoreError) -> Visitor? {
        let parts = cookies.content(Self.sessionCookie, of: request)?.split(
            separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
        guard let parts, parts.count == 3, try await !ended.hold(String(parts[0]), by: request.deadline) else {
            return nil
        }
        let token = Secret(String(parts[2]))
        do throws(TokenRejection) {
            let principal = try await provider.validator.principal(
                for: token, clients: .any, scopes: [], by: request.deadline)
            return Visitor(
                session: String(parts[0]), subject: principal.subject, name: parts[1].isEmpty ? nil : String(parts[1]),
                token: token)
        } catch .providerUnreachable {
            throw .unavailable("the provider does not judge tokens now")
        } catch { return nil }
    }

    func formToken(_ visitor: Visitor) -> String {
        values.sign(visitor.session, for: .form, until: clock().adding(seconds: Self.formSeconds))
    }

    func isGood(formToken: String?, for visitor: Visitor) -> Bool {
        guard let formToken, let session = values.content(of: formToken, for: .form, at: clock()) else { return false }
        return constantTimeEquals(Array(session.utf8), Array(visitor.session.utf8))
    }

    func signOut(_ request: HTTPRequest) async throws(ProviderStoreError) -> String {
        if let session = cookies.content(Self.sessionCookie, of: request)?.prefix(while: { $0 != "\n" }) {
            try await ended.end(String(session), seconds: Self.sessionSeconds, by: request.deadline)
        }
        return cookies.clear(Self.sessionCookie)
    }

    // MARK: - The way to the provider and back

    /// The way back waits in a cookie, and the state leads to it: two tabs have two.
    func signIn(_ request: HTTPRequest, backTo way: String, anew: Bool) async -> HTTPResponse {
        let id = SealedCookies.newID()
        let state = id + "." + SecureRandom.token(bytes: 16)
        let verifier = SecureRandom.token()
        let signedOut: [String]
        do throws(ProviderStoreError) { signedOut = anew ? [try await signOut(request)] : [] } catch {
            log.error("a page needs the store, which does not answer", .detail("\(error)"))
            return answers.busy(request)
        }
        do throws(CryptoError) {
            let cookie = try cookies.set(
                Self.signInCookie, id: id, "\(state)\n\(verifier)\n\(way)", seconds: Self.signInSeconds)
            return answers.redirect(to: provider.address(state: state, verifier: Secret(verifier), anew: anew)).adding(
                cookies: cookies.room(for: Self.signInCookie, in: request) + [cookie] + signedOut)
        } catch {
            log.error("a cookie cannot be sealed", .detail("\(error)"))
            return answers.busy(request)
        }
    }

    var routes: [Route] {
        [
            Route(.get, EmbeddedVisitors.path, timeLimit: Self.timeLimit) { request, _ in
                request.lateAnswer.response = answers.busy(request)
                do throws(ProviderStoreError) {
                    guard try await visitor(of: request) == nil else {
                        return answers.redirect(to: AccountPages.linksPath)
                    }
                    return await signIn(request, backTo: AccountPages.linksPath, anew: false)
                } catch { return answers.busy(request) }
            },
            Route(.get, ExternalSignIn.answerPath, timeLimit: Self.timeLimit) { request, _ in
                request.lateAnswer.response = answers.busy(request)
                return await take(request)
            },
        ]
    }

    /// Takes the provider's answer: a session of its own, and the browser goes on where it was.
    private func take(_ request: HTTPRequest) async -> HTTPResponse {
        guard let query = Form(decoding: request.query ?? ""), let id = query["state"]?.prefix(while: { $0 != "." }),
            SealedCookies.isID(String(id)),
            let kept = cookies.content(Self.signInCookie, id: String(id), of: request)?.split(
                separator: "\n", maxSplits: 2, omittingEmptySubsequences: false), kept.count == 3
        else { return refused(.returned, backTo: AccountPages.linksPath, request) }
        let (state, verifier, way) = (String(kept[0]), Secret(String(kept[1])), String(kept[2]))
        let used = cookies.clear(Self.signInCookie, id: String(id))
        do throws(ExternalSignIn.Failure) {
            let code = try provider.code(in: query, state: state)
            let (principal, seconds) = try await provider.principal(
                code: code, verifier: verifier, by: request.deadline)
            let session =
                "\(SecureRandom.token(bytes: 16))\n\(await name(of: principal, request))\n\(principal.token.exposed)"
            let cookie = try? cookies.set(
                Self.sessionCookie, session, seconds: min(max(seconds, 60), Self.sessionSeconds))
            guard let cookie, cookie.utf8.count <= Self.cookieLimitBytes else {
                throw .exchange("the token is too long for a cookie")
            }
            return answers.redirect(to: way).adding(cookies: [used, cookie])
        } catch {
            return refused(error, backTo: way, request).adding(cookies: [used])
        }
    }

    /// What the user is shown of who is signed in; nothing where the provider does not say.
    private func name(of principal: Principal, _ request: HTTPRequest) async -> String {
        var name = principal.claims["name"]?.string
        if name == nil, let user = try? await resources.resource("/me", for: principal, by: request.deadline) {
            name = user.root.string("name")
        }
        return String((name ?? "").filter { !$0.isNewline }.prefix(Self.nameLimit))
    }

    private func refused(
        _ failure: ExternalSignIn.Failure, backTo way: String, _ request: HTTPRequest
    ) -> HTTPResponse {
        let traceID = TraceID.random()
        let (code, status) = failure.told
        log.notice("nobody is signed in", .traceID(traceID), .rejection(code), .detail(failure.detail))
        return answers.page(answers.language(request), status: status) {
            $0.linkFailed(
                $0.words(.signInFailedLead), title: .signInFailedTitle,
                reference: "\(code) · \(traceID.text)", again: way)
        }
    }
}

extension ExternalSignIn.Failure {
    /// The reason code, and the status of the page.
    fileprivate var told: (code: String, status: Int) {
        switch self {
        case .returned: ("signIn.returned", 400)
        case .issuer: ("signIn.issuer", 400)
        case .exchange: ("signIn.exchange", 502)
        case .token(let rejection): (rejection.reasonCode, 502)
        }
    }

    fileprivate var detail: String {
        switch self {
        case .returned: "the provider's answer has no code, or is not for this browser"
        case .issuer: "the answer is another provider's"
        case .exchange(let reason): reason
        case .token: "the provider's own token is refused"
        }
    }
}
