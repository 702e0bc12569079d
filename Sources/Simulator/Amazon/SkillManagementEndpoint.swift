import Concurrency
public import Crypto
public import HTTP
public import JSON

/// Plays Amazon's skill management API, as far as account linking goes: strict in all that it is told.
///
/// `PUT /v1/skills/{id}/stages/{stage}/accountLinkingClient` alone changes something; the body must be wrapped, each
/// member of its kind, and no other member is known.
public final class SkillManagementEndpoint: HTTPResponder, Sendable {
    private struct State {
        var stored: [String: JSONValue] = [:]
        var scripted: [HTTPResponse] = []
        var received: [HTTPRequest] = []
    }

    private let token: Secret
    private let skills: [String: Set<String>]
    private let state = Locked(State())

    /// The API for a developer who holds `token`, whose skills have these stages by their ids.
    public init(token: Secret, skills: [String: Set<String>]) {
        self.token = token
        self.skills = skills
    }

    /// The next requests are answered so, one after another, whatever they are.
    public func script(_ answers: [HTTPResponse]) { state.withLock { $0.scripted = answers } }

    /// What a skill's stage has.
    public func accountLinking(of skillID: String, stage: String) -> JSONValue? {
        state.withLock { $0.stored["\(skillID)/\(stage)"] }
    }

    /// What was asked so far, oldest first.
    public var received: [HTTPRequest] { state.withLock { $0.received } }

    /// Thirty seconds: the caller's own limit is what is tested here.
    public func timeLimit(for method: HTTPMethod, target: String) -> Duration { .seconds(30) }

    /// Answers a request as the API does.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        let scripted: HTTPResponse? = state.withLock { state in
            state.received.append(request)
            return state.scripted.isEmpty ? nil : state.scripted.removeFirst()
        }
        if let scripted { return scripted }
        do throws(Refusal) {
            let place = try judge(request)
            guard let body = try? JSONValue(parsing: request.body), let wrapped = body.object, wrapped.count == 1,
                let linking = wrapped["accountLinkingRequest"]?.object
            else { throw Refusal(400, "Request body is not valid: accountLinkingRequest is missing") }
            let violations = Self.violations(of: linking)
            guard violations.isEmpty else { throw Refusal(400, "Account linking is not valid", violations) }
            state.withLock { $0.stored[place] = .object(linking) }
            return HTTPResponse(status: 204)
        } catch {
            return error.response
        }
    }

    /// Where the request leads; refused in the order in which Amazon's edge, its authorization and its store would.
    private func judge(_ request: HTTPRequest) throws(Refusal) -> String {
        let parts = request.target.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 7, parts[0] == "", parts[1] == "v1", parts[2] == "skills", parts[4] == "stages",
            parts[6] == "accountLinkingClient", let id = percentDecoded(parts[3])
        else { throw Refusal(404, "Not found") }
        guard request.method == .put else { throw Refusal(405, "Method not allowed") }
        guard request.fields.values("Authorization") == ["Bearer \(token.exposed)"] else {
            throw Refusal(401, "Token is invalid or expired")
        }
        guard request.fields.values("Content-Type") == ["application/json"] else {
            throw Refusal(415, "Unsupported media type")
        }
        guard let stages = skills[id], stages.contains(String(parts[5])) else {
            throw Refusal(404, "Resource not found.")
        }
        guard request.fields["If-Match"] == nil else { throw Refusal(412, "Precondition failed.") }
        return "\(id)/\(parts[5])"
    }

    private struct Refusal: Error {
        let status: Int
        let message: String
        let violations: [String]

        init(_ status: Int, _ message: String, _ violations: [String] = []) {
            self.status = status
            self.message = message
            self.violations = violations
        }

        var response: HTTPResponse {
            let violations = JSONValue.array(self.violations.map { ["message": .string($0)] })
            let body: JSONValue = ["message": .string(message), "violations": violations]
            return HTTPResponse(status: status, fields: ["Content-Type": "application/json"], body: body.encoded())
        }
    }
}

extension SkillManagementEndpoint {
    private static let words: [String: Set<String>] = [
        "type": ["AUTH_CODE", "IMPLICIT"], "accessTokenScheme": ["HTTP_BASIC", "REQUEST_BODY_CREDENTIALS"],
        "voiceForwardAccountLinking": ["ENABLED", "DISABLED"],
    ]
    private static let urls: Set<String> = ["authorizationUrl", "accessTokenUrl", "reciprocalAccessTokenUrl"]
    private static let texts: Set<String> = ["clientId", "clientSecret"]
    private static let lists: Set<String> = ["scopes", "domains", "redirectUrls"]
    private static let required = ["type", "authorizationUrl", "clientId", "clientSecret", "accessTokenUrl"]

    private static func violations(of linking: JSONObject) -> [String] {
        var violations = required.filter { linking[$0] == nil }.map { "\($0): Object must not be null" }
        for (name, value) in linking {
            switch name {
            case _ where words[name] != nil:
                if value.string.map({ words[name]?.contains($0) == true }) != true {
                    violations.append("\(name): not a member of the enum")
                }
            case _ where urls.contains(name): if !isAddress(value) { violations.append("\(name): not a valid URL") }
            case _ where texts.contains(name): if value.string?.isEmpty != false { violations.append("\(name): empty") }
            case _ where lists.contains(name): violations += problems(ofList: value, name)
            case "skipOnEnablement": if value.bool == nil { violations.append("\(name): not a boolean") }
            case "defaultTokenExpirationInSeconds":
                if value.integer.map({ $0 >= 0 }) != true { violations.append("\(name): not a number") }
            case "authorizationUrlsByPlatform":
                if value.array == nil { violations.append("\(name): not an array") }
            default: violations.append("\(name): unrecognized property")
            }
        }
        return violations
    }

    private static func problems(ofList value: JSONValue, _ name: String) -> [String] {
        guard let elements = value.array?.map(\.string), elements.allSatisfy({ $0?.isEmpty == false }) else {
            return ["\(name): not an array of strings"]
        }
        if name != "redirectUrls", elements.count > 15 { return ["\(name): more than 15 items"] }
        if Set(elements).count != elements.count { return ["\(name): duplicate items"] }
        if name == "redirectUrls", let wrong = value.array?.first(where: { !isAddress($0) }) {
            return ["\(name): not a valid URL: \(wrong.string ?? "")"]
        }
        return []
    }

    /// https; http on loopback too, since a test's service listens there.
    private static func isAddress(_ value: JSONValue) -> Bool {
        guard let url = value.string, !url.contains(" ") else { return false }
        return url.hasPrefix("https://") || url.hasPrefix("http://127.0.0.1:")
    }
}
