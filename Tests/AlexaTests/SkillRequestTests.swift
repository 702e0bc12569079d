import Alexa
import Crypto
import JSON
import TestSupport
import Testing
import Time

@Suite("Requests by type") struct SkillRequestTests {
    private func request(_ type: String, _ more: String) throws -> SkillRequest {
        try decoded(envelope(type: type, more: "," + more)).request
    }

    @Test("An intent carries its dialogue and its confirmation")
    func intent() throws {
        let more = #""dialogState":"IN_PROGRESS","intent":{"name":"I","confirmationStatus":"DENIED","slots":{}}"#
        guard case .intent(let intent) = try request("IntentRequest", more),
            case .canFulfillIntent(let question) = try request("CanFulfillIntentRequest", more)
        else {
            Issue.record("not intents")
            return
        }
        #expect(intent.dialogState == .inProgress)
        #expect(intent.intent.confirmationStatus == .denied)
        #expect(question.intent.name == "I")
    }

    @Test("A resumed session tells how the task ended")
    func sessionResumed() throws {
        let more = #"""
            "cause":{"type":"ConnectionCompleted","token":"t","status":{"code":"200","message":"ok"},"result":{"a":1}}
            """#
        guard case .sessionResumed(let resumed) = try request("SessionResumedRequest", more) else {
            Issue.record("not resumed")
            return
        }
        #expect(resumed.causeType == "ConnectionCompleted")
        #expect(resumed.token == "t")
        #expect(resumed.status?.code == "200")
        #expect(resumed.status?.message == "ok")
        #expect(resumed.result?.value == ["a": 1])
    }

    @Test("Connections carry name, status, payload and token")
    func connections() throws {
        let more = #""name":"Buy","status":{"code":404,"message":"no"},"payload":{"p":1},"token":"t""#
        guard case .connectionsResponse(let response) = try request("Connections.Response", more),
            case .connectionsRequest(let asked) = try request("Connections.Request", more)
        else {
            Issue.record("not connections")
            return
        }
        #expect(response.name == "Buy")
        #expect(response.status?.code == "404")
        #expect(response.payload?.value == ["p": 1])
        #expect(response.token == "t")
        #expect(asked.name == "Buy")
        #expect(asked.payload?.value == ["p": 1])
    }

    @Test("Skill events carry their times and bodies")
    func skillEvents() throws {
        let times = #""eventCreationTime":"2025-01-15T09:00:00Z","eventPublishingTime":"2025-01-15T09:00:01Z""#
        for kind in SkillEvent.Kind.allCases {
            let more =
                times + #"""
                    ,"body":{"accessToken":"T","acceptedPermissions":[{"scope":"a"},{"scope":"b"},7],
                    "acceptedPersonPermissions":[{"scope":"p"}],"subscriptions":[{"eventName":"e","topicId":"t"}]}
                    """#
            guard case .skillEvent(let event) = try request("AlexaSkillEvent." + kind.rawValue, more) else {
                Issue.record("\(kind) is no skill event")
                continue
            }
            #expect(event.kind == kind)
            #expect(event.createdAt == ManualClock.start.adding(seconds: -3600))
            #expect(event.publishedAt == ManualClock.start.adding(seconds: -3599))
            #expect(event.accessToken == Secret("T"))
            #expect(event.acceptedScopes == ["a", "b"])
            #expect(event.acceptedPersonScopes == ["p"])
            #expect(event.subscriptions == (kind == .notificationSubscriptionChanged ? ["t"] : ["e"]))
        }
        for body in ["", #","body":{}"#, #","body":null"#] {
            guard
                case .skillEvent(let event) = try request("AlexaSkillEvent.SkillPermissionChanged", times + body)
            else {
                Issue.record("no skill event")
                continue
            }
            #expect(event.acceptedScopes.isEmpty)
            #expect(event.accessToken == nil)
        }
    }

    @Test("Playback, buttons, lists and reminders are told apart")
    func families() throws {
        for kind in AudioPlayerRequest.Kind.allCases {
            let more = #""token":"t","error":{"type":"E"},"currentPlaybackState":{"token":"c"}"#
            guard case .audioPlayer(let request) = try request("AudioPlayer." + kind.rawValue, more) else {
                Issue.record("\(kind) is no playback")
                continue
            }
            #expect(request.kind == kind)
            #expect(request.error?.type == "E")
            #expect(request.currentPlaybackState?.string("token") == "c")
        }
        for command in PlaybackControllerRequest.Command.allCases {
            guard
                case .playbackController(let request) = try request(
                    "PlaybackController." + command.rawValue, #""x":1"#)
            else {
                Issue.record("\(command) is no button")
                continue
            }
            #expect(request.command == command)
        }
        for (type, family, name) in [
            ("AlexaHouseholdListEvent.ItemsCreated", ResourceEvent.Family.householdList, "ItemsCreated"),
            ("Reminders.ReminderStarted", .reminder, "ReminderStarted"),
        ] {
            let more = #""body":{"listId":"l"},"eventCreationTime":"2025-01-15T10:00:00Z""#
            guard case .resourceEvent(let event) = try request(type, more) else {
                Issue.record("\(type) is no resource event")
                continue
            }
            #expect(event.family == family)
            #expect(event.name == name)
            #expect(event.body?.string("listId") == "l")
            #expect(event.createdAt == ManualClock.start)
            #expect(event.publishedAt == nil)
        }
    }

    @Test("Grants, messages, exceptions and touches carry their fields")
    func others() throws {
        guard
            case .authorizationGrant(let grant) = try request(
                "Alexa.Authorization.Grant", #""body":{"grant":{"type":"OAuth2.AuthorizationCode","code":"c"}}"#),
            case .messageReceived(let message) = try request("Messaging.MessageReceived", #""message":{"m":1}"#),
            case .exceptionEncountered(let exception) = try request(
                "System.ExceptionEncountered", #""error":{"type":"T","message":"m"},"cause":{"requestId":"r0"}"#),
            case .userEvent(let event) = try request(
                "Alexa.Presentation.APL.UserEvent", #""token":"t","arguments":["a",1],"source":{"id":"s"}"#)
        else {
            Issue.record("one of them is something else")
            return
        }
        #expect(grant.type == "OAuth2.AuthorizationCode")
        #expect(grant.code == Secret("c"))
        #expect(message.message?.value == ["m": 1])
        #expect(exception.error?.message == "m")
        #expect(exception.causeRequestID == "r0")
        #expect(event.arguments.map(\.value) == ["a", 1])
        #expect(event.source?.string("id") == "s")
        #expect(event.token == "t")
    }

    static let answers: [(PermittedAnswer, [String])] = [
        (
            .full,
            [
                "LaunchRequest", "IntentRequest", "SessionResumedRequest", "Connections.Response",
                "Display.ElementSelected",
            ]
        ),
        (.limited(.canFulfillIntent), ["CanFulfillIntentRequest"]),
        (
            .limited(.directives(prefix: "AudioPlayer.")),
            ["AudioPlayer.PlaybackStarted", "AudioPlayer.PlaybackFailed", "PlaybackController.NextCommandIssued"]
        ),
        (.limited(.directives(prefix: "Alexa.Presentation.APL.")), ["Alexa.Presentation.APL.LoadIndexListData"]),
        (
            .empty,
            [
                "SessionEndedRequest", "AlexaSkillEvent.SkillEnabled", "AlexaSkillEvent.SkillDisabled",
                "AlexaSkillEvent.SkillAccountLinked", "AlexaSkillEvent.New", "Alexa.Authorization.Grant",
                "Messaging.MessageReceived", "System.ExceptionEncountered", "AudioPlayer.PlaybackStopped",
                "Alexa.Presentation.APL.RuntimeError", "AlexaHouseholdListEvent.ItemsCreated",
                "Reminders.ReminderCreated", "Alexa.Brand.New.Thing", "",
            ]
        ),
    ]

    @Test("Each type says what its answer may hold", arguments: answers)
    func permittedAnswers(permitted: PermittedAnswer, types: [String]) {
        for type in types { #expect(PermittedAnswer(requestType: type) == permitted, "\(type)") }
    }

    @Test("Every sample of every request type decodes", .needsFixture("alexa-request-envelopes"))
    func samples() throws {
        let files = Fixtures.files(in: "alexa-request-envelopes")
        #expect(files.count >= 30)
        var others: Set<String> = []
        for file in files {
            let envelope = try decoded(Fixtures.bytes(file))
            #expect(envelope.userID?.isEmpty == false, "\(file)")
            #expect(envelope.applicationID?.hasPrefix("amzn1.ask.skill.") == true, "\(file)")
            if case .other(let header) = envelope.request { others.insert(header.type) }
        }
        #expect(others.allSatisfy { !$0.hasPrefix("AlexaSkillEvent.") && !$0.hasPrefix("AudioPlayer.") }, "\(others)")
        #expect(others.contains("Dialog.API.Invoked"))
        let real = try decoded(Fixtures.bytes("alexa-request-envelopes/requestEnvelope.nodejs-sdk.json"))
        #expect(real.header.type == "LaunchRequest")
        #expect(real.header.element.member("shouldLinkResultBeReturned")?.bool == false)
        #expect(real.session?.user?.consentToken != nil)
        #expect(real.accessToken == nil)
    }
}
