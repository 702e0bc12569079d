public import Alexa
import Concurrency
public import Crypto
public import HTTP
import JSON
import LinkMessages
import Time

/// A customer of Amazon's who may link a skill.
public struct AmazonAccount: Hashable, Sendable {
    /// A name, which appears in the customer's Alexa user ids.
    public let name: String
    /// The region that the customer is at home in.
    public let home: AlexaRegion

    /// A customer.
    public init(name: String, home: AlexaRegion = .northAmerica) {
        self.name = name
        self.home = home
    }
}

/// Plays what Alexa does in app-to-app account linking: the user's consent in the Alexa app or at Login with Amazon, and
/// each region's enablement API, which redeems our code at our token endpoint while its caller waits.
///
/// It is strict in all that it is told, and says in its refusals which rule was broken.
public final class LinkingEndpoint: Sendable {
    /// A skill as Amazon's developer console knows it.
    public struct Skill: Sendable {
        /// The application id.
        public let id: String
        /// The stages that exist.
        public let stages: Set<String>
        /// The client that the console's account-linking page shows.
        public let amazonClientID: String
        /// Where users may be sent back to.
        public let redirectURLs: [String]
        /// The token endpoint of the skill's own provider, and Alexa's pair there.
        public let tokenURL: String
        /// Alexa's id there.
        public let providerClientID: String
        /// Alexa's secret there.
        public let providerClientSecret: Secret
        /// Whether Alexa proves itself there by Basic, or in the body.
        public let usesBasic: Bool

        /// A skill.
        public init(
            id: String, stages: Set<String> = ["development"], amazonClientID: String, redirectURLs: [String],
            tokenURL: String, providerClientID: String, providerClientSecret: Secret, usesBasic: Bool = true
        ) {
            self.id = id
            self.stages = stages
            self.amazonClientID = amazonClientID
            self.redirectURLs = redirectURLs
            self.tokenURL = tokenURL
            self.providerClientID = providerClientID
            self.providerClientSecret = providerClientSecret
            self.usesBasic = usesBasic
        }
    }

    /// A skill that a customer has enabled and linked.
    public struct Enabled: Hashable, Sendable {
        /// The skill's application id.
        public let skillID: String
        /// Its stage.
        public let stage: String
        /// The customer.
        public let account: AmazonAccount
        /// The customer, by the id that the skill's requests carry.
        public let userID: String
        /// The token of ours that Alexa would send with requests.
        public let accessToken: Secret
        /// The token of ours that Alexa would refresh that one by.
        public let refreshToken: Secret
    }

    private struct Place: Hashable {
        let skillID: String
        let account: String
    }

    private struct State {
        var skills: [String: Skill] = [:]
        var accounts: [String: AmazonAccount] = [:]
        var enabled: [Place: Enabled] = [:]
        var enablements = 0
        var redeemer: (any HTTPClient)?
    }

    private let tokens: TokenEndpoint
    private let state = Locked(State())

    init(tokens: TokenEndpoint) { self.tokens = tokens }

    /// Makes a skill and customers known; codes of ours are redeemed by `http`.
    public func know(_ skills: [Skill], accounts: [AmazonAccount], http: any HTTPClient) {
        state.withLock { state in
            for skill in skills { state.skills[skill.id] = skill }
            for account in accounts { state.accounts[account.name] = account }
            state.redeemer = http
        }
    }

    /// What is enabled and linked now, of every customer.
    public var enabled: [Enabled] { state.withLock { Array($0.enabled.values) } }

    /// How codes are redeemed; nil before any skill is known.
    var redeemer: (any HTTPClient)? { state.withLock { $0.redeemer } }

    func skill(id: String) -> Skill? { state.withLock { $0.skills[id] } }

    /// Puts fresh tokens in the place of the old ones, unless the skill was disabled meanwhile.
    func replace(_ enabled: Enabled) {
        let place = Place(skillID: enabled.skillID, account: enabled.account.name)
        state.withLock { if $0.enabled[place] != nil { $0.enabled[place] = enabled } }
    }

    /// Enables a skill for a customer with the tokens that Alexa got for the code.
    func keep(
        _ skill: Skill, stage: String, _ account: AmazonAccount, _ tokens: (access: Secret, refresh: Secret)
    ) -> Enabled {
        let place = Place(skillID: skill.id, account: account.name)
        return state.withLock { state in
            state.enablements += 1
            // Linking anew keeps the user's id; enabling anew gives another.
            let userID =
                state.enabled[place]?.userID ?? "amzn1.ask.account.\(account.name.uppercased())\(state.enablements)"
            let known = Enabled(
                skillID: skill.id, stage: stage, account: account, userID: userID, accessToken: tokens.access,
                refreshToken: tokens.refresh)
            state.enabled[place] = known
            return known
        }
    }

    /// The customer disables a skill in the Alexa app; gives what was enabled.
    func disable(skillID: String, account: String) -> Enabled? {
        state.withLock { $0.enabled.removeValue(forKey: Place(skillID: skillID, account: account)) }
    }

    /// The skills, by id.
    var skills: [Skill] { state.withLock { $0.skills.values.sorted { $0.id < $1.id } } }

    /// The customers, by name.
    public var accounts: [AmazonAccount] { state.withLock { $0.accounts.values.sorted { $0.name < $1.name } } }

    // MARK: - The user's consent

    /// The addresses that ask for consent.
    static let alexaAppPath = "/spa/skill-account-linking-consent"
    static let loginPath = "/ap/oa"

    /// Whether a path is that of a page of consent.
    static func isConsent(_ path: Substring) -> Bool { path == alexaAppPath || path == loginPath }

    /// Asks a customer, who agrees, or lets the request end with an error such as `access_denied`.
    ///
    /// - Parameters:
    ///   - url: the Alexa app's address, or that of Login with Amazon, with its query.
    ///   - account: who is asked.
    ///   - error: what is sent back in place of a code.
    ///   - description: what is sent with the error.
    /// - Returns: the address that the customer is sent back to.
    /// - Throws: ``LinkingRefusal`` where the address breaks a rule; Amazon shows a page then.
    public func consent(
        to url: String, account: AmazonAccount, error: String? = nil, description: String? = nil
    ) throws(LinkingRefusal) -> String {
        let path = url.prefix { $0 != "?" }
        let isApp = path.hasSuffix(Self.alexaAppPath)
        guard isApp || path.hasSuffix(Self.loginPath) else { throw LinkingRefusal("no address that asks for consent") }
        guard let form = Form(decoding: url.dropFirst(path.count + 1)) else {
            throw LinkingRefusal("the query cannot be decoded")
        }
        let values = try Self.values(form, isApp: isApp)
        guard let skill = state.withLock({ $0.skills.values.first { $0.amazonClientID == values["client_id"] } })
        else { throw LinkingRefusal("client_id is unknown") }
        guard let redirectURI = values["redirect_uri"], skill.redirectURLs.contains(redirectURI) else {
            throw LinkingRefusal("redirect_uri is none of the skill's")
        }
        if isApp, !skill.stages.contains(values["skill_stage"] ?? "") {
            throw LinkingRefusal("skill_stage is none of the skill's")
        }
        var answer = Form()
        if let error {
            answer.append("error", error)
            answer.append("error_description", description)
        } else {
            answer.append(
                "code",
                tokens.issueCode(
                    clientID: skill.amazonClientID, redirectURI: redirectURI, challenge: values["code_challenge"],
                    account: account.name))
            if !isApp { answer.append("scope", LinkAddresses.scope) }
        }
        answer.append("state", values["state"])
        return redirectURI + (redirectURI.contains("?") ? "&" : "?") + answer.encodedText
    }

    private static func values(_ form: Form, isApp: Bool) throws(LinkingRefusal) -> [String: String] {
        var values: [String: String] = [:]
        for item in form.items where values.updateValue(item.value, forKey: item.name) != nil {
            throw LinkingRefusal("\(item.name) is given twice")
        }
        var known: Set = [
            "client_id", "scope", "response_type", "redirect_uri", "state", "code_challenge", "code_challenge_method",
        ]
        if isApp { known.formUnion(["fragment", "skill_stage"]) }
        if let name = values.keys.first(where: { !known.contains($0) }) { throw LinkingRefusal("\(name) is unknown") }
        var wanted = ["scope": LinkAddresses.scope, "response_type": "code"]
        if isApp { wanted["fragment"] = "skill-account-linking-consent" }
        for (name, value) in wanted.sorted(by: { $0.key < $1.key }) where values[name] != value {
            throw LinkingRefusal("\(name) is not \(value)")
        }
        guard let state = values["state"], LinkState.isAllowed(state), state.count <= LinkState.maximumLength else {
            throw LinkingRefusal("state is missing, or has characters that it may not have")
        }
        guard (values["code_challenge"] == nil) == (values["code_challenge_method"] == nil),
            values["code_challenge_method"] ?? "S256" == "S256",
            values["code_challenge"].map({ Base64URL.decode($0)?.count == 32 }) ?? true
        else { throw LinkingRefusal("code_challenge is none of S256") }
        return values
    }
}

/// Why a simulated host refuses what it was told.
public struct LinkingRefusal: Error, Hashable, Sendable {
    /// The rule that was broken.
    public let rule: String

    init(_ rule: String) { self.rule = rule }
}

// MARK: - The enablement API

extension LinkingEndpoint {
    static let regionsPath = "/v1/alexaApiEndpoint"
    private static let skillsPath = "/v1/users/~current/skills/"
    private static let enablementEnd = "/enablement"

    /// Whether a region's host answers that path here.
    static func answers(_ path: Substring) -> Bool {
        path == regionsPath || (path.hasPrefix(skillsPath) && path.hasSuffix(enablementEnd))
    }

    /// The hosts of the region that a customer is at home in.
    func regions(_ request: HTTPRequest) -> HTTPResponse {
        guard request.method == .get else { return HTTPResponse(status: 405) }
        do throws(EnablementRefusal) {
            let (account, _) = try customer(of: request)
            let host = EventEndpoint.hosts.first { $0.value == account.home }?.key ?? ""
            return answer(200, ["endpoints": [.string(host)]])
        } catch { return answer(error) }
    }

    /// Enables, tells of, or disables the skill that the path names.
    func answer(_ request: HTTPRequest, region: AlexaRegion) async -> HTTPResponse {
        do throws(EnablementRefusal) {
            let (account, clientID) = try customer(of: request)
            let skillID = String(
                request.path.dropFirst(Self.skillsPath.count).dropLast(Self.enablementEnd.count))
            guard let skill = state.withLock({ $0.skills[skillID] }), account.home == region else {
                throw EnablementRefusal(404, "Skill is not found")
            }
            guard skill.amazonClientID == clientID else { throw EnablementRefusal(403, "Not this skill's client") }
            let place = Place(skillID: skillID, account: account.name)
            switch request.method {
            case .post: return try await enable(skill, account, request)
            case .get:
                guard let known = state.withLock({ $0.enabled[place] }) else {
                    throw EnablementRefusal(404, "Skill is not enabled")
                }
                return answer(200, body(of: known))
            case .delete:
                guard state.withLock({ $0.enabled.removeValue(forKey: place) }) != nil else {
                    throw EnablementRefusal(404, "Skill is not enabled")
                }
                return HTTPResponse(status: 204)
            default: return HTTPResponse(status: 405)
            }
        } catch { return answer(error) }
    }

    private struct EnablementRefusal: Error {
        let status: Int
        let message: String

        init(_ status: Int, _ message: String) {
            self.status = status
            self.message = message
        }
    }

    private func customer(of request: HTTPRequest) throws(EnablementRefusal) -> (AmazonAccount, clientID: String) {
        let fields = request.fields.values("Authorization")
        guard fields.count == 1, let field = fields.first, field.hasPrefix("Bearer "),
            let owner = tokens.owner(of: String(field.dropFirst("Bearer ".count))),
            let account = state.withLock({ $0.accounts[owner.account] })
        else { throw EnablementRefusal(401, "The token is not good") }
        return (account, owner.clientID)
    }

    private func enable(
        _ skill: Skill, _ account: AmazonAccount, _ request: HTTPRequest
    ) async throws(EnablementRefusal) -> HTTPResponse {
        let (stage, redirectURI, code) = try Self.wish(in: request)
        guard skill.stages.contains(stage) else { throw EnablementRefusal(400, "Skill stage is not valid") }
        guard skill.redirectURLs.contains(redirectURI),
            let tokens = await redeem(code, redirectURI, skill)
        else { throw EnablementRefusal(400, "Invalid account linking credentials") }
        return answer(201, body(of: keep(skill, stage: stage, account, tokens)))
    }

    private static func wish(
        in request: HTTPRequest
    ) throws(EnablementRefusal) -> (stage: String, redirectURI: String, code: Secret) {
        let type = (request.fields["Content-Type"] ?? "").prefix { $0 != ";" }
        guard equalsIgnoringCase(String(type), "application/json") else {
            throw EnablementRefusal(400, "Content type is not application/json")
        }
        guard let object = (try? JSONValue(parsing: request.body))?.object,
            Set(object.names) == ["stage", "accountLinkRequest"], let stage = object["stage"]?.string,
            let link = object["accountLinkRequest"]?.object, Set(link.names) == ["redirectUri", "authCode", "type"],
            let redirectURI = link["redirectUri"]?.string, let code = link["authCode"]?.string,
            link["type"] == "AUTH_CODE"
        else { throw EnablementRefusal(400, "Request body is not valid") }
        return (stage, redirectURI, Secret(code))
    }

    private func body(of known: Enabled) -> JSONValue {
        [
            "skill": ["stage": .string(known.stage), "id": .string(known.skillID)],
            "user": ["id": .string(known.userID)], "accountLink": ["status": "LINKED"], "status": "ENABLED",
        ]
    }

    private func answer(_ refusal: EnablementRefusal) -> HTTPResponse {
        answer(refusal.status, ["message": .string(refusal.message)])
    }

    private func answer(_ status: Int, _ body: JSONValue) -> HTTPResponse {
        HTTPResponse(status: status, fields: ["Content-Type": "application/json"], body: body.encoded())
    }
}
