import Alexa
import Crypto
import FoundationEssentials
import HTTP
import JSON
import Simulator
import TestSupport
import Testing

/// The company's app and its user alice, at a service that runs beside a simulated Amazon.
struct LinkingStage: Sendable {
    let stage: Stage
    let service: RunningService
    /// Alice's token of the app.
    let token: String

    static let options: Stage.Options = {
        var options = Stage.Options()
        options.provider = .embedded
        options.apps = #"clients: ["app"]"#
        options.clients = #"{ id: "app", redirectURIs: ["com.example.app:/callback"], scopes: ["profile"] },"#
        return options
    }()

    /// An Amazon customer at home in a region.
    static func account(_ home: AlexaRegion, _ name: String = "carol") -> AmazonAccount {
        AmazonAccount(name: name, home: home)
    }

    /// What `body` does with a service that runs, and with customers of Amazon's.
    static func with(
        accounts: [AmazonAccount], options: Stage.Options = options, _ body: (LinkingStage) async throws -> Void
    ) async throws {
        _ = try await Stage.with(options) { stage in
            try await stage.run { service in
                stage.knowSkill(of: service, accounts: accounts)
                let token = try await stage.embeddedToken(of: service, client: "app")
                try await body(LinkingStage(stage: stage, service: service, token: token))
            }
        }
    }

    /// What the app gets.
    func call(
        _ method: String, _ target: String, _ body: JSONValue? = nil
    ) async throws -> (status: Int, json: JSONValue) {
        var fields: HTTPFields = ["Authorization": "Bearer " + token]
        if body != nil { fields["Content-Type"] = "application/json" }
        let answer = try await service.answer(
            to: RawClient.request(target, method: method, fields: fields, body: body?.encoded() ?? []))
        return (answer.status, (try? JSONValue(parsing: answer.body)) ?? .null)
    }

    /// The app's way: the addresses, the customer's answer in the Alexa app or at Login with Amazon, and what came back.
    func link(
        _ account: AmazonAccount, byAlexaApp: Bool = true, error: String? = nil
    ) async throws -> (status: Int, json: JSONValue) {
        let start = try await call("GET", "/alexaurl")
        let address = try #require(start.json[byAlexaApp ? "alexaAppUrl" : "lwaFallBackUrl"]?.string)
        let redirect = try stage.hosts.linking.consent(to: address, account: account, error: error)
        return try await call("POST", "/alexa/link", ["redirect": .string(redirect)])
    }

    /// What Alexa gets for a request of the skill by whoever enabled it, with the token that she got.
    func speech(for enabled: LinkingEndpoint.Enabled) async throws -> String? {
        let sample = try stage.body("custom/customer-number", token: enabled.accessToken.exposed)
        let text = String(decoding: try JSONValue(parsing: sample).encoded(), as: UTF8.self)
        let body = text.replacing(try Regex(#""userId":"[^"]*""#), with: "\"userId\":\"\(enabled.userID)\"")
        return try await service.answer(to: stage.signed(Array(body.utf8))).speech
    }

    /// Alexa tells the service of an event; the status of the answer.
    func tell(_ event: AlexaCaller.Event, of enabled: LinkingEndpoint.Enabled) async throws -> Int {
        try await AlexaCaller(
            signer: stage.signer, endpoint: "http://127.0.0.1:\(service.port)/alexa/custom", http: stage.http,
            clock: Stage.now
        ).tell(event, of: enabled)
    }

    /// Runs a command about links beside the service.
    func links(_ words: [String]) async throws -> ProgramRun.Outcome {
        try await ProgramRun.run(["links"] + words + ["--config", stage.configurationPath])
    }
}
