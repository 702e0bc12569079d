import Alexa
import Concurrency
import Crypto
import FoundationEssentials
import HTTP
import JSON
import OAuth
import Service
import Simulator
import Storage
import Telemetry
import TestSupport
import Testing
import Time

/// The whole service as `serve` builds it, from the development configuration and without a socket.
@Suite("Service") struct ServiceTests {
    static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// The development configuration; what it names outside the repository is given here.
    static func configuration(_ change: (inout Configuration) -> Void = { _ in }) throws -> Configuration {
        let folder = package + "/config"
        let bytes = try #require(FileManager.default.contents(atPath: folder + "/development.json5"))
        let source = ConfigurationSource(bytes: Array(bytes), folder: folder, environment: { _ in nil }) { path in
            if path.contains(".skillgate/") {
                return Array((Base64.encode([UInt8](repeating: 7, count: 32)) + "\n").utf8)
            }
            return FileManager.default.contents(atPath: path).map { Array($0) }
        }
        var configuration = try Configuration(source)
        change(&configuration)
        return configuration
    }

    struct Running: Sendable {
        let service: MadeService
        let configuration: Configuration
        let clock: ManualClock
        let signer: TestSigner
        let lines: LogLines
        let log: Log
        let store: MemoryStore
        /// What the service asked of the rest of the world.
        let http: RecordingHTTPClient

        func respond(_ body: [UInt8]) async throws -> HTTPResponse {
            await service.router.respond(to: try signer.request(body, deadline: clock.deadline()))
        }

        func get(_ target: String, peer: String = "127.0.0.1") async -> HTTPResponse {
            await service.router.respond(
                to: HTTPRequest(method: .get, target: target, peerAddress: peer, deadline: clock.deadline()))
        }

        /// A token of user alice in the given state.
        func token(_ state: TokenState) throws -> Secret {
            let provider = try #require(service.provider)
            let grantID = SecureRandom.token(bytes: 16)
            let claims = AccessTokenMinter.Claims(
                subject: "u1001", clientID: state == .foreign ? "app" : "alexa", scopes: ["profile", "devices"],
                grantID: grantID)
            if state == .revoked {
                provider.revokedGrants.revoke(grantID, until: clock.now.adding(seconds: 7200), now: clock.now)
            }
            return try provider.accessToken(claims, lifetimeSeconds: state == .expired ? -120 : 3600)
        }

        func placeholders() -> Placeholders {
            Placeholders(
                skillID: configuration.skills[0].id,
                token: { state throws(SampleError) in
                    do { return try token(state) } catch { throw SampleError(message: "\(error)") }
                }, grantCode: { "a-code" })
        }
    }

    /// The service; the world beyond the host of certificates answers by `world`, and is not there without one.
    static func start(
        _ change: (inout Configuration) -> Void = { _ in }, world: RecordingHTTPClient.Answer? = nil
    ) async throws -> Running {
        let clock = ManualClock()
        let authority = try TestAuthority()
        let signer = try authority.signer()
        let lines = LogLines()
        let log = Log(level: .debug, format: .json, clock: clock.wall, sink: lines)
        let http = RecordingHTTPClient { request, deadline throws(HTTPClientError) in
            if request.url == TestSigner.usualURL { return HTTPResponse(status: 200, body: signer.pem) }
            guard let world else { throw .unreachable("nothing else is there") }
            return try await world(request, deadline)
        }
        let store = MemoryStore(clock: clock.wall)
        let configuration = try configuration(change)
        let parts = ServiceParts(
            store: store, http: http, clock: clock.wall, monotonic: clock.monotonic, log: log,
            metrics: Metrics(), trustAnchors: try authority.anchors)
        return Running(
            service: try await makeService(configuration, parts), configuration: configuration, clock: clock,
            signer: signer, lines: lines, log: log, store: store, http: http)
    }

    @Test("every sample gets the answer that stands beside it", arguments: ["custom", "skill-events"])
    func samples(folder: String) async throws {
        let running = try await Self.start()
        let samples = try Sample.load(paths: [Self.package + "/samples/" + folder])
        #expect(samples.count >= (folder == "custom" ? 40 : 9))
        for sample in samples {
            let body = try running.placeholders().body(of: sample, now: running.clock.now)
            let response = try await running.respond(body)
            #expect(response.status == 200, "\(sample.name)")
            let expected = try #require(sample.expected, "\(sample.name) has no expected answer")
            let differences = ExpectedAnswer(expected).differences(from: try JSONValue(parsing: response.body))
            #expect(differences.isEmpty, "\(sample.name): \(differences)")
        }
    }

    @Test("there is a sample of every request type that has one meaning")
    func sampledTypes() async throws {
        let samples = try Sample.load(paths: ["custom", "skill-events"].map { Self.package + "/samples/" + $0 })
        let types = Set(
            try samples.map { try JSONValue(parsing: Array($0.template.utf8))["request"]?["type"]?.string ?? "" })
        let expected = [
            "LaunchRequest", "IntentRequest", "CanFulfillIntentRequest", "SessionEndedRequest",
            "SessionResumedRequest", "Connections.Response", "Connections.Request", "Alexa.Authorization.Grant",
            "Messaging.MessageReceived", "System.ExceptionEncountered", "Display.ElementSelected",
            "Alexa.Presentation.APL.UserEvent", "GameEngine.InputHandlerEvent", "Dialog.API.Invoked",
            "Dialog.InputRequest", "Alexa.DataStore.Error", "Alexa.Advertisement.AdCompleted",
        ]
        #expect(types.isSuperset(of: expected))
        let families: [(String, Int)] = [
            ("AlexaSkillEvent.", 7), ("AudioPlayer.", 5), ("PlaybackController.", 4), ("AlexaHouseholdListEvent.", 6),
            ("Reminders.", 5),
        ]
        for (family, count) in families { #expect(types.count { $0.hasPrefix(family) } >= count, "\(family)") }
    }

    @Test("the embedded provider is asked for the user's own resources, and another user gets their own")
    func ownResources() async throws {
        let running = try await Self.start()
        let provider = try #require(running.service.provider)
        for (subject, name) in [("u1001", "Alice Archer"), ("u1002", "Bob Bäcker")] {
            let token = try provider.accessToken(
                .init(subject: subject, clientID: "alexa", scopes: ["profile"]), lifetimeSeconds: 600)
            let body = SkillHarness.intent("WhoAmIIntent", token: token.exposed)
                .replacing(SkillHarness.skillID, with: running.configuration.skills[0].id)
            let answer = try JSONValue(parsing: try await running.respond(Array(body.utf8)).body)
            #expect(answer.speech?.contains(name) == true)
        }
    }

    @Test(
        "what is no signed request of a skill's is refused, and says nothing",
        arguments: ["unsigned", "other body", "another skill", "not JSON"])
    func refused(fault: String) async throws {
        let running = try await Self.start()
        let body = SkillHarness.envelope(#""type":"LaunchRequest""#)
            .replacing(
                SkillHarness.skillID,
                with: fault == "another skill" ? "amzn1.ask.skill.X" : running.configuration.skills[0].id)
        var request = try running.signer.request(
            fault == "not JSON" ? Array("{".utf8) : Array(body.utf8), deadline: running.clock.deadline())
        if fault == "unsigned" { request.fields["Signature-256"] = nil }
        if fault == "other body" { request.body.append(UInt8(ascii: " ")) }
        let response = await running.service.router.respond(to: request)
        #expect(response.status == 400)
        #expect(response.body.isEmpty)
    }

    @Test("the routes refuse what they do not take: method, media type, path")
    func routes() async throws {
        let running = try await Self.start()
        let wrongMethod = await running.get("/alexa/custom")
        #expect(wrongMethod.status == 405)
        #expect(wrongMethod.fields["Allow"] == "POST")
        var request = try running.signer.request(Array("{}".utf8), deadline: running.clock.deadline())
        request.fields["Content-Type"] = "text/plain"
        #expect(await running.service.router.respond(to: request).status == 415)
        #expect(await running.get("/nothing/here").status == 404)
        #expect(await running.get("/healthz").status == 200)
        #expect(await running.get("/readyz").status == 200)
        #expect(await running.get("/oauth/jwks.json").status == 200)
        #expect(await running.get("/metrics", peer: "203.0.113.9").status == 404)
        #expect(running.service.operations == nil)
        #expect(running.service.router.timeLimit(for: .post, target: "/alexa/custom") == .seconds(7))
    }

    @Test("every problem names the trace by which its log line is found")
    func traceIDs() async throws {
        let running = try await Self.start()
        let post = HTTPRequest(
            method: .post, target: "/alexa/smart-home", fields: ["Content-Type": "application/json"],
            deadline: running.clock.deadline())
        let problems = [
            (await running.get("/nothing/here"), 404), (await running.get("/alexa/custom"), 405),
            (await running.get("/metrics", peer: "203.0.113.9"), 404), (await running.get("/v1/me"), 401),
            (await running.get("/v1/me?access_token=a"), 400), (await running.service.router.respond(to: post), 401),
        ]
        running.log.flush()
        for (problem, status) in problems {
            #expect(problem.status == status)
            let id = try #require(try JSONValue(parsing: problem.body)["traceID"]?.string)
            #expect(running.lines.lines.filter { $0.contains(id) }.count == 1)
        }
    }

    @Test("the operator's addresses move to their own listener where there is one")
    func operationsApart() async throws {
        let running = try await Self.start { $0.listen.operations = .init(host: "127.0.0.1", port: 9090) }
        let operations = try #require(running.service.operations)
        let request = HTTPRequest(
            method: .get, target: "/metrics", peerAddress: "127.0.0.1", deadline: running.clock.deadline())
        #expect(await operations.respond(to: request).status == 200)
        #expect(await running.get("/metrics").status == 404)
        #expect(await running.get("/healthz").status == 404)
    }

    @Test("smart-home directives are taken with the forwarder's proof alone")
    func smartHome() async throws {
        let running = try await Self.start()
        let request = HTTPRequest(
            method: .post, target: "/alexa/smart-home", fields: ["Content-Type": "application/json"],
            body: Array("{}".utf8), deadline: running.clock.deadline())
        #expect(await running.service.router.respond(to: request).status == 401)
    }

    @Test("bodies are nested and directives answered as far as the limits of the configuration allow")
    func limits() async throws {
        for (depth, bytes) in [(64, 5_000_000), (16, 100)] {
            let running = try await Self.start {
                $0.limits.jsonDepth = depth
                $0.limits.smartHomeResponseBytes = bytes
            }
            let nested = String(repeating: "[", count: 18) + String(repeating: "]", count: 18)
            let body = SkillHarness.envelope(#""type":"LaunchRequest""#, context: #","Other":"# + nested)
                .replacing(SkillHarness.skillID, with: running.configuration.skills[0].id)
            #expect(try await running.respond(Array(body.utf8)).status == (depth == 64 ? 200 : 400))
            let secret = try #require(running.configuration.forwarder.secret)
            func directive(_ text: String) async -> HTTPResponse {
                let body = Array(text.utf8)
                let proof = ForwarderVerifier.headerValue(
                    secret: secret, at: running.clock.now, target: "/alexa/smart-home", body: body)
                return await running.service.router.respond(
                    to: HTTPRequest(
                        method: .post, target: "/alexa/smart-home",
                        fields: ["Content-Type": "application/json", ForwarderVerifier.headerName: proof],
                        body: body, deadline: running.clock.deadline()))
            }
            let deep = await directive(#"{"directive":{},"other":"# + nested + "}")
            #expect(deep.status == (depth == 64 ? 200 : 400))
            let discover = SmartHomeHarness.discover(token: try running.token(.linked).exposed)
            let answer = try JSONValue(parsing: await directive(discover).body)
            #expect(answer.errorType == (bytes == 100 ? "INTERNAL_ERROR" : nil))
            #expect(answer.errorMessage == (bytes == 100 ? "response.tooLong" : nil))
        }
    }

    @Test("without a users file the users of the store are there, and nobody else")
    func noUsersFile() async throws {
        let running = try await Self.start { configuration in
            guard case .embedded(var embedded) = configuration.provider.kind else { return }
            embedded.users = nil
            configuration.provider.kind = .embedded(embedded)
        }
        _ = try await running.store.add(UserDirectoryTests.stored("s3", "cleo"), by: running.clock.deadline())
        for (username, isRight) in [("cleo", true), ("Cleo", false), ("alice", false), ("nobody", false)] {
            let browser = Browser(running)
            let sent = await browser.signIn(await browser.get(Browser.request()), username, "pleaseletmein")
            #expect(sent.status == (isRight ? 303 : 400), "\(username)")
            #expect(await browser.get(Browser.request()).isConsent == isRight)
        }
    }

    @Test("OPS-4: refusals for the timestamp are measured with their sign, and raise an alarm to check the clock")
    func clockDrift() async throws {
        let running = try await Self.start()
        running.clock.set(running.clock.now.adding(seconds: -160))
        let body = SkillHarness.envelope(#""type":"LaunchRequest""#)
            .replacing(SkillHarness.skillID, with: running.configuration.skills[0].id)
        for _ in 0..<50 { #expect(try await running.respond(Array(body.utf8)).status == 400) }
        #expect(running.service.clockDrift.medianSeconds == 160)
        running.log.flush()
        #expect(running.lines.lines.filter { $0.contains("check the clock") }.count == 1)
        let health = try JSONValue(parsing: await running.get("/healthz").body)
        #expect(health["clockDifferenceMedianSeconds"] == 160)
    }
}
