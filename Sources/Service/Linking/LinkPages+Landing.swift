import Alexa
import Crypto
import HTTP
import LinkMessages
import OAuth
import Telemetry
import Time

extension LinkPages {
    /// What waits in the cookie of an answer.
    enum Kept: Sendable, Hashable {
        /// Amazon's code, which came to its attempt's redirect URL.
        case code(String, state: String)
        /// A link that was made, and where the company's site wants its user.
        case done(linkID: String, returnURL: String?)

        init?(_ text: String) {
            let parts = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            switch parts.first {
            case "code" where parts.count == 3: self = .code(parts[1], state: parts[2])
            case "done" where parts.count == 3:
                self = .done(linkID: parts[1], returnURL: parts[2].isEmpty ? nil : parts[2])
            default: return nil
            }
        }

        var text: String {
            switch self {
            case .code(let code, let state): "code\n\(code)\n\(state)"
            case .done(let linkID, let returnURL): "done\n\(linkID)\n\(returnURL ?? "")"
            }
        }
    }

    // MARK: - What Amazon sends the browser back with

    /// The landing page: reads the answer once, and leads on to where it is not in the address.
    func land(_ request: HTTPRequest) async -> HTTPResponse {
        let redirect: LinkRedirect
        do throws(LinkRedirectFault) { redirect = try LinkRedirect(parsing: String(request.query ?? "")) } catch {
            return refused(.redirect(error), at: "redirect", request, again: visitors == nil ? nil : Self.startPath)
        }
        guard visitors != nil else { return onlyInApp(request) }
        do throws(LinkFault) {
            let attempt = try await attempt(of: redirect, request)
            switch redirect {
            case .code(let code, let state, _):
                guard code.utf8.count <= 2048, state.utf8.count <= LinkState.maximumLength else {
                    throw .redirect(.tooLong)
                }
                return try keep(.code(code, state: state), request)
            case .error: return await end(redirect, attempt, request)
            }
        } catch { return refused(error, at: "state", request, again: start(nil)) }
    }

    /// The attempt that an answer belongs to, provided that it came to the very address that was given for it.
    private func attempt(
        of redirect: LinkRedirect, _ request: HTTPRequest
    ) async throws(LinkFault) -> LinkAttempt {
        let stored: LinkAttempt?
        do throws(LinkStoreError) {
            stored = try await linking.store.attempt(stateHash: linkStateHash(redirect.state), by: request.deadline)
        } catch {
            log.error("the store of links does not answer", .detail("\(error)"))
            throw .store
        }
        guard let stored else { throw .stateUnknown }
        guard LinkRedirect.isReturn(publicURL + request.target, to: stored.redirectURI) else {
            throw .stateOfOtherSkill
        }
        return stored
    }

    private func keep(_ kept: Kept, _ request: HTTPRequest) throws(LinkFault) -> HTTPResponse {
        let id = SealedCookies.newID()
        do throws(CryptoError) {
            let cookie = try cookies.set(Self.answerCookie, id: id, kept.text, seconds: Self.answerSeconds)
            return answers.redirect(to: Self.answerPath + id).adding(
                cookies: cookies.room(for: Self.answerCookie, in: request) + [cookie])
        } catch {
            log.error("a cookie cannot be sealed", .detail("\(error)"))
            throw .store
        }
    }

    /// An error ends the attempt at once: it grants nothing, so that nobody has to be asked.
    ///
    /// Whoever is signed in as somebody else ends nothing, nor does a browser that did not begin.
    private func end(_ redirect: LinkRedirect, _ attempt: LinkAttempt, _ request: HTTPRequest) async -> HTTPResponse {
        let visitor: Visitor?
        do throws(ProviderStoreError) { visitor = try await visitors?.visitor(of: request) } catch {
            log.error("a page needs the store, which does not answer", .detail("\(error)"))
            return answers.busy(request)
        }
        let ending = await linking.finishing.finish(
            redirect, user: LinkUser(subject: visitor?.subject ?? attempt.subject, token: nil),
            place: .browser(mark: mark(of: request)))
        guard case .failure(let fault) = ending.outcome else { return answers.redirect(to: Self.startPath) }
        let again = start(attempt)
        // The user said no, and knows that: back to where it began, with nothing said of it (LNK-8).
        if fault.message == nil { return answers.redirect(to: again) }
        return failed(fault, ending.traceID, request, again: again)
    }

    /// Where an attempt begins anew.
    private func start(_ attempt: LinkAttempt?) -> String {
        guard let attempt, linking.skills[attempt.skill] != nil else { return Self.startPath }
        return Wish(skills: [], skill: attempt.skill, returnURL: attempt.returnURL).path
    }

    // MARK: - The user's word

    private func kept(_ id: String, _ request: HTTPRequest) -> Kept? {
        guard SealedCookies.isID(id) else { return nil }
        return cookies.content(Self.answerCookie, id: id, of: request).flatMap { Kept($0) }
    }

    /// The page where the cookie with Amazon's answer is gone: another browser, or long after.
    private func forgotten(_ request: HTTPRequest) -> HTTPResponse {
        refused(.stateReused, at: "state", request, again: Self.startPath)
    }

    private func form(_ id: String, _ token: String) -> Screens.Form {
        Screens.Form(action: Self.answerPath + id, hidden: [("token", token)])
    }

    /// The page of an answer: the button that links, or what became of it.
    func answer(_ request: HTTPRequest, id: String) async -> HTTPResponse {
        guard let kept = kept(id, request) else { return forgotten(request) }
        return await withVisitor(request, backTo: Self.answerPath + id) { visitors, visitor in
            switch kept {
            case .done(let linkID, let returnURL):
                return await done(linkID, returnURL, visitor, id, request)
            case .code(_, let state):
                let token = visitors.formToken(visitor)
                do throws(LinkFault) {
                    let attempt = try await attempt(state, visitor, request)
                    guard let skill = linking.skills[attempt.skill] else { throw .noSuchSkill }
                    let language = answers.language(request)
                    return answers.page(language) {
                        $0.linkFinish(
                            skill: Self.title(ofSkill: skill.name), benefit: benefit(of: skill, language),
                            user: visitor.name, form: form(id, token))
                    }
                } catch { return refused(error, visitor, id, request, token) }
            }
        }
    }

    private func attempt(
        _ state: String, _ visitor: Visitor, _ request: HTTPRequest
    ) async throws(LinkFault) -> LinkAttempt {
        try await linking.finishing.attempt(
            of: state, subject: visitor.subject, place: .browser(mark: mark(of: request)),
            by: request.deadline)
    }

    /// Another user's attempt stays for that user, who may sign in here; what is void is forgotten.
    private func refused(
        _ fault: LinkFault, _ visitor: Visitor, _ id: String, _ request: HTTPRequest, _ token: String
    ) -> HTTPResponse {
        if fault == .stateOfOtherUser {
            return refused(
                fault, at: "state", request, again: Self.startPath, visitor: visitor, other: form(id, token))
        }
        let page = refused(fault, at: "state", request, again: Self.startPath, visitor: visitor)
        return fault == .store ? page : page.adding(cookies: [cookies.clear(Self.answerCookie, id: id)])
    }

    /// Takes the word of whoever is signed in.
    func decide(_ request: HTTPRequest, id: String) async -> HTTPResponse {
        let here = Self.answerPath + id
        guard let kept = kept(id, request) else { return forgotten(request) }
        guard let form = String(validating: request.body, as: UTF8.self).flatMap({ Form(decoding: $0) }) else {
            return expired(here, request)
        }
        return await withVisitor(request, backTo: here) { visitors, visitor in
            guard visitors.isGood(formToken: form["token"], for: visitor) else { return expired(here, request) }
            switch (form["decision"], kept) {
            // Sent twice: what became of it stands there.
            case ("agree", .done): return answers.redirect(to: here)
            case ("agree", .code(let code, let state)):
                return await finish(
                    .code(code, state: state, scope: nil), visitors, visitor, id, request)
            case ("switch", _): return await visitors.signIn(request, backTo: here, anew: true)
            case ("deny", _):
                return answers.redirect(to: Self.startPath, cookie: cookies.clear(Self.answerCookie, id: id))
            default: return expired(here, request)
            }
        }
    }

    private func finish(
        _ redirect: LinkRedirect, _ visitors: any Visitors, _ visitor: Visitor, _ id: String,
        _ request: HTTPRequest
    ) async -> HTTPResponse {
        let back = (try? await attempt(redirect.state, visitor, request)).flatMap(wayBack)
        let ending = await linking.finishing.finish(
            redirect, user: LinkUser(subject: visitor.subject, token: visitor.token),
            place: .browser(mark: mark(of: request))
        ) { link, _ in
            // From here on there is a page for a browser that cannot wait: it says that the link is not confirmed yet.
            if let response = shown(link, back, id) { request.lateAnswer.response = response }
        }
        switch ending.outcome {
        case .success(let link):
            return shown(link, back, id) ?? answers.redirect(to: AccountPages.linksPath)
        case .failure(let fault):
            if fault == .stateOfOtherUser {
                return failed(
                    fault, ending.traceID, request, again: Self.startPath, user: visitor.name,
                    other: form(id, visitors.formToken(visitor)))
            }
            return failed(fault, ending.traceID, request, again: Self.startPath).adding(
                cookies: [cookies.clear(Self.answerCookie, id: id)])
        }
    }

    /// Where a user who is done goes on: the page of the site that was asked for, or the app where it began.
    private func wayBack(_ attempt: LinkAttempt) -> String? {
        attempt.returnURL ?? (attempt.flow == .app ? appURL : nil)
    }

    private func shown(_ link: Link, _ returnURL: String?, _ id: String) -> HTTPResponse? {
        let kept = Kept.done(linkID: link.id, returnURL: returnURL)
        guard let cookie = try? cookies.set(Self.answerCookie, id: id, kept.text, seconds: Self.answerSeconds) else {
            return nil
        }
        return answers.redirect(to: Self.answerPath + id, cookie: cookie)
    }

    /// What became of a link: read anew each time, so that looking again helps.
    private func done(
        _ linkID: String, _ returnURL: String?, _ visitor: Visitor, _ id: String, _ request: HTTPRequest
    ) async -> HTTPResponse {
        let link: Link?
        do throws(LinkStoreError) {
            link = try await linking.store.links(of: visitor.subject, by: request.deadline).first { $0.id == linkID }
        } catch { return answers.busy(request) }
        return answers.page(answers.language(request)) { screens in
            guard let link else {
                return screens.linkFailed(screens.words(.endedLead), title: .endedTitle, again: Self.startPath)
            }
            return screens.linkDone(
                skill: Self.title(ofSkill: link.skill), isPending: link.status == .pending,
                here: Self.answerPath + id, returnURL: returnURL)
        }
    }
}
