import Crypto
import HTTP
import JSON
import Simulator
import Time
import Transport

/// The app's way through account linking, at a service that runs beside the simulated Amazon.
struct DevLinking: Sendable {
    let world: DevWorld
    /// The user's access token of the app.
    let token: Secret

    private static let patience = Duration.seconds(30)

    /// The addresses of the Alexa app and of Login with Amazon.
    func start() async throws -> (alexaApp: String, login: String) {
        let answer = try await call(.get, "/alexaurl", nil)
        guard let app = answer.json["alexaAppUrl"]?.string, let login = answer.json["lwaFallBackUrl"]?.string else {
            throw Self.fault(answer)
        }
        return (app, login)
    }

    /// The customer agrees; the address that the app is opened with again.
    func consent(at address: String) throws -> String {
        guard let account = world.hosts.linking.accounts.first else {
            throw DevUser.Fault(message: "Amazon knows no customer")
        }
        do throws(LinkingRefusal) { return try world.hosts.linking.consent(to: address, account: account) } catch {
            throw DevUser.Fault(message: "Amazon refuses the address: \(error.rule)")
        }
    }

    /// What came back becomes a link, while Alexa redeems our code at the token endpoint.
    func finish(_ redirect: String) async throws -> (status: String, region: String) {
        let answer = try await call(.post, "/alexa/link", ["redirect": .string(redirect)])
        guard answer.status == 200, let status = answer.json["status"]?.string else { throw Self.fault(answer) }
        return (status, answer.json["region"]?.string ?? "-")
    }

    /// Whether the user is linked.
    func isLinked() async throws -> Bool { try await call(.get, "/alexa/link", nil).json["status"] == "LINKED" }

    private func call(
        _ method: HTTPMethod, _ target: String, _ body: JSONValue?
    ) async throws -> (status: Int, json: JSONValue) {
        var request = OutgoingRequest(method: method, url: world.address + target, body: body?.encoded())
        request.fields["Authorization"] = "Bearer " + token.exposed
        if body != nil { request.fields["Content-Type"] = "application/json" }
        let answer = try await world.http.send(request, by: .after(Self.patience, from: .now))
        return (answer.status, (try? JSONValue(parsing: answer.body)) ?? .null)
    }

    private static func fault(_ answer: (status: Int, json: JSONValue)) -> DevUser.Fault {
        DevUser.Fault(
            message: "status \(answer.status), \(answer.json["code"]?.string ?? "no code"), "
                + "trace \(answer.json["traceID"]?.string ?? "none")")
    }
}
