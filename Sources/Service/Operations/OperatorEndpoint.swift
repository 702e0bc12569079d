import Alexa
import HTTP
import JSON
import OAuth
import Telemetry
import Time

/// `GET /admin/links` and `GET /admin/traces/{id}`: why a user cannot link, for a client with `role: "operator"`.
///
/// A page for browsers and JSON for programs, by `Accept`. What is shown comes from traces and links, which hold no
/// secret; the lists are bounded.
struct OperatorEndpoint: Sendable {
    static let linksPath = "/admin/links"
    static let tracesPath = "/admin/traces/"
    /// How many attempts a list shows.
    static let listLimit = 50
    private static let timeLimit = Duration.seconds(10)

    let authentication: ClientAuthentication
    let traces: any TraceStore
    let links: any LinkStore
    let answers: PageAnswers
    let log: Log

    var routes: [Route] {
        [
            Route(.get, Self.linksPath, timeLimit: Self.timeLimit) { request, _ in await list(request) },
            Route(.get, Self.tracesPath + "{id}", timeLimit: Self.timeLimit) { request, arguments in
                await show(arguments["id"] ?? "", request)
            },
        ]
    }

    /// Failed attempts, newest first; with `outcome=all` those that went well too, with `subject` one user's alone.
    private func list(_ request: HTTPRequest) async -> HTTPResponse {
        await answer(request) { () async throws(OperatorFailure) in
            guard let query = Form(decoding: request.query ?? "") else { throw .query("the query is malformed") }
            let subject = query["subject"].flatMap { $0.isEmpty ? nil : $0 }
            guard ["failed", "all"].contains(query["outcome"] ?? "failed") else {
                throw .query("outcome is failed or all")
            }
            let isWhole = query["outcome"] == "all"
            let wanted = TraceQuery(kind: .link, outcomes: isWhole ? nil : [.refused, .failed], subject: subject)
            let attempts: [TraceRecord]
            do { attempts = try await traces.traces(matching: wanted, limit: Self.listLimit) } catch { throw .store }
            var found: [Link] = []
            if let subject {
                do throws(LinkStoreError) {
                    found = try await Array(links.links(of: subject, by: request.deadline).prefix(Self.listLimit))
                } catch { throw .store }
            }
            if wantsPage(request) {
                return answers.operatorPage("Link attempts") { screens in
                    screens.attempts(attempts, subject: subject, isWhole: isWhole, links: found)
                }
            }
            var body = "{\"attempts\":[" + attempts.map(\.json).joined(separator: ",") + "]"
            if subject != nil {
                let links = JSONValue.array(found.map(\.operatorJSON)).encoded()
                body += ",\"links\":" + String(decoding: links, as: UTF8.self)
            }
            return Self.json(body + "}")
        }
    }

    private func show(_ id: String, _ request: HTTPRequest) async -> HTTPResponse {
        await answer(request) { () async throws(OperatorFailure) in
            let found: TraceRecord?
            do { found = try await traces.trace(id: id) } catch { throw .store }
            guard let trace = found else { throw .noTrace }
            guard wantsPage(request) else { return Self.json(trace.json) }
            return answers.operatorPage("Trace") { $0.trace(trace) }
        }
    }

    private func answer(
        _ request: HTTPRequest, _ make: () async throws(OperatorFailure) -> HTTPResponse
    ) async -> HTTPResponse {
        var response: HTTPResponse
        switch await authentication.outcome(for: request, role: .operator) {
        case .refusal(let refusal): return refusal
        case .client:
            do throws(OperatorFailure) { response = try await make() } catch {
                let traceID = TraceID.random()
                log.info(
                    "the operator is refused", .traceID(traceID), .rejection(error.reasonCode), .detail(error.detail))
                response =
                    Problem(status: error.status, code: error.reasonCode, detail: error.detail, traceID: traceID)
                    .response
                if case .store = error { response.fields["Retry-After"] = "5" }
            }
        }
        response.fields["Vary"] = "Accept"
        return response
    }

    private static func json(_ text: String) -> HTTPResponse {
        HTTPResponse(
            status: 200, fields: ["Content-Type": "application/json", "Cache-Control": "no-store"],
            body: Array(text.utf8))
    }
}

/// Why the operator gets no list and no trace.
enum OperatorFailure: Error {
    case query(String)
    case noTrace
    case store

    var reasonCode: String {
        switch self {
        case .query: "admin.query"
        case .noTrace: "admin.noTrace"
        case .store: "admin.store"
        }
    }

    var status: Int {
        switch self {
        case .query: 400
        case .noTrace: 404
        case .store: 503
        }
    }

    var detail: String {
        switch self {
        case .query(let detail): detail
        case .noTrace: "The store holds no trace of this id"
        case .store: "The store does not answer now"
        }
    }
}

/// Whether a browser asks: HTML is named, and wanted at least as much as JSON (RFC 9110 §12.5.1).
func wantsPage(_ request: HTTPRequest) -> Bool {
    func quality(_ type: String) -> Double? {
        for value in request.fields.values("Accept") {
            for range in value.split(separator: ",").prefix(50) {
                let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
                guard parts.first == type else { continue }
                return parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            }
        }
        return nil
    }
    guard let html = quality("text/html"), html > 0 else { return false }
    return html >= quality("application/json") ?? 0
}

extension Link {
    /// The link as the operator sees it.
    fileprivate var operatorJSON: JSONValue {
        var object: JSONObject = [
            "id": .string(id), "status": .string(status.rawValue), "skill": .string(skill), "stage": .string(stage),
            "flow": .string(flow.rawValue), "linkedAt": .string(linkedAt.iso8601()),
        ]
        object["region"] = region.map { .string($0.rawValue) }
        object["alexaUserID"] = alexaUserID.map(JSONValue.string)
        object["traceID"] = traceID.map(JSONValue.string)
        return .object(object)
    }
}
