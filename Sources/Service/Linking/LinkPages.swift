import Alexa
import Crypto
import HTTP
import OAuth
import Telemetry
import Time

/// Linking in a browser: `/link`, where a user of the website begins, and the landing page at each of a skill's
/// redirect URLs, where whoever began there or in the app comes back to.
///
/// What Amazon's answer holds leaves the address at once: it waits, sealed, in a cookie, and the browser goes to an
/// address that tells nothing (RFC 9700 §4.2).
struct LinkPages: Sendable {
    static let startPath = "/link"
    static let answerPath = "/link/answer/"
    /// How long a browser waits at most; what takes longer goes on without it.
    static let timeLimit = Duration.seconds(20)
    /// The cookie with an answer of Amazon's, and for how long: Amazon's code lives five minutes.
    static let answerCookie = "link"
    static let answerSeconds: Int64 = 900
    /// The cookie by which a browser is known again, whoever signs in meanwhile; it outlives the attempts.
    static let browserCookie = "browser"
    static let browserSeconds = 2 * LinkStarting.seconds

    let linking: LinkService
    /// Nil where nobody can sign in on our pages: then only the app can finish.
    let visitors: (any Visitors)?
    let cookies: SealedCookies
    let answers: PageAnswers
    let publicURL: String
    /// The address that opens the company's app.
    let appURL: String?
    /// The page of Amazon's that the browser goes to.
    let amazonURL: String
    let log: Log

    /// The routes; none where no skill can be linked.
    var routes: [Route] {
        guard !linking.skills.all.isEmpty else { return [] }
        let landing = landingPaths.map { path in route(.get, path) { request, _ in await land(request) } }
        guard visitors != nil else { return landing }
        return landing + [
            route(.get, Self.startPath) { request, _ in await show(request) },
            route(.post, Self.startPath, mediaType: TokenRoutes.form) { request, _ in await begin(request) },
            route(.get, Self.answerPath + "{id}") { request, arguments in
                await answer(request, id: arguments["id"] ?? "")
            },
            route(.post, Self.answerPath + "{id}", mediaType: TokenRoutes.form) { request, arguments in
                await decide(request, id: arguments["id"] ?? "")
            },
        ]
    }

    private func route(
        _ method: HTTPMethod, _ path: String, mediaType: String? = nil,
        _ handler: @escaping @Sendable (HTTPRequest, [String: String]) async -> HTTPResponse
    ) -> Route {
        Route(method, path, timeLimit: Self.timeLimit, mediaType: mediaType) { request, arguments in
            request.lateAnswer.response = answers.busy(request)
            return await handler(request, arguments)
        }
    }

    /// The paths of the redirect URLs under our own address, each once.
    private var landingPaths: [String] {
        linking.skills.all.flatMap(\.redirectURLs).compactMap(path).reduce(into: []) { paths, path in
            if !paths.contains(path) { paths.append(path) }
        }
    }

    private func path(of url: String) -> String? {
        guard url.hasPrefix(publicURL + "/") else { return nil }
        return String(url.dropFirst(publicURL.count).prefix { $0 != "?" && $0 != "#" })
    }

    /// What a skill is called to users: its name in the configuration, in words.
    static func title(ofSkill name: String) -> String {
        name.split { $0 == "-" || $0 == "_" }.map { $0.prefix(1).uppercased() + $0.dropFirst() }
            .joined(separator: " ")
    }

    // MARK: - The start

    /// What the address of the start asks for.
    struct Wish: Sendable {
        let skills: [LinkSkill]
        let skill: String?
        let returnURL: String?

        /// The address again, of what was understood alone.
        var path: String {
            var form = Form()
            if let skill { form.append("skill", skill) }
            if let returnURL { form.append("return", returnURL) }
            return form.items.isEmpty ? LinkPages.startPath : LinkPages.startPath + "?" + form.encodedText
        }
    }

    private func wish(_ text: some StringProtocol) throws(LinkFault) -> Wish {
        guard let form = Form(decoding: text) else { throw .malformed("The query cannot be decoded") }
        for name in ["skill", "return"] where form.values(name).count > 1 {
            throw .malformed("\(name) is given twice")
        }
        let skill = form["skill"].flatMap { $0.isEmpty ? nil : $0 }
        let returnURL = form["return"].flatMap { $0.isEmpty ? nil : $0 }
        var skills = linking.skills.all.filter { $0.redirectURLs.contains { path(of: $0) != nil } }
        if let skill {
            skills = skills.filter { $0.name == skill }
            guard !skills.isEmpty else { throw .noSuchSkill }
        }
        // Compared by bytes: nothing of a request decides where the browser goes.
        if let returnURL {
            skills = skills.filter { $0.returnURLs.contains { Array($0.utf8) == Array(returnURL.utf8) } }
            guard !skills.isEmpty else { throw .returnNotAllowed }
        }
        guard !skills.isEmpty else { throw .redirectNotAllowed }
        return Wish(skills: skills, skill: skill, returnURL: returnURL)
    }

    private func show(_ request: HTTPRequest) async -> HTTPResponse {
        let wish: Wish
        do throws(LinkFault) { wish = try self.wish(request.query ?? "") } catch {
            return refused(error, at: "start", request)
        }
        return await withVisitor(request, backTo: wish.path) { visitors, visitor in
            let token = ("token", visitors.formToken(visitor))
            let language = answers.language(request)
            let offers = wish.skills.map { skill in
                Screens.LinkOffer(
                    skill: Self.title(ofSkill: skill.name), benefit: benefit(of: skill, language),
                    form: Screens.Form(
                        action: Self.startPath,
                        hidden: [token, ("skill", skill.name)] + (wish.returnURL.map { [("return", $0)] } ?? [])))
            }
            let other =
                [token] + (wish.skill.map { [("skill", $0)] } ?? [])
                + (wish.returnURL.map { [("return", $0)] } ?? [])
            return answers.page(language, form: PageAnswers.origin(of: amazonURL)) {
                $0.linkStart(
                    offers, user: visitor.name, other: Screens.Form(action: Self.startPath, hidden: other))
            }
        }
    }

    private func begin(_ request: HTTPRequest) async -> HTTPResponse {
        let text = String(validating: request.body, as: UTF8.self)
        let wish: Wish
        do throws(LinkFault) { wish = try self.wish(text ?? "%") } catch { return refused(error, at: "start", request) }
        guard let form = text.flatMap({ Form(decoding: $0) }) else { return expired(wish.path, request) }
        return await withVisitor(request, backTo: wish.path) { visitors, visitor in
            guard visitors.isGood(formToken: form["token"], for: visitor) else { return expired(wish.path, request) }
            if form["decision"] == "switch" { return await visitors.signIn(request, backTo: wish.path, anew: true) }
            guard form["decision"] == "link", wish.skill != nil, let skill = wish.skills.first else {
                return expired(wish.path, request)
            }
            let known = cookies.content(Self.browserCookie, of: request)
            let browser = known ?? SecureRandom.token()
            do {
                let start = try await linking.starting.start(
                    LinkStarting.Wish(
                        subject: visitor.subject, skill: skill, flow: .web,
                        redirectURI: skill.redirectURLs.first { path(of: $0) != nil },
                        browser: Self.mark(of: browser), returnURL: wish.returnURL), by: request.deadline)
                return answers.redirect(
                    to: start.loginWithAmazonURL,
                    cookie: try cookies.set(Self.browserCookie, browser, seconds: Self.browserSeconds))
            } catch let fault as LinkFault {
                return refused(fault, at: "start", request, again: wish.path, visitor: visitor)
            } catch { return answers.busy(request) }
        }
    }

    // MARK: - Pieces

    func benefit(of skill: LinkSkill, _ language: PageLanguage) -> String? {
        skill.benefit?.text(for: language.rawValue, defaultLocale: Locales.fallback)
    }

    /// The mark of the browser that sent the request; empty where it has none.
    func mark(of request: HTTPRequest) -> String {
        cookies.content(Self.browserCookie, of: request).map(Self.mark) ?? ""
    }

    private static func mark(of browser: String) -> String { Hex.encode(SHA256.digest("browser." + browser)) }

    /// What `work` answers to who is signed in; else the sign-in, after which the browser comes back.
    func withVisitor(
        _ request: HTTPRequest, backTo way: String,
        _ work: (any Visitors, Visitor) async -> HTTPResponse
    ) async -> HTTPResponse {
        guard let visitors else { return onlyInApp(request) }
        do throws(ProviderStoreError) {
            guard let visitor = try await visitors.visitor(of: request) else {
                return await visitors.signIn(request, backTo: way, anew: false)
            }
            return await work(visitors, visitor)
        } catch {
            log.error("a page needs the store, which does not answer", .detail("\(error)"))
            return answers.busy(request)
        }
    }

    func onlyInApp(_ request: HTTPRequest) -> HTTPResponse {
        answers.page(answers.language(request)) {
            $0.linkFailed($0.words(.appLead), title: .appTitle, app: appURL)
        }
    }

    func expired(_ way: String, _ request: HTTPRequest) -> HTTPResponse {
        answers.message(.expiredTitle, .expiredLead, status: 403, goOn: way, request)
    }

    /// The page about a fault that no attempt's trace tells of; it has a trace of its own, with that step.
    func refused(
        _ fault: LinkFault, at step: StaticString, _ request: HTTPRequest, again: String? = nil,
        visitor: Visitor? = nil, other: Screens.Form? = nil
    ) -> HTTPResponse {
        let traceID = linking.finishing.turnedAway(fault, at: step, subject: visitor?.subject)
        return failed(fault, traceID, request, again: again, user: visitor?.name, other: other)
    }

    func failed(
        _ fault: LinkFault, _ traceID: TraceID, _ request: HTTPRequest, again: String? = nil, user: String? = nil,
        other: Screens.Form? = nil
    ) -> HTTPResponse {
        let message = linking.texts.message(for: fault, acceptLanguage: request.fields["Accept-Language"]) ?? ""
        return answers.page(
            answers.language(request), status: fault.status, retryAfter: fault.retryAfterSeconds
        ) {
            $0.linkFailed(message, reference: "\(fault.code) · \(traceID.text)", user: user, other: other, again: again)
        }
    }
}
