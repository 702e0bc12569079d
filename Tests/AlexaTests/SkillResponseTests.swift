import Alexa
import JSON
import TestSupport
import Testing

@Suite("The answer of a skill") struct SkillResponseTests {
    static let golden: [(SkillResponse, String)] = [
        (.empty, #"{"version":"1.0","response":{}}"#),
        (
            SkillResponse(outputSpeech: .plainText("Grüße \"an\" alle"), shouldEndSession: true),
            #"{"version":"1.0","response":{"outputSpeech":{"type":"PlainText","text":"Grüße \"an\" alle"},"shouldEndSession":true}}"#
        ),
        (
            SkillResponse(
                outputSpeech: OutputSpeech(.ssml("<speak>Hi</speak>"), playBehavior: .replaceEnqueued),
                card: .linkAccount, reprompt: Reprompt(outputSpeech: .ssml("Well?")), shouldEndSession: false,
                sessionAttributes: ["k": "v", "n": [1, nil]]),
            #"{"version":"1.0","sessionAttributes":{"k":"v","n":[1,null]},"response":{"outputSpeech":{"type":"SSML","ssml":"<speak>Hi</speak>","playBehavior":"REPLACE_ENQUEUED"},"card":{"type":"LinkAccount"},"reprompt":{"outputSpeech":{"type":"SSML","ssml":"<speak>Well?</speak>"}},"shouldEndSession":false}}"#
        ),
        (
            SkillResponse(card: .simple(title: "T", content: "a\nb")),
            #"{"version":"1.0","response":{"card":{"type":"Simple","title":"T","content":"a\nb"}}}"#
        ),
        (
            SkillResponse(
                card: .standard(title: nil, text: "t", smallImageURL: "https://a.test/s", largeImageURL: nil)),
            #"{"version":"1.0","response":{"card":{"type":"Standard","text":"t","image":{"smallImageUrl":"https://a.test/s"}}}}"#
        ),
        (
            SkillResponse(card: .askForPermissionsConsent(["alexa::profile:name:read"])),
            #"{"version":"1.0","response":{"card":{"type":"AskForPermissionsConsent","permissions":["alexa::profile:name:read"]}}}"#
        ),
        (
            SkillResponse(directives: [.audioPlayerStop, .other(["type": "Hint", "x": [:]])]),
            #"{"version":"1.0","response":{"directives":[{"type":"AudioPlayer.Stop"},{"type":"Hint","x":{}}]}}"#
        ),
        (
            SkillResponse(
                reprompt: Reprompt(outputSpeech: nil, directives: [.dialogDelegate()]), apiResponse: ["r": 1]),
            #"{"version":"1.0","response":{"reprompt":{"directives":[{"type":"Dialog.Delegate"}]},"apiResponse":{"r":1}}}"#
        ),
    ]

    @Test("Answers leave byte by byte as written here", arguments: golden)
    func bytes(response: SkillResponse, expected: String) throws {
        #expect(String(decoding: try response.encoded(), as: UTF8.self) == expected)
    }

    static let directives: [(SkillDirective, String)] = [
        (
            .dialogElicitSlot(
                "city", updatedIntent: IntentUpdate(name: "I", slots: [.init(name: "city", value: nil)])),
            #"{"type":"Dialog.ElicitSlot","slotToElicit":"city","updatedIntent":{"name":"I","confirmationStatus":"NONE","slots":{"city":{"name":"city","confirmationStatus":"NONE"}}}}"#
        ),
        (.dialogConfirmSlot("city"), #"{"type":"Dialog.ConfirmSlot","slotToConfirm":"city"}"#),
        (
            .dialogConfirmIntent(
                updatedIntent: IntentUpdate(
                    name: "I", confirmationStatus: .confirmed,
                    slots: [.init(name: "a", value: "b", confirmationStatus: .denied)])),
            #"{"type":"Dialog.ConfirmIntent","updatedIntent":{"name":"I","confirmationStatus":"CONFIRMED","slots":{"a":{"name":"a","value":"b","confirmationStatus":"DENIED"}}}}"#
        ),
        (
            .dialogReplaceDynamicEntities(types: [["name": "T"]]),
            #"{"type":"Dialog.UpdateDynamicEntities","updateBehavior":"REPLACE","types":[{"name":"T"}]}"#
        ),
        (.dialogClearDynamicEntities, #"{"type":"Dialog.UpdateDynamicEntities","updateBehavior":"CLEAR"}"#),
        (
            .dialogDelegateRequest(target: "AMAZON.Conversations"),
            #"{"type":"Dialog.DelegateRequest","target":"AMAZON.Conversations","period":{"until":"EXPLICIT_RETURN"}}"#
        ),
        (
            .audioPlayerPlay(
                AudioStream(url: "https://a.test/m", token: "t"), behavior: .enqueue(expectedPreviousToken: "p")),
            #"{"type":"AudioPlayer.Play","playBehavior":"ENQUEUE","audioItem":{"stream":{"url":"https://a.test/m","token":"t","expectedPreviousToken":"p","offsetInMilliseconds":0}}}"#
        ),
        (
            .audioPlayerPlay(
                AudioStream(url: "u", token: "t", offsetInMilliseconds: 5), behavior: .replaceAll,
                metadata: ["title": "x"]),
            #"{"type":"AudioPlayer.Play","playBehavior":"REPLACE_ALL","audioItem":{"stream":{"url":"u","token":"t","offsetInMilliseconds":5},"metadata":{"title":"x"}}}"#
        ),
        (
            .audioPlayerClearQueue(stopsCurrent: false),
            #"{"type":"AudioPlayer.ClearQueue","clearBehavior":"CLEAR_ENQUEUED"}"#
        ),
        (
            .connectionsStart(uri: "connection://AMAZON.X/1", input: ["@type": "X"], token: "t"),
            #"{"type":"Connections.StartConnection","uri":"connection://AMAZON.X/1","input":{"@type":"X"},"token":"t","onCompletion":"RESUME_SESSION"}"#
        ),
        (
            .connectionsSendRequest(name: "Buy", payload: [:], token: "t"),
            #"{"type":"Connections.SendRequest","name":"Buy","payload":{},"token":"t"}"#
        ),
        (
            .connectionsSendResponse(code: "200", message: "ok"),
            #"{"type":"Connections.SendResponse","status":{"code":"200","message":"ok"}}"#
        ),
        (
            .completeTask(code: "200", message: "ok", result: ["r": true]),
            #"{"type":"Tasks.CompleteTask","status":{"code":"200","message":"ok"},"result":{"r":true}}"#
        ),
        (
            .presentationRenderDocument(token: "t", document: ["type": "APL"], datasources: ["d": [:]]),
            #"{"type":"Alexa.Presentation.APL.RenderDocument","token":"t","document":{"type":"APL"},"datasources":{"d":{}}}"#
        ),
    ]

    @Test("Directives leave byte by byte as written here", arguments: directives)
    func directive(directive: SkillDirective, expected: String) throws {
        #expect(String(decoding: JSONValue.object(directive.json).encoded(), as: UTF8.self) == expected)
        #expect(throws: Never.self) { try SkillResponse(directives: [directive]).encoded() }
    }

    private func violation(_ response: SkillResponse, permitted: PermittedAnswer = .full) -> ResponseViolation? {
        do {
            _ = try response.encoded(permitted: permitted)
            return nil
        } catch { return error }
    }

    private func text(_ count: Int) -> String { String(repeating: "a", count: count) }

    @Test("Speech may have 8000 characters")
    func speechLimit() {
        let long = { (count: Int) in SkillResponse(outputSpeech: .plainText(self.text(count))) }
        #expect(violation(long(8000)) == nil)
        #expect(
            violation(long(8001))
                == ResponseViolation(member: "response.outputSpeech.text", problem: .tooLong(8001, limit: 8000)))
        // Eight thousand characters of four bytes each are few characters and many bytes.
        #expect(violation(SkillResponse(outputSpeech: .plainText(String(repeating: "ü", count: 8000)))) == nil)
        #expect(
            violation(SkillResponse(reprompt: Reprompt(outputSpeech: .ssml(text(8000)))))?.member
                == "response.reprompt.outputSpeech.ssml")
        #expect(violation(SkillResponse(outputSpeech: .ssml(text(7985)))) == nil)
        #expect(violation(SkillResponse(outputSpeech: .ssml(text(7986))))?.reasonCode == "response.tooLong")
    }

    @Test(
        "SSML must be wrapped in <speak>",
        arguments: [
            ("<speak>a</speak>", true), (" \n<speak version=\"1.1\">a</speak>\n", true), ("<speak>a", false),
            ("a</speak>", false), ("<speaker>a</speak>", false), ("", false), ("a", false), ("<speak", false),
        ])
    func wrapped(ssml: String, isGood: Bool) {
        let expected = ResponseViolation(member: "response.outputSpeech.ssml", problem: .notWrapped)
        #expect(
            violation(SkillResponse(outputSpeech: OutputSpeech(.ssml(ssml)))) == (isGood ? nil : expected))
    }

    @Test("All text of a card may have 8000 characters, an image's address 2000")
    func cardLimits() {
        #expect(violation(SkillResponse(card: .simple(title: text(4000), content: text(4000)))) == nil)
        #expect(
            violation(SkillResponse(card: .simple(title: text(4000), content: text(4001))))
                == ResponseViolation(member: "response.card", problem: .tooLong(8001, limit: 8000)))
        let standard = { (title: Int, small: Int, large: Int) in
            SkillResponse(
                card: .standard(
                    title: self.text(title), text: "", smallImageURL: self.text(small),
                    largeImageURL: self.text(large)))
        }
        #expect(violation(standard(4000, 2000, 2000)) == nil)
        #expect(violation(standard(4001, 2000, 2000))?.member == "response.card")
        #expect(violation(standard(1, 2001, 1))?.member == "response.card.image.smallImageUrl")
        #expect(violation(standard(1, 1, 2001))?.member == "response.card.image.largeImageUrl")
        #expect(violation(SkillResponse(card: .askForPermissionsConsent([])))?.member == "response.card.permissions")
    }

    @Test("Directives need a type; a stream needs address and token within their limits")
    func directiveLimits() {
        for json: JSONObject in [[:], ["type": ""], ["type": 7]] {
            #expect(
                violation(SkillResponse(directives: [.audioPlayerStop, .other(json)]))
                    == ResponseViolation(member: "response.directives[1].type", problem: .missing))
        }
        let play = { (url: Int, token: Int) in
            SkillResponse(directives: [
                .audioPlayerPlay(AudioStream(url: self.text(url), token: self.text(token)), behavior: .replaceAll)
            ])
        }
        #expect(violation(play(8000, 1024)) == nil)
        #expect(violation(play(8001, 1))?.member == "response.directives[0].audioItem.stream.url")
        #expect(violation(play(0, 1))?.problem == .missing)
        #expect(violation(play(1, 1025))?.member == "response.directives[0].audioItem.stream.token")
        #expect(
            violation(SkillResponse(directives: [.other(["type": "AudioPlayer.Play"])]))?.member
                == "response.directives[0].audioItem.stream.url")
        #expect(
            violation(SkillResponse(reprompt: Reprompt(outputSpeech: nil, directives: [.other([:])])))?.member
                == "response.reprompt.directives[0].type")
    }

    @Test("The whole answer may have as many bytes as the limit says")
    func byteLimit() throws {
        let response = SkillResponse(sessionAttributes: ["k": .string(text(1000))])
        let count = try response.encoded().count
        #expect(throws: Never.self) { try response.encoded(limitBytes: count) }
        #expect(
            throws: ResponseViolation(member: "response", problem: .tooManyBytes(count, limit: count - 1))
        ) { try response.encoded(limitBytes: count - 1) }
        #expect(
            violation(SkillResponse(sessionAttributes: ["k": .string(text(24 * 1024))]))?.reasonCode
                == "response.tooLong")
    }

    @Test("What the request does not accept is a violation, and gone after restriction")
    func permission() {
        let speech = SkillResponse(outputSpeech: .plainText("a"))
        let answer = SkillResponse(
            canFulfillIntent: CanFulfillIntent(
                canFulfill: .maybe, slots: [.init(name: "s", canUnderstand: .maybe, canFulfill: .no)]))
        let play = SkillResponse(directives: [.audioPlayerStop])
        let delegate = SkillResponse(directives: [.dialogDelegate()])
        let audio = PermittedAnswer.limited(.directives(prefix: "AudioPlayer."))
        let rows: [(SkillResponse, PermittedAnswer, String?)] = [
            (speech, .full, nil), (speech, .empty, "response.outputSpeech"), (speech, audio, "response.outputSpeech"),
            (speech, .limited(.canFulfillIntent), "response.outputSpeech"),
            (answer, .limited(.canFulfillIntent), nil), (answer, .full, "response.canFulfillIntent"),
            (answer, .empty, "response.canFulfillIntent"), (play, audio, nil), (play, .empty, "response.directives"),
            (delegate, audio, "response.directives"), (.empty, .empty, nil),
            (SkillResponse(card: .linkAccount), .empty, "response.card"),
            (SkillResponse(shouldEndSession: true), .empty, "response.shouldEndSession"),
            (SkillResponse(sessionAttributes: [:]), .empty, "sessionAttributes"),
        ]
        for (response, permitted, member) in rows {
            #expect(violation(response, permitted: permitted)?.member == member)
            #expect(violation(response.restricted(to: permitted), permitted: permitted) == nil)
        }
    }

    @Test("An answer about a slot understands yes, no or perhaps, and does yes or no")
    func canFulfill() throws {
        let good = SkillResponse(
            canFulfillIntent: CanFulfillIntent(
                canFulfill: .yes, slots: [.init(name: "s", canUnderstand: .maybe, canFulfill: .yes)]))
        let bytes = try good.encoded(permitted: .limited(.canFulfillIntent))
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"version":"1.0","response":{"canFulfillIntent":{"canFulfill":"YES","slots":{"s":{"canUnderstand":"MAYBE","canFulfill":"YES"}}}}}"#
        )
        let bad = SkillResponse(
            canFulfillIntent: CanFulfillIntent(
                canFulfill: .yes, slots: [.init(name: "s", canUnderstand: .yes, canFulfill: .maybe)]))
        #expect(
            violation(bad, permitted: .limited(.canFulfillIntent))?.member
                == "response.canFulfillIntent.slots.s.canFulfill")
    }

    @Test(
        "Text is made safe for SSML",
        arguments: [
            ("a<b & \"c\" 'd'>", "a&lt;b &amp; &quot;c&quot; &apos;d&apos;&gt;"), ("&amp;", "&amp;amp;"),
            ("</speak>", "&lt;/speak&gt;"), ("a\u{0}b\u{8}\nc\u{FFFE}", "ab\nc"), ("Grüße 🎉", "Grüße 🎉"),
        ])
    func escaping(text: String, expected: String) {
        #expect(SpeechText.escapedForSSML(text) == expected)
    }

    @Test("Plain text loses what no voice can say")
    func plainText() {
        #expect(OutputSpeech.plainText("a\u{1B}\u{0}<b>\n") == OutputSpeech(.plainText("a<b>\n")))
        #expect(OutputSpeech.ssml("<speak>a</speak>") == OutputSpeech(.ssml("<speak>a</speak>")))
    }
}
