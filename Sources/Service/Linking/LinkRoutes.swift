import Alexa
import Crypto
import HTTP
import JSON
import LinkMessages
import OAuth
import Telemetry
import Time

/// The routes that the company's app calls: `GET /alexaurl`, and `POST`, `GET` and `DELETE /alexa/link`.
struct LinkRoutes: Sendable {
    static let startPath = "/alexaurl"
    static let linkPath = "/alexa/link"
    /// How long an app waits at most; what takes longer goes on without it.
    private static let timeLimit = Duration.seconds(20)

    let skills: LinkSkills
    let starting: LinkStarting
    let finishing: LinkFinishing
    let status: LinkStatus
    let ending: LinkEnding
    let store: any LinkStore
    let bearer: BearerGuard
    /// Whose tokens are an app's.
    let clients: ClientRule
    let texts: LinkTexts
    let log: Log

    var routes: [Route] {
        [
            route(.get, Self.startPath, start), route(.get, Self.linkPath, show), route(.delete, Self.linkPath, remove),
            route(.post, Self.linkPath, mediaType: "application/json", finish),
        ]
    }

    private typealias Handler = @Sendable (HTTPRequest, Principal) async throws(LinkFault) -> HTTPResponse

    /// A route for a user of the app.
    private func route(
        _ method: HTTPMethod, _ path: String, mediaType: String? = nil, _ handler: @escaping Handler
    ) -> Route {
        Route(method, path, timeLimit: Self.timeLimit, mediaType: mediaType) { request, _ in
            request.lateAnswer.response = problem(.late, TraceID.random(), request)
            switch await bearer.outcome(for: request, clients: clients, scopes: []) {
            case .refusal(let response): return response
            case .principal(let principal):
                do throws(LinkFault) { return try await handler(request, principal) } catch {
                    let traceID = TraceID.random()
                    log.notice("an app's call is refused", .traceID(traceID), .rejection(error.code), .route(path))
                    return problem(error, traceID, request)
                }
            }
        }
    }

    private func problem(_ fault: LinkFault, _ traceID: TraceID, _ request: HTTPRequest) -> HTTPResponse {
        var response = Problem(
            status: fault.status, code: fault.code, detail: fault.detail, traceID: traceID,
            userMessage: texts.message(for: fault, acceptLanguage: request.fields["Accept-Language"]),
            retry: fault.retry.rawValue, retryAfterSeconds: fault.retryAfterSeconds
        ).response
        response.fields["Vary"] = "Accept-Language"
        return response
    }

    // MARK: - Start

    @Sendable private func start(
        _ request: HTTPRequest, _ principal: Principal
    ) async throws(LinkFault) -> HTTPResponse {
        let query = try query(of: request, ["state", "skill", "redirect"])
        let start = try await starting.start(
            LinkStarting.Wish(
                subject: principal.subject, skill: try skills.skill(named: query["skill"]), flow: .app,
                state: query["state"], redirectURI: query["redirect"].flatMap { $0.isEmpty ? nil : $0 }),
            by: request.deadline)
        // Apps of both systems read the same answer: the sample for one names the members otherwise than the other's.
        return HTTPResponse(json: [
            "companionAppURL": .string(start.alexaAppURL), "LWAFallBackURL": .string(start.loginWithAmazonURL),
            "alexaAppUrl": .string(start.alexaAppURL), "lwaFallBackUrl": .string(start.loginWithAmazonURL),
            "state": .string(start.state),
        ])
    }

    // MARK: - Finish

    @Sendable private func finish(
        _ request: HTTPRequest, _ principal: Principal
    ) async throws(LinkFault) -> HTTPResponse {
        let (redirect, url) = try Self.redirect(in: request.body)
        let lateAnswer = request.lateAnswer
        let ending = await finishing.finish(
            redirect, user: LinkUser(subject: principal.subject, token: principal.token), place: .app, expected: url
        ) { link, traceID in
            // From here on the answer to an app that cannot wait is known.
            lateAnswer.response = Self.answer(link, traceID)
        }
        switch ending.outcome {
        case .success(let link): return Self.answer(link, ending.traceID)
        case .failure(let fault): return problem(fault, ending.traceID, request)
        }
    }

    /// What came back from Amazon, in one of the three forms; the whole address too where the app sent that.
    static func redirect(in body: [UInt8]) throws(LinkFault) -> (LinkRedirect, url: String?) {
        guard let root = (try? JSONDocument(parsing: body))?.root, root.kind == .object else {
            throw .malformed("The body is no JSON object")
        }
        if let name = root.repeatedMember { throw .malformed("\(name.prefix(64)) is given twice") }
        let names: [StaticString] = ["redirect", "amazonAuthCode", "error"]
        let given = names.filter { root.member($0).map { !$0.isNull } ?? false }
        guard given.count == 1 else {
            throw .malformed("Write exactly one of redirect, amazonAuthCode and error")
        }
        if let url = root.string("redirect") {
            do throws(LinkRedirectFault) { return (try LinkRedirect(parsing: url), url) } catch {
                throw .redirect(error)
            }
        }
        guard let state = root.string("state"), !state.isEmpty else { throw .stateMissing }
        if let code = root.string("amazonAuthCode"), isPrintable(code) {
            return (.code(code, state: state, scope: nil), nil)
        }
        if let error = root.string("error"), isPrintable(error) {
            return (.error(error, description: root.string("errorDescription"), state: state), nil)
        }
        throw .malformed("redirect, amazonAuthCode and error are texts in printable ASCII of at most 2048 characters")
    }

    private static func isPrintable(_ text: String) -> Bool {
        (1...2048).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private static func answer(_ link: Link, _ traceID: TraceID) -> HTTPResponse {
        var object: JSONObject = [
            "status": .string(link.status.rawValue), "traceID": .string(traceID.text), "id": .string(link.id),
            "skill": .string(link.skill), "stage": .string(link.stage),
        ]
        object["region"] = link.region.map { .string($0.rawValue) }
        return HTTPResponse(json: .object(object))
    }

    // MARK: - Status and exit

    @Sendable private func show(
        _ request: HTTPRequest, _ principal: Principal
    ) async throws(LinkFault) -> HTTPResponse {
        HTTPResponse(json: try await status.report(of: principal.subject, by: request.deadline).json)
    }

    @Sendable private func remove(
        _ request: HTTPRequest, _ principal: Principal
    ) async throws(LinkFault) -> HTTPResponse {
        let query = try query(of: request, ["id"])
        let links: [Link]
        do throws(LinkStoreError) {
            links = try await store.links(of: principal.subject, by: request.deadline)
        } catch { throw .store }
        let chosen = query["id"].map { id in links.filter { $0.id == id } } ?? links
        if query["id"] != nil, chosen.isEmpty { throw .noSuchLink }
        for link in chosen { try await ending.end(link, tellsAlexa: true, by: request.deadline) }
        return HTTPResponse(json: try await status.report(of: principal.subject, by: request.deadline).json)
    }

    private func query(of request: HTTPRequest, _ names: [String]) throws(LinkFault) -> [String: String] {
        guard let form = Form(decoding: request.query ?? "") else { throw .malformed("The query cannot be decoded") }
        var values: [String: String] = [:]
        for item in form.items where names.contains(item.name) {
            guard values.updateValue(item.value, forKey: item.name) == nil else {
                throw .malformed("\(item.name) is given twice")
            }
        }
        return values
    }
}
