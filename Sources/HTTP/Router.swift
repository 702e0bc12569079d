/// Answers requests: a ``Router``, or what a test puts in its place.
public protocol HTTPResponder: Sendable {
    /// How long the answer to a request may take, counted from its last byte.
    func timeLimit(for method: HTTPMethod, target: String) -> Duration
    /// The answer. It is cancelled where the deadline passes or the caller goes away.
    func respond(to request: HTTPRequest) async -> HTTPResponse
}

/// One address and what answers there.
public struct Route: Sendable {
    /// The method.
    public let method: HTTPMethod
    /// The path; a segment in braces, as in `/v1/devices/{id}/state`, stands for any one segment.
    public let path: String
    /// How long the answer may take.
    public let timeLimit: Duration
    /// The media type a body must have (RFC 9110 §8.3.1), parameters aside; nil takes any.
    public let mediaType: String?
    /// What answers; the second argument holds the segments in braces, by name, percent-decoded.
    public let handler: @Sendable (HTTPRequest, [String: String]) async -> HTTPResponse

    /// A route.
    public init(
        _ method: HTTPMethod, _ path: String, timeLimit: Duration, mediaType: String? = nil,
        handler: @escaping @Sendable (HTTPRequest, [String: String]) async -> HTTPResponse
    ) {
        self.method = method
        self.path = path
        self.timeLimit = timeLimit
        self.mediaType = mediaType
        self.handler = handler
    }
}

/// Finds the route of a request, and answers where there is none: 404, 405 with `Allow`, 415.
public struct Router: HTTPResponder {
    private let exact: [String: [Route]]
    private let patterns: [(segments: [Substring], route: Route)]
    /// Limit for requests that no route answers.
    private let defaultTimeLimit: Duration
    /// Turns a refusal into an answer, so that the service decides its form.
    private let refuse: @Sendable (Refusal) -> HTTPResponse

    /// Why no route answers.
    public enum Refusal: Hashable, Sendable {
        /// No route has that path.
        case notFound
        /// The path exists for other methods, listed as `Allow` wants them.
        case methodNotAllowed(allow: String)
        /// The body has another media type than the one named.
        case unsupportedMediaType(expected: String)
        /// The path has a percent-encoding that does not decode.
        case malformedPath
    }

    /// A router over `routes`; `refuse` words the answers to everything else.
    public init(
        _ routes: [Route], defaultTimeLimit: Duration = .seconds(10),
        refuse: @escaping @Sendable (Refusal) -> HTTPResponse = { HTTPResponse(refusal: $0) }
    ) {
        var exact: [String: [Route]] = [:]
        var patterns: [(segments: [Substring], route: Route)] = []
        for route in routes {
            if route.path.contains("{") {
                patterns.append((route.path.split(separator: "/", omittingEmptySubsequences: false), route))
            } else {
                exact[route.path, default: []].append(route)
            }
        }
        self.exact = exact
        self.patterns = patterns
        self.defaultTimeLimit = defaultTimeLimit
        self.refuse = refuse
    }

    /// The limit of the route that will answer.
    public func timeLimit(for method: HTTPMethod, target: String) -> Duration {
        let path = pathOfTarget(target)
        if let route = exactRoute(method, path) { return route.timeLimit }
        return candidate(for: method, among: candidates(for: path))?.route.timeLimit ?? defaultTimeLimit
    }

    /// The answer of the route, or the refusal.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        if let route = exactRoute(request.method, request.path) { return await answer(of: route, to: request, [:]) }
        let candidates = candidates(for: request.path)
        guard !candidates.isEmpty else { return refuse(.notFound) }
        guard let found = candidate(for: request.method, among: candidates) else {
            let allowed = candidates.flatMap { $0.route.method == .get ? ["GET", "HEAD"] : [$0.route.method.rawValue] }
            return refuse(.methodNotAllowed(allow: allowed.joined(separator: ", ")))
        }
        var arguments: [String: String] = [:]
        for (name, segment) in found.arguments {
            guard let decoded = percentDecoded(segment) else { return refuse(.malformedPath) }
            arguments[String(name)] = decoded
        }
        return await answer(of: found.route, to: request, arguments)
    }

    private func answer(of route: Route, to request: HTTPRequest, _ arguments: [String: String]) async -> HTTPResponse {
        if let expected = route.mediaType, !hasMediaType(request, expected) {
            return refuse(.unsupportedMediaType(expected: expected))
        }
        return await route.handler(request, arguments)
    }

    /// The route of that very method and path: what nearly every request asks for, found without a list of candidates.
    private func exactRoute(_ method: HTTPMethod, _ path: Substring) -> Route? {
        exact[String(path)]?.first { $0.method == method }
    }

    private typealias Candidate = (route: Route, arguments: [(Substring, Substring)])

    /// The route of that method; HEAD is answered as GET is, and the server leaves the body out (RFC 9110 §9.3.2).
    private func candidate(for method: HTTPMethod, among candidates: [Candidate]) -> Candidate? {
        candidates.first { $0.route.method == method }
            ?? (method == .head ? candidates.first { $0.route.method == .get } : nil)
    }

    private func candidates(for path: Substring) -> [Candidate] {
        if let routes = exact[String(path)] { return routes.map { ($0, []) } }
        guard !patterns.isEmpty else { return [] }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        return patterns.compactMap { pattern, route in
            guard pattern.count == segments.count else { return nil }
            var arguments: [(Substring, Substring)] = []
            for (expected, actual) in zip(pattern, segments) {
                if expected.first == "{", expected.last == "}" {
                    guard !actual.isEmpty else { return nil }
                    arguments.append((expected.dropFirst().dropLast(), actual))
                } else if expected != actual {
                    return nil
                }
            }
            return (route, arguments)
        }
    }

    private func hasMediaType(_ request: HTTPRequest, _ expected: String) -> Bool {
        guard let value = request.fields["Content-Type"] else { return false }
        // The type stands before the first semicolon; blanks may stand between (RFC 9110 §5.6.6).
        var type = value.utf8.prefix { $0 != UInt8(ascii: ";") }
        while type.last == UInt8(ascii: " ") || type.last == UInt8(ascii: "\t") { type.removeLast() }
        return equalsIgnoringCase(type, expected.utf8)
    }
}

extension HTTPResponse {
    /// The plain answer to a request that no route takes: a status and, for 405, `Allow`.
    public init(refusal: Router.Refusal) {
        switch refusal {
        case .notFound: self.init(status: 404)
        case .methodNotAllowed(let allow): self.init(status: 405, fields: ["Allow": allow])
        case .unsupportedMediaType: self.init(status: 415)
        case .malformedPath: self.init(status: 400)
        }
    }
}
