import Alexa
import Concurrency
import Crypto
public import HTTP

/// The Alexa app and Google's Home app as their customer has them in hand, as one page for a browser: links that begin
/// there, and links that end there.
///
/// Such a link is OAuth's code flow with Alexa or Google as the client (RFC 6749 §4.1): the browser goes to the company's
/// pages and comes back with a code, the assistant redeems it, and Alexa tells the skill. As strict as ``LinkingEndpoint``
/// and ``GoogleApp`` are with what comes back.
public final class AssistantPages: Sendable {
    /// Where the page is.
    public static let path = "/assistants"
    /// Where the company's provider sends Alexa's code and Google's code: the redirect URIs of the two clients.
    public static let alexaReturnPath = "/api/skill/link/SIMULATED"
    /// See ``alexaReturnPath``.
    public static let googleReturnPath = "/r/simulated"
    private static let alexaPath = path + "/alexa"
    private static let googlePath = path + "/google"
    private static let owner = "Voice assistants (simulated)"
    /// How many links may have been begun and not come back.
    private static let beginningLimit = 100

    /// What the assistants know of the company's provider.
    public struct Provider: Sendable {
        /// Its page, to which the browser is sent.
        public let authorizationURL: String
        /// What Alexa asks for.
        public let alexaScopes: [String]
        /// What Google asks for.
        public let googleScopes: [String]

        /// A provider.
        public init(authorizationURL: String, alexaScopes: [String], googleScopes: [String]) {
            self.authorizationURL = authorizationURL
            self.alexaScopes = alexaScopes
            self.googleScopes = googleScopes
        }
    }

    private enum Beginning: Sendable {
        case alexa(skillID: String, account: AmazonAccount)
        case google(GoogleApp.Request)
    }

    private struct State: Sendable {
        var begun: [(state: String, what: Beginning)] = []
        var google: GoogleApp.Tokens?
        /// What the last button led to, told once.
        var said: String?
    }

    private let linking: LinkingEndpoint
    private let alexa: AlexaCaller
    private let google: GoogleApp?
    private let provider: Provider
    /// This page's origin.
    private let origin: String
    private let state = Locked(State())

    /// The page of the customers whom `linking` knows; `google` is nil where the company does not link with Google.
    public init(
        linking: LinkingEndpoint, alexa: AlexaCaller, google: GoogleApp?, provider: Provider, origin: String
    ) {
        self.linking = linking
        self.alexa = alexa
        self.google = google
        self.provider = provider
        self.origin = origin
    }

    /// The answer to a request for one of these pages; nil for another address.
    public func answer(_ request: HTTPRequest) async -> HTTPResponse? {
        switch (request.method, request.path) {
        case (.get, Self.path[...]): return page()
        case (.get, Self.alexaReturnPath[...]): return await back(request, at: Self.alexaReturnPath)
        case (.get, Self.googleReturnPath[...]): return await back(request, at: Self.googleReturnPath)
        case (.post, Self.alexaPath[...]), (.post, Self.googlePath[...]):
            // Another site's page presses no button here.
            guard ["same-origin", "none", nil].contains(request.fields["Sec-Fetch-Site"]),
                let form = Form(decoding: String(decoding: request.body, as: UTF8.self))
            else { return HTTPResponse(status: 403) }
            return await request.path == Self.alexaPath ? pressed(alexa: form) : pressed(google: form["do"])
        default: return nil
        }
    }

    // MARK: - Buttons

    private func pressed(alexa form: Form) async -> HTTPResponse {
        guard let skill = form["skill"].flatMap({ linking.skill(id: $0) }),
            let account = linking.accounts.first(where: { $0.name == form["account"] })
        else { return HTTPResponse(status: 400) }
        let enabled = linking.enabled.first { $0.skillID == skill.id && $0.account == account }
        switch form["do"] {
        case "link":
            let state = SecureRandom.token(bytes: 24)
            begin(state, .alexa(skillID: skill.id, account: account))
            return lead(
                clientID: skill.providerClientID, scopes: provider.alexaScopes, state: state,
                redirectURI: origin + Self.alexaReturnPath)
        case "open":
            await say("“Alexa, open the skill.”") {
                let opening = try await alexa.open(skillID: skill.id, enabled: enabled)
                let card = opening.card.map { ", a card of type \($0)" } ?? ""
                let words = opening.speech.map { "Alexa: “\($0)”" } ?? "Alexa says nothing"
                return "\(words)\(card), status \(opening.status)"
            }
        case "disable":
            await say("Disabled.") {
                guard let enabled = linking.disable(skillID: skill.id, account: account.name) else { return "" }
                return "The skill was told by SkillDisabled: status \(try await alexa.tell(.disabled, of: enabled))"
            }
        default: return HTTPResponse(status: 400)
        }
        return SimulatedPage.redirect(to: Self.path)
    }

    private func pressed(google action: String?) async -> HTTPResponse {
        guard let google else { return HTTPResponse(status: 404) }
        switch action {
        case "link":
            let request = google.browserRequest(
                scope: provider.googleScopes.joined(separator: " "), redirectURI: origin + Self.googleReturnPath)
            begin(request.state, .google(request))
            return lead(
                clientID: request.clientID, scopes: provider.googleScopes, state: request.state,
                redirectURI: request.redirectURI)
        case "unlink":
            guard let tokens = state.withLock({ $0.google.take() }) else { break }
            await say("Unlinked.") {
                try await google.revoke(tokens)
                return "Google revoked its token"
            }
        default: return HTTPResponse(status: 400)
        }
        return SimulatedPage.redirect(to: Self.path)
    }

    private func begin(_ name: String, _ what: Beginning) {
        state.withLock { state in
            if state.begun.count == Self.beginningLimit { state.begun.removeFirst() }
            state.begun.append((name, what))
        }
    }

    /// Sends the browser to the provider's page, as the assistant does.
    private func lead(clientID: String, scopes: [String], state: String, redirectURI: String) -> HTTPResponse {
        var query = Form()
        query.append("client_id", clientID)
        query.append("response_type", "code")
        query.append("state", state)
        query.append("scope", scopes.joined(separator: " "))
        query.append("redirect_uri", redirectURI)
        return SimulatedPage.redirect(to: provider.authorizationURL + "?" + query.encodedText)
    }

    // MARK: - The way back

    private func back(_ request: HTTPRequest, at path: String) async -> HTTPResponse {
        await say("Linking.") {
            let form = Form(decoding: request.query ?? "")
            guard let name = form?["state"], let what = taken(name) else {
                throw LinkingRefusal("state is none that the assistant sent, or came back before")
            }
            switch (what, path) {
            case (.alexa(let skillID, let account), Self.alexaReturnPath):
                return try await linked(form, skillID: skillID, account)
            case (.google(let asked), Self.googleReturnPath):
                guard let google else { return "" }
                let tokens = try await google.redeem(google.code(in: origin + request.target, for: asked), for: asked)
                state.withLock { $0.google = tokens }
                return "Google has tokens of the user's"
            default: throw LinkingRefusal("the code came to the other assistant's address")
            }
        }
        return SimulatedPage.redirect(to: Self.path)
    }

    private func taken(_ name: String) -> Beginning? {
        state.withLock { state in
            guard let place = state.begun.firstIndex(where: { $0.state == name }) else { return nil }
            return state.begun.remove(at: place).what
        }
    }

    /// Redeems the code for a customer, and tells the skill of it.
    private func linked(_ form: Form?, skillID: String, _ account: AmazonAccount) async throws -> String {
        if let error = form?["error"] { throw LinkingRefusal("the provider says \(error)") }
        guard let codes = form?.values("code"), codes.count == 1, !codes[0].isEmpty else {
            throw LinkingRefusal("there is not one code")
        }
        guard let skill = linking.skill(id: skillID), let stage = skill.stages.sorted().first,
            let tokens = await linking.redeem(Secret(codes[0]), origin + Self.alexaReturnPath, skill)
        else { throw LinkingRefusal("the token endpoint gives Alexa no tokens") }
        let enabled = linking.keep(skill, stage: stage, account, tokens)
        let statuses = [
            try await alexa.tell(.enabled, of: enabled), try await alexa.tell(.accountLinked, of: enabled),
        ]
        return "Alexa has tokens of the user's; SkillEnabled and SkillAccountLinked were answered with "
            + statuses.map { "\($0)" }.joined(separator: " and ")
    }

    /// Does something, and keeps what is to be said of it.
    private func say(_ what: String, _ work: () async throws -> String) async {
        let said: String
        do { said = try await work() } catch let refusal as LinkingRefusal {
            said = "It fails: \(refusal.rule)"
        } catch { said = "It fails: \(error)" }
        state.withLock { $0.said = what + " " + said }
    }

    // MARK: - The page

    private func page() -> HTTPResponse {
        let (said, isLinked) = state.withLock { ($0.said.take(), $0.google != nil) }
        let enabled = linking.enabled
        let customers = linking.skills.flatMap { skill in
            linking.accounts.map { account in
                let known = enabled.first { $0.skillID == skill.id && $0.account == account }
                let hidden = Self.hidden([("skill", skill.id), ("account", account.name)])
                return """
                    <h2>\(SimulatedPage.escaped(account.name)), at home in \(account.home.rawValue)</h2>
                    <p class="quiet"><code>\(SimulatedPage.escaped(skill.id))</code> is \(known == nil ? "not linked" : "linked")</p>
                    <form method="post" action="\(Self.alexaPath)">\(hidden)\
                    <p><button name="do" value="link">\(known == nil ? "Enable and link" : "Link again")</button></p>\
                    <p><button name="do" value="open" class="no">“Alexa, open the skill”</button></p>\
                    \(known == nil ? "" : "<p><button name=\"do\" value=\"disable\" class=\"no\">Disable the skill</button></p>")</form>
                    """
            }
        }.joined()
        let home = """
            <h1>The Google Home app</h1><p class="quiet">\(isLinked ? "linked" : "not linked")</p>
            <form method="post" action="\(Self.googlePath)">\
            <p><button name="do" value="link">\(isLinked ? "Link again" : "Link")</button></p>\
            \(isLinked ? "<p><button name=\"do\" value=\"unlink\" class=\"no\">Unlink</button></p>" : "")</form>
            """
        return SimulatedPage.answer(
            of: Self.owner, "The Alexa app",
            (said.map { "<p role=\"status\">\(SimulatedPage.escaped($0))</p>" } ?? "") + customers
                + (google == nil ? "" : home))
    }

    private static func hidden(_ items: [(String, String)]) -> String {
        items.map {
            "<input type=\"hidden\" name=\"\($0.0)\" value=\"\(SimulatedPage.escaped($0.1))\">"
        }.joined()
    }
}
