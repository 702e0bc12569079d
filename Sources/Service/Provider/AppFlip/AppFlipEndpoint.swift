import Crypto
import HTTP
import JSON
import OAuth
import Telemetry
import Time

/// `POST /app-flip/authorize`: the company's app, which one of Google's apps opened, learns what to open in turn.
///
/// Whatever the outcome, Google's app is to hear of it, since it alone can go on in the browser; so every answer is an
/// address to open, unless the address is none of Google's. Only the links of its apps (`/a/`) are taken: the addresses
/// of the browser flow (`/r/`) belong to `/oauth/authorize`, and an app that opened one would hand the code to a browser.
struct AppFlipEndpoint: Sendable {
    static let path = "/app-flip/authorize"
    static let timeLimit: Duration = .seconds(10)

    /// What is known of a token's user.
    enum Standing: Sendable {
        case good, disabled
        /// Nobody has that id any more, or the session was ended.
        case unknown
    }

    /// Google's client.
    let clientID: String
    let codes: AppFlipCodes
    /// The links of Google's apps.
    let redirectURIs: [String]
    /// Knows good tokens of disabled users too, who are told something else than strangers.
    let validator: TokenValidator
    /// The clients that are the company's apps.
    let apps: ClientRule
    let standing: @Sendable (Principal, Deadline) async throws(ProviderStoreError) -> Standing
    let jsonDepth: Int
    let log: Log

    var route: Route {
        Route(.post, Self.path, timeLimit: Self.timeLimit, mediaType: "application/json") { request, _ in
            await respond(to: request)
        }
    }

    private func respond(to request: HTTPRequest) async -> HTTPResponse {
        do throws(AppFlipCallFault) {
            let asked = try AppFlipCall(request.body, maximumDepth: jsonDepth)
            guard redirectURIs.contains(where: { isSame($0, asked.redirectURI) }) else { throw .redirectUnknown }
            let target = RedirectTarget(redirectURI: asked.redirectURI, state: asked.state)
            request.lateAnswer.response = Self.answer(target.failure(named: AppFlipRefusal.store.error))
            let user = try await user(of: request)
            return await answer(to: asked, user, target, by: request.deadline)
        } catch {
            return answer(to: error)
        }
    }

    /// Who uses the app.
    private typealias User = Result<Principal, TokenRejection>

    private func user(of request: HTTPRequest) async throws(AppFlipCallFault) -> User {
        do throws(TokenRejection) {
            switch BearerCredentials(of: request) {
            case .none: throw .missing
            case .malformed(let reason): throw .malformed(reason)
            case .token(let token):
                let principal = try await validator.principal(
                    for: token, clients: apps, scopes: [], by: request.deadline)
                return .success(principal)
            }
        } catch .wrongClient {
            throw .wrongClient
        } catch {
            return .failure(error)
        }
    }

    private func answer(
        to asked: AppFlipCall, _ user: User, _ target: RedirectTarget, by deadline: Deadline
    ) async -> HTTPResponse {
        do throws(AppFlipRefusal) {
            let scopes = try scopes(of: asked)
            let principal = try await principal(user, asked.decision, by: deadline)
            let code = try await codes.code(
                for: principal, scopes: scopes, redirectURI: target.redirectURI, log: log, by: deadline)
            log.info("a code was made for Google's app", .outcome("agree"))
            return Self.answer(target.success(code: code))
        } catch {
            log.info("Google's app gets no code", .outcome(error.error), .rejection(error.reasonCode))
            return Self.answer(target.failure(named: error.error, error.description))
        }
    }

    /// What the code is to be good for, once everything that Google's app sent is as it must be.
    private func scopes(of asked: AppFlipCall) throws(AppFlipRefusal) -> [String] {
        guard let asking = asked.clientID, isSame(asking, clientID) else { throw .clientUnknown }
        guard let state = asked.state, !state.isEmpty else { throw .parameter("state is missing") }
        guard state.count <= AuthorizationDecision.stateLimit else { throw .parameter("state is too long") }
        guard asked.decision != nil else { throw .parameter("decision is none of agree, deny, cancel") }
        // Some of Google's apps join scopes by `+`, which not every app of a company reads as a blank.
        let blanks = asked.scope.map { String($0.map { $0 == "+" ? " " : $0 }) }
        guard let scopes = codes.scopes(requested: asked.scope) ?? codes.scopes(requested: blanks) else {
            throw .scope
        }
        return scopes
    }

    /// The user who agreed.
    private func principal(
        _ user: User, _ decision: AppFlipCall.Decision?, by deadline: Deadline
    ) async throws(AppFlipRefusal) -> Principal {
        // Whoever leaves the screen need not be known.
        if decision == .cancel { throw .cancelled }
        let principal: Principal
        do throws(TokenRejection) { principal = try user.get() } catch { throw .session(error) }
        let standing: Standing
        do throws(ProviderStoreError) { standing = try await self.standing(principal, deadline) } catch {
            log.error("the user of an app cannot be read", .detail("\(error)"))
            throw .store
        }
        switch standing {
        case .good: break
        case .disabled: throw .userDisabled
        case .unknown: throw .session(.revoked)
        }
        if decision != .agree { throw .denied }
        return principal
    }

    /// The address is the answer: it holds the code, so nobody keeps it.
    private static func answer(_ address: String) -> HTTPResponse {
        HTTPResponse(json: ["openURL": .string(address)])
    }

    private func answer(to fault: AppFlipCallFault) -> HTTPResponse {
        if fault == .wrongClient {
            return BearerGuard(validator: validator, realm: "skillgate", log: log).refusal(
                for: .wrongClient, scopes: [])
        }
        let traceID = TraceID.random()
        log.info("nothing of Google's can be opened", .traceID(traceID), .rejection(fault.reasonCode))
        return Problem(status: 400, code: fault.reasonCode, detail: fault.detail, traceID: traceID).response
    }
}

/// Byte by byte, where texts are equal that only look so.
private func isSame(_ left: String, _ right: String) -> Bool { Array(left.utf8) == Array(right.utf8) }
