public import Crypto
public import HTTP
import JSON
public import Time

/// Alexa's skill enablement API, one address a region: enables the skill for a user and links the accounts.
///
/// Nothing is sent twice here, and no redirect is followed: whoever calls knows whether another region, token or time
/// would help. Each call may last until the caller's deadline, since Alexa redeems our code while one waits.
public struct SkillEnablement: Sendable {
    /// Where each region's API is reached, without the path.
    public static let usualAddresses: [AlexaRegion: String] = EventGateway.usualAddresses
    /// How much of an answer is read.
    static let answerLimitBytes = 64 * 1024

    private let http: any HTTPClient
    private let apiURLs: [AlexaRegion: String]

    /// The API at `apiURLs`; a region that is not among them has its usual address.
    public init(http: any HTTPClient, apiURLs: [AlexaRegion: String] = usualAddresses) {
        self.http = http
        self.apiURLs = apiURLs
    }

    /// Asks in which regions the user of a token may be, likeliest first.
    ///
    /// Hosts that are neither a region's usual one nor its configured one are left out, so that the token never goes
    /// there.
    ///
    /// - Parameters:
    ///   - token: Amazon's access token.
    ///   - deadline: when the answer must be there.
    /// - Returns: the regions; none where Alexa names none, and then each may be the user's.
    /// - Throws: why it is not known, so that each may be the user's;
    ///   ``SkillEnablementError/foreignHost`` where Alexa named other hosts only.
    public func regions(
        token: Secret, by deadline: Deadline
    ) async throws(SkillEnablementError) -> [AlexaRegion] {
        let response = try await send(.get, "/v1/alexaApiEndpoint", token, in: .northAmerica, by: deadline)
        try check(response)
        guard let root = (try? JSONDocument(parsing: response.body))?.root,
            let hosts = root.member("endpoints")?.elements
        else { throw .unexpectedAnswer(status: response.status) }
        var regions: [AlexaRegion] = []
        for host in hosts {
            guard let region = host.string.flatMap(region(ofHost:)), !regions.contains(region) else { continue }
            regions.append(region)
        }
        guard hosts.isEmpty || !regions.isEmpty else { throw .foreignHost }
        return regions
    }

    /// Enables the skill for the user of `token` and links the accounts; also where they are linked already.
    ///
    /// Alexa redeems `code` at our token endpoint before it answers.
    ///
    /// - Parameters:
    ///   - skillID: the skill's application id.
    ///   - stage: `development` or `live`.
    ///   - redirectURI: the redirect URI that `code` is bound to.
    ///   - code: the code that our authorization server made.
    ///   - token: Amazon's access token.
    ///   - region: whose API.
    ///   - deadline: when the answer must be there.
    /// - Returns: what Alexa says of it; all nil where it said no more than that it succeeded.
    /// - Throws: why it did not succeed, or may not have.
    public func enable(
        skillID: String, stage: String, redirectURI: String, code: ProviderCode, token: Secret, in region: AlexaRegion,
        by deadline: Deadline
    ) async throws(SkillEnablementError) -> Enablement {
        var body = JSONWriter()
        body.beginObject()
        body.key("stage")
        body.string(stage)
        body.key("accountLinkRequest")
        body.beginObject()
        body.key("redirectUri")
        body.string(redirectURI)
        body.key("authCode")
        body.string(code.secret.exposed)
        body.key("type")
        body.string("AUTH_CODE")
        body.endObject()
        body.endObject()
        let response = try await send(.post, path(skillID), token, body: body.bytes, in: region, by: deadline)
        try check(response)
        if response.body.isEmpty { return Enablement() }
        return try Enablement(response)
    }

    /// What Alexa says of the user's use of the skill; not linked where the skill is not enabled.
    ///
    /// - Parameters:
    ///   - skillID: the skill's application id.
    ///   - token: Amazon's access token.
    ///   - region: whose API.
    ///   - deadline: when the answer must be there.
    /// - Returns: what Alexa says.
    /// - Throws: why that is not known.
    public func status(
        skillID: String, token: Secret, in region: AlexaRegion, by deadline: Deadline
    ) async throws(SkillEnablementError) -> Enablement {
        let response = try await send(.get, path(skillID), token, in: region, by: deadline)
        if response.status == 404 { return Enablement(accountLink: .notLinked) }
        try check(response)
        return try Enablement(response)
    }

    /// Disables the skill for the user and unlinks the accounts; returns also where there was nothing to disable.
    ///
    /// - Parameters:
    ///   - skillID: the skill's application id.
    ///   - token: Amazon's access token.
    ///   - region: whose API.
    ///   - deadline: when the answer must be there.
    /// - Throws: why it is still enabled, or may be.
    public func disable(
        skillID: String, token: Secret, in region: AlexaRegion, by deadline: Deadline
    ) async throws(SkillEnablementError) {
        let response = try await send(.delete, path(skillID), token, in: region, by: deadline)
        if response.status == 404 { return }
        try check(response)
    }

    private func send(
        _ method: HTTPMethod, _ path: String, _ token: Secret, body: [UInt8]? = nil, in region: AlexaRegion,
        by deadline: Deadline
    ) async throws(SkillEnablementError) -> HTTPResponse {
        guard let address = address(of: region) else { throw .unreachable }
        var request = OutgoingRequest(
            method: method, url: address + path,
            fields: ["Authorization": "Bearer " + token.exposed, "Accept": "application/json"], body: body,
            answerLimitBytes: Self.answerLimitBytes)
        if body != nil { request.fields.append("Content-Type", "application/json") }
        do {
            return try await http.send(request, by: deadline)
        } catch {
            throw SkillEnablementError(error)
        }
    }

    /// The address of a region without a slash at its end.
    private func address(of region: AlexaRegion) -> String? {
        guard var address = apiURLs[region] ?? Self.usualAddresses[region] else { return nil }
        while address.hasSuffix("/") { address.removeLast() }
        return address
    }

    /// The region whose usual or configured host that is; nil for any other host.
    private func region(ofHost text: String) -> AlexaRegion? {
        let host = text.lowercased()
        let urls = AlexaRegion.allCases.map { region in
            (region, [Self.usualAddresses[region], apiURLs[region]].compactMap { $0?.lowercased() })
        }
        return urls.first { _, addresses in addresses.contains { authority(of: $0) == host } }?.0
    }
}

/// Host and port of an address.
private func authority(of address: String) -> String {
    let schemeless = address.split(separator: "://", maxSplits: 1).last ?? ""
    return String(schemeless.prefix { $0 != "/" && $0 != "?" })
}
