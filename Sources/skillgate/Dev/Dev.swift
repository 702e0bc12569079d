import Crypto
import Glibc
import HTTP
import JSON
import OAuth
import Service
import Simulator
import Time
import Transport

/// `skillgate dev`: the whole of account linking on one machine, without an account of Amazon's or Google's.
enum DevCommand: Command {
    static let name = "dev"
    static let summary = "runs everything on this machine, links a demo user and answers the samples"
    static let explanation = """
        Starts the service with the demo users, the demo home and the demo skill of config/development.json5, and plays
        Amazon beside it: Login with Amazon, the Alexa app's consent, the regional APIs and the host of certificates, over
        TLS under their real names, on loopback alone. Signs alice in, links her account by the app's way, and sends
        every sample as Alexa sends it; prints what it did, the time of each step, and the addresses to open in a
        browser. Then it goes on serving until Ctrl-C. Everything lies in a temporary folder, which is removed at the end.
        """
    static let options: [CommandOption] = [
        CommandOption("--port", value: "N", "the service listens there; 8080 by default, 0 takes a free port"),
        CommandOption("--once", "ends after the samples: with 0 if all went well, else with 1"),
    ]
    static let example = "skillgate dev --port 8080"

    private static let standardPort = 8080

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        let port = try arguments.integer("--port", in: 0...65_535) ?? standardPort
        let signals = Signals([SIGTERM, SIGINT])
        let table = DevTable()
        let world: DevWorld
        do { world = try await DevWorld.start(port: port) } catch {
            Output.error("skillgate dev: \(message(error))")
            if "\(error)".contains("cannot be listened on") { Output.error("  --port 0 takes a free port") }
            return 1
        }
        Output.line("listening on \(world.address)")
        table.head()
        table.row("the service and a simulated Amazon start", "ready")
        let isLinked = await link(world, table)
        let isAnswered = await replay(world, table)
        table.end()
        if arguments.has("--once") {
            await world.stop()
            return isLinked && isAnswered ? 0 : 1
        }
        await relink(world)
        await inspect(world)
        show(addressesOf: world)
        for await _ in signals.stream { break }
        for ending in [SIGTERM, SIGINT] { signal(ending, SIG_DFL) }
        await world.stop()
        return 0
    }

    // MARK: - What it does

    private static func user(_ world: DevWorld) throws -> DevUser {
        guard let id = world.configuration.apps.clients?.sorted().first,
            let client = world.configuration.provider.client(id)
        else { throw DevUser.Fault(message: "apps.clients names no client of the provider") }
        guard case .password(let password) = world.user.credential else {
            throw DevUser.Fault(message: "\(world.user.username) has no plain password in the users file")
        }
        return DevUser(
            address: world.address, client: client, username: world.user.username, password: password,
            http: world.http)
    }

    /// Links the user by the real flow, a row a step; false where one failed.
    private static func link(_ world: DevWorld, _ table: DevTable) async -> Bool {
        let name = world.user.username
        do {
            // The target makes Amazon know the skill.
            let target = try await world.target()
            let token = try await table.step("\(name) signs in at our page; the app redeems its code") {
                ("access token", try await user(world).token())
            }
            let linking = DevLinking(world: world, token: token)
            let addresses = try await table.step("the app asks for the addresses (GET /alexaurl)") {
                ("Alexa app, Login with Amazon", try await linking.start())
            }
            let redirect = try await table.step("\(name) agrees in the Alexa app") {
                ("back with Amazon's code", try linking.consent(at: addresses.alexaApp))
            }
            _ = try await table.step("the app hands it on (POST /alexa/link)") {
                let link = try await linking.finish(redirect)
                return ("\(link.status) in \(link.region)", link)
            }
            try await table.step("Alexa asks for \(name) with the token that she redeemed") {
                let said = try await speech(world, target)
                return ("“\(said)”", ())
            }
            table.firstAnswer()
            try await table.step("Alexa tells of it (SkillEnabled, SkillAccountLinked)") {
                ("taken", try await tell([.enabled, .accountLinked], world))
            }
            try await table.step("Alexa refreshes her token") {
                guard let enabled = world.hosts.linking.enabled.first,
                    await world.hosts.linking.refresh(enabled) != nil
                else { throw DevUser.Fault(message: "the token endpoint gives no tokens") }
                return ("another access token", ())
            }
            try await table.step("Google's app flips to the app, which agrees; Google redeems the code") {
                ("Google has tokens", try await flip(world, token))
            }
            return true
        } catch { return false }
    }

    /// What the skill says to a request with Alexa's own token.
    private static func speech(_ world: DevWorld, _ target: ReplayTarget) async throws -> String {
        guard let enabled = world.hosts.linking.enabled.first else {
            throw DevUser.Fault(message: "Alexa has not enabled the skill")
        }
        let path = world.samples + "/custom/customer-number.json"
        guard let sample = try Sample.load(paths: [path]).first else { throw DevUser.Fault(message: path) }
        let placeholders = Placeholders(
            skillID: enabled.skillID, token: { _ throws(SampleError) in enabled.accessToken }, grantCode: { "" })
        let body = try placeholders.body(of: sample, now: target.clock())
        var fields = try AlexaSigner(world.hosts.authority).headers(for: body)
        fields["Content-Type"] = "application/json"
        let request = OutgoingRequest(method: .post, url: world.address + "/alexa/custom", fields: fields, body: body)
        let answer = try await world.http.send(request, by: .after(.seconds(10), from: .now))
        let speech = (try? JSONValue(parsing: answer.body))?["response"]?["outputSpeech"]
        guard answer.status == 200, let text = speech?["text"]?.string ?? speech?["ssml"]?.string else {
            throw DevUser.Fault(message: "status \(answer.status)")
        }
        return text
    }

    /// Alexa's events about the link, in that order.
    private static func tell(_ events: [AlexaCaller.Event], _ world: DevWorld) async throws {
        guard let enabled = world.hosts.linking.enabled.first else {
            throw DevUser.Fault(message: "Alexa has not enabled the skill")
        }
        for event in events {
            let status = try await world.alexa.tell(event, of: enabled)
            guard status == 200 else { throw DevUser.Fault(message: "\(event.rawValue): status \(status)") }
        }
    }

    /// App Flip: the app asks the service what to open, and Google redeems the code that stands there.
    private static func flip(_ world: DevWorld, _ token: Secret) async throws {
        guard let (google, scopes) = world.google else {
            throw DevUser.Fault(message: "the configuration has no Google")
        }
        let asked = google.request(scope: scopes.joined(separator: " "))
        let body: JSONValue = [
            "clientID": .string(asked.clientID), "redirectURI": .string(asked.redirectURI),
            "state": .string(asked.state), "scope": .string(asked.scope), "decision": "agree",
        ]
        var request = OutgoingRequest(method: .post, url: world.address + "/app-flip/authorize", body: body.encoded())
        request.fields["Authorization"] = "Bearer " + token.exposed
        request.fields["Content-Type"] = "application/json"
        let answer = try await world.http.send(request, by: .after(.seconds(10), from: .now))
        guard let url = (try? JSONValue(parsing: answer.body))?["openURL"]?.string else {
            throw DevUser.Fault(message: "there is nothing to open: status \(answer.status)")
        }
        _ = try await google.redeem(google.code(in: url, for: asked), for: asked)
    }

    /// Sends every sample; false where one was not answered as expected.
    private static func replay(_ world: DevWorld, _ table: DevTable) async -> Bool {
        do {
            let samples = try Sample.load(paths: [world.samples])
            let run = ReplayRun(samples: samples, target: try await world.target())
            let outcomes = await run.outcomes(concurrency: 1) { _, _ in }
            for outcome in outcomes { table.row(outcome, below: world.samples) }
            return outcomes.allSatisfy(\.isExpected) && !outcomes.isEmpty
        } catch {
            table.row("the samples", "failed: \(message(error))", isGood: false)
            return false
        }
    }

    /// The samples link and unlink too; who tries the pages afterwards is to find a link.
    private static func relink(_ world: DevWorld) async {
        do {
            let linking = DevLinking(world: world, token: try await user(world).token())
            guard try await !linking.isLinked() else { return }
            _ = try await linking.finish(linking.consent(at: linking.start().login))
        } catch { Output.error("\(world.user.username) is not linked now: \(message(error))") }
    }

    /// Lets the inspector send requests again: signed anew, with whatever stands in the place of placeholders now.
    private static func inspect(_ world: DevWorld) async {
        guard let target = try? await world.target() else { return }
        world.inspector.sends { body in
            do {
                let sample = try Sample(
                    name: "the request", template: String(decoding: body.encoded(), as: UTF8.self), expected: nil)
                guard sample.kind != .steps, let step = sample.steps.first else { return "This is not sent by Alexa" }
                let filled = try target.placeholders(.linked, sample.kind).body(of: sample, now: target.clock())
                let request = try target.request(step, target: step.target, headers: step.headers, body: filled)
                _ = try await target.send(request)
                return ""
            } catch { return message(error) }
        }
    }

    private static func show(addressesOf world: DevWorld) {
        let configuration = world.configuration
        var lines = [
            ("what came in", world.address + "/_inspect"), ("link in a browser", world.address + "/link"),
            ("my links", world.address + "/account/links"),
            ("Alexa's app, Google's", world.showAssistants() + " (links that begin and end there)"),
            ("the routes", world.address + "/openapi.json"), ("health", world.address + "/healthz"),
            ("the service's log", world.logPath),
        ]
        if configuration.provider.clients.contains(where: { $0.role == .operator }) {
            lines.append(("failed attempts", world.address + "/admin/links (client operator)"))
        }
        lines.append(("Amazon's pages", world.consent.loginURL + " (the service leads there)"))
        Output.line("\nOpen in a browser, as alice (alice-password) or bob (bob-password):")
        for (name, address) in lines { Output.line("  " + DevTable.padded(name, 22) + address) }
        Output.line("\nCtrl-C ends it; nothing is kept.")
    }

    /// An error in words.
    static func message(_ error: any Error) -> String {
        switch error {
        case let fault as DevUser.Fault: fault.message
        case let fault as ProgramFault: fault.message
        case let error as AuthorityError: error.message
        case let refusal as LinkingRefusal: refusal.rule
        case let error as SampleError: error.message
        case let error as HTTPClientError: ReplayTarget.text(of: error)
        default: "\(error)"
        }
    }
}
