import Alexa
import Concurrency
import HTTP
import JSON
import OAuth
import Service
import Telemetry
import TestSupport
import Testing
import Time

/// What leaves where a step fails: an apology or a card, never a detail.
@Suite("Custom skills: failures") struct SkillFailureTests {
    static let me = "{requests:{I:{resources:{me:'/me'},say:{en:'{me.name}'}},LaunchRequest:{say:{en:'Hello.'}}}}"

    struct MarkerError: Error { let text = "marker-in-an-error" }

    static func isApology(_ answer: JSONValue) -> Bool {
        answer.speech?.hasPrefix("Sorry") == true && answer.cardType == nil && answer.endsSession == true
    }

    @Test(
        "a resource that cannot be had is apologized for, and never leads to linking",
        arguments: [
            .json("{}", status: 403), .json("{}", status: 404), .json("{}", status: 500), .json("{}", status: 302),
            .json("<html>", status: 200), .json("{}", status: 200, fields: ["Content-Type": "text/html"]),
            .json(#"{"error":"ENDPOINT_UNREACHABLE"}"#, status: 503),
        ] as [HTTPResponse])
    func resourceFailure(response: HTTPResponse) async throws {
        let harness = try SkillHarness(intents: Self.me, provider: .init(resource: { _, _ in response }))
        #expect(Self.isApology(try await harness.answer(intent: "I", token: harness.token())))
        #expect(harness.logText.contains("resource."))
    }

    @Test("a token that the resource server calls expired or invalid leads to linking")
    func resourceServerRefusesToken() async throws {
        for body in [
            #"{"error":"EXPIRED_AUTHORIZATION_CREDENTIAL"}"#, #"{"error":"INVALID_AUTHORIZATION_CREDENTIAL"}"#,
        ] {
            let harness = try SkillHarness(
                intents: Self.me, provider: .init(resource: { _, _ in .json(body, status: 403) }))
            #expect(try await harness.answer(intent: "I", token: harness.token()).cardType == "LinkAccount")
        }
    }

    @Test("a resource server that never answers has four seconds, and less where less is left")
    func resourceDeadline() async throws {
        let harness = try SkillHarness(
            intents: Self.me, provider: .init(resource: { _, _ throws(HTTPClientError) in throw .timedOut }))
        #expect(Self.isApology(try await harness.answer(intent: "I", token: harness.token())))
        #expect(harness.http.deadlines.last == harness.clock.deadline(in: .seconds(4)))
        let body = Array(SkillHarness.intent("I", token: try harness.token()).utf8)
        let request = try harness.signer.request(body, deadline: harness.clock.deadline(in: .seconds(2)))
        _ = await harness.endpoint.respond(to: request)
        #expect(harness.http.deadlines.last == harness.clock.deadline(in: .seconds(2)))
    }

    @Test(
        "while a silent resource server is waited for, the apology of the language is ready to leave",
        .timeLimit(.minutes(5)), arguments: [("en-US", "Sorry"), ("de-AT", "Das hat gerade"), ("ja-JP", "申し訳")])
    func lateAnswer(locale: String, words: String) async throws {
        let (stream, reached) = AsyncStream<Void>.makeStream()
        let harness = try SkillHarness(
            intents: Self.me,
            provider: .init(resource: { _, _ throws(HTTPClientError) in
                reached.yield()
                await untilCancelled()
                throw .cancelled
            }))
        let lateAnswer = LateAnswer()
        let body = Array(SkillHarness.intent("I", token: try harness.token(), locale: locale).utf8)
        let task = Task { try await harness.respond(body, lateAnswer: lateAnswer) }
        for await _ in stream { break }
        let late = lateAnswer.response
        #expect(late.status == 200)
        #expect(late.fields["Content-Type"] == "application/json;charset=UTF-8")
        let answer = try JSONValue(parsing: late.body)
        #expect(answer.speech?.hasPrefix(words) == true)
        #expect(answer.endsSession == true)
        // What the server does when the time is up.
        task.cancel()
        _ = try await task.value
        #expect(harness.logText.contains("resource.cancelled"))
    }

    @Test("before anything is known of a request, being late says nothing to Alexa")
    func lateBeforeVerification() async throws {
        let harness = try SkillHarness()
        let lateAnswer = LateAnswer()
        _ = try await harness.respond(Array("{}".utf8), lateAnswer: lateAnswer)
        #expect(lateAnswer.response.status == 503)
        let event = SkillHarness.envelope(#""type":"AlexaSkillEvent.SkillEnabled""#, session: nil)
        _ = try await harness.respond(Array(event.utf8), lateAnswer: lateAnswer)
        // Nor is an event acknowledged that may not have been taken.
        #expect(lateAnswer.response.status == 503)
        let player = SkillHarness.envelope(#""type":"AudioPlayer.PlaybackStarted""#, session: nil)
        _ = try await harness.respond(Array(player.utf8), lateAnswer: lateAnswer)
        #expect(try JSONValue(parsing: lateAnswer.response.body) == .emptyAnswer)
    }

    @Test("a route for Alexa answers within seven seconds")
    func timeLimit() async throws {
        let harness = try SkillHarness()
        let route = harness.endpoint.route
        #expect(route.timeLimit == .seconds(7))
        #expect(route.path == "/alexa/custom")
        #expect(route.method == .post)
        #expect(route.mediaType == "application/json")
    }

    @Test("whatever a handler throws, the user hears an apology and the log sees the type alone")
    func handlerThrows() async throws {
        let harness = try SkillHarness(handlers: ["I": ClosureHandler { _ in throw MarkerError() }])
        #expect(Self.isApology(try await harness.answer(intent: "I")))
        #expect(harness.logText.contains("skill.handlerFailed"))
        #expect(harness.logText.contains("MarkerError"))
        #expect(!harness.logText.contains("marker-in-an-error"))
    }

    @Test("a handler's resource failures are answered as the intents file's are")
    func handlerResourceFailure() async throws {
        let handler = ClosureHandler { call in
            _ = try await call.resource("/me")
            return .empty
        }
        let harness = try SkillHarness(
            handlers: ["I": handler], provider: .init(resource: { _, _ in .json("{}", status: 404) }))
        #expect(Self.isApology(try await harness.answer(intent: "I", token: harness.token())))
        #expect(try await harness.answer(intent: "I").cardType == "LinkAccount")
    }

    @Test("a handler gets request, principal, slots and resources")
    func handlerCall() async throws {
        let handler = ClosureHandler(account: .required) { call in
            let me = try await call.resource("/me").root.string("name") ?? "?"
            let words = [
                call.requestID, call.principal?.subject ?? "?", call.slot("city") ?? "?", call.locale ?? "?", me,
            ]
            return SkillResponse(outputSpeech: .plainText(words.joined(separator: " ")), shouldEndSession: true)
        }
        let harness = try SkillHarness(
            handlers: ["I": handler], provider: .init(resource: { _, _ in .json(#"{"name":"Ann"}"#) }))
        let answer = try await harness.answer(intent: "I", slots: [("city", "Ulm")], token: harness.token())
        #expect(answer.speech == "r1 u1 Ulm en-US Ann")
        #expect(try await harness.answer(intent: "I").cardType == "LinkAccount")
    }

    static let tooMuch: [(String, SkillResponse)] = [
        ("response.tooLong", SkillResponse(outputSpeech: .plainText(String(repeating: "a", count: 8001)))),
        ("response.tooLong", SkillResponse(card: .simple(title: nil, content: String(repeating: "a", count: 8001)))),
        (
            "response.tooLong",
            SkillResponse(sessionAttributes: ["a": .string(String(repeating: "a", count: 25_000))])
        ),
        ("response.notWrapped", SkillResponse(outputSpeech: OutputSpeech(.ssml("Hello")))),
        ("response.missing", SkillResponse(card: .askForPermissionsConsent([]))),
        ("response.missing", SkillResponse(directives: [.other(["kind": "x"])])),
        ("response.notPermitted", SkillResponse(canFulfillIntent: CanFulfillIntent(canFulfill: .yes))),
    ]

    @Test("an answer that breaks a rule of Alexa's does not leave", arguments: tooMuch)
    func violation(reason: String, response: SkillResponse) async throws {
        let harness = try SkillHarness(handlers: ["I": ClosureHandler { _ in response }])
        #expect(Self.isApology(try await harness.answer(intent: "I")))
        #expect(harness.logText.contains(reason))
        #expect(harness.metrics.counter(.invalidAnswers, reason).value == 1)
    }

    @Test("speech of eight thousand characters leaves, and so does an answer of the limit's size")
    func withinLimits() async throws {
        let handler = ClosureHandler { _ in
            SkillResponse(outputSpeech: .plainText(String(repeating: "a", count: 8000)))
        }
        let harness = try SkillHarness(handlers: ["I": handler])
        let response = try await harness.respond(Array(SkillHarness.intent("I").utf8))
        #expect(response.body.count > 8000)
        let exact = try SkillHarness(handlers: ["I": handler], responseLimitBytes: response.body.count)
        #expect(try await exact.respond(Array(SkillHarness.intent("I").utf8)).body == response.body)
        let small = try SkillHarness(handlers: ["I": handler], responseLimitBytes: response.body.count - 1)
        #expect(Self.isApology(try await small.answer(intent: "I")))
    }

    @Test(
        "a request that takes no speech gets none, whatever its handler says or throws",
        arguments: [
            "SessionEndedRequest", "AlexaSkillEvent.SkillEnabled", "System.ExceptionEncountered",
            "AudioPlayer.PlaybackStopped", "AudioPlayer.PlaybackStarted", "Messaging.MessageReceived", "Brand.New",
        ])
    func silentRequests(type: String) async throws {
        let speech = SkillResponse(outputSpeech: .plainText("Hello?"), card: .linkAccount, shouldEndSession: false)
        let handlers: [any SkillHandler] = [
            ClosureHandler { _ in speech }, ClosureHandler { _ in throw MarkerError() },
            ClosureHandler(account: .required) { _ in speech },
        ]
        for (index, handler) in handlers.enumerated() {
            let harness = try SkillHarness(handlers: [type: handler])
            let request = SkillHarness.envelope(#""type":"\#(type)""#, id: "e\(index)")
            let response = try await harness.respond(Array(request.utf8))
            if type == "AlexaSkillEvent.SkillEnabled", index == 1 {
                // Not acknowledged, so that it comes again.
                #expect(response.status == 503)
                #expect(response.body.isEmpty)
                continue
            }
            #expect(response.status == 200)
            #expect(response.fields["Content-Type"] == "application/json;charset=UTF-8")
            #expect(try JSONValue(parsing: response.body) == .emptyAnswer)
        }
    }

    @Test("a player's request may be answered by directives of its kind alone")
    func playerDirectives() async throws {
        let play = SkillDirective.audioPlayerPlay(
            AudioStream(url: "https://x.example/a.mp3", token: "t"), behavior: .replaceAll)
        let harness = try SkillHarness(handlers: [
            "AudioPlayer.PlaybackNearlyFinished": ClosureHandler { _ in SkillResponse(directives: [play]) }
        ])
        let answer = try await harness.answer(
            SkillHarness.envelope(#""type":"AudioPlayer.PlaybackNearlyFinished""#, session: nil))
        #expect(answer["response"]?["directives"]?.array?.count == 1)
    }

    @Test("a skill event reaches its handler once, however often it is delivered")
    func eventOnce() async throws {
        let count = Locked(0)
        let handler = ClosureHandler { _ in
            count.withLock { $0 += 1 }
            return .empty
        }
        let harness = try SkillHarness(handlers: ["AlexaSkillEvent.SkillPermissionChanged": handler])
        for id in ["e1", "e1", "e2", "e1", "e2"] {
            let event = SkillHarness.envelope(
                #""type":"AlexaSkillEvent.SkillPermissionChanged""#, session: nil, locale: nil, id: id)
            #expect(try await harness.answer(event) == .emptyAnswer)
        }
        #expect(count.withLock { $0 } == 2)
    }

    @Test("a skill event whose handler fails is not acknowledged, and reaches the handler again")
    func eventAgain() async throws {
        let count = Locked(0)
        let handler = ClosureHandler { _ in
            let calls = count.withLock { count in
                count += 1
                return count
            }
            if calls < 3 { throw MarkerError() }
            return .empty
        }
        let harness = try SkillHarness(handlers: ["AlexaSkillEvent.SkillEnabled": handler])
        let event = Array(SkillHarness.envelope(#""type":"AlexaSkillEvent.SkillEnabled""#, session: nil).utf8)
        for status in [503, 503, 200, 200] {
            let response = try await harness.respond(event)
            #expect(response.status == status)
            #expect(response.body.isEmpty == (status == 503))
        }
        #expect(count.withLock { $0 } == 3)
    }

    @Test("each request is one line of the log, with its outcome")
    func oneLine() async throws {
        let harness = try SkillHarness(intents: Self.me)
        _ = try await harness.answer(SkillHarness.envelope(#""type":"LaunchRequest""#, id: "first"))
        _ = try await harness.answer(SkillHarness.intent("I", id: "second"))
        let lines = harness.logText.split(separator: "\n")
        #expect(lines.filter { $0.contains("first") }.count == 1)
        #expect(lines.filter { $0.contains("second") && $0.contains("token.missing") }.count == 1)
    }
}
