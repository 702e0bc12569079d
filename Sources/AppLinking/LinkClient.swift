public import Foundation
public import LinkMessages

/// Asks the service on the user's behalf: for the addresses of a link, to complete it, for its status, and to end it.
public struct LinkClient: Sendable {
    /// How long an answer may take, in seconds: the service answers by 20.
    public static let defaultTimeout: TimeInterval = 25

    private let baseURL: String
    private let language: LinkLanguage
    private let timeout: TimeInterval
    private let transport: any LinkTransport
    private let token: @Sendable () async -> String?

    /// A client of one service.
    ///
    /// - Parameters:
    ///   - baseURL: The service's public address, such as `https://skill.example.com`.
    ///   - language: The language of messages.
    ///   - timeout: How long an answer may take, in seconds.
    ///   - transport: What sends the requests.
    ///   - token: The user's access token for the service, asked for before each request; nil where nobody is signed in.
    public init(
        baseURL: URL, language: LinkLanguage = LinkLanguage(), timeout: TimeInterval = defaultTimeout,
        transport: any LinkTransport = URLSessionTransport(), token: @escaping @Sendable () async -> String?
    ) {
        let base = baseURL.absoluteString
        self.baseURL = base.hasSuffix("/") ? String(base.dropLast()) : base
        self.language = language
        self.timeout = timeout
        self.transport = transport
        self.token = token
    }

    /// The addresses that a link starts with.
    ///
    /// - Parameters:
    ///   - state: The app's own state; nil lets the service make one, which then goes to ``StateHelper/keep(_:)``.
    ///   - skill: Which skill, where the service has several.
    ///   - redirect: Which of the skill's redirect URLs, where it has several.
    /// - Returns: The addresses and the state.
    /// - Throws: ``LinkClientError``.
    public func start(state: String?, skill: String? = nil, redirect: String? = nil) async throws(LinkClientError)
        -> LinkStart
    {
        let query = [("state", state), ("skill", skill), ("redirect", redirect)]
        let response = try await send("GET", "/alexaurl", query: query)
        let answer = try decoded(StartAnswer.self, response)
        guard let app = URL(string: answer.companionAppURL), let browser = URL(string: answer.LWAFallBackURL),
            let state = answer.state ?? state
        else { throw failure(.unexpectedAnswer, status: response.status) }
        return LinkStart(alexaAppURL: app, loginWithAmazonURL: browser, state: state)
    }

    /// Completes the link that the user came back from.
    ///
    /// - Returns: How it came out. An error of Amazon's that is posted throws, with what the user is told.
    /// - Throws: ``LinkClientError``.
    public func complete(_ completion: LinkCompletion) async throws(LinkClientError) -> LinkResult {
        let members: [String: String?] =
            switch completion {
            case .redirect(let back): ["redirect": back.url]
            case .code(let code, let state): ["amazonAuthCode": code, "state": state]
            case .error(let error, let description, let state):
                ["error": error, "errorDescription": description, "state": state]
            }
        let answer = try decoded(ResultAnswer.self, try await send("POST", "/alexa/link", body: members))
        return LinkResult(status: LinkStatus(word: answer.status), traceID: answer.traceID)
    }

    /// What is linked.
    ///
    /// - Returns: The status and each link.
    /// - Throws: ``LinkClientError``.
    public func overview() async throws(LinkClientError) -> LinkOverview {
        try decoded(OverviewAnswer.self, try await send("GET", "/alexa/link")).overview
    }

    /// The status to show: ``LinkStatus/unknown`` where nobody could be asked.
    public func status() async -> LinkStatus {
        do { return try await overview().status } catch { return .unknown }
    }

    /// Ends one link, or all of them.
    ///
    /// - Parameter id: The link; nil for all.
    /// - Throws: ``LinkClientError``.
    public func unlink(id: String? = nil) async throws(LinkClientError) {
        _ = try await send("DELETE", "/alexa/link", query: [("id", id)])
    }

    /// Asks the service what Google's app is to be told.
    ///
    /// - Parameters:
    ///   - request: What Google asks for.
    ///   - decision: What the user decided.
    /// - Returns: The address to open, as a universal link only, and whether it holds a code: show success then. Where the
    ///   service cannot be asked it still is an answer to Google, so that its fallback starts.
    public func answer(_ request: AppFlipRequest, decision: AppFlipDecision) async -> AppFlipAnswer {
        do {
            let response = try await send(
                "POST", "/app-flip/authorize",
                body: [
                    "clientID": request.clientID, "redirectURI": request.redirectURI, "state": request.state,
                    "scope": request.scopes.isEmpty ? nil : request.scopes.joined(separator: " "),
                    "decision": decision.rawValue,
                ])
            let text = try decoded(FlipAnswer.self, response).openURL
            // A code may go to Google alone, whoever answered.
            guard LinkRedirect.isReturn(text, to: request.redirectURI),
                let redirect = try? LinkRedirect(parsing: text), redirect.state == request.state,
                let url = URL(string: text)
            else { return withoutService(request, decision, failure(.unexpectedAnswer, status: response.status)) }
            guard case .code = redirect else { return AppFlipAnswer(openURL: url, isLinked: false, failure: nil) }
            return AppFlipAnswer(openURL: url, isLinked: decision == .agree, failure: nil)
        } catch {
            return withoutService(request, decision, error)
        }
    }

    private func withoutService(_ request: AppFlipRequest, _ decision: AppFlipDecision, _ failure: LinkClientError)
        -> AppFlipAnswer
    {
        let url = URL(string: request.url(for: decision.resultWithoutService))
        return AppFlipAnswer(openURL: url, isLinked: false, failure: failure)
    }
}

/// What ends an App Flip.
public struct AppFlipAnswer: Hashable, Sendable {
    /// What to open, as a universal link only; never nil for a request that ``AppFlipHandler`` let pass.
    public let openURL: URL?
    /// Whether a code goes to Google: then show ``AppFlipConsent/success`` first.
    public let isLinked: Bool
    /// Why the service could not be asked, for the app's log; the user goes back to Google all the same.
    public let failure: LinkClientError?
}

extension LinkClient {
    private func send(
        _ method: String, _ path: String, query: [(name: String, value: String?)] = [], body: [String: String?]? = nil
    ) async throws(LinkClientError) -> LinkHTTPResponse {
        var text = baseURL + path
        for (name, value) in query {
            guard let value else { continue }
            text += (text.contains("?") ? "&" : "?") + name + "=" + escaped(value)
        }
        guard let url = URL(string: text), let token = await token() else { throw failure(.signInNeeded, status: nil) }
        var fields = [
            "Authorization": "Bearer " + token, "Accept": "application/json", "Accept-Language": language.rawValue,
        ]
        var data: Data?
        if let body {
            data = try? JSONEncoder().encode(body.compactMapValues { $0 })
            fields["Content-Type"] = "application/json"
        }
        let response: LinkHTTPResponse
        do {
            response = try await sendInTime(
                LinkHTTPRequest(method: method, url: url, fields: fields, body: data, timeout: timeout))
        } catch {
            switch error {
            case .unreachable: throw failure(.unreachable, status: nil)
            case .timedOut: throw failure(.timedOut, status: nil)
            case .cancelled: throw failure(.cancelled, status: nil)
            }
        }
        guard (200..<300).contains(response.status) else { throw refusal(response) }
        return response
    }

    /// The time runs here, over the whole answer: a session's own timeout starts anew with each byte.
    private func sendInTime(_ request: LinkHTTPRequest) async throws(LinkTransportError) -> LinkHTTPResponse {
        let transport = transport
        let nanoseconds = UInt64(min(max(timeout, 0), 86_400) * 1_000_000_000)
        let outcome = await withTaskGroup(of: Result<LinkHTTPResponse, LinkTransportError>?.self) { group in
            group.addTask {
                do throws(LinkTransportError) {
                    return .success(try await transport.send(request))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await Task.sleep(nanoseconds: nanoseconds)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        guard let outcome else { throw Task.isCancelled ? .cancelled : .timedOut }
        return try outcome.get()
    }

    private func decoded<Answer: Decodable>(_ type: Answer.Type, _ response: LinkHTTPResponse) throws(LinkClientError)
        -> Answer
    {
        do { return try JSONDecoder().decode(type, from: response.body) } catch {
            throw failure(.unexpectedAnswer, status: response.status)
        }
    }

    private func refusal(_ response: LinkHTTPResponse) -> LinkClientError {
        guard let problem = try? JSONDecoder().decode(LinkProblem.self, from: response.body) else {
            return failure(response.status == 401 ? .signInNeeded : .unexpectedAnswer, status: response.status)
        }
        let retry = problem.retry.flatMap(LinkRetry.init(rawValue:))
        return LinkClientError(
            kind: response.status == 401 ? .signInNeeded : .refused(code: problem.code), status: response.status,
            userMessage: problem.userMessage, retry: retry ?? (response.status >= 500 ? .later : .never),
            traceID: problem.traceID)
    }

    private func failure(_ kind: LinkClientError.Kind, status: Int?) -> LinkClientError {
        let (message, retry): (String?, LinkRetry) =
            switch kind {
            case .cancelled: (nil, .now)
            case .signInNeeded:
                (
                    language.choose(
                        "Please sign in again.", "Bitte melde dich noch einmal an.", "もう一度ログインしてください。"), .now
                )
            case .unreachable, .timedOut:
                (
                    language.choose(
                        "There is no connection right now. Please check it and try again.",
                        "Gerade besteht keine Verbindung. Bitte prüfe sie und versuche es noch einmal.",
                        "現在接続できません。通信環境を確認して、もう一度お試しください。"), .now
                )
            case .refused, .unexpectedAnswer: (LinkErrorKind.problem.userMessage(language), .later)
            }
        return LinkClientError(kind: kind, status: status, userMessage: message, retry: retry, traceID: nil)
    }
}

private func escaped(_ text: String) -> String {
    var allowed = CharacterSet(charactersIn: "a"..."z")
    allowed.formUnion(CharacterSet(charactersIn: "A"..."Z"))
    allowed.formUnion(CharacterSet(charactersIn: "0123456789-._~"))
    return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
}
