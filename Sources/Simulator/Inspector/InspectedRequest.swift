import Concurrency
import Crypto
import HTTP
import JSON
import Telemetry
import Time

/// One request that came to the service, with everything that is known of it; tokens are replaced.
final class InspectedRequest: Sendable {
    /// A call to the provider's server.
    struct Call: Sendable {
        let path: String
        let outcome: String
        let duration: Duration
    }

    /// What is known once it is answered.
    struct Answer: Sendable {
        /// The how many-eth answer it was: requests end in another order than they come.
        let place: Int
        let status: Int
        let duration: Duration
        /// The body as text that may be shown; nil where there is none.
        let text: String?
    }

    private struct State {
        var traces: [TraceRecord] = []
        var calls: [Call] = []
        var answer: Answer?
    }

    let id: Int
    let time: UnixTime
    let method: HTTPMethod
    let path: String
    /// The body with placeholders in the place of tokens, times and ids; nil where it is no JSON.
    let body: JSONValue?
    /// What the token says of its user, as it stands there; whether it is good the trace tells.
    let claims: JSONValue?
    private let state = Locked(State())

    /// Longer bodies are not looked at.
    static let bodyLimit = 256 << 10
    private static let listLimit = 64

    init(_ request: HTTPRequest, id: Int, time: UnixTime, skillIDs: Set<String>) {
        self.id = id
        self.time = time
        method = request.method
        path = String(request.path)
        let given = request.body.count <= Self.bodyLimit ? try? JSONValue(parsing: request.body) : nil
        var template = RequestTemplate(skillIDs: skillIDs)
        body = given.map { template.body($0, at: time) }
        let bearer = request.fields["Authorization"].flatMap { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil }
        claims = (given.flatMap(Self.token) ?? bearer).flatMap(Self.claims)
    }

    var traces: [TraceRecord] { state.withLock { $0.traces } }
    var calls: [Call] { state.withLock { $0.calls } }
    var answer: Answer? { state.withLock { $0.answer } }

    /// What is asked for: an intent, a directive, or the request's type.
    var title: String {
        if let header = body?["directive"]?["header"] {
            return "\(header["namespace"]?.string ?? "?").\(header["name"]?.string ?? "?")"
        }
        let request = body?["request"]
        return request?["intent"]?["name"]?.string ?? request?["type"]?.string ?? ""
    }

    /// Whether it can be sent again: what Alexa sends, and nothing that a page or an app did.
    var isReplayable: Bool { body?["directive"] != nil || body?["request"]?["type"] != nil }

    func add(_ trace: TraceRecord) {
        state.withLock { if $0.traces.count < Self.listLimit { $0.traces.append(trace) } }
    }

    func add(_ call: Call) {
        state.withLock { if $0.calls.count < Self.listLimit { $0.calls.append(call) } }
    }

    func end(_ response: HTTPResponse, place: Int, duration: Duration, skillIDs: Set<String>) {
        let text: String?
        if response.body.isEmpty {
            text = response.fields["Location"] == nil ? nil : "leads to another page"
        } else if response.body.count <= Self.bodyLimit, let json = try? JSONValue(parsing: response.body) {
            var template = RequestTemplate(skillIDs: skillIDs)
            text = String(decoding: template.body(json, at: nil).encoded(pretty: true), as: UTF8.self)
        } else {
            text = "\(response.fields["Content-Type"] ?? "a body"), \(response.body.count) bytes"
        }
        state.withLock {
            $0.answer = Answer(place: place, status: response.status, duration: duration, text: text)
        }
    }

    /// The first access token in what Alexa sends.
    private static func token(_ value: JSONValue) -> String? {
        for (name, member) in value.object ?? [:] {
            if ["accessToken", "token"].contains(name), let text = member.string, text.contains(".") { return text }
            if let found = token(member) { return found }
        }
        for element in value.array ?? [] { if let found = token(element) { return found } }
        return nil
    }

    /// The payload of a JWT (RFC 7519 §3); nil for tokens of another kind.
    private static func claims(_ token: String) -> JSONValue? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64URL.decode(parts[1]) else { return nil }
        return try? JSONValue(parsing: bytes)
    }
}
