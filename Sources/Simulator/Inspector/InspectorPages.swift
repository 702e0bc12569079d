import HTTP
import JSON
import Telemetry
import Time

/// The inspector's pages: plain without script, live with it.
struct InspectorPages: Sendable {
    static let path = "/_inspect"
    /// Proves that a form is of a page of ours.
    let token: String

    // MARK: - Who may ask

    static func isOurs(_ target: String) -> Bool {
        target == path || target.hasPrefix(path + "/") || target.hasPrefix(path + "?")
    }

    /// This machine alone, by a name that no other site's page can have (DNS rebinding), and from no other site.
    static func mayAsk(_ request: HTTPRequest) -> Bool {
        let peer = request.peerAddress
        guard peer == "::1" || peer == "::ffff:127.0.0.1" || peer.hasPrefix("127.") else { return false }
        for name in ["X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "Via"] where request.fields[name] != nil {
            return false
        }
        let hosts = request.fields.values("Host")
        guard hosts.count == 1, ["127.0.0.1", "localhost", "[::1]"].contains(host(hosts[0])) else { return false }
        if let site = request.fields["Sec-Fetch-Site"], site != "same-origin", site != "none" { return false }
        if let origin = request.fields["Origin"], origin != "http://\(hosts[0])" { return false }
        return request.method != .post || request.fields["Origin"] != nil
    }

    private static func host(_ field: String) -> String {
        guard let colon = field.lastIndex(of: ":"), field[field.index(after: colon)...].allSatisfy(\.isNumber) else {
            return field
        }
        return String(field[..<colon])
    }

    /// Whether a form was made by a page of this process.
    func isOwnForm(_ request: HTTPRequest) -> Bool {
        let type = (request.fields["Content-Type"] ?? "").prefix { $0 != ";" }
        guard type == "application/x-www-form-urlencoded" else { return false }
        return Form(decoding: String(decoding: request.body, as: UTF8.self))?["token"] == token
    }

    var refused: HTTPResponse {
        HTTPResponse(
            status: 403, fields: Self.fields("text/plain; charset=utf-8"), body: Array("For this machine alone.\n".utf8)
        )
    }

    // MARK: - Pages

    func list(_ requests: [InspectedRequest], _ loose: [TraceRecord]) -> HTTPResponse {
        let answered = Self.answered(requests)
        let rows = answered.map(Self.row).joined()
        let traces = loose.reversed().map { Self.trace($0) }.joined()
        return page(
            "Requests",
            """
            <h1>Requests</h1><p class="quiet" role="status" id="live">Newest first; the last \(Inspector.requestLimit) are kept.</p>
            <table id="rows" data-last="\(answered.first?.answer?.place ?? 0)"><caption class="hidden">What came to the service</caption>
            <thead><tr><th scope="col">Time</th><th scope="col">Request</th><th scope="col">What</th>
            <th scope="col">Status</th><th scope="col">Outcome</th><th scope="col">Time</th></tr></thead><tbody>\(rows)</tbody></table>
            \(answered.isEmpty ? "<p>Nothing yet. <code>skillgate replay</code>, a browser or Alexa will change that.</p>" : "")
            \(traces.isEmpty ? "" : "<h2>Work of its own</h2>" + traces)
            """)
    }

    /// Those that are answered, the latest answer first.
    private static func answered(_ requests: [InspectedRequest]) -> [InspectedRequest] {
        requests.filter { $0.answer != nil }.sorted { ($0.answer?.place ?? 0) > ($1.answer?.place ?? 0) }
    }

    /// The rows after the answer that `after` counts, for the script.
    func rows(_ requests: [InspectedRequest], after query: String?) -> HTTPResponse {
        let last = query.flatMap { Form(decoding: $0) }?["after"].flatMap { Int($0) } ?? 0
        let new = Self.answered(requests).prefix { ($0.answer?.place ?? 0) > last }
        let json: JSONValue = [
            "last": .integer(Int64(new.first?.answer?.place ?? last)), "rows": .string(new.map(Self.row).joined()),
        ]
        return HTTPResponse(status: 200, fields: Self.fields("application/json"), body: json.encoded())
    }

    func detail(_ entry: InspectedRequest) -> HTTPResponse {
        var parts = [
            "<p><a href=\"\(Self.path)\">All requests</a></p>",
            "<h1>\(Self.escaped(entry.title.isEmpty ? entry.path : entry.title))</h1>",
            "<p class=\"quiet\">\(entry.method.rawValue) \(Self.escaped(entry.path)) at \(entry.time.iso8601(fraction: true))</p>",
        ]
        if let answer = entry.answer {
            parts.append("<p><b>\(answer.status)</b> after \(answer.duration.shown)</p>")
        } else {
            parts.append("<p>It is not answered yet.</p>")
        }
        parts += entry.traces.map { Self.trace($0) }
        if !entry.calls.isEmpty {
            let rows = entry.calls.map {
                "<tr><td>\(Self.escaped($0.path))</td><td>\(Self.escaped($0.outcome))</td><td>\($0.duration.shown)</td></tr>"
            }.joined()
            parts.append(
                "<h2>Calls to the provider's server</h2><table class=\"calls\"><thead><tr><th scope=\"col\">Call</th>"
                    + "<th scope=\"col\">Answer</th><th scope=\"col\">Time</th></tr></thead><tbody>\(rows)</tbody></table>"
            )
        }
        if let claims = entry.claims { parts.append("<h2>What the token says</h2>" + Self.code(claims)) }
        if let text = entry.answer?.text { parts.append("<h2>Answer</h2><pre>\(Self.escaped(text))</pre>") }
        if let body = entry.body {
            let text = String(decoding: body.encoded(pretty: true), as: UTF8.self)
            parts.append(entry.isReplayable ? form(entry, text) : "<h2>Request</h2><pre>\(Self.escaped(text))</pre>")
        }
        return page(entry.title, parts.joined(separator: "\n"))
    }

    func message(_ text: String, status: Int) -> HTTPResponse {
        page(
            "Not sent", "<p><a href=\"\(Self.path)\">All requests</a></p><h1>Not sent</h1><p>\(Self.escaped(text))</p>",
            status)
    }

    private func form(_ entry: InspectedRequest, _ text: String) -> String {
        """
        <h2>Request</h2><form method="post" action="\(Self.path)/requests/\(entry.id)/replay">
        <input type="hidden" name="token" value="\(token)">
        <label for="body">Placeholders such as {{token}} and {{now}} are filled anew when it is sent, and it is signed again.</label>
        <textarea id="body" name="body" rows="18" spellcheck="false">\(Self.escaped(text))</textarea>
        <button type="submit">Send again</button></form>
        """
    }

    private static func code(_ value: JSONValue) -> String {
        "<pre>\(escaped(String(decoding: value.encoded(pretty: true), as: UTF8.self)))</pre>"
    }

    private static func row(_ entry: InspectedRequest) -> String {
        let trace = entry.traces.last
        let outcome = trace.map { $0.reason ?? $0.outcome.rawValue } ?? ""
        return """
            <tr><td>\(entry.time.iso8601().dropFirst(11).prefix(8))</td>
            <td><a href="\(path)/requests/\(entry.id)">\(entry.method.rawValue) \(escaped(entry.path))</a></td>
            <td>\(escaped(entry.title))</td><td class="\((entry.answer?.status ?? 0) >= 400 ? "bad" : "")">\
            \(entry.answer.map { "\($0.status)" } ?? "…")</td>
            <td class="\(trace?.outcome == .ok || trace == nil ? "" : "bad")">\(escaped(outcome))</td>
            <td>\(entry.answer.map(\.duration.shown) ?? "")</td></tr>
            """
    }

    /// A trace: each step as a bar on one scale, with its outcome in words.
    private static func trace(_ trace: TraceRecord) -> String {
        let whole = max(1, trace.duration.microseconds)
        let rows = trace.steps.map { step in
            let x = 200 * step.start.microseconds / whole
            let width = max(2, 200 * step.duration.microseconds / whole)
            let reason = step.reason.map { " <code>\(escaped($0))</code>" } ?? ""
            return """
                <tr><th scope="row">\(escaped(step.name))</th><td><svg width="204" height="12" aria-hidden="true">\
                <rect x="\(x)" y="1" width="\(width)" height="10" rx="2" class="\(step.outcome.rawValue)"></rect></svg></td>
                <td>\(step.duration.shown)</td><td class="\(step.outcome == .ok ? "" : "bad")">\
                \(step.outcome.rawValue)\(reason)</td></tr>
                """
        }.joined()
        let notes = trace.notes.map { "\(escaped($0.name)): \(escaped($0.value))" }.joined(separator: ", ")
        let facts = [trace.subject.map { "user \(escaped($0))" }, notes.isEmpty ? nil : notes].compactMap(\.self)
        return """
            <h2>Steps: \(trace.kind.rawValue), \(trace.outcome.rawValue)\(trace.reason.map { " <code>\(escaped($0))</code>" } ?? "")</h2>
            <p class="quiet">\(trace.duration.shown), trace \(trace.id)\(facts.isEmpty ? "" : ", " + facts.joined(separator: ", "))</p>
            <table class="steps"><tbody>\(rows)</tbody></table>
            """
    }

    // MARK: - Frame

    private func page(_ title: String, _ content: String, _ status: Int = 200) -> HTTPResponse {
        let html = """
            <!doctype html><html lang="en"><head><meta charset="utf-8"><title>\(Self.escaped(title)) – Skillgate</title>
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <link rel="stylesheet" href="\(Self.path)/style.css"><script src="\(Self.path)/script.js" defer></script></head>
            <body><main>\(content)</main></body></html>
            """
        return HTTPResponse(status: status, fields: Self.fields("text/html; charset=utf-8"), body: Array(html.utf8))
    }

    var style: HTTPResponse {
        HTTPResponse(
            status: 200, fields: Self.fields("text/css; charset=utf-8"), body: Array(InspectorAssets.style.utf8))
    }

    var script: HTTPResponse {
        HTTPResponse(
            status: 200, fields: Self.fields("text/javascript; charset=utf-8"), body: Array(InspectorAssets.script.utf8)
        )
    }

    private static func fields(_ type: String) -> HTTPFields {
        [
            "Content-Type": type, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
            "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        ]
    }

    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
    }
}
