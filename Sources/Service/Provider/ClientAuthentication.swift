public import HTTP
public import OAuth
public import Telemetry

/// Lets back ends of the company through, by HTTP Basic or by a token of their own (`client_credentials`).
public struct ClientAuthentication: Sendable {
    /// Who calls, or the answer to somebody who may not.
    public enum Outcome: Sendable {
        /// That client.
        case client(ProviderClient)
        /// The answer.
        case refusal(HTTPResponse)
    }

    private let authenticator: ClientAuthenticator
    private let clients: ProviderClients
    private let bearer: BearerGuard?
    private let realm: String
    private let log: Log

    /// The authentication of `clients` by Basic alone; `realm` is our own name.
    public init(
        clients: [Configuration.Client], realm: String, now: @escaping @Sendable () -> ContinuousClock.Instant,
        log: Log
    ) {
        self.clients = ProviderClients(clients.map { ProviderClient($0) })
        authenticator = ClientAuthenticator(clients: self.clients, now: now)
        bearer = nil
        self.realm = realm
        self.log = log
    }

    /// The authentication of the clients of `server`, by Basic and by the tokens that `backEndValidator` judges.
    public init(server: AuthorizationServer, backEndValidator: TokenValidator, realm: String, log: Log) {
        clients = server.clients
        authenticator = server.authenticator
        bearer = BearerGuard(validator: backEndValidator, realm: realm, log: log)
        self.realm = realm
        self.log = log
    }

    /// Who sent the request, provided that the client has the role.
    public func outcome(for request: HTTPRequest, role: ProviderClient.Role) async -> Outcome {
        if let bearer, Self.hasBearer(request) { return await outcome(for: request, bearer, role: role) }
        do throws(ClientRefusal) {
            return admit(try authenticator.basicClient(of: request), role)
        } catch {
            return .refusal(answer(to: error))
        }
    }

    private func outcome(for request: HTTPRequest, _ bearer: BearerGuard, role: ProviderClient.Role) async -> Outcome {
        switch await bearer.outcome(for: request, scopes: []) {
        case .refusal(let answer): return .refusal(answer)
        case .principal(let principal):
            guard let client = principal.clientID.flatMap({ clients[$0] }) else {
                return .refusal(bearer.refusal(for: .wrongClient, scopes: []))
            }
            return admit(client, role)
        }
    }

    private static func hasBearer(_ request: HTTPRequest) -> Bool {
        request.fields.values("Authorization").contains { field in
            equalsIgnoringCase(String(field.prefix { $0 != " " }), "Bearer")
        }
    }

    private func admit(_ client: ProviderClient, _ role: ProviderClient.Role) -> Outcome {
        guard client.role == role else {
            return .refusal(problem(403, "client.role", "The client may not do this"))
        }
        return .client(client)
    }

    /// RFC 7617 §2.1 for the challenge; a client that is known but lacks the role gets none.
    private func answer(to refusal: ClientRefusal) -> HTTPResponse {
        var response: HTTPResponse
        switch refusal {
        case .missing: response = problem(401, "client.missing", "A client's id and secret are needed")
        case .scheme: response = problem(401, "client.scheme", "This address takes HTTP Basic")
        case .malformed(let reason): response = problem(401, "client.malformed", reason)
        case .twoMethods: response = problem(401, "client.twoMethods", "Two ways of proving oneself at once")
        case .wrong: response = problem(401, "client.wrongSecret", "Unknown client, or wrong secret")
        case .tooMany(let seconds):
            response = problem(429, "client.tooManyWrongSecrets", "Too many wrong secrets")
            response.fields["Retry-After"] = String(seconds)
        }
        if response.status == 401 {
            response.fields["WWW-Authenticate"] = "Basic realm=\"\(realm)\", charset=\"UTF-8\""
        }
        return response
    }

    private func problem(_ status: Int, _ code: String, _ detail: String) -> HTTPResponse {
        let traceID = TraceID.random()
        log.info("a back end is refused", .traceID(traceID), .rejection(code))
        return Problem(status: status, code: code, detail: detail, traceID: traceID).response
    }
}
