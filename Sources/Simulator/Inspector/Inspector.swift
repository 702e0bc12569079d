import Concurrency
import Crypto
public import HTTP
public import JSON
public import Telemetry
public import Time

/// The developer's page, `/_inspect`: what came to the service, step by step, and again with one click.
///
/// It stands before the service and sees its requests; the service tells it of traces and of calls to the provider. It is
/// for one machine: whoever comes from elsewhere, or from another site's page, gets nothing. What it keeps is bounded.
public final class Inspector: HTTPResponder, TraceObserver {
    /// How many requests are kept.
    public static let requestLimit = 200
    /// How many traces are kept that belong to no request, those of workers.
    private static let looseLimit = 50

    private struct State {
        var next = 1
        /// How many were answered so far.
        var answered = 0
        var requests: [InspectedRequest] = []
        var loose: [TraceRecord] = []
    }

    @TaskLocal private static var current: InspectedRequest?

    private let state = Locked(State())
    private let service = Locked<(any HTTPResponder)?>(nil)
    private let skillIDs: Set<String>
    private let clock: WallClock
    private let pages: InspectorPages
    private let resend = Locked<(@Sendable (JSONValue) async -> String)?>(nil)

    /// A page for a service with skills of those ids.
    public init(skillIDs: Set<String>, clock: @escaping WallClock) {
        self.skillIDs = skillIDs
        self.clock = clock
        pages = InspectorPages(token: SecureRandom.token())
    }

    /// Puts the page before `service`.
    public func stand(before service: any HTTPResponder) { self.service.withLock { $0 = service } }

    /// Says how a body with placeholders is sent again; the answer is what went wrong, empty where nothing did.
    public func sends(by resend: @escaping @Sendable (JSONValue) async -> String) {
        self.resend.withLock { $0 = resend }
    }

    // MARK: - What passes

    /// The page has ten seconds; the service what it says itself.
    public func timeLimit(for method: HTTPMethod, target: String) -> Duration {
        if InspectorPages.isOurs(target) { return .seconds(10) }
        return service.withLock { $0 }?.timeLimit(for: method, target: target) ?? .seconds(10)
    }

    /// Answers for the page, and for everything else as the service does.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        if InspectorPages.isOurs(request.target) { return await page(request) }
        guard let service = service.withLock({ $0 }) else { return HTTPResponse(status: 503) }
        let time = clock()
        let entry = state.withLock { state in
            let entry = InspectedRequest(request, id: state.next, time: time, skillIDs: skillIDs)
            state.next += 1
            if state.requests.count == Self.requestLimit { state.requests.removeFirst() }
            state.requests.append(entry)
            return entry
        }
        let begin = ContinuousClock.now
        let response = await Self.$current.withValue(entry) { await service.respond(to: request) }
        let place = state.withLock { state in
            state.answered += 1
            return state.answered
        }
        entry.end(
            response, place: place, duration: begin.duration(to: .now), skillIDs: skillIDs)
        return response
    }

    /// Keeps a trace with the request that it is of.
    public func finished(_ trace: TraceRecord) {
        if let current = Self.current { return current.add(trace) }
        state.withLock { state in
            if state.loose.count == Self.looseLimit { state.loose.removeFirst() }
            state.loose.append(trace)
        }
    }

    /// Keeps a call with the request that it was made for.
    public func called(_ path: String, outcome: String, duration: Duration) {
        Self.current?.add(InspectedRequest.Call(path: path, outcome: outcome, duration: duration))
    }

    // MARK: - The page

    private func page(_ request: HTTPRequest) async -> HTTPResponse {
        guard InspectorPages.mayAsk(request) else { return pages.refused }
        let (requests, loose) = state.withLock { ($0.requests, $0.loose) }
        let words = request.path.split(separator: "/").map(String.init)
        switch (request.method, words.count) {
        case (.get, 1): return pages.list(requests, loose)
        case (.get, 2) where words[1] == "style.css": return pages.style
        case (.get, 2) where words[1] == "script.js": return pages.script
        case (.get, 2) where words[1] == "requests": return pages.rows(requests, after: request.query.map(String.init))
        case (.get, 3) where words[1] == "requests":
            return requests.first { "\($0.id)" == words[2] }.map(pages.detail) ?? HTTPResponse(status: 404)
        case (.post, 4) where words[1] == "requests" && words[3] == "replay":
            return await replay(requests.first { "\($0.id)" == words[2] }, request)
        default: return HTTPResponse(status: 404)
        }
    }

    private func replay(_ entry: InspectedRequest?, _ request: HTTPRequest) async -> HTTPResponse {
        guard let entry, entry.isReplayable else { return HTTPResponse(status: 404) }
        guard pages.isOwnForm(request), let form = Form(decoding: String(decoding: request.body, as: UTF8.self)) else {
            return pages.refused
        }
        let body: JSONValue
        do throws(JSONError) { body = try JSONValue(parsing: Array((form["body"] ?? "").utf8)) } catch {
            return pages.message("The body is not JSON: \(error.reason)", status: 400)
        }
        guard let resend = resend.withLock({ $0 }) else { return pages.message("Nothing is sent here", status: 503) }
        let last = state.withLock { $0.next }
        let fault = await resend(body)
        guard fault.isEmpty else { return pages.message(fault, status: 502) }
        return HTTPResponse(
            status: 303, fields: ["Location": InspectorPages.path + "/requests/\(last)", "Cache-Control": "no-store"])
    }
}
