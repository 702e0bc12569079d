import Alexa
import Crypto
import HTTP
import OAuth
import Telemetry
import Time

/// `/account/links` and `/account/sign-out`: where a user sees and ends what may use the account.
///
/// No address is taken from a request to lead the browser to (RFC 9700 §4.11).
struct AccountPages: Sendable {
    static let signInPath = EmbeddedVisitors.path
    static let linksPath = "/account/links"
    static let signOutPath = "/account/sign-out"
    /// Alexa may have to be asked how links stand, and to end several of them.
    private static let timeLimit = Duration.seconds(20)

    /// The clients of the embedded provider; nil where another one knows the users.
    struct Clients: Sendable {
        let server: AuthorizationServer
        /// What a client is called.
        let name: @Sendable (ProviderClient) -> String
    }

    let visitors: any Visitors
    let answers: PageAnswers
    let clients: Clients?
    let linking: LinkService
    let clock: WallClock
    let log: Log

    var routes: [Route] {
        // Every page needs to know who is signed in, and the store may know.
        func route(
            _ method: HTTPMethod, _ path: String, mediaType: String? = nil,
            _ answer: @escaping @Sendable (HTTPRequest) async throws(ProviderStoreError) -> HTTPResponse
        ) -> Route {
            Route(method, path, timeLimit: Self.timeLimit, mediaType: mediaType) { request, _ in
                request.lateAnswer.response = answers.busy(request)
                do throws(ProviderStoreError) { return try await answer(request) } catch {
                    log.error("a page needs the store, which does not answer", .detail("\(error)"))
                    return answers.busy(request)
                }
            }
        }
        func post(
            _ path: String,
            _ take: @escaping @Sendable (Form, Visitor, HTTPRequest) async throws(ProviderStoreError) -> HTTPResponse
        ) -> Route {
            route(.post, path, mediaType: TokenRoutes.form) { (request) async throws(ProviderStoreError) in
                guard let text = String(validating: request.body, as: UTF8.self), let form = Form(decoding: text),
                    let visitor = try await visitors.visitor(of: request),
                    visitors.isGood(formToken: form["token"], for: visitor)
                else {
                    // Whoever has no session is asked to sign in where the link leads.
                    return answers.message(
                        .expiredTitle, .expiredLead, status: 403, goOn: Self.linksPath, request)
                }
                return try await take(form, visitor, request)
            }
        }
        return visitors.routes + [
            route(.get, Self.linksPath, links), post(Self.linksPath, remove),
            route(.get, Self.signOutPath) { (request) async throws(ProviderStoreError) in
                guard try await visitors.visitor(of: request) != nil else {
                    return answers.message(.signedOutTitle, .signedOutLead, status: 200, goOn: Self.linksPath, request)
                }
                return answers.redirect(to: Self.linksPath)
            },
            // Links go on working: they do not hang on the browser's session (PRO-8).
            post(Self.signOutPath) { (_, _, request) async throws(ProviderStoreError) in
                answers.redirect(to: Self.signOutPath, cookie: try await visitors.signOut(request))
            },
        ]
    }

    private func form(_ path: String, _ visitor: Visitor, _ more: [(String, String)] = []) -> Screens.Form {
        Screens.Form(action: path, hidden: [("token", visitors.formToken(visitor))] + more)
    }

    // MARK: - What may use the account

    /// A user's links with Alexa and the clients beside them.
    private struct Shown {
        var entries: [LinkReport.Entry] = []
        /// Grants of the clients that no link with Alexa stands for, so that nothing is listed twice.
        var grants: [String: [ProviderGrant]] = [:]
        /// The clients of those grants, in the order in which they were first linked.
        var clients: [String] = []
    }

    /// Nil where the store of links does not answer.
    private func shown(
        of subject: String, by deadline: Deadline
    ) async throws(ProviderStoreError) -> Shown? {
        var shown = Shown()
        do throws(LinkFault) {
            shown.entries = try await linking.status.report(of: subject, by: deadline).entries
        } catch { return nil }
        guard let clients else { return shown }
        let known = Set(
            shown.entries.flatMap { entry in
                [entry.link.providerGrantID].compactMap(\.self) + entry.link.candidates.compactMap(\.providerGrantID)
            })
        for grant in try await clients.server.grants(of: subject, by: deadline) where !known.contains(grant.id) {
            if shown.grants[grant.clientID] == nil { shown.clients.append(grant.clientID) }
            shown.grants[grant.clientID, default: []].append(grant)
        }
        return shown
    }

    @Sendable private func links(_ request: HTTPRequest) async throws(ProviderStoreError) -> HTTPResponse {
        guard let visitor = try await visitors.visitor(of: request) else {
            return answers.redirect(to: Self.signInPath)
        }
        guard let shown = try await shown(of: visitor.subject, by: request.deadline) else {
            return answers.busy(request)
        }
        // Half of a link that came to nothing is no entry, and can be removed all the same (LNK-11).
        var isAnything = !shown.entries.isEmpty || !shown.clients.isEmpty
        if !isAnything { isAnything = await linking.hasLeftovers(of: visitor.subject, by: request.deadline) }
        return answers.page(answers.language(request)) { screens in
            let links = shown.entries.map { entry in
                Screens.Link(
                    client: screens.words(.alexaSkill, ["skill": LinkPages.title(ofSkill: entry.link.skill)]),
                    line: screens.line(
                        Self.flow(of: entry), date: String(entry.link.linkedAt.iso8601().prefix(10)),
                        isUnknown: entry.status == .unknown),
                    form: form(Self.linksPath, visitor, [("link", entry.link.id)]))
            }
            let others = shown.clients.map { id in
                // The last in the list is the oldest.
                let date = String((shown.grants[id]?.last?.createdAt ?? clock()).iso8601().prefix(10))
                return Screens.Link(
                    client: clients.flatMap { clients in clients.server.clients[id].map(clients.name) } ?? id,
                    line: screens.text(.linkedOn, ["date": date]),
                    form: form(Self.linksPath, visitor, [("client", id)]))
            }
            return screens.links(
                links + others, removeAll: isAnything ? form(Self.linksPath, visitor, [("all", "1")]) : nil,
                add: linking.skills.all.isEmpty ? nil : LinkPages.startPath, signOut: form(Self.signOutPath, visitor))
        }
    }

    private static func flow(of entry: LinkReport.Entry) -> LinkPageText {
        if entry.status == .pending { return .unconfirmed }
        return switch entry.link.flow {
        case .app: .fromApp
        case .web: .fromSite
        case .alexa: .fromAlexa
        }
    }

    // MARK: - The end

    @Sendable private func remove(
        _ form: Form, _ visitor: Visitor, _ request: HTTPRequest
    ) async throws(ProviderStoreError) -> HTTPResponse {
        let (subject, deadline) = (visitor.subject, request.deadline)
        let isRemoved: Bool
        if form["all"] == "1" {
            isRemoved = try await removeAll(of: subject, by: deadline)
        } else if let id = form["link"], !id.isEmpty {
            isRemoved = await linking.end(ofSubject: subject, by: deadline) { $0.id == id }
        } else if let client = form["client"], !client.isEmpty {
            isRemoved = try await revoke(client, of: subject, by: deadline)
        } else {
            isRemoved = true
        }
        return isRemoved ? answers.redirect(to: Self.linksPath) : answers.busy(request)
    }

    private func removeAll(of subject: String, by deadline: Deadline) async throws(ProviderStoreError) -> Bool {
        let isRemoved = await linking.end(ofSubject: subject, by: deadline) { _ in true }
        if let clients {
            let count = try await clients.server.revoke(subject: subject, client: nil, by: deadline)
            log.info("a user ended all links", .count(count))
        }
        return await linking.deleteLeftovers(of: subject, by: deadline) && isRemoved
    }

    /// Ends what a client may do, but for the grants of links with Alexa, which are entries of their own.
    private func revoke(
        _ client: String, of subject: String, by deadline: Deadline
    ) async throws(ProviderStoreError) -> Bool {
        guard let clients, let shown = try await shown(of: subject, by: deadline) else { return clients == nil }
        let grants = shown.grants[client] ?? []
        for grant in grants { _ = try await clients.server.revoke(grantID: grant.id, by: deadline) }
        log.info("a user ended a link", .detail(client), .count(grants.count))
        return true
    }
}
